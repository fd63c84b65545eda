// Nested models, one more column at a time.
#include "border.h"

namespace unnaive {

void bind_selective(nb::module_ &) {}

}  // namespace unnaive
