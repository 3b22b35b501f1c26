#pragma once
// What the real-time stepper cannot run, each thing with its name.
#include <string>

#include "model/model.h"

namespace rotule {

/// The first thing in the model that it does not know; empty where it knows all.
std::string unknown_to_realtime(const Model& model);
/// Throws Error where there is one.
void require_realtime(const Model& model);

}  // namespace rotule
