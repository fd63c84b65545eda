// Intervals of posterior probabilities, from three cumulants of the log joint of every class.
//
// A quantile of a variable with mean m, deviation s and skewness 6h is that of a gamma variable by
// the cubic of Wilson and Hilferty, m + s (b + h b² + h² b³ / 3) with b = z − h, which increases
// with z whatever h is. The logarithm of a sum of joints is integrated over such variables.
#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "entries.h"

namespace unnaive {
namespace {

constexpr i64 LANES = 64;                // rows that are computed together
constexpr double MOST_LEAN = 2.0 / 6.0;  // skewness of an exponential variable: one cell, no rows
constexpr double WIDE = 4.0;             // variance from which on more nodes are taken
constexpr double MATTERS = 9.0;          // e^−9 of the largest joint changes no bound that is shown
constexpr double LEAST = -1e9;           // instead of the logarithm of 0
constexpr double NARROW = 1e-90;         // below it, variances are 0
constexpr double DISTANT = 1e4;          // variance from which on powers of nodes may overflow

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
    i64 distant;                           // rows of a variance that is too large for powers
};

INLINE double lean_of(double third, double inverse) {
    const double lean = third * (1.0 / 6.0) * (inverse * inverse * inverse);
    return std::min(std::max(lean, -MOST_LEAN), MOST_LEAN);
}

INLINE double quantile(double mean, double deviation, double lean, double z) {
    const double b = z - lean;
    return mean + deviation * (b + lean * b * b + lean * lean * b * b * b / 3.0);
}

// Deviations and skewness of variables, once for all quantiles.
INLINE void shape_loop(Variables *one) {
    i64 distant = 0;
    for (i64 row = 0; row < LANES; row++) {
        const double inverse = inverse_root(std::max(one->variance[row], NARROW));
        one->deviation[row] = one->variance[row] * inverse;
        one->lean[row] = lean_of(one->third[row], inverse);
    }
    for (i64 row = 0; row < LANES; row++) distant += one->variance[row] < DISTANT ? 0 : 1;
    one->distant = distant;
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

// Cumulants of log(e^X + e^Y) of independent X and Y, by quadrature; cost 2 N powers and N²
// logarithms a row. Powers are taken of distances from the middle.
template <int N>
INLINE void log_sums_loop(std::integral_constant<int, N>, const Variables *one,
                          const Variables *other, Variables *out) {
    double x[N][LANES], y[N][LANES];
    Moments moments;
    moments.begin(*one, *other);
    for (int place = 0; place < N; place++)
        for (i64 row = 0; row < LANES; row++) {
            const double z = Nodes<N>::z[place], middle = moments.middle[row];
            x[place][row] = power(std::max(node(*one, row, z) - middle, -700.0));
            y[place][row] = power(std::max(node(*other, row, z) - middle, -700.0));
        }
    for (int left = 0; left < N; left++)
        for (int right = 0; right < N; right++) {
            const double weight = Nodes<N>::weight[left] * Nodes<N>::weight[right];
            for (i64 row = 0; row < LANES; row++)
                moments.add(row, weight, logarithm(x[left][row] + y[right][row]));
        }
    moments.finish(*out);
}
LEVELS(log_sums)

// The same for variables of any variance; cost N² powers and logarithms a row.
template <int N>
INLINE void far_log_sums_loop(std::integral_constant<int, N>, const Variables *one,
                              const Variables *other, Variables *out) {
    Moments moments;
    moments.begin(*one, *other);
    for (int left = 0; left < N; left++)
        for (int right = 0; right < N; right++) {
            const double weight = Nodes<N>::weight[left] * Nodes<N>::weight[right];
            for (i64 row = 0; row < LANES; row++) {
                const double x = node(*one, row, Nodes<N>::z[left]);
                const double y = node(*other, row, Nodes<N>::z[right]);
                moments.add(row, weight, log_sum(x, y) - moments.middle[row]);
            }
        }
    moments.finish(*out);
}
LEVELS(far_log_sums)

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

// Quantiles of P(c | x) = logistic(L_c − log Σ_{j≠c} e^{L_j}); cost n·k.
//
// The classes of a row are put in order: first those that can matter, each by itself in the sum of
// the others; then those whose joints are far below, which have the sum of the first for others.
struct Bounds {
    In3<double> cumulants;
    double reaches[3];
    Out3<double> out;
    i64 start, n_classes;
    std::vector<i64> order;  // of the classes of every row, from `start` on
    std::vector<Variables> classes, before, others;
    std::vector<double> deviations;

    Bounds(In3<double> cumulants, double reach, i64 start, i64 stop, Out3<double> out)
        : cumulants(cumulants), reaches{-reach, 0.0, reach}, out(out), start(start),
          n_classes(cumulants.shape(2)), order(std::size_t((stop - start) * n_classes)),
          classes(std::size_t(n_classes)), before(classes.size()), others(classes.size()),
          deviations(classes.size()) {}

    // Put the classes of a row in order; the number of those that matter, + k if one is wide.
    i64 sort(i64 row) {
        const double *mean = &cumulants(row, 0, 0), *variance = &cumulants(row, 1, 0);
        i64 *first = &order[std::size_t((row - start) * n_classes)], *last = first + n_classes;
        double limit = -INF;
        for (i64 label = 0; label < n_classes; label++) {
            deviations[label] = std::sqrt(variance[label]);
            limit = std::max(limit, mean[label] - 3.0 * deviations[label]);
        }
        bool wide = false;
        i64 *next = first, *end = last;
        for (i64 label = n_classes - 1; label >= 0; label--)
            if (!(mean[label] + 2.0 * deviations[label] >= limit - MATTERS)) *--end = label;
        for (i64 label = 0, far = 0; label < n_classes; label++) {
            if (end + far < last && end[far] == label) {
                far++;
                continue;
            }
            *next++ = label;
            wide = wide || variance[label] > WIDE;
        }
        const i64 matter = next - first;
        for (i64 *other = end; matter == 1 && other < last; other++)
            if (mean[*other] > mean[*end]) std::swap(*other, *end);  // the nearest comes first
        return matter + (wide && matter > 1 ? n_classes : 0);
    }

    // The last row fills what is left over.
    void load(const i64 *chosen, i64 rows) {
        for (i64 row = 0; row < LANES; row++) {
            const i64 at = chosen[std::min(row, rows - 1)];
            const double *given = &cumulants(at, 0, 0);
            const i64 *labels = &order[std::size_t((at - start) * n_classes)];
            for (i64 place = 0; place < n_classes; place++) {
                const i64 label = labels[place];
                classes[place].mean[row] = std::max(given[label], LEAST);
                classes[place].variance[row] = std::max(given[n_classes + label], 0.0);
                classes[place].third[row] = given[2 * n_classes + label];
            }
        }
    }

    // Add class by class, from both ends, so that every class is left out once; all in `before`.
    template <int N> void leave_each_out(i64 matter) {
        const auto sum = [](const Variables &one, const Variables &other, Variables &into) {
            if (one.distant + other.distant == 0)
                log_sums(std::integral_constant<int, N>{}, &one, &other, &into);
            else
                far_log_sums(std::integral_constant<int, N>{}, &one, &other, &into);
            shape(&into);
        };
        for (i64 place = 0; n_classes > 2 && matter > 1 && place < matter; place++)
            shape(&classes[place]);
        before[0] = classes[0];
        const i64 last = matter - 1, whole = matter < n_classes ? matter : last;
        for (i64 place = 1; place < whole; place++)
            sum(before[place - 1], classes[place], before[place]);
        if (last == 0) {
            others[0] = classes[1];
            return;
        }
        others[last] = before[last - 1];
        Variables after = classes[last];
        for (i64 place = last - 1; place > 0; place--) {
            sum(before[place - 1], after, others[place]);
            sum(after, classes[place], after);
        }
        others[0] = after;
    }

    // Bounds of some rows in which as many classes matter.
    void fill(const i64 *chosen, i64 rows, i64 kind) {
        const bool wide = kind > n_classes;
        const i64 matter = wide ? kind - n_classes : kind;
        load(chosen, rows);
        wide ? leave_each_out<5>(matter) : leave_each_out<3>(matter);
        double bounds[3][LANES];
        for (i64 place = 0; place < n_classes; place++) {
            const Variables *rest = place < matter ? &others[place] : &before[matter - 1];
            find_bounds(static_cast<const Variables *>(&classes[place]), rest,
                        static_cast<const double *>(reaches), bounds);
            for (i64 row = 0; row < rows; row++) {
                const i64 at = chosen[row], label = order[(at - start) * n_classes + place];
                for (i64 bound = 0; bound < 3; bound++) out(bound, at, label) = bounds[bound][row];
            }
        }
    }
};

// `cumulants` (n, 3, k) are means, variances and third cumulants of the independent log joints L
// of rows start … stop; `reach` is the normal quantile of the upper end; out is lower, median and
// upper (3, n, k).
void quantiles(In3<double> cumulants, double reach, i64 start, i64 stop, Out3<double> out) {
    const char *kernel = "quantiles";
    const i64 n_rows = cumulants.shape(0), n_classes = cumulants.shape(2);
    require(cumulants.shape(1) == 3 && out.shape(0) == 3 && out.shape(1) == n_rows &&
                out.shape(2) == n_classes,
            kernel, "cumulants and out differ in shape");
    require(0 <= start && start <= stop && stop <= n_rows, kernel, "rows beyond the last");
    if (n_classes <= 1) {
        for (i64 bound = 0; bound < 3 && n_classes; bound++)
            std::fill(&out(bound, 0, 0) + start, &out(bound, 0, 0) + stop, 1.0);
        return;
    }
    Bounds bounds(cumulants, reach, start, stop, out);
    std::vector<std::vector<i64>> alike(std::size_t(2 * n_classes + 1));
    for (i64 row = start; row < stop; row++) alike[bounds.sort(row)].push_back(row);
    for (std::size_t kind = 1; kind < alike.size(); kind++)
        for (std::size_t low = 0; low < alike[kind].size(); low += LANES)
            bounds.fill(&alike[kind][low], std::min<i64>(LANES, alike[kind].size() - low),
                        i64(kind));
}

}  // namespace

void bind_certainty(nb::module_ &room) {
    bind(room, "quantiles", "Quantiles of posteriors by cumulants of their log joints.", quantiles,
         "cumulants", "reach", "start", "stop", "out");
}

}  // namespace unnaive
