#pragma once
// Settings of `spg`.
#include <rotule/solver_fields.h>
#include <rotule/solver_storage.h>

#include <string_view>

namespace rotule {

/// Spectral projected gradients.
struct SpgSettings {
  static constexpr std::string_view name = "spg";
  static constexpr std::string_view family = "gradient";
  static constexpr SolverTraits traits{.bounds = true, .box = true, .cone = true};
  static constexpr std::string_view summary = "spectral projected gradients (Barzilai-Borwein) with a non-monotone line search";
  int memory = 10;
  BlockStorage storage = {};
  double tolerance = 1e-8;
  int max_iterations = 20000;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"memory", "", "values of the objective that a step may not exceed", 1, 1000}, s.memory);
    visit(storage_field, s.storage);
    iteration_fields(s, visit, "most products with A per solve");
  }
};

}  // namespace rotule
