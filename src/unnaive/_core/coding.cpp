// Numbers turned into codes.
#include "border.h"

namespace unnaive {

void bind_coding(nb::module_ &) {}

}  // namespace unnaive
