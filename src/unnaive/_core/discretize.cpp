// Bin edges: MDLP's blocks and best cut; class counts of bins, their evidence, halves.
#include <algorithm>
#include <cmath>

#include "border.h"
#include "gamma.h"

namespace unnaive {
namespace {

constexpr double LOG2_3 = 1.584962500721156;

// Sum sorted rows, in place, to one entry per block and class; returns their number; O(n).
//
// A block is a distinct value, or several in a row that hold one and the same class: between
// those no cut can be best (Fayyad & Irani 1993, theorem 1). `ends` is the block's last row at
// the last entry of each block and -1 elsewhere; `latest` is scratch, -1 for each class.
i64 collapse(In1<double> values, Out1<i64> codes, Out1<double> weights, Out1<i64> ends,
             Out1<i64> latest) {
    const i64 n_rows = values.size(), n_classes = latest.size();
    require(codes.size() == n_rows && weights.size() == n_rows && ends.size() == n_rows, "collapse",
            "values, codes, weights and ends differ in size");
    require(within<i64, 1>(latest, -1, 0), "collapse", "latest is not -1");
    i64 size = 0, start = 0, block = 0;
    for (i64 row = 0; row < n_rows; row++) {
        const i64 own = codes[row];
        require(u64(own) < u64(n_classes), "collapse", "a class is not there");
        if (latest[own] < start) {
            latest[own] = size;
            codes[size] = own;
            weights[size] = weights[row];
            ends[size] = -1;
            size++;
        } else {
            weights[latest[own]] += weights[row];
        }
        if (row + 1 < n_rows && !(values[row] != values[row + 1])) continue;
        if (size == start + 1 && block == start - 1 && codes[block] == own) {
            weights[block] += weights[start];
            size = start;
            latest[own] = block;
        } else {
            block = start;
        }
        ends[size - 1] = row;
        start = size;
    }
    return size;
}

// x log₂ x, looked up where x is a whole number that the table reaches.
INLINE double xlogx(double x, In1<double> table) {
    if (x >= 0.0 && x < double(table.size())) {
        const i64 whole = i64(x);
        if (double(whole) == x) return table[whole];
    }
    return x > 0.0 ? x * std::log2(x) : 0.0;
}

// Sorted entries: class and weight, and x log₂ x of whole numbers.
struct Entries {
    In1<i64> codes;
    In1<double> weights, table;
};

// Some entries together: their weight, n·H in bits, and how many classes there are.
struct Described {
    double total = 0.0, bits = 0.0;
    i64 present = 0;
};

// Describe entries first … last − 1, with their class counts in `counts`.
Described describe(const Entries &entries, Out1<double> counts, i64 first, i64 last) {
    std::fill_n(counts.data, counts.size(), 0.0);
    Described found;
    for (i64 i = first; i < last; i++) {
        counts[entries.codes[i]] += entries.weights[i];
        found.total += entries.weights[i];
    }
    found.bits = xlogx(found.total, entries.table);
    for (i64 label = 0; label < counts.size(); label++) {
        found.bits -= xlogx(counts[label], entries.table);
        found.present += counts[label] > 0.0;
    }
    return found;
}

// First entry right of the cut that leaves the least entropy, or `first` where none leaves less.
// `right` holds the class counts of all; O(entries · k), with four look-ups an entry.
i64 lowest_cut(const Entries &entries, In1<i64> ends, Out2<double> scratch, i64 first, i64 last,
               const Described &all) {
    const i64 n_classes = scratch.shape(1);
    double *left = scratch.data, *right = left + n_classes, *terms = right + n_classes;
    for (i64 label = 0; label < n_classes; label++) {
        left[label] = 0.0;
        terms[label] = xlogx(right[label], entries.table);
    }
    double lowest = all.bits - TIE * all.total, passed = 0.0;
    i64 best = first;
    for (i64 i = first; i < last - 1; i++) {
        const i64 own = entries.codes[i];
        left[own] += entries.weights[i];
        right[own] -= entries.weights[i];
        passed += entries.weights[i];
        terms[own] = xlogx(left[own], entries.table) + xlogx(right[own], entries.table);
        if (ends[i] < 0) continue;
        double split = xlogx(passed, entries.table) + xlogx(all.total - passed, entries.table);
        for (i64 label = 0; label < n_classes; label++) split -= terms[label];
        if (split < lowest) {
            lowest = split - TIE * all.total;
            best = i + 1;
        }
    }
    return best;
}

// 3 to a whole power, by squaring.
double power_of_3(i64 exponent) {
    double power = 1.0, square = 3.0;
    for (; exponent > 0; exponent >>= 1, square *= square)
        if (exponent & 1) power *= square;
    return power;
}

// First entry right of the best cut of entries first … last − 1, or -1 if not worth it.
// `candidates` is the number of cuts to choose from, `scratch` is of shape (3, k).
i64 best_split(In1<i64> codes, In1<double> weights, In1<i64> ends, In1<double> table,
               Out2<double> scratch, i64 first, i64 last, double candidates) {
    require(0 <= first && first <= last && last <= codes.size() && last <= weights.size() &&
                last <= ends.size(),
            "best_split", "first and last lie beyond the entries");
    require(scratch.shape(0) == 3, "best_split", "scratch is not of shape (3, k)");
    require(all_within(codes.data + first, last - first, 0, scratch.shape(1)), "best_split",
            "a class is not there");
    const Entries entries{codes, weights, table};
    const Out1<double> left = scratch.at(0), right = scratch.at(1);
    const Described all = describe(entries, right, first, last);
    if (all.total < 2.0) return -1;
    const i64 best = lowest_cut(entries, ends, scratch, first, last, all);
    if (best == first) return -1;
    const Described below = describe(entries, left, first, best);
    const Described above = describe(entries, right, best, last);
    double spread = double(all.present) * all.bits / all.total;
    spread -= double(below.present) * below.bits / below.total +
              double(above.present) * above.bits / above.total;
    const double alphabet = double(all.present) * LOG2_3 +
                            std::log2(1.0 - 2.0 * (1.0 / power_of_3(all.present)));
    const double cost = std::log2(candidates) + alphabet - spread;
    return all.bits - below.bits - above.bits > cost ? best : -1;
}

// Class weights of all rows up to and including each of `rows`, into (m, k); O(n + m·k).
void count_up_to(In1<i64> classes, In1<double> weights, In1<i64> rows, Out2<double> counts) {
    require(weights.size() == classes.size() && counts.shape(0) == rows.size(), "count_up_to",
            "classes and weights, or rows and counts, differ in size");
    require(within(rows, 0, classes.size()), "count_up_to", "rows are not there");
    const u64 n_classes = u64(counts.shape(1));
    i64 start = 0;
    for (i64 j = 0; j < rows.size(); j++) {
        double *sums = counts.at(j).data;
        if (j > 0) std::copy_n(counts.at(j - 1).data, n_classes, sums);
        for (i64 row = start; row <= rows[j]; row++) {
            require(u64(classes[row]) < n_classes, "count_up_to", "a class is not there");
            sums[classes[row]] += weights[row];
        }
        start = rows[j] + 1;
    }
}

// Log marginal likelihood of the classes in bins that end at `places` of `upto` (m, k).
// Counts are taken times `share`; `prior` holds pseudo-counts of the classes; O(bins·k).
double log_evidence(In2<double> upto, In1<i64> places, In1<double> prior, double share) {
    require(upto.shape(1) == prior.size(), "log_evidence", "upto and prior differ in classes");
    require(within(places, 0, upto.shape(0)), "log_evidence", "places lie beyond upto");
    double mass = 0.0, score = 0.0;
    std::vector<double> alone;
    for (i64 label = 0; label < prior.size(); label++) {
        mass += prior[label];
        alone.push_back(log_gamma(prior[label]));
    }
    const double of_mass = log_gamma(mass);
    for (i64 j = 0; j < places.size(); j++) {
        double total = 0.0;
        for (i64 label = 0; label < prior.size(); label++) {
            double count = upto(places[j], label);
            if (j > 0) count -= upto(places[j - 1], label);
            if (count > 0.0 && prior[label] > 0.0) {
                total += share * count;
                score += log_gamma(share * count + prior[label]) - alone[label];
            }
        }
        score -= log_gamma(total + mass) - of_mass;
    }
    return score;
}

// Bins between cuts at places of ranks, the rows up to and including each value but the last.
struct Bins {
    const i64 *cuts;
    i64 number;
    In1<double> ranks;
    double total;

    i64 first(i64 piece) const { return piece > 0 ? cuts[piece - 1] + 1 : 0; }
    i64 last(i64 piece) const { return piece < number ? cuts[piece] : ranks.size(); }
    double before(i64 piece) const { return first(piece) > 0 ? ranks[first(piece) - 1] : 0.0; }
    double upto(i64 piece) const { return piece < number ? ranks[last(piece)] : total; }

    // The largest bin that holds two values or more, -1 where there is none, and its rows.
    std::pair<i64, double> largest() const {
        std::pair<i64, double> found{-1, 0.0};
        for (i64 piece = 0; piece <= number; piece++) {
            const double rows = upto(piece) - before(piece);
            if (last(piece) > first(piece) && rows > found.second) found = {piece, rows};
        }
        return found;
    }
    // The place in a bin that is nearest to its middle row.
    i64 middle(i64 piece, double rows) const {
        const double target = before(piece) + rows / 2;
        const i64 stop = last(piece);
        i64 found = first(piece);
        double nearest = std::fabs(ranks[found] - target);
        for (i64 place = found + 1; place < stop; place++) {
            const double distance = std::fabs(ranks[place] - target);
            if (distance < nearest) {
                nearest = distance;
                found = place;
            }
        }
        return found;
    }
};

// Cut the largest bin of at least `least` rows in half until there are `few` bins.
// `cuts` holds `number` places of `ranks`; returns how many it then holds. Of equals the first
// bin, and the lower half.
i64 halve(Out1<i64> cuts, i64 number, In1<double> ranks, double total, i64 few, i64 least) {
    require(0 <= number && number <= cuts.size() && few - 1 <= cuts.size(), "halve",
            "there is too little room for cuts");
    require(all_within(cuts.data, number, 0, ranks.size()), "halve", "cuts lie beyond the ranks");
    for (; number + 1 < few; number++) {
        const Bins bins{cuts.data, number, ranks, total};
        const auto [piece, rows] = bins.largest();
        if (piece < 0 || rows < double(least)) break;
        const i64 middle = bins.middle(piece, rows);
        std::copy_backward(cuts.data + piece, cuts.data + number, cuts.data + number + 1);
        cuts[piece] = middle;
    }
    return number;
}

}  // namespace

void bind_discretize(nb::module_ &room) {
    bind(room, "collapse", "Sum sorted rows, in place, to one entry per block and class.",
         collapse, "values", "codes", "weights", "ends", "latest");
    bind(room, "best_split", "First entry right of the best cut, or -1 if not worth it.",
         best_split, "codes", "weights", "ends", "table", "scratch", "first", "last",
         "candidates");
    bind(room, "count_up_to", "Class weights of all rows up to and including each of some.",
         count_up_to, "classes", "weights", "rows", "counts");
    bind(room, "log_evidence", "Log marginal likelihood of the classes in bins.", log_evidence,
         "upto", "places", "prior", "share");
    bind(room, "halve", "Cut the largest bin in half until there are a few bins.", halve, "cuts",
         "number", "ranks", "total", "few", "least");
}

}  // namespace unnaive
