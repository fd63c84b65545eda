// Intervals of posterior probabilities whose log joints are normal and independent.
#include <cmath>
#include <vector>

#include "entries.h"

namespace unnaive {
namespace {

INLINE double logistic(double odds) { return 1.0 / (1.0 + std::exp(-odds)); }

// The other classes of a class: mean and variance of the log of their sum of joints.
//
// log Σ exp(L_j) at the means, with shares w_j, plus ½ Σ (w_j − w_j²) v_j; variance Σ w_j² v_j.
struct Others {
    double mean, variance;

    Others(const double *means, const double *variances, const double *chances, i64 n_classes,
           i64 label, double peak) {
        double total = 0.0, first = 0.0, second = 0.0;
        for (i64 other = 0; other < n_classes; other++)
            if (other != label) total += chances[other];
        if (total <= 0.0) {  // all others are far below the class: only the nearest counts
            i64 nearest = -1;
            for (i64 other = 0; other < n_classes; other++)
                if (other != label && (nearest < 0 || means[other] > means[nearest]))
                    nearest = other;
            mean = nearest < 0 ? -INF : means[nearest];
            variance = nearest < 0 ? 0.0 : variances[nearest];
            return;
        }
        for (i64 other = 0; other < n_classes; other++) {
            if (other == label) continue;
            const double share = chances[other] / total;
            first += share * (1.0 - share) * variances[other];
            second += share * share * variances[other];
        }
        mean = peak + std::log(total) + 0.5 * first;
        variance = second;
    }
};

// Quantiles of P(c | x) = logistic(L_c − log Σ_{j≠c} exp L_j), log joints L normal; cost n·k².
//
// `reach` is the normal quantile of the upper end; bounds are lower, median and upper (3, n, k).
void logistic_normal(In2<double> means, In2<double> variances, double reach, i64 start, i64 stop,
                     Out3<double> out) {
    const char *kernel = "logistic_normal";
    const i64 n_rows = means.shape(0), n_classes = means.shape(1);
    require(variances.shape(0) == n_rows && variances.shape(1) == n_classes && out.shape(0) == 3 &&
                out.shape(1) == n_rows && out.shape(2) == n_classes,
            kernel, "means, variances and out differ in shape");
    require(0 <= start && start <= stop && stop <= n_rows, kernel, "rows beyond the last");
    std::vector<double> chances(static_cast<std::size_t>(n_classes));
    for (i64 row = start; row < stop; row++) {
        const double *mean = &means(row, 0), *variance = &variances(row, 0);
        double peak = -INF;
        for (i64 label = 0; label < n_classes; label++) peak = std::max(peak, mean[label]);
        if (n_classes > 2)
            for (i64 label = 0; label < n_classes; label++)
                chances[label] = std::exp(mean[label] - peak);
        for (i64 label = 0; label < n_classes; label++) {
            double odds, spread;
            if (n_classes == 2) {
                odds = mean[label] - mean[1 - label];
                spread = variance[0] + variance[1];
            } else {
                const Others others(mean, variance, chances.data(), n_classes, label, peak);
                odds = mean[label] - others.mean;
                spread = variance[label] + others.variance;
            }
            const double far = reach * std::sqrt(spread);
            out(0, row, label) = logistic(odds - far);
            out(1, row, label) = logistic(odds);
            out(2, row, label) = logistic(odds + far);
        }
    }
}

}  // namespace

void bind_certainty(nb::module_ &room) {
    bind(room, "logistic_normal", "Quantiles of posteriors whose log joints are normal.",
         logistic_normal, "means", "variances", "reach", "start", "stop", "out");
}

}  // namespace unnaive
