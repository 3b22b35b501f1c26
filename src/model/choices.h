#pragma once
// Variants of named settings structs (integrators, formulations, corrections, solvers): chosen by name, listed by name.
#include <fmt/format.h>
#include <rotule/error.h>

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/place.h"
#include "base/text.h"

namespace rotule {

template <class T>
inline constexpr bool is_choice = false;
template <class First, class... Rest>
inline constexpr bool is_choice<std::variant<First, Rest...>> = requires {
  First::name;
};

template <class... Settings>
std::string_view chosen_name(const std::variant<Settings...>& choice) {
  return std::visit([](const auto& settings) { return std::string_view(settings.name); }, choice);
}

/// Calls visit(Settings{}) for each alternative, in order.
template <class Choice, class Visitor>
void for_each_alternative(Visitor&& visit) {
  [&]<std::size_t... I>(std::index_sequence<I...>) { (visit(std::variant_alternative_t<I, Choice>{}), ...); }
  (std::make_index_sequence<std::variant_size_v<Choice>>{});
}

/// Other names of an alternative, one for now.
template <class Settings>
constexpr std::string_view alias_of() {
  if constexpr (requires { Settings::alias; }) {
    return Settings::alias;
  } else {
    return {};
  }
}

template <class Choice>
std::vector<std::string> choice_names() {
  std::vector<std::string> names;
  for_each_alternative<Choice>([&]<class Settings>(const Settings&) {
    names.emplace_back(Settings::name);
    if (!alias_of<Settings>().empty()) names.emplace_back(alias_of<Settings>());
  });
  return names;
}

/// The alternative called `name`, with default settings; throws Error with the nearest name.
template <class Choice>
void choose(Choice& choice, std::string_view name, const Place& place) {
  bool found = false;
  for_each_alternative<Choice>([&]<class Settings>(const Settings& settings) {
    if (name == Settings::name || (!name.empty() && name == alias_of<Settings>())) {
      choice = settings;
      found = true;
    }
  });
  if (!found)
    throw Error(place.str(), fmt::format("unknown name {}; {}", in_quotes(name), suggestion(name, choice_names<Choice>())));
}

}  // namespace rotule
