// Hierarchical smoothing: one level, and how well a concentration does there.
#include <algorithm>
#include <cmath>

#include "border.h"

namespace unnaive {
namespace {

// Context c leans on row place(c) of what is above; both have the same values.
template <class Count>
void check(const char *kernel, In2<Count> counts, In2<double> above, In1<i64> place) {
    require(place.size() == counts.shape(0) && above.shape(1) == counts.shape(1), kernel,
            "counts, above and place differ in shape");
    require(within(place, 0, above.shape(0)), kernel, "place lies beyond the rows above");
}

// P(x | context) = (N(x) + α·P(x | context above)) / (N + α) of every cell; cost of the table.
template <class Count>
void back_off(In2<Count> counts, In2<double> above, In1<i64> place, double alpha, double held,
              Out2<double> out) {
    check("back_off", counts, above, place);
    require(out.shape(0) == counts.shape(0) && out.shape(1) == counts.shape(1), "back_off",
            "out differs from counts in shape");
    const i64 n_values = counts.shape(1);
    for (i64 context = 0; context < counts.shape(0); context++) {
        double size = 0.0;
        for (i64 value = 0; value < n_values; value++) size += double(counts(context, value));
        size = std::max(size - held, 0.0) + alpha;
        for (i64 value = 0; value < n_values; value++) {
            const double chance = above(place[context], value);
            const double count =
                std::max(double(counts(context, value)) - held, 0.0) + alpha * chance;
            out(context, value) = size > 0.0 ? count / size : chance;
        }
    }
}

}  // namespace

void bind_back_off(nb::module_ &room) {
    const char *text =
        "P(x | context) of every cell, counts and what is above in proportion to α.";
    bind(room, "back_off", text, back_off<double>, "counts", "above", "place", "alpha", "held",
         "out");
    bind(room, "back_off", text, back_off<i64>, "counts", "above", "place", "alpha", "held", "out");
}

}  // namespace unnaive
