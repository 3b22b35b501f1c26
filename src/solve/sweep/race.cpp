// The sweep of race.h in lanes of doubles, compiled once per kind of processor. No fused operations: those without them would get
// other bits.
#include "solve/sweep/race.h"

#include <algorithm>
#include <cmath>

#include "problem/operators.h"

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "solve/sweep/race.cpp"  // NOLINT: how Highway compiles this file once per target
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace rotule::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using RaceTag = hn::CappedTag<double, racers>;
using Lanes = hn::Vec<RaceTag>;
inline constexpr int race_width = static_cast<int>(hn::MaxLanes(RaceTag()));

HWY_INLINE Lanes all(double x) { return hn::Set(RaceTag(), x); }
HWY_INLINE Lanes load(const RaceLanes& from, int part) { return hn::Load(RaceTag(), from.lane + part); }
HWY_INLINE void store(Lanes x, RaceLanes& to, int part) { hn::Store(x, RaceTag(), to.lane + part); }

/// w of a row; four sums, so that additions need not wait for each other: sweeps are as slow as what must.
HWY_INLINE Lanes row_of(const RaceRows& rows, int r, int part) {
  Lanes first = all(-rows.problem->b[r]), second = all(0), third = all(0), fourth = all(0);
  const RaceRows::Partners partners = rows.partners[r];
  const double* const line = rows.lines.data() + 24 * static_cast<std::ptrdiff_t>(r);
  if (partners.a >= 0)
    for (int k = 0; k < 3; ++k) {
      first = first + all(line[k]) * load(rows.state[partners.a + k], part);
      second = second + all(line[k + 3]) * load(rows.state[partners.a + k + 3], part);
    }
  if (partners.b >= 0)
    for (int k = 0; k < 3; ++k) {
      third = third + all(line[6 + k]) * load(rows.state[partners.b + k], part);
      fourth = fourth + all(line[9 + k]) * load(rows.state[partners.b + k + 3], part);
    }
  const RaceRows::Term *term = rows.terms.data() + rows.term_start[r], *const end = rows.terms.data() + rows.term_start[r + 1];
  for (; term + 1 < end; term += 2) {
    first = first + all(term[0].value) * load(rows.state[term[0].place], part);
    third = third + all(term[1].value) * load(rows.state[term[1].place], part);
  }
  if (term < end) first = first + all(term->value) * load(rows.state[term->place], part);
  return (first + second) + (third + fourth);
}

HWY_INLINE void push_row(RaceRows& rows, int r, int part, Lanes dx) {
  const auto push = [&](double value, RaceLanes& place) HWY_ATTR { store(load(place, part) + all(value) * dx, place, part); };
  const RaceRows::Partners partners = rows.partners[r];
  const double* const line = rows.lines.data() + 24 * static_cast<std::ptrdiff_t>(r) + 12;
  if (partners.a >= 0)
    for (int k = 0; k < 6; ++k) push(line[k], rows.state[partners.a + k]);
  if (partners.b >= 0)
    for (int k = 0; k < 6; ++k) push(line[6 + k], rows.state[partners.b + k]);
  const RaceRows::Term* const end = rows.pushes.data() + rows.push_start[r + 1];
  for (const RaceRows::Term* further = rows.pushes.data() + rows.push_start[r]; further < end; ++further)
    push(further->value, rows.state[further->place]);
}

struct Sums {
  Lanes squares, change;
};

HWY_INLINE void relax_row(RaceRows& rows, const RowUnit& unit, int part, Lanes alpha, double kappa, Sums& sums) {
  const int r = unit.first_row;
  const double d = unit.diagonal + kappa;
  RaceLanes& place = rows.state[r];
  const Lanes x = load(place, part), w = row_of(rows, r, part), none = all(0);
  const bool friction = unit.normal >= 0;
  const Lanes limit = friction ? all(unit.mu) * load(rows.state[unit.normal], part) : none;
  const Lanes lower = friction ? none - limit : all(rows.problem->lower[r]);
  const Lanes upper = friction ? limit : all(rows.problem->upper[r]);
  Lanes next = x;
  if (d > 0) {
    const Lanes D = all(unit.diagonal), up = hn::Max(none - w, none), down = hn::Max(w, none);
    const Lanes psi = hn::Max(hn::Min(D * (upper - x), up), hn::Min(D * (x - lower), down));
    sums.squares = sums.squares + psi * psi * all(unit.diagonal > 0 ? 1 / unit.diagonal : 0.0);
    next = x - alpha * all(1 / d) * (w + all(kappa) * x);
  }
  next = hn::Min(hn::Max(next, lower), upper);
  const Lanes dx = next - x;
  sums.change = sums.change + dx * dx;
  store(next, place, part);
  store(dx, rows.last[r], part);
  push_row(rows, r, part, dx);
}

HWY_INLINE void relax_disk(RaceRows& rows, const RowUnit& unit, int part, Lanes alpha, double kappa, Sums& sums) {
  const double d = unit.diagonal + kappa;
  const Lanes step = d > 0 ? alpha * all(1 / d) : all(0), D = all(unit.diagonal);
  const Lanes limit = all(unit.mu) * load(rows.state[unit.normal], part);
  Lanes before[6], next[6], image[6];
  Lanes length = all(0), image_length = all(0);
  for (int k = 0; k < unit.count; ++k) {
    const Lanes x = load(rows.state[unit.first_row + k], part), w = row_of(rows, unit.first_row + k, part);
    before[k] = x;
    image[k] = D * x - w;
    next[k] = x - step * (w + all(kappa) * x);
    length = length + next[k] * next[k];
    image_length = image_length + image[k] * image[k];
  }
  const auto scale = [&](Lanes radius, Lanes squares) HWY_ATTR {
    const auto inside = hn::Le(squares, radius * radius);
    if (hn::AllTrue(RaceTag(), inside)) return all(1);  // mostly: nobody waits for a root then
    return hn::IfThenElse(inside, all(1), radius / hn::Sqrt(hn::IfThenElse(inside, all(1), squares)));
  };
  const Lanes back = scale(limit, length), image_back = scale(D * limit, image_length);
  for (int k = 0; k < unit.count; ++k) {
    if (unit.diagonal > 0) {
      const Lanes psi = D * before[k] - image[k] * image_back;
      sums.squares = sums.squares + psi * psi * all(1 / unit.diagonal);
    }
    const Lanes x = next[k] * back, dx = x - before[k];
    sums.change = sums.change + dx * dx;
    store(x, rows.state[unit.first_row + k], part);
    store(dx, rows.last[unit.first_row + k], part);
    push_row(rows, unit.first_row + k, part, dx);
  }
}

void race_sweep(RaceRows& rows, std::span<const std::int32_t> order, bool backwards, const RaceLanes& relaxation, double kappa,
                RaceLanes& squares, RaceLanes& change) {
  Sums sums[racers];
  for (int part = 0; part < racers; part += race_width) sums[part] = {all(0), all(0)};
  const auto count = static_cast<std::ptrdiff_t>(order.size());
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    const RowUnit& unit = rows.units[order[backwards ? count - 1 - i : i]];
    for (int part = 0; part < racers; part += race_width) {
      const Lanes alpha = load(relaxation, part);
      if (unit.count == 1)
        relax_row(rows, unit, part, alpha, kappa, sums[part]);
      else
        relax_disk(rows, unit, part, alpha, kappa, sums[part]);
    }
  }
  for (int part = 0; part < racers; part += race_width) {
    store(sums[part].squares, squares, part);
    store(sums[part].change, change, part);
  }
}

void race_renew(RaceRows& rows) {
  const auto count = static_cast<int>(rows.push_start.size()) - 1;
  for (int part = 0; part < racers; part += race_width) {
    for (auto place = static_cast<std::size_t>(count); place < rows.state.size(); ++place) store(all(0), rows.state[place], part);
    for (int r = 0; r < count; ++r) push_row(rows, r, part, load(rows.state[r], part));
  }
}

}  // namespace
}  // namespace rotule::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rotule {

HWY_EXPORT(race_sweep);
HWY_EXPORT(race_renew);

void RelaxationRace::prepare(const ConstraintProblem& problem, bool formed) {
  rows_.problem = &problem;
  const int n = problem.rows();
  rows_.terms.clear();
  rows_.pushes.clear();
  rows_.term_start.assign(1, 0);
  rows_.push_start.assign(1, 0);
  rows_.partners.assign(n, {});
  rows_.lines.resize(formed ? 0 : 24 * static_cast<std::size_t>(n));
  const auto add = [](std::vector<RaceRows::Term>& list, double value, std::int64_t place) {
    if (value != 0) list.push_back({value, place});
  };
  const auto end_row = [&] {
    rows_.term_start.push_back(static_cast<std::int32_t>(rows_.terms.size()));
    rows_.push_start.push_back(static_cast<std::int32_t>(rows_.pushes.size()));
  };
  if (formed) {
    delassus_.assemble(problem);
    for (int i = 0; i < delassus_.blocks(); ++i)
      for (int r = 0; r < delassus_.rows(i); ++r, end_row())
        for (const Delassus::Entry& entry : delassus_.row(i)) {
          const int m = delassus_.rows(entry.column);
          for (int c = 0; c < m; ++c) add(rows_.terms, delassus_.values(entry)[r * m + c], delassus_.first_row(entry.column) + c);
        }
  } else {
    for (const ConstraintBlock& block : problem.blocks)
      for (int r = block.first_row; r < block.first_row + block.rows; ++r, end_row()) {
        add(rows_.terms, problem.C[r], r);
        double* const line = rows_.lines.data() + 24 * static_cast<std::ptrdiff_t>(r);
        const auto partner = [&](int body, const JacobianRows& J, double* j, std::int32_t& place) {
          if (body < 0 || problem.inverse_mass[body].isZero(0)) return;
          place = n + 6 * body;
          const Vec6 row = J.row(r).transpose(), Wj = multiply_inverse_mass(problem, body, row);
          std::copy(row.begin(), row.end(), j);
          std::copy(Wj.begin(), Wj.end(), j + 12);
        };
        partner(block.body_a, problem.J_a, line, rows_.partners[r].a);
        partner(block.body_b, problem.J_b, line + 6, rows_.partners[r].b);
        for (int k = block.first_more; k < block.first_more + block.more_count; ++k) {
          const auto [body, first] = problem.more[k];
          if (problem.inverse_mass[body].isZero(0)) continue;
          const Vec6 j = problem.J_more.row(first + r - block.first_row).transpose(),
                     Wj = multiply_inverse_mass(problem, body, j);
          for (int c = 0; c < 6; ++c) {
            add(rows_.terms, j[c], n + 6 * body + c);
            add(rows_.pushes, Wj[c], n + 6 * body + c);
          }
        }
      }
  }
  rows_.state.resize(static_cast<std::size_t>(n) + (formed ? 0 : 6 * static_cast<std::size_t>(problem.bodies())));
  const auto diagonal = [&](int i, double* D) {
    const ConstraintBlock& block = problem.blocks[i];
    if (formed) {
      std::copy_n(delassus_.diagonal(i), block.rows * block.rows, D);
      return;
    }
    for (int r = 0; r < block.rows; ++r)
      for (int c = 0; c < block.rows; ++c) {
        const double *const j = rows_.lines.data() + 24 * static_cast<std::ptrdiff_t>(block.first_row + r),
                            *const Wj = rows_.lines.data() + 24 * static_cast<std::ptrdiff_t>(block.first_row + c) + 12;
        const RaceRows::Partners partners = rows_.partners[block.first_row];
        double sum = r == c ? problem.C[block.first_row + r] : 0.0;
        if (partners.a >= 0) sum += Eigen::Map<const Vec6>(j).dot(Eigen::Map<const Vec6>(Wj));
        if (partners.b >= 0) sum += Eigen::Map<const Vec6>(j + 6).dot(Eigen::Map<const Vec6>(Wj + 6));
        for (int k = block.first_more; k < block.first_more + block.more_count; ++k) {
          const auto [body, first] = problem.more[k];
          sum += problem.J_more.row(first + r).dot(
              multiply_inverse_mass(problem, body, problem.J_more.row(first + c).transpose()).transpose());
        }
        D[r * block.rows + c] = sum;
      }
  };
  list_units(problem, diagonal, rows_.units);
  rows_.last.resize(n);
}

void RelaxationRace::begin(std::span<const double> x) {
  for (std::size_t r = 0; r < x.size(); ++r) std::fill_n(rows_.state[r].lane, racers, x[r]);
  renew();
}

void RelaxationRace::take(int lane, std::span<double> x) const {
  for (std::size_t r = 0; r < x.size(); ++r) x[r] = rows_.state[r].lane[lane];
}

void RelaxationRace::put(int lane, std::span<const double> state) {
  for (std::size_t r = 0; r < state.size(); ++r) rows_.state[r].lane[lane] = state[r];
}

void RelaxationRace::take_change(int lane, std::span<double> change) const {
  for (std::size_t r = 0; r < change.size(); ++r) change[r] = rows_.last[r].lane[lane];
}

void RelaxationRace::renew() { HWY_DYNAMIC_DISPATCH(race_renew)(rows_); }

void RelaxationRace::sweep(std::span<const std::int32_t> order, bool backwards, const RaceLanes& relaxation,
                           double regularisation) {
  HWY_DYNAMIC_DISPATCH(race_sweep)(rows_, order, backwards, relaxation, regularisation, residual_, change_);
  for (int lane = 0; lane < racers; ++lane) {
    residual_.lane[lane] = std::sqrt(residual_.lane[lane]);
    change_.lane[lane] = std::sqrt(change_.lane[lane]);
  }
}

}  // namespace rotule
#endif
