#pragma once
// Settings of `coloured_gauss_seidel`.
#include <rotule/solver_fields.h>
#include <rotule/solver_storage.h>

#include <string_view>

namespace rotule {

/// Block Gauss-Seidel by colours, in parallel.
struct ColouredGaussSeidelSettings {
  static constexpr std::string_view name = "coloured_gauss_seidel";
  static constexpr std::string_view family = "sweep";
  static constexpr SolverTraits traits{.bounds = true, .box = true, .cone = true};
  static constexpr std::string_view summary =
      "block Gauss-Seidel over colours of blocks that share no body, in parallel; same bits on any number of threads";
  int threads = 1;
  double relaxation = 1;
  BlockStorage storage = {};
  double tolerance = 1e-8;
  int max_iterations = 10000;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"threads", "", "threads to use; 0 for all", 0, 1024}, s.threads);
    visit(relaxation_field, s.relaxation);
    visit(storage_field, s.storage);
    iteration_fields(s, visit, "most sweeps per solve");
  }
};

}  // namespace rotule
