// Log loss of weighted terms, and how it curves: what the steps to the weights are made of.
#pragma once

#include "border.h"

namespace unnaive {

// Leave-one-out entries (m, k, n) of rows, their classes and weights (n,).
struct WeighedRows {
    In3<float> entries;
    In1<i64> classes;
    In1<double> importance;
};

// Some weights (m,), and log priors with the biases (k,).
struct Weights {
    In1<double> terms, prior;
};

// Log joint of rows start … stop, into joint (k, rows).
void joint_of(const WeighedRows &rows, const Weights &weights, i64 start, i64 stop,
              Out2<double> joint);

// Log loss of rows start … stop.
double loss_of(const WeighedRows &rows, const Weights &weights, i64 start, i64 stop);

// Log loss of rows start … stop, with derivatives as those of `curve_rows`.
double curve_of(const WeighedRows &rows, const Weights &weights, i64 start, i64 stop,
                In1<i64> places, Out1<double> gradient, Out3<float> spread);

}  // namespace unnaive
