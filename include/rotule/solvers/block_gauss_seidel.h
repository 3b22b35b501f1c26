#pragma once
// Settings of `block_gauss_seidel`.
#include <rotule/solver_fields.h>
#include <rotule/solver_storage.h>

#include <string_view>

namespace rotule {

/// Gauss-Seidel by blocks, each solved exactly: nonsmooth Gauss-Seidel.
struct BlockGaussSeidelSettings {
  static constexpr std::string_view name = "block_gauss_seidel";
  static constexpr std::string_view alias = "nsgs";
  static constexpr std::string_view family = "sweep";
  static constexpr std::string_view recommended_for = "contact on a fixed budget, better on stacks: a small max_iterations";
  static constexpr SolverTraits traits{.bounds = true, .box = true, .cone = true};
  static constexpr std::string_view summary = "Gauss-Seidel by blocks: joints, limits and contacts solved exactly one by one";
  double relaxation = 1;
  bool symmetric = false;
  BlockStorage storage = {};
  double tolerance = 1e-8;
  int max_iterations = 10000;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(relaxation_field, s.relaxation);
    visit(Field{"symmetric", "", "whether sweeps go to and fro in turns"}, s.symmetric);
    visit(storage_field, s.storage);
    iteration_fields(s, visit, "most sweeps per solve");
  }
};

}  // namespace rotule
