// Tables that correct predictions: where further splits of their cells gain most.
#include <algorithm>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <vector>

#include "levels.h"
#include "posterior.h"

namespace unnaive {
namespace {

using Own = std::tuple<In1<i64>, In1<double>>;  // classes and weights of rows

constexpr i64 MOST_SUMS = i64(1) << 31;
constexpr i64 MOST_QUESTIONS = 16;
constexpr i64 SIDE_BY_SIDE = 6;  // columns; sums of one wait for each other, not those of others
constexpr i64 LANES = 4;  // doubles that are added at once; sums of three and more classes fill them

// Slopes and curvatures of one row, (k, 2).
void slopes_of(const double *chances, i64 own, double weight, i64 n_classes, double *slopes) {
    for (i64 label = 0; label < n_classes; label++) {
        const double chance = chances[label], right = own == label ? 1.0 : 0.0;
        slopes[2 * label] = (right - chance) * weight;
        slopes[2 * label + 1] = chance * (1.0 - chance) * weight;
    }
}

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
        slopes_of(chances.at(row).data, classes[row], importance[row], n_classes,
                  slopes.at(row).data);
}

// A row that has a say, and its place among all of these.
struct Voter {
    std::int32_t row, place;
};

// Some voters. Slopes and curvatures of each follow each other, `width` numbers a place: 2, or a
// multiple of LANES.
struct Voters {
    const Voter *first;
    i64 size;
    const double *slopes;
    i64 width;
};

// Codes of some columns, and the sums (codes, width) of each.
template <class Code> struct Lines {
    const Code *codes[SIDE_BY_SIDE] = {};
    double *sums[SIDE_BY_SIDE] = {};
};

// Numbers that are added at once: a slope and a curvature, or two of each.
template <i64 SIZE> struct Numbers {
#if defined(__GNUC__) || defined(__clang__)
    typedef double Values __attribute__((vector_size(SIZE * sizeof(double)), may_alias));
    Values values;
    INLINE static Numbers at(const double *from) { return {*reinterpret_cast<const Values *>(from)}; }
    INLINE void add_to(double *sums) const { *reinterpret_cast<Values *>(sums) += values; }
#else
    double values[SIZE];
    INLINE static Numbers at(const double *from) {
        Numbers numbers;
        std::copy_n(from, SIZE, numbers.values);
        return numbers;
    }
    INLINE void add_to(double *sums) const {
        for (i64 lane = 0; lane < SIZE; lane++) sums[lane] += values[lane];
    }
#endif
};

// Add slopes and curvatures to the sums of some columns; ONE_PAIR: the width is 2.
template <class Code, class Columns, class OnePair>
INLINE void add_rows_loop(Voters voters, Lines<Code> lines, Columns, OnePair) {
    constexpr i64 SIZE = OnePair::value ? 2 : LANES;
    const i64 width = OnePair::value ? 2 : voters.width;
    for (i64 index = 0; index < voters.size; index++) {
        const Voter voter = voters.first[index];
        const double *own = voters.slopes + voter.place * width;
        double *sums[Columns::value];
        for (i64 column = 0; column < Columns::value; column++)
            sums[column] = lines.sums[column] + i64(lines.codes[column][voter.row]) * width;
        for (i64 part = 0; part < width; part += SIZE) {
            const auto numbers = Numbers<SIZE>::at(own + part);
            for (i64 column = 0; column < Columns::value; column++)
                numbers.add_to(sums[column] + part);
        }
    }
}
LEVELS(add_rows)

template <class Code> void add_lines(Voters voters, const Lines<Code> &lines, i64 n_columns) {
    const auto add = [&](auto columns) {
        if (voters.width == 2)
            add_rows(voters, lines, columns, std::true_type{});
        else
            add_rows(voters, lines, columns, std::false_type{});
    };
    switch (n_columns) {
        case 1: return add(std::integral_constant<i64, 1>{});
        case 2: return add(std::integral_constant<i64, 2>{});
        case 3: return add(std::integral_constant<i64, 3>{});
        case 4: return add(std::integral_constant<i64, 4>{});
        case 5: return add(std::integral_constant<i64, 5>{});
        default: return add(std::integral_constant<i64, SIDE_BY_SIDE>{});
    }
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
// next are `width` numbers apart; `ordered`: codes up to this one split off.
void add_cell(const double *sums, i64 n_codes, i64 n_classes, i64 width, bool ordered,
              double penalty, Splits &splits, double *gains) {
    for (i64 label = 0; label < n_classes; label++) {
        double all_slopes = 0.0, all_bends = 0.0;
        for (i64 code = 0; code < n_codes; code++) {
            const double *pair = sums + code * width + 2 * label;
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

// Columns that are asked about: codes (d, n), slots and whether values are ordered (d,), and which.
template <class Code> using Columns = std::tuple<In2<Code>, In1<i64>, In1<i64>, In1<i64>>;

// Most cells of a table, penalty, and tolerance.
struct Rules {
    i64 most_cells;
    double penalty, tolerance;
};

template <class Code> void check_columns(const char *kernel, const Columns<Code> &given) {
    const auto &[codes, slots, ordered, columns] = given;
    require(slots.size() == codes.shape(0) && ordered.size() == codes.shape(0), kernel,
            "codes, slots and ordered differ in shape");
    require(codes.shape(1) < (i64(1) << 31), kernel, "there are too many rows");
    require(within(columns, 0, codes.shape(0)), kernel, "columns are not there");
    for (i64 place = 0; place < columns.size(); place++) {
        const i64 n_codes = slots[columns[place]];
        require(1 <= n_codes, kernel, "a column has no slots");
        require(all_below(codes.at(columns[place]).data, codes.shape(1), n_codes), kernel,
                "codes are too large");
    }
}

// Look for the questions of a round, one after the other.
template <class Code> struct Asking {
    In2<Code> codes;
    In1<i64> slots, ordered, columns;
    i64 n_classes;
    Rules rules;
    std::vector<Voter> voters = {};  // cell by cell, in the order of the rows
    std::vector<i64> stops = {};     // where the cells that have voters end
    std::vector<double> both = {};   // slopes and curvatures of two classes, voter by voter
    std::vector<double, Aligned<double>> shown = {}, sums = {};
    std::vector<double> gains = {};
    std::vector<Voter> others = {};
    std::vector<char> known = {};  // columns that were asked about
    Splits splits = {};

    Asking(const Columns<Code> &given, i64 k, Rules limits)
        : codes(std::get<0>(given)), slots(std::get<1>(given)), ordered(std::get<2>(given)),
          columns(std::get<3>(given)), n_classes(k), rules(limits) {}

    i64 n_rows() const { return codes.shape(1); }
    i64 n_shown() const { return n_classes == 2 ? 1 : n_classes; }  // two are alike
    i64 width() const { return n_shown() == 1 ? 2 : (2 * n_shown() + LANES - 1) / LANES * LANES; }

    // Keep the rows that have a say, of slopes and curvatures that are not all 0.
    void keep(i64 row, const double *numbers) {
        const double *end = numbers + 2 * n_classes;
        if (std::all_of(numbers, end, [](double number) { return number == 0.0; })) return;
        if (voters.empty()) {
            voters.reserve(n_rows());
            shown.reserve(n_rows() * width());
        }
        voters.push_back({std::int32_t(row), std::int32_t(voters.size())});
        shown.insert(shown.end(), numbers, numbers + 2 * n_shown());
        shown.resize(voters.size() * width());
        if (n_classes == 2) both.insert(both.end(), numbers, end);
    }

    // Slopes and curvatures of all classes.
    const double *numbers_of(const Voter &voter) const {
        const i64 place = voter.place;
        return n_classes == 2 ? &both[4 * place] : &shown[place * width()];
    }

    void start() {
        const i64 n_voters = i64(voters.size());
        if (n_voters > 0) stops.push_back(n_voters);
        i64 most = 0;
        for (i64 place = 0; place < columns.size(); place++)
            if (slots[columns[place]] <= rules.most_cells) most = std::max(most, slots[columns[place]]);
        known.assign(slots.size(), 0);
        others.resize(n_voters);
        gains.resize(SIDE_BY_SIDE * most);
        sums.resize(SIDE_BY_SIDE * most * width());
        for (auto *room : {&splits.slopes, &splits.bends}) room->resize(most);
    }

    // Columns with which the table of all questions stays small enough.
    std::vector<i64> askable() const {
        i64 size = 1;
        for (i64 column = 0; column < slots.size(); column++) size *= known[column] ? slots[column] : 1;
        std::vector<i64> found;
        for (i64 place = 0; place < columns.size(); place++)
            if (known[columns[place]] || slots[columns[place]] <= rules.most_cells / size)
                found.push_back(columns[place]);
        return found;
    }

    // The question that gains most: the first column within the tolerance, and the first code.
    Question best(const std::vector<i64> &asked) {
        std::vector<Question> found;
        for (i64 place = 0; place < i64(asked.size());) {
            const i64 number = std::min(i64(asked.size()) - place, SIDE_BY_SIDE);
            add_gains_of(&asked[place], number);
            const double *gain = gains.data();
            for (i64 next = place; next < place + number; next++) {
                found.push_back(best_of(asked[next], gain));
                gain += slots[asked[next]];
            }
            place += number;
        }
        double most = -INF;
        for (const auto &one : found) most = std::max(most, one.gain);
        for (const auto &one : found)
            if (one.gain >= most - rules.tolerance) return one;
        return found.front();  // no gain is a number
    }

    // What questions about some columns gain, one for each code, summed over the cells.
    void add_gains_of(const i64 *asked, i64 number) {
        Lines<Code> lines;
        i64 n_codes = 0;
        for (i64 next = 0; next < number; next++) {
            lines.codes[next] = codes.at(asked[next]).data;
            lines.sums[next] = sums.data() + n_codes * width();
            n_codes += slots[asked[next]];
        }
        std::fill_n(gains.data(), n_codes, 0.0);
        i64 first = 0;
        for (const i64 stop : stops) {
            std::fill_n(sums.data(), n_codes * width(), 0.0);
            add_lines({&voters[first], stop - first, shown.data(), width()}, lines, number);
            double *gain = gains.data();
            for (i64 next = 0; next < number; next++) {
                const i64 column = asked[next];
                add_cell(lines.sums[next], slots[column], n_shown(), width(), ordered[column] != 0,
                         rules.penalty, splits, gain);
                gain += slots[column];
            }
            first = stop;
        }
    }

    Question best_of(i64 column, const double *gain) const {
        const i64 n_codes = slots[column];
        const double most = *std::max_element(gain, gain + n_codes);
        i64 first = 0;
        while (first + 1 < n_codes && !(gain[first] >= most - rules.tolerance)) first++;
        return {gain[first], column, first};
    }

    // Split all cells by the answer of every voter.
    void answer(const Question &question) {
        known[question.column] = 1;
        if (ordered[question.column] != 0)
            split([&](Code code) { return i64(code) > question.code; }, question.column);
        else
            split([&](Code code) { return i64(code) == question.code; }, question.column);
    }

    // Voters of answer 0 stay before those of answer 1, both in their order.
    template <class Answer> void split(Answer answer, i64 column) {
        const Code *line = codes.at(column).data;
        std::vector<i64> ends;
        i64 first = 0;
        for (const i64 stop : stops) {
            i64 low = first, high = 0;
            for (i64 index = first; index < stop; index++) {
                const Voter voter = voters[index];
                const bool yes = answer(line[voter.row]);
                voters[low] = others[high] = voter;  // what is read is never behind
                low += !yes;
                high += yes;
            }
            std::copy_n(others.data(), high, voters.data() + low);
            if (low > first) ends.push_back(low);
            if (high > 0) ends.push_back(stop);
            first = stop;
        }
        stops.swap(ends);
    }

    // Questions of a round, at most so many: each gains more than the one before.
    std::vector<Question> questions(i64 most) {
        std::vector<Question> found;
        start();
        for (double reached = 0.0; i64(found.size()) < most;) {
            const std::vector<i64> asked = askable();
            if (asked.empty()) break;
            const Question question = best(asked);
            if (!(question.gain > reached * (1.0 + rules.tolerance) + rules.tolerance)) break;
            reached = question.gain;
            found.push_back(question);
            answer(question);
        }
        return found;
    }

    // Cells of all rows, and the sums of slopes and curvatures in the cells (cells, k, 2).
    void sum(const std::vector<Question> &found, i64 *cells, double *totals) {
        std::fill_n(cells, n_rows(), 0);
        for (const Question &question : found) {
            const Code *line = codes.at(question.column).data;
            const i64 bound = question.code;
            if (ordered[question.column] != 0)
                for (i64 row = 0; row < n_rows(); row++)
                    cells[row] = 2 * cells[row] + (i64(line[row]) > bound);
            else
                for (i64 row = 0; row < n_rows(); row++)
                    cells[row] = 2 * cells[row] + (i64(line[row]) == bound);
        }
        const i64 step = 2 * n_classes;
        for (const Voter &voter : voters) {  // of a cell in the order of the rows
            double *total = totals + cells[voter.row] * step;
            const double *own = numbers_of(voter);
            for (i64 part = 0; part < step; part++) total[part] += own[part];
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
    require(cells.size() == n_rows && slopes.shape(0) == n_rows && slopes.shape(2) == 2, kernel,
            "codes, cells and slopes differ in shape");
    require(questions.shape(1) == 2 && most <= MOST_QUESTIONS && sums.shape(0) == (i64(1) << most) &&
                sums.shape(1) == n_classes && sums.shape(2) == 2,
            kernel, "questions and sums differ in shape");
    require(penalty > 0.0, kernel, "penalty is not above 0");
    require(1 <= n_classes && 1 <= most_cells && most_cells <= MOST_SUMS / sums.size(), kernel,
            "there are no cells or classes, or too many");
    const Columns<Code> given{codes, slots, ordered, columns};
    check_columns(kernel, given);
    Asking<Code> asking(given, n_classes, {most_cells, penalty, tolerance});
    for (i64 row = 0; row < n_rows; row++) asking.keep(row, slopes.at(row).data);
    const std::vector<Question> found = asking.questions(most);
    for (i64 number = 0; number < i64(found.size()); number++) {
        questions(number, 0) = found[number].column;
        questions(number, 1) = found[number].code;
    }
    std::fill_n(sums.data, sums.size(), 0.0);
    asking.sum(found, cells.data, sums.data);
    return i64(found.size());
}

// Most questions, most cells of a table, penalty, tolerance, and the share of a step.
using Manner = std::tuple<i64, i64, double, double, double>;

// One round, see `ask`: a step of the log joint (n, k) in the cells of the questions that gain
// most. The lines of the rows that are `held` out, whose weight is 0, are copied to `now`.
template <class Code>
void advance(Columns<Code> columns, Own rows, Manner manner, Out2<double> joint, In1<i64> held,
             Out2<double> now) {
    const char *kernel = "advance";
    const auto &[classes, importance] = rows;
    const auto [most, most_cells, penalty, tolerance, rate] = manner;
    const i64 n_rows = joint.shape(0), n_classes = joint.shape(1), step = 2 * n_classes;
    require(classes.size() == n_rows && importance.size() == n_rows && now.shape(0) == n_rows &&
                now.shape(1) == n_classes && std::get<0>(columns).shape(1) == n_rows,
            kernel, "codes, classes, importance, joint and now differ in shape");
    require(within(classes, 0, n_classes), kernel, "a class is not there");
    require(within(held, 0, n_rows), kernel, "a row is not there");
    require(0 <= most && most <= MOST_QUESTIONS && penalty > 0.0, kernel,
            "there are too many questions, or the penalty is not above 0");
    require(1 <= n_classes && n_classes < (i64(1) << 24) && 1 <= most_cells &&
                most_cells <= MOST_SUMS / (step << most),
            kernel, "there are no cells or classes, or too many");
    check_columns(kernel, columns);
    Asking<Code> asking(columns, n_classes, {most_cells, penalty, tolerance});
    Room<double, 1> chances(n_classes), slopes(step), totals(step << most);
    Room<i64, 1> cells(n_rows);
    for (i64 row = 0; row < n_rows; row++) {
        if (importance[row] == 0.0) continue;
        posterior_of(joint.at(row).data, n_classes, chances.data);
        slopes_of(chances.data, classes[row], importance[row], n_classes, slopes.data);
        asking.keep(row, slopes.data);
    }
    const std::vector<Question> found = asking.questions(most);
    asking.sum(found, cells.data, totals.data);
    for (i64 part = 0; part < (n_classes << found.size()); part++)
        totals[part] = rate * totals[2 * part] / (totals[2 * part + 1] + penalty);
    for (i64 row = 0; row < n_rows; row++)
        for (i64 label = 0; label < n_classes; label++)
            joint(row, label) += totals[cells[row] * n_classes + label];
    for (i64 place = 0; place < held.size(); place++)
        std::copy_n(joint.at(held[place]).data, n_classes, now.at(held[place]).data);
}

template <class Code> void bind_codes(nb::module_ &room) {
    bind(room, "ask", "Choose questions that split the rows' cells, and sum slopes in the cells.",
         ask<Code>, "codes", "slots", "ordered", "columns", "slopes", "most_cells", "penalty",
         "tolerance", "questions", "cells", "sums");
    bind(room, "advance", "Take a step of the log joint in the cells of the best questions.",
         advance<Code>, "columns", "rows", "manner", "joint", "held", "now");
}

}  // namespace

void bind_corrections(nb::module_ &room) {
    bind(room, "fill_slopes", "Slope and curvature of every row's log likelihood.", fill_slopes,
         "chances", "classes", "importance", "slopes");
    for_codes([&](auto code) { bind_codes<decltype(code)>(room); });
}

}  // namespace unnaive
