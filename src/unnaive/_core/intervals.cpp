// Distributions inside intervals.
#include "border.h"

namespace unnaive {

void bind_intervals(nb::module_ &) {}

}  // namespace unnaive
