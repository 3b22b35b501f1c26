#pragma once
// Settings of `homotopy`.
#include <rotule/solver_fields.h>

#include <string_view>

namespace rotule {

/// A path from a problem whose contacts hardly feel each other to the true one, followed by its arc length.
struct HomotopySettings {
  static constexpr std::string_view name = "homotopy";
  static constexpr std::string_view family = "newton";
  static constexpr std::string_view recommended_for = "contact, jams that nothing else solves, at any cost";
  static constexpr SolverTraits traits{.bounds = true, .box = true, .cone = true};
  static constexpr std::string_view summary = "path following from anchors that sweeps find; for jams that nothing else solves";
  double tolerance = 1e-10;
  int max_iterations = 40000;
  int first_sweeps = 4000;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    iteration_fields(s, visit, "most factors of Newton's system per solve, all paths together", Tolerance::above_zero);
    visit(Field{"first_sweeps", "", "most sweeps that find the first path's anchor; later ones get more", 1, 1e9},
          s.first_sweeps);
  }
};

}  // namespace rotule
