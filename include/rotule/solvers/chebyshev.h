#pragma once
// Settings of `chebyshev`.
#include <rotule/solver_fields.h>
#include <rotule/solver_storage.h>

#include <string_view>

namespace rotule {

/// Chebyshev's semi-iteration over symmetric block Gauss-Seidel.
struct ChebyshevSettings {
  static constexpr std::string_view name = "chebyshev";
  static constexpr std::string_view family = "gradient";
  static constexpr SolverTraits traits{.bounds = true, .box = true, .cone = true};
  static constexpr std::string_view summary = "Chebyshev's semi-iteration over symmetric block Gauss-Seidel, safeguarded";
  int warm_up = 8;
  BlockStorage storage = {};
  double tolerance = 1e-8;
  int max_iterations = 10000;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"warm_up", "", "plain sweeps from which the largest eigenvalue is estimated", 3, 1000}, s.warm_up);
    visit(storage_field, s.storage);
    iteration_fields(s, visit, "most sweeps per solve");
  }
};

}  // namespace rotule
