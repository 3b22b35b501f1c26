#pragma once
// The joints of one island, one pool per kind, structure of arrays. A pool turns the present state into rows; nothing here
// knows how they will be solved.
#include <rotule/problem.h>

#include <span>
#include <vector>

#include "constraint/hessians.h"
#include "constraint/rows.h"

namespace rotule {

/// What the state makes of each row beside its Jacobian.
struct RowValues {
  VecX C;      // constraint error
  VecX C_t;    // its explicit rate: not zero for time-driven constraints alone
  VecX gamma;  // J-dot u and what time adds to it

  /// All zero.
  void resize(int rows) {
    for (VecX* v : {&C, &C_t, &gamma}) v->setZero(rows);
  }
};

/// Two bodies with a frame each, some of whose six axes are locked: ball, hinge, slider, cylindrical, universal, planar, weld,
/// point on line. Motors, limits and springs act on the axes that are left free.
struct LockedAxesPool {
  struct AxisPair {
    std::int8_t of_a, of_b;  // these axes of the two frames stay perpendicular
  };
  std::vector<int> joint, a, b;
  std::vector<Vec3> r_a, r_b;
  std::vector<Mat3> axes_a, axes_b;              // frame axes as columns, in body axes
  std::vector<std::array<bool, 3>> slides;       // locked translations; all three together are a point in common
  std::vector<std::array<AxisPair, 3>> aligned;  // locked rotations, `aligned_count` of them
  std::vector<std::int8_t> aligned_count;
};

struct RodPool {
  std::vector<int> joint, a, b;
  std::vector<Vec3> r_a, r_b;
  std::vector<double> length;
};

/// Constraints that a user wrote, evaluated with jets.
struct UserPool {
  std::vector<int> joint, a, b;
  std::vector<Vec3> frame_a, frame_b;  // origin of the body's frame, from the centre of mass
  std::vector<char> turns_a, turns_b;  // whether the partner is no particle
  std::vector<std::function<Jet(const JetBody&, const JetBody&, const Jet&)>> function;
};

class ConstraintSet {
 public:
  ConstraintSet() = default;
  /// The joints given by index; `local` maps a body of the model to its place in the island, or -1 where it cannot move.
  ConstraintSet(const Model& model, std::span<const int> joints, std::span<const int> local);

  [[nodiscard]] const std::vector<ConstraintBlock>& blocks() const { return blocks_; }
  [[nodiscard]] int rows() const { return rows_; }

  /// J, C, C_t and gamma of all rows at this state and time, from `first_row` of the problem and the values on.
  void evaluate(const Kinematics& bodies, double t, ConstraintProblem& problem, RowValues& values, int first_row = 0) const;
  /// sum lambda_r H_r of one block.
  [[nodiscard]] Mat12 hessian(int block, const Kinematics& bodies, double t, std::span<const double> lambda) const;
  /// The joint's point as its second body carries it, from that body's centre of mass, in world axes (of the first body for
  /// `second` false).
  [[nodiscard]] Vec3 lever(int block, const Kinematics& bodies, bool second) const;
  /// New numbers of bodies and joints, by old ones; empty where they stay.
  void renumber(std::span<const int> body, std::span<const int> joint);
  /// The block's partners, by their numbers.
  [[nodiscard]] std::pair<int, int> bodies_of(int block) const;

 private:
  [[nodiscard]] Jet evaluate_user_constraint(std::size_t i, const Kinematics& bodies, double t) const;

  LockedAxesPool locked_;
  RodPool rods_;
  UserPool users_;
  std::vector<ConstraintBlock> blocks_;  // pools one after the other
  int rows_ = 0;
};

}  // namespace rotule
