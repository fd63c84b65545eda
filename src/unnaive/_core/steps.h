// Steps to the weights of terms, and shares of members: the rest of the room "weighting".
#pragma once

#include "border.h"

namespace unnaive {

void bind_steps(nb::module_ &room);

}  // namespace unnaive
