#pragma once
// Constraints written as functions, compiled (rotule/moving.h): their equations, which of them are on velocities, the parameters
// that are eliminated.
#include <rotule/joints.h>

#include <memory>
#include <string>
#include <vector>

namespace rotule {

class EquationTape;
struct ParameterTable;
struct Model;
struct State;
struct Joint;

struct Equations {
  static constexpr int most = 6;  // equations of one constraint

  ConstraintFunction function;
  std::shared_ptr<const EquationTape> tape;  // the same, where they came as text
  std::vector<ConstraintParameter> parameters;
  std::vector<char> on_velocities;                                 // per equation
  bool positions = false, velocities = false, knows_time = false;  // what any of them is about
  bool one_sided = false;                                          // at least zero, in place of zero
  double restitution = 0;
  int samples = 64;                             // places at which a single parameter is first looked for
  std::shared_ptr<const ParameterTable> table;  // how few of these have to be tried, where that is known
  static constexpr int most_samples = 1024;

  /// Whether they are of positions alone, without parameters.
  [[nodiscard]] bool plain() const { return positions && !velocities && parameters.empty(); }
  [[nodiscard]] int rows() const { return function.equations - static_cast<int>(parameters.size()); }
};

/// A partner as functions see it, at rest and without gradients; `partner` as joints number them.
MovingBody moving_body(const Model& model, int partner);
/// Finds out what the equations are about by trying them where the joint's partners stand. Throws Error with the place where they
/// do not give numbers, are not linear in velocities, or have more parameters than they can determine.
std::shared_ptr<const Equations> compile_equations(Equations equations, const Model& model, const State& state,
                                                   const Joint& joint, const std::string& place);

}  // namespace rotule
