#pragma once
// The choice of a solver: the settings of any one of them, by value, behind one type, so that a recipe names no solver's header
// and a changed default is compiled anew by those alone who use that solver.
//
//   recipe.solver = PgsSettings{.relaxation = 1.4};                  // with <rotule/solvers/pgs.h>
//   if (const auto* pgs = recipe.solver.get_if<PgsSettings>()) ...
#include <rotule/fields.h>
#include <rotule/solver_storage.h>
#include <rotule/solver_traits.h>

#include <concepts>
#include <cstddef>
#include <memory>
#include <new>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

namespace rotule {

/// What the settings of a solver look like: plain numbers and choices, a name, a family, and words about them.
template <class S>
concept SolverSettings = requires {
  { S::name } -> std::convertible_to<std::string_view>;
  { S::family } -> std::convertible_to<std::string_view>;
  { S::summary } -> std::convertible_to<std::string_view>;
  { S::traits } -> std::convertible_to<SolverTraits>;
};

class SolverChoice {
 public:
  /// ldlt, with its defaults.
  SolverChoice();
  template <SolverSettings S>
  SolverChoice(const S& settings) : description_(&description_of<S>) {  // not explicit: settings are a choice
    static_assert(std::is_trivially_copyable_v<S> && sizeof(S) <= capacity && alignof(S) <= alignof(double));
    ::new (static_cast<void*>(bytes_)) S(settings);
  }

  [[nodiscard]] std::string_view name() const { return description_->name; }
  [[nodiscard]] std::string_view alias() const { return description_->alias; }
  [[nodiscard]] std::string_view family() const { return description_->family; }
  /// For what users should choose it; empty where another one serves them better.
  [[nodiscard]] std::string_view recommended_for() const { return description_->recommended_for; }
  [[nodiscard]] std::string_view summary() const { return description_->summary; }
  [[nodiscard]] const SolverTraits& traits() const { return description_->traits; }

  /// The settings, where they are those of S; null otherwise. S may be a declared type alone.
  template <class S>
  [[nodiscard]] S* get_if() {
    return holds<S>() ? static_cast<S*>(static_cast<void*>(bytes_)) : nullptr;
  }
  template <class S>
  [[nodiscard]] const S* get_if() const {
    return holds<S>() ? static_cast<const S*>(static_cast<const void*>(bytes_)) : nullptr;
  }
  template <class S>
  [[nodiscard]] bool holds() const {
    return description_->tag == &tag<S>;
  }
  [[nodiscard]] bool same_solver(const SolverChoice& other) const { return description_->tag == other.description_->tag; }

  /// Calls visit(field, member) for each setting, as the settings' own list of fields does.
  template <class Visitor>
  void visit_fields(Visitor&& visit) {
    description_->fields(bytes_, std::addressof(visit), [](void* context, const Field& field, const Setting& setting) {
      std::visit([&](auto* member) { (*static_cast<std::remove_reference_t<Visitor>*>(context))(field, *member); }, setting);
    });
  }
  template <class Visitor>
  void visit_fields(Visitor&& visit) const {
    SolverChoice copy = *this;
    copy.visit_fields([&](const Field& field, auto& member) { visit(field, std::as_const(member)); });
  }

  /// The setting of this name and type; null where there is none: *choice.find<double>("tolerance") = 1e-6.
  template <class T>
  [[nodiscard]] T* find(std::string_view name) {
    T* found = nullptr;
    visit_fields([&]<class Member>(const Field& field, Member& member) {
      if constexpr (std::is_same_v<Member, T>)
        if (field.name == name) found = &member;
    });
    return found;
  }

 private:
  static constexpr std::size_t capacity = 96;
  using Setting = std::variant<double*, int*, bool*, RowStorage*, BlockStorage*, SweepOrder*>;
  using Visit = void (*)(void* context, const Field&, const Setting&);
  struct Description {
    const char* tag;
    std::string_view name, alias, family, recommended_for, summary;
    SolverTraits traits;
    void (*fields)(void* settings, void* context, Visit visit);
  };

  template <class S>
  static constexpr char tag = 0;  // its address tells one solver from another
  template <class S>
  static constexpr std::string_view alias_or_none() {
    if constexpr (requires { S::alias; }) return S::alias;
    return {};
  }
  template <class S>
  static constexpr std::string_view recommendation_or_none() {
    if constexpr (requires { S::recommended_for; }) return S::recommended_for;
    return {};
  }
  template <class S>
  static void fields_of(void* settings, void* context, Visit visit) {
    S::fields(*static_cast<S*>(settings),
              [&]<class T>(const Field& field, T& member) { visit(context, field, Setting(std::in_place_type<T*>, &member)); });
  }
  template <class S>
  static constexpr Description description_of{&tag<S>,    S::name,   alias_or_none<S>(), S::family, recommendation_or_none<S>(),
                                              S::summary, S::traits, &fields_of<S>};

  const Description* description_;
  alignas(double) std::byte bytes_[capacity] = {};
};

/// The solver called `name` (`rotule list solvers`), with its usual settings. Throws Error with the nearest name.
SolverChoice solver_named(std::string_view name);

}  // namespace rotule
