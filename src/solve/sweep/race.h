#pragma once
// Projected Gauss-Seidel by rows (pgs.cpp) for four runners at once, one per lane: rows are read once and serve all, so that a
// sweep of four costs about as much as a sweep of one. Lanes know nothing of each other; the same bits come out whatever the
// width of registers.
//
// x and, where A is not formed, the bodies' velocities u = M^-1 J^T x are one array of lanes, the state. A row is a sum over it:
// of J times the velocities of two bodies, and of further terms,
//   w_r = J_a u_a + J_b u_b + sum value * state[place] - b_r,
// and a change of x_r adds M^-1 J^T dx to those velocities, and value * dx to further places. Where A is formed its entries are
// the terms, and there are no bodies.
#include <rotule/problem.h>

#include <cstdint>
#include <span>
#include <vector>

#include "problem/delassus.h"
#include "solve/sweep/row_units.h"

namespace rotule {

inline constexpr int racers = 4;

/// A number for each lane.
struct alignas(32) RaceLanes {
  double lane[racers];
};

/// The algebra as lanes read it.
struct RaceRows {
  struct Term {
    double value;
    std::int64_t place;  // in the state
  };
  /// Where the velocities of a row's two bodies begin in the state; -1 where one does not move.
  struct Partners {
    std::int32_t a = -1, b = -1;
  };
  std::vector<Partners> partners;                    // per row
  std::vector<double> lines;                         // per row: J_a, J_b, M^-1 J_a, M^-1 J_b; none where A is formed
  std::vector<std::int32_t> term_start, push_start;  // per row, one more than rows
  std::vector<Term> terms, pushes;
  std::vector<RowUnit> units;
  std::vector<RaceLanes> state;  // x, then u
  std::vector<RaceLanes> last;   // the last change of x
  const ConstraintProblem* problem = nullptr;
};

class RelaxationRace {
 public:
  /// `formed`: terms are those of A, formed; else those of J and M^-1 J^T.
  void prepare(const ConstraintProblem& problem, bool formed);
  [[nodiscard]] const std::vector<RowUnit>& units() const { return rows_.units; }

  /// All lanes at x, which is put within its bounds.
  void begin(std::span<const double> x);
  /// One lane's x, or as much of its state as is asked for.
  void take(int lane, std::span<double> x) const;
  /// One lane's state, and back.
  [[nodiscard]] std::size_t places() const { return rows_.state.size(); }
  void put(int lane, std::span<const double> state);
  /// The last sweep's change of one lane's x.
  void take_change(int lane, std::span<double> change) const;
  /// The velocities made anew from x: rounding creeps in with the updates.
  void renew();
  /// One sweep with a relaxation per lane. Leaves, per lane, the length in the norm of energy of the residuals that units had
  /// when their turn came, and that of the change of x.
  void sweep(std::span<const std::int32_t> order, bool backwards, const RaceLanes& relaxation, double regularisation);
  [[nodiscard]] double residual(int lane) const { return residual_.lane[lane]; }
  [[nodiscard]] double change(int lane) const { return change_.lane[lane]; }

 private:
  RaceRows rows_;
  Delassus delassus_;
  RaceLanes residual_ = {}, change_ = {};
};

}  // namespace rotule
