// Balanced subsets of columns: branch and bound.
#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "border.h"

namespace unnaive {
namespace {

// Columns (d, m) in the order of branching; least and largest sums (head + 1, most + 1, m) of so
// many columns from a depth on; whether lines are added, or the largest counts.
using Problem = std::tuple<In2<double>, In3<double>, In3<double>, bool>;

// Sums (s, m) of all sets of the last columns, by number of members; the combination of lines
// that they are sorted by; where each number of members begins; the combination itself.
using Tail = std::tuple<In2<double>, In1<double>, In1<i64>, In1<double>>;

// The weight to be beaten, nodes that may be visited, and what rounding may hide.
using Limits = std::tuple<double, i64, double>;

struct Listed {
    double best;
    i64 place, looked;
};

// Best weight with one of the listed sums of a count, its place or −1, sums looked at.
template <bool added>
Listed search_listed(const double *sums, const Tail &tail, i64 count, double best) {
    const auto &[listed, mixed_sums, starts, mix] = tail;
    const i64 n_lines = listed.shape(1), stop = starts[count + 1];
    double mixed = 0.0;
    for (i64 line = 0; line < n_lines; line++) mixed += mix[line] * sums[line];
    const double *begin = std::lower_bound(mixed_sums.data + starts[count], mixed_sums.data + stop,
                                           -mixed - best);
    const i64 first = begin - mixed_sums.data;
    i64 place = first, chosen = -1;
    for (; place < stop && mixed_sums[place] + mixed < best; place++) {
        const double *other = listed.data + place * n_lines;
        double weight = 0.0;
        for (i64 line = 0; line < n_lines; line++) {
            const double size = std::fabs(sums[line] + other[line]);
            weight = added ? weight + size : std::max(weight, size);
            if (weight >= best) break;
        }
        if (weight < best) {
            best = weight;
            chosen = place;
        }
    }
    return {best, chosen, place - first};
}

// Least weight after a decision on the next column; infinite where it cannot be made.
template <bool added>
double bound_of(const Problem &problem, Out2<double> sums, i64 depth, i64 pick, i64 left) {
    const auto &[ordered, low, high, same] = problem;
    if (left < 0 || left >= ordered.shape(0) - depth) return INF;
    const i64 n_lines = ordered.shape(1), cell = ((depth + 1) * low.shape(1) + left) * n_lines;
    const double *least = low.data + cell, *most = high.data + cell;
    double weight = 0.0;
    for (i64 line = 0; line < n_lines; line++) {
        const double here = sums(depth, line) + double(pick) * ordered(depth, line);
        sums(depth + 1, line) = here;
        const double miss = std::max(std::max(0.0, here + least[line]), -here - most[line]);
        weight = added ? weight + miss : std::max(weight, miss);
    }
    return weight;
}

void check(const Problem &problem, const Tail &tail, i64 size, In1<i64> guide, In1<i64> path) {
    const auto &[ordered, low, high, added] = problem;
    const auto &[listed, mixed_sums, starts, mix] = tail;
    const i64 n_columns = ordered.shape(0), n_lines = ordered.shape(1), head = low.shape(0) - 1;
    require(head >= 0 && head <= n_columns && low.shape(2) == n_lines &&
                std::equal(low.extent, low.extent + 3, high.extent),
            "search", "columns and their least and largest sums differ in shape");
    require(listed.shape(1) == n_lines && mix.size() == n_lines &&
                mixed_sums.size() == listed.shape(0) && starts.size() == n_columns - head + 2,
            "search", "the listed sums differ in shape");
    require(all_offsets(starts.data, starts.size(), mixed_sums.size()), "search",
            "starts lie beyond the listed sums");
    require(0 <= size && size <= n_columns && size < low.shape(1), "search",
            "size is not a number of columns");
    require(guide.size() == n_columns && path.size() == head && within(guide, 0, 2), "search",
            "guide and path are not one decision for each of their columns");
}

// Depth first, the guide's own decision before the other, so that its neighbours come first.
template <bool added>
std::pair<i64, double> search_nodes(const Problem &problem, const Tail &tail, i64 size,
                                    In1<i64> guide, Limits limits, Out1<i64> best_path) {
    const i64 head = best_path.size();
    auto [best, budget, rounding] = limits;
    Room<double, 2> sums(head + 1, std::get<0>(problem).shape(1));
    Room<i64, 1> path(head), tried(head + 1);
    std::vector<i64> left(std::size_t(head + 1), size);
    std::fill_n(best_path.data, head, 0);
    i64 chosen = -1, spent = 0, depth = 0;
    double open_bound = INF;
    while (depth >= 0) {
        if (depth == head) {
            const Listed found =
                search_listed<added>(sums.at(head).data, tail, left[head], best);
            best = found.best;
            spent += found.looked / 8;
            if (found.place >= 0) {
                chosen = found.place;
                std::copy_n(path.data, head, best_path.data);
            }
        }
        if (depth == head || tried[depth] == 2) {
            tried[depth] = 0;
            depth--;
            continue;
        }
        const i64 pick = tried[depth] == 0 ? guide[depth] : 1 - guide[depth];
        tried[depth]++;
        const double bound = bound_of<added>(problem, sums, depth, pick, left[depth] - pick);
        if (!(bound < best - rounding)) continue;
        if (spent >= budget) {
            open_bound = std::min(open_bound, bound);
            continue;
        }
        spent++;
        path[depth] = pick;
        left[depth + 1] = left[depth] - pick;
        depth++;
    }
    return {chosen, open_bound};
}

// Decisions on the first columns, into `path`; the place of the listed sum or −1, and the least
// bound left open. The budget bounds the cost.
std::pair<i64, double> search(Problem problem, Tail tail, i64 size, In1<i64> guide, Limits limits,
                              Out1<i64> path) {
    check(problem, tail, size, guide, path);
    return std::get<3>(problem) ? search_nodes<true>(problem, tail, size, guide, limits, path)
                                : search_nodes<false>(problem, tail, size, guide, limits, path);
}

}  // namespace

void bind_balance(nb::module_ &room) {
    bind(room, "search", "Branch and bound: path, place of the listed sum, least bound left open.",
         search, "problem", "tail", "size", "guide", "limits", "path");
}

}  // namespace unnaive
