// Interrupts from the keyboard, which long loops look for some times a second.
#pragma once

#include <chrono>

#include "border.h"

namespace unnaive {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

// Raise an interrupt from the keyboard.
inline void let_interrupt() {
    nb::gil_scoped_acquire held;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

// Raises an interrupt soon after it has come, if `look` is called often, with the work since then.
class Interrupts {
  public:
    void look(i64 steps = STEPS_A_LOOK) {
        done += steps;
        if (done < STEPS_A_LOOK) return;
        done = 0;
        if (seconds_since(last) < PATIENCE) return;
        let_interrupt();
        last = Clock::now();
    }

  private:
    static constexpr i64 STEPS_A_LOOK = i64(1) << 16;  // at the clock
    static constexpr double PATIENCE = 0.1;            // seconds
    Clock::time_point last = Clock::now();
    i64 done = 0;
};

}  // namespace unnaive
