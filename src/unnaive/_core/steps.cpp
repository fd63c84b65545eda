// Weighted products: steps to the minimum of an expansion, and shares of members of a mixture.
#include <algorithm>
#include <cmath>
#include <vector>

#include "levels.h"
#include "steps.h"

namespace unnaive {
namespace {

INLINE void step_sweeps_loop(const double *RESTRICT curvature, const double *RESTRICT room,
                             i64 size, i64 sweeps, double enough, double *RESTRICT slope,
                             double *RESTRICT step) {
    for (i64 sweep = 0; sweep < sweeps; sweep++) {
        double most = 0.0;
        for (i64 place = 0; place < size; place++) {
            const double *line = curvature + place * size;
            if (line[place] <= 0.0) continue;
            const double move = std::max(-slope[place] / line[place], room[place] - step[place]);
            if (move == 0.0) continue;
            step[place] += move;
            most = std::max(most, std::fabs(move * slope[place]));
            for (i64 other = 0; other < size; other++) slope[other] += line[other] * move;
        }
        if (most <= enough) break;
    }
}
LEVELS(step_sweeps)

}  // namespace

void bounded_step(In2<double> curvature, In1<double> gradient, In1<double> room, i64 sweeps,
                  double enough, Out1<double> step) {
    const i64 size = gradient.size();
    require(curvature.shape(0) == size && curvature.shape(1) == size && room.size() == size &&
                step.size() == size,
            "bounded_step", "curvature, gradient, room and step differ in shape");
    std::fill_n(step.data, size, 0.0);
    std::vector<double> slope(gradient.data, gradient.data + size);
    step_sweeps(curvature.data, room.data, size, sweeps, enough, slope.data(), step.data);
}

namespace {

// Improve shares of members (m,) in rows of chances (n, m), by expectation–maximisation.
//
// A member's share is the mean of its share of every row's chance. Ends after a round in which
// no share moves by more than `enough`; a round costs n·m.
void mixture_shares(In2<double> chances, In1<double> importance, Out1<double> shares, i64 rounds,
                    double enough) {
    const i64 n_rows = chances.shape(0), n_members = chances.shape(1);
    require(importance.size() == n_rows && shares.size() == n_members, "mixture_shares",
            "chances, importance and shares differ in shape");
    std::vector<double> better(static_cast<std::size_t>(n_members));
    for (i64 round = 0; round < rounds; round++) {
        std::fill(better.begin(), better.end(), 0.0);
        for (i64 row = 0; row < n_rows; row++) {
            const double *line = chances.data + row * n_members;
            double total = 0.0;
            for (i64 member = 0; member < n_members; member++)
                total += shares[member] * line[member];
            for (i64 member = 0; member < n_members; member++) {
                const double part = shares[member] * line[member] / total;
                better[member] += importance[row] * part;
            }
        }
        double most = 0.0;
        for (i64 member = 0; member < n_members; member++) {
            most = std::max(most, std::fabs(better[member] - shares[member]));
            shares[member] = better[member];
        }
        if (most <= enough) break;
    }
}

}  // namespace

void bind_steps(nb::module_ &room) {
    bind(room, "bounded_step", "Minimise a quadratic form under bounds, by coordinates.",
         bounded_step, "curvature", "gradient", "room", "sweeps", "enough", "step");
    bind(room, "mixture_shares", "Improve shares of members, by expectation–maximisation.",
         mixture_shares, "chances", "importance", "shares", "rounds", "enough");
}

}  // namespace unnaive
