// Weighted products.
#include "border.h"

namespace unnaive {

void bind_weighting(nb::module_ &) {}

}  // namespace unnaive
