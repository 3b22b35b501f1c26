#pragma once
// Rows and second derivatives of constraints given as text, of positions and the time alone, straight from the bodies: what the
// tape (model/equation_tape.h) asks of them are points and directions that they carry.
#include <span>

#include "constraint/pool/evaluation.h"
#include "constraint/rows.h"
#include "model/equation_tape.h"

namespace rotule {

/// One walk forwards over a joint's tape; then, equation by equation, its rows.
class TapeRows {
 public:
  TapeRows(const FunctionJoint& joint, std::span<const BodyLanes<double>* const> bodies, double t);

  /// Turns to an equation: the three numbers of its row, and its sides.
  void turn_to(int equation);
  double C = 0, C_t = 0, gamma = 0;
  [[nodiscard]] const RowSide<double>& side(int partner) const { return sides_[partner]; }
  /// Whether all of it are finite numbers.
  [[nodiscard]] bool finite() const { return std::isfinite(sum_); }

 private:
  const FunctionJoint& joint_;
  const EquationTape& tape_;
  TapeRoom<EquationTape::Slot, EquationTape::usual_slots> slots_;
  TapeRoom<Vec3, EquationTape::usual_slots / 3> levers_;  // of the vectors
  union {
    RowSide<double> sides_[Moving::most_bodies];  // NOLINT: of the joint's partners
  };
  double sum_ = 0;
};

/// H += sum lambda_k H_k over the equations, forward over reverse: along the six motions of each partner, how the gradient
/// changes. Parameters that have been eliminated move with the bodies.
void add_tape_hessian(const FunctionJoint& joint, std::span<const BodyLanes<double>* const> bodies, double t,
                      std::span<const double> lambda, std::span<const ParameterMotion> parameters, Eigen::Ref<MatX> H);

}  // namespace rotule
