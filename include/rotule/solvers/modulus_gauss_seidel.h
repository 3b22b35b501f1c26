#pragma once
// Settings of `modulus_gauss_seidel`.
#include <rotule/solver_fields.h>
#include <rotule/solver_storage.h>

#include <string_view>

namespace rotule {

/// Accelerated modulus-based Gauss-Seidel by rows.
struct ModulusGaussSeidelSettings {
  static constexpr std::string_view name = "modulus_gauss_seidel";
  static constexpr std::string_view family = "sweep";
  static constexpr SolverTraits traits{.bounds = true, .box = true, .cone = true};
  static constexpr std::string_view summary = "accelerated modulus-based matrix splitting by rows";
  double relaxation = 1.2;
  double omega = 1;
  BlockStorage storage = {};
  double tolerance = 1e-8;
  int max_iterations = 10000;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"relaxation", "", "of the splitting; 1 is Gauss-Seidel's", 0, 2, true}, s.relaxation);
    visit(Field{"omega", "", "parameter matrix Omega over the diagonal of A; with 1 and relaxation 1 it is pgs", 0, 100, true},
          s.omega);
    visit(storage_field, s.storage);
    iteration_fields(s, visit, "most sweeps per solve");
  }
};

}  // namespace rotule
