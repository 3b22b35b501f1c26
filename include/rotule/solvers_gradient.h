#pragma once
// Settings of the accelerated solvers (D5): gradients and conjugate directions over sweeps or projections.
#include <rotule/fields.h>
#include <rotule/solver_traits.h>
#include <rotule/solvers_sweep.h>

#include <string_view>

namespace rotule {

/// Nonsmooth nonlinear conjugate gradients over block Gauss-Seidel.
struct NncgSettings {
  static constexpr std::string_view name = "nncg";
  static constexpr SolverTraits traits{.bounds = true, .box = true, .cone = true};
  static constexpr std::string_view summary = "nonlinear conjugate gradients whose gradient is a sweep of block Gauss-Seidel";
  bool symmetric = false;
  BlockStorage storage = {};
  double tolerance = 1e-8;
  int max_iterations = 10000;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"symmetric", "", "whether a sweep goes to and fro"}, s.symmetric);
    visit(Field{"storage", "", "how A is held"}, s.storage);
    visit(Field{"tolerance", "", "relative residual at which it stops", 0, 1}, s.tolerance);
    visit(Field{"max_iterations", "", "most sweeps per solve", 1, 1e9}, s.max_iterations);
  }
};

/// Chebyshev's semi-iteration over symmetric block Gauss-Seidel.
struct ChebyshevSettings {
  static constexpr std::string_view name = "chebyshev";
  static constexpr SolverTraits traits{.bounds = true, .box = true, .cone = true};
  static constexpr std::string_view summary = "Chebyshev's semi-iteration over symmetric block Gauss-Seidel, safeguarded";
  int warm_up = 8;
  BlockStorage storage = {};
  double tolerance = 1e-8;
  int max_iterations = 10000;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"warm_up", "", "plain sweeps from which the largest eigenvalue is estimated", 3, 1000}, s.warm_up);
    visit(Field{"storage", "", "how A is held"}, s.storage);
    visit(Field{"tolerance", "", "relative residual at which it stops", 0, 1}, s.tolerance);
    visit(Field{"max_iterations", "", "most sweeps per solve", 1, 1e9}, s.max_iterations);
  }
};

/// Anderson's acceleration of block Gauss-Seidel.
struct AndersonSettings {
  static constexpr std::string_view name = "anderson";
  static constexpr SolverTraits traits{.bounds = true, .box = true, .cone = true};
  static constexpr std::string_view summary = "Anderson's acceleration of block Gauss-Seidel, safeguarded";
  int window = 8;
  BlockStorage storage = {};
  double tolerance = 1e-8;
  int max_iterations = 10000;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"window", "", "how many earlier sweeps are combined", 1, 50}, s.window);
    visit(Field{"storage", "", "how A is held"}, s.storage);
    visit(Field{"tolerance", "", "relative residual at which it stops", 0, 1}, s.tolerance);
    visit(Field{"max_iterations", "", "most sweeps per solve", 1, 1e9}, s.max_iterations);
  }
};

/// Nesterov's accelerated projected gradients.
struct ApgdSettings {
  static constexpr std::string_view name = "apgd";
  static constexpr SolverTraits traits{.bounds = true, .box = true, .cone = true};
  static constexpr std::string_view summary =
      "Nesterov's accelerated projected gradients with restarts; friction bounds and the cone's shift follow outside";
  BlockStorage storage = {};
  double tolerance = 1e-8;
  int max_iterations = 20000;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"storage", "", "how A is held"}, s.storage);
    visit(Field{"tolerance", "", "relative residual at which it stops", 0, 1}, s.tolerance);
    visit(Field{"max_iterations", "", "most products with A per solve", 1, 1e9}, s.max_iterations);
  }
};

/// Spectral projected gradients.
struct SpgSettings {
  static constexpr std::string_view name = "spg";
  static constexpr SolverTraits traits{.bounds = true, .box = true, .cone = true};
  static constexpr std::string_view summary = "spectral projected gradients (Barzilai-Borwein) with a non-monotone line search";
  int memory = 10;
  BlockStorage storage = {};
  double tolerance = 1e-8;
  int max_iterations = 20000;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"memory", "", "values of the objective that a step may not exceed", 1, 1000}, s.memory);
    visit(Field{"storage", "", "how A is held"}, s.storage);
    visit(Field{"tolerance", "", "relative residual at which it stops", 0, 1}, s.tolerance);
    visit(Field{"max_iterations", "", "most products with A per solve", 1, 1e9}, s.max_iterations);
  }
};

}  // namespace rotule
