// Log-probability tables, and rows looked up in them.
#include "border.h"

namespace unnaive {

void bind_tables(nb::module_ &) {}

}  // namespace unnaive
