#pragma once
// What an exact snapshot saves of any stepper.
#include "step/any_stepper.h"
#include "step/realtime/archive.h"
#include "step/reference/archive.h"

namespace rotule {

template <class Archive>
void Stepper::archive(Archive& io) {
  ask([&](auto& stepper) { stepper.archive(io); });
}

}  // namespace rotule
