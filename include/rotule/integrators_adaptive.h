#pragma once
// Settings of the methods that choose their own step, and of the symplectic ones for constrained bodies. docs/adaptive.md and
// docs/symplectic.md say what they do.
#include <rotule/fields.h>
#include <rotule/integrator_traits.h>

#include <string_view>

namespace rotule {

/// What every method with error control is asked for. An error counts relative to the mechanism: lengths to its extent, turns to
/// one radian, velocities to its fastest motion; the absolute tolerance is added for what is at rest. The default leaves room for
/// motions that are sensitive: a body that spins about its middle axis makes a hundred thousand times as much of an error.
struct ErrorControl {
  double relative_tolerance = 1e-8;
  double absolute_tolerance = 1e-12;
  double max_step = 1e9;             // s
  double min_step = 1e-12;           // s
  double min_event_interval = 1e-6;  // s

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"relative_tolerance", "",
                "error asked for, relative to the mechanism's extent, one radian and its fastest motion", 1e-14, 0.1},
          s.relative_tolerance);
    visit(Field{"absolute_tolerance", "m, rad, m/s, rad/s", "error that is always allowed", 0, 1}, s.absolute_tolerance);
    visit(Field{"max_step", "s", "largest step inside", 0, 1e12, true}, s.max_step);
    visit(Field{"min_step", "s", "smallest step inside; what still errs more there is reported as not converged", 0, 1e9, true},
          s.min_step);
    visit(Field{"min_event_interval", "s", "shocks that follow faster are left to the end of the step", 0, 1e9},
          s.min_event_interval);
  }
};

struct DormandPrinceSettings : ErrorControl {
  static constexpr std::string_view name = "dormand_prince";
  static constexpr std::string_view summary = "Runge-Kutta 5(4) with error control; events are located in time";
  static constexpr IntegratorTraits traits{.order = 5, .evaluations = 6, .adaptive = true};
};

struct DormandPrince8Settings : ErrorControl {
  DormandPrince8Settings() : ErrorControl{.relative_tolerance = 1e-10} {}
  explicit DormandPrince8Settings(const ErrorControl& control) : ErrorControl(control) {}
  static constexpr std::string_view name = "dormand_prince_8";
  static constexpr std::string_view summary = "Runge-Kutta 8(5,3) with error control, for tight tolerances";
  static constexpr IntegratorTraits traits{.order = 8, .evaluations = 12, .adaptive = true};
};

/// Implicit, so that what is stiff costs no steps: springs and dampers of any stiffness, with joints or without.
struct Radau5Settings : ErrorControl {
  static constexpr std::string_view name = "radau5";
  static constexpr std::string_view summary =
      "Radau IIA with three stages and error control, implicit and L-stable: stiff and exact";
  static constexpr IntegratorTraits traits{.order = 5, .stages = 3, .evaluations = 3, .implicit = true, .adaptive = true};
};

struct RattleSettings : NoFields {
  static constexpr std::string_view name = "rattle";
  static constexpr std::string_view summary = "kick, drift, kick with the joints exact: symplectic and reversible";
  static constexpr IntegratorTraits traits{.order = 2, .evaluations = 1, .symplectic = true, .constrained = true};
};

struct Rattle4Settings : NoFields {
  static constexpr std::string_view name = "rattle4";
  static constexpr std::string_view summary = "five steps of rattle composed to order 4 (Suzuki)";
  static constexpr IntegratorTraits traits{.order = 4, .evaluations = 5, .symplectic = true, .constrained = true};
};

struct Rattle6Settings : NoFields {
  static constexpr std::string_view name = "rattle6";
  static constexpr std::string_view summary = "nine steps of rattle composed to order 6 (Kahan and Li)";
  static constexpr IntegratorTraits traits{.order = 6, .evaluations = 9, .symplectic = true, .constrained = true};
};

}  // namespace rotule
