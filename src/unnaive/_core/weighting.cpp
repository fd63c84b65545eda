// Weighted products: sums of terms, and how the conditional likelihood curves.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <vector>

#include "curves.h"
#include "levels.h"
#include "steps.h"

namespace unnaive {
namespace {

constexpr i64 ROWS_A_BLOCK = 2048;
constexpr i64 ROWS_SUMMED = 512;  // their places stay in the cache from class to class
constexpr int LANES = 8;        // partial sums of a sum over rows
constexpr double LEAST = 1e-30;  // numbers below the normal ones would be slow

// Partial sums in a fixed order: the same bits on every processor.
INLINE double added(const double *lanes) {
    return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) +
           ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}

// ------------------------------------------------------------------ entries of tables

template <class Code>
INLINE void place_alone_loop(const Code *RESTRICT line, i64 n_rows, u64 first,
                             i64 *RESTRICT places) {
    for (i64 row = 0; row < n_rows; row++) places[row] = i64(first + line[row]);
}
LEVELS(place_alone)

template <class Code>
INLINE void place_pair_loop(const Code *RESTRICT line, const Code *RESTRICT parent, i64 n_rows,
                            u64 slots, u64 first, i64 *RESTRICT places) {
    for (i64 row = 0; row < n_rows; row++)
        places[row] = i64(first + line[row] + u64(parent[row]) * slots);
}
LEVELS(place_pair)

template <class Code>
INLINE void place_further_loop(const Code *RESTRICT parent, i64 n_rows, u64 stride,
                               i64 *RESTRICT places) {
    for (i64 row = 0; row < n_rows; row++)
        places[row] = i64(u64(places[row]) + u64(parent[row]) * stride);
}
LEVELS(place_further)

// Cell of every term's table for rows start … stop, into places (m, rows); cost n·m·w.
// `terms` (m, 2·w + 1): column and parents (−1: none further), stride of each, start of the table.
template <class Code>
void place_terms(In2<Code> codes, In2<i64> terms, i64 start, i64 stop, Out2<i64> places) {
    const char *kernel = "place_terms";
    require(0 <= start && start <= stop && stop <= codes.shape(1), kernel,
            "start and stop lie beyond the rows");
    const i64 width = terms.shape(1) / 2;
    require(terms.shape(1) == 2 * width + 1 && width >= 2 && places.shape(0) == terms.shape(0) &&
                places.shape(1) == stop - start,
            kernel, "terms and places differ in shape");
    const i64 n_columns = codes.shape(0), n_rows = stop - start;
    for (i64 term = 0; term < terms.shape(0); term++) {
        const u64 first = u64(terms(term, 2 * width));
        require(terms(term, 0) >= 0, kernel, "terms name columns that are not there");
        for (i64 place = 0; place < width; place++)
            require(terms(term, place) < n_columns, kernel,
                    "terms name columns that are not there");
        const Code *line = codes.at(terms(term, 0)).data + start;
        i64 *out = places.at(term).data;
        if (terms(term, 1) < 0) {
            place_alone(line, n_rows, first, out);
            continue;
        }
        place_pair(line, codes.at(terms(term, 1)).data + start, n_rows,
                   u64(terms(term, width + 1)), first, out);
        for (i64 place = 2; place < width && terms(term, place) >= 0; place++)
            place_further(codes.at(terms(term, place)).data + start, n_rows,
                          u64(terms(term, width + place)), out);
    }
}

INLINE void largest_place_loop(const i64 *places, i64 size, u64 *most) {
    u64 found = 0;  // what is negative is large
    for (i64 i = 0; i < size; i++) found = u64(places[i]) > found ? u64(places[i]) : found;
    *most = found;
}
LEVELS(largest_place)

// Places lie in the tables, and own classes have a second set of them; whether there are any.
bool check_places(const char *kernel, In2<i64> places, In2<double> tables, In1<i64> held,
                  i64 n_classes) {
    require(held.size() == places.shape(1), kernel, "places and held differ in rows");
    i64 most = -1;
    for (i64 row = 0; row < held.size(); row++) most = std::max(most, held[row]);
    require(most < n_classes, kernel, "held lies beyond the classes");
    require(tables.shape(0) >= (most < 0 ? n_classes : 2 * n_classes), kernel,
            "there are too few tables");
    u64 place = 0;
    largest_place(places.data, places.size(), &place);
    require(places.size() == 0 || place < u64(tables.shape(1)), kernel,
            "places lie beyond the tables");
    return most >= 0;
}

INLINE void gather_loop(const i64 *RESTRICT places, const double *RESTRICT line, i64 n_rows,
                        float *RESTRICT out) {
    for (i64 row = 0; row < n_rows; row++) out[row] = float(line[places[row]]);
}
LEVELS(gather)

// Entries of all terms for classes and some rows into out (m, k, n) from row `start` on; n·m·k.
// `held` is a row's own class, whose entries come from the second set of tables, or −1.
void gather_terms(In2<i64> places, In2<double> tables, In1<i64> held, i64 start,
                  Out3<float> out) {
    const i64 n_classes = out.shape(1), n_rows = places.shape(1);
    require(out.shape(0) == places.shape(0) && start >= 0 && start <= out.shape(2) &&
                n_rows <= out.shape(2) - start,
            "gather_terms", "places do not fit into out");
    const bool any = check_places("gather_terms", places, tables, held, n_classes);
    for (i64 term = 0; term < places.shape(0); term++) {
        const i64 *line = places.at(term).data;
        for (i64 label = 0; label < n_classes; label++)
            gather(line, tables.at(label).data, n_rows, out.at(term).at(label).data + start);
        if (!any) continue;
        for (i64 row = 0; row < n_rows; row++)
            if (held[row] >= 0)
                out(term, held[row], start + row) = float(tables(n_classes + held[row], line[row]));
    }
}

// Add one class's entries of all terms to some rows' sums; what is held is `beyond` further on.
INLINE void sum_class_loop(In2<i64> places, i64 start, const double *RESTRICT cells,
                           const i64 *RESTRICT beyond, i64 n_rows, double *RESTRICT sums) {
    for (i64 term = 0; term < places.shape(0); term++) {
        const i64 *RESTRICT line = places.data + term * places.shape(1) + start;
        for (i64 row = 0; row < n_rows; row++) sums[row] += cells[line[row] + beyond[row]];
    }
}
LEVELS(sum_class)

// Add the entries of all terms to the log joint out (n, k); cost n·m·k.
void sum_terms(In2<i64> places, In2<double> tables, In1<i64> held, Out2<double> out) {
    const i64 n_classes = out.shape(1), second = n_classes * tables.shape(1);
    require(out.shape(0) == places.shape(1), "sum_terms", "places and out differ in rows");
    check_places("sum_terms", places, tables, held, n_classes);
    i64 beyond[ROWS_SUMMED];
    double sums[ROWS_SUMMED];
    for (i64 start = 0; start < out.shape(0); start += ROWS_SUMMED) {
        const i64 n_rows = std::min(ROWS_SUMMED, out.shape(0) - start);
        for (i64 label = 0; label < n_classes; label++) {
            for (i64 row = 0; row < n_rows; row++) {
                beyond[row] = held[start + row] == label ? second : 0;
                sums[row] = out(start + row, label);
            }
            sum_class(places, start, tables.at(label).data, &beyond[0], n_rows, &sums[0]);
            for (i64 row = 0; row < n_rows; row++) out(start + row, label) = sums[row];
        }
    }
}

// ------------------------------------------------------------------ loss and its derivatives

INLINE void add_weighted_loop(const float *RESTRICT line, double weight, i64 n_rows,
                              double *RESTRICT joint) {
    for (i64 row = 0; row < n_rows; row++) joint[row] += weight * double(line[row]);
}
LEVELS(add_weighted)

// Entries (m, k, n), the rows of them that are looked at, and their weights.
struct Part {
    In3<float> entries;
    In1<double> weights;
    i64 start, stop;

    i64 n_rows() const { return stop - start; }
    const float *line(i64 term) const { return entries.at(term).data + start; }
};

void check_part(const char *kernel, const Part &part, i64 n_classes) {
    require(0 <= part.start && part.start <= part.stop && part.stop <= part.entries.shape(2),
            kernel, "start and stop lie beyond the rows");
    require(part.weights.size() == part.entries.shape(0) && part.entries.shape(1) == n_classes,
            kernel, "entries and weights, or classes, differ in shape");
}

// Add the weighted entries to the joint (k, rows), a block of rows at a time; n·m·k.
void add_entries(const Part &part, double *joint) {
    const i64 n_classes = part.entries.shape(1), n_rows = part.n_rows();
    for (i64 first = 0; first < n_rows; first += ROWS_A_BLOCK) {
        const i64 size = std::min(ROWS_A_BLOCK, n_rows - first);
        for (i64 term = 0; term < part.weights.size(); term++)
            for (i64 label = 0; label < n_classes && part.weights[term] != 0.0; label++)
                add_weighted(part.line(term) + label * part.entries.shape(2) + first,
                             part.weights[term], size, joint + label * n_rows + first);
    }
}

// Add the weighted entries (m, k, n) of rows start … stop to their joint (k, rows).
void weighted_joint(In3<float> entries, In1<double> weights, i64 start, i64 stop,
                    Out2<double> joint) {
    const Part part{entries, weights, start, stop};
    check_part("weighted_joint", part, joint.shape(0));
    require(joint.shape(1) == part.n_rows(), "weighted_joint", "joint has other rows");
    add_entries(part, joint.data);
}

// Rows' own classes and weights, checked.
struct Truth {
    const i64 *own;
    const double *weight;
};

Truth truth_of(const char *kernel, const Part &part, In1<double> prior, In1<i64> classes,
               In1<double> importance) {
    check_part(kernel, part, prior.size());
    require(prior.size() >= 1 && classes.size() == part.entries.shape(2) &&
                importance.size() == classes.size(),
            kernel, "entries, prior, classes and importance differ in shape");
    require(all_within(classes.data + part.start, part.n_rows(), 0, prior.size()), kernel,
            "a class is not there");
    return {classes.data + part.start, importance.data + part.start};
}

// Log joint of the rows, prior_c + Σ w_t entry_t(c); shape (k, rows).
void fill_joint(const Part &part, In1<double> prior, Out2<double> joint) {
    for (i64 label = 0; label < prior.size(); label++)
        std::fill_n(joint.at(label).data, part.n_rows(), prior[label]);
    add_entries(part, joint.data);
}

INLINE void peaks_loop(const double *RESTRICT joint, i64 n_classes, i64 n_rows,
                       double *RESTRICT peak) {
    for (i64 row = 0; row < n_rows; row++) peak[row] = joint[row];
    for (i64 label = 1; label < n_classes; label++)
        for (i64 row = 0; row < n_rows; row++) {
            const double here = joint[label * n_rows + row];
            peak[row] = here > peak[row] ? here : peak[row];
        }
}
LEVELS(peaks)

INLINE void divide_loop(const double *RESTRICT total, i64 n_rows, double *RESTRICT line) {
    for (i64 row = 0; row < n_rows; row++) line[row] /= total[row];
}
LEVELS(divide)

// Make posteriors of log joints (k, rows), in place, and return the rows' log loss.
double posterior_loss(Out2<double> joint, Truth truth) {
    const i64 n_classes = joint.shape(0), n_rows = joint.shape(1);
    Room<double, 1> peak(n_rows), total(n_rows), right(n_rows);
    peaks(joint.data, n_classes, n_rows, peak.data);
    for (i64 row = 0; row < n_rows; row++) right[row] = joint(truth.own[row], row) - peak[row];
    for (i64 label = 0; label < n_classes; label++) {
        double *line = joint.at(label).data;
        for (i64 row = 0; row < n_rows; row++) {
            line[row] = std::exp(line[row] - peak[row]);
            total[row] += line[row];
        }
    }
    double lanes[LANES] = {};
    for (i64 row = 0; row < n_rows; row++)
        lanes[row % LANES] += truth.weight[row] * (std::log(total[row]) - right[row]);
    for (i64 label = 0; label < n_classes; label++)
        divide(total.data, n_rows, joint.at(label).data);
    return added(lanes);
}

// Log loss of rows start … stop, whose log joint is prior_c + Σ w_t entry_t(c).
double loss_rows(In3<float> entries, In1<double> weights, In1<double> prior, In1<i64> classes,
                 In1<double> importance, i64 start, i64 stop) {
    const Part part{entries, weights, start, stop};
    const Truth truth = truth_of("loss_rows", part, prior, classes, importance);
    Room<double, 2> joint(prior.size(), part.n_rows());
    fill_joint(part, prior, joint);
    return posterior_loss(joint, truth);
}

// Share of a class among itself and later ones, and the root of what it adds to variances.
INLINE void spread_class_loop(const double *RESTRICT posterior, const double *RESTRICT weight,
                              i64 n_rows, double *RESTRICT later, double *RESTRICT share,
                              float *RESTRICT size) {
    for (i64 row = 0; row < n_rows; row++) {
        const double chance = posterior[row], both = chance + later[row];
        const double variance = chance * later[row];
        const double normal = variance > LEAST ? variance : 0.0;
        const float root = float(std::sqrt(weight[row] * normal / both));
        const double part = (chance > LEAST ? chance : 0.0) / both;
        size[row] = variance > LEAST ? root : 0.0f;
        share[row] = chance > LEAST ? part : 0.0;
        later[row] += chance;
    }
}
LEVELS(spread_class)

// Spread of one term's entries (k, rows) into out (k − 1, rows), and its derivative.
// Lines of `line` are `step` numbers apart.
INLINE void spread_term_loop(const float *RESTRICT line, i64 step, Out2<double> share,
                             const float *RESTRICT size, Truth truth, double *RESTRICT mean,
                             float *RESTRICT out, double *total) {
    const i64 n_classes = share.shape(0), n_rows = share.shape(1);
    for (i64 row = 0; row < n_rows; row++) mean[row] = double(line[(n_classes - 1) * step + row]);
    for (i64 label = n_classes - 2; label >= 0; label--) {
        const double *RESTRICT part = share.data + label * n_rows;
        for (i64 row = 0; row < n_rows; row++) {
            const double gap = double(line[label * step + row]) - mean[row];
            out[label * n_rows + row] = float(double(size[label * n_rows + row]) * gap);
            mean[row] += part[row] * gap;
        }
    }
    double lanes[LANES] = {};
    for (i64 first = 0; first < n_rows; first += LANES) {
        const i64 some = n_rows - first < LANES ? n_rows - first : LANES;
        for (i64 lane = 0; lane < some; lane++) {
            const i64 row = first + lane;
            const double gap = mean[row] - double(line[truth.own[row] * step + row]);
            lanes[lane] += truth.weight[row] * gap;
        }
    }
    *total = added(lanes);
}
LEVELS(spread_term)

// Log loss of a part; its derivatives are added to `gradient` (m + k,), see `curve_rows`.
double curve_part(const Part &part, In1<double> prior, Truth truth, In1<i64> places,
                  Out1<double> gradient, Out3<float> spread) {
    const i64 n_terms = part.weights.size(), n_classes = prior.size(), n_rows = part.n_rows();
    const i64 step = part.entries.shape(2);
    Room<double, 2> joint(n_classes, n_rows), share(n_classes, n_rows);
    Room<float, 2> size(n_classes, n_rows), line(n_classes, n_rows);
    Room<double, 1> mean(n_rows);
    fill_joint(part, prior, joint);
    const double loss = posterior_loss(joint, truth);
    double *later = mean.data;  // not needed yet
    std::copy_n(joint.at(n_classes - 1).data, n_rows, later);
    for (i64 label = n_classes - 2; label >= 0; label--)
        spread_class(joint.at(label).data, truth.weight, n_rows, later, share.at(label).data,
                     size.at(label).data);
    const Out2<double> shares = share;
    double slope = 0.0;
    for (i64 term = 0; term < n_terms; term++) {
        spread_term(part.line(term), step, shares, size.data, truth, mean.data,
                    spread.at(places[term]).data, &slope);
        gradient[term] += slope;
    }
    for (i64 label = 0; label < n_classes; label++) {
        std::fill_n(line.at(label).data, n_rows, 1.0f);
        spread_term(line.data, n_rows, shares, size.data, truth, mean.data,
                    spread.at(places[n_terms + label]).data, &slope);
        gradient[n_terms + label] += slope;
        std::fill_n(line.at(label).data, n_rows, 0.0f);
    }
    return loss;
}

// Log loss of rows start … stop; its derivatives are added to `gradient` (m + k,).
//
// The last k derivatives are the prior's. The second derivatives are the inner products of the
// lines of `spread` (lines, k − 1, rows): what is left of the entries' variance over classes,
// class by class. `places` (m + k,) are the lines; what has the last one is not wanted.
double curve_rows(In3<float> entries, In1<double> weights, In1<double> prior, In1<i64> classes,
                  In1<double> importance, i64 start, i64 stop, In1<i64> places,
                  Out1<double> gradient, Out3<float> spread) {
    const char *kernel = "curve_rows";
    const Part part{entries, weights, start, stop};
    const Truth truth = truth_of(kernel, part, prior, classes, importance);
    const i64 n_terms = weights.size(), n_classes = prior.size();
    require(places.size() == n_terms + n_classes && gradient.size() == n_terms + n_classes &&
                spread.shape(1) == n_classes - 1 && spread.shape(2) == part.n_rows(),
            kernel, "places, gradient and spread differ in shape");
    require(within(places, 0, spread.shape(0)), kernel, "places lie beyond the spread");
    return curve_part(part, prior, truth, places, gradient, spread);
}

using Rows = std::tuple<In1<i64>, In1<double>>;  // classes and weights

// `curve_rows` of all blocks of rows, between `bounds` (b + 1,): into `losses` (b,), `gradients`
// (b, m + k), and `spread`, in which the lines (lines, k − 1, rows) of each block follow those of
// the one before.
void curve_blocks(In3<float> entries, In1<double> weights, In1<double> prior, Rows rows,
                  In1<i64> bounds, In1<i64> places, Out1<double> losses, Out2<double> gradients,
                  Out1<float> spread) {
    const char *kernel = "curve_blocks";
    const auto &[classes, importance] = rows;
    const i64 n_terms = weights.size(), n_classes = prior.size(), n_rows = entries.shape(2);
    const i64 n_blocks = losses.size();
    require(bounds.size() == n_blocks + 1 && all_offsets(bounds.data, bounds.size(), n_rows) &&
                gradients.shape(0) == n_blocks,
            kernel, "bounds, losses and gradients differ in blocks, or lie beyond the rows");
    const Truth every =
        truth_of(kernel, Part{entries, weights, 0, n_rows}, prior, classes, importance);
    require(places.size() == n_terms + n_classes && gradients.shape(1) == n_terms + n_classes,
            kernel, "places and gradients differ in shape");
    const i64 step = (n_classes - 1) * (bounds[n_blocks] - bounds[0]);  // numbers of a line
    const i64 n_lines = step > 0 ? spread.size() / step : 1 + n_terms + n_classes;
    require(step == 0 || spread.size() == n_lines * step, kernel, "the spread has broken lines");
    require(within(places, 0, n_lines), kernel, "places lie beyond the spread");
    std::fill_n(gradients.data, gradients.size(), 0.0);
    float *next = spread.data;
    for (i64 block = 0; block < n_blocks; block++) {
        const i64 start = bounds[block], size = bounds[block + 1] - start;
        const Truth truth{every.own + start, every.weight + start};
        const Out3<float> lines{next, {n_lines, n_classes - 1, size}};
        losses[block] = curve_part(Part{entries, weights, start, start + size}, prior, truth,
                                   places, gradients.at(block), lines);
        next += n_lines * (n_classes - 1) * size;
    }
}

template <class Code> void bind_codes(nb::module_ &room) {
    bind(room, "place_terms", "Cell of every term's table for rows start … stop.",
         place_terms<Code>, "codes", "terms", "start", "stop", "places");
}

Truth truth_from(const WeighedRows &rows, i64 start) {
    return {rows.classes.data + start, rows.importance.data + start};
}

}  // namespace

void joint_of(const WeighedRows &rows, const Weights &weights, i64 start, i64 stop,
              Out2<double> joint) {
    fill_joint(Part{rows.entries, weights.terms, start, stop}, weights.prior, joint);
}

double loss_of(const WeighedRows &rows, const Weights &weights, i64 start, i64 stop) {
    Room<double, 2> joint(weights.prior.size(), stop - start);
    joint_of(rows, weights, start, stop, joint);
    return posterior_loss(joint, truth_from(rows, start));
}

double curve_of(const WeighedRows &rows, const Weights &weights, i64 start, i64 stop,
                In1<i64> places, Out1<double> gradient, Out3<float> spread) {
    const Part part{rows.entries, weights.terms, start, stop};
    return curve_part(part, weights.prior, truth_from(rows, start), places, gradient, spread);
}

void bind_weighting(nb::module_ &room) {
    for_codes([&](auto code) { bind_codes<decltype(code)>(room); });
    bind(room, "gather_terms", "Entries of all terms for classes and some rows.", gather_terms,
         "places", "tables", "held", "start", "out");
    bind(room, "sum_terms", "Add the entries of all terms to the log joint.", sum_terms, "places",
         "tables", "held", "out");
    bind(room, "weighted_joint", "Add the weighted entries of some rows to their joint.",
         weighted_joint, "entries", "weights", "start", "stop", "joint");
    bind(room, "loss_rows", "Log loss of some rows.", loss_rows, "entries", "weights", "prior",
         "classes", "importance", "start", "stop");
    bind(room, "curve_rows", "Log loss of some rows, and its derivatives.", curve_rows, "entries",
         "weights", "prior", "classes", "importance", "start", "stop", "places", "gradient",
         "spread");
    bind(room, "curve_blocks", "Log loss of all blocks of rows, and its derivatives.", curve_blocks,
         "entries", "weights", "prior", "rows", "bounds", "places", "losses", "gradients", "spread");
    bind_steps(room);
    bind_newton(room);
}

}  // namespace unnaive
