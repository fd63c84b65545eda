// Estimates of probabilities that several rooms share.
#pragma once

#include <algorithm>
#include <cmath>

#include "border.h"

namespace unnaive {

// Log of the smoothed estimate (count + α) / (context + A); 0/0 is 1/v.
INLINE double log_estimate(double count, double context, double alpha, double total,
                           double n_values) {
    const double denominator = std::max(context, 0.0) + total;
    if (denominator <= 0.0) return -std::log(n_values);
    const double numerator = std::max(count, 0.0) + alpha;
    return numerator > 0.0 ? std::log(numerator / denominator) : -INF;
}

}  // namespace unnaive
