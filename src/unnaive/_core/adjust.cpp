// Class weights, and iterative Bayes.
#include "border.h"

namespace unnaive {

void bind_adjust(nb::module_ &) {}

}  // namespace unnaive
