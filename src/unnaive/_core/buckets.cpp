// Numbers sorted into buckets.
#include "border.h"

namespace unnaive {

void bind_buckets(nb::module_ &) {}

}  // namespace unnaive
