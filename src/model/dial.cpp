#include "model/dial.h"

#include <fmt/format.h>
#include <rotule/error.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/text.h"
#include "model/choices.h"
#include "model/names.h"
#include "model/solver_list.h"
#include "model/validate.h"

namespace rotule {

namespace {

constexpr std::array<std::pair<Dial, std::string_view>, 3> dials{
    {{Dial::realtime, "realtime"}, {Dial::balanced, "balanced"}, {Dial::exact, "exact"}}};

// Largest h omega and h lambda that a chosen step may have: half of what RK4 bears, and of semi-implicit Euler's.
constexpr double explicit_share = 1.4, impulse_share = 1.0;
// Largest h omega of springs between bodies, unless for those who only watch, whose swings shall be right. What holds groups of
// particles together may be faster, as it hardly swings.
constexpr double followed_share = 0.1, impulse_followed_share = 0.25;
// Turns per step: beyond them a method of fixed step sees the rotation no more.
constexpr double most_turn = 0.25;  // rad
// Steps below which springs are left to an implicit method.
constexpr double shortest_explicit_step = 2e-5;  // s
// Decay that error control need not follow once it is over, 1/s: beyond, an implicit method costs less than explicit steps.
constexpr double fast_decay = 2e3;
// Particles that radau5 solves directly.
constexpr std::size_t most_direct_particles = 2000;

bool is_adaptive(const IntegratorSettings& integrator) {
  return std::visit([](const auto& settings) { return settings.traits.adaptive; }, integrator);
}
bool is_implicit(const IntegratorSettings& integrator) {
  return std::visit([](const auto& settings) { return settings.traits.implicit; }, integrator);
}

/// The longest step that springs, dampers and rotations bear, at most `longest`.
double borne(const SceneContent& content, double longest, double share, bool impulses, bool realtime = false) {
  const bool implicit = realtime || (impulses && content.needs.soft);
  const double own_frequency = implicit ? content.tied_frequency : content.frequency;
  const double own_decay = implicit ? content.tied_decay : content.decay;
  const double frequency = impulses ? own_frequency : std::max(own_frequency, content.joint_frequency);
  const double decay = impulses ? own_decay : std::max(own_decay, content.joint_decay);
  double h = longest;
  if (frequency > 0) h = std::min(h, share / frequency);
  if (decay > 0) h = std::min(h, share / decay);
  return h;
}
/// Whether springs of bodies swing faster than a millisecond shows; those of groups of particles would have to be followed too.
bool swings_fast(const SceneContent& content) {
  return content.particle_count == 0 && std::max(content.tied_frequency, content.joint_frequency) * 1e-3 > followed_share;
}
double seen(const SceneContent& content, double longest) {
  return content.spin > 0 ? std::min(longest, most_turn / content.spin) : longest;
}

/// A step that people can read: 1, 2 or 5 times a power of ten, never longer than asked; those that are kept as they are pass.
double rounded_step(double h, double longest) {
  if (h >= longest) return longest;
  const double exponent = std::floor(std::log10(h));
  for (const double digit : {5.0, 2.0, 1.0})
    if (const double step = to_double(fmt::format("{}e{}", digit, exponent)).value_or(h); step <= h) return step;
  return h;
}

/// The step of a recipe whose other fields are chosen already.
double step_for(const SceneContent& content, const Recipe& recipe, const Wish& wish) {
  // How often a method with error control reports; its own steps are another matter.
  if (is_adaptive(recipe.integrator)) return wish.dial == Dial::balanced ? 1e-3 : 0.01;
  if (by_impulses(recipe.formulation)) {
    // First order: in one second a fall is off by about g/2 h per metre, so that an accuracy in seconds is a step.
    double longest = wish.dial == Dial::realtime ? 1.0 / 60 : wish.dial == Dial::balanced ? 1e-3 : 1e-4;
    if (wish.accuracy) longest = std::clamp(*wish.accuracy, 1e-5, 1.0 / 60);
    double h = borne(content, longest, impulse_share, true, std::holds_alternative<RealtimeStepperSettings>(recipe.stepper));
    if (wish.dial != Dial::realtime && content.tied_frequency > 0)
      h = std::min(h, impulse_followed_share / content.tied_frequency);
    return rounded_step(wish.dial == Dial::realtime ? h : seen(content, h), longest);
  }
  double longest = wish.dial == Dial::realtime ? 1.0 / 60 : wish.dial == Dial::balanced ? 1e-3 : 1e-4;
  if (wish.accuracy) longest = std::clamp(1e-3 * std::pow(*wish.accuracy / 1e-6, 0.25), 1e-6, 1.0 / 60);
  if (is_implicit(recipe.integrator)) return rounded_step(seen(content, longest), longest);
  return rounded_step(seen(content, borne(content, longest, explicit_share, false)), longest);
}

/// Methods for scenes in which bodies touch, and for those that want to be fast: the place to change where contacts become legal
/// at acceleration level.
Recipe with_impulses(const Wish& wish) {
  Recipe out = recipes::realtime();
  out.contacts = NoContactSettings{};
  // Work that a solve may cost where contacts jam, in sweeps over all rows; who watches has a bound on steps too.
  if (wish.dial != Dial::realtime || wish.accuracy)
    out.solver = automatic_solver(1e-10, wish.dial == Dial::balanced ? 3000 : 30000);
  return out;
}

/// Methods for all others: smooth motion, by accelerations.
Recipe without_impulses(const SceneContent& content, const Wish& wish) {
  Recipe out = recipes::exact();
  const double explicit_step = borne(content, 1.0 / 60, explicit_share, false);
  const bool stiff = explicit_step < shortest_explicit_step;
  if (wish.accuracy || wish.dial == Dial::exact) {
    // Errors of single steps add up: the tolerance of each is a hundredth of what is wanted of all.
    const double tolerance = std::clamp(wish.accuracy ? 0.01 * *wish.accuracy : 1e-10, 1e-13, 1e-3);
    if (stiff && content.particle_count > most_direct_particles)
      out.integrator = Gauss6Settings{};
    else if ((stiff || content.decay > fast_decay) && content.particle_count <= most_direct_particles)
      out.integrator = Radau5Settings{{.relative_tolerance = std::max(tolerance, 1e-12)}};
    else if (tolerance > 1e-6)
      out.integrator = DormandPrinceSettings{{.relative_tolerance = tolerance}};
    else
      out.integrator = DormandPrince8Settings{{.relative_tolerance = tolerance}};
  } else if (wish.dial == Dial::realtime) {
    if (content.joints) return with_impulses(wish);  // joints that hold at any step
    if (explicit_step < 1.0 / 60) out.integrator = LinearImplicitEulerSettings{};
  } else if (stiff) {
    out.integrator = Gauss4Settings{};
  } else if (content.needs.switching || swings_fast(content)) {
    out.integrator = DormandPrinceSettings{};  // as few steps as events, or swings, allow
  }
  return out;
}

// Bodies that have lain still for so long sleep, where nobody chose otherwise.
constexpr double usual_sleep = 0.5;  // s

// Substeps where there are particles: how much they stretch under what is heavy, and lose by swinging, goes by their length.
constexpr int particle_substeps = 16;

/// Whether those who watch bodies touch get the stepper that was made for that: it must know all of the scene, and whoever chose
/// a method of his own wants the reference.
bool for_realtime(const SceneContent& content, const ContactChoice& contacts, const Wish& wish, const GivenFields& which,
                  const StepBudget& budget) {
  const ContactSettings usual;
  const auto* cone = std::get_if<ConeContactSettings>(&contacts);
  const bool heeded = cone && cone->baumgarte == usual.baumgarte && cone->max_blows == usual.max_blows;
  const bool free = !which.stepper && !which.integrator && !which.formulation && !which.correction && !which.coordinates &&
                    !which.solver && budget.seconds == 0 && budget.iterations == 0;
  return wish.dial == Dial::realtime && !wish.accuracy && heeded && free && content.realtime;
}

Recipe chosen(const SceneContent& content, const ContactChoice& contacts, const Wish& wish, bool realtime) {
  if (realtime) {
    Recipe out = recipes::fastest();
    out.stepper = RealtimeStepperSettings{.substeps = content.particles ? particle_substeps : 4, .sleep_after = usual_sleep};
    out.contacts = contacts;
    out.dt = step_for(content, out, wish);
    return out;
  }
  const bool touching = !std::holds_alternative<NoContactSettings>(contacts);
  const bool impulses = touching || (content.needs.drives && wish.dial == Dial::realtime && !wish.accuracy);
  Recipe out = impulses ? with_impulses(wish) : without_impulses(content, wish);
  out.contacts = contacts;
  if (by_impulses(out.formulation) && !touching && !content.needs.drives) out.solver = solver_named("ldlt");
  out.dt = step_for(content, out, wish);
  return out;
}

ContactChoice contacts_of(const SceneContent& content) {
  return content.could_meet || content.needs.soft ? ContactChoice(ConeContactSettings{}) : ContactChoice(NoContactSettings{});
}

/// All numbers of a recipe's field, names of choices as their place among the alternatives.
struct Numbers {
  std::vector<double> all;
  void operator()(const Field&, double value) { all.push_back(value); }
  template <class T>
  void operator()(const Field&, const T& value) requires(std::is_integral_v<T> || std::is_enum_v<T>) {
    all.push_back(static_cast<double>(value));
  }
  template <class... Settings>
  void operator()(const Field&, const std::variant<Settings...>& choice) {
    all.push_back(static_cast<double>(choice.index()));
    std::visit([&](const auto& settings) { settings.fields(settings, *this); }, choice);
  }
  void operator()(const Field&, const SolverChoice& choice) {
    const auto solvers = solver_list();
    const auto same = [&](const NamedSolver& solver) { return !solver.preset() && solver.settings.same_solver(choice); };
    all.push_back(static_cast<double>(std::find_if(solvers.begin(), solvers.end(), same) - solvers.begin()));
    choice.visit_fields(*this);
  }
};

/// The numbers of each field, in the recipe's order.
std::vector<std::pair<std::string_view, std::vector<double>>> numbers_of(const Recipe& recipe) {
  std::vector<std::pair<std::string_view, std::vector<double>>> out;
  Recipe::fields(recipe, [&](const Field& field, const auto& member) {
    Numbers numbers;
    numbers(field, member);
    out.emplace_back(field.name, std::move(numbers.all));
  });
  return out;
}

// A search over recipes near to a given one: a few alternatives for each choice that is free, the first being the best. What
// makes bodies pass through each other comes last.
template <class Choice>
std::vector<Choice> alternatives(const Choice& first, bool fixed, std::initializer_list<Choice> others) {
  std::vector<Choice> out{first};
  if (fixed) return out;
  for (const Choice& other : others) {
    if constexpr (std::is_same_v<Choice, SolverChoice>) {
      if (!other.same_solver(first)) out.push_back(other);
    } else {
      if (other.index() != first.index()) out.push_back(other);
    }
  }
  return out;
}

/// Fewest changes first; where nothing fits, nothing.
std::optional<Recipe> nearest_fit(const Recipe& recipe, const GivenFields& fixed, const JointNeeds& needs) {
  const auto integrators = alternatives<IntegratorSettings>(
      recipe.integrator, fixed.integrator, {SemiImplicitEulerSettings{}, Rk4Settings{}, DormandPrinceSettings{}});
  const auto formulations =
      alternatives<FormulationSettings>(recipe.formulation, fixed.formulation, {VelocitySettings{}, AccelerationSettings{}});
  const auto corrections =
      alternatives<CorrectionSettings>(recipe.correction, fixed.correction, {ProjectionSettings{}, NoCorrectionSettings{}});
  const auto coordinates = alternatives<CoordinatesChoice>(recipe.coordinates, fixed.coordinates,
                                                           {MaximalCoordinatesSettings{}, ReducedCoordinatesSettings{}});
  const bool touching = !std::holds_alternative<NoContactSettings>(recipe.contacts);
  auto contacts = alternatives<ContactChoice>(recipe.contacts, fixed.contacts || !touching,
                                              {ConeContactSettings{}, BoxContactSettings{}, NoContactSettings{}});
  const auto solvers = alternatives<SolverChoice>(recipe.solver, fixed.solver, {automatic_solver(1e-10), solver_named("ldlt")});

  std::optional<Recipe> best;
  std::size_t least = 0;
  for (std::size_t k = 0; k < coordinates.size(); ++k)
    for (std::size_t c = 0; c < contacts.size(); ++c)
      for (std::size_t s = 0; s < solvers.size(); ++s)
        for (std::size_t r = 0; r < corrections.size(); ++r)
          for (std::size_t f = 0; f < formulations.size(); ++f)
            for (std::size_t i = 0; i < integrators.size(); ++i) {
              const bool lost = touching && std::holds_alternative<NoContactSettings>(contacts[c]);
              // Coordinates change nothing of the physics; then a correction is the least that anybody asked for, a formulation
              // the most.
              const std::size_t cost =
                  (lost ? 100 : 0) + 10 * ((c > 0) + (s > 0) + (i > 0)) + 8 * (r > 0) + 12 * (f > 0) + (i > 1) + 7 * (k > 0);
              if (best && cost >= least) continue;
              Recipe trial = recipe;
              trial.coordinates = coordinates[k];
              trial.contacts = contacts[c];
              trial.solver = solvers[s];
              trial.correction = corrections[r];
              trial.formulation = formulations[f];
              trial.integrator = integrators[i];
              if (!misfit(trial, needs).empty()) continue;
              best = trial;
              least = cost;
            }
  return best;
}

}  // namespace

std::string_view name_of(Dial dial) {
  for (const auto& [value, name] : dials)
    if (value == dial) return name;
  return {};
}

Dial dial_named(std::string_view name) {
  std::vector<std::string> known;
  for (const auto& [value, own] : dials) {
    if (own == name) return value;
    known.emplace_back(own);
  }
  throw Error("recipe", fmt::format("unknown setting {}; {}", in_quotes(name), suggestion(name, known)));
}

void GivenFields::add(std::string_view field) {
  const std::array<std::pair<std::string_view, bool*>, 11> all{{{"dt", &dt},
                                                                {"duration", &duration},
                                                                {"threads", &threads},
                                                                {"stepper", &stepper},
                                                                {"integrator", &integrator},
                                                                {"formulation", &formulation},
                                                                {"correction", &correction},
                                                                {"coordinates", &coordinates},
                                                                {"contacts", &contacts},
                                                                {"solver", &solver},
                                                                {"implicit_solver", &implicit_solver}}};
  for (const auto& [name, flag] : all)
    if (name == field) *flag = true;
}

GivenFields given_in(const Recipe& recipe) {
  GivenFields out;
  const auto own = numbers_of(recipe), usual = numbers_of(Recipe{});
  for (std::size_t i = 0; i < own.size(); ++i)
    if (own[i].second != usual[i].second) out.add(own[i].first);
  return out;
}

bool same_recipe(const Recipe& a, const Recipe& b) { return numbers_of(a) == numbers_of(b); }

Recipe fitted(const SceneContent& content, const Recipe& given, const GivenFields& which, const Wish& wish) {
  const ContactChoice contacts = which.contacts ? given.contacts : contacts_of(content);
  Recipe out = chosen(content, contacts, wish, for_realtime(content, contacts, wish, which, given.budget));
  const auto take = [&](bool is_given, auto Recipe::*field) {
    if (is_given) out.*field = given.*field;
  };
  take(true, &Recipe::duration);
  take(true, &Recipe::threads);
  take(true, &Recipe::implicit_solver);
  take(true, &Recipe::budget);
  take(which.stepper, &Recipe::stepper);
  take(which.integrator, &Recipe::integrator);
  take(which.formulation, &Recipe::formulation);
  take(which.correction, &Recipe::correction);
  take(which.coordinates, &Recipe::coordinates);
  take(which.solver, &Recipe::solver);
  // Bodies that touch are physics: other choices give way first.
  const bool touching = !std::holds_alternative<NoContactSettings>(out.contacts);
  if (!misfit(out, content.needs).empty())
    if (const std::optional<Recipe> near = nearest_fit(out, which, content.needs)) out = *near;
  if (touching && std::holds_alternative<NoContactSettings>(out.contacts) && !which.solver &&
      std::holds_alternative<AccelerationSettings>(out.formulation))
    out.solver = solver_named("ldlt");
  out.dt = which.dt ? given.dt : step_for(content, out, wish);
  return out;
}

Remedy remedy_for(const Recipe& recipe, const JointNeeds& needs) {
  // The real-time stepper has one recipe.
  const bool realtime = std::holds_alternative<RealtimeStepperSettings>(recipe.stepper);
  const std::optional<Recipe> fit = realtime ? recipes::fastest() : nearest_fit(recipe, {}, needs);
  if (!fit) return {};
  Remedy out;
  const auto put = [&](std::string_view key, std::string_view before, std::string_view after) {
    if (before == after) return;
    out.flags += fmt::format("{}--set {}={}", out.flags.empty() ? "" : " ", key, after);
    out.json += fmt::format("{}\"{}\": \"{}\"", out.json.empty() ? "" : ", ", key, after);
  };
  put("integrator", chosen_name(recipe.integrator), chosen_name(fit->integrator));
  put("formulation", chosen_name(recipe.formulation), chosen_name(fit->formulation));
  put("correction", chosen_name(recipe.correction), chosen_name(fit->correction));
  put("coordinates", chosen_name(recipe.coordinates), chosen_name(fit->coordinates));
  put("contacts", chosen_name(recipe.contacts), chosen_name(fit->contacts));
  put("solver", recipe.solver.name(), fit->solver.name());
  out.json = "{" + out.json + "}";
  return out;
}

namespace {

Recipe resolved(const Scene& scene, const Wish& wish) {
  Scene named = scene;
  name_unnamed(named);
  validate(named);
  Recipe given = named.recipe;
  GivenFields which;
  which.contacts = !named.dial || given_in(given).contacts;  // whether bodies touch is physics, which no dial changes
  return fitted(content_of(named), given, which, wish);
}

}  // namespace

Recipe recipe_of(const Scene& scene) {
  if (!scene.dial) return scene.recipe;
  Scene named = scene;
  name_unnamed(named);
  validate(named);
  return fitted(content_of(named), named.recipe, given_in(named.recipe), {*scene.dial, {}});
}

Recipe recipe_for(const Scene& scene, Dial dial) { return resolved(scene, {dial, {}}); }

Recipe recipe_for(const Scene& scene, double accuracy) {
  if (!(accuracy >= 1e-12 && accuracy <= 0.1)) throw Error("accuracy", fmt::format("must be from 1e-12 to 0.1, is {}", accuracy));
  return resolved(scene, {Dial::exact, accuracy});
}

}  // namespace rotule
