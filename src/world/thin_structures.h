#pragma once
// What is thinner than the cells of a fluid, in one of its substeps. Its load L, forces and torques on bodies and particles, acts
// throughout as if somebody had set it, and the cells lose tau L by the kernel (fluid/kernel.h): who gains and who loses have the
// same numbers. L is that of one state between both ends,
//   places: the mean ones of the way, on which a constant force works;  velocities: (1 - theta) u_0 + theta u_1,
// in the flow as the second stage has it, halfway and without divergence. theta is 1/2, second order, unless drag alone would
// stop a body or particle within half a substep, x = tau |M^-1 D| > 2: there it is 1 - 1/x, so that what has no mass to speak of
// moves as the flow does and never swings about it. Drag is thus stable at any length of a step, however light structures are;
// where there is so much of it in a cell that it would stop the fluid there, substeps are shorter. Since u_1 is known after a
// step alone, L is tried: every trial is a step of the bodies, and the next L is the last one's, corrected by (1 + theta tau D
// M^-1)^-1, which is exact for what is free, and mixed by Anderson's method, which makes up for joints and springs.
#include <rotule/recipe.h>

#include "dynamics/forces/immersed.h"
#include "fluid/fluid_implementation.h"
#include "fluid/kernel.h"
#include "linalg/anderson_mixing.h"

namespace rotule {

class ThinStructures {
 public:
  explicit ThinStructures(FluidImplementation& flow);

  /// Before the first trial of a substep from this state on. Throws Error where something is outside of the box.
  void begin(Model& model, const Recipe& recipe, const State& state, double t, double tau);
  /// 1/s, at which structures at rest would stop the fluid in a cell, at most.
  double stopping_rate(Model& model, const State& state, double t);
  /// Gives the cells what the load takes.
  void push();
  /// Laid out as u.
  [[nodiscard]] const VecX& load() const { return load_; }
  /// After a trial that ended there: whether its load is that of the motion. Otherwise there is another one to be tried.
  bool agrees(const Model& model, const State& state);
  [[nodiscard]] double left() const { return left_; }    // m/s, by which load and motion differ
  [[nodiscard]] double scale() const { return scale_; }  // m/s that the load makes
  void book(const State& state);

 private:
  void look_at(Model& model, const Field3& u);
  void find_masses(const Model& model, const ImmersedDamping& damping);
  /// The state whose forces count, for a way that ends there.
  void look_between(const State& end);
  /// x += (1 + theta tau D M^-1)^-1 r, into `step_`.
  void correct();

  FluidImplementation& flow_;
  GridKernel kernel_;
  FlowSource source_;
  const Field3* seen_ = nullptr;  // the velocity that is felt
  bool wants_acceleration_ = false, by_impulses_ = false;
  double t_ = 0, tau_ = 0;
  State start_, between_;
  ImmersedForces now_;
  VecX load_, rest_, step_;
  VecX theta_, weight_, stiffness_;          // of each number of u; weight: tau / mass, zero where nothing moves; x
  std::vector<Mat6> response_, correction_;  // of bodies: tau M^-1, and what corrects their loads
  std::vector<Mat3> particle_correction_;
  std::vector<double> metric_;
  AndersonMixing mixing_;
  std::vector<PushedFace> before_;
  Deposit pushed_;
  Vec3 momentum_ = Vec3::Zero(), angular_momentum_ = Vec3::Zero();  // that structures got by that push, where the cells lost it
  Vec3 angular_by_world_ = Vec3::Zero();                            // of it, the world itself
  double left_ = 0, scale_ = 0;
};

}  // namespace rotule
