#pragma once
// Settings of `pgs`.
#include <rotule/solver_fields.h>
#include <rotule/solver_storage.h>

#include <string_view>

namespace rotule {

/// Projected Gauss-Seidel by rows (D4).
struct PgsSettings {
  static constexpr std::string_view name = "pgs";
  static constexpr std::string_view family = "sweep";
  static constexpr std::string_view recommended_for = "contact on a fixed budget, the plainest: a small max_iterations";
  static constexpr SolverTraits traits{.bounds = true, .box = true, .cone = true};
  static constexpr std::string_view summary = "projected Gauss-Seidel by rows (D4): relaxation, regularisation, orders, storages";
  double relaxation = 1;  // alpha; automatic_relaxation: the best of a race
  double regularisation = 0;
  bool adaptive_relaxation = false;
  RowStorage storage = MatrixFreeStorage{};  // a problem that gives its matrix is read as it stands, sparse
  SweepOrder order = {};
  double tolerance = 1e-8;
  double error_tolerance = 0;
  double change_tolerance = 0;
  int max_iterations = 10000;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"relaxation", "", "alpha: 1 is Gauss-Seidel, towards 2 over-relaxes; auto (0): the best of a race", 0, 2, false,
                "auto"},
          s.relaxation);
    visit(Field{"regularisation", "", "kappa, added to the diagonal of A: softens all rows", 0, 0.1}, s.regularisation);
    visit(Field{"adaptive_relaxation", "", "whether relaxation is estimated from the ratio of successive changes"},
          s.adaptive_relaxation);
    visit(storage_field, s.storage);
    visit(Field{"order", "", "in which order a sweep visits the rows"}, s.order);
    visit(Field{"tolerance", "", "relative residual at which it stops", 0, 1}, s.tolerance);
    visit(Field{"error_tolerance", "", "sum of the rows' residuals at which it stops; 0 for never", 0, 1e30}, s.error_tolerance);
    visit(Field{"change_tolerance", "", "length of a sweep's change of x at which it gives up; 0 for never", 0, 1e30},
          s.change_tolerance);
    visit(Field{"max_iterations", "", "most sweeps per solve", 1, 1e9}, s.max_iterations);
  }
};

/// Projected successive over-relaxation, under the name `psor` in files.
inline constexpr PgsSettings psor{.relaxation = 1.3};

}  // namespace rotule
