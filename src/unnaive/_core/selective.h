// What counting and scoring of nested models have in common.
#pragma once

#include <tuple>

#include "levels.h"

namespace unnaive {

using i32 = std::int32_t;
using Own = std::tuple<In1<i64>, In1<double>>;  // classes and weights of rows

// What is left of a count: not below 0.
INLINE double left_of(double count) { return count > 0.0 ? count : 0.0; }

void bind_selective_counts(nb::module_ &room);

}  // namespace unnaive
