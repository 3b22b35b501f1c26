#pragma once
// Where energy and momentum of a mechanism come from and go to: rates at one instant, by who makes them; integrated over a step,
// work and impulses. Powers are those of generalised forces, f . u; of momenta, with m a + ... all that bodies gain,
//   supports = d/dt (momentum) - weight - applied.
#include <array>

#include "dynamics/forces/force_set.h"

namespace rotule {

enum class Agent : std::uint8_t {
  motors,
  forces,
  fields,
  fluid,
  guides,
  drag,
  dampers,
  joint_friction,
  contact_friction,
  impacts,
  yield,
  tearing
};
inline constexpr std::size_t agent_count = 12;

/// Linear, then angular about the origin.
using MomentumRate = std::array<double, 6>;

struct Flow {
  std::array<double, agent_count> work{};  // on the mechanism: what is taken out is negative
  MomentumRate weight{}, applied{}, supports{};

  [[nodiscard]] double& operator[](Agent agent) { return work[static_cast<std::size_t>(agent)]; }
  [[nodiscard]] double operator[](Agent agent) const { return work[static_cast<std::size_t>(agent)]; }
  void add(const Flow& other, double times) {
    const auto add = [times](auto& to, const auto& from) {
      for (std::size_t i = 0; i < to.size(); ++i) to[i] += times * from[i];
    };
    add(work, other.work);
    add(weight, other.weight);
    add(applied, other.applied);
    add(supports, other.supports);
  }
};

struct FlowScratch {
  State still;  // the same pose at rest
  VecX f, still_f;
  ForceScratch forces;
};

/// All that a body or particle gains by accelerations udot, summed: m a, and p x m a + I alpha + omega x I omega about the
/// origin.
void add_inertia(const Model& model, const State& s, const VecX& udot, double times, MomentumRate& out);
/// Momenta themselves.
MomentumRate momentum_of(const Model& model, const State& s);

/// What the model's forces, weight and the forces set by hand do at this state, with velocities u to do it with (those of the
/// state, or the mean ones of a step); joints, drives and contacts are others' business.
void add_force_flow(const Model& model, const VecX& external, const State& s, double t, const VecX& u, int threads,
                    FlowScratch& scratch, Flow& out);

}  // namespace rotule
