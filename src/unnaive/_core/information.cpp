// Information and scores of contingency tables.
#include "border.h"

namespace unnaive {

void bind_information(nb::module_ &) {}

}  // namespace unnaive
