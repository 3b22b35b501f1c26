#pragma once
// Equations in text, compiled: what they ask of bodies is found once, each step of their programs then carries its value and its
// derivatives along the motion alone, and the gradients by bodies come from one walk back over the steps, as the chain rule has
// it from the other end (reverse accumulation): six numbers per body once per equation, in place of once per step.
#include <vector>

#include "model/expression.h"

namespace rotule {

/// What an equation may ask of its bodies.
struct EquationLeaf {
  enum class Kind : std::uint8_t { point, velocity, spin, axis, angle, parameter };
  Kind kind = Kind::point;
  int body = 0;  // or parameter
  Vec3 at = Vec3::Zero();
  int axis = 0, component = 0;

  friend bool operator==(const EquationLeaf&, const EquationLeaf&) = default;
  /// All of it, gradients too.
  [[nodiscard]] Moving value(MovingBodies q, std::span<const Moving> s) const;
  /// The vector whose component it is; not of angles and parameters.
  [[nodiscard]] CarriedVec3 vector(MovingBodies q) const;
};

class EquationTape {
 public:
  EquationTape(std::vector<Expression> equations, std::vector<EquationLeaf> leaves);
  void evaluate(MovingBodies q, const Moving& t, std::span<const Moving> s, std::span<Moving> out) const;

 private:
  static constexpr int most_vectors = 16, most_steps = 128;  // longer ones carry their gradients along
  /// A step of a program with the places of what it works on.
  struct Step {
    Expression::Op op = Expression::Op::number;
    bool of_bodies = false;  // whether bodies have a say in it
    double number = 0;
    int a = -1, b = -1;                  // of an operation: steps before it
    int leaf = -1, vector = -1, k = -1;  // of a variable; the vector and its component, -1 where it is none
  };
  void walk(const std::vector<Step>& steps, std::span<const CarriedVec3> vectors, MovingBodies q, const Moving& t,
            std::span<const Moving> s, Moving& out) const;

  std::vector<Expression> equations_;
  std::vector<EquationLeaf> leaves_;
  std::vector<std::vector<Step>> programs_;  // per equation; none where they are too long
  std::vector<int> vectors_;                 // a leaf of each
};

}  // namespace rotule
