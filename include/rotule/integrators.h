#pragma once
// The integration methods (A5), one tag each, with what the method promises. src/integrate holds one file per method.
#include <rotule/integrator_traits.h>
#include <rotule/integrators_adaptive.h>

#include <string_view>
#include <variant>

namespace rotule {

struct ExplicitEulerSettings : NoFields {
  static constexpr std::string_view name = "explicit_euler";
  static constexpr std::string_view summary = "y + h f(y)";
  static constexpr IntegratorTraits traits{.order = 1, .evaluations = 1};
};

struct SemiImplicitEulerSettings : NoFields {
  static constexpr std::string_view name = "semi_implicit_euler";
  static constexpr std::string_view summary = "velocity first, then position with the new velocity";
  static constexpr IntegratorTraits traits{.order = 1, .evaluations = 1, .symplectic = true};
};

struct Rk2Settings : NoFields {
  static constexpr std::string_view name = "rk2";
  static constexpr std::string_view alias = "midpoint";
  static constexpr std::string_view summary = "explicit midpoint";
  static constexpr IntegratorTraits traits{.order = 2, .evaluations = 2};
};

struct Rk4Settings : NoFields {
  static constexpr std::string_view name = "rk4";
  static constexpr std::string_view summary = "the classical Runge-Kutta method";
  static constexpr IntegratorTraits traits{.order = 4, .evaluations = 4};
};

struct Ab4Settings : NoFields {
  static constexpr std::string_view name = "ab4";
  static constexpr std::string_view summary = "Adams-Bashforth with four values, started by three RK4 steps";
  static constexpr IntegratorTraits traits{.order = 4, .evaluations = 1};
};

struct LeapfrogSettings : NoFields {
  static constexpr std::string_view name = "leapfrog";
  static constexpr std::string_view summary = "kick, drift, kick; symplectic where forces depend on position alone";
  static constexpr IntegratorTraits traits{.order = 2, .evaluations = 1, .symplectic = true};
};

using IntegratorSettings =
    std::variant<Rk4Settings, ExplicitEulerSettings, SemiImplicitEulerSettings, Rk2Settings, Ab4Settings, LeapfrogSettings,
                 DormandPrinceSettings, DormandPrince8Settings, RattleSettings, Rattle4Settings, Rattle6Settings>;

}  // namespace rotule
