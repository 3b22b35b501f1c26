#include <fmt/format.h>
#include <rotule/error.h>
#include <rotule/recipe.h>

#include <type_traits>

#include "base/text.h"
#include "model/choices.h"
#include "model/solver_list.h"
#include "model/validate.h"

namespace rotule {
namespace {

// One field given as text. Each overload is one type that a field of a recipe can have.
void assign(const Place& place, const Field& field, double& value, std::string_view text) {
  if (!field.word.empty() && text == field.word) {
    value = field.min;
    return;
  }
  const auto number = to_double(text);
  if (!number)
    throw Error(place.str(), fmt::format("must be a number{}, is {}", field.word.empty() ? "" : " or " + in_quotes(field.word),
                                         in_quotes(text)));
  check_range(place, field, *number);
  value = *number;
}

void assign(const Place& place, const Field& field, int& value, std::string_view text) {
  const auto number = to_integer(text);
  if (!number) throw Error(place.str(), fmt::format("must be a whole number, is {}", in_quotes(text)));
  check_range(place, field, static_cast<double>(*number));
  if (*number < std::numeric_limits<int>::min() || *number > std::numeric_limits<int>::max())
    throw Error(place.str(), fmt::format("does not fit, is {}", *number));
  value = static_cast<int>(*number);
}

void assign(const Place& place, const Field&, bool& value, std::string_view text) {
  if (text != "true" && text != "false") throw Error(place.str(), fmt::format("must be true or false, is {}", in_quotes(text)));
  value = text == "true";
}

template <class... Settings>
void assign(const Place& place, const Field&, std::variant<Settings...>& choice, std::string_view text) {
  std::variant<Settings...> chosen;
  choose(chosen, text, place);
  if (chosen.index() != choice.index()) choice = chosen;  // naming what is chosen already keeps its settings
}

void assign(const Place& place, const Field&, SolverChoice& choice, std::string_view text) {
  const NamedSolver& chosen = named_solver(text, place);
  if (chosen.preset() || !chosen.settings.same_solver(choice)) choice = chosen.settings;
}

// Walks to the field that the dotted key names.
struct Setter {
  std::string_view key, value;
  const Place& place;
  bool found = false;
  std::vector<std::string> known = {};

  template <class T>
  void operator()(const Field& field, T& member) {
    known.emplace_back(field.name);
    if (key == field.name) {
      assign(place, field, member, value);
      found = true;
      return;
    }
    const std::string prefix = std::string(field.name) + ".";
    if (!key.starts_with(prefix)) return;
    Setter inner{key.substr(prefix.size()), value, place};
    if constexpr (is_choice<T>) {
      std::visit([&](auto& settings) { settings.fields(settings, inner); }, member);
      finish(inner, chosen_name(member));
    } else if constexpr (std::is_same_v<T, SolverChoice>) {
      member.visit_fields(inner);
      finish(inner, member.name());
    }
  }

  /// After a walk through the settings of what is chosen.
  void finish(const Setter& inner, std::string_view name) {
    if (!inner.found)
      throw Error(place.str(), inner.known.empty() ? fmt::format("{} has no fields", name)
                                                   : fmt::format("{} has no field {}; {}", name, in_quotes(inner.key),
                                                                 suggestion(inner.key, inner.known)));
    found = true;
  }
};

}  // namespace

void set(Recipe& recipe, std::string_view key, std::string_view value) {
  const Place place(key);
  Setter setter{key, value, place};
  Recipe::fields(recipe, setter);
  if (!setter.found) throw Error(fmt::format("unknown key {}; {}", in_quotes(key), suggestion(key, setter.known)));
}

std::string_view name_of(const StepperChoice& choice) { return chosen_name(choice); }
std::string_view name_of(const IntegratorSettings& choice) { return chosen_name(choice); }
std::string_view name_of(const FormulationSettings& choice) { return chosen_name(choice); }
std::string_view name_of(const CorrectionSettings& choice) { return chosen_name(choice); }
std::string_view name_of(const CoordinatesChoice& choice) { return chosen_name(choice); }
std::string_view name_of(const ContactChoice& choice) { return chosen_name(choice); }
std::string_view name_of(const SolverChoice& choice) { return choice.name(); }

namespace recipes {

Recipe exact() {
  Recipe recipe;
  recipe.dt = 1e-3;
  recipe.integrator = Rk4Settings{};
  recipe.formulation = AccelerationSettings{};
  recipe.correction = ProjectionSettings{};
  recipe.solver = solver_named("ldlt");
  return recipe;
}

Recipe balanced() {
  Recipe recipe = realtime();
  recipe.dt = 1e-3;
  recipe.solver = automatic_solver(1e-10, 1000);
  return recipe;
}

Recipe realtime() {
  Recipe recipe;
  recipe.dt = 1.0 / 60;
  recipe.integrator = SemiImplicitEulerSettings{};
  recipe.formulation = VelocitySettings{};
  recipe.correction = ProjectionSettings{};
  recipe.contacts = ConeContactSettings{};
  // All solves of a step together 10 ms, and with what a step does besides about three times that: 30 pictures a second.
  recipe.solver = automatic_solver(1e-10, 1000, 500'000);
  return recipe;
}

Recipe fastest() {
  Recipe recipe;
  recipe.dt = 1.0 / 60;
  recipe.stepper = RealtimeStepperSettings{};
  recipe.integrator = SemiImplicitEulerSettings{};
  recipe.formulation = VelocitySettings{};
  recipe.correction = NoCorrectionSettings{};
  recipe.contacts = ConeContactSettings{};
  return recipe;
}

}  // namespace recipes
}  // namespace rotule
