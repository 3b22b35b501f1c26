#pragma once
// A recipe: which integrator, formulation, drift correction and solver run a scene, at which step.
#include <rotule/contacts.h>
#include <rotule/fields.h>
#include <rotule/integrators.h>
#include <rotule/solver_choice.h>
#include <rotule/steppers.h>

#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace rotule {

/// A4: forces that keep the constraint's second derivative at zero.
struct AccelerationSettings : NoFields {
  static constexpr std::string_view name = "acceleration";
  static constexpr std::string_view summary = "multipliers from the second derivative of the constraints (A4)";
};

/// C2: the same, with two terms that pull the error and its rate back to zero.
struct StabilisedAccelerationSettings {
  static constexpr std::string_view name = "stabilised_acceleration";
  static constexpr std::string_view summary = "acceleration level with two-term stabilisation (C2)";
  double beta_velocity = 0.2;
  double beta_position = 0.01;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"beta_velocity", "", "share of the velocity error removed per step", 0, 2}, s.beta_velocity);
    visit(Field{"beta_position", "", "share of the position error removed per step squared", 0, 1}, s.beta_position);
  }
};

/// C1: impulses that set the velocity error to zero, with Baumgarte's share of the position error; F1: the constraint
/// forces' own stiffness treated implicitly, so that taut light chains hold at any step.
struct VelocitySettings {
  static constexpr std::string_view name = "velocity";
  static constexpr std::string_view summary = "impulses at velocity level, Baumgarte (C1), implicit geometric stiffness (F1)";
  double baumgarte = 0;
  bool geometric_stiffness = true;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"baumgarte", "", "share of the position error removed per step", 0, 1}, s.baumgarte);
    visit(Field{"geometric_stiffness", "", "whether the mass is M + h^2 K"}, s.geometric_stiffness);
  }
};

/// C4: impulses at velocity level that look half a step ahead. What joints hold to is the step's mean velocity, not its last one.
struct TaylorSettings {
  static constexpr std::string_view name = "taylor";
  static constexpr std::string_view summary = "impulses at velocity level with the term (h/2) J'u of second order (C4)";
  double baumgarte = 0;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"baumgarte", "", "share of the position error removed per step", 0, 1}, s.baumgarte);
  }
};

/// C3: the forces of C2 for a step, then the impulses of C1 on the velocities that they gave: two solves a step.
struct HybridFormulationSettings {
  static constexpr std::string_view name = "hybrid";
  static constexpr std::string_view summary = "forces of the acceleration level, then a correction of velocities (C3)";
  double beta_velocity = 0.2;
  double beta_position = 0.01;
  double baumgarte = 0;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"beta_velocity", "", "share of the velocity error that the forces remove per step", 0, 2}, s.beta_velocity);
    visit(Field{"beta_position", "", "share of the position error that the forces remove per step squared", 0, 1},
          s.beta_position);
    visit(Field{"baumgarte", "", "share of the position error that the correction removes per step", 0, 1}, s.baumgarte);
  }
};

/// A7 b: no multipliers, but stiff springs and dampers that hold the joints.
struct PenaltySettings {
  static constexpr std::string_view name = "penalty";
  static constexpr std::string_view summary = "springs and dampers in place of multipliers (A7 b)";
  double stiffness = 0;
  double damping = 0;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"stiffness", "N/m, N m/rad", "spring constant of every constrained direction; 0: as stiff as the step allows", 0,
                1e300},
          s.stiffness);
    visit(Field{"damping", "N s/m, N m s/rad", "damper constant of every constrained direction; with stiffness 0: critical", 0,
                1e300},
          s.damping);
  }
};

using FormulationSettings = std::variant<AccelerationSettings, StabilisedAccelerationSettings, VelocitySettings, PenaltySettings,
                                         TaylorSettings, HybridFormulationSettings>;

/// Whether it moves by impulses, once per step, in place of accelerations that an integrator asks for.
inline bool by_impulses(const FormulationSettings& formulation) {
  return std::holds_alternative<VelocitySettings>(formulation) || std::holds_alternative<TaylorSettings>(formulation) ||
         std::holds_alternative<HybridFormulationSettings>(formulation);
}

struct NoCorrectionSettings : NoFields {
  static constexpr std::string_view name = "none";
  static constexpr std::string_view summary = "let the joints drift";
};

/// A7 c, d: after every step, the smallest mass-weighted move that closes the joints, then their velocities.
struct ProjectionSettings {
  static constexpr std::string_view name = "projection";
  static constexpr std::string_view summary = "Newton projection of positions, then of velocities (A7 c, d)";
  double tolerance = 1e-13;
  int max_iterations = 10;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"tolerance", "m, rad", "largest joint error that is left", 0, 1, true}, s.tolerance);
    visit(Field{"max_iterations", "", "most Newton iterations per step", 1, 1000}, s.max_iterations);
  }
};

/// A7 a: each child placed on its parent, parents first; then the velocities of A7 d.
struct TreePlacementSettings : NoFields {
  static constexpr std::string_view name = "tree_placement";
  static constexpr std::string_view summary = "each body placed on its parent, parents first; trees only (A7 a)";
};

using CorrectionSettings = std::variant<ProjectionSettings, NoCorrectionSettings, TreePlacementSettings>;

/// Every body by itself, with six velocities; joints hold by forces.
struct MaximalCoordinatesSettings : NoFields {
  static constexpr std::string_view name = "maximal";
  static constexpr std::string_view summary = "positions and velocities of all bodies; joints hold by forces";
};

/// A15: what joints leave free. Joints of the trees cannot open.
struct ReducedCoordinatesSettings : NoFields {
  static constexpr std::string_view name = "reduced";
  static constexpr std::string_view summary = "positions and rates of joints along trees, which cannot drift (A15)";
};

struct AutomaticCoordinatesSettings : NoFields {
  static constexpr std::string_view name = "automatic";
  static constexpr std::string_view summary = "reduced where joints make trees and the methods fit, else maximal";
};

using CoordinatesChoice = std::variant<MaximalCoordinatesSettings, ReducedCoordinatesSettings, AutomaticCoordinatesSettings>;

/// Implicit methods on particles: by size, direct or iterative. `positive` leaves out what compressed springs would take from the
/// matrix's definiteness.
struct AutomaticImplicitSettings {
  static constexpr std::string_view name = "automatic";
  static constexpr std::string_view summary = "LDL^T for few particles, conjugate gradients for many";
  int direct_limit = 1000;
  double tolerance = 1e-8;
  int max_iterations = 20000;
  bool positive = true;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"direct_limit", "", "most movable particles that are solved directly", 0, 1e9}, s.direct_limit);
    visit(Field{"tolerance", "", "relative residual at which conjugate gradients stop", 0, 1, true}, s.tolerance);
    visit(Field{"max_iterations", "", "most of them", 1, 1e9}, s.max_iterations);
    visit(Field{"positive", "", "whether compressed springs keep the matrix definite"}, s.positive);
  }
};

struct ImplicitLdltSettings {
  static constexpr std::string_view name = "ldlt";
  static constexpr std::string_view summary = "block-sparse LDL^T";
  bool positive = true;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"positive", "", "whether compressed springs keep the matrix definite"}, s.positive);
  }
};

struct ImplicitCgSettings {
  static constexpr std::string_view name = "cg";
  static constexpr std::string_view summary = "conjugate gradients, preconditioned by diagonal blocks";
  double tolerance = 1e-8;
  int max_iterations = 20000;
  bool positive = true;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"tolerance", "", "relative residual at which they stop", 0, 1, true}, s.tolerance);
    visit(Field{"max_iterations", "", "most of them", 1, 1e9}, s.max_iterations);
    visit(Field{"positive", "", "whether compressed springs keep the matrix definite"}, s.positive);
  }
};

/// Stages of particles alone, whose minimum is found with one factor for all steps.
struct LocalGlobalSettings {
  static constexpr std::string_view name = "local_global";
  static constexpr std::string_view summary = "local and global steps with one factor for all steps (Liu et al. 2013)";
  int memory = 8;
  bool positive = true;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"memory", "", "steps that the next ones learn from; 0: local and global steps as they are", 0, 100}, s.memory);
  }
};

using ImplicitSolverSettings =
    std::variant<AutomaticImplicitSettings, ImplicitLdltSettings, ImplicitCgSettings, LocalGlobalSettings>;

/// What a step may spend. Within it solvers give the best answer they have, joints and overlaps are closed as far as they get,
/// and the report says so (StepReport::cut). Iterations cost no reproducibility; seconds do: how far a step gets then depends on
/// the machine and on what else it does. Error control and implicit integrators keep to their tolerances whatever it takes.
struct StepBudget {
  double seconds = 0;  // of a step; 0: as long as it takes
  int iterations = 0;  // of each solve, solvers that it calls included; 0: the solver's own
};

struct Recipe {
  double dt = 1e-3;     // s
  double duration = 1;  // s, what `rotule run` simulates unless told otherwise
  int threads = 1;      // 0: as many as the machine has
  StepperChoice stepper = ReferenceStepperSettings{};
  IntegratorSettings integrator = Rk4Settings{};
  FormulationSettings formulation = AccelerationSettings{};
  CorrectionSettings correction = ProjectionSettings{};
  CoordinatesChoice coordinates = MaximalCoordinatesSettings{};
  ContactChoice contacts = NoContactSettings{};
  SolverChoice solver = {};  // ldlt unless told otherwise
  ImplicitSolverSettings implicit_solver = AutomaticImplicitSettings{};
  StepBudget budget = {};

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"dt", "s", "time step", 0, 1e9, true}, s.dt);
    visit(Field{"duration", "s", "how long a run lasts unless told otherwise", 0, 1e12, true}, s.duration);
    visit(Field{"threads", "", "threads for independent islands; 0 takes all", 0, 1024}, s.threads);
    visit(Field{"stepper", "", "who moves the state: any methods in double, or fixed stages for speed"}, s.stepper);
    visit(Field{"integrator", "", "integration method"}, s.integrator);
    visit(Field{"formulation", "", "how constraints become equations"}, s.formulation);
    visit(Field{"correction", "", "how drift is removed after a step"}, s.correction);
    visit(Field{"coordinates", "", "what is integrated: motions of bodies, or of joints"}, s.coordinates);
    visit(Field{"contacts", "", "whether bodies touch, and which law of friction holds"}, s.contacts);
    visit(Field{"solver", "", "solver of the constraints' equations and inequalities"}, s.solver);
    visit(Field{"implicit_solver", "", "solver of the particles' systems of implicit methods"}, s.implicit_solver);
    visit(Field{"budget_seconds", "s", "time that a step may take, on the clock, at the price of reproducibility; 0: no limit", 0,
                1e9},
          s.budget.seconds);
    visit(Field{"budget_iterations", "", "iterations that each iterative solve of a step may take; 0: the solver's own", 0, 1e9},
          s.budget.iterations);
  }
};

/// The one dial (F6): how exact a run should be, for those who would rather not choose methods. `recipe_for` (scene.h) makes a
/// recipe of it that fits what a scene contains.
enum class Dial { realtime, balanced, exact };

std::string_view name_of(Dial dial);
/// By name; throws Error with the nearest one.
Dial dial_named(std::string_view name);

// The dial where nothing is known of the scene: recipes that are good for most, and refused where they do not fit.
namespace recipes {
/// RK4, exact multipliers, projection: for those who measure mechanisms. Bodies pass through each other.
Recipe exact();
/// Velocity level at 1 ms, contacts on: right enough for most questions.
Recipe balanced();
/// Velocity level at 1/60 s with implicit geometric stiffness: for those who watch.
Recipe realtime();
/// The real-time stepper at 1/60 s: the fastest, for what it can run (docs/realtime.md).
Recipe fastest();
}  // namespace recipes

/// Sets one field by its dotted name, as `--set` does: ("solver", "sor"), ("solver.relaxation", "1.4"). Throws Error.
void set(Recipe& recipe, std::string_view key, std::string_view value);

/// What the joints of a scene ask of a recipe.
struct JointNeeds {
  bool drives = false;     // anything that acts on their free axes: at velocity level, a solver that knows bounds
  bool switching = false;  // stops, friction, or motors and springs of limited strength: laws that switch
  // Kinematic bodies that contacts by accelerations, or methods that find positions by drifts of their own, would have to follow.
  bool kinematic = false;
  bool belts = false;   // surface velocities
  bool rates = false;   // constraints on velocities: rolling, blades
  bool soft = false;    // particles that touch
  bool rotors = false;  // armature, which methods that know bodies alone do not
};

/// Refuses combinations that make no sense, with the reason and with all the settings that would mend it at once; `World` calls
/// it. Throws Error.
void check_combination(const Recipe& recipe, const JointNeeds& needs = {});

std::string_view name_of(const StepperChoice&);
std::string_view name_of(const IntegratorSettings&);
std::string_view name_of(const FormulationSettings&);
std::string_view name_of(const CorrectionSettings&);
std::string_view name_of(const CoordinatesChoice&);
std::string_view name_of(const ContactChoice&);
std::string_view name_of(const SolverChoice&);

}  // namespace rotule
