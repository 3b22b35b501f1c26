// The linear systems of implicit methods: JointedMechanism as integrate/mechanism.h's ImplicitMechanism.
#include "step/jointed_mechanism.h"

namespace rotule {

void JointedMechanism::linearise(double t, const State& s) {
  --evaluations;  // of the method's own: this one is part of the matrix
  accelerations(t, s, udot_);
  if (systems_.empty()) {
    std::vector<bool> held(model.body_count(), false);
    for (const Island& island : islands)
      for (const int body : island.bodies) held[body] = true;
    for (int i = 0; i < model.body_count(); ++i)
      if (model.movable(i) && !held[i]) free_bodies_.push_back(i);
    systems_.resize(islands.size() + free_bodies_.size());
  }
  const auto* penalty = std::get_if<PenaltySettings>(&recipe.formulation);
  parallel_for(static_cast<int>(systems_.size()), recipe.threads, [&](int i) {
    const auto k = static_cast<std::size_t>(i);
    if (k < islands.size())
      systems_[k].linearise(model, kinematics, t, s.u, udot_, islands[k], penalty, h);
    else
      systems_[k].linearise(model, kinematics, udot_, free_bodies_[k - islands.size()]);
  });
}

void JointedMechanism::solve_implicit(double a, double b, const VecX& r, VecX& out) {
  out.setZero(r.size());
  parallel_for(static_cast<int>(systems_.size()), recipe.threads, [&](int i) { systems_[i].solve(a, b, r, out); });
}

}  // namespace rotule
