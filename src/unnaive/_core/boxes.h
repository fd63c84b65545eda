// A distribution inside intervals: where a genome puts its values, and how they come to sum to 1.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

#include "border.h"

namespace unnaive {

constexpr double EPSILON = 1e-6;  // no interval comes nearer to 0 or 1, unless the estimate does
enum Encoding : i64 { CENTRED = 0, LINEAR = 1, ABSOLUTE = 2 };
enum Repair : i64 { PROJECT = 0, NORMALISE = 1 };

// z, α of each value, how genes are read, how lines are made to sum to 1, α that values share.
struct Rule {
    double z, each;
    i64 encoding, repair;
    double shared;
};

struct Box {
    double place, low, high;
};

// Boxes of one distribution's values, line by line.
struct Boxes {
    double *places, *lows, *highs;

    void put(i64 value, const Box &box) const {
        places[value] = box.place;
        lows[value] = box.low;
        highs[value] = box.high;
    }
};

INLINE double cut(double number, double low, double high) {
    return std::min(std::max(number, low), high);
}

INLINE double sum_of(const double *numbers, i64 size) {
    double total = 0.0;
    for (i64 i = 0; i < size; i++) total += numbers[i];
    return total;
}

// Smoothed estimate p = (n + α) / (N + α·v), and the half width z·√(p(1 − p)/N).
INLINE std::pair<double, double> interval(double count, double total, double n_values, double z,
                                          double alpha) {
    const double below = total + alpha * n_values;
    const double point = below > 0.0 ? (count + alpha) / below : 1.0 / n_values;
    if (z == 0.0) return {point, 0.0};
    if (total <= 0.0) return {point, INF};
    return {point, z * std::sqrt(std::max(point * (1.0 - point), 0.0) / total)};
}

// Where gene u lies, and the lower and upper end of its interval.
INLINE Box box_of(double count, double total, double n_values, double u, const Rule &rule) {
    const auto [point, half] =
        interval(count, total, n_values, rule.z, rule.each + rule.shared / n_values);
    const double low = std::min(std::max(point - half, EPSILON), point);
    const double high = std::max(std::min(point + half, 1.0 - EPSILON), point);
    if (rule.encoding == ABSOLUTE) return {u, low, high};
    if (rule.encoding == LINEAR) return {low + u * (high - low), low, high};
    const double side = u > 0.5 ? high - point : point - low;
    return {point + (2.0 * u - 1.0) * side, low, high};
}

// Boxes of one distribution whose counts are said to sum to `total`; cost v.
inline void fill_boxes(const double *counts, i64 n_values, double total, const double *genes,
                       const Rule &rule, const Boxes &boxes) {
    for (i64 value = 0; value < n_values; value++)
        boxes.put(value, box_of(counts[value], total, double(n_values), genes[value], rule));
}

// Nearest point of the boxes that sums to 1: values − λ, cut; cost v a round.
//
// A round takes the values that are still free for all of them. If more is cut off at the top
// than at the bottom, those at the top stay there, and vice versa: at most v rounds, mostly 2
// (Kiwiel 2008, variable fixing). `least` and `most` say who is free.
inline void project_boxes(const double *values, const double *lows, const double *highs,
                          i64 n_values, double *out) {
    double least = -INF, most = INF;
    for (i64 round = 0; round <= n_values; round++) {
        double total = -1.0, surplus = -1.0;
        i64 free = 0;
        for (i64 value = 0; value < n_values; value++) {
            if (values[value] - highs[value] >= most) {
                total += highs[value];
            } else if (values[value] - lows[value] <= least) {
                total += lows[value];
            } else {
                total += values[value];
                free++;
            }
        }
        if (free == 0) break;
        const double shift = cut(total / double(free), least, most);
        for (i64 value = 0; value < n_values; value++) {
            out[value] = cut(values[value] - shift, lows[value], highs[value]);
            surplus += out[value];
        }
        if (std::abs(surplus) <= 1e-16 * double(n_values) || shift == least || shift == most) break;
        (surplus > 0.0 ? least : most) = shift;
    }
}

// Make the places in the boxes a distribution: the nearest one, or divide by their sum.
inline void repair(const Boxes &boxes, i64 n_values, const Rule &rule, double *out) {
    if (rule.repair == PROJECT) {
        project_boxes(boxes.places, boxes.lows, boxes.highs, n_values, out);
        return;
    }
    const double total = sum_of(boxes.places, n_values);
    for (i64 value = 0; value < n_values; value++)
        out[value] = total > 0.0 ? boxes.places[value] / total : 1.0 / double(n_values);
}

// ------------------------------------------------------------------ one value without a row

// The sum of all cut values − λ as a table of lines between edges, for one box after another
// that is changed.
//
// Left of the i-th of 2v edges (in order) the sum is sums[i] − λ·free[i]. `found` is where the
// edge of a value is at which it leaves its upper end, or (v later) meets its lower.
struct Sweep {
    static constexpr i64 RUN = 8;  // edges that are sorted by insertion
    std::vector<double> edges, spare_edges, sums, free;
    std::vector<i64> order, spare_order, found;

    explicit Sweep(i64 longest)
        : edges(2 * longest), spare_edges(2 * longest), sums(2 * longest + 1),
          free(2 * longest + 1), order(2 * longest), spare_order(2 * longest), found(2 * longest) {}

    // Merge sort by edge, then by number: numbers ascend at first, and equal edges stay in order.
    void sort(i64 size) {
        for (i64 low = 0; low < size; low += RUN) sort_run(low, std::min(low + RUN, size));
        for (i64 run = RUN; run < size; run *= 2) {
            for (i64 low = 0; low < size; low += 2 * run)
                merge(low, std::min(low + run, size), std::min(low + 2 * run, size));
            edges.swap(spare_edges);
            order.swap(spare_order);
        }
    }

    // Insertion sort of a short run.
    void sort_run(i64 low, i64 high) {
        for (i64 start = low + 1; start < high; start++) {
            const double edge = edges[start];
            const i64 number = order[start];
            i64 at = start;
            for (; at > low && edges[at - 1] > edge; at--) {
                edges[at] = edges[at - 1];
                order[at] = order[at - 1];
            }
            edges[at] = edge;
            order[at] = number;
        }
    }

    // Merge two runs into the spare room; no branch depends on the edges.
    void merge(i64 low, i64 middle, i64 high) {
        i64 left = low, right = middle, at = low;
        while (left < middle && right < high) {
            const bool later = edges[right] < edges[left];
            const i64 from = later ? right : left;
            spare_edges[at] = edges[from];
            spare_order[at++] = order[from];
            right += later;
            left += !later;
        }
        const i64 from = left < middle ? left : right;
        std::copy_n(edges.data() + from, high - at, spare_edges.data() + at);
        std::copy_n(order.data() + from, high - at, spare_order.data() + at);
    }

    // Sort the edges of boxes and sum up between them; cost that of the sort.
    void over(const Boxes &boxes, i64 n_values) {
        double total = 0.0, n_free = 0.0;
        for (i64 value = 0; value < n_values; value++) {
            edges[value] = boxes.places[value] - boxes.highs[value];
            edges[n_values + value] = boxes.places[value] - boxes.lows[value];
            order[value] = value;
            order[n_values + value] = n_values + value;
            total += boxes.highs[value];
        }
        sort(2 * n_values);
        for (i64 at = 0; at < 2 * n_values; at++) {
            sums[at] = total;
            free[at] = n_free;
            const i64 number = order[at];
            found[number] = at;
            if (number < n_values) {
                total += boxes.places[number] - boxes.highs[number];
                n_free += 1.0;
            } else {
                total += boxes.lows[number - n_values] - boxes.places[number - n_values];
                n_free -= 1.0;
            }
        }
        sums[2 * n_values] = total;
        free[2 * n_values] = n_free;
    }

    // Projection of one value after its box was changed; cost log v.
    //
    // Bisection finds the last edge before the sum is 1; there the others sum to A − m·λ, so that
    // the value is its place − (A + place − 1)/(m + 1), cut to its box.
    double swapped(i64 value, const Box &box, const Boxes &boxes, i64 n_values) const {
        const Box mine{boxes.places[value], boxes.lows[value], boxes.highs[value]};
        i64 first = 0, last = 2 * n_values;
        while (first < last) {
            const i64 middle = (first + last) / 2;
            const double shift = edges[middle];
            double total = sums[middle] - free[middle] * shift;
            total -= cut(mine.place - shift, mine.low, mine.high);
            total += cut(box.place - shift, box.low, box.high);
            if (total > 1.0)
                first = middle + 1;
            else
                last = middle;
        }
        double others = sums[first], n_free = free[first];
        if (first <= found[value]) {
            others -= mine.high;
        } else if (first > found[n_values + value]) {
            others -= mine.low;
        } else {
            others -= mine.place;
            n_free -= 1.0;
        }
        return cut(box.place - (others + box.place - 1.0) / (n_free + 1.0), box.low, box.high);
    }
};

// Some cells of a line, ascending, and the cell that the line begins with.
struct Asked {
    const i64 *first, *last;
    i64 start;
};

// P(x | own class) for every asked x that a row of some weight is taken out of; cost v·log v.
//
// Whichever x it is, the boxes of the others are the same, as only N has changed for them. Cells
// that have no row are left as they are.
inline void own_cells(const double *counts, i64 n_values, double weight, const double *genes,
                      const Rule &rule, const Boxes &boxes, Sweep &sweep, const Asked &asked,
                      double *out) {
    const auto has_row = [&](i64 cell) { return counts[cell - asked.start] > 0.0; };
    if (std::none_of(asked.first, asked.last, has_row)) return;
    const double total = std::max(sum_of(counts, n_values) - weight, 0.0);
    fill_boxes(counts, n_values, total, genes, rule, boxes);
    const bool projects = rule.repair == PROJECT;
    if (projects) sweep.over(boxes, n_values);
    const double others = sum_of(boxes.places, n_values);
    for (const i64 *cell = asked.first; cell < asked.last; cell++) {
        if (!has_row(*cell)) continue;
        const i64 value = *cell - asked.start;
        const double mine = std::max(counts[value] - weight, 0.0);
        const Box box = box_of(mine, total, double(n_values), genes[value], rule);
        if (projects) {
            out[value] = sweep.swapped(value, box, boxes, n_values);
        } else {
            const double whole = others - boxes.places[value] + box.place;
            out[value] = whole > 0.0 ? box.place / whole : 1.0 / double(n_values);
        }
    }
}

}  // namespace unnaive
