// Intervals of posterior probabilities, from three cumulants of the log joint of every class.
#include "certainty.h"

#include <map>
#include <numeric>
#include <vector>

namespace unnaive {
namespace {

using namespace certainty;

constexpr double MATTERS = 9.0;    // e^−9 of the largest joint changes no bound that is shown
constexpr double MOST_TAME = 0.1;  // variance up to which a series is as good as nodes
constexpr double WIDE = 4.0;       // variance from which on more nodes are taken
constexpr double LEAST = -1e9;     // instead of the logarithm of 0

// Rows that are computed alike: their classes that matter, how many of them are narrow, and
// whether one is wide.
struct Kind {
    i64 matter = 0, narrow = 0;
    bool wide = false;

    i64 number(i64 n_classes) const {
        return (matter * (n_classes + 1) + narrow) * 2 + (wide ? 1 : 0);
    }
    static Kind of(i64 number, i64 n_classes) {
        return {number / 2 / (n_classes + 1), number / 2 % (n_classes + 1), number % 2 > 0};
    }
};

// Quantiles of P(c | x) = logistic(L_c − log Σ_{j≠c} e^{L_j}); cost n·k.
//
// The classes of a row are put in order: first those that can matter and have narrow variables,
// whose sums are series; then the wider ones, each by itself in sums of two by quadrature; then
// those whose joints are far below, which have the sum of all that matter for others.
struct Bounds {
    In3<double> cumulants;
    double reaches[3];
    Out3<double> out;
    i64 start, n_classes;
    std::vector<i64> order;  // of the classes of every row, from `start` on
    std::vector<Variables> classes, others, parts, before;
    std::vector<Terms> terms, until;
    std::vector<double> deviations;
    std::vector<i64> groups, spots;  // cells of `out` of rows that are loaded, by place
    double origin[LANES];
    bool near = false;  // whether powers of nodes are within reach

    Bounds(In3<double> cumulants, double reach, i64 start, i64 stop, Out3<double> out)
        : cumulants(cumulants), reaches{-reach, 0.0, reach}, out(out), start(start),
          n_classes(cumulants.shape(2)), order(std::size_t((stop - start) * n_classes)),
          classes(std::size_t(n_classes)), others(classes.size()), parts(classes.size() + 1),
          before(parts.size()), terms(classes.size()), until(classes.size()),
          deviations(classes.size()), groups(classes.size()), spots(classes.size() * LANES) {}

    // The variables of some rows, their classes in order; the last row fills what is left over.
    void load(const i64 *chosen, i64 rows) {
        for (i64 row = 0; row < LANES; row++) {
            const i64 at = chosen[std::min(row, rows - 1)];
            const double *given = &cumulants(at - start, 0, 0);
            const i64 *labels = &order[std::size_t((at - start) * n_classes)];
            for (i64 place = 0; place < n_classes; place++) {
                const i64 label = labels[place];
                classes[place].mean[row] = std::max(given[label], LEAST);
                classes[place].variance[row] = std::max(given[n_classes + label], 0.0);
                classes[place].third[row] = given[2 * n_classes + label];
                spots[place * LANES + row] = at * n_classes + label;
            }
        }
    }

    // Put the classes of a row in order: narrow, wider, far.
    Kind sort(i64 row) {
        const double *mean = &cumulants(row - start, 0, 0), *variance = mean + n_classes;
        const double *third = variance + n_classes;
        double limit = -INF;
        for (i64 label = 0; label < n_classes; label++) {
            deviations[label] = std::sqrt(variance[label]);
            limit = std::max(limit, mean[label] - 3.0 * deviations[label]);
        }
        i64 sizes[3] = {};
        bool wide = false;
        for (i64 label = 0; label < n_classes; label++) {
            const double own = variance[label];
            const bool far = !(mean[label] + 2.0 * deviations[label] >= limit - MATTERS);
            const bool tame = (own <= MOST_TAME) & (std::abs(third[label]) <= MOST_TAME * own);
            groups[label] = far ? 2 : i64(!tame);
            sizes[groups[label]]++;
            wide |= !far & (own > WIDE);
        }
        i64 next[3] = {0, sizes[0], sizes[0] + sizes[1]};
        i64 *labels = &order[std::size_t((row - start) * n_classes)];
        for (i64 label = 0; label < n_classes; label++) labels[next[groups[label]]++] = label;
        const i64 matter = sizes[0] + sizes[1];
        for (i64 other = 1; matter == 1 && other < n_classes; other++)
            if (mean[labels[other]] > mean[labels[1]])
                std::swap(labels[other], labels[1]);  // the nearest comes first
        return {matter, sizes[0], wide && matter > 1};
    }

    void find_origin(i64 matter) {
        std::copy_n(classes[0].mean, LANES, origin);
        for (i64 place = 1; place < matter; place++)
            for (i64 row = 0; row < LANES; row++)
                origin[row] = std::max(origin[row], classes[place].mean[row]);
    }

    // Sums of narrow variables: of all into parts[0], of all but one into `others`.
    void expand_each(i64 narrow) {
        const double *from = origin;
        for (i64 place = 0; place < narrow; place++)
            find_terms(static_cast<const Variables *>(&classes[place]), from, &terms[place]);
        until[0].clear();
        const auto add = [](const Terms &one, const Terms &other, Terms &into) {
            add_terms(&one, &other, &into);
        };
        for (i64 place = 1; place < narrow; place++)
            add(until[place - 1], terms[place - 1], until[place]);
        Terms after, both;
        after.clear();
        for (i64 place = narrow - 1; place >= 0; place--) {
            add(until[place], after, both);
            expand(static_cast<const Terms *>(&both), from, &others[place]);
            add(after, terms[place], after);
        }
        expand(static_cast<const Terms *>(&after), from, &parts[0]);
    }

    // The sum of two variables, with L and R nodes.
    template <int L, int R>
    void add(const Variables &one, const Variables &other, Variables &into) {
        const std::integral_constant<int, L> left;
        const std::integral_constant<int, R> right;
        if (near)
            log_sums(left, right, &one, &other, static_cast<const double *>(origin), &into);
        else
            far_log_sums(left, right, &one, &other, &into);
    }

    // Get a variable ready for sums, with N nodes.
    template <int N> void ready(Variables &one) {
        const std::integral_constant<int, N> nodes;
        shape(&one);
        if (near) raise(nodes, &one, static_cast<const double *>(origin));
    }

    // The sum of parts 0 … place; the first part has F nodes, all other sums and parts have N.
    template <int F, int N> void add_part(i64 place) {
        if (place == 1)
            add<F, N>(before[0], parts[1], before[1]);
        else
            add<N, N>(before[place - 1], parts[place], before[place]);
    }

    // Add part by part, from both ends, so that every part but the first is left out once; the sum
    // of all but the first into `after`, of all into `before`, if it is asked for.
    template <int F, int N> void leave_each_out(i64 last, bool all, Variables *rest, Variables &after) {
        ready<F>(parts[0]);
        for (i64 place = 1; place <= last; place++) ready<N>(parts[place]);
        before[0] = parts[0];
        for (i64 place = 1; place < last; place++) {
            add_part<F, N>(place);
            ready<N>(before[place]);
        }
        if (all) add_part<F, N>(last);
        rest[last - 1] = before[last - 1];
        after = parts[last];
        for (i64 place = last - 1; place > 0; place--) {
            if (place == 1)
                add<F, N>(before[0], after, rest[0]);
            else
                add<N, N>(before[place - 1], after, rest[place - 1]);
            add<N, N>(after, parts[place], after);
            ready<N>(after);
        }
    }

    // Of every class the sum of the others that matter, N nodes for the wider ones.
    template <int N> const Variables *find_others(const Kind &kind) {
        const i64 narrow = kind.narrow, wider = kind.matter - narrow;
        if (kind.matter == 1) {
            others[0] = classes[1];
            return &classes[0];
        }
        find_origin(kind.matter);
        if (narrow > 1) expand_each(narrow);
        if (wider == 0) return &parts[0];
        const i64 first = narrow > 0 ? narrow : 1;  // of the classes that are parts of their own
        const i64 last = kind.matter - first;
        if (narrow <= 1) parts[0] = classes[0];
        for (i64 part = 1; part <= last; part++) parts[part] = classes[first + part - 1];
        near = true;
        for (i64 part = 0; part <= last; part++)
            for (i64 row = 0; row < LANES; row++) near &= parts[part].variance[row] < DISTANT;
        Variables after;
        const bool all = kind.matter < n_classes;
        if (narrow > 0)
            leave_each_out<3, N>(last, all, &others[first], after);
        else
            leave_each_out<N, N>(last, all, &others[first], after);
        if (narrow <= 1) others[0] = after;
        for (i64 place = 0; narrow > 1 && place < narrow; place++) {
            ready<3>(others[place]);
            add<3, N>(others[place], after, others[place]);
        }
        return &before[last];
    }

    // Bounds of some rows of one kind.
    void fill(const i64 *chosen, i64 rows, const Kind &kind) {
        load(chosen, rows);
        const Variables *all = kind.wide ? find_others<5>(kind) : find_others<3>(kind);
        for (i64 place = 0; place < n_classes; place++)
            bound(place, place < kind.matter ? others[place] : *all, rows);
    }

    // The same for two classes, of which each is the other's other.
    void fill_two() {
        i64 chosen[LANES];
        for (std::size_t place = 0; place < order.size(); place++) order[place] = i64(place % 2);
        for (i64 low = start; low < stop(); low += LANES) {
            const i64 rows = std::min(LANES, stop() - low);
            std::iota(chosen, chosen + rows, low);
            load(chosen, rows);
            for (i64 place = 0; place < 2; place++) bound(place, classes[1 - place], rows);
        }
    }

    i64 stop() const { return start + i64(order.size()) / n_classes; }

    // Bounds of the class at a place in some rows, beside the sum of the others.
    void bound(i64 place, const Variables &rest, i64 rows) {
        double bounds[3][LANES];
        find_bounds(static_cast<const Variables *>(&classes[place]), &rest,
                    static_cast<const double *>(reaches), bounds);
        const i64 plane = out.shape(1) * n_classes, *own = &spots[std::size_t(place * LANES)];
        for (i64 row = 0; row < rows; row++)
            for (i64 end = 0; end < 3; end++) out.data[end * plane + own[row]] = bounds[end][row];
    }
};

// `cumulants` (stop − start, 3, k) are means, variances and third cumulants of the independent log
// joints L of rows start … stop; `reach` is the normal quantile of the upper end; out is lower,
// median and upper (3, n, k).
void quantiles(In3<double> cumulants, double reach, i64 start, i64 stop, Out3<double> out) {
    const char *kernel = "quantiles";
    const i64 n_classes = cumulants.shape(2);
    require(cumulants.shape(1) == 3 && out.shape(0) == 3 && out.shape(2) == n_classes, kernel,
            "cumulants and out differ in shape");
    require(0 <= start && start <= stop && stop <= out.shape(1) &&
                cumulants.shape(0) == stop - start,
            kernel, "rows beyond the last");
    if (n_classes <= 1) {
        for (i64 bound = 0; bound < 3 && n_classes; bound++)
            std::fill(&out(bound, 0, 0) + start, &out(bound, 0, 0) + stop, 1.0);
        return;
    }
    Bounds bounds(cumulants, reach, start, stop, out);
    if (n_classes == 2) return bounds.fill_two();
    std::map<i64, std::vector<i64>> alike;  // of the kinds that occur
    for (i64 row = start; row < stop; row++)
        alike[bounds.sort(row).number(n_classes)].push_back(row);
    for (const auto &[kind, rows] : alike)
        for (std::size_t low = 0; low < rows.size(); low += LANES)
            bounds.fill(&rows[low], std::min<i64>(LANES, i64(rows.size() - low)),
                        Kind::of(kind, n_classes));
}

// ------------------------------------------------------------------ points

// Log joints of a class at points of the standard normal distribution, and the largest so far.
INLINE void place_loop(const double *cumulants, i64 n_classes, const double *RESTRICT points,
                       i64 n_points, double *RESTRICT joint, double *RESTRICT top) {
    const double mean = std::max(cumulants[0], LEAST);
    const double variance = std::max(cumulants[n_classes], 0.0);
    const double inverse = inverse_root(std::max(variance, NARROW));
    const double lean = lean_of(cumulants[2 * n_classes], inverse);
    for (i64 point = 0; point < n_points; point++) {
        joint[point] = quantile(mean, variance * inverse, lean, points[point]);
        top[point] = std::max(top[point], joint[point]);
    }
}
LEVELS(place)

INLINE void raise_points_loop(const double *RESTRICT top, i64 n_points, double *RESTRICT joint,
                              double *RESTRICT total) {
    for (i64 point = 0; point < n_points; point++) {
        joint[point] = power(std::max(joint[point] - top[point], -700.0));
        total[point] += joint[point];
    }
}
LEVELS(raise_points)

INLINE void divide_loop(const double *RESTRICT total, i64 n_points, double *RESTRICT chance) {
    for (i64 point = 0; point < n_points; point++) chance[point] /= total[point];
}
LEVELS(divide)

// Quantile of values, each of which stands for as much of the distribution; they change places.
double quantile_of(double *values, i64 size, double share) {
    const double place = std::clamp(share * double(size) - 0.5, 0.0, double(size - 1));
    const i64 below = i64(place);
    std::nth_element(values, values + below, values + size);
    if (below + 1 == size) return values[below];
    const double above = *std::min_element(values + below + 1, values + size);
    return values[below] + (place - double(below)) * (above - values[below]);
}

// Quantiles of P(c | x) of rows of `out` at points (k, m) of independent normal variables, one for each
// class, for log joints of any variance; cost m·k a row.
void point_quantiles(In3<double> cumulants, In2<double> points, double level, In1<i64> rows,
                     Out3<double> out) {
    const char *kernel = "point_quantiles";
    const i64 n_classes = cumulants.shape(2), n_points = points.shape(1);
    require(cumulants.shape(1) == 3 && out.shape(0) == 3 && rows.size() == cumulants.shape(0) &&
                out.shape(2) == n_classes && points.shape(0) == n_classes && n_points > 0,
            kernel, "cumulants, points and out differ in shape");
    require(within(rows, 0, out.shape(1)), kernel, "rows beyond the last");
    const double shares[3] = {(1.0 - level) / 2.0, 0.5, (1.0 + level) / 2.0};
    Room<double, 2> chances(n_classes, n_points);
    std::vector<double> top(n_points), total(n_points);
    for (i64 index = 0; index < rows.size(); index++) {
        const i64 row = rows[index];
        std::fill(top.begin(), top.end(), -INF);
        std::fill(total.begin(), total.end(), 0.0);
        for (i64 label = 0; label < n_classes; label++)
            place(&cumulants(index, 0, label), n_classes, &points(label, 0), n_points,
                  &chances(label, 0), top.data());
        for (i64 label = 0; label < n_classes; label++)
            raise_points(static_cast<const double *>(top.data()), n_points, &chances(label, 0),
                         total.data());
        for (i64 label = 0; label < n_classes; label++) {
            double *chance = &chances(label, 0);
            divide(static_cast<const double *>(total.data()), n_points, chance);
            for (int bound = 0; bound < 3; bound++)
                out(bound, row, label) = quantile_of(chance, n_points, shares[bound]);
        }
    }
}

}  // namespace

void bind_certainty(nb::module_ &room) {
    bind(room, "quantiles", "Quantiles of posteriors by cumulants of their log joints.", quantiles,
         "cumulants", "reach", "start", "stop", "out");
    bind(room, "point_quantiles", "Quantiles of posteriors of some rows at points of their joints.",
         point_quantiles, "cumulants", "points", "level", "rows", "out");
}

}  // namespace unnaive
