#pragma once
// The integration methods (A5, B4, C2), one struct of settings each, with what the method promises. src/integrate holds one
// file per method; its stability function is in src/integrate/stability.h.
#include <rotule/fields.h>
#include <rotule/integrator_traits.h>
#include <rotule/integrators_adaptive.h>

#include <string_view>
#include <variant>

namespace rotule {

/// How implicit methods solve their equations: Newton's method, damped where it overshoots. A step whose equations are not
/// solved is made in two halves, and those in halves again.
struct NewtonSettings {
  double tolerance = 1e-12;
  int max_iterations = 40;
  int max_halvings = 8;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"tolerance", "", "velocity error that is left in a stage, relative to the largest velocity", 0, 1, true},
          s.tolerance);
    visit(Field{"max_iterations", "", "most Newton iterations per stage before the step is halved", 1, 1e6}, s.max_iterations);
    visit(Field{"max_halvings", "", "how many times over a step may be halved", 0, 30}, s.max_halvings);
  }
};

/// Methods whose stages are solved one by one. Where particles alone move, a stage is a minimum of inertia and potential energy:
/// found as one, and never halved.
struct StageSettings : NewtonSettings {
  bool minimise = true;
  double minimum_tolerance = 1e-8;
  int minimum_iterations = 400;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    NewtonSettings::fields(s, visit);
    visit(Field{"minimise", "", "whether stages of particles alone are found as minima, without halving"}, s.minimise);
    visit(Field{"minimum_tolerance", "", "of those: the last correction's velocity, relative to the largest", 0, 1, true},
          s.minimum_tolerance);
    visit(Field{"minimum_iterations", "", "of those: most Newton iterations", 1, 1e6}, s.minimum_iterations);
  }
};

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
  static constexpr IntegratorTraits traits{.order = 2, .stages = 2, .evaluations = 2};
};

struct Rk4Settings : NoFields {
  static constexpr std::string_view name = "rk4";
  static constexpr std::string_view summary = "the classical Runge-Kutta method";
  static constexpr IntegratorTraits traits{.order = 4, .stages = 4, .evaluations = 4};
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

struct VerletSettings : NoFields {
  static constexpr std::string_view name = "verlet";
  static constexpr std::string_view summary = "Stoermer-Verlet in positions (C2): 2 q - q_before + h^2 a";
  static constexpr IntegratorTraits traits{.order = 2, .evaluations = 1, .symplectic = true};
};

struct ModifiedEulerSettings : NoFields {
  static constexpr std::string_view name = "modified_euler";
  static constexpr std::string_view alias = "heun";
  static constexpr std::string_view summary = "trapezoid with an explicit predictor";
  static constexpr IntegratorTraits traits{.order = 2, .stages = 2, .evaluations = 2};
};

struct TwoThirdsSettings : NoFields {
  static constexpr std::string_view name = "two_thirds";
  static constexpr std::string_view summary = "y + h/4 (f(y) + 3 f(y + 2/3 h f))";
  static constexpr IntegratorTraits traits{.order = 2, .stages = 2, .evaluations = 2};
};

struct Taylor2Settings : NoFields {
  static constexpr std::string_view name = "taylor2";
  static constexpr std::string_view summary = "Taylor series to h^2, with the derivative of the acceleration";
  static constexpr IntegratorTraits traits{.order = 2, .evaluations = 3};
};

struct Taylor3Settings : NoFields {
  static constexpr std::string_view name = "taylor3";
  static constexpr std::string_view summary = "Taylor series to h^3, with two derivatives of the acceleration";
  static constexpr IntegratorTraits traits{.order = 3, .evaluations = 5};
};

struct LinearImplicitEulerSettings : NoFields {
  static constexpr std::string_view name = "linear_implicit_euler";
  static constexpr std::string_view summary = "implicit Euler by one linear solve (B4)";
  static constexpr IntegratorTraits traits{.order = 1, .evaluations = 1, .implicit = true};
};

struct ImplicitEulerSettings : StageSettings {
  static constexpr std::string_view name = "implicit_euler";
  static constexpr std::string_view summary = "y + h f(y+), solved to its end";
  static constexpr IntegratorTraits traits{.order = 1, .evaluations = 1, .implicit = true};
};

struct TrapezoidSettings : StageSettings {
  static constexpr std::string_view name = "trapezoid";
  static constexpr std::string_view summary = "y + h/2 (f(y) + f(y+))";
  static constexpr IntegratorTraits traits{.order = 2, .stages = 2, .evaluations = 1, .symplectic = true, .implicit = true};
};

struct ImplicitMidpointSettings : StageSettings {
  static constexpr std::string_view name = "implicit_midpoint";
  static constexpr std::string_view summary = "y + h f((y + y+) / 2)";
  static constexpr IntegratorTraits traits{.order = 2, .evaluations = 1, .symplectic = true, .implicit = true};
};

struct Gauss4Settings : NewtonSettings {
  static constexpr std::string_view name = "gauss4";
  static constexpr std::string_view summary = "Gauss-Legendre collocation, two stages";
  static constexpr IntegratorTraits traits{.order = 4, .stages = 2, .evaluations = 2, .symplectic = true, .implicit = true};
};

struct Gauss6Settings : NewtonSettings {
  static constexpr std::string_view name = "gauss6";
  static constexpr std::string_view summary = "Gauss-Legendre collocation, three stages";
  static constexpr IntegratorTraits traits{.order = 6, .stages = 3, .evaluations = 3, .symplectic = true, .implicit = true};
};

struct Bdf2Settings : StageSettings {
  static constexpr std::string_view name = "bdf2";
  static constexpr std::string_view summary = "backward differences over two steps, started by one step of sdirk";
  static constexpr IntegratorTraits traits{.order = 2, .evaluations = 1, .implicit = true};
};

struct SdirkSettings : StageSettings {
  static constexpr std::string_view name = "sdirk";
  static constexpr std::string_view summary = "Alexander's diagonally implicit Runge-Kutta method, L-stable";
  static constexpr IntegratorTraits traits{.order = 3, .stages = 3, .evaluations = 1, .implicit = true};
};

struct GeneralisedAlphaSettings : NewtonSettings {
  static constexpr std::string_view name = "generalised_alpha";
  static constexpr std::string_view summary = "generalised-alpha on the rotation group: damps only what the step cannot resolve";
  static constexpr IntegratorTraits traits{.order = 2, .evaluations = 1, .implicit = true};
  double rho_infinity = 0.8;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    NewtonSettings::fields(s, visit);
    visit(Field{"rho_infinity", "", "what is left per step of infinitely fast oscillations", 0, 1}, s.rho_infinity);
  }
};

using IntegratorSettings =
    std::variant<Rk4Settings, ExplicitEulerSettings, SemiImplicitEulerSettings, Rk2Settings, Ab4Settings, LeapfrogSettings,
                 VerletSettings, ModifiedEulerSettings, TwoThirdsSettings, Taylor2Settings, Taylor3Settings,
                 LinearImplicitEulerSettings, ImplicitEulerSettings, TrapezoidSettings, ImplicitMidpointSettings, Gauss4Settings,
                 Gauss6Settings, Bdf2Settings, SdirkSettings, GeneralisedAlphaSettings, DormandPrinceSettings,
                 DormandPrince8Settings, Radau5Settings, RattleSettings, Rattle4Settings, Rattle6Settings>;

}  // namespace rotule
