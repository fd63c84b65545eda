// Variables of several rows side by side, by their first three cumulants: sums in the exponent, and
// quantiles.
//
// A quantile of a variable with mean m, deviation s and skewness 6h is that of a gamma variable by
// the cubic of Wilson and Hilferty, m + s (b + h b² + h² b³ / 3) with b = z − h, which increases
// with z whatever h is. The logarithm of a sum of joints is integrated over such variables.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>

#include "levels.h"

namespace unnaive::certainty {

constexpr i64 LANES = 32;                // rows that are computed together
constexpr double MOST_LEAN = 2.0 / 6.0;  // skewness of an exponential variable: one cell, no rows
constexpr double NARROW = 1e-90;         // below it, variances are 0
constexpr double DISTANT = 1e3;          // variance from which on powers of nodes may overflow
constexpr int MOST_NODES = 5;

// Nodes and weights of Gauss and Hermite for the standard normal distribution.
template <int N> struct Nodes;
template <> struct Nodes<3> {
    static constexpr double z[3] = {-1.7320508075688772, 0.0, 1.7320508075688772};
    static constexpr double weight[3] = {1.0 / 6.0, 2.0 / 3.0, 1.0 / 6.0};
};
template <> struct Nodes<5> {
    static constexpr double z[5] = {-2.856970013872806, -1.355626179974266, 0.0, 1.355626179974266,
                                    2.856970013872806};
    static constexpr double weight[5] = {0.011257411327720689, 0.22207592200561263,
                                         0.5333333333333333, 0.22207592200561263,
                                         0.011257411327720689};
};

// e^x for |x| ≤ 708 to 1e-12, without a branch: 2^n times a polynomial on ± ½ log 2.
INLINE double power(double x) {
    constexpr double TURNS = 1.4426950408889634074, SHIFT = 6755399441055744.0;
    constexpr double HIGH = 6.93147180369123816490e-01, LOW = 1.90821492927058770002e-10;
    const double shifted = x * TURNS + SHIFT, turns = shifted - SHIFT;
    const double rest = x - turns * HIGH - turns * LOW;
    const double square = rest * rest, fourth = square * square;  // short chains of operations
    const double low = (1.0 + rest) + square * (0.5 + rest * (1.0 / 6.0));
    const double middle = (1.0 / 24.0 + rest * (1.0 / 120.0)) +
                          square * (1.0 / 720.0 + rest * (1.0 / 5040.0));
    const double high = (1.0 / 40320.0 + rest * (1.0 / 362880.0)) + square * (1.0 / 3628800.0);
    const double sum = low + fourth * (middle + fourth * high);
    return sum * std::bit_cast<double>((std::bit_cast<u64>(shifted) + 1023) << 52);
}

// log(1 + u) for 0 ≤ u ≤ 1 to 1e-12, without a branch: 2 artanh(u / (2 + u)).
INLINE double log_above_one(double u) {
    const double ratio = u / (2.0 + u), square = ratio * ratio;
    const double fourth = square * square, eighth = fourth * fourth;
    const double low = (1.0 + square * (1.0 / 3.0)) + fourth * (1.0 / 5.0 + square * (1.0 / 7.0));
    const double middle =
        (1.0 / 9.0 + square * (1.0 / 11.0)) + fourth * (1.0 / 13.0 + square * (1.0 / 15.0));
    const double high =
        (1.0 / 17.0 + square * (1.0 / 19.0)) + fourth * (1.0 / 21.0 + square * (1.0 / 23.0));
    const double sum = low + eighth * (middle + eighth * high);
    return 2.0 * ratio * sum;
}

// log x of normal x > 0 to 1e-12, without a branch or a division: a polynomial on √½ … √2.
INLINE double logarithm(double x) {
    constexpr u64 ROOT = 0x3fe6a09e667f3bcdULL, ONE = 0x3ff0000000000000ULL;
    constexpr u64 FRACTION = 0x000fffffffffffffULL, WHOLE = 0x4330000000000000ULL;
    constexpr double SHIFT = 4503599627370496.0 + 1023.0, LOG_TWO = 0.69314718055994530942;
    const u64 moved = std::bit_cast<u64>(x) - ROOT + ONE;
    const double turns = std::bit_cast<double>((moved >> 52) | WHOLE) - SHIFT;
    const double f = std::bit_cast<double>((moved & FRACTION) + ROOT) - 1.0;
    const double square = f * f, fourth = square * square, eighth = fourth * fourth;
    const double a = (1.0000000000002176 - 0.49999999998513034 * f) +
                     square * (0.3333333331141632 - 0.25000000433015446 * f);
    const double b = (0.20000003805526356 - 0.1666663224132847 * f) +
                     square * (0.1428545826286723 - 0.12501075173085444 * f);
    const double c = (0.11119412934227703 - 0.09987369686172366 * f) +
                     square * (0.08954165707093073 - 0.08317407377192164 * f);
    const double d = (0.08750372568913152 - 0.08467965549122594 * f) +
                     square * 0.04272936174700108;
    return turns * LOG_TWO + f * ((a + fourth * b) + eighth * (c + fourth * d));
}

// 1 / √x of normal x > 0 to 1e-15, without a root or a division: a guess, and Newton's steps.
INLINE double inverse_root(double x) {
    double root = std::bit_cast<double>(0x5fe6eb50c7b537a9ULL - (std::bit_cast<u64>(x) >> 1));
    const double half = 0.5 * x;
    for (int step = 0; step < 4; step++) root *= 1.5 - half * root * root;
    return root;
}

// Variables of several rows, by their first three cumulants.
struct Variables {
    double mean[LANES], variance[LANES], third[LANES];
    double deviation[LANES], lean[LANES];  // filled by `shape`
    double powers[MOST_NODES][LANES];      // e^(node − origin), filled by `raise`
};

INLINE double lean_of(double third, double inverse) {
    const double lean = third * (1.0 / 6.0) * (inverse * inverse * inverse);
    return std::min(std::max(lean, -MOST_LEAN), MOST_LEAN);
}

INLINE double quantile(double mean, double deviation, double lean, double z) {
    const double b = z - lean;
    return mean + deviation * (b + lean * b * b + (1.0 / 3.0) * lean * lean * b * b * b);
}

// Deviations and skewness of variables, once for all quantiles.
INLINE void shape_loop(Variables *one) {
    for (i64 row = 0; row < LANES; row++) {
        const double inverse = inverse_root(std::max(one->variance[row], NARROW));
        one->deviation[row] = one->variance[row] * inverse;
        one->lean[row] = lean_of(one->third[row], inverse);
    }
}
LEVELS(shape)

INLINE double node(const Variables &one, i64 row, double z) {
    return quantile(one.mean[row], one.deviation[row], one.lean[row], z);
}

INLINE double log_sum(double x, double y) {
    const double top = std::max(x, y), gap = std::max(std::min(x, y) - top, -700.0);
    return top + log_above_one(power(gap));
}

// Moments of a variable around the value in the middle, which is near the mean.
struct Moments {
    double middle[LANES], first[LANES], second[LANES], third[LANES];

    INLINE void begin(const double *away, const double *origin) {
        for (i64 row = 0; row < LANES; row++) {
            middle[row] = away[row] + origin[row];
            first[row] = second[row] = third[row] = 0.0;
        }
    }
    INLINE void begin(const Variables &one, const Variables &other) {
        for (i64 row = 0; row < LANES; row++) {
            middle[row] = log_sum(node(one, row, 0.0), node(other, row, 0.0));
            first[row] = second[row] = third[row] = 0.0;
        }
    }
    INLINE void add(i64 row, double weight, double away) {
        const double square = weight * away * away;
        first[row] += weight * away;
        second[row] += square;
        third[row] += square * away;
    }
    INLINE void finish(Variables &out) const {
        for (i64 row = 0; row < LANES; row++) {
            const double shift = first[row];
            out.mean[row] = middle[row] + shift;
            out.variance[row] = std::max(second[row] - shift * shift, 0.0);
            out.third[row] = third[row] - shift * (3.0 * second[row] - 2.0 * shift * shift);
        }
    }
};

// Powers of a variable's nodes; cost N a row. All of a row are taken of distances from one origin,
// the largest mean of its classes, which is at most 9 + 5 √v above the mean of one that matters.
template <int N>
INLINE void raise_loop(std::integral_constant<int, N>, Variables *one, const double *origin) {
    for (int place = 0; place < N; place++)
        for (i64 row = 0; row < LANES; row++)
            one->powers[place][row] =
                power(std::max(node(*one, row, Nodes<N>::z[place]) - origin[row], -700.0));
}
LEVELS(raise)

// Cumulants of log(e^X + e^Y) of independent X and Y, by quadrature over the powers of their nodes;
// cost L·R logarithms a row. The nodes in the middle come first, the others are compared with them.
template <int L, int R>
INLINE void log_sums_loop(std::integral_constant<int, L>, std::integral_constant<int, R>,
                          const Variables *one, const Variables *other, const double *origin,
                          Variables *out) {
    double middle[LANES];
    Moments moments;
    for (i64 row = 0; row < LANES; row++)
        middle[row] = logarithm(one->powers[L / 2][row] + other->powers[R / 2][row]);
    moments.begin(middle, origin);
    for (int left = 0; left < L; left++)
        for (int right = 0; right < R; right++) {
            if (left == L / 2 && right == R / 2) continue;
            const double weight = Nodes<L>::weight[left] * Nodes<R>::weight[right];
            const double *x = one->powers[left], *y = other->powers[right];
            for (i64 row = 0; row < LANES; row++)
                moments.add(row, weight, logarithm(x[row] + y[row]) - middle[row]);
        }
    moments.finish(*out);
}
LEVELS(log_sums)

// The same for variables of any variance; cost L·R powers and logarithms a row.
template <int L, int R>
INLINE void far_log_sums_loop(std::integral_constant<int, L>, std::integral_constant<int, R>,
                              const Variables *one, const Variables *other, Variables *out) {
    Moments moments;
    moments.begin(*one, *other);
    for (int left = 0; left < L; left++)
        for (int right = 0; right < R; right++) {
            const double weight = Nodes<L>::weight[left] * Nodes<R>::weight[right];
            for (i64 row = 0; row < LANES; row++) {
                const double x = node(*one, row, Nodes<L>::z[left]);
                const double y = node(*other, row, Nodes<R>::z[right]);
                moments.add(row, weight, log_sum(x, y) - moments.middle[row]);
            }
        }
    moments.finish(*out);
}
LEVELS(far_log_sums)

// ------------------------------------------------------------------ sums of narrow variables

// What the series of log Σ e^X around the means needs of every variable; sums of them, too.
struct Terms {
    static constexpr int KINDS = 7;
    double sums[KINDS][LANES];

    void clear() { std::fill_n(&sums[0][0], KINDS * LANES, 0.0); }
};

INLINE void find_terms_loop(const Variables *one, const double *origin, Terms *out) {
    for (i64 row = 0; row < LANES; row++) {
        const double variance = one->variance[row], third = one->third[row];
        const double square = variance * variance;
        const double fourth = 1.5 * third * third / std::max(variance, NARROW);  // of a gamma
        const double x = power(std::max(one->mean[row] - origin[row], -700.0)), xx = x * x;
        out->sums[0][row] = x;
        out->sums[1][row] = x * variance;
        out->sums[2][row] = x * (0.5 * variance + (1.0 / 6.0) * third + 0.125 * square +
                                 (1.0 / 24.0) * fourth);
        out->sums[3][row] = xx * variance;
        out->sums[4][row] = xx * (third + 1.5 * square + (7.0 / 12.0) * fourth);
        out->sums[5][row] = xx * x * (third + 3.0 * square + 1.5 * fourth);
        out->sums[6][row] = xx * xx * fourth;
    }
}
LEVELS(find_terms)

INLINE void add_terms_loop(const Terms *one, const Terms *other, Terms *out) {
    for (int kind = 0; kind < Terms::KINDS; kind++)
        for (i64 row = 0; row < LANES; row++)
            out->sums[kind][row] = one->sums[kind][row] + other->sums[kind][row];
}
LEVELS(add_terms)

// Cumulants of log Σ e^X of independent X by a series to the fourth order, that of the second in the
// variances (Mathematics 15.11); cost a logarithm a row.
INLINE void expand_loop(const Terms *terms, const double *origin, Variables *out) {
    for (i64 row = 0; row < LANES; row++) {
        const double whole = terms->sums[0][row], by = 1.0 / whole, square = by * by;
        const double spread = terms->sums[1][row] * by, shift = terms->sums[2][row] * by;
        const double own = terms->sums[3][row] * square, second = terms->sums[4][row] * square;
        const double third = terms->sums[5][row] * square * by;
        const double fourth = terms->sums[6][row] * square * square;
        const double mixed = spread * spread - 4.0 * spread * own + 6.0 * own * own;
        out->mean[row] = origin[row] + logarithm(whole) + shift - 0.5 * (own + second) +
                         (1.0 / 3.0) * third - 0.25 * fourth - 0.125 * mixed;
        out->variance[row] =
            std::max(own + second - third + (11.0 / 12.0) * fourth + (2.5 * own - spread) * own, 0.0);
        out->third[row] = third - 1.5 * fourth - 3.0 * own * own;
    }
}
LEVELS(expand)

// ------------------------------------------------------------------ bounds

// Bounds of P = logistic(X − Y).
INLINE void find_bounds_loop(const Variables *one, const Variables *rest, const double *reaches,
                             double (*RESTRICT bounds)[LANES]) {
    for (i64 row = 0; row < LANES; row++) {
        const double variance = one->variance[row] + rest->variance[row];
        const double inverse = inverse_root(std::max(variance, NARROW));
        const double deviation = variance * inverse, mean = one->mean[row] - rest->mean[row];
        const double lean = lean_of(one->third[row] - rest->third[row], inverse);
        for (int bound = 0; bound < 3; bound++) {
            const double odds = quantile(mean, deviation, lean, reaches[bound]);
            const double safe = std::min(std::max(odds, -708.0), 708.0);
            bounds[bound][row] = 1.0 / (1.0 + power(-safe));
        }
    }
}
LEVELS(find_bounds)

}  // namespace unnaive::certainty
