// Hierarchical smoothing: one level, and how well a concentration does there.
#include <cmath>

#include "border.h"

namespace unnaive {
namespace {

// What is left of a count: not below 0.
double left_of(double count) { return count > 0.0 ? count : 0.0; }

// Context c leans on row place(c) of what is above; both have the same values.
void check(const char *kernel, In2<double> counts, In2<double> above, In1<i64> place) {
    require(place.size() == counts.shape(0) && above.shape(1) == counts.shape(1), kernel,
            "counts, above and place differ in shape");
    require(within(place, 0, above.shape(0)), kernel, "place lies beyond the rows above");
}

// P(x | context) = (N(x) + α·P(x | context above)) / (N + α) of every cell; cost of the table.
// `held` is taken off value and context.
void back_off(In2<double> counts, In2<double> above, In1<i64> place, double alpha, double held,
              Out2<double> out) {
    check("back_off", counts, above, place);
    require(out.shape(0) == counts.shape(0) && out.shape(1) == counts.shape(1), "back_off",
            "out differs from counts in shape");
    const i64 n_values = counts.shape(1);
    for (i64 context = 0; context < counts.shape(0); context++) {
        const double *own = counts.at(context).data, *chances = above.at(place[context]).data;
        double *found = out.at(context).data;
        double size = 0.0;
        for (i64 value = 0; value < n_values; value++) size += own[value];
        size = left_of(size - held) + alpha;
        for (i64 value = 0; value < n_values; value++) {
            const double count = left_of(own[value] - held) + alpha * chances[value];
            found[value] = size > 0.0 ? count / size : chances[value];
        }
    }
}

// Add to `gains` the log-likelihood of every row of one context left out, for every α; cost
// values · alphas. Counts lie `step` apart; `chances` are P(x | context above) without a row of x.
void add_left_out(const double *counts, i64 step, i64 n_values, const double *chances,
                  In1<double> alphas, double *gains) {
    double size = 0.0;
    for (i64 value = 0; value < n_values; value++) size += counts[value * step];
    if (size <= 0.0) return;
    for (i64 trial = 0; trial < alphas.size(); trial++) {
        const double alpha = alphas[trial];
        double gain = -size * std::log(left_of(size - 1.0) + alpha);
        for (i64 value = 0; value < n_values; value++) {
            const double count = counts[value * step];
            if (count > 0.0)
                gain += count * std::log(left_of(count - 1.0) + alpha * chances[value]);
        }
        gains[trial] += gain;
    }
}

// The first α of the largest gain, those within the tolerance are equals; cost cells · alphas.
double best_concentration(In2<double> counts, In2<double> above, In1<i64> place,
                          In1<double> alphas) {
    check("best_concentration", counts, above, place);
    require(alphas.size() > 0, "best_concentration", "there is no concentration to try");
    Room<double, 1> gains(alphas.size());
    for (i64 context = 0; context < counts.shape(0); context++)
        add_left_out(counts.at(context).data, 1, counts.shape(1), above.at(place[context]).data,
                     alphas, gains.data);
    double most = gains[0];
    for (i64 trial = 1; trial < gains.size(); trial++)
        if (gains[trial] > most || std::isnan(gains[trial])) most = gains[trial];
    for (i64 trial = 0; trial < gains.size(); trial++)
        if (gains[trial] >= most - TIE) return alphas[trial];
    return alphas[0];
}

// P(x) from the counts of all contexts and some imaginary rows, spread evenly, into (1, v).
void root_shares(In1<double> margin, double held, double rows, double even, Out2<double> out) {
    require(out.shape(0) == 1 && out.shape(1) == margin.size(), "root_shares",
            "out is not one row of the margin's length");
    double total = 0.0;
    for (i64 value = 0; value < margin.size(); value++) total += margin[value];
    total = left_of(total - held);
    for (i64 value = 0; value < margin.size(); value++)
        out(0, value) = (left_of(margin[value] - held) + rows * even) / (total + rows);
}

// The tables of all pairs of columns lie one after the other, first column's values by second's.
void check_pairs(In2<double> pairs, In1<i64> pair_starts, In1<i64> slots, In2<double> above) {
    const char *kernel = "pair_gains";
    const i64 n_columns = slots.size() - 1;
    require(n_columns >= 0 && all_offsets(slots.data, slots.size(), above.shape(1)), kernel,
            "slots lie beyond the table above");
    for (i64 i = 0; i < n_columns; i++)
        require(slots[i] < slots[i + 1], kernel, "a column has no slot");
    require(pairs.shape(0) == above.shape(0), kernel, "pairs and above differ in classes");
    require(pair_starts.size() > n_columns * (n_columns - 1) / 2 &&
                all_offsets(pair_starts.data, pair_starts.size(), pairs.shape(1)),
            kernel, "pair_starts lie beyond the pairs");
    i64 pair = 0;
    for (i64 i = 0; i < n_columns; i++) {
        const i64 size_i = slots[i + 1] - slots[i] - 1;
        for (i64 j = i + 1; j < n_columns; j++, pair++)
            require(pair_starts[pair + 1] - pair_starts[pair] ==
                        size_i * (slots[j + 1] - slots[j] - 1),
                    kernel, "a pair's table is not of its columns' sizes");
    }
}

// Add what `add_left_out` does for every column below each other column, to out (d, α); cost of
// all pairs · alphas. `above` (k, slots) is P(x_i | c) without a row that has x_i.
void pair_gains(In2<double> pairs, In1<i64> pair_starts, In1<i64> slots, In2<double> above,
                In1<double> alphas, Out2<double> out) {
    const i64 n_columns = slots.size() - 1;
    require(out.shape(0) == n_columns && out.shape(1) == alphas.size(), "pair_gains",
            "out is not of columns and concentrations");
    if (above.shape(0) == 0) return;
    check_pairs(pairs, pair_starts, slots, above);
    for (i64 label = 0; label < above.shape(0); label++) {
        const double *chances = above.at(label).data;
        const i64 *start = pair_starts.data;
        for (i64 i = 0; i < n_columns; i++) {
            const i64 size_i = slots[i + 1] - slots[i] - 1;
            for (i64 j = i + 1; j < n_columns; j++, start++) {
                const i64 size_j = slots[j + 1] - slots[j] - 1;
                const double *table = pairs.at(label).data + *start;
                for (i64 x = 0; x < size_i; x++)
                    add_left_out(table + x * size_j, 1, size_j, chances + slots[j], alphas,
                                 out.at(j).data);
                for (i64 y = 0; y < size_j; y++)
                    add_left_out(table + y, size_j, size_i, chances + slots[i], alphas,
                                 out.at(i).data);
            }
        }
    }
}

}  // namespace

void bind_back_off(nb::module_ &room) {
    bind(room, "back_off",
         "P(x | context) of every cell, counts and what is above in proportion to α.", back_off,
         "counts", "above", "place", "alpha", "held", "out");
    bind(room, "best_concentration",
         "The first α under which the rows, each left out in turn, are likeliest.",
         best_concentration, "counts", "above", "place", "alphas");
    bind(room, "root_shares",
         "P(x) from the counts of all contexts and some imaginary rows, spread evenly.",
         root_shares, "margin", "held", "rows", "even", "out");
    bind(room, "pair_gains",
         "Add the log-likelihood of rows left out, every column below each other one, to out.",
         pair_gains, "pairs", "pair_starts", "slots", "above", "alphas", "out");
}

}  // namespace unnaive
