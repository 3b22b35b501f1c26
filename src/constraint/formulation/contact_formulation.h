#pragma once
// Right-hand sides of contacts and of joints' drives (D3), beside those of joints (formulations.h). With u* the velocities that
// nothing holds yet, gap phi, closing speed c at the start:
//   velocity    b = -(J u*) - phi/h        a gap closes within the step, so that bodies stop at each other's surface
//               b = -(J u*) - beta phi/h   an overlap, where no projection takes it out: Baumgarte's share of it
//               b = -(J u*) - phi k/(h k + d), C = 1/(h (h k + d))   a soft surface: spring and damper, at the step's end
//   blow        b = -(J u*) + e c          Newton's law of restitution
// J u has a part that nobody solves for where a body is kinematic or carries a belt.
//   position    b = -phi                   the smallest move that leaves no gap negative (A7 c)
#include <rotule/recipe.h>

#include <algorithm>
#include <cmath>

#include "constraint/pool/contact.h"
#include "constraint/pool/drive.h"

namespace rotule {

/// What the recipe says of contacts, whichever law of friction holds. What it does not say is a share of the size of the smaller
/// body and of the speed of a fall through it; without weight, of crossing it in a million steps.
struct ContactRules {
  ContactSettings settings;
  bool projected = true;  // whether overlaps are taken out by a projection of positions
  double gravity = 0;     // m/s^2
  double dt = 1;          // s

  ContactRules() = default;
  ContactRules(const Model& model, const Recipe& recipe);

  [[nodiscard]] double slop(double size) const { return settings.slop > 0 ? settings.slop : 1e-6 * size; }
  [[nodiscard]] double restitution_speed(double size) const {
    return settings.restitution_speed > 0 ? settings.restitution_speed : 3e-3 * natural_speed(size);
  }
  [[nodiscard]] double stick_speed(double size) const {
    return settings.stick_speed > 0 ? settings.stick_speed : 3e-4 * natural_speed(size);
  }

 private:
  [[nodiscard]] double natural_speed(double size) const { return std::max(std::sqrt(gravity * size), 1e-6 * size / dt); }
};

/// How the contact stands at the start of a step: whether it slides, and at which speed the surfaces will meet, `u` being the
/// velocities there and `free` those of a step that nothing holds.
void look_at_start(const ContactRules& rules, const Kinematics& bodies, const VecX& u, const VecX& free, double h, Contact& c);

/// b, C and x0 of the contact's block at velocity level; `u` are velocities over the island's bodies.
void formulate_velocity(const Contact& c, const ContactRules& rules, double h, const ConstraintBlock& block, const VecX& u,
                        ConstraintProblem& problem);

/// Who bounces: whoever was stopped, is rigid, and met fast enough.
bool bounces(const Contact& c, const ContactRules& rules);
/// Who was stopped within the step though it began with a gap: it still has the speed with which it crossed that, and is to be
/// stopped wholly.
bool arrives(const Contact& c, const ContactRules& rules, double h);
/// b and x0 of a blow that throws the surfaces back at this speed, 0 where they only hold.
void formulate_blow(const Contact& c, double speed, const ConstraintBlock& block, const VecX& u, ConstraintProblem& problem);

/// b of the contact's normal at position level.
void formulate_position(const Contact& c, const Kinematics& bodies, const ConstraintBlock& block, ConstraintProblem& problem);

/// b and x0 of a drive at velocity level; b at position level, for limits.
void formulate_velocity(const DriveRow& drive, const ConstraintBlock& block, const VecX& u, ConstraintProblem& problem);
void formulate_position(const DriveRow& drive, const ConstraintBlock& block, ConstraintProblem& problem);

}  // namespace rotule
