#pragma once
// Equations of constraints as text (joints.h says what they may hold), made into functions.
#include <rotule/joints.h>

#include <memory>

#include "base/place.h"

namespace rotule {

class EquationTape;

/// Throws Error with the place and a mark in the text where an equation, or a name that it uses, makes no sense.
void check_text(const Constraint& constraint, const Place& place);
/// Likewise, without the place. Where they are bounded, the equations are what they exceed the bound by.
std::shared_ptr<const EquationTape> compile_text(const Constraint& constraint);
/// Whether any of its equations, text or function, asks for velocities.
bool on_velocities(const Constraint& constraint);
/// Whether any of them knows the time, or may.
bool knows_time(const Constraint& constraint);

}  // namespace rotule
