#pragma once
// Settings of `apgd`.
#include <rotule/solver_fields.h>
#include <rotule/solver_storage.h>

#include <string_view>

namespace rotule {

/// Nesterov's accelerated projected gradients.
struct ApgdSettings {
  static constexpr std::string_view name = "apgd";
  static constexpr std::string_view family = "gradient";
  static constexpr SolverTraits traits{.bounds = true, .box = true, .cone = true};
  static constexpr std::string_view summary =
      "Nesterov's accelerated projected gradients with restarts; friction bounds and the cone's shift follow outside";
  BlockStorage storage = {};
  double tolerance = 1e-8;
  int max_iterations = 20000;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(storage_field, s.storage);
    iteration_fields(s, visit, "most products with A per solve");
  }
};

}  // namespace rotule
