// Weights of terms that maximise the conditional likelihood, of so few rows and terms that the
// derivatives stay in the cache: all steps of Newton's method in one call.
#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

#include "curves.h"
#include "levels.h"
#include "steps.h"

namespace unnaive {
namespace {

constexpr int LANES = 8;  // partial sums of an inner product
constexpr i64 SIDE = 4;   // inner products that are computed side by side

using Numbers = std::vector<double>;
using Rows = std::tuple<In1<i64>, In1<double>>;  // classes and weights
using Limits = std::tuple<double, i64, i64, i64>;  // enough, and most steps, halvings and sweeps

In1<double> viewed(const Numbers &numbers) { return {numbers.data(), {i64(numbers.size())}}; }

Out1<double> filled(Numbers &numbers) { return {numbers.data(), {i64(numbers.size())}}; }

// Add the inner products of a line with some others to `out`, in a fixed order of the terms.
template <i64 NUMBER>
INLINE void add_inner(const float *RESTRICT own, const float *RESTRICT others, i64 length,
                      double *RESTRICT out) {
    double lanes[NUMBER][LANES] = {};
    const i64 whole = length - length % LANES;
    for (i64 first = 0; first < whole; first += LANES)
        for (i64 line = 0; line < NUMBER; line++)
            for (int lane = 0; lane < LANES; lane++)
                lanes[line][lane] += double(own[first + lane]) *
                                     double(others[line * length + first + lane]);
    for (i64 place = whole; place < length; place++)
        for (i64 line = 0; line < NUMBER; line++)
            lanes[line][place - whole] += double(own[place]) * double(others[line * length + place]);
    for (i64 line = 0; line < NUMBER; line++) {
        const double *sum = lanes[line];
        out[line] += ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
    }
}

// Add the inner products of all lines (width, length) to the lower triangle of `out`.
INLINE void add_products_loop(const float *RESTRICT lines, i64 width, i64 length,
                              double *RESTRICT out) {
    for (i64 line = 0; line < width; line++) {
        const float *own = lines + line * length;
        i64 other = 0;
        for (; other + SIDE <= line + 1; other += SIDE)
            add_inner<SIDE>(own, lines + other * length, length, out + line * width + other);
        for (; other <= line; other++)
            add_inner<1>(own, lines + other * length, length, out + line * width + other);
    }
}
LEVELS(add_products)

// Log loss, its gradient (m + k,), and second derivatives of chosen coordinates.
struct Curve {
    double loss = 0.0;
    Numbers gradient, curvature;
};

// A point, the coordinates that are expanded there, and the curve.
struct Place {
    Numbers point;
    std::vector<i64> chosen;
    Curve curve;
};

struct Problem {
    WeighedRows rows;
    In1<double> prior, penalties;
    In1<i64> bounds;
    Limits limits;

    i64 n_terms() const { return rows.entries.shape(0); }
    i64 n_blocks() const { return bounds.size() - 1; }
    i64 size() const { return penalties.size(); }
    double least(i64 place) const { return place < n_terms() ? 0.0 : -INF; }

    std::vector<i64> every() const {
        std::vector<i64> all(size());
        for (i64 place = 0; place < size(); place++) all[place] = place;
        return all;
    }

    Numbers biased(const Numbers &point) const {
        Numbers sums(prior.data, prior.data + prior.size());
        for (i64 label = 0; label < i64(sums.size()); label++) sums[label] += point[n_terms() + label];
        return sums;
    }

    double penalty(const Numbers &point) const {
        double total = 0.0;
        for (i64 place = 0; place < size(); place++)
            total += penalties[place] * point[place] * point[place];
        return total / 2;
    }

    Numbers within(const Numbers &point, const Numbers &step, double share) const {
        Numbers moved(point);
        for (i64 place = 0; place < size(); place++)
            moved[place] = std::max(point[place] + step[place] * share, least(place));
        return moved;
    }

    double loss(const Numbers &point) const {
        const Numbers biases = biased(point);
        const Weights weights{{point.data(), {n_terms()}}, viewed(biases)};
        double total = 0.0;
        for (i64 block = 0; block < n_blocks(); block++)
            total += loss_of(rows, weights, bounds[block], bounds[block + 1]);
        return total + penalty(point);
    }

    // The penalty's loss and derivatives, to which those of rows are added.
    Curve of_penalty(const Numbers &point, const std::vector<i64> &chosen) const {
        const i64 width = i64(chosen.size());
        Curve curve{penalty(point), Numbers(size()), Numbers(width * width)};
        for (i64 place = 0; place < size(); place++)
            curve.gradient[place] = penalties[place] * point[place];
        for (i64 line = 0; line < width; line++)
            curve.curvature[line * width + line] = penalties[chosen[line]];
        return curve;
    }

    // Add loss and derivatives of a block of rows; second ones to the lower triangle.
    void add_block(i64 block, const Numbers &point, const std::vector<i64> &chosen,
                   Curve &curve) const {
        const i64 width = i64(chosen.size()), start = bounds[block], stop = bounds[block + 1];
        const Numbers biases = biased(point);
        std::vector<i64> places(size(), width);  // the others use the last line
        for (i64 line = 0; line < width; line++) places[chosen[line]] = line;
        const i64 across = prior.size() - 1;
        Room<float, 3> spread(width + 1, across, stop - start);
        curve.loss += curve_of(rows, {{point.data(), {n_terms()}}, viewed(biases)}, start, stop,
                               {places.data(), {size()}}, filled(curve.gradient), spread);
        add_products(spread.data, width, across * (stop - start), curve.curvature.data());
    }

    Curve curve(const Numbers &point, const std::vector<i64> &chosen) const {
        Curve curve = of_penalty(point, chosen);
        for (i64 block = 0; block < n_blocks(); block++) add_block(block, point, chosen, curve);
        mirror(curve, i64(chosen.size()));
        return curve;
    }

    static void mirror(Curve &curve, i64 width) {
        for (i64 line = 0; line < width; line++)
            for (i64 other = 0; other < line; other++)
                curve.curvature[other * width + line] = curve.curvature[line * width + other];
    }

    // Step of the chosen coordinates to the minimum of the expansion within the bounds.
    Numbers step(const Curve &curve, const Numbers &point, const std::vector<i64> &chosen) const {
        const i64 width = i64(chosen.size());
        Numbers gradient(width), room(width), found(width);
        for (i64 line = 0; line < width; line++) {
            gradient[line] = curve.gradient[chosen[line]];
            room[line] = least(chosen[line]) - point[chosen[line]];
        }
        const double enough = std::get<0>(limits) * std::fabs(curve.loss) / double(size());
        bounded_step({curve.curvature.data(), {width, width}}, viewed(gradient), viewed(room),
                     std::get<3>(limits), enough, filled(found));
        solve(curve.curvature, gradient, room, found);
        return found;
    }

    // Solve for the coordinates that are not at their bounds, unless that violates another bound.
    static void solve(const Numbers &curvature, const Numbers &gradient, const Numbers &room,
                      Numbers &step) {
        const i64 width = i64(gradient.size());
        std::vector<i64> free;
        for (i64 line = 0; line < width; line++)
            if (step[line] > room[line]) free.push_back(line);
        const i64 size = i64(free.size());
        Numbers lower(size * size), right(size);
        for (i64 line = 0; line < size; line++) {
            const double *own = &curvature[free[line] * width];
            for (i64 other = 0; other <= line; other++) lower[line * size + other] = own[free[other]];
            right[line] = -gradient[free[line]];
            for (i64 other = 0; other < width; other++)
                if (!(step[other] > room[other])) right[line] -= own[other] * step[other];
        }
        if (!factorised(lower, size)) return;
        backwards(lower, size, right);
        for (i64 line = 0; line < size; line++)
            if (!(right[line] >= room[free[line]])) return;
        for (i64 line = 0; line < size; line++) step[free[line]] = right[line];
    }

    // Cholesky factor in place; false if the matrix is not positive definite.
    static bool factorised(Numbers &lower, i64 size) {
        for (i64 line = 0; line < size; line++) {
            double *own = &lower[line * size];
            for (i64 other = 0; other <= line; other++) {
                const double *above = &lower[other * size];
                double rest = own[other];
                for (i64 place = 0; place < other; place++) rest -= own[place] * above[place];
                if (other < line) {
                    own[other] = rest / above[other];
                } else {
                    if (!(rest > 0.0)) return false;
                    own[other] = std::sqrt(rest);
                }
            }
        }
        return true;
    }

    static void backwards(const Numbers &lower, i64 size, Numbers &right) {
        for (i64 line = 0; line < size; line++) {
            for (i64 place = 0; place < line; place++)
                right[line] -= lower[line * size + place] * right[place];
            right[line] /= lower[line * size + line];
        }
        for (i64 line = size - 1; line >= 0; line--) {
            for (i64 place = line + 1; place < size; place++)
                right[line] -= lower[place * size + line] * right[place];
            right[line] /= lower[line * size + line];
        }
    }

    // Coordinates to expand: biases, weights above 0, and those whose gradient is below 0.
    std::vector<i64> expanded(const Numbers &point, const Curve &curve) const {
        std::vector<i64> chosen;
        for (i64 place = 0; place < size(); place++)
            if (place >= n_terms() || point[place] > 0.0 || curve.gradient[place] < 0.0)
                chosen.push_back(place);
        return chosen;
    }

    // Take a step, halved until the loss decreases; if no halving helps, the point stays.
    Place stepped(const Place &here, const Numbers &step) const {
        for (i64 number = 0; number < std::get<2>(limits); number++) {
            Numbers after = within(here.point, step, std::ldexp(1.0, -int(number)));
            if (number > 0 && loss(after) >= here.curve.loss) continue;
            std::vector<i64> chosen = expanded(after, here.curve);
            Curve ahead = curve(after, chosen);
            if (ahead.loss < here.curve.loss)
                return {std::move(after), std::move(chosen), std::move(ahead)};
        }
        std::vector<i64> chosen = expanded(here.point, here.curve);
        Curve same = curve(here.point, chosen);
        return {here.point, std::move(chosen), std::move(same)};
    }

    // By how much a step reduces the expansion.
    static double gain(const Place &here, const Numbers &change) {
        const i64 width = i64(change.size());
        double total = 0.0;
        for (i64 line = 0; line < width; line++) {
            double slope = 0.0;
            for (i64 other = 0; other < width; other++)
                slope += here.curve.curvature[line * width + other] * change[other];
            total -= change[line] * (here.curve.gradient[here.chosen[line]] + slope / 2);
        }
        return total;
    }

    Numbers fitted(Numbers start, double enough) const {
        Place here{std::move(start), every(), {}};
        here.curve = curve(here.point, here.chosen);
        for (i64 number = 0; number < std::get<1>(limits); number++) {
            const Numbers change = step(here.curve, here.point, here.chosen);
            Numbers whole(size());
            std::vector<char> known(size());
            for (i64 line = 0; line < i64(change.size()); line++) {
                whole[here.chosen[line]] = change[line];
                known[here.chosen[line]] = 1;
            }
            bool late = false;
            for (i64 place = 0; place < size(); place++)
                late = late || (here.curve.gradient[place] < 0.0 && !known[place]);
            if (gain(here, change) <= enough * std::fabs(here.curve.loss) && !late)
                return within(here.point, whole, 1.0);
            Place next = stepped(here, whole);
            if (next.curve.loss >= here.curve.loss && !late) return here.point;
            here = std::move(next);
        }
        return here.point;
    }
};

Problem problem_of(const char *kernel, In3<float> entries, In1<double> prior, const Rows &rows,
                   In1<i64> bounds, In1<double> penalties, const Limits &limits) {
    const auto &[classes, importance] = rows;
    const i64 n_rows = entries.shape(2), k = prior.size();
    require(k >= 1 && entries.shape(1) == k && classes.size() == n_rows &&
                importance.size() == n_rows && penalties.size() == entries.shape(0) + k,
            kernel, "entries, prior, classes, importance and penalties differ in shape");
    require(within(classes, 0, k), kernel, "a class is not there");
    require(bounds.size() >= 1 && all_offsets(bounds.data, bounds.size(), n_rows), kernel,
            "bounds lie beyond the rows");
    return {{entries, classes, importance}, prior, penalties, bounds, limits};
}

// Minimise the penalised log loss of weights and biases (m + k,), from those in `point` on; weights
// stay at least 0. Ends when a step reduces the loss by a smaller share than `enough`.
void fit_weights(In3<float> entries, In1<double> prior, Rows rows, In1<i64> bounds,
                 In1<double> penalties, Limits limits, double enough, Out1<double> point) {
    const Problem problem =
        problem_of("fit_weights", entries, prior, rows, bounds, penalties, limits);
    require(point.size() == problem.size(), "fit_weights", "point and penalties differ in size");
    const Numbers found = problem.fitted(Numbers(point.data, point.data + point.size()), enough);
    std::copy(found.begin(), found.end(), point.data);
}

// Log joint of every row into out (n, k), with weights one step from `point` on the loss of all
// blocks but those of its fold; block b is of fold b modulo `n_folds`.
void held_out_joints(In3<float> entries, In1<double> prior, Rows rows, In1<i64> bounds,
                     In1<double> penalties, Limits limits, In1<double> point, i64 n_folds,
                     Out2<double> out) {
    const char *kernel = "held_out_joints";
    const Problem problem = problem_of(kernel, entries, prior, rows, bounds, penalties, limits);
    require(point.size() == problem.size() && out.shape(0) == entries.shape(2) &&
                out.shape(1) == prior.size() && n_folds >= 1,
            kernel, "point, out and penalties differ in shape");
    const Numbers start(point.data, point.data + point.size());
    const std::vector<i64> every = problem.every();
    std::vector<Curve> parts;
    for (i64 block = 0; block < problem.n_blocks(); block++) {
        parts.push_back({0.0, Numbers(problem.size()), Numbers(problem.size() * problem.size())});
        problem.add_block(block, start, every, parts.back());
    }
    for (i64 fold = 0; fold < n_folds; fold++) {
        Curve total = problem.of_penalty(start, every);
        for (i64 block = 0; block < problem.n_blocks(); block++) {
            if (block % n_folds == fold) continue;
            total.loss += parts[block].loss;
            for (i64 place = 0; place < problem.size(); place++)
                total.gradient[place] += parts[block].gradient[place];
            for (std::size_t cell = 0; cell < total.curvature.size(); cell++)
                total.curvature[cell] += parts[block].curvature[cell];
        }
        Problem::mirror(total, problem.size());
        const Numbers change = problem.step(total, start, every);
        Numbers moved(start);
        for (i64 place = 0; place < problem.size(); place++) moved[place] += change[place];
        const Numbers biases = problem.biased(moved);
        for (i64 block = fold; block < problem.n_blocks(); block += n_folds) {
            const i64 first = bounds[block], size = bounds[block + 1] - first;
            Room<double, 2> joint(prior.size(), size);
            joint_of(problem.rows, {{moved.data(), {problem.n_terms()}}, viewed(biases)}, first,
                     first + size, joint);
            for (i64 row = 0; row < size; row++)
                for (i64 label = 0; label < prior.size(); label++)
                    out(first + row, label) = joint(label, row);
        }
    }
}

}  // namespace

void bind_newton(nb::module_ &room) {
    bind(room, "fit_weights", "Minimise the penalised log loss of weights and biases.", fit_weights,
         "entries", "prior", "rows", "bounds", "penalties", "limits", "enough", "point");
    bind(room, "held_out_joints", "Log joint of every row with weights fitted without its fold.",
         held_out_joints, "entries", "prior", "rows", "bounds", "penalties", "limits", "point",
         "n_folds", "out");
}

}  // namespace unnaive
