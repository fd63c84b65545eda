// Sums over all orders of variables, by dynamic programming over subsets.
//
// A subset of d variables is a number, whose bit i says whether variable i is in it. A subset of
// the others of variable i has no bit for i: those above move down by one. Weights are logarithms.
#include <cmath>

#include "interrupts.h"

namespace unnaive {
namespace {

constexpr i64 MOST_VARIABLES = 40;
constexpr double NEGLIGIBLE = -60.0;  // exp of it is below the rounding of a million such sums

INLINE double log_add(double one, double other) {
    const double high = one > other ? one : other, low = one > other ? other : one;
    const double apart = low - high;
    return apart > NEGLIGIBLE ? high + std::log1p(std::exp(apart)) : high;
}

// A subset of the others of a variable, from a subset of all that does not have it.
INLINE i64 without(i64 subset, i64 variable) {
    const i64 below = (i64(1) << variable) - 1;
    return (subset & below) | ((subset >> 1) & ~below);
}

// The reverse: bits of all variables, that of the variable is 0.
INLINE i64 with_gap(i64 subset, i64 variable) {
    const i64 below = (i64(1) << variable) - 1;
    return (subset & below) | ((subset & ~below) << 1);
}

i64 subsets_of(const char *kernel, i64 n_variables) {
    require(n_variables >= 0 && n_variables < MOST_VARIABLES, kernel,
            "there are too many variables, or fewer than none");
    return i64(1) << n_variables;
}

// Replace the weight of every subset by the sum over its subsets; cost m·2^m.
void sum_subsets(i64 n_members, Out1<double> weights) {
    const i64 size = subsets_of("sum_subsets", n_members);
    require(weights.size() == size, "sum_subsets", "not a weight for every subset");
    Interrupts interrupts;
    for (i64 bit = 1; bit < size; bit <<= 1) {
        interrupts.look();
        for (i64 start = 0; start < size; start += 2 * bit)
            for (i64 low = start; low < start + bit; low++)
                weights[low + bit] = log_add(weights[low + bit], weights[low]);
    }
}

// Log sum of the terms of the members of a subset; `terms` has room for all.
double log_sum(const double *terms, i64 size) {
    double high = -INF, total = 0.0;
    for (i64 i = 0; i < size; i++) high = terms[i] > high ? terms[i] : high;
    if (high == -INF) return -INF;
    for (i64 i = 0; i < size; i++) total += std::exp(terms[i] - high);
    return high + std::log(total);
}

// Sums over all orders in which the members of a subset come first, or last; cost d·2^d.
// `above` (d, 2^(d−1)): a variable's weight if just the members of a subset of the others precede.
void sum_orders(In2<double> above, Out1<double> first, Out1<double> last) {
    const char *kernel = "sum_orders";
    const i64 d = above.shape(0), size = subsets_of(kernel, d);
    require(d > 0 && above.shape(1) == size / 2, kernel, "not a weight for every subset of others");
    require(first.size() == size && last.size() == size, kernel, "not a sum for every subset");
    double begins[MOST_VARIABLES], ends[MOST_VARIABLES];
    Interrupts interrupts;
    first[0] = last[0] = 0.0;
    for (i64 subset = 1; subset < size; subset++) {
        interrupts.look(d);
        i64 members = 0;
        for (i64 i = 0; i < d; i++) {
            const i64 own = i64(1) << i;
            if ((subset & own) == 0) continue;
            const i64 rest = subset ^ own, before = size - 1 - subset;
            ends[members] = first[rest] + above(i, without(rest, i));
            begins[members++] = last[rest] + above(i, without(before, i));
        }
        first[subset] = log_sum(ends, members);
        last[subset] = log_sum(begins, members);
    }
}

// Weight of all orders in which a subset of the others precedes a variable, for every subset.
// `first` and `last` (2^d) as of sum_orders; `out` (2^(d−1)). Cost d·2^d.
void sum_supersets(In1<double> first, In1<double> last, i64 n_variables, i64 variable,
                   Out1<double> out) {
    const char *kernel = "sum_supersets";
    const i64 size = subsets_of(kernel, n_variables), half = size / 2;
    require(variable >= 0 && variable < n_variables, kernel, "there is no such variable");
    require(first.size() == size && last.size() == size && out.size() == half, kernel,
            "not a sum for every subset");
    const i64 others = (size - 1) ^ (i64(1) << variable);
    for (i64 subset = 0; subset < half; subset++) {
        const i64 before = with_gap(subset, variable);
        out[subset] = first[before] + last[others ^ before];
    }
    Interrupts interrupts;
    for (i64 bit = 1; bit < half; bit <<= 1) {
        interrupts.look();
        for (i64 start = 0; start < half; start += 2 * bit)
            for (i64 low = start; low < start + bit; low++)
                out[low] = log_add(out[low], out[low + bit]);
    }
}

}  // namespace

void bind_orders(nb::module_ &room) {
    bind(room, "sum_orders", "Sums over orders in which the members of a subset come first, or last.",
         sum_orders, "above", "first", "last");
    bind(room, "sum_subsets", "Replace the weight of every subset by the sum over its subsets.",
         sum_subsets, "n_members", "weights");
    bind(room, "sum_supersets", "Weights of orders in which a subset precedes a variable.",
         sum_supersets, "first", "last", "n_variables", "variable", "out");
}

}  // namespace unnaive
