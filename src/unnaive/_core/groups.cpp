// Naive Bayes over groups of columns.
#include "border.h"

namespace unnaive {

void bind_groups(nb::module_ &) {}

}  // namespace unnaive
