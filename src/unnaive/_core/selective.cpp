// Nested models, one more column at a time: products of left-out factors, and scores.
//
// A product of many factors is a fraction in [1, 2) and a power of two, one of each for every class
// and row: neither a logarithm a factor nor an exponential a class is needed, and none is lost
// below the smallest number. A factor of 0 adds NEVER to the power.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "selective.h"

namespace unnaive {
namespace {

constexpr i64 NEVER = -(i64(1) << 40);
constexpr i64 LEAST = NEVER / 2;  // powers below hold a factor of 0
constexpr double LOG_2 = 0.6931471805599453;
constexpr double SMALLEST = 0x1p-1022;
constexpr u64 FRACTION_BITS = (u64(1) << 52) - 1;
constexpr u64 ONE_BITS = u64(1023) << 52;
constexpr i64 AT_ONCE = 1024;  // products that are multiplied at once and stay near the processor

// Some rows that are multiplied at once: their factors, classes and weights, products, and prior.
// Products and prior of a class lie `step` behind those of the class before.
struct Rows {
    i64 number, n_classes, step;
    const i32 *lines;
    const double *chances, *factors;
    const i64 *classes;
    const double *weights, *prior;
    double *fractions;
    i64 *powers;

    // Some rows from `first` on.
    Rows slice(i64 first, i64 size) const {
        return {size,          n_classes,         step,           lines + first,
                chances + first, factors,         classes + first, weights + first,
                prior + first, fractions + first, powers + first};
    }
};

// What is found of some rows: their classes' chances (k, width), and sums that scores are made of.
struct Found {
    i64 width;
    double *chances, *peak, *total, *squares;
    i64 *powers;
};

// Multiply one class's products by its factors; the largest power so far is kept.
INLINE void multiply_class(const double *RESTRICT found, i64 n_rows, double *RESTRICT fractions,
                           i64 *RESTRICT powers, i64 *RESTRICT peaks) {
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

// Chances of one class next to the likeliest, the prior where no class has any; and their sums.
INLINE void sum_class(const double *RESTRICT fractions, const i64 *RESTRICT powers,
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

// Multiply the products of rows by their factors, and find their classes' chances.
INLINE void advance_loop(Rows rows, Found found) {
    const i64 n_classes = rows.n_classes, width = found.width;
    double *RESTRICT chances = found.chances;
    for (i64 row = 0; row < rows.number; row++) {
        const double *RESTRICT line = rows.factors + rows.lines[row] * n_classes;
        for (i64 label = 0; label < n_classes; label++) chances[label * width + row] = line[label];
        chances[rows.classes[row] * width + row] = rows.chances[row];
        found.powers[row] = 2 * NEVER;
        found.peak[row] = found.total[row] = found.squares[row] = 0.0;
    }
    for (i64 label = 0; label < n_classes; label++)
        multiply_class(chances + label * width, rows.number, rows.fractions + label * rows.step,
                       rows.powers + label * rows.step, found.powers);
    for (i64 label = 0; label < n_classes; label++)
        sum_class(rows.fractions + label * rows.step, rows.powers + label * rows.step, found.powers,
                  rows.prior + label * rows.step, rows.number, chances + label * width, found.peak,
                  found.total, found.squares);
}
LEVELS(advance)

// Add the rows' weighted hits, log loss and squared error to out (3,); cost n.
void score(const Rows &rows, const Found &found, double *out) {
    double hits = out[0], loss = out[1], error = out[2];
    for (i64 row = 0; row < rows.number; row++) {
        const i64 label = rows.classes[row], own = label * rows.step + row;
        const double weight = rows.weights[row], total = found.total[row];
        const double chance = found.chances[label * found.width + row], share = chance / total;
        const double least = found.peak[row] * (1.0 - TIE);
        bool hit = chance >= least;
        if (share <= 0.5 + TIE)  // or none before can be as likely
            for (i64 other = 0; other < label; other++)
                hit = hit && found.chances[other * found.width + row] < least;
        hits += weight * (hit ? 1.0 : 0.0);
        error += weight * left_of(1.0 - 2.0 * share + found.squares[row] / (total * total));
        if (share >= SMALLEST) {
            loss -= weight * std::log(share);
        } else if (rows.powers[own] >= LEAST) {
            const double behind = double(found.powers[row] - rows.powers[own]);
            loss += weight * (std::log(total / rows.fractions[own]) + behind * LOG_2);
        } else if (weight > 0.0) {
            loss = INF;
        }
    }
    out[0] = hits, out[1] = loss, out[2] = error;
}

// Room for what is found of some rows, `width` at once.
struct Scratch {
    i64 width, n_classes;
    Room<double, 1> cells{width * (n_classes + 3)};
    Room<i64, 1> powers{width};

    Found found() const {
        double *chances = cells.data, *sums = chances + n_classes * width;
        return {width, chances, sums, sums + width, sums + 2 * width, powers.data};
    }
};

// Multiply rows by a column's factors, and score; cost n·k.
void multiply(const Rows &rows, const Found &found, double *out) {
    for (i64 first = 0; first < rows.number; first += found.width) {
        const Rows some = rows.slice(first, std::min(found.width, rows.number - first));
        advance(some, found);
        score(some, found, out);
    }
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
    const Scratch scratch{std::max<i64>(AT_ONCE / std::max<i64>(n_classes, 1), 32) & -32, n_classes};
    for (i64 block = blocks.first; block < blocks.second; block++) {
        const i64 start = block * size;
        for (i64 column = 0; column < steps.shape(0); column++) {
            for (i64 depth = 0; depth < steps.shape(1); depth++) {
                const i64 step = steps(column, depth);
                const i32 *line = lines.at(column).at(step).data + start;
                require(all_below(reinterpret_cast<const u32 *>(line), size, n_lines),
                        "add_columns", "a line lies beyond the factors");
                const Rows rows{size, n_classes, size, line,
                                chances.at(column).at(step).data + start, factors.at(column).data,
                                std::get<0>(own).data + start, std::get<1>(own).data + start,
                                prior.at(block).data, fractions.at(block).at(depth).data,
                                powers.at(block).at(depth).data};
                multiply(rows, scratch.found(), out.at(block).at(column).at(depth).data);
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
        if (best == -INF) {
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

}  // namespace

void bind_selective(nb::module_ &room) {
    room.attr("NEVER") = NEVER;
    bind_selective_counts(room);
    bind(room, "add_columns", "Multiply rows' products by the factors of columns, and score them.",
         add_columns, "columns", "own", "products", "prior", "blocks", "out");
    bind(room, "measure", "Add rows' weighted hits, log loss and squared error to out.", measure,
         "joint", "prior", "classes", "weights", "out");
}

}  // namespace unnaive
