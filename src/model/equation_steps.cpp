// The walks over a tape's steps: forwards, back, and back along directions.
#include <cmath>
#include <numbers>

#include "model/equation_tape.h"

namespace rotule {

namespace {

using Six = EquationTape::Six;

Six six_times(double s, const Six& a) {
  Six out;  // NOLINT: written next
  for (std::size_t d = 0; d < 6; ++d) out[d] = s * a[d];
  return out;
}
Six six_sum(double s, const Six& a, double t, const Six& b) {
  Six out;  // NOLINT: written next
  for (std::size_t d = 0; d < 6; ++d) out[d] = s * a[d] + t * b[d];
  return out;
}
void six_add(double s, const Six& a, Six& to) {
  for (std::size_t d = 0; d < 6; ++d) to[d] += s * a[d];
}

}  // namespace

double EquationTape::apply(const Step& step, double x, double y) {
  switch (step.op) {
    case Op::number:
      return step.number;
    case Op::shift:
      return x + step.number;
    case Op::scale:
      return x * step.number;
    case Op::square:
      return x * x;
    case Op::power:
      return std::pow(x, step.number);
    case Op::plus:
      return x + y;
    case Op::minus:
      return x - y;
    case Op::times:
      return x * y;
    case Op::over:
      return x / y;
    case Op::sin:
      return std::sin(x);
    case Op::cos:
      return std::cos(x);
    case Op::tan:
      return std::tan(x);
    case Op::exp:
      return std::exp(x);
    case Op::log:
      return std::log(x);
    case Op::sqrt:
      return std::sqrt(x);
    case Op::asin:
      return std::asin(x);
    case Op::acos:
      return std::acos(x);
    case Op::atan:
      return std::atan(x);
    case Op::tanh:
      return std::tanh(x);
    case Op::wrap:
      return x - 2 * std::numbers::pi * std::round(x / (2 * std::numbers::pi));
    case Op::abs:
      return x < 0 ? -x : x;
    case Op::min:
      return y < x ? y : x;
    case Op::max:
      return y > x ? y : x;
    default:
      return std::atan2(x, y);
  }
}

EquationTape::Slopes EquationTape::slopes(const Step& step, double x, double y, double result) {
  switch (step.op) {
    case Op::number:
      return {};
    case Op::scale:
      return {.a = step.number};
    case Op::square:
      return {.a = 2 * x, .aa = 2};
    case Op::power: {  // a derivative whose coefficient is zero is none, whatever the power that it multiplies
      const double p = step.number;
      return {.a = p == 0 ? 0 : p * std::pow(x, p - 1), .aa = p == 0 || p == 1 ? 0 : p * (p - 1) * std::pow(x, p - 2)};
    }
    case Op::plus:
      return {.a = 1, .b = 1};
    case Op::minus:
      return {.a = 1, .b = -1};
    case Op::times:
      return {.a = y, .b = x, .ab = 1};
    case Op::over: {
      const double r = 1 / y;
      return {.a = r, .b = -result * r, .ab = -r * r, .bb = 2 * result * r * r};
    }
    case Op::sin:
      return {.a = std::cos(x), .aa = -result};
    case Op::cos:
      return {.a = -std::sin(x), .aa = -result};
    case Op::tan: {
      const double slope = 1 + result * result;
      return {.a = slope, .aa = 2 * result * slope};
    }
    case Op::exp:
      return {.a = result, .aa = result};
    case Op::log:
      return {.a = 1 / x, .aa = -1 / (x * x)};
    case Op::sqrt:
      return {.a = 0.5 / result, .aa = -0.25 / (result * x)};
    case Op::asin:
    case Op::acos: {
      const double c = 1 / std::sqrt(1 - x * x), sign = step.op == Op::asin ? 1 : -1;
      return {.a = sign * c, .aa = sign * x * c * c * c};
    }
    case Op::atan: {
      const double slope = 1 / (1 + x * x);
      return {.a = slope, .aa = -2 * x * slope * slope};
    }
    case Op::tanh: {
      const double slope = 1 - result * result;
      return {.a = slope, .aa = -2 * result * slope};
    }
    case Op::abs:
      return {.a = x < 0 ? -1.0 : 1.0};
    case Op::min:
      return y < x ? Slopes{.b = 1} : Slopes{.a = 1};
    case Op::max:
      return y > x ? Slopes{.b = 1} : Slopes{.a = 1};
    case Op::atan2: {
      const double squares = x * x + y * y, a = y / squares, b = -x / squares;
      return {.a = a, .b = b, .aa = 2 * a * b, .ab = b * b - a * a, .bb = -2 * a * b};
    }
    default:  // shift, wrap
      return {.a = 1};
  }
}

void EquationTape::forward(Slot* slot, std::size_t first) const {
  Slot* to = slot + first_step_ + first;
  for (const Step& step : std::span(steps_).subspan(first)) {
    Slot& out = *to++;
    switch (step.op) {  // those that nearly every equation has, without detours
      case Op::number:
        out.value = step.number;
        out.first = out.second = 0;
        break;
      case Op::shift: {
        const Slot& p = slot[step.a];
        out.value = p.value + step.number;
        out.first = p.first;
        out.second = p.second;
        out.by_a = 1;
        break;
      }
      case Op::scale: {
        const Slot& p = slot[step.a];
        out.value = p.value * step.number;
        out.first = p.first * step.number;
        out.second = p.second * step.number;
        out.by_a = step.number;
        break;
      }
      case Op::plus: {
        const Slot &p = slot[step.a], &q = slot[step.b];
        out.value = p.value + q.value;
        out.first = p.first + q.first;
        out.second = p.second + q.second;
        out.by_a = out.by_b = 1;
        break;
      }
      case Op::minus: {
        const Slot &p = slot[step.a], &q = slot[step.b];
        out.value = p.value - q.value;
        out.first = p.first - q.first;
        out.second = p.second - q.second;
        out.by_a = 1;
        out.by_b = -1;
        break;
      }
      case Op::times: {
        const Slot &p = slot[step.a], &q = slot[step.b];
        out.value = p.value * q.value;
        out.first = p.value * q.first + p.first * q.value;
        out.second = p.value * q.second + 2 * p.first * q.first + p.second * q.value;
        out.by_a = q.value;
        out.by_b = p.value;
        break;
      }
      case Op::square: {
        const Slot& p = slot[step.a];
        out.value = p.value * p.value;
        out.by_a = 2 * p.value;
        out.first = out.by_a * p.first;
        out.second = out.by_a * p.second + 2 * p.first * p.first;
        break;
      }
      case Op::sqrt: {
        const Slot& p = slot[step.a];
        out.value = std::sqrt(p.value);
        out.by_a = 0.5 / out.value;
        out.first = out.by_a * p.first;
        out.second = out.by_a * p.second + -0.25 / (out.value * p.value) * p.first * p.first;
        break;
      }
      case Op::dot: {
        const Slot *const p = slot + step.a, *const q = slot + step.b;
        out.value = out.first = out.second = 0;
        for (int k = 0; k < 3; ++k) {
          out.value += p[k].value * q[k].value;
          out.first += p[k].value * q[k].first + p[k].first * q[k].value;
          out.second += p[k].value * q[k].second + 2 * p[k].first * q[k].first + p[k].second * q[k].value;
        }
        break;
      }
      case Op::gap: {
        const Slot *const p = slot + step.a, *const q = slot + step.b;
        out.value = out.first = out.second = 0;
        for (int k = 0; k < 3; ++k) {
          const double e = p[k].value - q[k].value, e_dot = p[k].first - q[k].first;
          out.value += e * e;
          out.first += 2 * e * e_dot;
          out.second += 2 * e * (p[k].second - q[k].second) + 2 * e_dot * e_dot;
        }
        break;
      }
      default: {
        const Slot &p = slot[step.a], &q = slot[step.b >= 0 ? step.b : step.a];
        out.value = apply(step, p.value, q.value);
        const Slopes f = slopes(step, p.value, q.value, out.value);
        out.by_a = f.a;
        out.first = f.a * p.first;
        out.second = f.a * p.second + f.aa * p.first * p.first;
        if (step.b < 0) break;
        out.by_b = f.b;
        out.first += f.b * q.first;
        out.second += f.b * q.second + 2 * f.ab * p.first * q.first + f.bb * q.first * q.first;
      }
    }
  }
}

void EquationTape::hand_back(const Step& step, double worth, Slot* slot) {
  Slot *const p = slot + step.a, *const q = slot + step.b;
  for (int k = 0; k < 3; ++k) {
    if (step.op == Op::dot) {
      p[k].worth += worth * q[k].value;
      q[k].worth += worth * p[k].value;
    } else {
      const double pull = worth * 2 * (p[k].value - q[k].value);
      p[k].worth += pull;
      q[k].worth -= pull;
    }
  }
}

void EquationTape::back(int equation, Slot* slot) const {
  const Equation& own = equations_[static_cast<std::size_t>(equation)];
  for (const int leaf : own.leaves) slot[leaf].worth = 0;
  for (const int k : own.needed) slot[first_step_ + k].worth = 0;
  slot[own.result].worth = 1;
  for (const int k : own.needed) {
    const Step& step = steps_[static_cast<std::size_t>(k)];
    const Slot& from = slot[first_step_ + k];
    if (step.a < 0) continue;
    if (of_vectors(step.op)) {
      hand_back(step, from.worth, slot);
      continue;
    }
    slot[step.a].worth += from.worth * from.by_a;
    if (step.b >= 0) slot[step.b].worth += from.worth * from.by_b;
  }
}

void EquationTape::back(std::span<const double> weights, Slot* slot) const {
  const int count = slots();
  for (int k = 0; k < count; ++k) slot[k].worth = 0;
  for (std::size_t k = 0; k < weights.size(); ++k) slot[equations_[k].result].worth += weights[k];
  for (int k = count - 1; k >= first_step_; --k) {
    const Step& step = steps_[static_cast<std::size_t>(k - first_step_)];
    if (step.a < 0 || slot[k].worth == 0) continue;
    if (of_vectors(step.op)) {
      hand_back(step, slot[k].worth, slot);
      continue;
    }
    slot[step.a].worth += slot[k].worth * slot[k].by_a;
    if (step.b >= 0) slot[step.b].worth += slot[k].worth * slot[k].by_b;
  }
}

Six EquationTape::along_vectors(const Step& step, const Slot* slot, const Six* along) {
  const Slot *const p = slot + step.a, *const q = slot + step.b;
  Six out{};
  for (int k = 0; k < 3; ++k) {
    const double e = 2 * (p[k].value - q[k].value);
    six_add(step.op == Op::dot ? q[k].value : e, along[step.a + k], out);
    six_add(step.op == Op::dot ? p[k].value : -e, along[step.b + k], out);
  }
  return out;
}

/// `own` is how the step's worth changes along each direction.
void EquationTape::bend_vectors(const Step& step, const Slot* slot, double worth, const Six& own, const Six* along, Six* change) {
  const Slot *const p = slot + step.a, *const q = slot + step.b;
  for (int k = 0; k < 3; ++k) {
    const Six &by_a = along[step.a + k], &by_b = along[step.b + k];
    Six &a = change[step.a + k], &b = change[step.b + k];
    if (step.op == Op::dot) {
      six_add(q[k].value, own, a);
      six_add(worth, by_b, a);
      six_add(p[k].value, own, b);
      six_add(worth, by_a, b);
    } else {
      const Six pull = six_sum(2 * (p[k].value - q[k].value), own, 2 * worth, six_sum(1, by_a, -1, by_b));
      six_add(1, pull, a);
      six_add(-1, pull, b);
    }
  }
}

void EquationTape::bend(const Slot* slot, Six* along, Six* change) const {
  const int count = slots();
  along[time()].fill(0);
  for (int k = first_step_; k < count; ++k) {
    const Step& step = steps_[static_cast<std::size_t>(k - first_step_)];
    if (step.a < 0)
      along[k].fill(0);
    else if (of_vectors(step.op))
      along[k] = along_vectors(step, slot, along);
    else if (step.b < 0)
      along[k] = six_times(slot[k].by_a, along[step.a]);
    else
      along[k] = six_sum(slot[k].by_a, along[step.a], slot[k].by_b, along[step.b]);
  }
  for (int k = 0; k < count; ++k) change[k].fill(0);
  for (int k = count - 1; k >= first_step_; --k) {
    const Step& step = steps_[static_cast<std::size_t>(k - first_step_)];
    if (step.a < 0) continue;
    const Six own = change[k];
    if (of_vectors(step.op)) {
      bend_vectors(step, slot, slot[k].worth, own, along, change);
      continue;
    }
    const bool two = step.b >= 0;
    six_add(slot[k].by_a, own, change[step.a]);
    if (two) six_add(slot[k].by_b, own, change[step.b]);
    const double worth = slot[k].worth;
    if (worth == 0 || step.op == Op::shift || step.op == Op::scale || step.op == Op::plus || step.op == Op::minus) continue;
    const Slopes f = slopes(step, slot[step.a].value, two ? slot[step.b].value : 0, slot[k].value);
    six_add(worth * f.aa, along[step.a], change[step.a]);
    if (!two) continue;
    six_add(worth * f.ab, along[step.b], change[step.a]);
    six_add(worth * f.ab, along[step.a], change[step.b]);
    six_add(worth * f.bb, along[step.b], change[step.b]);
  }
}

}  // namespace rotule
