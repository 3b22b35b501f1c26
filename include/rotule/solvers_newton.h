#pragma once
// Settings of the Newton-type contact solvers (D5).
#include <rotule/fields.h>
#include <rotule/solver_traits.h>

#include <string_view>

namespace rotule {

/// Nonsmooth Newton on the laws of contact, inside a proximal point iteration: the exact solver.
struct ProxNewtonSettings {
  static constexpr std::string_view name = "prox_newton";
  static constexpr SolverTraits traits{.bounds = true, .box = true, .cone = true, .exact = true};
  static constexpr std::string_view summary = "proximal point with nonsmooth Newton (Alart-Curnier), block-sparse LU; exact";
  double tolerance = 1e-10;
  int max_iterations = 1000;
  int first_sweeps = 10;
  double proximal = 1e-8;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"tolerance", "", "relative residual at which it stops", 0, 1, true}, s.tolerance);
    visit(Field{"max_iterations", "", "most Newton steps per solve", 1, 1e9}, s.max_iterations);
    visit(Field{"first_sweeps", "", "sweeps of block Gauss-Seidel before the first Newton step", 0, 1e6}, s.first_sweeps);
    visit(Field{"proximal", "", "proximal term that it starts with, over each row's own entry of A", 0, 1, true}, s.proximal);
  }
};

/// A path from a problem whose contacts hardly feel each other to the true one, followed by its arc length.
struct HomotopySettings {
  static constexpr std::string_view name = "homotopy";
  static constexpr SolverTraits traits{.bounds = true, .box = true, .cone = true};
  static constexpr std::string_view summary = "path following from anchors that sweeps find; for jams that nothing else solves";
  double tolerance = 1e-10;
  int max_iterations = 40000;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"tolerance", "", "relative residual at which it stops", 0, 1, true}, s.tolerance);
    visit(Field{"max_iterations", "", "most factors of Newton's system per solve, all paths together", 1, 1e9}, s.max_iterations);
  }
};

/// Primal-dual interior point on the cones, De Saxce's shift within Newton's equations.
struct InteriorPointSettings {
  static constexpr std::string_view name = "interior_point";
  static constexpr SolverTraits traits{.bounds = true, .box = true, .cone = true};
  static constexpr std::string_view summary = "primal-dual interior point: Nesterov-Todd scaling, predictor and corrector";
  double tolerance = 1e-8;
  int max_iterations = 100;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"tolerance", "", "relative residual at which it stops", 0, 1, true}, s.tolerance);
    visit(Field{"max_iterations", "", "most Newton steps per solve", 1, 1e9}, s.max_iterations);
  }
};

/// Alternating directions: a linear solve with a kept factor, then a projection on the cones.
struct AdmmSettings {
  static constexpr std::string_view name = "admm";
  static constexpr SolverTraits traits{.bounds = true, .box = true, .cone = true};
  static constexpr std::string_view summary = "alternating directions with a kept factor and a self-adjusting penalty";
  double tolerance = 1e-8;
  int max_iterations = 5000;
  double relaxation = 1.6;
  double penalty = 0.1;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"tolerance", "", "relative residual at which it stops", 0, 1, true}, s.tolerance);
    visit(Field{"max_iterations", "", "most iterations per solve", 1, 1e9}, s.max_iterations);
    visit(Field{"relaxation", "", "over-relaxation; 1 is none", 0, 2, true}, s.relaxation);
    visit(Field{"penalty", "", "penalty that it starts with, over each row's own entry of A", 0, 1e6, true}, s.penalty);
  }
};

/// Projected Gauss-Seidel with subspace minimisation: sweeps guess the active set, a linear solve finishes it.
struct PgsSmSettings {
  static constexpr std::string_view name = "pgs_sm";
  static constexpr SolverTraits traits{.bounds = true, .box = true, .cone = true};
  static constexpr std::string_view summary = "block Gauss-Seidel guesses the active set, a sparse solve finishes it; repeated";
  double tolerance = 1e-8;
  int max_iterations = 200;
  int sweeps = 5;
  int subspace_steps = 3;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"tolerance", "", "relative residual at which it stops", 0, 1, true}, s.tolerance);
    visit(Field{"max_iterations", "", "most rounds of sweeps and subspace steps", 1, 1e9}, s.max_iterations);
    visit(Field{"sweeps", "", "sweeps per round", 1, 1e6}, s.sweeps);
    visit(Field{"subspace_steps", "", "most linear solves per round", 1, 1e6}, s.subspace_steps);
  }
};

}  // namespace rotule
