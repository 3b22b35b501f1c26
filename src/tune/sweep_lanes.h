#pragma once
// Projected Gauss-Seidel (D4) for many settings at once on one problem: every lane of a vector is a candidate with relaxation,
// regularisation and warm start of its own, and the matrix is read once for all of them.
//
//   x_i <- clamp(x_i - alpha (w_i + kappa x_i) / (A_ii + kappa), lower_i, upper_i),   w = A x - b,
//   e = sum |psi_i|,  psi_i = max(min(upper_i - x_i, w_i^-), min(x_i - lower_i, w_i^+)),
//
// cones and disks as the judge of all solvers has them (problem.h).
//
// Two forms of A, chosen by what a sweep costs. By blocks: w is kept current, a change of x_i adds its column of blocks; costs
// the entries of A. By bodies: velocities u = M^-1 J^T x are kept, w_i = J_i u + C_i x_i - b_i; costs 24 products per row and 12
// more for e, however many contacts meet in a body.
//
// Lanes never meet: the answer of a candidate has the same bits whoever its neighbours are and however wide the machine's vectors
// are. In float, sums begin to err where e is below about 1e-7 |b| of all rows together: the best candidate is solved again in
// double.
#include <rotule/problem.h>

#include <memory>
#include <span>
#include <vector>

namespace rotule::tune {

enum class Direction { forward, reverse, to_and_fro };

struct SweepParameters {
  double relaxation = 1;
  double friction_relaxation = 1;  // of rows of friction
  double regularisation = 0;
  double warm = 0;         // part of the problem's x0 from which it begins
  bool staggered = false;  // all rows of friction after all others
  Direction direction = Direction::forward;
  friend bool operator==(const SweepParameters&, const SweepParameters&) = default;
};

/// A run ends at the first of these (D4).
struct SweepLimits {
  int max_sweeps = 200;
  double error = 1e-4;   // e
  double change = 1e-9;  // |delta x| of a sweep
};

struct SweepOutcome {
  int sweeps = 0;
  double error = 0;        // e where it ended
  double least_error = 0;  // of all sweeps
};

enum class Precision { single_precision, double_precision };
enum class MatrixForm { automatic, blocks, bodies };

class SweepLanes {
 public:
  explicit SweepLanes(const ConstraintProblem& problem, MatrixForm form = MatrixForm::automatic);
  ~SweepLanes();
  SweepLanes(SweepLanes&&) noexcept;
  SweepLanes& operator=(SweepLanes&&) noexcept;

  /// One outcome per candidate.
  void run(std::span<const SweepParameters> candidates, const SweepLimits& limits, Precision precision,
           std::span<SweepOutcome> outcomes);
  /// One candidate in double, and its x.
  SweepOutcome run(const SweepParameters& candidate, const SweepLimits& limits, std::span<double> x);

  [[nodiscard]] MatrixForm form() const;
  /// Entries of A per row.
  [[nodiscard]] double density() const;

 private:
  struct Inside;
  std::unique_ptr<Inside> inside_;
};

}  // namespace rotule::tune
