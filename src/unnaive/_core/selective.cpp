// Nested models, one more column at a time: counts of contexts, left-out factors, scores.
//
// A product of many factors is a fraction in [1, 2) and a power of two, one of each for every class
// and row: neither a logarithm a factor nor an exponential a class is needed, and none is lost
// below the smallest number. A factor of 0 adds NEVER to the power.
#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <utility>

#include "levels.h"

namespace unnaive {
namespace {

using i32 = std::int32_t;
using Own = std::tuple<In1<i64>, In1<double>>;  // classes and weights of rows

constexpr i64 NEVER = -(i64(1) << 40);
constexpr i64 LEAST = NEVER / 2;  // powers below hold a factor of 0
constexpr double LOG_2 = 0.6931471805599453;
constexpr double SMALLEST = 0x1p-1022;
constexpr u64 FRACTION_BITS = (u64(1) << 52) - 1;
constexpr u64 ONE_BITS = u64(1023) << 52;

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

INLINE double left_of(double count) { return count > 0.0 ? count : 0.0; }

// Estimate (N + α) / (N of the context + A); 0/0 is 1/v.
INLINE double smoothed(double count, double total, double alpha, double whole, double even) {
    const double bottom = left_of(total) + whole;
    return bottom > 0.0 ? (left_of(count) + alpha) / bottom : even;
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

void fill_step(const Counted &run, const Own &own, In1<double> share, const Step &now,
               const Factors &out) {
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
        for (i64 other = 0; other < n_classes; other++) {
            const double added = now.leaning ? now.each + now.part * leant_on[other] : alpha;
            found[other] = smoothed(counts[other], sums[other], added, now.whole, now.even);
        }
    }
}

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
        fill_step(run, own, share,
                  {pseudo(step, 0), pseudo(step, 1), pseudo(step, 2), pseudo(step, 3), step,
                   first_row, last_row, free, size, leans && step > 0, row_by_row},
                  out);
        free += size;
    }
}

// ------------------------------------------------------------------ products

// A block of rows: what is multiplied, (k, rows) each, and the sums that scores are made of.
struct Block {
    i64 n_classes, n_rows;
    const double *prior;
    double *fractions;
    i64 *powers;
    double *found, *peak, *total, *squares;
    i64 *peaks;
};

// Factors of every class by row, before the row's own class has its own: one line of the table.
INLINE void gather_loop(const i32 *RESTRICT lines, const double *RESTRICT factors, i64 n_classes,
                        i64 n_rows, double *RESTRICT found) {
    for (i64 label = 0; label < n_classes; label++)
        for (i64 row = 0; row < n_rows; row++)
            found[label * n_rows + row] = factors[lines[row] * n_classes + label];
}
LEVELS(gather)

// Multiply one class's products by its factors; the largest power so far is kept.
INLINE void multiply_class_loop(const double *RESTRICT found, i64 n_rows,
                                double *RESTRICT fractions, i64 *RESTRICT powers,
                                i64 *RESTRICT peaks) {
    for (i64 row = 0; row < n_rows; row++) {
        const double product = fractions[row] * found[row];
        const u64 bits = std::bit_cast<u64>(product);
        const i64 added = product >= SMALLEST ? i64(bits >> 52) - 1023 : NEVER;
        const i64 power = powers[row] + added;
        fractions[row] = std::bit_cast<double>((bits & FRACTION_BITS) | ONE_BITS);
        powers[row] = power;
        peaks[row] = peaks[row] > power ? peaks[row] : power;
    }
}
LEVELS(multiply_class)

// Chances of one class next to the likeliest, the prior where no class has any; and their sums.
INLINE void sum_class_loop(const double *RESTRICT fractions, const i64 *RESTRICT powers,
                           const i64 *RESTRICT peaks, const double *RESTRICT prior, i64 n_rows,
                           double *RESTRICT found, double *RESTRICT peak, double *RESTRICT total,
                           double *RESTRICT squares) {
    for (i64 row = 0; row < n_rows; row++) {
        const i64 behind = powers[row] - peaks[row] + 1023;
        const u64 power = u64(behind > 0 ? behind : 0) << 52;
        const double product = fractions[row] * std::bit_cast<double>(power);
        const double chance = peaks[row] >= LEAST ? product : prior[row];
        found[row] = chance;
        peak[row] = peak[row] > chance ? peak[row] : chance;
        total[row] += chance;
        squares[row] += chance * chance;
    }
}
LEVELS(sum_class)

// Add the rows' weighted hits, log loss and squared error to out (3,); cost n.
void score(const Block &block, const i64 *classes, const double *weights, double *out) {
    const i64 n_rows = block.n_rows;
    double hits = out[0], loss = out[1], error = out[2];
    for (i64 row = 0; row < n_rows; row++) {
        const i64 label = classes[row], own = label * n_rows + row;
        const double weight = weights[row], total = block.total[row];
        const double least = block.peak[row] * (1.0 - TIE), share = block.found[own] / total;
        bool hit = block.found[own] >= least;
        if (share <= 0.5 + TIE)  // or none before can be as likely
            for (i64 other = 0; other < label; other++)
                hit = hit && block.found[other * n_rows + row] < least;
        hits += weight * (hit ? 1.0 : 0.0);
        error += weight * left_of(1.0 - 2.0 * share + block.squares[row] / (total * total));
        if (share >= SMALLEST) {
            loss -= weight * std::log(share);
        } else if (block.powers[own] >= LEAST) {
            const i64 behind = block.peaks[row] - block.powers[own];
            loss += weight * (std::log(total / block.fractions[own]) + double(behind) * LOG_2);
        } else if (weight > 0.0) {
            loss = INFINITE;
        }
    }
    out[0] = hits, out[1] = loss, out[2] = error;
}

// Multiply a block's products by a column's factors, and score; cost n·k.
// `lines` and `chances` are those of the rows, see `fill_factors`.
void multiply(const Block &block, const i32 *lines, const double *chances, const double *factors,
              const i64 *classes, const double *weights, double *out) {
    const i64 n_rows = block.n_rows;
    gather(lines, factors, block.n_classes, n_rows, block.found);
    for (i64 row = 0; row < n_rows; row++) {
        block.found[classes[row] * n_rows + row] = chances[row];
        block.peaks[row] = 2 * NEVER;
        block.peak[row] = block.total[row] = block.squares[row] = 0.0;
    }
    for (i64 begin = 0; begin < block.n_classes * n_rows; begin += n_rows)
        multiply_class(block.found + begin, n_rows, block.fractions + begin, block.powers + begin,
                       block.peaks);
    for (i64 begin = 0; begin < block.n_classes * n_rows; begin += n_rows)
        sum_class(block.fractions + begin, block.powers + begin, block.peaks, block.prior + begin,
                  n_rows, block.found + begin, block.peak, block.total, block.squares);
    score(block, classes, weights, out);
}

using Columns = std::tuple<In2<i64>, In3<i32>, In3<double>, In3<double>>;
using Products = std::tuple<Out4<double>, Out4<i64>>;

void check_columns(const Columns &columns, const Own &own, const Products &products,
                   In3<double> prior, std::pair<i64, i64> blocks, Out4<double> out) {
    const char *kernel = "add_columns";
    const auto &[steps, lines, chances, factors] = columns;
    const auto &[fractions, powers] = products;
    const i64 n_columns = steps.shape(0), n_depths = steps.shape(1), n_blocks = prior.shape(0);
    const i64 n_classes = prior.shape(1), size = prior.shape(2);
    const auto same = [](const auto &view, std::array<i64, 4> wanted) {
        for (int axis = 0; axis < 4; axis++)
            if (view.shape(axis) != wanted[std::size_t(axis)]) return false;
        return true;
    };
    require(same(fractions, {n_blocks, n_depths, n_classes, size}) &&
                same(powers, {n_blocks, n_depths, n_classes, size}) &&
                same(out, {n_blocks, n_columns, n_depths, 3}),
            kernel, "products, prior and out differ in shape");
    require(0 <= blocks.first && blocks.first <= blocks.second && blocks.second <= n_blocks, kernel,
            "there are not so many blocks");
    require(lines.shape(0) >= n_columns && chances.shape(0) >= n_columns &&
                factors.shape(0) >= n_columns && factors.shape(2) == n_classes,
            kernel, "lines, chances and factors are not those of the columns");
    require(within(steps, 0, std::min(lines.shape(1), chances.shape(1))), kernel,
            "a step is out of range");
    const i64 n_rows = n_blocks * size;
    require(std::get<0>(own).size() == n_rows && std::get<1>(own).size() == n_rows &&
                lines.shape(2) == n_rows && chances.shape(2) == n_rows,
            kernel, "arrays of rows differ in length");
    require(all_within(std::get<0>(own).data + blocks.first * size,
                       (blocks.second - blocks.first) * size, 0, n_classes),
            kernel, "a class is out of range");
}

// Multiply rows' products by the factors of columns, and score them; cost n·k·depths·columns.
// `columns`: steps of every depth (columns, depths), then lines, chances and factors of each, see
// `fill_factors`. `own`: classes and weights. `products`: fractions and powers (blocks, depths, k,
// rows a block). Where no class has a chance, the prior answers. Weighted hits, log loss and
// squared error are added to `out` (blocks, columns, depths, 3).
void add_columns(Columns columns, Own own, Products products, In3<double> prior,
                 std::pair<i64, i64> blocks, Out4<double> out) {
    check_columns(columns, own, products, prior, blocks, out);
    const auto &[steps, lines, chances, factors] = columns;
    const auto &[fractions, powers] = products;
    const i64 n_classes = prior.shape(1), size = prior.shape(2), n_lines = factors.shape(1);
    Room<double, 2> found(n_classes, size), sums(3, size);
    Room<i64, 1> peaks(size);
    for (i64 block = blocks.first; block < blocks.second; block++) {
        const i64 start = block * size;
        for (i64 column = 0; column < steps.shape(0); column++) {
            for (i64 depth = 0; depth < steps.shape(1); depth++) {
                const i64 step = steps(column, depth);
                const i32 *line = lines.at(column).at(step).data + start;
                require(all_below(reinterpret_cast<const u32 *>(line), size, n_lines),
                        "add_columns", "a line lies beyond the factors");
                const Block now{n_classes, size, prior.at(block).data,
                                fractions.at(block).at(depth).data,
                                powers.at(block).at(depth).data, found.data, sums.at(0).data,
                                sums.at(1).data, sums.at(2).data, peaks.data};
                multiply(now, line, chances.at(column).at(step).data + start,
                         factors.at(column).data, std::get<0>(own).data + start,
                         std::get<1>(own).data + start, out.at(block).at(column).at(depth).data);
            }
        }
    }
}

// ------------------------------------------------------------------ scores of given joints

// Add to out (3,) the rows' weighted hits, log loss and squared error; cost n·k.
// Where no class has a chance, the prior answers.
void measure(In2<double> joint, In2<double> prior, In1<i64> classes, In1<double> weights,
             Out1<double> out) {
    const char *kernel = "measure";
    const i64 n_rows = joint.shape(0), n_classes = joint.shape(1);
    require(prior.shape(0) == n_rows && prior.shape(1) == n_classes && classes.size() == n_rows &&
                weights.size() == n_rows && out.size() == 3,
            kernel, "joint, prior, classes, weights and out differ in shape");
    require(within(classes, 0, n_classes), kernel, "a class is out of range");
    const auto highest = [n_classes](const double *line) {
        double best = line[0];
        for (i64 label = 1; label < n_classes; label++) best = std::max(best, line[label]);
        return best;
    };
    Room<double, 1> chances(n_classes);
    for (i64 row = 0; row < n_rows; row++) {
        const double *line = joint.at(row).data;
        double best = highest(line);
        if (best == -INFINITE) {
            line = prior.at(row).data;
            best = highest(line);
        }
        const i64 own = classes[row];
        double total = 0.0;
        i64 guess = -1;
        for (i64 label = 0; label < n_classes; label++) {
            chances[label] = std::exp(line[label] - best);
            total += chances[label];
            if (guess < 0 && line[label] >= best - TIE) guess = label;
        }
        const double missed = 1.0 - chances[own] / total;
        double error = missed * missed;
        for (i64 label = 0; label < n_classes; label++) {
            const double share = chances[label] / total;
            if (label != own) error += share * share;
        }
        out[0] += weights[row] * (guess == own ? 1.0 : 0.0);
        out[1] += weights[row] * (best + std::log(total) - line[own]);
        out[2] += weights[row] * error;
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

void bind_selective(nb::module_ &room) {
    room.attr("NEVER") = NEVER;
    bind_counts<u8>(room);
    bind_counts<u16>(room);
    bind_counts<u32>(room);
    bind(room, "fill_factors", "Factors of every cell, and of left-out rows for their own class.",
         fill_factors, "run", "own", "share", "pseudo", "leans", "span", "out");
    bind(room, "add_columns", "Multiply rows' products by the factors of columns, and score them.",
         add_columns, "columns", "own", "products", "prior", "blocks", "out");
    bind(room, "measure", "Add rows' weighted hits, log loss and squared error to out.", measure,
         "joint", "prior", "classes", "weights", "out");
}

}  // namespace unnaive
