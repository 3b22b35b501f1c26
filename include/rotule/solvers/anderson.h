#pragma once
// Settings of `anderson`.
#include <rotule/solver_fields.h>
#include <rotule/solver_storage.h>

#include <string_view>

namespace rotule {

/// Anderson's acceleration of block Gauss-Seidel.
struct AndersonSettings {
  static constexpr std::string_view name = "anderson";
  static constexpr std::string_view family = "gradient";
  static constexpr SolverTraits traits{.bounds = true, .box = true, .cone = true};
  static constexpr std::string_view summary = "Anderson's acceleration of block Gauss-Seidel, safeguarded";
  int window = 8;
  BlockStorage storage = {};
  double tolerance = 1e-8;
  int max_iterations = 10000;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"window", "", "how many earlier sweeps are combined", 1, 50}, s.window);
    visit(storage_field, s.storage);
    iteration_fields(s, visit, "most sweeps per solve");
  }
};

}  // namespace rotule
