#pragma once
// Targets of inverse kinematics as rows of a constraint problem (A9), written behind those of the joints:
//   point         C = x_a - x_b,
//   orientation   C = log(R_a (R_b R)^-1), the rotation vector that is left, in world axes,
//   look          C = the rotation vector that takes the direction to where it should point, along two axes across it,
//   centre        C = sum m_i p_i / m - c.
#include <rotule/inverse.h>

#include "constraint/geometric_stiffness.h"
#include "constraint/rows.h"
#include "dynamics/kinematics.h"

namespace rotule {

class TargetRows {
 public:
  /// Finds the bodies by name; throws Error with the target's number where it makes no sense.
  TargetRows(const Model& model, std::span<const Target> targets);

  /// Appends blocks and the bodies beyond two to the problem, from `row` on; returns the row behind the last one.
  int append_blocks(std::span<const int> local, int row, ConstraintProblem& problem);
  /// J of all rows into the problem, C into `errors`, by rows of this list.
  void evaluate(const Kinematics& bodies, ConstraintProblem& problem, VecX& errors) const;

  /// What the pull of errors at points, which keeps its direction while their levers turn, adds to the bodies' rotations.
  void add_stiffness(const Kinematics& bodies, std::span<const int> local, const VecX& errors, LumpedStiffness& K) const;

  [[nodiscard]] int rows() const { return rows_; }
  [[nodiscard]] int count() const { return static_cast<int>(compiled_.size()); }
  /// Rows of a target among these.
  [[nodiscard]] std::pair<int, int> range(int target) const { return {compiled_[target].first, compiled_[target].rows}; }
  [[nodiscard]] double weight(int target) const { return compiled_[target].weight; }

 private:
  /// A target with bodies by number, points from centres of mass in body axes.
  struct Compiled {
    enum class Kind { point, orientation, look, center } kind = Kind::point;
    int a = world_body, b = world_body;
    Vec3 r_a = Vec3::Zero(), r_b = Vec3::Zero();
    Quat turned = Quat::Identity();
    Mat3 sight = Mat3::Identity();  // of a look: direction and two axes across it, as columns
    std::array<bool, 3> axes{true, true, true};
    std::vector<int> bodies = {};  // of a centre: those that count
    double weight = 1, mass = 0;
    int first = 0, rows = 3;
    int block = -1;
  };
  struct Writer;
  void compile(const Model& model, const Target& target, Compiled& out) const;
  void write_center(const Compiled& target, const Kinematics& bodies, ConstraintProblem& problem, VecX& errors) const;

  std::vector<Compiled> compiled_;
  std::vector<double> mass_;   // per body
  std::vector<char> movable_;  // likewise
  int rows_ = 0, first_row_ = 0;
};

}  // namespace rotule
