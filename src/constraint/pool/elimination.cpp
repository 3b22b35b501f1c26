#include "constraint/pool/elimination.h"

#include <rotule/error.h>

#include <algorithm>
#include <cmath>

namespace rotule {

namespace {

constexpr int most_newton_steps = 50;      // from a place to the parameters' values
constexpr double parameter_margin = 1e-9;  // of the range: by which they may leave it
constexpr double about_equal = 1e-4;       // of the largest misfit: what counts as fitting as well
constexpr double misled = 1e-6;            // of the largest: by which a table may be wrong
constexpr double settled = 1e-12;          // of the range: the square of such a step is below rounding
constexpr int most_table_steps = 8;        // from a place to where a table is least

}  // namespace

Elimination::Elimination(const FunctionJoint& joint, Evaluation& evaluation)
    : joint_(joint), evaluation_(evaluation), grid_(*joint.equations), count_(grid_.dimensions()) {
  evaluation.gradients(Evaluation::Gradient::none);
  evaluation.along_motion();
  for (int k = 0; k < count_; ++k) evaluation.parameter(k).by_parameter[static_cast<std::size_t>(k)] = 1;
  const Parameters best = search();
  bool there = true;
  for (int k = 0; k < count_; ++k)
    there = there && std::abs(best[static_cast<std::size_t>(k)] - looked_at_[static_cast<std::size_t>(k)]) <= settled * range(k);
  if (!there) see(best, seen_);
}

std::span<const Moving> Elimination::look_around() {
  const Parameters rates = follow(seen_.rate);
  for (int k = 0; k < count_; ++k) evaluation_.parameter(k).first = rates[static_cast<std::size_t>(k)];
  evaluation_.gradients(Evaluation::Gradient::by_motion);
  const std::span<const Moving> F = look();
  read(F, seen_);
  find_perpendicular();
  return F;
}

Elimination::Seen Elimination::see(const Parameters& s) {
  Seen out;
  see(s, out);
  return out;
}

void Elimination::see(const Parameters& s, Seen& out) {
  put(s);
  read(look(), out);
}

void Elimination::read(std::span<const Moving> F, Seen& out) {
  out.F.setZero();
  out.rate.setZero();
  for (Misfit& by : out.by) by.setZero();
  for (std::size_t k = 0; k < F.size(); ++k) {
    const auto row = static_cast<Eigen::Index>(k);
    out.F[row] = F[k].value;
    out.rate[row] = F[k].first;
    for (std::size_t p = 0; p < out.by.size(); ++p) out.by[p][row] = F[k].by_parameter[p];
  }
}

Elimination::Parameters Elimination::fit(const ByParameters& F_s, const Misfit& r) const {
  const double a = F_s[0].squaredNorm(), p = F_s[0].dot(r);
  if (count_ == 1) return {p / a, 0};
  const double b = F_s[0].dot(F_s[1]), c = F_s[1].squaredNorm(), q = F_s[1].dot(r), all = a * c - b * b;
  return {(c * p - b * q) / all, (a * q - b * p) / all};
}

double Elimination::range(int k) const {
  const ConstraintParameter& parameter = joint_.equations->parameters[static_cast<std::size_t>(k)];
  return parameter.to - parameter.from;
}

void Elimination::put(const Parameters& s) {
  for (int k = 0; k < count_; ++k) evaluation_.parameter(k).value = s[static_cast<std::size_t>(k)];
}

/// Householder's reflections turn dF/ds into the first columns; the others of them are perpendicular to these.
void Elimination::find_perpendicular() {
  Misfit v = seen_.by[0];
  v[0] += v[0] < 0 ? -v.norm() : v.norm();
  Q_.noalias() = (-2 / v.squaredNorm() * v) * v.transpose();
  Q_.diagonal().array() += 1;
  if (count_ < 2) return;
  Misfit second = Q_ * seen_.by[1];
  second[0] = 0;
  second[1] += second[1] < 0 ? -second.norm() : second.norm();
  Q_ -= (Q_ * second) * (2 / second.squaredNorm() * second).transpose();
}

Elimination::Parameters Elimination::sample(int place) const { return {grid_.at(0, place), count_ > 1 ? grid_.at(1, place) : 0}; }

void Elimination::measure(const ParameterTable* table) {
  const int places = grid_.size();
  if (table == nullptr) {
    for (int place = 0; place < places; ++place) square_[static_cast<std::size_t>(place)] = see(sample(place)).F.squaredNorm();
    return;
  }
  const int equations = table->equations(), terms = table->terms();
  for (int m = 0; m < terms; ++m) {
    const int place = table->at[static_cast<std::size_t>(m)];
    put(sample(place));
    const std::span<const Moving> F = look();
    for (int k = 0; k < equations; ++k) shares_(k, m) = F[static_cast<std::size_t>(k)].value - table->base(place, k);
  }
  // All but the last term one by one, the last one together with the square.
  std::array<double, Equations::most_samples> value;  // NOLINT: written next
  for (int k = 0; k < equations; ++k) {
    const double* from = table->base.col(k).data();
    for (int m = 0; m + 1 < terms; ++m) {
      const double* const weight = table->weights.col(m).data();
      const double times = shares_(k, m);
      for (int place = 0; place < places; ++place) value[place] = from[place] + times * weight[place];  // NOLINT: in step
      from = value.data();
    }
    const double* const weight = terms > 0 ? table->weights.col(terms - 1).data() : from;
    const double times = terms > 0 ? shares_(k, terms - 1) : 0;
    double* const square = square_.data();
    for (int place = 0; place < places; ++place) {
      const double F = from[place] + times * weight[place];
      square[place] = (k > 0 ? square[place] : 0) + F * F;  // NOLINT: in step
    }
  }
}

double Elimination::foretell(const ParameterTable& table, int place, Parameters& s) const {
  const int steps = grid_.steps(0);
  const bool periodic = joint_.equations->parameters[0].periodic;
  ParameterTable::Quintics course;
  int piece = -1;
  double x = place, norm = 0;  // in steps from the beginning
  for (int round = 0;; ++round) {
    const int wanted = std::clamp(static_cast<int>(x), 0, steps - 1);
    if (wanted != piece) table.between(shares_, wanted, grid_.neighbour(wanted, 1, 0), course);
    piece = wanted;
    const double u = x - piece;
    double squares = 0, along = 0, steep = 0;
    for (int k = 0; k < table.equations(); ++k) {
      const std::array<double, 6>& c = course[static_cast<std::size_t>(k)];
      const double value = c[0] + u * (c[1] + u * (c[2] + u * (c[3] + u * (c[4] + u * c[5]))));
      const double slope = c[1] + u * (2 * c[2] + u * (3 * c[3] + u * (4 * c[4] + u * 5 * c[5])));
      squares += value * value;
      along += value * slope;
      steep += slope * slope;
    }
    norm = std::sqrt(squares);
    if (round == most_table_steps || !(steep > 0)) break;
    double next = x - std::clamp(along / steep, -1.0, 1.0);
    if (!periodic) next = std::clamp(next, 0.0, static_cast<double>(steps));
    const bool still = std::abs(next - x) < 1e-4;
    if (still) norm = std::sqrt(std::max(squares + (next - x) * (2 * along + (next - x) * steep), 0.0));
    x = periodic ? next - steps * std::floor(next / steps) : next;
    if (still) break;
  }
  s[0] = joint_.equations->parameters[0].from + x * grid_.step(0);
  return norm;
}

double Elimination::descend(Parameters& s) {
  const Equations& equations = *joint_.equations;
  double before = infinity;
  for (int round = 0; round < most_newton_steps; ++round) {
    see(s, seen_);
    looked_at_ = s;
    const double norm = seen_.F.norm();
    if (round == 0) entry_ = norm;
    const Parameters step = fit(seen_.by, -seen_.F);
    bool still = true, tiny = true;
    for (int k = 0; k < count_; ++k) {
      const auto number = static_cast<std::size_t>(k);
      if (!std::isfinite(step[number])) return infinity;
      const auto& [name, from, to, periodic] = equations.parameters[number];
      const double most = (to - from) / 4, slack = parameter_margin * (to - from);
      double next = s[number] + std::clamp(step[number], -most, most);
      if (periodic)
        next -= (to - from) * std::floor((next - from) / (to - from));
      else
        next = std::clamp(next, from - slack, to + slack);
      still = still && std::abs(next - s[number]) <= settled * (to - from);
      tiny = tiny && std::abs(step[number]) < 1e-12;
      s[number] = next;
    }
    if (still || (round > 3 && !(norm < before) && tiny)) return norm;
    before = norm;
  }
  return see(s).F.norm();
}

/// Of a square of places.
bool Elimination::lowest(int place) const {
  const double here = square_[static_cast<std::size_t>(place)];
  for (const int i : {-1, 0, 1})
    for (const int j : {-1, 0, 1})
      if (square_[static_cast<std::size_t>(grid_.neighbour(place, i, j))] < here) return false;
  return true;
}

double Elimination::find_valleys() {
  const int places = grid_.size();
  double largest = 0;
  valleys_ = 0;
  if (count_ > 1) {
    for (int place = 0; place < places; ++place) {
      largest = std::max(largest, square_[static_cast<std::size_t>(place)]);
      if (lowest(place)) valley_[static_cast<std::size_t>(valleys_++)] = place;
    }
    return largest;
  }
  const bool periodic = joint_.equations->parameters[0].periodic;
  const auto last = static_cast<std::size_t>(places) - 1;
  double before = periodic ? square_[last] : infinity, here = square_[0];
  int* const valley = valley_.data();
  int count = 0;
  for (std::size_t place = 0; place <= last; ++place) {
    const double after = place < last ? square_[place + 1] : periodic ? square_[0] : infinity;
    // Written anyway, and counted where it is one: no branch that nobody can foresee.
    valley[count] = static_cast<int>(place);
    count += static_cast<int>(!(before < here)) & static_cast<int>(!(after < here));
    largest = here > largest ? here : largest;
    before = here;
    here = after;
  }
  valleys_ = count;
  return largest;
}

/// How near |F| can come to zero half way to the neighbours, by its slope there.
double Elimination::nearest(const ParameterTable* table, int place) {
  double out = std::sqrt(square_[static_cast<std::size_t>(place)]);
  if (table != nullptr) {
    double steep = 0;
    for (int k = 0; k < table->equations(); ++k) {
      const double slope = table->at_place(shares_, k, place)[1];
      steep += slope * slope;
    }
    return out - std::sqrt(steep);
  }
  const Seen seen = see(sample(place));
  for (int k = 0; k < count_; ++k) out -= seen.by[static_cast<std::size_t>(k)].norm() * range(k) / (grid_.places(k) - 1);
  return out;
}

Elimination::Parameters Elimination::search() {
  const Equations& equations = *joint_.equations;
  const ParameterTable* table = equations.table.get();
  int start = 0;
  double largest = 0, least = 0, missed = 0;
  Parameters best;
  const ParameterTable* course = nullptr;  // where the table knows what lies between places too
  // Whether the first look finds what the table promises.
  const auto from_smallest = [&] {
    measure(table);
    largest = std::sqrt(find_valleys());
    start = valley_[0];
    for (int k = 1; k < valleys_; ++k)
      if (square_[static_cast<std::size_t>(valley_[k])] < square_[static_cast<std::size_t>(start)]) start = valley_[k];
    best = sample(start);
    double promised = std::sqrt(square_[static_cast<std::size_t>(start)]);
    course = table != nullptr && table->misses <= about_equal * largest ? table : nullptr;
    missed = course != nullptr ? course->misses : 0;
    if (course != nullptr) promised = foretell(*course, start, best);
    least = descend(best);
    return table == nullptr || std::abs(entry_ - promised) <= misled * largest + 4 * missed;
  };
  // What is the same sum everywhere is so here too; a function that asks where it is need not be.
  if (!from_smallest()) {
    table = nullptr;
    from_smallest();
  }
  double least_slip = -1;  // not known yet: most have no rival
  for (int k = 0; k < valleys_; ++k) {
    const int place = valley_[k];
    if (place == start || nearest(course, place) > least + about_equal * largest) continue;
    Parameters s = sample(place);
    if (course != nullptr && foretell(*course, place, s) > least + about_equal * largest + 4 * missed) continue;
    const double norm = descend(s);
    if (!(norm < least + about_equal * largest)) continue;
    if (least_slip < 0) least_slip = slip_at(best);
    const double slip = slip_at(s);
    if (norm < least - about_equal * largest || slip < least_slip) {
      least = norm;
      least_slip = slip;
      best = s;
    }
  }
  if (!std::isfinite(least))
    throw Error("joint \"" + *joint_.name + "\"",
                "no values of its parameters fit; look at its equations and at the range of its parameters");
  put(best);
  for (int k = 0; k < count_; ++k) {
    const auto& [name, from, to, periodic] = equations.parameters[static_cast<std::size_t>(k)];
    const double here = best[static_cast<std::size_t>(k)], rounding = settled * (to - from);
    if (!periodic && (here < from - rounding || here > to + rounding))
      throw Error("joint \"" + *joint_.name + "\"", "has come to the end of its " +
                                                        (name.empty() ? "parameter" : "parameter " + name) +
                                                        "; give a longer range, or stop it before");
  }
  return best;
}

/// What of the bodies' velocities is left that the parameters cannot follow, with what does not fit in position.
double Elimination::slip_at(const Parameters& s) {
  const Seen seen = see(s);
  const Parameters followed = fit(seen.by, seen.rate);
  Misfit left = seen.rate;
  for (std::size_t k = 0; k < followed.size(); ++k) left -= followed[k] * seen.by[k];
  const double fast = seen.rate.norm(), off = seen.F.norm();
  return fast > 0 ? left.norm() / fast + off : off;
}

}  // namespace rotule
