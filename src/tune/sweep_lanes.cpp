#include "tune/sweep_lanes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "base/budget.h"
#include "tune/sweep_arrays.h"

// One kind of processor per width of lanes.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tune/sweep_lanes.cpp"  // NOLINT: how Highway compiles this file once per target
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace rotule::tune::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

/// The run of up to P candidates: P numbers per row, lane by lane.
template <class T, std::size_t P>
class Pack {
 public:
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;

  Pack(const SweepArrays<T>& arrays, SweepScratch<T>& scratch) : a_(arrays) {
    const std::size_t rows = static_cast<std::size_t>(a_.rows) * P;
    const std::size_t motion = a_.by_bodies ? 6 * P * static_cast<std::size_t>(a_.bodies + 1) : rows;
    constexpr std::size_t alignment = 64 / sizeof(T);
    scratch.memory.assign(2 * rows + motion + 9 * P + alignment, T(0));
    void* start = scratch.memory.data();
    std::size_t space = scratch.memory.size() * sizeof(T);
    x_ = static_cast<T*>(std::align(64, 1, start, space));
    step_ = x_ + rows;
    w_ = step_ + rows;  // by bodies: their velocities
    dx_ = w_ + motion;
    kappa_ = dx_ + 6 * P;
    change_ = kappa_ + P;
    error_ = change_ + P;
  }

  void begin(std::span<const LaneJob> jobs) {
    for (std::size_t l = 0; l < P; ++l) {
      // Lanes without a candidate repeat the first one.
      const SweepParameters& p = *jobs[l < jobs.size() ? l : 0].parameters;
      kappa_[l] = static_cast<T>(p.regularisation);
      for (int r = 0; r < a_.rows; ++r) x_[index(r) + l] = static_cast<T>(p.warm * static_cast<double>(a_.x0[r]));
      for (const SweepUnit<T>& unit : a_.units) {
        const double d = static_cast<double>(unit.diagonal) + p.regularisation;
        const double alpha = unit.friction ? p.friction_relaxation : p.relaxation;
        for (int k = 0; k < unit.count; ++k) step_[index(unit.first_row + k) + l] = static_cast<T>(d > 0 ? alpha / d : 0.0);
      }
    }
    for (const SweepUnit<T>& unit : a_.units) project(unit);
  }

  /// w, or the velocities, anew from x: rounding creeps into what is kept by changes.
  HWY_ATTR void refresh() {
    if (a_.by_bodies) {
      std::fill_n(w_, 6 * P * static_cast<std::size_t>(a_.bodies + 1), T(0));
      for (const SweepVisit& visit : a_.visits[0])
        for (int r = visit.first_row; r < visit.first_row + visit.rows; ++r) push(visit, r, x_ + index(r));
      return;
    }
    for (int r = 0; r < a_.rows; ++r)
      for (std::size_t l = 0; l < P; ++l) w_[index(r) + l] = a_.C[r] * x_[index(r) + l] - a_.b[r];
    for (const SweepVisit& visit : a_.visits[0]) {
      const T* const own = a_.values.data() + visit.diagonal;
      for (int k = 0; k < visit.rows; ++k)
        add_row(own + k * visit.block_rows, x_ + index(visit.first_row + k), visit.block_row, visit.block_rows);
      spread(visit, 0, x_ + index(visit.first_row));
    }
  }

  HWY_ATTR void sweep(bool staggered, bool backwards) {
    const D d;
    for (std::size_t l = 0; l < P; l += hn::Lanes(d)) hn::Store(hn::Zero(d), d, change_ + l);
    const std::vector<SweepVisit>& visits = a_.visits[staggered];
    const std::size_t count = visits.size();
    for (std::size_t i = 0; i < count; ++i) {
      const SweepVisit& visit = visits[backwards ? count - 1 - i : i];
      for (int k = 0; k < visit.units; ++k) {
        const int u = visit.first_unit + (backwards ? visit.units - 1 - k : k);
        a_.by_bodies ? relax_by_bodies(visit, a_.units[u]) : relax(visit, a_.units[u]);
      }
      if (!a_.by_bodies) spread(visit, staggered, dx_);
    }
  }

  /// e of every lane into error_, with the x and w of now.
  HWY_ATTR void judge() {
    const D d;
    for (std::size_t l = 0; l < P; l += hn::Lanes(d)) hn::Store(hn::Zero(d), d, error_ + l);
    if (!a_.by_bodies) {
      for (std::size_t u = 0; u < a_.units.size(); ++u)
        if (!a_.in_cone[u]) judge_unit(a_.units[u], w_ + index(a_.units[u].first_row));
      for (const SweepCone<T>& cone : a_.cones) judge_cone(cone, w_ + index(cone.normal));
      return;
    }
    std::size_t cone = 0;
    for (const SweepVisit& visit : a_.visits[0]) {
      for (int k = 0; k < visit.rows; ++k) velocity(visit, visit.first_row + k, dx_ + static_cast<std::size_t>(k) * P);
      for (int u = visit.first_unit; u < visit.first_unit + visit.units; ++u)
        if (!a_.in_cone[u]) judge_unit(a_.units[u], dx_ + static_cast<std::size_t>(a_.units[u].first_row - visit.first_row) * P);
      for (; cone < a_.cones.size() && a_.cones[cone].normal < visit.first_row + visit.rows; ++cone)
        judge_cone(a_.cones[cone], dx_ + static_cast<std::size_t>(a_.cones[cone].normal - visit.first_row) * P);
    }
  }

  [[nodiscard]] double error(std::size_t lane) const { return static_cast<double>(error_[lane]); }
  [[nodiscard]] double change(std::size_t lane) const { return std::sqrt(static_cast<double>(change_[lane])); }
  [[nodiscard]] T x(int row, std::size_t lane) const { return x_[index(row) + lane]; }

 private:
  [[nodiscard]] static std::size_t index(int row) { return static_cast<std::size_t>(row) * P; }

  /// Back between the bounds.
  HWY_ATTR void project(const SweepUnit<T>& unit) {
    const D d;
    for (std::size_t l = 0; l < P; l += hn::Lanes(d)) {
      T* const x = x_ + index(unit.first_row) + l;
      if (unit.count > 1) {
        const V scale = disk_scale(unit, l);
        for (int k = 0; k < unit.count; ++k) hn::Store(hn::Mul(hn::Load(d, x + k * P), scale), d, x + k * P);
      } else {
        hn::Store(clamped(unit, hn::Load(d, x), l), d, x);
      }
    }
  }
  HWY_INLINE V clamped(const SweepUnit<T>& unit, V x, std::size_t l) const {
    const D d;
    if (unit.normal >= 0) {
      const V limit = hn::Mul(hn::Set(d, unit.mu), hn::Load(d, x_ + index(unit.normal) + l));
      return hn::Max(hn::Neg(limit), hn::Min(limit, x));
    }
    return unit.bounded ? hn::Max(hn::Set(d, unit.lower), hn::Min(hn::Set(d, unit.upper), x)) : x;
  }
  /// What brings the disk's rows back on its rim; 1 inside.
  HWY_INLINE V disk_scale(const SweepUnit<T>& unit, std::size_t l) const {
    const D d;
    const V limit = hn::Mul(hn::Set(d, unit.mu), hn::Load(d, x_ + index(unit.normal) + l));
    V squares = hn::Zero(d);
    for (int k = 0; k < unit.count; ++k) {
      const V t = hn::Load(d, x_ + index(unit.first_row + k) + l);
      squares = hn::Add(squares, hn::Mul(t, t));
    }
    const auto out = hn::Gt(squares, hn::Mul(limit, limit));
    return hn::IfThenElse(out, hn::Div(limit, hn::Sqrt(hn::IfThenElse(out, squares, hn::Set(d, T(1))))), hn::Set(d, T(1)));
  }

  /// A whole unit: new x, its change into dx_, and w of its own block.
  HWY_INLINE void relax(const SweepVisit& visit, const SweepUnit<T>& unit) {
    const D d;
    T* const dx = dx_ + static_cast<std::size_t>(unit.first_row - visit.first_row) * P;
    const T* const w = w_ + index(unit.first_row);
    step(unit, w, dx);
    const T* const own = a_.values.data() + visit.diagonal;
    for (int k = 0; k < unit.count; ++k)
      add_row(own + (unit.first_row + k - visit.first_row) * visit.block_rows, dx + static_cast<std::size_t>(k) * P,
              visit.block_row, visit.block_rows);
    // C is a diagonal beside A's blocks.
    for (int k = 0; k < unit.count; ++k) {
      const int r = unit.first_row + k;
      if (a_.C[r] == 0) continue;
      const V C = hn::Set(d, a_.C[r]);
      for (std::size_t l = 0; l < P; l += hn::Lanes(d)) {
        T* const at = w_ + index(r) + l;
        hn::Store(hn::Add(hn::Load(d, at), hn::Mul(C, hn::Load(d, dx + static_cast<std::size_t>(k) * P + l))), d, at);
      }
    }
  }
  HWY_INLINE void relax_by_bodies(const SweepVisit& visit, const SweepUnit<T>& unit) {
    for (int k = 0; k < unit.count; ++k) velocity(visit, unit.first_row + k, dx_ + static_cast<std::size_t>(k) * P);
    step(unit, dx_, dx_);
    for (int k = 0; k < unit.count; ++k) push(visit, unit.first_row + k, dx_ + static_cast<std::size_t>(k) * P);
  }

  /// x of the unit for the w given, its change into dx (which may be where w is).
  HWY_INLINE void step(const SweepUnit<T>& unit, const T* w, T* dx) {
    const D d;
    for (std::size_t l = 0; l < P; l += hn::Lanes(d)) {
      const V kappa = hn::Load(d, kappa_ + l);
      V change = hn::Load(d, change_ + l);
      T* const x = x_ + index(unit.first_row) + l;
      if (unit.count == 1) {
        const V old = hn::Load(d, x), slope = hn::Add(hn::Load(d, w + l), hn::Mul(kappa, old));
        const V now = clamped(unit, hn::Sub(old, hn::Mul(hn::Load(d, step_ + index(unit.first_row) + l), slope)), l);
        const V by = hn::Sub(now, old);
        hn::Store(now, d, x);
        hn::Store(by, d, dx + l);
        hn::Store(hn::Add(change, hn::Mul(by, by)), d, change_ + l);
        continue;
      }
      for (int k = 0; k < unit.count; ++k) {
        const V old = hn::Load(d, x + k * P), slope = hn::Add(hn::Load(d, w + k * P + l), hn::Mul(kappa, old));
        hn::Store(old, d, dx + k * P + l);
        hn::Store(hn::Sub(old, hn::Mul(hn::Load(d, step_ + index(unit.first_row + k) + l), slope)), d, x + k * P);
      }
      const V scale = disk_scale(unit, l);
      for (int k = 0; k < unit.count; ++k) {
        const V now = hn::Mul(hn::Load(d, x + k * P), scale), by = hn::Sub(now, hn::Load(d, dx + k * P + l));
        hn::Store(now, d, x + k * P);
        hn::Store(by, d, dx + k * P + l);
        change = hn::Add(change, hn::Mul(by, by));
      }
      hn::Store(change, d, change_ + l);
    }
  }

  /// w of `count` rows from `row` on += a^T y.
  HWY_INLINE void add_row(const T* a, const T* y, int row, int count) {
    count == 3 ? add_to(a, y, row, 3) : add_to(a, y, row, count);
  }
  HWY_INLINE void add_to(const T* a, const T* y, int row, const int count) {
    const D d;
    for (std::size_t l = 0; l < P; l += hn::Lanes(d)) {
      const V by = hn::Load(d, y + l);
      for (int c = 0; c < count; ++c) {
        T* const at = w_ + index(row + c) + l;
        hn::Store(hn::Add(hn::Load(d, at), hn::Mul(hn::Set(d, a[c]), by)), d, at);
      }
    }
  }

  /// The other blocks' w after the visit's rows have changed by dx.
  HWY_INLINE void spread(const SweepVisit& visit, bool staggered, const T* dx) {
    const SweepEntry* entry = a_.entries[staggered].data() + visit.first_entry;
    if (visit.rows == 3) {
      for (int e = 0; e < visit.entries; ++e, ++entry)
        entry->rows == 3 ? spread_three(*entry, 3, dx) : spread_three(*entry, entry->rows, dx);
      return;
    }
    for (int e = 0; e < visit.entries; ++e, ++entry)
      for (int r = 0; r < visit.rows; ++r)
        add_row(a_.values.data() + entry->value + r * entry->rows, dx + static_cast<std::size_t>(r) * P, entry->first_row,
                entry->rows);
  }
  /// Three rows of the visit, and `m` of the other block: nearly all are contacts, whose loops then have no ends to look for.
  HWY_INLINE void spread_three(const SweepEntry& entry, const int m, const T* dx) {
    const D d;
    const T* const a = a_.values.data() + entry.value;
    for (std::size_t l = 0; l < P; l += hn::Lanes(d)) {
      const V d0 = hn::Load(d, dx + l), d1 = hn::Load(d, dx + P + l), d2 = hn::Load(d, dx + 2 * P + l);
      T* at = w_ + index(entry.first_row) + l;
      for (int c = 0; c < m; ++c, at += P) {
        const V sum = hn::Add(hn::Add(hn::Mul(hn::Set(d, a[c]), d0), hn::Mul(hn::Set(d, a[m + c]), d1)),
                              hn::Mul(hn::Set(d, a[2 * m + c]), d2));
        hn::Store(hn::Add(hn::Load(d, at), sum), d, at);
      }
    }
  }

  /// w of one row from the bodies' velocities.
  HWY_INLINE void velocity(const SweepVisit& visit, int row, T* w) const {
    const D d;
    const T* const line = a_.lines.data() + 24 * static_cast<std::size_t>(row);
    const T* const u_a = w_ + 6 * P * static_cast<std::size_t>(visit.body_a);
    const T* const u_b = w_ + 6 * P * static_cast<std::size_t>(visit.body_b);
    const V b = hn::Set(d, a_.b[row]), C = hn::Set(d, a_.C[row]);
    for (std::size_t l = 0; l < P; l += hn::Lanes(d)) {
      V even = hn::Mul(hn::Set(d, line[0]), hn::Load(d, u_a + l)), odd = hn::Mul(hn::Set(d, line[6]), hn::Load(d, u_b + l));
      for (std::size_t k = 1; k < 6; ++k) {
        even = hn::Add(even, hn::Mul(hn::Set(d, line[k]), hn::Load(d, u_a + k * P + l)));
        odd = hn::Add(odd, hn::Mul(hn::Set(d, line[6 + k]), hn::Load(d, u_b + k * P + l)));
      }
      const V rest = hn::Sub(hn::Mul(C, hn::Load(d, x_ + index(row) + l)), b);
      hn::Store(hn::Add(hn::Add(even, odd), rest), d, w + l);
    }
  }
  HWY_INLINE void push(const SweepVisit& visit, int row, const T* dx) {
    const D d;
    const T* const line = a_.lines.data() + 24 * static_cast<std::size_t>(row) + 12;
    T* const u_a = w_ + 6 * P * static_cast<std::size_t>(visit.body_a);
    T* const u_b = w_ + 6 * P * static_cast<std::size_t>(visit.body_b);
    for (std::size_t l = 0; l < P; l += hn::Lanes(d)) {
      const V by = hn::Load(d, dx + l);
      for (std::size_t k = 0; k < 6; ++k) {
        hn::Store(hn::Add(hn::Load(d, u_a + k * P + l), hn::Mul(hn::Set(d, line[k]), by)), d, u_a + k * P + l);
        hn::Store(hn::Add(hn::Load(d, u_b + k * P + l), hn::Mul(hn::Set(d, line[6 + k]), by)), d, u_b + k * P + l);
      }
    }
  }

  HWY_INLINE void judge_unit(const SweepUnit<T>& unit, const T* w) {
    const D d;
    const V zero = hn::Zero(d);
    for (std::size_t l = 0; l < P; l += hn::Lanes(d)) {
      V sum = hn::Load(d, error_ + l);
      if (unit.count > 1) {
        // A disk: what x - w is away from x after projection.
        const V limit = hn::Mul(hn::Set(d, unit.mu), hn::Load(d, x_ + index(unit.normal) + l));
        V squares = zero;
        for (int k = 0; k < unit.count; ++k) {
          const V t = hn::Sub(hn::Load(d, x_ + index(unit.first_row + k) + l), hn::Load(d, w + k * P + l));
          squares = hn::Add(squares, hn::Mul(t, t));
        }
        const auto out = hn::Gt(squares, hn::Mul(limit, limit));
        const V one = hn::Set(d, T(1)), root = hn::Sqrt(hn::IfThenElse(out, squares, one));
        const V scale = hn::IfThenElse(out, hn::Div(limit, root), one);
        for (int k = 0; k < unit.count; ++k) {
          const V t = hn::Load(d, x_ + index(unit.first_row + k) + l);
          sum = hn::Add(sum, hn::Abs(hn::Sub(t, hn::Mul(scale, hn::Sub(t, hn::Load(d, w + k * P + l))))));
        }
        hn::Store(sum, d, error_ + l);
        continue;
      }
      const V v = hn::Load(d, w + l);
      if (unit.normal < 0 && !unit.bounded) {
        hn::Store(hn::Add(sum, hn::Abs(v)), d, error_ + l);
        continue;
      }
      const V x = hn::Load(d, x_ + index(unit.first_row) + l);
      V lower = hn::Set(d, unit.lower), upper = hn::Set(d, unit.upper);
      if (unit.normal >= 0) {
        upper = hn::Mul(hn::Set(d, unit.mu), hn::Load(d, x_ + index(unit.normal) + l));
        lower = hn::Neg(upper);
      }
      const V up = hn::Min(hn::Sub(upper, x), hn::Max(hn::Neg(v), zero)), down = hn::Min(hn::Sub(x, lower), hn::Max(v, zero));
      // Where a normal came after its friction, that may stand outside its box: it is wrong by at least so much.
      const V out = hn::Max(hn::Sub(x, upper), hn::Sub(lower, x));
      hn::Store(hn::Add(sum, hn::Max(hn::Max(up, down), out)), d, error_ + l);
    }
  }

  /// psi = x - P_K(x - (w + mu |w_t| n)).
  HWY_INLINE void judge_cone(const SweepCone<T>& cone, const T* w) {
    const D d;
    const V zero = hn::Zero(d), one = hn::Set(d, T(1)), mu = hn::Set(d, cone.mu);
    for (std::size_t l = 0; l < P; l += hn::Lanes(d)) {
      V slide = zero, squares = zero;
      for (int k = 1; k <= cone.count; ++k) {
        const V w_k = hn::Load(d, w + k * P + l), t = hn::Sub(hn::Load(d, x_ + index(cone.normal + k) + l), w_k);
        slide = hn::Add(slide, hn::Mul(w_k, w_k));
        squares = hn::Add(squares, hn::Mul(t, t));
      }
      const V x_n = hn::Load(d, x_ + index(cone.normal) + l);
      const V n = hn::Sub(x_n, hn::Add(hn::Load(d, w + l), hn::Mul(mu, hn::Sqrt(slide)))), t = hn::Sqrt(squares);
      const auto inside = hn::Le(t, hn::Mul(mu, n)), polar = hn::Le(hn::Mul(mu, t), hn::Neg(n));
      const V rim = hn::Div(hn::Add(n, hn::Mul(mu, t)), hn::Add(one, hn::Mul(mu, mu)));
      const V image = hn::IfThenElse(inside, n, hn::IfThenElse(polar, zero, rim));
      const V safe = hn::IfThenElse(hn::Gt(t, zero), t, one);
      const V scale = hn::IfThenElse(inside, one, hn::IfThenElse(polar, zero, hn::Div(hn::Mul(mu, rim), safe)));
      V sum = hn::Add(hn::Load(d, error_ + l), hn::Abs(hn::Sub(x_n, image)));
      for (int k = 1; k <= cone.count; ++k) {
        const V x = hn::Load(d, x_ + index(cone.normal + k) + l);
        sum = hn::Add(sum, hn::Abs(hn::Sub(x, hn::Mul(scale, hn::Sub(x, hn::Load(d, w + k * P + l))))));
      }
      hn::Store(sum, d, error_ + l);
    }
  }

  const SweepArrays<T>& a_;
  T *x_, *step_, *w_, *dx_, *kappa_, *change_, *error_;
};

/// All jobs of one order and direction, at most P of them.
template <class T, std::size_t P>
void run_pack(const SweepArrays<T>& arrays, SweepScratch<T>& scratch, std::span<const LaneJob> jobs, const SweepLimits& limits,
              double* x) {
  constexpr int sweeps_per_refresh = 50;
  Pack<T, P> pack(arrays, scratch);
  pack.begin(jobs);
  const SweepParameters& common = *jobs.front().parameters;
  std::vector<bool> running(jobs.size(), true);
  std::size_t left = jobs.size();
  for (int sweep = 0; sweep < limits.max_sweeps && left > 0; ++sweep) {
    Budget::listen();
    if (sweep % sweeps_per_refresh == 0) pack.refresh();
    const bool backwards =
        common.direction == Direction::reverse || (common.direction == Direction::to_and_fro && sweep % 2 == 1);
    pack.sweep(common.staggered, backwards);
    pack.judge();
    for (std::size_t l = 0; l < jobs.size(); ++l) {
      if (!running[l]) continue;
      SweepOutcome& outcome = *jobs[l].outcome;
      const double error = pack.error(l);
      outcome.sweeps = sweep + 1;
      outcome.error = std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
      outcome.least_error = sweep == 0 ? outcome.error : std::min(outcome.least_error, outcome.error);
      // What has left all numbers behind does not come back.
      if (error <= limits.error || pack.change(l) <= limits.change || !std::isfinite(error)) {
        running[l] = false;
        --left;
      }
    }
  }
  if (x)
    for (int r = 0; r < arrays.rows; ++r) x[r] = static_cast<double>(pack.x(r, 0));
}

template <class T>
void run_jobs(const SweepArrays<T>& arrays, SweepScratch<T>& scratch, std::span<const LaneJob> jobs, const SweepLimits& limits,
              double* x) {
  constexpr std::size_t N = hn::MaxLanes(hn::ScalableTag<T>());
  // Up to 24 candidates at once, D8's population, in as few vectors as hold them: fewer at once, and the matrix is read more
  // often.
  constexpr std::size_t P = (24 + N - 1) / N * N, half = (P / N + 1) / 2 * N;
  while (!jobs.empty()) {
    const std::size_t count = std::min(jobs.size(), P);
    if (count <= N)
      run_pack<T, N>(arrays, scratch, jobs.first(count), limits, x);
    else if (count <= half)
      run_pack<T, half>(arrays, scratch, jobs.first(count), limits, x);
    else
      run_pack<T, P>(arrays, scratch, jobs.first(count), limits, x);
    jobs = jobs.subspan(count);
  }
}

void run_float(const SweepArrays<float>& arrays, SweepScratch<float>& scratch, std::span<const LaneJob> jobs,
               const SweepLimits& limits) {
  run_jobs(arrays, scratch, jobs, limits, nullptr);
}
void run_double(const SweepArrays<double>& arrays, SweepScratch<double>& scratch, std::span<const LaneJob> jobs,
                const SweepLimits& limits, double* x) {
  run_jobs(arrays, scratch, jobs, limits, x);
}

}  // namespace
}  // namespace rotule::tune::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "problem/delassus.h"
#include "problem/laws.h"
#include "problem/operators.h"
#include "solve/sweep/row_units.h"

namespace rotule::tune {

HWY_EXPORT(run_float);
HWY_EXPORT(run_double);

namespace {

/// Visits of all blocks with the units that `take` picks, and the rest of A in their rows.
template <class Take>
void list_visits(const ConstraintProblem& problem, const Delassus& A, std::span<const RowUnit> units, const Take& take,
                 std::vector<SweepVisit>& visits, std::vector<SweepEntry>& entries, bool by_bodies) {
  std::int32_t next = 0;
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(problem.blocks.size()); ++i) {
    const ConstraintBlock& block = problem.blocks[i];
    SweepVisit visit{.block_row = block.first_row, .block_rows = block.rows};
    // Bodies that never move share the place behind the last, whose velocity is never looked at.
    visit.body_a = block.body_a >= 0 ? block.body_a : problem.bodies();
    visit.body_b = block.body_b >= 0 ? block.body_b : problem.bodies();
    std::int32_t end = 0;
    for (; next < static_cast<std::int32_t>(units.size()) && units[next].block == i; ++next) {
      if (!take(units[next])) continue;
      if (visit.units++ == 0) {
        visit.first_unit = next;
        visit.first_row = units[next].first_row;
      }
      end = units[next].first_row + units[next].count;
    }
    if (visit.units == 0) continue;
    visit.rows = end - visit.first_row;
    if (!by_bodies) {
      const int skipped = visit.first_row - block.first_row;
      visit.first_entry = static_cast<std::int32_t>(entries.size());
      for (const Delassus::Entry& entry : A.row(i)) {
        const int m = A.rows(entry.column);
        if (entry.column == i)
          visit.diagonal = entry.value + skipped * m;
        else
          entries.push_back({.first_row = A.first_row(entry.column), .rows = m, .value = entry.value + skipped * m});
      }
      visit.entries = static_cast<std::int32_t>(entries.size()) - visit.first_entry;
    }
    visits.push_back(visit);
  }
}

template <class T>
SweepArrays<T> arrays_of(const ConstraintProblem& problem, const Delassus& A, std::size_t values, bool by_bodies) {
  SweepArrays<T> out;
  out.rows = problem.rows();
  out.bodies = problem.bodies();
  out.by_bodies = by_bodies;
  const auto all = [](const VecX& v) { return std::vector<T>(v.data(), v.data() + v.size()); };
  out.b = all(problem.b);
  out.x0 = all(problem.x0);
  // The formed matrix has C on its diagonal already.
  out.C = by_bodies ? all(problem.C) : std::vector<T>(problem.rows(), T(0));

  std::vector<RowUnit> units;
  list_units(
      problem, [&](int i, double* D) { std::copy_n(A.diagonal(i), A.rows(i) * A.rows(i), D); }, units);
  for (const RowUnit& unit : units) {
    const double lower = problem.lower[unit.first_row], upper = problem.upper[unit.first_row];
    out.units.push_back({.first_row = unit.first_row,
                         .count = unit.count,
                         .normal = unit.normal,
                         .bounded = unit.normal < 0 && (std::isfinite(lower) || std::isfinite(upper)),
                         .friction = unit.normal >= 0,
                         .mu = static_cast<T>(unit.mu),
                         .lower = static_cast<T>(lower),
                         .upper = static_cast<T>(upper),
                         .diagonal = static_cast<T>(unit.diagonal)});
  }
  out.in_cone.assign(units.size(), 0);
  for (const FrictionRows& f : problem.friction) {
    if (!is_sliding_cone(f)) continue;
    out.cones.push_back({.normal = f.normal_row, .count = f.count, .mu = static_cast<T>(f.mu)});
    for (std::size_t u = 0; u < units.size(); ++u)
      if (units[u].first_row == f.normal_row || units[u].first_row == f.first_row) out.in_cone[u] = 1;
  }
  list_visits(
      problem, A, units, [](const RowUnit&) { return true; }, out.visits[0], out.entries[0], by_bodies);
  for (const bool friction : {false, true})
    list_visits(
        problem, A, units, [&](const RowUnit& unit) { return (unit.normal >= 0) == friction; }, out.visits[1], out.entries[1],
        by_bodies);
  if (!by_bodies) {
    const double* const first = A.values({});
    out.values.assign(first, first + values);
    return out;
  }
  out.lines.assign(24 * static_cast<std::size_t>(problem.rows()), T(0));
  for (const ConstraintBlock& block : problem.blocks)
    for (int r = block.first_row; r < block.first_row + block.rows; ++r) {
      T* const line = out.lines.data() + 24 * static_cast<std::size_t>(r);
      const auto put = [&](int body, const JacobianRows& J, int offset) {
        if (body < 0) return;
        const Vec6 pushed = multiply_inverse_mass(problem, body, J.row(r).transpose());
        for (int k = 0; k < 6; ++k) {
          line[offset + k] = static_cast<T>(J(r, k));
          line[12 + offset + k] = static_cast<T>(pushed[k]);
        }
      };
      put(block.body_a, problem.J_a, 0);
      put(block.body_b, problem.J_b, 6);
    }
  return out;
}

}  // namespace

struct SweepLanes::Inside {
  Inside(const ConstraintProblem& given, MatrixForm asked) : problem(&given) {
    A.assemble(given);
    std::size_t entries = 0;
    for (int i = 0; i < A.blocks(); ++i)
      for (const Delassus::Entry& entry : A.row(i)) entries += static_cast<std::size_t>(A.rows(i)) * A.rows(entry.column);
    values = entries;
    density = given.rows() > 0 ? static_cast<double>(entries) / given.rows() : 0;
    // Measured: a row by bodies costs what 40 entries of blocks do.
    constexpr double most_entries = 40;
    const bool possible = !given.has_matrix() && given.more.empty();
    by_bodies = possible && (asked == MatrixForm::bodies || (asked == MatrixForm::automatic && density > most_entries));
  }
  const SweepArrays<float>& singles() {
    if (single.rows == 0) single = arrays_of<float>(*problem, A, values, by_bodies);
    return single;
  }
  const SweepArrays<double>& doubles() {
    if (twice.rows == 0) twice = arrays_of<double>(*problem, A, values, by_bodies);
    return twice;
  }

  const ConstraintProblem* problem;
  Delassus A;
  std::size_t values = 0;
  double density = 0;
  bool by_bodies = false;
  SweepArrays<float> single;
  SweepArrays<double> twice;
  SweepScratch<float> float_scratch;
  SweepScratch<double> double_scratch;
};

SweepLanes::SweepLanes(const ConstraintProblem& problem, MatrixForm form) : inside_(std::make_unique<Inside>(problem, form)) {}
SweepLanes::~SweepLanes() = default;
SweepLanes::SweepLanes(SweepLanes&&) noexcept = default;
SweepLanes& SweepLanes::operator=(SweepLanes&&) noexcept = default;

MatrixForm SweepLanes::form() const { return inside_->by_bodies ? MatrixForm::bodies : MatrixForm::blocks; }
double SweepLanes::density() const { return inside_->density; }

void SweepLanes::run(std::span<const SweepParameters> candidates, const SweepLimits& limits, Precision precision,
                     std::span<SweepOutcome> outcomes) {
  if (inside_->problem->rows() == 0) {
    std::fill(outcomes.begin(), outcomes.end(), SweepOutcome{});
    return;
  }
  // Lanes walk the rows together: those of one order and direction are a run.
  for (const bool staggered : {false, true})
    for (const Direction direction : {Direction::forward, Direction::reverse, Direction::to_and_fro}) {
      std::vector<LaneJob> jobs;
      for (std::size_t i = 0; i < candidates.size(); ++i)
        if (candidates[i].staggered == staggered && candidates[i].direction == direction)
          jobs.push_back({&candidates[i], &outcomes[i]});
      if (jobs.empty()) continue;
      if (precision == Precision::single_precision)
        HWY_DYNAMIC_DISPATCH(run_float)(inside_->singles(), inside_->float_scratch, jobs, limits);
      else
        HWY_DYNAMIC_DISPATCH(run_double)(inside_->doubles(), inside_->double_scratch, jobs, limits, nullptr);
    }
}

SweepOutcome SweepLanes::run(const SweepParameters& candidate, const SweepLimits& limits, std::span<double> x) {
  SweepOutcome outcome;
  if (inside_->problem->rows() == 0) return outcome;
  const LaneJob job{&candidate, &outcome};
  HWY_DYNAMIC_DISPATCH(run_double)(inside_->doubles(), inside_->double_scratch, {&job, 1}, limits, x.data());
  return outcome;
}

}  // namespace rotule::tune
#endif
