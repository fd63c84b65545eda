// Nested models: counts of contexts, one more parent at a time, and left-out factors.
#include <algorithm>

#include "selective.h"

namespace unnaive {
namespace {

// ------------------------------------------------------------------ counts

// Give numbers to pairs of a number and a code as they come, return how many; cost n.
// Rows that take no part (−1), or lack the number (−1) or the code, have −1. Unless it `splits`
// (1, not 0), the code is not looked at. `slots` (a power of two) are where pairs are hashed to,
// `keys` (n,) the pairs found.
template <class Code>
i64 number_rows(In1<i32> taking_part, In1<i32> before, In1<Code> codes, i64 size, i64 splits,
                Out1<i32> slots, Out1<i64> keys, Out1<i32> out) {
    const char *kernel = "number_rows";
    const i64 n_rows = codes.size();
    require(taking_part.size() == n_rows && before.size() == n_rows && keys.size() == n_rows &&
                out.size() == n_rows,
            kernel, "arrays of rows differ in length");
    require(n_rows < std::numeric_limits<i32>::max() && slots.size() > n_rows &&
                (slots.size() & (slots.size() - 1)) == 0,
            kernel, "slots are not a power of two above the number of rows");
    const u64 mask = u64(slots.size() - 1);
    for (i64 slot = 0; slot < slots.size(); slot++) slots[slot] = -1;
    i32 known = 0;
    for (i64 row = 0; row < n_rows; row++) {
        const i64 code = codes[row];
        out[row] = -1;
        if (taking_part[row] < 0 || before[row] < 0 || code >= size) continue;
        const u64 key = u64(before[row]) * u64(size) + u64(code) * u64(splits);
        u64 place = (key * 0x9E3779B97F4A7C15u) >> 32;
        i32 number = slots[place & mask];
        while (number >= 0 && u64(keys[number]) != key) number = slots[++place & mask];
        if (number < 0) {
            number = known++;
            slots[place & mask] = number;
            keys[number] = i64(key);
        }
        out[row] = number;
    }
    return known;
}

// Count rows by place and class, from line `first` of out (lines, k) on; cost n.
void count_rows(In1<i32> places, const Own &own, i64 first, i64 number, Out2<double> out) {
    require(0 <= first && first <= out.shape(0) && number <= out.shape(0) - first, "count_steps",
            "there are more places than lines to count in");
    const auto &[classes, weights] = own;
    const i64 n_classes = out.shape(1);
    double *counts = out.data + first * n_classes;
    std::memset(counts, 0, std::size_t(number * n_classes) * sizeof(double));
    for (i64 row = 0; row < places.size(); row++)
        if (places[row] >= 0) counts[places[row] * n_classes + classes[row]] += weights[row];
}

// Rows' places (steps + 1, 2, n), starts of the steps (steps + 1, 2), counts (…, k) of both kinds.
template <class Place, class Start, class Count>
using RunOf =
    std::tuple<View<Place, 3>, View<Start, 2>, std::tuple<View<Count, 2>, View<Count, 2>>>;

// Count a column (the first) with none of its parents, with one, with two, …; cost n·steps.
// Into `run`: every row's context and cell (context and value) among those of a step, −1 where it
// lacks a value or, from the second step on, takes no part (−1); the first are given. Then the
// starts of the steps' contexts and cells, and the counts of both.
template <class Code>
void count_steps(In2<Code> codes, In1<i64> family, In1<i64> sizes, In1<i32> taking_part, Own own,
                 Out1<i32> slots, Out1<i64> keys, RunOf<i32, i64, double> run) {
    const char *kernel = "count_steps";
    auto [places, starts, both] = run;
    const Out2<double> counts[2] = {std::get<0>(both), std::get<1>(both)};
    const i64 n_rows = codes.shape(1), n_steps = family.size();
    require(within(family, 0, codes.shape(0)) && sizes.size() == codes.shape(0), kernel,
            "the family or the sizes are not those of the columns");
    require(places.shape(0) == n_steps + 1 && places.shape(1) == 2 && places.shape(2) == n_rows &&
                starts.shape(0) == n_steps + 1 && starts.shape(1) == 2,
            kernel, "places or starts are not those of the steps");
    require(std::get<0>(own).size() == n_rows && std::get<1>(own).size() == n_rows &&
                taking_part.size() == n_rows,
            kernel, "arrays of rows differ in length");
    require(within(std::get<0>(own), 0, std::min(counts[0].shape(1), counts[1].shape(1))), kernel,
            "a class is out of range");
    for (i64 step = 0; step < n_steps; step++) {
        const Out2<i32> before = places.at(step), now = places.at(step + 1);
        for (int kind = 0; kind < 2; kind++) {
            const In1<i32> taking =
                kind > 0 ? In1<i32>(now.at(0)) : (step > 0 ? taking_part : In1<i32>(before.at(0)));
            const i64 number = number_rows<Code>(
                taking, before.at(kind), codes.at(family[step]), sizes[family[step]],
                step + kind > 0 ? 1 : 0, slots, keys, now.at(kind));
            const i64 first = starts(step, kind);
            count_rows(now.at(kind), own, first, number, counts[kind]);
            starts(step + 1, kind) = first + number;
        }
    }
}

// ------------------------------------------------------------------ factors

// Estimate (N + α) / (N of the context + A); 0/0 is 1/v.
INLINE double smoothed(double count, double total, double alpha, double whole, double even) {
    const double bottom = left_of(total) + whole, found = (left_of(count) + alpha) / bottom;
    return bottom > 0.0 ? found : even;
}

// Lines and chances (steps + 1, rows), the first of both given, and factors (lines, k).
using Factors = std::tuple<Out2<i32>, Out2<double>, Out2<double>>;
using Counted = RunOf<const i32, const i64, const double>;

// One step of `fill_factors`: what smoothing adds there, and where its lines begin.
struct Step {
    double each, part, whole, even;
    i64 index, first_row, last_row, free, size;
    bool leaning, row_by_row;
};

// Smoothed counts of one cell, of every class; what is added leans on the factors above, or not.
INLINE void fill_cell_loop(const double *RESTRICT counts, const double *RESTRICT totals,
                           const double *leant_on, double alpha, const Step &now, i64 n_classes,
                           double *found) {
    if (now.leaning)
        for (i64 label = 0; label < n_classes; label++)
            found[label] = smoothed(counts[label], totals[label],
                                    now.each + now.part * leant_on[label], now.whole, now.even);
    else
        for (i64 label = 0; label < n_classes; label++)
            found[label] = smoothed(counts[label], totals[label], alpha, now.whole, now.even);
}

// Rows' lines and chances of one step, and the factors of its cells.
INLINE void fill_step_loop(Counted run, Own own, In1<double> share, Step now, Factors out) {
    const char *kernel = "fill_factors";
    const auto &[places, starts, both] = run;
    const auto &[totals, table] = both;
    const auto &[classes, weights] = own;
    const auto &[lines, chances, factors] = out;
    const i64 n_classes = factors.shape(1), step = now.index;
    const i64 first_context = starts(step, 0), n_contexts = starts(step + 1, 0) - first_context;
    const i64 first_cell = starts(step, 1), n_cells = starts(step + 1, 1) - first_cell;
    for (i64 line = now.free; line < now.free + now.size; line++) factors(line, 0) = -1.0;
    for (i64 row = now.first_row; row < now.last_row; row++) {
        const i64 at = row - now.first_row, label = classes[row];
        const i64 context = places(step + 1, 0, row), cell = places(step + 1, 1, row);
        const i64 above = lines(step, at);
        const double base = chances(step, at), held = weights[row];
        if (context < 0) {
            lines(step + 1, at) = i32(above);
            chances(step + 1, at) = base;
            continue;
        }
        require(context < n_contexts && 0 <= cell && cell < n_cells, kernel,
                "a place lies beyond its step");
        require(!now.leaning || (0 <= above && above < factors.shape(0)), kernel,
                "a line lies beyond the factors");
        const i64 line = now.free + (now.row_by_row ? at : cell);
        const double *counts = table.data + (first_cell + cell) * n_classes;
        const double *sums = totals.data + (first_context + context) * n_classes;
        const double alpha = now.each + now.part * (now.leaning ? base : share[row]);
        lines(step + 1, at) = i32(line);
        chances(step + 1, at) =
            smoothed(counts[label] - held, sums[label] - held, alpha, now.whole, now.even);
        double *found = factors.data + line * n_classes;
        if (!(found[0] < 0.0)) continue;  // another row of the cell was here
        const double *leant_on = factors.data + above * n_classes;
        fill_cell_loop(counts, sums, leant_on, alpha, now, n_classes, found);
    }
}
LEVELS(fill_step)

void check_factors(const Counted &run, const Own &own, In1<double> share, In2<double> pseudo,
                   i64 n_rows, const Factors &out) {
    const char *kernel = "fill_factors";
    const auto &[places, starts, both] = run;
    const auto &[lines, chances, factors] = out;
    const i64 n_steps = pseudo.shape(0), n_all = places.shape(2), n_classes = factors.shape(1);
    require(pseudo.shape(1) == 4 && places.shape(0) > n_steps && places.shape(1) == 2, kernel,
            "places or pseudo are not those of the steps");
    require(starts.shape(0) > n_steps && starts.shape(1) == 2, kernel,
            "starts are not those of the steps");
    for (i64 step = 0; step <= n_steps; step++)
        for (i64 kind = 0; kind < 2; kind++)
            require(starts(step, kind) >= (step == 0 ? 0 : starts(step - 1, kind)), kernel,
                    "starts fall");
    const auto &[totals, table] = both;
    require(starts(n_steps, 0) <= totals.shape(0) && starts(n_steps, 1) <= table.shape(0), kernel,
            "starts lie beyond the counts");
    require(n_classes > 0 && totals.shape(1) == n_classes && table.shape(1) == n_classes, kernel,
            "counts and factors differ in classes");
    require(std::get<0>(own).size() == n_all && std::get<1>(own).size() == n_all &&
                share.size() == n_all,
            kernel, "arrays of rows differ in length");
    require(within(std::get<0>(own), 0, n_classes), kernel, "a class is out of range");
    require(lines.shape(0) > n_steps && chances.shape(0) > n_steps && lines.shape(1) >= n_rows &&
                chances.shape(1) >= n_rows && factors.shape(0) <= std::numeric_limits<i32>::max(),
            kernel, "lines or chances are not those of steps and rows");
}

// Factors of every cell, and of left-out rows for their own class; cost (n + cells·k)·steps.
// `pseudo` (steps, 4): what smoothing adds to every count, what it adds in proportion, the sum
// over values, and 1/v. In proportion to the row's `share`, or, where a step `leans`, to the step
// before. `span`: first row and last, first free line, and whether every row has a line of its
// own. A row that lacks a cell has the line of the step before.
void fill_factors(Counted run, Own own, In1<double> share, In2<double> pseudo, bool leans,
                  std::tuple<i64, i64, i64, bool> span, Factors out) {
    const char *kernel = "fill_factors";
    auto [first_row, last_row, free, row_by_row] = span;
    require(0 <= first_row && first_row <= last_row && last_row <= share.size() && free >= 0,
            kernel, "the span lies beyond the rows");
    check_factors(run, own, share, pseudo, last_row - first_row, out);
    const In2<i64> starts = std::get<1>(run);
    for (i64 step = 0; step < pseudo.shape(0); step++) {
        const i64 size = row_by_row ? last_row - first_row : starts(step + 1, 1) - starts(step, 1);
        const i64 n_lines = std::get<2>(out).shape(0);
        require(free <= n_lines && size <= n_lines - free, kernel, "there are too few lines");
        const Step now{pseudo(step, 0), pseudo(step, 1), pseudo(step, 2), pseudo(step, 3), step,
                       first_row, last_row, free, size, leans && step > 0, row_by_row};
        fill_step(run, own, share, now, out);
        free += size;
    }
}

template <class Code> void bind_counts(nb::module_ &room) {
    bind(room, "number_rows",
         "Give numbers to pairs of a number and a code as they come, return how many.",
         number_rows<Code>, "taking_part", "before", "codes", "size", "splits", "slots", "keys",
         "out");
    bind(room, "count_steps", "Count a column with none of its parents, with one, with two, ….",
         count_steps<Code>, "codes", "family", "sizes", "taking_part", "own", "slots", "keys",
         "run");
}

}  // namespace

void bind_selective_counts(nb::module_ &room) {
    for_codes([&](auto code) { bind_counts<decltype(code)>(room); });
    bind(room, "fill_factors", "Factors of every cell, and of left-out rows for their own class.",
         fill_factors, "run", "own", "share", "pseudo", "leans", "span", "out");
}

}  // namespace unnaive
