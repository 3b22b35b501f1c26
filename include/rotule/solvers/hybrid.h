#pragma once
// Settings of `hybrid`.
#include <rotule/solver_fields.h>

#include <string_view>

namespace rotule {

/// Joints by the direct factor, contacts and bounded rows on its Schur complement.
struct HybridSettings {
  static constexpr std::string_view name = "hybrid";
  static constexpr std::string_view family = "hybrid";
  static constexpr std::string_view recommended_for = "machines: many joints, few contacts, limits or motors";
  static constexpr SolverTraits traits{.bounds = true, .box = true, .cone = true};
  static constexpr std::string_view summary =
      "structural hybrid: joints eliminated by block-sparse LDL^T, contacts and limits iterate on the Schur complement";
  double tolerance = 1e-8;
  int max_iterations = 10000;
  double pivot_tolerance = 1e-12;
  int largest_complement = 4000000;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    iteration_fields(s, visit, "most sweeps over the contacts per solve", Tolerance::above_zero);
    visit(Field{"pivot_tolerance", "", "a pivot this small against its diagonal marks a redundant joint row", 0, 1e-3},
          s.pivot_tolerance);
    visit(Field{"largest_complement", "", "entries up to which the Schur complement is written out", 0, 1e9},
          s.largest_complement);
  }
};

}  // namespace rotule
