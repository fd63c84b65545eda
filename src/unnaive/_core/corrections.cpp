// Tables that correct predictions: where further splits of their cells gain most.
#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "levels.h"

namespace unnaive {
namespace {

constexpr i64 MOST_SUMS = i64(1) << 31;
constexpr i64 MOST_QUESTIONS = 16;
constexpr i64 SIDE_BY_SIDE = 4;  // columns; sums of one wait for each other, those of others do not
constexpr i64 LANES = 8;  // doubles of a cache line; sums of three and more classes fill whole ones

// Slope and curvature of every row's log likelihood for the log joint of each class, into
// slopes (n, k, 2); `chances` (n, k) are predictions. Cost n·k.
void fill_slopes(In2<double> chances, In1<i64> classes, In1<double> importance,
                 Out3<double> slopes) {
    const char *kernel = "fill_slopes";
    const i64 n_rows = chances.shape(0), n_classes = chances.shape(1);
    require(classes.size() == n_rows && importance.size() == n_rows && slopes.shape(0) == n_rows &&
                slopes.shape(1) == n_classes && slopes.shape(2) == 2,
            kernel, "chances, classes, importance and slopes differ in shape");
    require(within(classes, 0, n_classes), kernel, "a class is not there");
    for (i64 row = 0; row < n_rows; row++)
        for (i64 label = 0; label < n_classes; label++) {
            const double chance = chances(row, label), right = classes[row] == label ? 1.0 : 0.0;
            slopes(row, label, 0) = (right - chance) * importance[row];
            slopes(row, label, 1) = chance * (1.0 - chance) * importance[row];
        }
}

// The rows that have a say, and their cells of 2^depth. Slopes and curvatures of each follow each
// other, `width` numbers a row: 2, or a multiple of LANES.
struct Voters {
    const std::int32_t *rows, *cells;
    i64 size, depth;
    const double *slopes;
    i64 width;
};

// Codes of some columns, and the sums (codes, cells, width) of each.
template <class Code> struct Lines {
    const Code *codes[SIDE_BY_SIDE] = {};
    double *sums[SIDE_BY_SIDE] = {};
};

// Add a line of numbers to another one; both begin with a cache line.
#if defined(__GNUC__) || defined(__clang__)
using Line = double __attribute__((vector_size(LANES * sizeof(double)), may_alias));
INLINE void add_line(double *sums, const double *own) {
    *reinterpret_cast<Line *>(sums) += *reinterpret_cast<const Line *>(own);
}
#else
INLINE void add_line(double *sums, const double *own) {
    for (i64 lane = 0; lane < LANES; lane++) sums[lane] += own[lane];
}
#endif

// Add slopes and curvatures to the sums of some columns; ONE_PAIR: the width is 2.
template <class Code, class Columns, class OnePair>
INLINE void add_rows_loop(Voters voters, Lines<Code> lines, Columns, OnePair) {
    const i64 width = OnePair::value ? 2 : voters.width;
    for (i64 place = 0; place < voters.size; place++) {
        const i64 row = voters.rows[place], cell = voters.cells[row];
        const double *own = voters.slopes + place * width;
        for (i64 column = 0; column < Columns::value; column++) {
            const i64 code = i64(lines.codes[column][row]);
            double *sums = lines.sums[column] + ((code << voters.depth) + cell) * width;
            if (OnePair::value) {
                sums[0] += own[0];
                sums[1] += own[1];
                continue;
            }
            for (i64 part = 0; part < width; part += LANES) add_line(sums + part, own + part);
        }
    }
}
LEVELS(add_rows)

// How many columns are added side by side: a power of 2.
i64 side_by_side(i64 n_columns) {
    i64 number = 1;
    while (2 * number <= std::min(n_columns, SIDE_BY_SIDE)) number *= 2;
    return number;
}

template <class Code> void add_lines(Voters voters, const Lines<Code> &lines, i64 n_columns) {
    const auto add = [&](auto columns) {
        if (voters.width == 2)
            add_rows(voters, lines, columns, std::true_type{});
        else
            add_rows(voters, lines, columns, std::false_type{});
    };
    if (n_columns == SIDE_BY_SIDE) return add(std::integral_constant<i64, SIDE_BY_SIDE>{});
    if (n_columns == 2) return add(std::integral_constant<i64, 2>{});
    add(std::integral_constant<i64, 1>{});
}

// Add S²/(H + penalty) of both parts of every split to `gains`; the parts beside those given have
// what is left of the total.
INLINE void add_gains_loop(const double *RESTRICT slopes, const double *RESTRICT bends, i64 n_codes,
                           double all_slopes, double all_bends, double penalty,
                           double *RESTRICT gains) {
    for (i64 code = 0; code < n_codes; code++) {
        const double slope = slopes[code], bend = bends[code];
        const double other = all_slopes - slope, rest = all_bends - bend;
        const double beyond = rest > 0.0 ? rest : 0.0;
        const double gain = gains[code] + slope * slope / (bend + penalty);
        gains[code] = gain + other * other / (beyond + penalty);
    }
}
LEVELS(add_gains)

// Room for one class of a cell: slopes and curvatures of all splits.
struct Splits {
    std::vector<double> slopes, bends;
};

// Add what the splits of a cell gain, one for each code, to `gains`. The sums of one code and the
// next are `step` numbers apart; `ordered`: codes up to this one split off.
void add_cell(const double *sums, i64 n_codes, i64 n_classes, i64 step, bool ordered,
              double penalty, Splits &splits, double *gains) {
    for (i64 label = 0; label < n_classes; label++) {
        double all_slopes = 0.0, all_bends = 0.0;
        for (i64 code = 0; code < n_codes; code++) {
            const double *pair = sums + code * step + 2 * label;
            all_slopes += pair[0];
            all_bends += pair[1];
            splits.slopes[code] = ordered ? all_slopes : pair[0];
            splits.bends[code] = ordered ? all_bends : pair[1];
        }
        add_gains(splits.slopes.data(), splits.bends.data(), n_codes, all_slopes, all_bends,
                  penalty, gains);
    }
}

// A question: is the code of a column above this one (ordered), or is it this one?
struct Question {
    double gain;
    i64 column, code;
};

// Look for the questions of a round, one after the other.
template <class Code> struct Asking {
    In2<Code> codes;
    In1<i64> slots, ordered, columns;
    In3<double> slopes;
    i64 most_cells;
    double penalty, tolerance;
    std::vector<std::int32_t> rows = {}, cells = {};
    std::vector<double, Aligned<double>> shown = {}, sums = {};
    std::vector<double> gains = {};
    std::vector<char> known = {}, some = {};  // columns asked about; cells with rows that have a say
    Splits splits = {};
    i64 depth = 0;

    i64 n_rows() const { return codes.shape(1); }
    i64 n_cells() const { return i64(1) << depth; }
    i64 n_shown() const { return slopes.shape(1) == 2 ? 1 : slopes.shape(1); }  // two are alike
    i64 width() const { return n_shown() == 1 ? 2 : (2 * n_shown() + LANES - 1) / LANES * LANES; }

    // Keep the rows with a say: the others have slopes and curvatures of 0.
    void start() {
        const i64 step = slopes.shape(1) * 2;
        i64 most = 0;
        for (i64 row = 0; row < n_rows(); row++) {
            const double *own = slopes.data + row * step;
            if (std::all_of(own, own + step, [](double number) { return number == 0.0; })) continue;
            rows.push_back(std::int32_t(row));
        }
        shown.resize(i64(rows.size()) * width());
        for (i64 place = 0; place < i64(rows.size()); place++)
            std::copy_n(slopes.at(rows[place]).data, 2 * n_shown(), &shown[place * width()]);
        for (i64 place = 0; place < columns.size(); place++)
            if (slots[columns[place]] <= most_cells) most = std::max(most, slots[columns[place]]);
        cells.assign(n_rows(), 0);
        known.assign(slots.size(), 0);
        for (auto *room : {&gains, &splits.slopes, &splits.bends}) room->resize(most);
    }

    // Columns with which the table of all questions stays small enough.
    std::vector<i64> askable() const {
        i64 size = 1;
        for (i64 column = 0; column < slots.size(); column++) size *= known[column] ? slots[column] : 1;
        std::vector<i64> found;
        for (i64 place = 0; place < columns.size(); place++)
            if (known[columns[place]] || slots[columns[place]] <= most_cells / size)
                found.push_back(columns[place]);
        return found;
    }

    // The question that gains most: the first column within the tolerance, and the first code.
    Question best(const std::vector<i64> &asked) {
        some.assign(n_cells(), 0);
        for (const auto row : rows) some[cells[row]] = 1;
        std::vector<Question> found;
        for (i64 place = 0; place < i64(asked.size());) {
            const i64 number = side_by_side(i64(asked.size()) - place);
            const double *own = add(&asked[place], number);
            for (i64 next = place; next < place + number; next++) {
                found.push_back(best_of(asked[next], own));
                own += n_cells() * slots[asked[next]] * width();
            }
            place += number;
        }
        double most = -INF;
        for (const auto &one : found) most = std::max(most, one.gain);
        for (const auto &one : found)
            if (one.gain >= most - tolerance) return one;
        return found.front();  // no gain is a number
    }

    // Sums of some columns after each other, as many as are added side by side.
    const double *add(const i64 *asked, i64 number) {
        i64 size = 0;
        for (i64 next = 0; next < number; next++) size += n_cells() * slots[asked[next]] * width();
        sums.assign(size, 0.0);
        Lines<Code> lines;
        double *own = sums.data();
        for (i64 next = 0; next < number; next++) {
            lines.codes[next] = codes.at(asked[next]).data;
            lines.sums[next] = own;
            own += n_cells() * slots[asked[next]] * width();
        }
        add_lines({rows.data(), cells.data(), i64(rows.size()), depth, shown.data(), width()}, lines,
                  number);
        return sums.data();
    }

    Question best_of(i64 column, const double *own) {
        const i64 n_codes = slots[column];
        std::fill_n(gains.data(), n_codes, 0.0);
        for (i64 cell = 0; cell < n_cells(); cell++)
            if (some[cell])
                add_cell(own + cell * width(), n_codes, n_shown(), n_cells() * width(),
                         ordered[column] != 0, penalty, splits, gains.data());
        const double most = *std::max_element(gains.data(), gains.data() + n_codes);
        i64 first = 0;
        while (first + 1 < n_codes && !(gains[first] >= most - tolerance)) first++;
        return {gains[first], column, first};
    }

    // Split all cells by the answer of every row.
    void answer(const Question &question) {
        known[question.column] = 1;
        depth++;
        const Code *line = codes.at(question.column).data;
        const bool above = ordered[question.column] != 0;
        for (i64 row = 0; row < n_rows(); row++) {
            const i64 code = i64(line[row]);
            cells[row] = 2 * cells[row] + (above ? code > question.code : code == question.code);
        }
    }
};

// Choose questions that split the rows' cells, and sum slopes and curvatures in the cells.
//
// Each cell is split into rows of a code (ordered: of codes beyond this one) and all others, and
// gains Σ S²/(H + penalty) over both parts and classes. The next question is that of the largest
// gain, the first within `tolerance`; it must gain more than the one before, and the table of all
// columns that are asked about must have at most `most_cells`. `slopes` (n, k, 2) has S and H.
// Codes are below `slots`. Columns and codes of the questions go to `questions` (most, 2), and the
// cell of every row to `cells`; returns the number of questions. Cost n·columns·k·questions.
template <class Code>
i64 ask(In2<Code> codes, In1<i64> slots, In1<i64> ordered, In1<i64> columns, In3<double> slopes,
        i64 most_cells, double penalty, double tolerance, Out2<i64> questions, Out1<i64> cells,
        Out3<double> sums) {
    const char *kernel = "ask";
    const i64 n_rows = codes.shape(1), n_classes = slopes.shape(1), most = questions.shape(0);
    require(slots.size() == codes.shape(0) && ordered.size() == codes.shape(0) &&
                cells.size() == n_rows && slopes.shape(0) == n_rows && slopes.shape(2) == 2,
            kernel, "codes, slots, ordered, cells and slopes differ in shape");
    require(n_rows < (i64(1) << 31), kernel, "there are too many rows");
    require(questions.shape(1) == 2 && most <= MOST_QUESTIONS && sums.shape(0) == (i64(1) << most) &&
                sums.shape(1) == n_classes && sums.shape(2) == 2,
            kernel, "questions and sums differ in shape");
    require(penalty > 0.0, kernel, "penalty is not above 0");
    require(within(columns, 0, codes.shape(0)), kernel, "columns are not there");
    require(1 <= n_classes && 1 <= most_cells && most_cells <= MOST_SUMS / sums.size(), kernel,
            "there are no cells or classes, or too many");
    for (i64 place = 0; place < columns.size(); place++) {
        const i64 n_codes = slots[columns[place]];
        require(1 <= n_codes, kernel, "a column has no slots");
        require(all_below(codes.at(columns[place]).data, n_rows, n_codes), kernel,
                "codes are too large");
    }
    Asking<Code> asking{codes, slots, ordered, columns, slopes, most_cells, penalty, tolerance};
    asking.start();
    i64 number = 0;
    for (double reached = 0.0; number < most; number++) {
        const std::vector<i64> asked = asking.askable();
        if (asked.empty()) break;
        const Question best = asking.best(asked);
        if (!(best.gain > reached * (1.0 + tolerance) + tolerance)) break;
        reached = best.gain;
        questions(number, 0) = best.column;
        questions(number, 1) = best.code;
        asking.answer(best);
    }
    std::fill_n(sums.data, sums.size(), 0.0);
    for (i64 row = 0; row < n_rows; row++) {
        cells[row] = asking.cells[row];
        double *own = sums.at(cells[row]).data;
        for (i64 part = 0; part < 2 * n_classes; part++) own[part] += slopes.at(row).data[part];
    }
    return number;
}

template <class Code> void bind_codes(nb::module_ &room) {
    bind(room, "ask", "Choose questions that split the rows' cells, and sum slopes in the cells.",
         ask<Code>, "codes", "slots", "ordered", "columns", "slopes", "most_cells", "penalty",
         "tolerance", "questions", "cells", "sums");
}

}  // namespace

void bind_corrections(nb::module_ &room) {
    bind(room, "fill_slopes", "Slope and curvature of every row's log likelihood.", fill_slopes,
         "chances", "classes", "importance", "slopes");
    for_codes([&](auto code) { bind_codes<decltype(code)>(room); });
}

}  // namespace unnaive
