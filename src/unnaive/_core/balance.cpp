// Balanced subsets of columns.
#include "border.h"

namespace unnaive {

void bind_balance(nb::module_ &) {}

}  // namespace unnaive
