// Means and covariances of rows with missing values, by expectation-maximization.
#include <algorithm>
#include <cmath>

#include "interrupts.h"
#include "levels.h"

namespace unnaive {
namespace {

constexpr i64 TOGETHER = 4;        // pivots that are subtracted from a line at once
constexpr double LEAST = std::numeric_limits<double>::min();  // the inverse of less overflows
constexpr i64 ROUNDS = 1LL << 20;  // most rounds that a caller may ask for

// Subtract multiples of some pivots' lines from columns low … d − 1 of a line, one after another.
INLINE void subtract(const double *RESTRICT lines, const double *RESTRICT factors, i64 count,
                     i64 low, i64 d, double *RESTRICT line) {
    i64 j = 0;
    for (; j + TOGETHER <= count; j += TOGETHER) {
        const double *a = lines + j * d, *b = a + d, *c = b + d, *e = c + d;
        const double *f = factors + j;
        for (i64 k = low; k < d; k++)
            line[k] = (((line[k] - f[0] * a[k]) - f[1] * b[k]) - f[2] * c[k]) - f[3] * e[k];
    }
    for (; j < count; j++)
        for (i64 k = low; k < d; k++) line[k] -= factors[j] * lines[j * d + k];
}

// Covariances whose observed columns, the pivots, are eliminated one after another; `gap` is the
// first missing column. A pivot's line is known for later columns and from the gap on.
struct Reduced {
    double *lines, *inverse, *factors;  // (d, d), (d,), (d,)
    const i64 *observed;
    i64 n_observed, gap, d;
};

// Eliminate the pivots first, first + 1, …; lines of earlier ones are there.
INLINE void eliminate_loop(Reduced reduced, i64 first, const double *covariance,
                           const double *least) {
    const auto [lines, inverse, factors, observed, n_observed, gap, d] = reduced;
    for (i64 i = first; i < n_observed; i++) {
        const i64 column = observed[i], low = std::min(gap, column);
        double *line = lines + i * d;
        for (i64 k = low; k < d; k++) line[k] = covariance[column * d + k];
        line[column] += least[column];
        for (i64 j = 0; j < i; j++) factors[j] = lines[j * d + column] * inverse[j];
        subtract(lines, factors, i, low, d, line);
        inverse[i] = line[column] >= LEAST ? 1 / line[column] : 0;  // else earlier columns say all
    }
}
LEVELS(eliminate)

// Covariances of a missing column with missing ones, given the observed ones, into line.
INLINE void leave_loop(Reduced reduced, i64 column, const double *covariance, double *line) {
    const auto [lines, inverse, factors, observed, n_observed, gap, d] = reduced;
    for (i64 k = gap; k < d; k++) line[k] = covariance[column * d + k];
    for (i64 j = 0; j < n_observed; j++) factors[j] = lines[j * d + column] * inverse[j];
    subtract(lines, factors, n_observed, gap, d, line);
}
LEVELS(leave)

// Regress missing on observed columns: a line has the latter and zeros; then −prediction is where
// zeros were.
INLINE void regress_loop(Reduced reduced, double *line) {
    const auto [lines, inverse, factors, observed, n_observed, gap, d] = reduced;
    for (i64 j = 0; j < n_observed; j += TOGETHER) {
        const i64 count = std::min(TOGETHER, n_observed - j);
        for (i64 p = 0; p < count; p++) {
            const i64 column = observed[j + p];
            double value = line[column];
            for (i64 q = 0; q < p; q++) value -= factors[q] * lines[(j + q) * d + column];
            factors[p] = value * inverse[j + p];
        }
        subtract(lines + j * d, factors, count, std::min(gap, observed[j + count - 1]), d, line);
    }
}
LEVELS(regress)

// Add a weighted row to the sums, and its products to the upper half of theirs.
INLINE void add_products_loop(const double *RESTRICT row, double weight, i64 d,
                              double *RESTRICT sums, double *RESTRICT products) {
    for (i64 k = 0; k < d; k++) sums[k] += weight * row[k];
    for (i64 i = 0; i < d; i++) {
        const double scaled = weight * row[i];
        for (i64 k = i; k < d; k++) products[i * d + k] += scaled * row[k];
    }
}
LEVELS(add_products)

// Rows that miss the same columns. Where they are more than columns, their sums are kept.
struct Pattern {
    i64 start, stop, kept;  // kept: place of the sums, or −1
    double weight;
};

class Estimation {
  public:
    Estimation(In2<double> rows, In1<double> weights, In1<double> least, Out1<double> mean,
               Out2<double> covariance)
        : rows(rows), weights(weights), least(least), mean(mean), covariance(covariance),
          d(rows.shape(1)), products(d, d), lines(d, d), regressed(d, d), spare(8, d) {
        for (i64 k = 0; k < d; k++) centre(k) = mean[k];
        i64 n_kept = 0;
        for (i64 row = 0; row < rows.shape(0); row++) {
            if (row == 0 || !alike(row - 1, row)) patterns.push_back({row, row, -1, 0.0});
            Pattern &pattern = patterns.back();
            pattern.stop = row + 1;
            pattern.weight += weights[row];
            if (pattern.stop - pattern.start == d + 1) pattern.kept = n_kept++;
        }
        sums.resize(n_kept * (d * d + d));
        for (const Pattern &pattern : patterns) {
            interrupts.look(d * d);
            total += pattern.weight;
            for (i64 row = pattern.start; row < pattern.stop && pattern.kept >= 0; row++)
                add_products(differences(row, &centre(0)), weights[row], d, kept_sums(pattern),
                             kept_products(pattern));
        }
        for (i64 k = 0; k < d; k++) {
            const double variance = covariance(k, k);
            constant.push_back(!(variance != 0));
            scale.push_back(variance > 0 ? std::sqrt(variance) : 1.0);
            seen.push_back(false);
            for (const Pattern &pattern : patterns)
                seen[k] = seen[k] || !std::isnan(rows(pattern.start, k));
        }
    }

    // One E-step and one M-step; returns the largest change, in standard deviations.
    double round() {
        std::fill(products.cells.begin(), products.cells.end(), 0.0);
        std::fill(&moved(0), &moved(0) + d, 0.0);
        reduced_row = -1;
        for (const Pattern &pattern : patterns) {
            interrupts.look(d * d);
            reduce(pattern.start);
            if (pattern.kept >= 0)
                add_kept(pattern);
            else
                add_rows(pattern);
            for (const i64 column : missing) {
                leave(reduced(), column, covariance.data, &line(0));
                for (const i64 k : missing)
                    if (k >= column) products(column, k) += pattern.weight * line(k);
            }
        }
        return maximize();
    }

    double total = 0.0;

  private:
    In2<double> rows;
    In1<double> weights, least;
    Out1<double> mean;
    Out2<double> covariance;
    i64 d;
    std::vector<Pattern> patterns;
    std::vector<double> sums, scale;
    std::vector<bool> constant, seen;
    std::vector<i64> observed, missing;
    i64 reduced_row = -1;  // a row whose pattern was reduced
    Interrupts interrupts;
    Room<double, 2> products, lines, regressed, spare;

    double &centre(i64 k) { return spare(0, k); }   // the first mean
    double &moved(i64 k) { return spare(1, k); }    // sum of the differences from the mean
    double &line(i64 k) { return spare(2, k); }
    double &row_sums(i64 k) { return spare(3, k); }
    double &shift(i64 k) { return spare(4, k); }    // of the mean, since the first one
    double *kept_products(const Pattern &pattern) {
        return sums.data() + pattern.kept * (d * d + d);
    }
    double *kept_sums(const Pattern &pattern) { return kept_products(pattern) + d * d; }
    Reduced reduced() {
        return {lines.data, &spare(5, 0), &spare(6, 0), observed.data(), i64(observed.size()),
                missing.empty() ? d : missing[0], d};
    }

    bool alike(i64 one, i64 other) const {
        for (i64 k = 0; k < d; k++)
            if (std::isnan(rows(one, k)) != std::isnan(rows(other, k))) return false;
        return true;
    }

    // A row's differences from a centre, 0 where it has no value.
    double *differences(i64 row, const double *from) {
        for (i64 k = 0; k < d; k++)
            spare(7, k) = std::isnan(rows(row, k)) ? 0.0 : rows(row, k) - from[k];
        return &spare(7, 0);
    }

    // Eliminate the observed columns of a row's pattern; the last one may begin alike.
    void reduce(i64 row) {
        i64 same = 0, first = 0;
        if (reduced_row >= 0)
            while (same < d && std::isnan(rows(row, same)) == std::isnan(rows(reduced_row, same)))
                same++;
        observed.clear();
        missing.clear();
        for (i64 k = 0; k < d; k++) (std::isnan(rows(row, k)) ? missing : observed).push_back(k);
        if (missing.empty()) return;
        while (first < i64(observed.size()) && observed[first] < same) first++;
        eliminate(reduced(), first, covariance.data, least.data);
        reduced_row = row;
    }

    void add_rows(const Pattern &pattern) {
        for (i64 row = pattern.start; row < pattern.stop; row++) {
            double *filled = differences(row, mean.data);
            if (!missing.empty()) {
                std::copy(filled, filled + d, &line(0));
                regress(reduced(), &line(0));
                for (const i64 k : missing) filled[k] = -line(k);
            }
            add_products(filled, weights[row], d, &moved(0), products.data);
        }
    }

    double &product(i64 i, i64 k) { return products(std::min(i, k), std::max(i, k)); }

    // As add_rows, from sums over the rows: with S their products about the mean and B the
    // regression, S, S·B and Bᵀ·S·B.
    void add_kept(const Pattern &pattern) {
        const double *known = kept_products(pattern), *whole = kept_sums(pattern);
        for (i64 k = 0; k < d; k++) shift(k) = mean[k] - centre(k);
        std::fill(&row_sums(0), &row_sums(0) + d, 0.0);
        for (const i64 k : observed) row_sums(k) = whole[k] - pattern.weight * shift(k);
        for (const i64 i : observed) {
            double *about = regressed.at(i).data;
            std::fill(about, about + d, 0.0);
            for (const i64 k : observed)
                about[k] = known[std::min(i, k) * d + std::max(i, k)] - whole[i] * shift(k) -
                           shift(i) * row_sums(k);
            for (const i64 k : observed)
                if (k >= i) products(i, k) += about[k];
            if (missing.empty()) continue;
            regress(reduced(), about);
            for (const i64 k : missing) product(i, k) -= about[k];
        }
        for (const i64 k : observed) moved(k) += row_sums(k);
        if (missing.empty()) return;
        regress(reduced(), &row_sums(0));
        for (const i64 k : missing) moved(k) -= row_sums(k);
        for (const i64 column : missing) {
            std::fill(&line(0), &line(0) + d, 0.0);
            for (const i64 i : observed) line(i) = -regressed(i, column);
            regress(reduced(), &line(0));
            for (const i64 k : missing)
                if (k >= column) products(column, k) -= line(k);
        }
    }

    // New mean and covariance from the sums; returns the largest change.
    double maximize() {
        double most = 0.0;
        const auto note = [&most](double change) {
            if (!(std::abs(change) <= most) && !std::isnan(most)) most = std::abs(change);
        };
        for (i64 k = 0; k < d; k++) {
            moved(k) /= total;
            shift(k) = seen[k] && !constant[k] ? moved(k) : 0.0;
        }
        for (i64 i = 0; i < d; i++)
            for (i64 k = i; k < d; k++) {
                double entry = products(i, k) / total - moved(i) * shift(k) - shift(i) * moved(k) +
                               shift(i) * shift(k);
                if (constant[i] || constant[k]) entry = 0.0;  // rounding would give them a variance
                note((entry - covariance(i, k)) / (scale[i] * scale[k]));
                covariance(i, k) = covariance(k, i) = entry;
            }
        for (i64 k = 0; k < d; k++) {
            note(shift(k) / scale[k]);
            mean[k] += shift(k);
        }
        return most;
    }
};

// Mean (d,) and covariance (d, d) of rows (n, d) by EM, from those given, until none changes by
// more than `change` standard deviations; returns the number of rounds.
//
// Rows with the same missing values (NaN) stand side by side. A round costs o·d² for every such
// pattern with o observed columns, less what it has in common with the one before, and min(n, d)·d²
// for its n rows.
i64 estimate_moments(In2<double> rows, In1<double> weights, In1<double> least, i64 rounds,
                     double change, Out1<double> mean, Out2<double> covariance) {
    const char *kernel = "estimate_moments";
    const i64 d = rows.shape(1);
    require(weights.size() == rows.shape(0), kernel, "not a weight for every row");
    require(least.size() == d && mean.size() == d && covariance.shape(0) == d &&
                covariance.shape(1) == d,
            kernel, "not a mean and a covariance for every column");
    require(rounds >= 0 && rounds <= ROUNDS, kernel, "rounds lie beyond their limit");
    if (d == 0) return 0;
    Estimation estimation(rows, weights, least, mean, covariance);
    if (!(estimation.total > 0)) return 0;
    i64 round = 0;
    while (round < rounds) {
        round++;
        if (!(estimation.round() >= change)) break;
    }
    return round;
}

}  // namespace

void bind_expectation(nb::module_ &room) {
    bind(room, "estimate_moments",
         "Estimate moments of rows with missing values; count the rounds.",
         estimate_moments, "rows", "weights", "least", "rounds", "change", "mean", "covariance");
}

}  // namespace unnaive
