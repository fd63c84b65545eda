// The logarithm of the gamma function, for several threads at a time.
#pragma once

#include <cmath>

#if defined(__APPLE__)
extern "C" double lgamma_r(double, int *);  // its header hides it
#endif

namespace unnaive {

// lgamma itself writes the sign to a variable that all threads share.
inline double log_gamma(double x) {
#if defined(_WIN32)
    return std::lgamma(x);
#else
    int sign = 0;
    return ::lgamma_r(x, &sign);
#endif
}

}  // namespace unnaive
