// Genes drawn from independent Gaussians, again and again until they are within their bounds.
#include <algorithm>

#include "border.h"

namespace unnaive {
namespace {

// Fill the lines order[first], order[first + 1], … of genes (d, n) as long as there are normals.
//
// All values of a gene are drawn, then those outside of its bounds again, at most `redraws` times;
// then they are cut. Returns how many lines were filled, and how many normals these took.
std::pair<i64, i64> draw_within(In1<double> normals, In1<i64> order, In2<double> around,
                                In2<double> bounds, i64 redraws, i64 first, Out2<double> genes) {
    const char *kernel = "draw_within";
    const i64 n_genes = genes.shape(0), n = genes.shape(1);
    require(around.shape(0) == 2 && around.shape(1) == n_genes && bounds.shape(0) == 2 &&
                bounds.shape(1) == n_genes,
            kernel, "not a mean, a deviation and two bounds for every gene");
    require(within(order, 0, n_genes) && first >= 0 && first <= order.size(), kernel, "a gene is not there");
    std::vector<i64> outside(n);
    i64 used = 0, filled = 0;
    for (; first + filled < order.size(); filled++) {
        const i64 gene = order[first + filled];
        const double mean = around(0, gene), deviation = around(1, gene);
        const double low = bounds(0, gene), high = bounds(1, gene);
        double *drawn = &genes(gene, 0);
        i64 left = n, taken = used;
        for (i64 i = 0; i < n; i++) outside[i] = i;
        for (i64 round = 0; round <= redraws && left > 0; round++) {
            if (left > normals.size() - taken) return {filled, used};
            i64 again = 0;
            for (i64 i = 0; i < left; i++) {
                const i64 place = outside[i];
                drawn[place] = normals[taken + i] * deviation + mean;
                outside[again] = place;
                again += drawn[place] < low || drawn[place] > high;
            }
            taken += left;
            left = again;
        }
        for (i64 i = 0; i < left; i++)
            drawn[outside[i]] = std::min(std::max(drawn[outside[i]], low), high);
        used = taken;
    }
    return {filled, used};
}

}  // namespace

void bind_drawing(nb::module_ &room) {
    bind(room, "draw_within", "Fill lines of genes with Gaussians that are within bounds.",
         draw_within, "normals", "order", "around", "bounds", "redraws", "first", "genes");
}

}  // namespace unnaive
