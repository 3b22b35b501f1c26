#pragma once
// Particles that touch, over one step: contacts of who is near, the minimum under them (soft_stage.h), the way there swept
// (soft_collider.h), contacts of who met on it, and the minimum again, until nobody is met. Where that does not end, particles
// stop on their way before they meet; that is said.
#include "mechanism/soft/soft_collider.h"
#include "mechanism/soft/soft_stage.h"

namespace rotule {

class SoftMotion {
 public:
  SoftMotion(const Model& model, const Recipe& recipe);

  /// Whether anything is there to touch, and the recipe lets it. Throws Error, with a remedy, where the scene has what particles
  /// that touch cannot do with.
  static bool wanted(const Model& model, const Recipe& recipe);

  /// Looks around at the start of a step whose particles and bodies begin with `free`.
  void begin(const State& start, double h, const VecX& free);
  /// Velocities U at the end of the step, for bodies that would have those of `free` without particles; and the impulses that
  /// particles give to bodies, `push`.
  void solve(double t, const State& start, double h, const VecX& external, const VecX& free, VecX& U, VecX& push,
             StepReport& report);
  void add_ties(const State& s, VecX& f) const { stage_.add_ties(s, f); }

  /// Of the last step.
  [[nodiscard]] std::span<const SoftContact> contacts() const { return contacts_; }
  [[nodiscard]] int touching() const;
  /// The smallest rounding of what touches bodies that take part, m: what errors of their way are measured by.
  [[nodiscard]] double finest() const { return finest_; }

 private:
  const Model& model_;
  SoftCollider collider_;
  SoftStage stage_;
  std::vector<SoftContact> contacts_;
  VecX guess_, stops_;
  double finest_ = infinity;
};

}  // namespace rotule
