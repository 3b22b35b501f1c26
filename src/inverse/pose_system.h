#pragma once
// A mechanism and its targets as one constraint problem over poses (A9): rows of joints, of targets, and of stops: constraints of
// one side, and axes of joints that have limits. Stops that are not in force are rows all zero with a compliance of 1, so that
// the structure, and with it the symbolic part of the factorisation, stays the same from iteration to iteration.
#include "base/workspace.h"
#include "constraint/geometric_stiffness.h"
#include "inverse/target_rows.h"
#include "inverse/ties.h"

namespace rotule {

class PoseSystem {
 public:
  /// The world's mechanism as it stands; `hold` names bodies that must not move.
  PoseSystem(const World& world, std::span<const Target> targets, const InverseSettings& settings);

  /// Rows at a pose. Errors are largest |C|: of targets and joints; of stops, by how much one is passed.
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
  [[nodiscard]] bool has_limits() const { return !stops_.empty(); }
  [[nodiscard]] const State& start() const { return start_; }
  [[nodiscard]] const Model& model() const { return model_; }
  [[nodiscard]] double rounding() const { return rounding_; }
  [[nodiscard]] double target_error(int target) const;
  [[nodiscard]] int targets() const { return targets_.count(); }
  [[nodiscard]] std::vector<std::string> joints_at_limits() const;

 private:
  /// What may lie between two values: a row of a constraint of one side, or an axis of a joint with frames.
  struct Stop {
    int joint = 0, axis = -1;  // no axis: a constraint's row
    double lower = 0, upper = infinity;
    double q = 0;   // where it stands
    int block = 0;  // in gradients_
    int held = 0;   // -1 at the lower, 1 at the upper stop, 0 where neither is in force
  };
  void add_bounds(std::span<const int> joints);
  void add_limits(std::span<const int> joints);
  /// Appends the stops' blocks to the problem, from `row` on; returns the row behind the last one.
  int append_stops(int row);
  void evaluate_stops();
  /// The stop's row of the problem, in force or not.
  void put_stop(std::size_t k);
  /// Puts M + K/damping in the place of the masses.
  void stiffen(double damping);
  void solve_rows();
  /// Puts stops in force that the move would pass, and lets go of those that pull; false where nothing changed.
  bool change_stops(bool may_release);
  void clamp_to_limits(const Placement& step, State& s) const;

  Model model_;
  State start_;
  double t_ = 0;
  ConstraintSet joints_, bounds_;  // what is to be zero, and at least zero
  TargetRows targets_;
  std::vector<Stop> stops_;          // those of bounds_, row by row, then limits; in this order they are the problem's last rows
  ConstraintProblem gradients_;      // of all stops, in force or not: blocks and J alone
  RowValues room_;                   // of bounds_
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
  int first_stop_ = 0, first_more_stop_ = 0;  // rows of J and J_more
  double rounding_ = 0, response_ = 0;
  std::vector<std::vector<int>> limits_of_joint_;  // in stops_
  VecX lambda_, pressing_;                         // forces of joints and bounds in the last damped solve; empty before the first
  LumpedStiffness stiffness_, of_bounds_;
};

}  // namespace rotule
