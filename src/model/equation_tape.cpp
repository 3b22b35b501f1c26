#include "model/equation_tape.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

namespace rotule {

namespace {

using LeafKind = EquationLeaf::Kind;

}  // namespace

EquationTape::EquationTape(std::span<const Expression> equations, std::span<const EquationLeaf> leaves) {
  // Vectors first, so that their slots are known.
  for (const EquationLeaf& leaf : leaves) {
    if (leaf.kind == LeafKind::parameter) continue;
    if (leaf.kind == LeafKind::angle)
      for (const int k : {1, 2}) vector({LeafKind::axis, leaf.body, Vec3::Unit((leaf.component + k) % 3)});
    else
      vector({leaf.kind, leaf.body, leaf.kind == LeafKind::axis ? Vec3(Vec3::Unit(leaf.axis)) : leaf.at});
  }
  first_step_ = time() + 1;
  Known known;
  std::vector<int> slot_of_leaf;
  for (const EquationLeaf& leaf : leaves) slot_of_leaf.push_back(leaf_slot(known, leaf));
  for (const Expression& equation : equations) equations_.emplace_back().result = compile(known, equation, slot_of_leaf);
  find_needs();
}

void EquationTape::bound(double bound, double sign) {
  Known known;
  for (Equation& equation : equations_) {
    if (bound != 0) equation.result = add(known, {Op::shift, equation.result, -1, -bound});
    if (sign != 1) equation.result = add(known, {Op::scale, equation.result, -1, sign});
  }
  find_needs();
}

/// The place of the vector; what was asked for before has its own.
int EquationTape::vector(const Vector& wanted) {
  const auto same = std::ranges::find_if(vectors_, [&](const Vector& other) {
    return other.kind == wanted.kind && other.body == wanted.body && other.at == wanted.at;
  });
  if (same == vectors_.end()) return vectors_.push_back(wanted), static_cast<int>(vectors_.size()) - 1;
  return static_cast<int>(same - vectors_.begin());
}

int EquationTape::add(Known& known, const Step& given) {
  const Step step = in_vectors(given);
  const auto [at, fresh] = known.try_emplace({step.op, step.a, step.b, step.number}, slots());
  if (fresh) steps_.push_back(step);
  return at->second;
}

EquationTape::Step EquationTape::in_vectors(const Step& sum) const {
  if (sum.op != Op::plus) return sum;
  const auto step_at = [&](int slot) {
    return slot < first_step_ ? nullptr : &steps_[static_cast<std::size_t>(slot) - static_cast<std::size_t>(first_step_)];
  };
  const auto sum_at = [&](int slot) {
    const Step* step = step_at(slot);
    return step != nullptr && step->op == Op::plus ? step : nullptr;
  };
  const Step *left = sum_at(sum.a), *right = sum_at(sum.b);
  std::array<int, 3> terms{};
  if (left != nullptr)
    terms = {left->a, left->b, sum.b};
  else if (right != nullptr)
    terms = {sum.a, right->a, right->b};
  else
    return sum;
  // Each is x times y, or the square of x - y, x and y being the same component of the same two vectors.
  const int components = 3 * static_cast<int>(vectors_.size());
  Step out;
  int seen = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    const Step* term = step_at(terms[k]);
    if (term == nullptr || (term->op != Op::times && term->op != Op::square)) return sum;
    Op op = Op::dot;
    int x = term->a, y = term->op == Op::square ? term->a : term->b;
    if (x >= components && term->op == Op::square) {
      const Step* difference = step_at(x);
      if (difference == nullptr || difference->op != Op::minus) return sum;
      op = Op::gap;
      x = difference->a;
      y = difference->b;
    }
    if (x >= components || y >= components || x % 3 != y % 3) return sum;
    if (x > y) std::swap(x, y);
    const int component = x % 3;
    if (k == 0) out = {.op = op, .a = x - component, .b = y - component};
    if (op != out.op || x - component != out.a || y - component != out.b) return sum;
    seen |= 1 << component;
  }
  return seen == 7 ? out : sum;
}

void EquationTape::leave_out_what_nobody_needs() {
  std::vector<char> needed(steps_.size(), 0);
  for (const Equation& equation : equations_)
    for (const int k : equation.needed) needed[static_cast<std::size_t>(k)] = 1;
  std::vector<int> slot(static_cast<std::size_t>(slots()), -1);
  for (int k = 0; k < first_step_; ++k) slot[static_cast<std::size_t>(k)] = k;
  std::vector<Step> left;
  for (std::size_t k = 0; k < steps_.size(); ++k) {
    if (!needed[k]) continue;
    slot[static_cast<std::size_t>(first_step_) + k] = first_step_ + static_cast<int>(left.size());
    Step& step = left.emplace_back(steps_[k]);
    for (int* from : {&step.a, &step.b})
      if (*from >= 0) *from = slot[static_cast<std::size_t>(*from)];
  }
  steps_ = std::move(left);
  for (Equation& equation : equations_) {
    equation.result = slot[static_cast<std::size_t>(equation.result)];
    for (int& k : equation.needed) k = slot[static_cast<std::size_t>(first_step_) + static_cast<std::size_t>(k)] - first_step_;
  }
}

int EquationTape::leaf_slot(Known& known, const EquationLeaf& leaf) {
  if (leaf.kind == LeafKind::parameter) return parameter(leaf.body);
  if (leaf.kind != LeafKind::angle)
    return 3 * vector({leaf.kind, leaf.body, leaf.kind == LeafKind::axis ? Vec3(Vec3::Unit(leaf.axis)) : leaf.at}) +
           leaf.component;
  // The turn about a world's axis, as gears have it: regular while the body leans less than half a turn.
  const int i = (leaf.component + 1) % 3, j = (leaf.component + 2) % 3;
  const int x = 3 * vector({LeafKind::axis, leaf.body, Vec3::Unit(i)}),
            y = 3 * vector({LeafKind::axis, leaf.body, Vec3::Unit(j)});
  return add(known, {Op::atan2, add(known, {Op::minus, x + j, y + i}), add(known, {Op::plus, x + i, y + j})});
}

int EquationTape::compile(Known& known, const Expression& expression, std::span<const int> slot_of_leaf) {
  using From = Expression::Op;
  if (expression.constant()) return add(known, {Op::number, -1, -1, expression.at(0).value});
  // Numbers wait until somebody needs a slot of them.
  struct Result {
    int slot;
    double number = 0;
  };
  std::vector<Result> stack;
  const auto slot_of = [&](const Result& of) { return of.slot >= 0 ? of.slot : add(known, {Op::number, -1, -1, of.number}); };
  const auto unary = [&](Op op, int a, double number = 0) { return add(known, {op, a, -1, number}); };
  const auto combine = [&](From op, const Result& a, const Result& b) {
    switch (op) {
      case From::plus:
        if (a.slot < 0) return unary(Op::shift, b.slot, a.number);
        return b.slot < 0 ? unary(Op::shift, a.slot, b.number) : add(known, {Op::plus, a.slot, b.slot});
      case From::minus:
        if (a.slot < 0) return unary(Op::shift, unary(Op::scale, b.slot, -1), a.number);
        return b.slot < 0 ? unary(Op::shift, a.slot, -b.number) : add(known, {Op::minus, a.slot, b.slot});
      case From::times:
        if (a.slot < 0) return unary(Op::scale, b.slot, a.number);
        return b.slot < 0 ? unary(Op::scale, a.slot, b.number) : add(known, {Op::times, a.slot, b.slot});
      case From::power:
        if (b.slot < 0) return b.number == 2 ? unary(Op::square, a.slot) : unary(Op::power, a.slot, b.number);
        return unary(Op::exp, add(known, {Op::times, b.slot, unary(Op::log, slot_of(a))}));
      case From::over:
        return add(known, {Op::over, slot_of(a), slot_of(b)});
      case From::min:
        return add(known, {Op::min, slot_of(a), slot_of(b)});
      case From::max:
        return add(known, {Op::max, slot_of(a), slot_of(b)});
      default:
        return add(known, {Op::atan2, slot_of(a), slot_of(b)});
    }
  };
  const auto alone = [&](From op, int a) {
    switch (op) {
      case From::negate:
        return unary(Op::scale, a, -1);
      case From::sin:
        return unary(Op::sin, a);
      case From::cos:
        return unary(Op::cos, a);
      case From::tan:
        return unary(Op::tan, a);
      case From::exp:
        return unary(Op::exp, a);
      case From::log:
        return unary(Op::log, a);
      case From::sqrt:
        return unary(Op::sqrt, a);
      case From::asin:
        return unary(Op::asin, a);
      case From::acos:
        return unary(Op::acos, a);
      case From::atan:
        return unary(Op::atan, a);
      case From::tanh:
        return unary(Op::tanh, a);
      case From::wrap:
        return unary(Op::wrap, a);
      default:
        return unary(Op::abs, a);
    }
  };
  for (const Expression::Step& step : expression.program()) {
    if (step.op == From::number) {
      stack.push_back({-1, step.number});
    } else if (step.op == From::time) {
      stack.push_back({time()});
    } else if (step.op == From::variable) {
      stack.push_back({slot_of_leaf[static_cast<std::size_t>(step.variable)]});
    } else if (Expression::takes_two(step.op)) {
      const Result b = stack.back();
      stack.pop_back();
      stack.back() = {combine(step.op, stack.back(), b)};
    } else {
      stack.back() = {alone(step.op, stack.back().slot)};
    }
  }
  return slot_of(stack.back());
}

void EquationTape::find_needs() {
  std::vector<char> needed;
  for (Equation& equation : equations_) {
    equation.needed.clear();
    equation.leaves.clear();
    equation.vectors.clear();
    needed.assign(static_cast<std::size_t>(slots()), 0);
    needed[static_cast<std::size_t>(equation.result)] = 1;
    for (int k = static_cast<int>(steps_.size()) - 1; k >= 0; --k) {
      if (!needed[static_cast<std::size_t>(first_step_) + static_cast<std::size_t>(k)]) continue;
      equation.needed.push_back(k);
      const Step& step = steps_[static_cast<std::size_t>(k)];
      for (const int from : {step.a, step.b})
        if (from >= 0) std::fill_n(needed.begin() + from, of_vectors(step.op) ? 3 : 1, char{1});
    }
    equation.of_time = needed[static_cast<std::size_t>(time())] != 0;
    for (std::size_t v = 0; v < vectors_.size(); ++v) {
      if (!needed[3 * v] && !needed[3 * v + 1] && !needed[3 * v + 2]) continue;
      std::fill_n(needed.begin() + static_cast<std::ptrdiff_t>(3 * v), 3, char{1});  // all of it, so that all of it has a worth
      equation.vectors.push_back(static_cast<int>(v));
      equation.of_velocities =
          equation.of_velocities || vectors_[v].kind == LeafKind::velocity || vectors_[v].kind == LeafKind::spin;
    }
    for (int leaf = 0; leaf < first_step_; ++leaf)
      if (needed[static_cast<std::size_t>(leaf)]) equation.leaves.push_back(leaf);
  }
  leave_out_what_nobody_needs();
  find_jumps();
}

/// By trial: with an angle a whole turn further, an equation that does not jump is what it was, or its opposite.
void EquationTape::find_jumps() {
  constexpr int trials = 8;
  constexpr double turn = 2 * std::numbers::pi, equal = 1e-6;
  jumps_.clear();
  std::mt19937 random(5);  // NOLINT(cert-msc51-cpp): the same every time
  std::vector<Slot> slot(static_cast<std::size_t>(slots()));
  for (std::size_t k = 0; k < steps_.size(); ++k) {
    if (steps_[k].op != Op::atan2) continue;
    bool jumps = false;
    for (int trial = 0; trial < trials && !jumps; ++trial) {
      for (int leaf = 0; leaf < first_step_; ++leaf)
        slot[static_cast<std::size_t>(leaf)].value = static_cast<double>(random() % 2001) / 1000 - 1;
      forward(slot.data());
      std::vector<double> before;
      for (const Equation& equation : equations_) before.push_back(slot[static_cast<std::size_t>(equation.result)].value);
      slot[static_cast<std::size_t>(first_step_) + k].value += turn;
      forward(slot.data(), k + 1);
      for (std::size_t e = 0; e < equations_.size(); ++e) {
        const double after = slot[static_cast<std::size_t>(equations_[e].result)].value;
        jumps = jumps || std::abs(std::abs(after) - std::abs(before[e])) > equal * (1 + std::abs(before[e]));
      }
    }
    if (jumps) jumps_.push_back(first_step_ + static_cast<int>(k));
  }
}

void EquationTape::evaluate(MovingBodies q, const Moving& t, std::span<const Moving> s, std::span<Moving> out) const {
  TapeRoom<Slot, usual_slots> room(slots());
  Slot* const slot = room.data();
  const auto carried = [&](std::size_t v) {
    const MovingBody& from = q[static_cast<std::size_t>(vectors_[v].body)];
    switch (vectors_[v].kind) {
      case LeafKind::velocity:
        return from.velocity(vectors_[v].at);
      case LeafKind::spin:
        return from.spin();
      case LeafKind::axis:
        return from.direction(vectors_[v].at);
      default:
        return from.point(vectors_[v].at);
    }
  };
  for (std::size_t v = 0; v < vectors_.size(); ++v) {
    const CarriedVec3 from = carried(v);
    for (int k = 0; k < 3; ++k) {
      Slot& to = slot[3 * v + static_cast<std::size_t>(k)];
      to.value = from.now[k];
      to.first = from.first[k];
      to.second = from.second[k];
    }
  }
  bool by_bodies = false;
  for (const MovingBody& body : q) by_bodies = by_bodies || body.by_motion || body.by_velocity;
  bool wanted = by_bodies || t.by_time != 0;
  for (int k = 0; k < static_cast<int>(s.size()); ++k) {
    const Moving& from = s[static_cast<std::size_t>(k)];
    Slot& to = slot[parameter(k)];
    to.value = from.value;
    to.first = from.first;
    to.second = from.second;
    for (const double by : from.by_parameter) wanted = wanted || by != 0;
  }
  slot[time()].value = t.value;
  slot[time()].first = t.first;
  slot[time()].second = t.second;
  forward(slot);

  for (int e = 0; e < static_cast<int>(out.size()); ++e) {
    const Equation& equation = equations_[static_cast<std::size_t>(e)];
    Moving& to = out[static_cast<std::size_t>(e)];
    to = Moving(slot[equation.result].value);
    to.first = slot[equation.result].first;
    to.second = slot[equation.result].second;
    to.of_time = equation.of_time && t.of_time;
    to.of_velocities = equation.of_velocities;
    if (!wanted) continue;
    back(e, slot);
    for (const int leaf : equation.leaves) {
      if (leaf == time()) to.by_time = slot[leaf].worth * t.by_time;
      if (leaf < parameter(0) || leaf >= time()) continue;
      const Moving& by = s[static_cast<std::size_t>(leaf - parameter(0))];
      for (std::size_t k = 0; k < to.by_parameter.size(); ++k) to.by_parameter[k] += slot[leaf].worth * by.by_parameter[k];
    }
    if (!by_bodies) continue;
    for (const int v : equation.vectors) {
      const CarriedVec3 from = carried(static_cast<std::size_t>(v));
      const Vec3 along(slot[3 * v].worth, slot[3 * v + 1].worth, slot[3 * v + 2].worth);
      for (int n = 0; n < from.parts; ++n) {
        const CarriedVec3::Part& part = from.part[static_cast<std::size_t>(n)];
        for (; to.bodies <= part.body; ++to.bodies) to.by_body[static_cast<std::size_t>(to.bodies)].fill(0);
        Moving::Gradient& by = to.by_body[static_cast<std::size_t>(part.body)];
        const Vec3 turned = part.lever.cross(along) + part.turn * along;
        for (int k = 0; k < 3; ++k) {
          by[static_cast<std::size_t>(k)] += part.move * along[k];
          by[static_cast<std::size_t>(k) + 3] += turned[k];
        }
      }
    }
  }
}

}  // namespace rotule
