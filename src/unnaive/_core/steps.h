// Steps to the weights of terms, and shares of members: the rest of the room "weighting".
#pragma once

#include "border.h"

namespace unnaive {

// Minimise gᵀd + dᵀHd/2 with d ≥ `room`, a coordinate at a time, into `step`; a sweep costs m².
// Ends after a sweep in which no coordinate gains more than `enough`.
void bounded_step(In2<double> curvature, In1<double> gradient, In1<double> room, i64 sweeps,
                  double enough, Out1<double> step);

void bind_steps(nb::module_ &room);

void bind_newton(nb::module_ &room);

}  // namespace unnaive
