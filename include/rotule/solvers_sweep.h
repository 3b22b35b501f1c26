#pragma once
// Settings of the solvers that sweep over rows or blocks (D4, D5).
#include <rotule/fields.h>
#include <rotule/solver_traits.h>

#include <string_view>
#include <variant>

namespace rotule {

// How a solver holds the matrix A.
struct AutomaticStorage {
  static constexpr std::string_view name = "automatic";
  static constexpr std::string_view summary = "sparse or matrix-free, by the count of multiplications";
  template <class Self, class Visitor>
  static void fields(Self&, Visitor&&) {}
};
struct DenseStorage {
  static constexpr std::string_view name = "dense";
  static constexpr std::string_view summary = "all of A: quadratic in rows, for small systems and comparison";
  template <class Self, class Visitor>
  static void fields(Self&, Visitor&&) {}
};
struct SparseStorage {
  static constexpr std::string_view name = "sparse";
  static constexpr std::string_view summary = "the non-zeros of A by rows, the diagonal first";
  template <class Self, class Visitor>
  static void fields(Self&, Visitor&&) {}
};
struct MatrixFreeStorage {
  static constexpr std::string_view name = "matrix_free";
  static constexpr std::string_view summary = "J and M alone, the bodies' velocities being kept up to date";
  template <class Self, class Visitor>
  static void fields(Self&, Visitor&&) {}
};
using RowStorage = std::variant<SparseStorage, DenseStorage, MatrixFreeStorage>;
using BlockStorage = std::variant<AutomaticStorage, SparseStorage, MatrixFreeStorage>;

// In which order a sweep visits the rows.
struct NaturalOrder {
  static constexpr std::string_view name = "natural";
  static constexpr std::string_view summary = "as the problem lists them";
  template <class Self, class Visitor>
  static void fields(Self&, Visitor&&) {}
};
struct ReverseOrder {
  static constexpr std::string_view name = "reverse";
  static constexpr std::string_view summary = "from the last to the first";
  template <class Self, class Visitor>
  static void fields(Self&, Visitor&&) {}
};
struct SymmetricOrder {
  static constexpr std::string_view name = "symmetric";
  static constexpr std::string_view summary = "to and fro in turns";
  template <class Self, class Visitor>
  static void fields(Self&, Visitor&&) {}
};
struct StaggeredOrder {
  static constexpr std::string_view name = "staggered";
  static constexpr std::string_view summary = "joints and normals first, then friction";
  template <class Self, class Visitor>
  static void fields(Self&, Visitor&&) {}
};
struct RandomOrder {
  static constexpr std::string_view name = "random";
  static constexpr std::string_view summary = "shuffled anew for every sweep, the same way for the same seed";
  int seed = 1;
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"seed", "", "of the random numbers", 0, 2147483647}, s.seed);
  }
};
using SweepOrder = std::variant<NaturalOrder, ReverseOrder, SymmetricOrder, StaggeredOrder, RandomOrder>;

/// Projected Gauss-Seidel by rows (D4).
struct PgsSettings {
  static constexpr std::string_view name = "pgs";
  static constexpr SolverTraits traits{.bounds = true, .box = true, .cone = true};
  static constexpr std::string_view summary = "projected Gauss-Seidel by rows (D4): relaxation, regularisation, orders, storages";
  double relaxation = 1;
  double regularisation = 0;
  bool adaptive_relaxation = false;
  RowStorage storage;
  SweepOrder order;
  double tolerance = 1e-8;
  double error_tolerance = 0;
  double change_tolerance = 0;
  int max_iterations = 10000;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"relaxation", "", "alpha: 1 is Gauss-Seidel, towards 2 over-relaxes", 0, 2, true}, s.relaxation);
    visit(Field{"regularisation", "", "kappa, added to the diagonal of A: softens all rows", 0, 0.1}, s.regularisation);
    visit(Field{"adaptive_relaxation", "", "whether relaxation is estimated from the ratio of successive changes"},
          s.adaptive_relaxation);
    visit(Field{"storage", "", "how A is held"}, s.storage);
    visit(Field{"order", "", "in which order a sweep visits the rows"}, s.order);
    visit(Field{"tolerance", "", "relative residual at which it stops", 0, 1}, s.tolerance);
    visit(Field{"error_tolerance", "", "sum of the rows' residuals at which it stops; 0 for never", 0, 1e30}, s.error_tolerance);
    visit(Field{"change_tolerance", "", "length of a sweep's change of x at which it gives up; 0 for never", 0, 1e30},
          s.change_tolerance);
    visit(Field{"max_iterations", "", "most sweeps per solve", 1, 1e9}, s.max_iterations);
  }
};

/// Projected successive over-relaxation: pgs with a relaxation of its own.
struct PsorSettings {
  static constexpr std::string_view name = "psor";
  static constexpr SolverTraits traits{.bounds = true, .box = true, .cone = true};
  static constexpr std::string_view summary = "projected successive over-relaxation by rows: pgs at relaxation 1.3";
  double relaxation = 1.3;
  bool adaptive_relaxation = false;
  RowStorage storage;
  SweepOrder order;
  double tolerance = 1e-8;
  int max_iterations = 10000;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"relaxation", "", "1 is Gauss-Seidel, towards 2 over-relaxes", 0, 2, true}, s.relaxation);
    visit(Field{"adaptive_relaxation", "", "whether relaxation is estimated from the ratio of successive changes"},
          s.adaptive_relaxation);
    visit(Field{"storage", "", "how A is held"}, s.storage);
    visit(Field{"order", "", "in which order a sweep visits the rows"}, s.order);
    visit(Field{"tolerance", "", "relative residual at which it stops", 0, 1}, s.tolerance);
    visit(Field{"max_iterations", "", "most sweeps per solve", 1, 1e9}, s.max_iterations);
  }
};

/// Gauss-Seidel by blocks, each solved exactly: nonsmooth Gauss-Seidel.
struct BlockGaussSeidelSettings {
  static constexpr std::string_view name = "block_gauss_seidel";
  static constexpr std::string_view alias = "nsgs";
  static constexpr SolverTraits traits{.bounds = true, .box = true, .cone = true};
  static constexpr std::string_view summary = "Gauss-Seidel by blocks: joints, limits and contacts solved exactly one by one";
  double relaxation = 1;
  bool symmetric = false;
  BlockStorage storage;
  double tolerance = 1e-8;
  int max_iterations = 10000;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"relaxation", "", "1 is Gauss-Seidel, towards 2 over-relaxes", 0, 2, true}, s.relaxation);
    visit(Field{"symmetric", "", "whether sweeps go to and fro in turns"}, s.symmetric);
    visit(Field{"storage", "", "how A is held"}, s.storage);
    visit(Field{"tolerance", "", "relative residual at which it stops", 0, 1}, s.tolerance);
    visit(Field{"max_iterations", "", "most sweeps per solve", 1, 1e9}, s.max_iterations);
  }
};

}  // namespace rotule
