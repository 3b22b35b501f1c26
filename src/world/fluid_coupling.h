#pragma once
// A fluid and the bodies that stand in it, moved together. In every substep the body's velocity U and the flow are solved for at
// once: with I(U) the impulse that the fluid gives a body whose inside it is made to follow, M_f the displaced fluid's mass
// matrix and U_0 the last velocity,
//   the stepper moves the body by the force (I(U) + M_f (U - U_0)) / tau + ...,   and its velocity afterwards must be U.
// I(U) falls with U by M_f and the added mass, so that one is found by Newton's method with Broyden's updates, whatever the
// density of the body; without the iteration, bodies lighter than a quarter of the fluid blow up. Fluid and body exchange the
// same numbers whether or not the iteration converged: momentum is kept to rounding.
#include <rotule/fluid_grid.h>
#include <rotule/world.h>

#include <span>
#include <vector>

#include "fluid/fluid_implementation.h"
#include "fluid/obstacles.h"
#include "model/model.h"
#include "model/state.h"
#include "world/thin_structures.h"

namespace rotule {

class FluidCoupling {
 public:
  /// Places the scene's obstacles. Throws Error where one cannot be seen or is outside of the box.
  FluidCoupling(const FluidDef& def, const Model& model, const State& state, int threads);

  /// The whole step: fluid and bodies, in substeps.
  const StepReport& step(WorldImplementation& world, double h);

  [[nodiscard]] const FluidGrid& grid() const { return fluid_; }
  /// From now on, unless they are open already.
  void keep_books(bool keep);
  /// Mean force and torque on a body over the last step, by its shape or by forces in the computed flow.
  [[nodiscard]] Vec6 force(int body) const;
  /// Mass matrix of the fluid that a body displaces, and the velocity with which it moves along.
  [[nodiscard]] const Obstacles& obstacles() const { return obstacles_; }
  [[nodiscard]] const Vec6& inside_velocity(int obstacle) const { return given_[obstacle]; }
  [[nodiscard]] std::span<const std::string> remarks() const { return remarks_; }
  [[nodiscard]] std::span<const double> velocities(int component) const { return flow_.u[component]; }

  template <class Archive>
  void archive(Archive& io) {
    flow_.archive(io);
    for (int k = 0; k < obstacles_.count(); ++k) {
      io(given_[k]);
      io(increment_[k]);
    }
    for (double& x : std::span(inverse_.data(), static_cast<std::size_t>(inverse_.size()))) io(x);
    io(last_tau_);
  }

 private:
  void place(const State& state, double tau);
  /// One substep, from time t on. The stepper's report.
  const StepReport& substep(WorldImplementation& world, double t, double tau);
  void load_bodies(WorldImplementation& world, double tau, bool thin);
  /// What bodies got in a substep is the fluid's loss.
  void book(const Recipe& recipe, double tau);
  /// How far the place of the push, that at the end of the substep as its start foretells, is ahead of where the stepper's force
  /// acts on average: by impulses at the start, by methods of accelerations the mean of the cubic through both ends. The torque
  /// makes good for it, so that angular momentum goes from one to the other unchanged.
  [[nodiscard]] Vec3 ahead(const Recipe& recipe, int obstacle, double tau) const;
  /// Of momenta about the centre of mass.
  [[nodiscard]] Vec3 about_origin(int obstacle, const Vec6& momentum) const;
  /// Momentum that what a body displaces takes up in a substep, linear then angular.
  [[nodiscard]] Vec6 gained_inside(int obstacle, double tau) const;
  void read_velocities(const State& state, std::vector<Vec6>& out) const;
  void guess(double tau);
  /// By Broyden: the derivative as it was seen along the last move, and nowhere else.
  void update_inverse();
  /// Rounds of pushes in a substep: as many as the scene says, and more where a body is so light that it would blow up.
  [[nodiscard]] int rounds_for(const Model& model) const;
  void begin_inverse(const Model& model);
  [[nodiscard]] double fastest(const State& state) const;
  void look_for_leavers(double t);
  void look_for_own_wakes(const Model& model);

  FluidGrid fluid_;
  FluidImplementation& flow_;
  Obstacles obstacles_;
  ThinStructures thin_;                  // what is no obstacle and feels the computed flow
  std::vector<int> bodies_;              // of the model, one per obstacle
  std::vector<int> movable_;             // obstacles that the fluid can move
  std::vector<double> size_;             // m: what makes an angular velocity of an obstacle comparable with its velocity
  std::vector<Vec6> given_;              // velocity that the fluid inside of each obstacle has
  std::vector<Vec6> velocity_, before_;  // that it is to have; that the body had at the start of the substep
  std::vector<Vec3> bend_;               // m: how far the last trial's end was from the trapezoid of its velocities
  std::vector<Vec6> increment_;          // of the last substep
  std::vector<Vec6> load_;               // on the obstacles in this substep
  VecX force_;                           // on all, laid out as u: mean over the step
  std::vector<bool> left_;               // whether it was said that the obstacle left the box
  std::vector<std::string> names_, remarks_;
  MatX inverse_;  // of the residual's derivative, in m/s
  VecX residual_, residual_before_, at_, at_before_, moved_, changed_, expected_, row_;
  VecX external_;
  std::vector<std::uint8_t> bodies_before_;
  double last_tau_ = 0;
  Vec3 gravity_;
  StepReport report_;
  std::vector<ContactEvent> events_;  // of all substeps
};

}  // namespace rotule
