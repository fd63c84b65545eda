// Hidden parents.
#include "border.h"

namespace unnaive {

void bind_hidden(nb::module_ &) {}

}  // namespace unnaive
