// Class weights, and iterative Bayes.
#include <algorithm>
#include <cmath>
#include <utility>

#include "estimate.h"
#include "levels.h"

namespace unnaive {
namespace {

constexpr i64 BLOCK = 256;
constexpr double FLOOR = 0.01;  // no entry of iterative Bayes goes below

// ------------------------------------------------------------------ class weights

// Keep the larger of what there is and of shifted scores, row by row.
INLINE void lift(const double *RESTRICT scores, double shift, i64 rows, double *RESTRICT top) {
    for (i64 row = 0; row < rows; row++) top[row] = std::max(top[row], scores[row] + shift);
}

// Rows of one class, at most BLOCK of them, under every list of class weights; cost m·rows·k.
// `right` (m, BLOCK) gets the weight of those whose class is within the tolerance of the top
// while none below it is.
INLINE void weigh_block_loop(const double *joint, i64 n_rows, const double *weights,
                             In2<double> log_weights, i64 own, i64 rows, double *right) {
    alignas(64) double below[BLOCK], top[BLOCK];
    const i64 n_classes = log_weights.shape(1);
    for (i64 individual = 0; individual < log_weights.shape(0); individual++) {
        const double *shifts = log_weights.data + individual * n_classes;
        std::fill(top, top + rows, -INF);
        for (i64 label = 0; label < n_classes; label++) {
            if (label == own) std::copy(top, top + rows, below);
            lift(joint + label * n_rows, shifts[label], rows, top);
        }
        const double *RESTRICT scores = joint + own * n_rows;
        const double *RESTRICT weight = weights;
        double *RESTRICT sums = right + individual * BLOCK;
        const double shift = shifts[own];
        for (i64 row = 0; row < rows; row++) {
            const double least = top[row] - TIE;
            const double near = scores[row] + shift >= least ? 1.0 : 0.0;
            sums[row] += weight[row] * near * (below[row] < least ? 1.0 : 0.0);
        }
    }
}
LEVELS(weigh_block)

// Weight of the rows that are right under each of m lists of class weights; cost m·n·k.
// `joint` (k, n) and `weights` (n,) hold the rows class by class, those of class c from bounds[c]
// on; `log_weights` (m, k), `out` (m,). Of classes that tie the lowest wins.
void weigh_right(In2<double> joint, In1<i64> bounds, In1<double> weights, In2<double> log_weights,
                 Out1<double> out) {
    const i64 n_classes = joint.shape(0), n_rows = joint.shape(1);
    require(log_weights.shape(0) == out.size() && log_weights.shape(1) == n_classes, "weigh_right",
            "log_weights differs from joint or out in shape");
    require(weights.size() == n_rows, "weigh_right", "not one weight for every row");
    require(bounds.size() == n_classes + 1 && all_offsets(bounds.data, bounds.size(), n_rows),
            "weigh_right", "bounds are not where the classes begin");
    Room<double, 2> right(out.size(), BLOCK);
    for (i64 own = 0; own < n_classes; own++)
        for (i64 low = bounds[own]; low < bounds[own + 1]; low += BLOCK)
            weigh_block(joint.data + low, n_rows, weights.data + low, log_weights, own,
                        std::min(BLOCK, bounds[own + 1] - low), right.data);
    for (i64 individual = 0; individual < out.size(); individual++) {
        double total = 0.0;
        for (i64 row = 0; row < BLOCK; row++) total += right(individual, row);
        out[individual] = total;
    }
}

// Scores [low, high) of a class with which a row's own class, of score `mine`, is chosen. `top` is
// the best of the other scores, `below` the best of those before the own class. A class within
// the tolerance of the best has drawn level, and the lowest such is chosen.
INLINE std::pair<double, double> right_span(double mine, i64 label, i64 own, double top,
                                            double below) {
    const bool leads = below < top - TIE;
    if (own == label) return {leads ? top - TIE : below + TIE, INF};
    if (mine < top - TIE || (label < own && !leads)) return {INF, -INF};
    const double low = leads ? -INF : below + TIE;
    return {low, label < own ? top - TIE : mine + TIE};
}

// The best score of at most BLOCK rows' classes but one, and the best of those before their own.
INLINE void best_others_loop(const double *RESTRICT joint, const i64 *RESTRICT classes,
                             In1<double> log_weights, i64 label, i64 rows, double *RESTRICT top,
                             double *RESTRICT below) {
    const i64 n_classes = log_weights.size();
    for (i64 row = 0; row < rows; row++) top[row] = below[row] = -INF;
    for (i64 other = 0; other < n_classes; other++) {
        if (other == label) continue;
        const double shift = log_weights[other];
        for (i64 row = 0; row < rows; row++) {
            const double score = shift + joint[row * n_classes + other];
            const double earlier = other < classes[row] ? score : -INF;
            top[row] = std::max(top[row], score);
            below[row] = std::max(below[row], earlier);
        }
    }
}
LEVELS(best_others)

// For each row, what log w of one class means, that of the others being fixed; cost n·k.
// `out` (3, n): the log w at which the class draws level with the best of the others, and the
// span [low, high) of log w in which the row is right, empty if there is none.
void right_spans(In2<double> joint, In1<i64> classes, In1<double> log_weights, i64 label,
                 Out2<double> out) {
    const i64 n_rows = joint.shape(0), n_classes = joint.shape(1);
    require(log_weights.size() == n_classes && label >= 0 && label < n_classes, "right_spans",
            "label or log_weights lie beyond the classes");
    require(classes.size() == n_rows && within(classes, 0, n_classes), "right_spans",
            "not one class for every row");
    require(out.shape(0) == 3 && out.shape(1) == n_rows, "right_spans",
            "out is not of three lines, one place a row");
    alignas(64) double top[BLOCK], below[BLOCK];
    for (i64 first = 0; first < n_rows; first += BLOCK) {
        const i64 rows = std::min(BLOCK, n_rows - first);
        best_others(joint.data + first * n_classes, classes.data + first, log_weights, label, rows,
                    top, below);
        for (i64 at = 0; at < rows; at++) {
            const i64 row = first + at, own = classes[row];
            const double alone = joint(row, label), mine = log_weights[own] + joint(row, own);
            const auto [low, high] = right_span(mine, label, own, top[at], below[at]);
            out(0, row) = top[at] - alone;
            out(1, row) = low > -INF ? low - alone : low;
            out(2, row) = high - alone;
        }
    }
}

// ------------------------------------------------------------------ iterative Bayes

// Entries (k, V) that are corrected, and the sum of every distribution's (k, d).
struct Entries {
    Out2<double> cells;
    In1<i64> starts;
    Room<double, 2> totals;

    Entries(Out2<double> entries, In1<i64> where)
        : cells(entries), starts(where), totals(entries.shape(0), where.size() - 1) {
        for (i64 label = 0; label < cells.shape(0); label++)
            for (i64 column = 0; column < starts.size() - 1; column++)
                for (i64 place = starts[column]; place < starts[column + 1]; place++)
                    totals(label, column) += cells(label, place);
    }

    // Lift a column's entries to the floor, and make them sum to 1 if asked to; cost k·v.
    void lift_to_floor(i64 column, bool renormalise) {
        const i64 size = starts[column + 1] - starts[column];
        for (i64 label = 0; label < cells.shape(0); label++) {
            double *table = &cells(label, starts[column]);
            double total = 0.0;
            for (i64 value = 0; value < size; value++) {
                table[value] = std::max(table[value], FLOOR);
                total += table[value];
            }
            totals(label, column) = renormalise ? 1.0 : total;
            for (i64 value = 0; renormalise && value < size; value++) table[value] /= total;
        }
    }
};

// Log joint of one row by entries over their sums, missing cells skipped; cost d·k.
template <class Code>
void add_logs(const Code *line, In1<double> prior, const Entries &entries, double *out) {
    const i64 n_classes = prior.size();
    std::copy(prior.data, prior.data + n_classes, out);
    for (i64 column = 0; column < entries.starts.size() - 1; column++) {
        const i64 start = entries.starts[column], size = entries.starts[column + 1] - start;
        const i64 value = line[column];
        if (value >= size) continue;
        for (i64 label = 0; label < n_classes; label++)
            out[label] += log_estimate(entries.cells(label, start + value),
                                       entries.totals(label, column), 0.0, 0.0, double(size));
    }
}

// The largest of some numbers; NaN where there is one.
double highest(const double *numbers, i64 size) {
    double most = numbers[0];
    for (i64 i = 0; i < size; i++) {
        if (std::isnan(numbers[i])) return numbers[i];
        if (numbers[i] > most) most = numbers[i];
    }
    return most;
}

// Turn a log joint into probabilities, the prior if there is no chance; first of the best.
i64 most_probable(In1<double> prior, double *chances) {
    const i64 n_classes = prior.size();
    double peak = highest(chances, n_classes);
    if (peak == -INF) {
        std::copy(prior.data, prior.data + n_classes, chances);
        peak = highest(chances, n_classes);
    }
    double total = 0.0;
    for (i64 label = 0; label < n_classes; label++) {
        chances[label] = std::exp(chances[label] - peak);
        total += chances[label];
    }
    for (i64 label = 0; label < n_classes; label++) chances[label] /= total;
    const double best = highest(chances, n_classes);
    i64 chosen = 0;
    while (chosen < n_classes - 1 && chances[chosen] < best - TIE) chosen++;
    return chosen;
}

// Correct the `entries` (k, V) of iterative Bayes by rows (n, d) in turn; cost n·k·d.
// With `renormalise` every distribution is made to sum to 1 again, at a cost of n·k·V.
template <class Code>
void one_pass(In2<Code> lines, In1<i64> classes, In1<double> weights, In1<double> prior,
              Out2<double> entries, In1<i64> starts, bool literal, bool renormalise) {
    const i64 n_rows = lines.shape(0), n_columns = lines.shape(1), n_classes = prior.size();
    require(classes.size() == n_rows && weights.size() == n_rows, "one_pass",
            "not one class and weight for every row");
    require(n_classes > 0 && entries.shape(0) == n_classes, "one_pass",
            "not one line of entries for every class");
    require(starts.size() == n_columns + 1 &&
                all_offsets(starts.data, starts.size(), entries.shape(1)),
            "one_pass", "starts are not where the columns' entries begin");
    Entries corrected(entries, starts);
    Room<u8, 1> floored(n_columns);
    Room<double, 1> chances(n_classes), change(n_classes);
    for (i64 row = 0; row < n_rows; row++) {
        const Code *line = lines.data + row * n_columns;
        add_logs(line, prior, corrected, chances.data);
        const i64 chosen = most_probable(prior, chances.data);
        const double sure = chances[chosen], k = double(n_classes);
        double step = literal ? 1.0 - sure / k : (1.0 - sure) / k;
        step *= chosen == classes[row] ? weights[row] : -weights[row];
        std::fill(change.data, change.data + n_classes, -step / 2.0);
        change[chosen] = step;
        for (i64 column = 0; column < n_columns; column++) {
            const i64 start = starts[column], value = line[column];
            if (value >= starts[column + 1] - start) continue;
            for (i64 label = 0; label < n_classes; label++) {
                double &entry = entries(label, start + value);
                const double before = entry;
                entry = std::max(before + change[label], FLOOR);
                corrected.totals(label, column) += entry - before;
            }
            if (renormalise || !floored[column]) corrected.lift_to_floor(column, renormalise);
            floored[column] = 1;
        }
    }
}

template <class Code> void bind_one_pass(nb::module_ &room) {
    bind(room, "one_pass", "Correct the entries of iterative Bayes by rows (n, d) in turn.",
         one_pass<Code>, "lines", "classes", "weights", "prior", "entries", "starts", "literal",
         "renormalise");
}

}  // namespace

void bind_adjust(nb::module_ &room) {
    room.attr("FLOOR") = FLOOR;
    bind(room, "weigh_right", "Weight of the rows that are right under lists of class weights.",
         weigh_right, "joint", "bounds", "weights", "log_weights", "out");
    bind(room, "right_spans", "For each row, what the log weight of one class means.", right_spans,
         "joint", "classes", "log_weights", "label", "out");
    for_codes([&](auto code) { bind_one_pass<decltype(code)>(room); });
}

}  // namespace unnaive
