// Rows of a CSV file turned into numbers, truth values and numbered labels.
//
// A cell starts at a separator or the start of a line. If its first character is a quote, it ends at
// the next single quote, and may hold separators and ends of lines; other quotes are plain characters.
// Lines of blanks are skipped, and lines of blanks and separators are skipped and counted.
#include <algorithm>
#include <deque>
#include <optional>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "cells.h"
#include "labels.h"
#include "levels.h"

namespace unnaive {
namespace {

using TextsOfColumns = nb::typed<nb::list, Texts>;
using Fault = std::tuple<i64, i64, i64, nb::bytes>;  // line, cells of the row, column, cell

// How the cells of a column are read. BINARY is TRUTH that may also be 1 and 0, and WORDS is TEXT
// without numbers.
enum Kind : u8 {
    SKIPPED = 0, INTEGER = 1, FLOAT = 2, TRUTH = 3, TEXT = 4, EMPTY = 5, BINARY = 6, WORDS = 7
};
constexpr u8 KINDS = 8;
constexpr double NOT_A_NUMBER = std::numeric_limits<double>::quiet_NaN();

// Spellings of a missing value; an empty cell is always missing.
class Missing {
  public:
    explicit Missing(const Texts &words) {
        for (nb::handle word : words) words_.push_back(nb::cast<std::string>(word));
        std::sort(words_.begin(), words_.end());
        for (const std::string &word : words_)
            if (!word.empty()) starts_[u8(word[0])] = true;
    }

    INLINE bool operator()(string_view cell) const {
        return cell.empty() || (may_start(cell[0]) && std::binary_search(words_.begin(), words_.end(), cell));
    }
    INLINE bool may_start(char c) const { return starts_[u8(c)]; }

  private:
    std::vector<std::string> words_;
    bool starts_[256] = {};  // whether a word starts with a character
};

// Behind the quote that closes a cell, from behind the quote that opens it; nullptr if none does.
INLINE const char *behind_quote(const char *at, const char *end, bool &doubled) {
    while (const void *close = std::memchr(at, '"', std::size_t(end - at))) {
        at = static_cast<const char *>(close) + 1;
        if (at == end || *at != '"') return at;
        doubled = true;
        at++;
    }
    return nullptr;
}

// Cells of a text, row by row.
class Rows {
  public:
    Rows(In1<u8> text, u8 separator, i64 width)
        : start_(reinterpret_cast<const char *>(text.data)), at_(start_), end_(at_ + text.size()),
          separator_(char(separator)), width_(width) {}

    i64 empty = 0;  // rows without any content, which are skipped

    // Give every cell of every row to `put(row, column, cell)`, unless `take(row, column, start, end)`
    // returns the end of the cell; returns the number of rows, or −1 at a row of another width, at a
    // quote that is not closed, or where `put` returns false.
    template <class Take, class Put> i64 each(i64 most, Take take, Put put) {
        i64 row = 0;
        while (to_row()) {
            if (row == most || !take_row(row, take, put)) return -1;
            row++;
        }
        return row;
    }

    // The cells of the first row, and where it ends; −1 if a quote is not closed.
    std::pair<nb::typed<nb::list, nb::bytes>, i64> first() {
        nb::typed<nb::list, nb::bytes> cells;
        string_view cell;
        bool more = to_row();
        while (more && take_cell(cell)) {
            cells.append(nb::bytes(cell.data(), cell.size()));
            more = at_ < end_ && *at_ == separator_;
            at_ += more;
        }
        at_ += end_ - at_ > 1 && at_[0] == '\r' && at_[1] == '\n' ? 2 : at_ < end_;
        return {cells, more ? -1 : at_ - start_};
    }

    // Where `each` stopped: a cell that does not fit, or a row of another width, 0 if a quote is open.
    Fault fault(bool stopped) {
        const nb::bytes none("", 0);
        if (!stopped) return {0, 0, -1, none};
        i64 lines = 0;
        for (const char *at = start_; at < row_; at++)
            lines += *at == '\n' || (*at == '\r' && (at + 1 == end_ || at[1] != '\n'));
        if (column_ >= 0) return {lines, width_, column_, nb::bytes(cell_.data(), cell_.size())};
        at_ = row_;
        string_view cell;
        i64 cells = 0;
        for (bool more = at_ < end_; more; at_ += more) {
            if (!take_cell(cell)) return {lines, 0, -1, none};
            cells++;
            more = at_ < end_ && *at_ == separator_;
        }
        return {lines, cells, -1, none};
    }

  private:
    const char *start_, *at_, *end_, *row_ = nullptr;
    char separator_;
    i64 width_, column_ = -1;
    string_view cell_;
    std::deque<std::string> unquoted_;  // cells that are not a part of the text as they are

    // Go to the next row with content; false at the end of the text.
    INLINE bool to_row() {
        while (at_ < end_) {
            if (ends_line(*at_)) {
                at_++;
                continue;
            }
            const char *at = at_;
            bool separated = false;
            for (; at < end_ && (*at == separator_ || *at == ' ' || *at == '\t'); at++)
                separated |= *at == separator_;
            if (at < end_ && !ends_line(*at)) break;
            empty += separated;
            at_ = at;
        }
        row_ = at_;
        return at_ < end_;
    }

    template <class Take, class Put> INLINE bool take_row(i64 row, Take &take, Put &put) {
        for (i64 column = 0; column < width_; column++) {
            string_view cell;
            const char *taken = take(row, column, at_, end_);
            if (taken)
                at_ = taken;
            else if (!take_cell(cell))
                return false;
            const bool ends = at_ == end_ || *at_ != separator_;
            if (ends != (column == width_ - 1)) return false;
            if (!taken && !put(row, column, cell)) {
                column_ = column;
                cell_ = trimmed(cell);
                return false;
            }
            if (!ends) at_++;
        }
        return true;
    }

    // A cell, up to the separator or the end of a line; false if it has a quote that is not closed.
    INLINE bool take_cell(string_view &cell) {
        if (at_ < end_ && *at_ == '"') return take_quoted(cell);
        const char *start = at_;
        while (at_ < end_ && *at_ != separator_ && !ends_line(*at_)) at_++;
        cell = string_view(start, std::size_t(at_ - start));
        return true;
    }

    bool take_quoted(string_view &cell) {
        const char *start = ++at_;
        bool doubled = false;
        const char *behind = behind_quote(start, end_, doubled);
        if (!behind) return false;
        cell = string_view(start, std::size_t(behind - start) - 1);
        at_ = behind;
        while (at_ < end_ && *at_ != separator_ && !ends_line(*at_)) at_++;
        if (doubled || at_ > behind) {
            std::string &plain = unquoted_.emplace_back();
            for (std::size_t i = 0; i < cell.size(); i++) {
                plain.push_back(cell[i]);
                i += cell[i] == '"';
            }
            cell = plain.append(behind, at_);
        }
        return true;
    }
};

// One column: how its cells are read, where they go, and what was seen of it.
struct Column {
    Kind kind = SKIPPED;
    Style style = STYLES[0];
    Missing missing;
    double *numbers = nullptr;
    std::int32_t *labels = nullptr;
    i64 absent = 0;
    Labels texts;

    // Store a plain number that fills the cell at some place, and return its end; nullptr for other cells.
    INLINE const char *take(i64 row, const char *at, const char *end, char separator) {
        if ((kind != FLOAT && kind != INTEGER) || at == end || missing.may_start(*at)) return nullptr;
        const bool may_have_point = kind == FLOAT && style.point != separator;
        const Plain plain = take_plain(at, end, may_have_point ? style.point : '0');  // no 0 follows digits
        if (at < end && *at != separator && !ends_line(*at)) return nullptr;
        if (plain.length == 0 || plain.length >= 19) return nullptr;
        if (kind == FLOAT) return plain.as_float(numbers[row]) ? at : nullptr;
        numbers[row] = std::bit_cast<double>(plain.negative ? -i64(plain.digits) : i64(plain.digits));
        return at;
    }

    INLINE bool put(i64 row, string_view cell) {
        if (kind == SKIPPED) return true;
        cell = trimmed(cell);
        if (kind == TEXT || kind == WORDS) {
            labels[row] = texts.number(cell, [this](string_view text) {
                if (missing(text)) return -1;
                return is_utf8(text) && (kind == TEXT || !styles_of(text)) ? 0 : -2;
            });
            return labels[row] > -2;
        }
        if (missing(cell)) {
            if (numbers) numbers[row] = kind == INTEGER ? std::bit_cast<double>(ABSENT) : NOT_A_NUMBER;
            if (labels) labels[row] = -1;
            absent++;
            return true;
        }
        return put_value(row, cell);
    }

    // Integers stay integers unless one is missing; then all become floats.
    void settle(i64 rows) {
        if (kind != INTEGER || absent == 0) return;
        for (i64 row = 0; row < rows; row++) {
            const i64 whole = std::bit_cast<i64>(numbers[row]);
            numbers[row] = whole == ABSENT ? NOT_A_NUMBER : double(whole);
        }
    }

  private:
    INLINE bool put_value(i64 row, string_view cell) {
        if (kind == FLOAT) return parse_number(cell, style, numbers[row]);
        if (kind == INTEGER) {
            i64 whole = 0;
            const bool fits = parse_integer(cell, whole);
            numbers[row] = std::bit_cast<double>(whole);
            return fits;
        }
        if (kind == EMPTY) return false;
        const bool digit = kind == BINARY && (cell == "0" || cell == "1");
        labels[row] = digit ? cell == "1" : parse_truth(cell);
        return labels[row] >= 0;
    }
};

std::vector<Column> columns_of(In1<u8> kinds, In1<u8> styles, const TextsOfColumns &missing,
                               Out2<double> numbers, Out2<std::int32_t> labels) {
    const i64 width = kinds.size();
    require(width > 0, "csv.parse", "there must be a column");
    require(styles.size() == width && i64(missing.size()) == width, "csv.parse", "columns differ in number");
    require(labels.shape(1) == numbers.shape(1), "csv.parse", "numbers and labels differ in length");
    std::vector<Column> columns;
    i64 n_numbers = 0, n_labels = 0;
    for (i64 i = 0; i < width; i++) {
        require(kinds[i] < KINDS, "csv.parse", "kinds must be 0 to 7");
        require(styles[i] < N_STYLES, "csv.parse", "styles must be 0 to 6");
        const Texts words = nb::cast<Texts>(missing[std::size_t(i)]);
        columns.push_back({Kind(kinds[i]), STYLES[styles[i]], Missing(words), nullptr, nullptr, 0, {}});
        Column &column = columns.back();
        if (column.kind == INTEGER || column.kind == FLOAT) {
            require(n_numbers < numbers.shape(0), "csv.parse", "too few rows of numbers");
            column.numbers = numbers.data + numbers.shape(1) * n_numbers++;
        } else if (column.kind != SKIPPED && column.kind != EMPTY) {
            require(n_labels < labels.shape(0), "csv.parse", "too few rows of labels");
            column.labels = labels.data + labels.shape(1) * n_labels++;
        }
    }
    return columns;
}

// Returns (rows, empty rows, missing values of every column, texts of every column, fault), rows −1
// at a fault. A column of numbers takes the next row of `numbers`, one of labels that of `labels`.
std::tuple<i64, i64, nb::typed<nb::list, int>, TextsOfColumns, Fault>
parse(In1<u8> text, u8 separator, In1<u8> kinds, In1<u8> styles, TextsOfColumns missing, Out2<double> numbers,
      Out2<std::int32_t> labels) {
    std::vector<Column> columns = columns_of(kinds, styles, missing, numbers, labels);
    Rows rows(text, separator, kinds.size());
    i64 n_rows = -1;
    {
        nb::gil_scoped_release free;
        const auto take = [&](i64 row, i64 place, const char *at, const char *end) {
            return columns[std::size_t(place)].take(row, at, end, char(separator));
        };
        n_rows = rows.each(numbers.shape(1), take, [&](i64 row, i64 place, string_view cell) {
            return columns[std::size_t(place)].put(row, cell);
        });
        for (Column &column : columns) column.settle(n_rows);
    }
    nb::typed<nb::list, int> absent;
    TextsOfColumns texts;
    for (const Column &column : columns) {
        absent.append(column.absent);
        texts.append(n_rows < 0 ? Texts() : column.texts.texts());
    }
    return {n_rows, rows.empty, absent, texts, rows.fault(n_rows < 0)};
}

constexpr std::int32_t MOST_WORDS = 1000;
using Look = std::tuple<i64, bool, u8, std::string, std::optional<Texts>, nb::typed<nb::list, int>>;
using LooksOfColumns = nb::typed<nb::list, Look>;

// What the cells of a column look like; words are no longer counted if there are too many.
struct Looks {
    i64 numbers = 0;
    bool whole = true;
    u8 styles = (1 << N_STYLES) - 1;
    string_view example;
    Labels words;
    std::vector<i64> times;

    bool add(string_view cell, const Missing &missing) {
        if (words.size() > MOST_WORDS || missing(cell)) return true;
        if (is_whole(cell)) {
            i64 number;
            whole &= parse_integer(cell, number);
            numbers++;
        } else if (const u8 fitting = styles_of(cell)) {
            whole = false;
            styles &= fitting;
            if (std::pair(length(cell), cell) > std::pair(length(example), example)) example = cell;
            numbers++;
        } else {
            const auto judge = [](string_view text) { return is_utf8(text) ? 0 : -2; };
            const std::int32_t word = words.number(cell, judge);
            if (word < 0) return false;
            if (word == i64(times.size())) times.push_back(0);
            times[std::size_t(word)]++;
        }
        return true;
    }

    Look told() const {
        nb::typed<nb::list, int> counts;
        for (i64 count : times) counts.append(count);
        std::optional<Texts> known;
        if (words.size() <= MOST_WORDS) known = words.texts();
        return {numbers, whole, styles, std::string(example), known, counts};
    }

  private:
    static i64 length(string_view text) {
        return std::count_if(text.begin(), text.end(), [](char c) { return (u8(c) & 0xc0) != 0x80; });
    }
};

// Returns (rows, empty rows, looks of every chosen column, fault), rows −1 at a fault. Looks are the
// number of numbers, whether all are integers, their styles, the longest that is none, words (None if
// there are too many), and how often each word occurs.
std::tuple<i64, i64, LooksOfColumns, Fault> look(In1<u8> text, u8 separator, In1<u8> chosen, Texts missing) {
    require(chosen.size() > 0, "csv.look", "there must be a column");
    const Missing absent(missing);
    std::vector<Looks> columns(std::size_t(chosen.size()));
    Rows rows(text, separator, chosen.size());
    i64 n_rows = -1;
    {
        nb::gil_scoped_release free;
        const auto none = [](i64, i64, const char *, const char *) -> const char * { return nullptr; };
        n_rows = rows.each(text.size() + 1, none, [&](i64, i64 place, string_view cell) {
            return !chosen[place] || columns[std::size_t(place)].add(trimmed(cell), absent);
        });
    }
    LooksOfColumns looks;
    for (i64 place = 0; place < chosen.size(); place++)
        if (chosen[place] && n_rows >= 0) looks.append(nb::cast(columns[std::size_t(place)].told()));
    return {n_rows, rows.empty, looks, rows.fault(n_rows < 0)};
}

std::pair<nb::typed<nb::list, nb::bytes>, i64> header(In1<u8> text, u8 separator) {
    return Rows(text, separator, 1).first();
}

// Where the last whole row of a text ends, which starts with a row; 0 if a row is longer than the text.
i64 row_end(In1<u8> text, u8 separator) {
    const auto *start = reinterpret_cast<const char *>(text.data), *end = start + text.size(), *at = start;
    i64 found = 0;
    const auto look_back = [&](const char *from, const char *to) {
        while (to > from && !ends_line(to[-1])) to--;
        if (to > from) found = to - start;
    };
    for (const char *search = start; search < end;) {
        const auto *quote = static_cast<const char *>(std::memchr(search, '"', std::size_t(end - search)));
        if (!quote) break;
        search = quote + 1;
        if (quote > start && quote[-1] != char(separator) && !ends_line(quote[-1])) continue;
        look_back(at, quote);
        bool doubled = false;
        at = search = behind_quote(quote + 1, end, doubled);
        if (!at) return found;
    }
    look_back(at, end);
    return found;
}

INLINE void count_ends_loop(const u8 *text, i64 size, i64 *ends) {
    i64 found = 0;
    for (i64 i = 0; i < size; i++) found += (text[i] == '\n') + (text[i] == '\r');
    *ends = found;
}
LEVELS(count_ends)

// Most rows that a text can have: ends of lines, and a last row that has none.
i64 most_rows(In1<u8> text) {
    i64 ends = 0;
    count_ends(text.data, text.size(), &ends);
    return ends + 1;
}

}  // namespace

void bind_csv(nb::module_ &room) {
    std::string styles;
    for (const Style style : STYLES) {
        if (!styles.empty()) styles.push_back('|');
        styles.push_back(style.point);
        if (style.thousands) styles.push_back(style.thousands);
    }
    room.attr("STYLES") = styles;
    room.attr("MOST_WORDS") = MOST_WORDS;
    bind(room, "most_rows", "Most rows that some text of a CSV file can have.", most_rows, "text");
    bind(room, "row_end", "Where the last whole row of some CSV ends; 0 for none.", row_end, "text",
         "separator");
    room.def("header", header, nb::arg("text"), nb::arg("separator"),
             "Cells of the first row of a CSV file, and where it ends.");
    room.def("look", look, nb::arg("text"), nb::arg("separator"), nb::arg("chosen"), nb::arg("missing"),
             "Tell what the cells of each column look like: (rows or -1, empty rows, looks, fault).");
    room.def("parse", parse, nb::arg("text"), nb::arg("separator"), nb::arg("kinds"), nb::arg("styles"),
             nb::arg("missing"), nb::arg("numbers"), nb::arg("labels"),
             "Parse rows: (rows or -1, empty rows, missing values, texts of labels, fault).");
}

}  // namespace unnaive
