#pragma once
// Parameters s of a constraint function F(q, s, t), found for a state alone: where |F| is least over their whole range. First at
// the places of a grid (model/parameter_table.h), then by Gauss and Newton's steps from those that are less than their
// neighbours. Where two places fit about equally, as where a curve crosses itself, the one along which the motion goes.
#include "constraint/pool/evaluation.h"
#include "model/parameter_table.h"

namespace rotule {

/// The parameters for a state, and what is perpendicular to them.
class Elimination {
 public:
  using Misfit = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, Equations::most, 1>;
  using ByParameters = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, Equations::most, Moving::most_parameters>;
  using Parameters = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, Moving::most_parameters, 1>;
  using Square = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, Equations::most, Equations::most>;

  /// Leaves the evaluation with the parameters' values.
  Elimination(const FunctionJoint& joint, Evaluation& evaluation);
  /// Rates of the parameters that go with the rate of F at constant parameters; and with that of the motion.
  [[nodiscard]] Parameters rates(std::span<const Moving> F) const;
  [[nodiscard]] const Parameters& rates_of_motion() const { return rates_of_motion_; }

  Square N;

 private:
  std::span<const Moving> look() { return evaluation_(); }
  void put(const Parameters& s);
  /// Whether numbers are differentiated by a single parameter as if it were the motion, which costs least, or by all of them.
  void along_parameter(bool alone);
  [[nodiscard]] ByParameters by_parameters(std::span<const Moving> F) const;
  void find_perpendicular();
  [[nodiscard]] Parameters sample(int place) const;
  /// |F|^2 at all places, by the table or one by one.
  void measure(const ParameterTable* table);
  /// Gauss and Newton's steps from s to where |F| is least nearby; |F| there. s stays within the range.
  double descend(Parameters& s);
  [[nodiscard]] bool lowest(int place) const;
  double nearest(int place);
  Parameters search();
  double slip_at(const Parameters& s);

  const FunctionJoint& joint_;
  Evaluation& evaluation_;
  ParameterGrid grid_;
  int count_ = 0;
  bool alone_ = false;
  double entry_ = 0;  // |F| where the last descent began
  ByParameters F_s_;
  Misfit rate_;           // along the motion, where it is known from a descent's last look
  Parameters looked_at_;  // where that was
  Parameters rates_of_motion_;
  std::array<double, Equations::most_samples> square_;  // NOLINT: written as far as it is read
};

}  // namespace rotule
