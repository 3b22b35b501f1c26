#pragma once
// What a step is held to before anybody sees it.
#include <rotule/recipe.h>

#include "mechanism/jointed_mechanism.h"

namespace rotule {

/// Whether the recipe's method finds the instants at which walls are met and limits reached, so that nothing is left for the
/// step's end.
bool locates_events(const Recipe& recipe);

/// Refuses joints whose motors, limits, springs or friction the recipe cannot act on. Throws Error with the joint's name.
void check_drives(const Model& model, const Recipe& recipe);

/// Refuses added mass where the recipe's method turns bodies by their own inertia alone, and wakes where it steps by positions.
/// Throws Error with the name of the body or the section.
void check_surroundings(const Model& model, const Recipe& recipe);

/// Throws where a joint's points are further apart than its linkage's bodies reach: nobody would call that a joint any more.
void require_joined(const Model& model, std::span<const Linkage> linkages, std::span<const Island> islands);

/// Whether an attempt at a step of a mechanism that nothing drives has gained energy or left its joints open.
class StepAudit {
 public:
  StepAudit() = default;
  /// At the start of the step, in mechanism.now; where not `wanted` everything passes.
  StepAudit(const JointedMechanism& mechanism, bool wanted);
  /// Says in the report what is wrong with the state in mechanism.now.
  void look_at(const JointedMechanism& mechanism, StepReport& report) const;

 private:
  bool wanted_ = false;
  double kinetic_ = 0, energy_ = 0, rounding_ = 0;
};

}  // namespace rotule
