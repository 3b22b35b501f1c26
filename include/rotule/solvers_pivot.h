#pragma once
// Settings of the pivoting solvers (D5): they find which rows are free and which stand at a bound. Included by solvers.h.
#include <rotule/fields.h>
#include <rotule/solver_traits.h>

#include <string_view>

namespace rotule {

/// Complementary pivoting.
struct LemkeSettings {
  static constexpr std::string_view name = "lemke";
  static constexpr SolverTraits traits{.bounds = true, .box = true, .exact = true};
  static constexpr std::string_view summary =
      "Lemke's complementary pivoting, lexicographic; friction boxes exactly, as part of the complementarity problem; small "
      "systems";
  double tolerance = 1e-9;
  int max_iterations = 20000;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"tolerance", "", "relative residual above which the answer counts as not converged", 0, 1, true}, s.tolerance);
    visit(Field{"max_iterations", "", "most pivots per solve", 1, 1e9}, s.max_iterations);
  }
};

/// Block principal pivoting.
struct BlockPivotingSettings {
  static constexpr std::string_view name = "block_pivoting";
  static constexpr SolverTraits traits{.bounds = true, .box = true, .exact = true};
  static constexpr std::string_view summary =
      "block principal pivoting with Murty's single pivots as a fallback; boxes by bounds that follow the normals";
  double tolerance = 1e-9;
  int max_iterations = 2000;
  int patience = 10;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"tolerance", "", "relative residual at which it stops", 0, 1, true}, s.tolerance);
    visit(Field{"max_iterations", "", "most changes of the index set per solve", 1, 1e9}, s.max_iterations);
    visit(Field{"patience", "", "block exchanges without fewer wrong rows before single ones", 1, 1000}, s.patience);
  }
};

/// Incremental pivoting, row after row.
struct DantzigSettings {
  static constexpr std::string_view name = "dantzig";
  static constexpr SolverTraits traits{.bounds = true, .box = true, .exact = true};
  static constexpr std::string_view summary =
      "Cottle and Dantzig's incremental pivoting, row after row (Baraff 1994); boxes by passes with the last normals";
  double tolerance = 1e-9;
  int max_iterations = 50;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"tolerance", "", "relative residual at which it stops", 0, 1, true}, s.tolerance);
    visit(Field{"max_iterations", "", "most passes over all rows per solve", 1, 1e9}, s.max_iterations);
  }
};

/// Joints and normals by pivoting, friction by sweeps, in turn.
struct SplitPivotingSettings {
  static constexpr std::string_view name = "split_pivoting";
  static constexpr SolverTraits traits{.bounds = true, .box = true, .cone = true};
  static constexpr std::string_view summary = "joints and normals by pivoting, friction by sweeps, in turn (D5); boxes and cones";
  double tolerance = 1e-8;
  int max_iterations = 1000;
  int friction_sweeps = 10;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"tolerance", "", "relative residual at which it stops", 0, 1, true}, s.tolerance);
    visit(Field{"max_iterations", "", "most turns per solve", 1, 1e9}, s.max_iterations);
    visit(Field{"friction_sweeps", "", "sweeps over the friction rows per turn", 1, 1000}, s.friction_sweeps);
  }
};

}  // namespace rotule
