#pragma once
// Settings of `nncg`.
#include <rotule/solver_fields.h>
#include <rotule/solver_storage.h>

#include <string_view>

namespace rotule {

/// Nonsmooth nonlinear conjugate gradients over block Gauss-Seidel.
struct NncgSettings {
  static constexpr std::string_view name = "nncg";
  static constexpr std::string_view family = "gradient";
  static constexpr std::string_view recommended_for = "contact of heaps and piles, moderate accuracy";
  static constexpr SolverTraits traits{.bounds = true, .box = true, .cone = true};
  static constexpr std::string_view summary = "nonlinear conjugate gradients whose gradient is a sweep of block Gauss-Seidel";
  bool symmetric = false;
  BlockStorage storage = {};
  double tolerance = 1e-8;
  int max_iterations = 10000;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"symmetric", "", "whether a sweep goes to and fro"}, s.symmetric);
    visit(storage_field, s.storage);
    iteration_fields(s, visit, "most sweeps per solve");
  }
};

}  // namespace rotule
