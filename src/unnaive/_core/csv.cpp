// Cells of a CSV file: rows of text turned into numbers, truth values and numbered labels.
//
// The parser reads what nearly every file holds and gives up on the rest: a row with too many or
// too few cells, a quote inside a cell, a number that is not one. The caller then reads the file
// in a slower way, which names the line or finds that the column holds something else.
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <deque>
#include <string_view>

#include <nanobind/stl/string.h>

#include "levels.h"

namespace unnaive {
namespace {

using std::string_view;
using Texts = nb::typed<nb::list, nb::str>;
using TextsOfColumns = nb::typed<nb::list, Texts>;

// How the cells of a column are read: COMMA is 1,5; GROUPED is 1,234.5; DOTTED is 1.234,5.
enum Kind : u8 {
    SKIPPED = 0, INTEGER = 1, FLOAT = 2, TRUTH = 3, TEXT = 4, EMPTY = 5, COMMA = 6, GROUPED = 7, DOTTED = 8
};
constexpr u8 LENIENT = 0x80;  // added to a kind: a cell that is not of it counts as missing
constexpr i64 KINDS = 9;
constexpr u64 POWERS_END = 23;
constexpr double POWERS[POWERS_END] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                       1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                       1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
constexpr i64 EXACT = i64(1) << 53;  // whole numbers up to here are exact as doubles

INLINE bool is_digit(char c) { return unsigned(c - '0') < 10; }
INLINE bool is_blank(char c) { return c == ' ' || c == '\t'; }

INLINE string_view trimmed(string_view cell) {
    while (!cell.empty() && is_blank(cell.front())) cell.remove_prefix(1);
    while (!cell.empty() && is_blank(cell.back())) cell.remove_suffix(1);
    return cell;
}

// Any number in the notation of C without a plus sign in front; false for anything else.
bool parse_slowly(string_view cell, double &number) {
#if defined(__cpp_lib_to_chars) && __cpp_lib_to_chars >= 201611L
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), number);
    return error == std::errc() && end == cell.data() + cell.size();
#else
    const char first = cell.front() == '-' ? (cell.size() > 1 ? cell[1] : 0) : cell.front();
    if (!is_digit(first) && first != '.') return false;
    for (char c : cell)
        if (!is_digit(c) && c != '.' && c != 'e' && c != 'E' && c != '-' && c != '+') return false;
    const std::string copy(cell);
    char *end = nullptr;
    errno = 0;
    number = std::strtod(copy.c_str(), &end);
    return errno == 0 && end == copy.c_str() + copy.size();
#endif
}

// A number. Up to 2^53 · 10^±22 one multiplication or division gives the nearest double (Clinger 1990).
INLINE bool parse_float(string_view cell, char point, double &number) {
    const char *at = cell.data(), *end = at + cell.size();
    const bool negative = at < end && *at == '-';
    at += negative;
    u64 digits = 0;
    const char *first = at;
    while (at < end && is_digit(*at)) digits = digits * 10 + u64(*at++ - '0');
    i64 length = at - first, decimals = 0;
    if (at < end && *at == point) {
        const char *behind = ++at;
        while (at < end && is_digit(*at)) digits = digits * 10 + u64(*at++ - '0');
        decimals = at - behind;
        length += decimals;
    }
    if (at == end && length > 0 && length < 19 && digits <= u64(EXACT) && decimals < i64(POWERS_END)) {
        number = double(digits) / POWERS[decimals];
        if (negative) number = -number;
        return true;
    }
    if (cell.empty()) return false;
    if (point == '.') return parse_slowly(cell, number);
    std::string copy(cell);
    for (char &c : copy) {
        if (c == '.') return false;
        if (c == point) c = '.';
    }
    return parse_slowly(copy, number);
}

// A number whose whole part has groups of three digits, as in 1,234.5; at least one group is there.
bool parse_grouped(string_view cell, char group, char point, double &number) {
    const char *at = cell.data(), *end = at + cell.size();
    std::string plain;
    if (at < end && *at == '-') plain.push_back(*at++);
    const char *first = at;
    while (at < end && is_digit(*at)) plain.push_back(*at++);
    if (at == first || at - first > 3 || at == end || *at != group) return false;
    while (at < end && *at == group) {
        if (end - at < 4 || !is_digit(at[1]) || !is_digit(at[2]) || !is_digit(at[3])) return false;
        plain.append(at + 1, 3);
        at += 4;
    }
    if (at < end && *at == point) {
        plain.push_back('.');
        for (at++; at < end && is_digit(*at); at++) plain.push_back(*at);
    }
    return at == end && parse_float(plain, '.', number);
}

// A number of some kind; a column of grouped numbers also holds numbers below a thousand.
INLINE bool parse_number(string_view cell, Kind kind, double &number) {
    if (kind == FLOAT) return parse_float(cell, '.', number);
    if (kind == COMMA) return parse_float(cell, ',', number);
    const char group = kind == GROUPED ? ',' : '.', point = kind == GROUPED ? '.' : ',';
    return parse_grouped(cell, group, point, number) || parse_float(cell, point, number);
}

INLINE bool parse_integer(string_view cell, i64 &number) {
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), number);
    return error == std::errc() && end == cell.data() + cell.size() && !cell.empty();
}

// 1 for a spelling of true, 0 for one of false, −1 for anything else.
INLINE int parse_truth(string_view cell) {
    if (cell == "true" || cell == "True" || cell == "TRUE") return 1;
    return cell == "false" || cell == "False" || cell == "FALSE" ? 0 : -1;
}

bool is_utf8(string_view text) {
    const auto *at = reinterpret_cast<const u8 *>(text.data()), *end = at + text.size();
    while (at < end) {
        const u8 c = *at++;
        if (c < 0x80) continue;
        const int more = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : 1;
        if (c < 0xc2 || c > 0xf4 || end - at < more) return false;
        const u8 low = c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : 0x80;
        const u8 high = c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : 0xbf;
        if (at[0] < low || at[0] > high) return false;
        for (int i = 1; i < more; i++)
            if ((at[i] & 0xc0) != 0x80) return false;
        at += more;
    }
    return true;
}

// Texts numbered in the order of their first appearance: open addressing, one cache line a look.
class Labels {
  public:
    Labels() : slots_(64, -1) {}

    // Number of a text; −1 if it is new and not UTF-8.
    INLINE std::int32_t number(string_view text) {
        const u64 hash = hash_of(text);
        u64 slot = hash & (slots_.size() - 1);
        while (slots_[slot] >= 0) {
            const string_view known = texts_[std::size_t(slots_[slot])];
            if (known == text) return slots_[slot];
            slot = (slot + 1) & (slots_.size() - 1);
        }
        return insert(text, slot);
    }

    const std::vector<string_view> &texts() const { return texts_; }

  private:
    std::vector<std::int32_t> slots_;
    std::vector<string_view> texts_;

    static INLINE u64 hash_of(string_view text) {
        u64 hash = text.size() * 0x9e3779b97f4a7c15ULL;
        const char *at = text.data();
        std::size_t left = text.size();
        for (; left >= 8; left -= 8, at += 8) {
            u64 word;
            std::memcpy(&word, at, 8);
            hash = mixed(hash ^ word);
        }
        u64 word = 0;
        for (std::size_t i = 0; i < left; i++) word |= u64(u8(at[i])) << (8 * i);
        return mixed(hash ^ word);
    }

    static INLINE u64 mixed(u64 hash) {
        hash *= 0xff51afd7ed558ccdULL;
        return hash ^ (hash >> 32);
    }

    std::int32_t insert(string_view text, u64 slot) {
        if (!is_utf8(text)) return -1;
        const auto made = std::int32_t(texts_.size());
        texts_.push_back(text);
        slots_[slot] = made;
        if (2 * texts_.size() > slots_.size()) grow();
        return made;
    }

    void grow() {
        std::vector<std::int32_t> larger(4 * slots_.size(), -1);
        for (std::size_t i = 0; i < texts_.size(); i++) {
            u64 slot = hash_of(texts_[i]) & (larger.size() - 1);
            while (larger[slot] >= 0) slot = (slot + 1) & (larger.size() - 1);
            larger[slot] = std::int32_t(i);
        }
        slots_ = std::move(larger);
    }
};

// One column: where its cells go, and what was seen of it.
struct Column {
    Kind kind = SKIPPED;
    bool lenient = false;
    double *numbers = nullptr;
    std::int32_t *labels = nullptr;
    i64 missing = 0;
    Labels texts;
};

// Spellings of a missing value; an empty cell is always missing.
class Missing {
  public:
    explicit Missing(const Texts &words) {
        for (nb::handle word : words) words_.push_back(nb::cast<std::string>(word));
        for (const std::string &word : words_) lengths_ |= u64(1) << (word.size() & 63);
    }

    INLINE bool operator()(string_view cell) const {
        if (cell.empty()) return true;
        if (!(lengths_ >> (cell.size() & 63) & 1)) return false;
        for (const std::string &word : words_)
            if (cell == word) return true;
        return false;
    }

  private:
    std::vector<std::string> words_;
    u64 lengths_ = 0;  // bit i: some word has i characters
};

// Cells of a text, row by row.
class Rows {
  public:
    Rows(In1<u8> text, char separator, i64 width)
        : at_(reinterpret_cast<const char *>(text.data)), end_(at_ + text.size()),
          separator_(separator), width_(width) {}

    // Give every cell of every row to `put(row, column, cell)`; returns the number of rows. Gives up,
    // with −1, at a row of another width, at a quote inside a cell, or where `put` returns false.
    template <class Put> i64 each(i64 most, Put put) {
        i64 row = 0;
        while (at_ < end_) {
            if (*at_ == '\n' || *at_ == '\r') {
                at_++;
                continue;
            }
            if (row == most || !take_row(row, put)) return -1;
            row++;
        }
        return row;
    }

  private:
    const char *at_, *end_;
    char separator_;
    i64 width_;
    std::deque<std::string> unquoted_;  // cells that held doubled quotes

    template <class Put> INLINE bool take_row(i64 row, Put &put) {
        for (i64 column = 0; column < width_; column++) {
            string_view cell;
            if (at_ < end_ && *at_ == '"') {
                if (!take_quoted(cell)) return false;
            } else {
                const char *start = at_;
                while (at_ < end_ && *at_ != separator_ && *at_ != '\n' && *at_ != '\r') {
                    if (*at_ == '"') return false;
                    at_++;
                }
                cell = string_view(start, std::size_t(at_ - start));
            }
            const bool ends = at_ == end_ || *at_ != separator_;
            if (ends != (column == width_ - 1) || !put(row, column, cell)) return false;
            if (!ends) at_++;
        }
        if (at_ < end_) at_++;  // the second character of \r\n is taken for an empty line
        return true;
    }

    // A cell between quotes, in which two quotes stand for one; the end of the row or a separator follows.
    bool take_quoted(string_view &cell) {
        const char *start = ++at_;
        bool doubled = false;
        while (true) {
            const void *close = std::memchr(at_, '"', std::size_t(end_ - at_));
            if (!close) return false;
            at_ = static_cast<const char *>(close) + 1;
            if (at_ == end_ || *at_ != '"') break;
            doubled = true;
            at_++;
        }
        cell = string_view(start, std::size_t(at_ - start) - 1);
        if (doubled) cell = without_doubled_quotes(cell);
        return at_ == end_ || *at_ == separator_ || *at_ == '\n' || *at_ == '\r';
    }

    string_view without_doubled_quotes(string_view cell) {
        std::string &plain = unquoted_.emplace_back();
        for (std::size_t i = 0; i < cell.size(); i++) {
            plain.push_back(cell[i]);
            i += cell[i] == '"';
        }
        return plain;
    }
};

constexpr i64 ABSENT = std::numeric_limits<i64>::min();
constexpr double NOT_A_NUMBER = std::numeric_limits<double>::quiet_NaN();

INLINE bool is_number(Kind kind) { return kind == INTEGER || kind == FLOAT || kind >= COMMA; }

INLINE bool put_text(Column &column, i64 row, string_view cell) {
    column.labels[row] = cell.empty() ? -1 : column.texts.number(cell);
    return cell.empty() || column.labels[row] >= 0;
}

INLINE bool put_value(Column &column, i64 row, string_view cell, const Missing &missing) {
    if (column.kind == INTEGER) {
        i64 whole = 0;
        if (parse_integer(cell, whole) && whole != ABSENT) {
            column.numbers[row] = std::bit_cast<double>(whole);
            return true;
        }
    } else if (column.kind == TRUTH) {
        column.labels[row] = parse_truth(cell);
        if (column.labels[row] >= 0) return true;
    } else if (column.kind != EMPTY && parse_number(cell, column.kind, column.numbers[row])) {
        column.missing += column.numbers[row] != column.numbers[row];
        return true;
    }
    if (!missing(cell) && !column.lenient) return false;
    if (is_number(column.kind))
        column.numbers[row] = column.kind == INTEGER ? std::bit_cast<double>(ABSENT) : NOT_A_NUMBER;
    column.missing++;
    return true;
}

// Integers stay integers unless one is missing; then all become floats.
void settle(Column &column, i64 rows) {
    if (column.kind != INTEGER || column.missing == 0) return;
    for (i64 row = 0; row < rows; row++) {
        const i64 whole = std::bit_cast<i64>(column.numbers[row]);
        column.numbers[row] = whole == ABSENT ? NOT_A_NUMBER : double(whole);
    }
}

std::vector<Column> columns_of(In1<u8> kinds, Out2<double> numbers, Out2<std::int32_t> labels) {
    require(kinds.size() > 0, "csv.parse", "there must be a column");
    require(labels.shape(1) == numbers.shape(1), "csv.parse", "numbers and labels differ in length");
    std::vector<Column> columns(std::size_t(kinds.size()));
    i64 n_numbers = 0, n_labels = 0;
    for (i64 i = 0; i < kinds.size(); i++) {
        Column &column = columns[std::size_t(i)];
        const u8 kind = u8(kinds[i] & ~LENIENT);
        require(kind < KINDS, "csv.parse", "kinds must be 0 to 8, or 128 more");
        column.kind = Kind(kind);
        column.lenient = kinds[i] & LENIENT;
        if (is_number(column.kind)) {
            require(n_numbers < numbers.shape(0), "csv.parse", "too few rows of numbers");
            column.numbers = numbers.data + numbers.shape(1) * n_numbers++;
        } else if (column.kind == TEXT || column.kind == TRUTH) {
            require(n_labels < labels.shape(0), "csv.parse", "too few rows of labels");
            column.labels = labels.data + labels.shape(1) * n_labels++;
        }
    }
    return columns;
}

Texts list_of(const Labels &labels) {
    Texts texts;
    for (string_view label : labels.texts()) texts.append(nb::str(label.data(), label.size()));
    return texts;
}

// Returns (rows, missing values of every column, texts of every column), rows −1 if it gives up.
// A column of numbers takes the next row of `numbers`, one of labels or truth values that of `labels`.
std::tuple<i64, nb::typed<nb::list, int>, TextsOfColumns> parse(In1<u8> text, u8 separator,
                                                                In1<u8> kinds, Texts missing,
                                                                Out2<double> numbers,
                                                                Out2<std::int32_t> labels) {
    std::vector<Column> columns = columns_of(kinds, numbers, labels);
    const Missing absent(missing);
    Rows rows(text, char(separator), kinds.size());
    i64 n_rows = -1;
    {
        nb::gil_scoped_release free;
        n_rows = rows.each(numbers.shape(1), [&](i64 row, i64 place, string_view cell) {
            Column &column = columns[std::size_t(place)];
            if (column.kind == SKIPPED) return true;
            return column.kind == TEXT ? put_text(column, row, cell)
                                       : put_value(column, row, trimmed(cell), absent);
        });
        for (Column &column : columns) settle(column, n_rows);
    }
    nb::typed<nb::list, int> counts;
    TextsOfColumns texts;
    for (const Column &column : columns) {
        counts.append(column.missing);
        texts.append(n_rows < 0 ? Texts() : list_of(column.texts));
    }
    return {n_rows, counts, texts};
}

constexpr std::size_t MOST_WORDS = 32;

// How many cells of a column could be read as each kind; cells that are missing count as EMPTY,
// those that are only text as TEXT, of which a few are kept.
struct Looks {
    i64 counts[KINDS] = {};
    Labels words;

    bool look(string_view cell, const Missing &missing) {
        double number;
        i64 whole;
        if (missing(cell)) {
            counts[EMPTY]++;
            return true;
        }
        bool any = false;
        const auto mark = [&](Kind kind, bool fits) {
            counts[kind] += fits;
            any |= fits;
        };
        mark(INTEGER, parse_integer(cell, whole) && whole != ABSENT);
        mark(FLOAT, parse_float(cell, '.', number));
        mark(TRUTH, parse_truth(cell) >= 0);
        mark(COMMA, parse_float(cell, ',', number));
        mark(GROUPED, parse_grouped(cell, ',', '.', number));
        mark(DOTTED, parse_grouped(cell, '.', ',', number));
        if (any) return true;
        counts[TEXT]++;
        return words.texts().size() >= MOST_WORDS ? is_utf8(cell) : words.number(cell) >= 0;
    }
};

// Returns (rows, words of every column), rows −1 if it gives up; fills `counts` (columns, kinds).
std::tuple<i64, TextsOfColumns> look(In1<u8> text, u8 separator, Texts missing, Out2<i64> counts) {
    require(counts.shape(0) > 0, "csv.look", "there must be a column");
    require(counts.shape(1) == KINDS, "csv.look", "counts need a column for every kind");
    const Missing absent(missing);
    std::vector<Looks> columns(std::size_t(counts.shape(0)));
    Rows rows(text, char(separator), counts.shape(0));
    i64 n_rows = -1;
    {
        nb::gil_scoped_release free;
        n_rows = rows.each(text.size() + 1, [&](i64, i64 place, string_view cell) {
            return columns[std::size_t(place)].look(trimmed(cell), absent);
        });
    }
    TextsOfColumns words;
    for (i64 i = 0; i < counts.shape(0); i++) {
        const Looks &column = columns[std::size_t(i)];
        for (i64 kind = 0; kind < KINDS; kind++) counts(i, kind) = column.counts[kind];
        words.append(n_rows < 0 ? Texts() : list_of(column.words));
    }
    return {n_rows, words};
}

INLINE void count_ends_loop(const u8 *text, i64 size, i64 *ends) {
    i64 feeds = 0, returns = 0;
    for (i64 i = 0; i < size; i++) {
        feeds += text[i] == '\n';
        returns += text[i] == '\r';
    }
    *ends = feeds > returns ? feeds : returns;
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
    bind(room, "most_rows", "Most rows that some text of a CSV file can have.", most_rows, "text");
    room.def("look", look, nb::arg("text"), nb::arg("separator"), nb::arg("missing"), nb::arg("counts"),
             "Count what the cells of each column look like: (rows or -1, words of each column).");
    room.def("parse", parse, nb::arg("text"), nb::arg("separator"), nb::arg("kinds"),
             nb::arg("missing"), nb::arg("numbers"), nb::arg("labels"),
             "Parse rows of a CSV file: (rows or -1, missing values, texts of labels).");
}

}  // namespace unnaive
