// Rows counted: bitmaps, and histograms.
#include "border.h"

namespace unnaive {

void bind_counting(nb::module_ &) {}

}  // namespace unnaive
