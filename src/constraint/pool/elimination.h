#pragma once
// Parameters s of a constraint function F(q, s, t), found for a state alone: where |F| is least over their whole range. First at
// the places of a grid, and between them, as far as a table tells (model/parameter_table.h); then by Gauss and Newton's steps on
// the function itself. Where two places fit about equally, as where a curve crosses itself, the one along which the motion goes.
#include "constraint/pool/evaluation.h"
#include "model/parameter_table.h"

namespace rotule {

/// The parameters for a state, and what is perpendicular to them.
class Elimination {
 public:
  // Of the largest size, zero behind what there is: short loops of known length cost least.
  using Misfit = Eigen::Matrix<double, Equations::most, 1>;
  using ByParameters = std::array<Misfit, Moving::most_parameters>;
  using Parameters = std::array<double, Moving::most_parameters>;
  using Square = Eigen::Matrix<double, Equations::most, Equations::most>;

  /// Leaves the evaluation with the parameters' values, moving as the bodies do.
  Elimination(const FunctionJoint& joint, Evaluation& evaluation);
  /// F with gradients by the bodies' motions, along theirs; then `perpendicular` is known.
  std::span<const Moving> look_around();
  /// Of the equations in a row.
  [[nodiscard]] double perpendicular(std::size_t equation, std::size_t row) const {
    return Q_(static_cast<Eigen::Index>(equation), static_cast<Eigen::Index>(row) + count_);
  }
  /// How the parameters change with that change of F at constant parameters.
  [[nodiscard]] Parameters follow(const Misfit& change) const { return fit(seen_.by, -change); }

 private:
  std::span<const Moving> look() { return evaluation_(); }
  [[nodiscard]] double range(int k) const;
  void put(const Parameters& s);
  /// What a look has found: F, and its derivatives by the parameters and along the motion.
  struct Seen {
    Misfit F, rate;
    ByParameters by;
  };
  void see(const Parameters& s, Seen& out);
  Seen see(const Parameters& s);
  static void read(std::span<const Moving> F, Seen& out);
  /// The parameters' change for which dF/ds ds is as near to r as can be.
  [[nodiscard]] Parameters fit(const ByParameters& F_s, const Misfit& r) const;
  void find_perpendicular();
  [[nodiscard]] Parameters sample(int place) const;
  /// |F|^2 at all places, by the table or one by one.
  void measure(const ParameterTable* table);
  /// From a place to where |F| is least nearby, as the table has it; |F| there.
  double foretell(const ParameterTable& table, int place, Parameters& s) const;
  /// Gauss and Newton's steps from s to where |F| is least nearby; |F| there. s stays within the range.
  double descend(Parameters& s);
  [[nodiscard]] bool lowest(int place) const;
  /// Finds the places that are less than their neighbours, and the largest |F|^2.
  double find_valleys();
  double nearest(const ParameterTable* table, int place);
  Parameters search();
  double slip_at(const Parameters& s);

  const FunctionJoint& joint_;
  Evaluation& evaluation_;
  ParameterGrid grid_;
  int count_ = 0;
  double entry_ = 0;        // |F| where the last descent began
  Seen seen_;               // at the last look of a descent
  Parameters looked_at_{};  // where that was
  Square Q_;                // the first columns along dF/ds, the others perpendicular
  ParameterTable::Shares shares_;
  std::array<double, Equations::most_samples> square_;  // NOLINT: written as far as it is read
  std::array<int, Equations::most_samples> valley_;     // NOLINT: likewise
  int valleys_ = 0;
};

}  // namespace rotule
