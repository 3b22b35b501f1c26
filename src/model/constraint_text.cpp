#include "model/constraint_text.h"

#include <fmt/format.h>
#include <rotule/error.h>

#include <algorithm>
#include <memory>
#include <unordered_set>

#include "base/text.h"
#include "model/equation_tape.h"
#include "model/equations.h"
#include "model/expression.h"

namespace rotule {

namespace {

constexpr std::string_view letters = "xyz";

/// The names of one constraint, and what its equations asked for so far.
class Dictionary {
 public:
  explicit Dictionary(const Constraint& constraint) : constraint_(constraint) {
    bodies_.assign(constraint.between.begin(), constraint.between.end());
    bodies_.insert(bodies_.end(), constraint.more.begin(), constraint.more.end());
    names_.find = [this](const std::vector<std::string>& parts) { return find(parts); };
    for (const std::string& body : bodies_)
      for (const char* member : {"x", "vx", "wx", "angle_x", "axis_x.x"}) names_.known.push_back(quoted(body) + "." + member);
    for (const NamedPoint& point : constraint.points) names_.known.push_back(point.name + ".x");
    for (const NamedConstant& constant : constraint.constants) names_.known.push_back(constant.name);
    for (const ConstraintParameter& parameter : constraint.parameters) names_.known.push_back(parameter.name);
  }
  Dictionary(const Dictionary&) = delete;
  Dictionary& operator=(const Dictionary&) = delete;

  [[nodiscard]] const VariableNames& names() const { return names_; }
  [[nodiscard]] const std::vector<EquationLeaf>& leaves() const { return leaves_; }

 private:
  static std::string quoted(const std::string& name) {
    const bool plain = !name.empty() && !(name[0] >= '0' && name[0] <= '9') && std::all_of(name.begin(), name.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    });
    return plain ? name : "'" + name + "'";
  }
  /// What was asked for before has its number.
  std::optional<NamedVariable> add(const EquationLeaf& leaf) {
    const auto found = std::find(leaves_.begin(), leaves_.end(), leaf);
    if (found != leaves_.end()) return NamedVariable{static_cast<int>(found - leaves_.begin())};
    leaves_.push_back(leaf);
    return NamedVariable{static_cast<int>(leaves_.size()) - 1};
  }
  static int component(const std::string& name, std::string_view prefix) {
    if (name.size() != prefix.size() + 1 || !name.starts_with(prefix)) return -1;
    const auto found = letters.find(name.back());
    return found == letters.npos ? -1 : static_cast<int>(found);
  }
  std::optional<NamedVariable> find(const std::vector<std::string>& parts) {
    using Kind = EquationLeaf::Kind;
    if (parts.size() == 1) {
      for (const NamedConstant& constant : constraint_.constants)
        if (constant.name == parts[0]) return NamedVariable{-1, constant.value};
      for (std::size_t k = 0; k < constraint_.parameters.size(); ++k)
        if (constraint_.parameters[k].name == parts[0]) return add({.kind = Kind::parameter, .body = static_cast<int>(k)});
      return std::nullopt;
    }
    if (parts.size() > 3) return std::nullopt;
    const auto place_of = [&](const std::string& name) {
      const auto found = std::find(bodies_.begin(), bodies_.end(), name);
      return found == bodies_.end() ? -1 : static_cast<int>(found - bodies_.begin());
    };
    EquationLeaf leaf;
    const auto take = [&](Kind kind, std::string_view prefix) {
      leaf.kind = kind;
      leaf.component = component(parts.back(), prefix);
      return leaf.component >= 0;
    };
    for (const NamedPoint& point : constraint_.points) {
      if (point.name != parts[0] || parts.size() != 2) continue;
      leaf.body = place_of(point.body);
      leaf.at = point.at;
      if (leaf.body >= 0 && (take(Kind::point, "") || take(Kind::velocity, "v"))) return add(leaf);
      return std::nullopt;
    }
    leaf.body = place_of(parts[0]);
    if (leaf.body < 0) return std::nullopt;
    if (parts.size() == 2) {
      if (take(Kind::point, "") || take(Kind::velocity, "v") || take(Kind::spin, "w") || take(Kind::angle, "angle_"))
        return add(leaf);
      return std::nullopt;
    }
    leaf.axis = component(parts[1], "axis_");
    if (leaf.axis >= 0 && take(Kind::axis, "")) return add(leaf);
    return std::nullopt;
  }

  const Constraint& constraint_;
  std::vector<std::string> bodies_;
  std::vector<EquationLeaf> leaves_;
  VariableNames names_;
};

void check_names(const Constraint& constraint, const Place& place) {
  std::unordered_set<std::string> taken{constraint.between[0], constraint.between[1], "t", "pi"};
  taken.insert(constraint.more.begin(), constraint.more.end());
  const auto take = [&](const Place& here, const std::string& name) {
    const bool word = !name.empty() && !(name[0] >= '0' && name[0] <= '9') && std::all_of(name.begin(), name.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    });
    if (!word) fail(here / "name", fmt::format("must be a word of letters, digits and _, is {}", in_quotes(name)));
    if (!taken.insert(name).second) fail(here / "name", fmt::format("{} is taken already; choose another", in_quotes(name)));
  };
  const Place points = place / "points", constants = place / "constants", parameters = place / "parameters";
  for (std::size_t k = 0; k < constraint.points.size(); ++k) {
    const NamedPoint& point = constraint.points[k];
    const Place here = points / k;
    take(here, point.name);
    if (point.body != constraint.between[0] && point.body != constraint.between[1] &&
        std::find(constraint.more.begin(), constraint.more.end(), point.body) == constraint.more.end())
      fail(here / "body", fmt::format("{} is none of the constraint's bodies", in_quotes(point.body)));
  }
  for (std::size_t k = 0; k < constraint.constants.size(); ++k) take(constants / k, constraint.constants[k].name);
  for (std::size_t k = 0; k < constraint.parameters.size(); ++k) take(parameters / k, constraint.parameters[k].name);
}

}  // namespace

void check_text(const Constraint& constraint, const Place& place) {
  check_names(constraint, place);
  if (constraint.equation.lines.size() > Equations::most)
    fail(place / "equation", fmt::format("there can be at most {} equations", Equations::most));
  Dictionary dictionary(constraint);
  for (std::size_t k = 0; k < constraint.equation.lines.size(); ++k) try {
      static_cast<void>(Expression(constraint.equation.lines[k], dictionary.names()));
    } catch (const Error& error) {
      const Place here = place / "equation";
      fail(constraint.equation.lines.size() == 1 ? here : here / k, error.what());
    }
}

std::shared_ptr<const EquationTape> compile_text(const Constraint& constraint) {
  Dictionary dictionary(constraint);
  std::vector<Expression> equations;
  for (const std::string& line : constraint.equation.lines) equations.emplace_back(line, dictionary.names());
  auto tape = std::make_shared<EquationTape>(equations, dictionary.leaves());
  if (constraint.at_least) tape->bound(*constraint.at_least, 1);
  if (constraint.at_most) tape->bound(*constraint.at_most, -1);
  return tape;
}

namespace {

/// Whether the property holds of any of the equations' values.
template <class Property>
bool any_equation(const Constraint& constraint, Property&& property) {
  const std::shared_ptr<const EquationTape> tape = constraint.law ? nullptr : compile_text(constraint);
  // The numbers do not matter: what they were made of does.
  std::vector<MovingBody> bodies(constraint.law.single ? 1 : 2 + constraint.more.size());
  for (std::size_t b = 0; b < bodies.size(); ++b) bodies[b].p = Vec3(1.0, 0.3, -0.7) * static_cast<double>(b + 1);
  std::vector<Moving> s(constraint.parameters.size(), Moving(0.5)),
      out(static_cast<std::size_t>(tape ? tape->equations() : constraint.law.equations));
  Moving t(0.0);
  t.of_time = true;
  if (tape)
    tape->evaluate(bodies, t, s, out);
  else
    constraint.law.evaluate(bodies, t, s, out);
  return std::any_of(out.begin(), out.end(), property);
}

}  // namespace

bool on_velocities(const Constraint& constraint) {
  return !constraint.function && any_equation(constraint, [](const Moving& row) { return row.of_velocities; });
}

bool knows_time(const Constraint& constraint) {
  return constraint.function || any_equation(constraint, [](const Moving& row) { return row.of_time; });
}

}  // namespace rotule
