// Predictions of one row: its log joint, normalised.
#pragma once

#include <algorithm>
#include <cmath>

#include "border.h"

namespace unnaive {

INLINE double peak_of(const double *line, i64 size) {
    double peak = -INF;
    for (i64 place = 0; place < size; place++) peak = std::max(peak, line[place]);
    return peak;
}

// The exponential; that of 0, as the largest of a row is, is known.
INLINE double exp_of(double number) { return number == 0.0 ? 1.0 : std::exp(number); }

// Probabilities of a row from its log joint, of which one at least is finite.
INLINE void posterior_of(const double *line, i64 n_classes, double *out) {
    const double peak = peak_of(line, n_classes);
    double total = 0.0;
    for (i64 label = 0; label < n_classes; label++) {
        out[label] = exp_of(line[label] - peak);
        total += out[label];
    }
    for (i64 label = 0; label < n_classes; label++) out[label] /= total;
}

}  // namespace unnaive
