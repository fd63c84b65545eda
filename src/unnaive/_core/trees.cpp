// Trees over columns.
#include <algorithm>
#include <cmath>
#include <vector>

#include "border.h"

namespace unnaive {
namespace {

// The best edge from the tree to a column: its weight and its ends.
struct Offer {
    double weight = -INF;
    i64 low, high;

    bool is_tied(const Offer &other) const {  // as those of the same infinite weight are
        return weight == other.weight || std::fabs(weight - other.weight) <= TIE;
    }
    bool is_before(const Offer &other) const {
        return low < other.low || (low == other.low && high < other.high);
    }
};

// Maximum spanning tree of the active columns, by Prim's algorithm, into edges (d, 2); returns
// their number. Weights (d, d) that differ by at most TIE are tied, and the lexicographically
// lowest edge wins; NaN counts as −∞. Cost d².
i64 spanning_tree(In2<double> weights, In1<bool> active, Out2<i64> edges) {
    const char *kernel = "spanning_tree";
    const i64 n_columns = active.size();
    require(weights.shape(0) == n_columns && weights.shape(1) == n_columns &&
                edges.shape(0) == n_columns && edges.shape(1) == 2,
            kernel, "weights, active and edges differ in shape");
    std::vector<i64> outside;
    for (i64 column = 0; column < n_columns; column++)
        if (active[column]) outside.push_back(column);
    if (outside.empty()) return 0;
    std::vector<Offer> best(n_columns, Offer{-INF, n_columns, n_columns});
    i64 newest = outside.front(), number = 0;
    outside.erase(outside.begin());
    for (; !outside.empty(); number++) {
        double most = -INF;
        for (const i64 column : outside) {
            const double weight = weights(newest, column);
            const Offer offer{std::isnan(weight) ? -INF : weight, std::min(column, newest),
                              std::max(column, newest)};
            Offer &known = best[column];
            if (offer.weight > known.weight + TIE ||
                (offer.is_tied(known) && offer.is_before(known)))
                known = offer;
            most = std::max(most, known.weight);
        }
        auto chosen = outside.end();
        for (auto place = outside.begin(); place != outside.end(); place++)
            if (best[*place].weight >= most - TIE &&
                (chosen == outside.end() || best[*place].is_before(best[*chosen])))
                chosen = place;
        newest = *chosen;
        outside.erase(chosen);
        edges(number, 0) = best[newest].low;
        edges(number, 1) = best[newest].high;
    }
    return number;
}

}  // namespace

void bind_trees(nb::module_ &room) {
    bind(room, "spanning_tree", "Maximum spanning tree of the active columns.", spanning_tree,
         "weights", "active", "edges");
}

}  // namespace unnaive
