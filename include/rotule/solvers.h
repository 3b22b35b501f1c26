#pragma once
// Settings of the solvers (A10), one struct each. The choice at run time is a variant, visited once per island and solve.
#include <rotule/fields.h>
#include <rotule/solver_traits.h>
#include <rotule/solvers_gradient.h>
#include <rotule/solvers_hybrid.h>
#include <rotule/solvers_newton.h>
#include <rotule/solvers_pivot.h>
#include <rotule/solvers_sweep.h>

#include <string_view>
#include <variant>

namespace rotule {

/// Block-sparse LDL^T of A = J M^-1 J^T: leaves first on trees, fill-reducing order on loops, symbolic part reused.
struct LdltSettings {
  static constexpr std::string_view name = "ldlt";
  static constexpr SolverTraits traits{.exact = true};
  static constexpr std::string_view summary =
      "block-sparse LDL^T, leaves first; linear time on trees, loops and redundancy allowed";
  double pivot_tolerance = 1e-12;
  int max_refinements = 3;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"pivot_tolerance", "", "a pivot this small against its diagonal marks a redundant row", 0, 1e-3},
          s.pivot_tolerance);
    visit(Field{"max_refinements", "", "most steps of iterative refinement per solve", 0, 100}, s.max_refinements);
  }
};

/// Dense LDL^T of the whole matrix: the plain textbook answer that the others are compared with.
struct DenseLdltSettings {
  static constexpr std::string_view name = "dense_ldlt";
  static constexpr SolverTraits traits{.exact = true};
  static constexpr std::string_view summary = "dense LDL^T; cubic time, for small systems and comparison";
  double pivot_tolerance = 1e-12;
  int max_refinements = 3;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"pivot_tolerance", "", "a pivot this small against its diagonal marks a redundant row", 0, 1e-3},
          s.pivot_tolerance);
    visit(Field{"max_refinements", "", "most steps of iterative refinement per solve", 0, 100}, s.max_refinements);
  }
};

/// Featherstone's recursion in constraint form: O(n) on trees, bodies with many joints included. Refuses loops.
struct ArticulatedBodySettings {
  static constexpr std::string_view name = "articulated_body";
  static constexpr SolverTraits traits{.exact = true};
  static constexpr std::string_view summary = "articulated-body recursion; linear time, trees only";
  int max_refinements = 1;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"max_refinements", "", "most steps of iterative refinement per solve", 0, 100}, s.max_refinements);
  }
};

/// Schur complement of the loop closures over a spanning tree that the articulated-body recursion solves.
struct SchurSettings {
  static constexpr std::string_view name = "schur";
  static constexpr SolverTraits traits{.exact = true};
  static constexpr std::string_view summary = "loop closures over a tree; linear time in the tree, cubic in the closures";
  bool conjugate_gradients = false;
  double pivot_tolerance = 1e-12;
  double tolerance = 1e-13;
  int max_refinements = 3;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"conjugate_gradients", "", "solve the closures' system by conjugate gradients instead of elimination"},
          s.conjugate_gradients);
    visit(Field{"pivot_tolerance", "", "a pivot this small against its diagonal marks a redundant row", 0, 1e-3},
          s.pivot_tolerance);
    visit(Field{"tolerance", "", "relative residual at which the conjugate gradients stop", 0, 1, true}, s.tolerance);
    visit(Field{"max_refinements", "", "most steps of iterative refinement per solve", 0, 100}, s.max_refinements);
  }
};

/// Conjugate gradients with block-Jacobi preconditioning, matrix-free.
struct CgSettings {
  static constexpr std::string_view name = "cg";
  static constexpr SolverTraits traits{};
  static constexpr std::string_view summary = "conjugate gradients, block-Jacobi preconditioned, matrix-free";
  double tolerance = 1e-12;
  int max_iterations = 10000;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"tolerance", "", "relative residual at which it stops", 0, 1, true}, s.tolerance);
    visit(Field{"max_iterations", "", "most iterations per solve", 1, 1e9}, s.max_iterations);
  }
};

/// Successive over-relaxation by blocks; with relaxation 1 it is Gauss-Seidel.
struct SorSettings {
  static constexpr std::string_view name = "sor";
  static constexpr SolverTraits traits{};
  static constexpr std::string_view summary = "block successive over-relaxation, matrix-free; relaxation 1 is Gauss-Seidel";
  double relaxation = 1.3;
  double tolerance = 1e-10;
  int max_iterations = 100000;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"relaxation", "", "1 is Gauss-Seidel, towards 2 over-relaxes", 0, 2, true}, s.relaxation);
    visit(Field{"tolerance", "", "relative residual at which it stops", 0, 1, true}, s.tolerance);
    visit(Field{"max_iterations", "", "most sweeps per solve", 1, 1e9}, s.max_iterations);
  }
};

/// Gauss-Seidel by blocks.
struct GaussSeidelSettings {
  static constexpr std::string_view name = "gauss_seidel";
  static constexpr SolverTraits traits{};
  static constexpr std::string_view summary = "block Gauss-Seidel, matrix-free";
  double tolerance = 1e-10;
  int max_iterations = 100000;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"tolerance", "", "relative residual at which it stops", 0, 1, true}, s.tolerance);
    visit(Field{"max_iterations", "", "most sweeps per solve", 1, 1e9}, s.max_iterations);
  }
};

using SolverSettings =
    std::variant<LdltSettings, DenseLdltSettings, ArticulatedBodySettings, SchurSettings, CgSettings, SorSettings,
                 GaussSeidelSettings, PgsSettings, PsorSettings, JacobiSettings, BlockGaussSeidelSettings,
                 ColouredGaussSeidelSettings, ModulusGaussSeidelSettings, ShockPropagationSettings, ChebyshevSettings,
                 NncgSettings, AndersonSettings, ApgdSettings, SpgSettings, ProxNewtonSettings, HomotopySettings, AdmmSettings,
                 InteriorPointSettings, PgsSmSettings, LemkeSettings, BlockPivotingSettings, DantzigSettings,
                 SplitPivotingSettings, HybridSettings, TwoLevelSettings, AutoSettings>;

}  // namespace rotule
