#pragma once
// A mechanism and its targets as one constraint problem over poses (A9): rows of joints, of targets, and one per axis that has
// stops. Rows that are not in force are all zero with a compliance of 1, so that the structure, and with it the symbolic part of
// the factorisation, stays the same from iteration to iteration.
#include "base/workspace.h"
#include "constraint/geometric_stiffness.h"
#include "constraint/tree_placement.h"
#include "inverse/target_rows.h"

namespace rotule {

class PoseSystem {
 public:
  /// The world's mechanism as it stands; `hold` names bodies that must not move.
  PoseSystem(const World& world, std::span<const Target> targets, const InverseSettings& settings);

  /// Rows at a pose. Errors are largest |C|: of targets, joints, limits.
  struct Errors {
    double targets = 0, joints = 0, limits = 0;
    double weighted = 0;  // 1/2 sum of w^2 C^2 over targets: what the damped iteration makes small
    [[nodiscard]] double largest() const { return std::max({targets, joints, limits}); }
  };
  Errors evaluate(const State& s);

  /// The move that meets joints, limits and, by Newton, the targets; with damping greater than 0, in units of what targets
  /// answer, those as well as that goes. Into `move()`, laid out as u. Tells how the weighted error would change if the rows were
  /// straight.
  double solve(double damping);
  /// The move that closes joints alone.
  void solve_joints();
  [[nodiscard]] const VecX& move() const { return move_; }
  /// Largest turn (rad) of a body in it.
  [[nodiscard]] double largest_turn() const;
  /// Largest turn or travel.
  [[nodiscard]] double largest_step() const { return move_.size() ? move_.cwiseAbs().maxCoeff() : 0; }

  /// s moved by `share` of the move; trees are closed and kept within their limits by placing, parents first.
  void apply(double share, const State& s, State& out) const;
  /// Closes loops by Newton's method; false where that fails.
  bool close(State& s);
  /// Turns every movable body a little, each its own way: out of poses where the gradient vanishes by symmetry.
  void nudge(double angle, State& s) const;

  [[nodiscard]] bool is_tree() const { return tree_; }
  [[nodiscard]] bool has_limits() const { return !limits_.empty(); }
  [[nodiscard]] const State& start() const { return start_; }
  [[nodiscard]] const Model& model() const { return model_; }
  [[nodiscard]] double rounding() const { return rounding_; }
  [[nodiscard]] double target_error(int target) const;
  [[nodiscard]] int targets() const { return targets_.count(); }
  [[nodiscard]] std::vector<std::string> joints_at_limits() const;

 private:
  struct Limit {
    int joint = 0, axis = 0;
    double lower = -infinity, upper = infinity;
    DriveAxis<double> now{0, Vec3::Zero(), Vec3::Zero(), Vec3::Zero(), Vec3::Zero()};
    int held = 0;  // -1 at the lower, 1 at the upper stop, 0 where neither is in force
  };
  void put_limit(std::size_t k);
  /// Puts M + K/damping in the place of the masses.
  void stiffen(double damping);
  void solve_rows();
  /// Puts stops in force that the move would pass, and lets go of those that pull; false where nothing changed.
  bool change_limits(bool may_release);
  void clamp_to_limits(const Placement& step, State& s) const;
  [[nodiscard]] double along(std::size_t limit) const;

  Model model_;
  State start_;
  double t_ = 0;
  ConstraintSet joints_;
  TargetRows targets_;
  std::vector<Limit> limits_;
  std::vector<int> local_of_;        // place of each partner among those that move, or -1
  std::vector<int> bodies_;          // movable partners
  std::vector<VelocitySlot> slots_;  // of each
  std::vector<Placement> placements_;
  bool tree_ = false;
  Kinematics kinematics_;
  ConstraintProblem problem_;
  RowValues values_;
  VecX errors_;  // of targets
  VecX x_, local_, move_;
  Workspace workspace_;
  SolveReport report_;
  double rounding_ = 0, response_ = 0;
  std::vector<std::vector<int>> limits_of_joint_;
  VecX lambda_;  // forces of joints in the last damped solve; empty before the first
  LumpedStiffness stiffness_;
};

}  // namespace rotule
