#pragma once
// Equations in text, compiled: what they ask of bodies is found once, as vectors that bodies carry; then comes one list of steps
// for all equations of a constraint, in which nothing is worked out twice, and products and distances of vectors are steps of
// their own. Walked forwards it carries values and their
// derivatives along the motion; walked back from one equation (reverse accumulation) it tells what each vector is worth to it,
// from which the gradients by all bodies follow at once. Numbers stand in one flat array that the caller has.
#include <array>
#include <cstddef>
#include <map>
#include <span>
#include <tuple>
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
};

class EquationTape {
 public:
  /// A number of the tape: its value, its derivatives along the motion, what it is worth to an equation, and its slopes by
  /// what it was made of.
  struct Slot {
    double value, first, second, worth, by_a, by_b;
  };
  /// A vector that a body carries; its components are three slots.
  struct Vector {
    EquationLeaf::Kind kind = EquationLeaf::Kind::point;
    int body = 0;
    Vec3 at = Vec3::Zero();  // the point, or the direction, in the body's frame
  };
  /// Tapes up to this length need no memory besides the stack.
  static constexpr int usual_slots = 128;

  EquationTape(std::span<const Expression> equations, std::span<const EquationLeaf> leaves);
  /// Every equation is to be `sign` times what it exceeds the bound by.
  void bound(double bound, double sign);

  /// Values and gradients of all equations, as any constraint function gives them.
  void evaluate(MovingBodies q, const Moving& t, std::span<const Moving> s, std::span<Moving> out) const;

  // The same in parts, for those who know more of their bodies. Slots of vectors come first, three each; parameters and the
  // time follow; these are the caller's to write.
  [[nodiscard]] std::span<const Vector> vectors() const { return vectors_; }
  [[nodiscard]] int equations() const { return static_cast<int>(equations_.size()); }
  [[nodiscard]] int slots() const { return first_step_ + static_cast<int>(steps_.size()); }
  [[nodiscard]] int parameter(int k) const { return 3 * static_cast<int>(vectors_.size()) + k; }
  [[nodiscard]] int time() const { return parameter(Moving::most_parameters); }
  void forward(Slot* slot, std::size_t first = 0) const;
  /// Slots of angles (`angle_z`, atan2) that some equation takes as they are, so that it jumps where they do, at half a turn;
  /// wrap() of whole multiples, sines and cosines do not.
  [[nodiscard]] std::span<const int> jumps() const { return jumps_; }
  [[nodiscard]] int result(int equation) const { return equations_[static_cast<std::size_t>(equation)].result; }
  /// What vectors, parameters and the time are worth to an equation.
  void back(int equation, Slot* slot) const;
  /// The vectors that an equation depends on.
  [[nodiscard]] std::span<const int> vectors_of(int equation) const {
    return equations_[static_cast<std::size_t>(equation)].vectors;
  }
  [[nodiscard]] bool knows_time(int equation) const { return equations_[static_cast<std::size_t>(equation)].of_time; }

  // Second derivatives, of the equations times weights, forward over reverse: six directions at a time.
  using Six = std::array<double, 6>;
  /// What all slots are worth to the sum of the equations times their weights.
  void back(std::span<const double> weights, Slot* slot) const;
  /// From derivatives of the slots of vectors and parameters along six directions, how their worth changes along each. Values and
  /// worths must be there; all of `along` but these is overwritten, `change` wholly.
  void bend(const Slot* slot, Six* along, Six* change) const;

 private:
  enum class Op : std::uint8_t {
    number,  // of its own
    shift,   // a + number
    scale,   // a times number
    square,
    power,  // of a by number
    plus,
    minus,
    times,
    over,
    sin,
    cos,
    tan,
    exp,
    log,
    sqrt,
    asin,
    acos,
    atan,
    tanh,
    wrap,
    abs,
    min,
    max,
    atan2,
    dot,  // of two vectors, whose first slots are a and b
    gap   // the square of the distance between them
  };
  struct Step {
    Op op = Op::number;
    int a = -1, b = -1;  // slots; -1 where there is none
    double number = 0;
  };
  struct Equation {
    int result = 0;           // a slot
    std::vector<int> needed;  // steps, the last first
    std::vector<int> leaves;  // slots before the steps
    std::vector<int> vectors;
    bool of_time = false, of_velocities = false;
  };
  /// Derivatives of a step's result by what it was made of.
  struct Slopes {
    double a = 0, b = 0, aa = 0, ab = 0, bb = 0;
  };
  using Known = std::map<std::tuple<Op, int, int, double>, int>;

  static double apply(const Step& step, double x, double y);
  // Of steps on vectors: what they are worth to these; derivatives along directions, and what these are worth by second ones.
  static void hand_back(const Step& step, double worth, Slot* slot);
  static Six along_vectors(const Step& step, const Slot* slot, const Six* along);
  static void bend_vectors(const Step& step, const Slot* slot, double worth, const Six& own, const Six* along, Six* change);
  static Slopes slopes(const Step& step, double x, double y, double result);
  int vector(const Vector& wanted);
  int add(Known& known, const Step& step);
  [[nodiscard]] static bool of_vectors(Op op) { return op == Op::dot || op == Op::gap; }
  /// A sum of three, as one step on two vectors where it is one; else what was given.
  [[nodiscard]] Step in_vectors(const Step& sum) const;
  void leave_out_what_nobody_needs();
  int leaf_slot(Known& known, const EquationLeaf& leaf);
  int compile(Known& known, const Expression& expression, std::span<const int> slot_of_leaf);
  void find_needs();
  void find_jumps();

  std::vector<Vector> vectors_;
  std::vector<Step> steps_;
  std::vector<Equation> equations_;
  std::vector<int> jumps_;
  int first_step_ = 0;
};

/// Room for the numbers of a tape: on the stack where it is of usual length.
template <class T, int usual>
class TapeRoom {
 public:
  explicit TapeRoom(int size) {
    if (size > usual) far_.resize(static_cast<std::size_t>(size));
  }
  [[nodiscard]] T* data() { return far_.empty() ? reinterpret_cast<T*>(near_) : far_.data(); }

 private:
  alignas(T) std::byte near_[sizeof(T) * usual];  // bytes, so that nobody fills what is written before it is read
  std::vector<T> far_;
};

}  // namespace rotule
