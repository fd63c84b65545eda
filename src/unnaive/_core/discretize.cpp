// Bin edges.
#include "border.h"

namespace unnaive {

void bind_discretize(nb::module_ &) {}

}  // namespace unnaive
