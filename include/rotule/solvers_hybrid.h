#pragma once
// Settings of the solvers that use a problem's structure (F2): joints by elimination, stacks by a coarse problem, and the choice
// of a solver by what an island looks like. Included by solvers.h.
#include <rotule/fields.h>
#include <rotule/solver_traits.h>

#include <string_view>

namespace rotule {

/// Joints by the direct factor, contacts and bounded rows on its Schur complement.
struct HybridSettings {
  static constexpr std::string_view name = "hybrid";
  static constexpr SolverTraits traits{.bounds = true, .box = true, .cone = true};
  static constexpr std::string_view summary =
      "structural hybrid: joints eliminated by block-sparse LDL^T, contacts and limits iterate on the Schur complement";
  double tolerance = 1e-8;
  int max_iterations = 10000;
  double pivot_tolerance = 1e-12;
  int largest_complement = 4000000;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"tolerance", "", "relative residual at which it stops", 0, 1, true}, s.tolerance);
    visit(Field{"max_iterations", "", "most sweeps over the contacts per solve", 1, 1e9}, s.max_iterations);
    visit(Field{"pivot_tolerance", "", "a pivot this small against its diagonal marks a redundant joint row", 0, 1e-3},
          s.pivot_tolerance);
    visit(Field{"largest_complement", "", "entries up to which the Schur complement is written out", 0, 1e9},
          s.largest_complement);
  }
};

/// Sweeps, and a coarse problem of one block per pair of touching bodies.
struct TwoLevelSettings {
  static constexpr std::string_view name = "two_level";
  static constexpr SolverTraits traits{.bounds = true, .box = true, .cone = true};
  static constexpr std::string_view summary =
      "block Gauss-Seidel with a factored coarse problem, one wrench per pair of touching bodies: tall stacks, heavy on light";
  double tolerance = 1e-8;
  int max_iterations = 10000;
  int smoothing = 2;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"tolerance", "", "relative residual at which it stops", 0, 1, true}, s.tolerance);
    visit(Field{"max_iterations", "", "most sweeps per solve", 1, 1e9}, s.max_iterations);
    visit(Field{"smoothing", "", "sweeps, each to and fro, between coarse corrections", 1, 100}, s.smoothing);
  }
};

}  // namespace rotule
