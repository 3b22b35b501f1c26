#include "fluid/poisson.h"

#include <fftw3.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <mutex>
#include <numbers>
#include <type_traits>
#include <utility>
#include <vector>

namespace rotule {

namespace {

constexpr int lines_at_once = 8;  // neighbours in memory fill a cache line
constexpr int poisson_tasks = 16;

/// The planner, and it alone, is not safe to call from several threads.
std::mutex& planner() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace

struct FreeFftw {
  void operator()(double* p) const { fftw_free(p); }
};
using FftwBuffer = std::unique_ptr<double, FreeFftw>;

struct Poisson::Axis {
  int n = 1;
  std::ptrdiff_t stride = 1;
  fftw_plan forward = nullptr, backward = nullptr;
  std::vector<double> eigenvalue;
  double scale = 1;  // of forward followed by backward

  Axis(int cells, std::ptrdiff_t distance, double h, bool periodic, bool low_open, bool high_open, double* buffer)
      : n(cells), stride(distance), eigenvalue(static_cast<std::size_t>(cells)) {
    // Half-sample symmetries: even about a wall, odd about an open side.
    fftw_r2r_kind there = FFTW_REDFT10, back = FFTW_REDFT01;
    double shift = 0;
    if (periodic) {
      there = FFTW_R2HC;
      back = FFTW_HC2R;
    } else if (low_open && high_open) {
      there = FFTW_RODFT10;
      back = FFTW_RODFT01;
      shift = 1;
    } else if (high_open) {
      there = back = FFTW_REDFT11;
      shift = 0.5;
    } else if (low_open) {
      there = back = FFTW_RODFT11;
      shift = 0.5;
    }
    scale = periodic ? n : 2.0 * n;
    for (int k = 0; k < n; ++k) {
      const double angle = periodic ? 2 * std::numbers::pi * k / n : std::numbers::pi * (k + shift) / n;
      eigenvalue[static_cast<std::size_t>(k)] = (2 * std::cos(angle) - 2) / (h * h);
    }
    const std::scoped_lock lock(planner());
    const auto plan = [&](fftw_r2r_kind kind) {
      return fftw_plan_many_r2r(1, &n, lines_at_once, buffer, nullptr, 1, n, buffer, nullptr, 1, n, &kind, FFTW_ESTIMATE);
    };
    forward = plan(there);
    backward = plan(back);
  }
  Axis(Axis&& other) noexcept
      : n(other.n),
        stride(other.stride),
        forward(std::exchange(other.forward, nullptr)),
        backward(std::exchange(other.backward, nullptr)),
        eigenvalue(std::move(other.eigenvalue)),
        scale(other.scale) {}
  Axis& operator=(Axis&&) = delete;
  ~Axis() {
    const std::scoped_lock lock(planner());
    if (forward) fftw_destroy_plan(forward);
    if (backward) fftw_destroy_plan(backward);
  }
};

/// The slowest axis, where all others are transformed: for lines side by side in memory, each with its own `other`,
///   a (p[i+1] - 2 p[i] + p[i-1]) + other p[i] = b[i],
/// by elimination, whose cost per cell does not grow with their number as that of a transform does. At a wall p[-1] = p[0], at an
/// open side p[-1] = -p[0]; where it is periodic the last unknown is kept back, and the rest solved for with it and without.
struct Poisson::Line {
  int n = 1;
  std::ptrdiff_t stride = 1;
  double a = 0, low = 0, high = 0;  // the last two: what the ends add to the diagonal
  bool periodic = false;

  /// `ratio` and `with_last` are scratch. The first line of a box with closed sides is singular: of its solutions the one with
  /// the mean zero.
  template <class Count>
  void solve(double* b, const double* other, Count count, bool singular, double* ratio, double* with_last) const {
    const int m = periodic ? n - 1 : n;
    const auto at = [&](int i) { return b + i * stride; };
    for (int i = 0; i < m; ++i) {
      double* __restrict x = at(i), * __restrict c = ratio + i * lines_at_once, * __restrict z = with_last + i * lines_at_once;
      const double own = -2 * a + (i == 0 ? low : 0) + (i == n - 1 ? high : 0), tie = (i == 0 ? a : 0) + (i == m - 1 ? a : 0);
      for (int l = 0; l < count; ++l) {
        const bool first = i == 0;
        const double pivot = other[l] + own - (first ? 0 : a * (c - lines_at_once)[l]);
        const double inverse = singular && l == 0 && i == n - 1 ? 0 : 1 / pivot;
        c[l] = a * inverse;
        x[l] = (x[l] - (first ? 0 : a * (x - stride)[l])) * inverse;
        if (periodic) z[l] = (tie - (first ? 0 : a * (z - lines_at_once)[l])) * inverse;
      }
    }
    for (int i = m - 1; i-- > 0;) {
      double* __restrict x = at(i), * __restrict z = with_last + i * lines_at_once;
      const double* c = ratio + i * lines_at_once;
      for (int l = 0; l < count; ++l) {
        x[l] -= c[l] * (x + stride)[l];
        if (periodic) z[l] -= c[l] * (z + lines_at_once)[l];
      }
    }
    if (periodic) {
      double* x = at(n - 1);
      const double* z = with_last + (m - 1) * lines_at_once;
      for (int l = 0; l < count; ++l) {
        const double pivot = other[l] - 2 * a - a * (with_last[l] + z[l]);
        x[l] = singular && l == 0 ? 0 : (x[l] - a * (b[l] + (x - stride)[l])) / pivot;
      }
      for (int i = 0; i < m; ++i)
        for (int l = 0; l < count; ++l) at(i)[l] -= with_last[i * lines_at_once + l] * x[l];
    }
    if (!singular) return;
    double mean = 0;
    for (int i = 0; i < n; ++i) mean += at(i)[0] / n;
    for (int i = 0; i < n; ++i) at(i)[0] -= mean;
  }
};

struct Poisson::Implementation {
  std::vector<Axis> axes;  // that are transformed, fastest first
  Line last;
  double scale = 1;  // of all transforms there and back, by which the last equations are multiplied
  std::size_t cells = 0;
  std::size_t buffer_size = 0;
  std::vector<FftwBuffer> buffers;  // one per task
  bool closed = true;               // no side fixes the pressure

  /// Where the line begins: lines along an axis, those that are neighbours in memory one after the other.
  [[nodiscard]] std::ptrdiff_t start(const Axis& axis, int line) const {
    if (axis.stride == 1) return static_cast<std::ptrdiff_t>(line) * axis.n;
    return line % axis.stride + line / axis.stride * axis.stride * axis.n;
  }

  /// Calls work(buffer) on the gathered lines, several at a time, and puts them back.
  template <class Work>
  void over_lines(const Axis& axis, std::span<double> b, int threads, const Work& work) {
    const int lines = static_cast<int>(cells) / axis.n;
    const int groups = (lines + lines_at_once - 1) / lines_at_once;
    parallel_for(poisson_tasks, threads, [&](int task) {
      double* buffer = buffers[static_cast<std::size_t>(task)].get();
      std::array<double*, lines_at_once> at{};
      const int end = static_cast<int>(static_cast<std::int64_t>(groups) * (task + 1) / poisson_tasks);
      for (int group = static_cast<int>(static_cast<std::int64_t>(groups) * task / poisson_tasks); group < end; ++group) {
        const int first = group * lines_at_once, count = std::min(lines_at_once, lines - first);
        for (int l = 0; l < count; ++l) at[static_cast<std::size_t>(l)] = b.data() + start(axis, first + l);
        for (int i = 0; i < axis.n; ++i)
          for (int l = 0; l < count; ++l) buffer[l * axis.n + i] = at[static_cast<std::size_t>(l)][i * axis.stride];
        work(buffer);
        for (int i = 0; i < axis.n; ++i)
          for (int l = 0; l < count; ++l) at[static_cast<std::size_t>(l)][i * axis.stride] = buffer[l * axis.n + i];
      }
    });
  }
};

Poisson::Poisson(const GridLayout& layout) : implementation_(std::make_unique<Implementation>()) {
  Implementation& self = *implementation_;
  self.cells = layout.cells();
  const int longest = *std::max_element(layout.n.begin(), layout.n.end());
  self.buffer_size = 2 * static_cast<std::size_t>(longest) * lines_at_once;
  for (int task = 0; task < poisson_tasks; ++task) {
    self.buffers.emplace_back(fftw_alloc_real(self.buffer_size));
    std::fill_n(self.buffers.back().get(), self.buffer_size, 0.0);
  }
  std::ptrdiff_t stride = 1;
  const int slowest = layout.order[layout.axes.size() - 1];
  for (const int a : layout.order) {
    if (layout.flat[static_cast<std::size_t>(a)]) continue;
    const bool low_open = layout.kind(a, false) == FluidBoundary::outflow,
               high_open = layout.kind(a, true) == FluidBoundary::outflow, periodic = layout.periodic(a);
    self.closed = self.closed && !low_open && !high_open;
    const int n = layout.n[static_cast<std::size_t>(a)];
    if (a == slowest) {
      for (const Axis& axis : self.axes) self.scale *= axis.scale;
      const double per_area = self.scale / (layout.h[a] * layout.h[a]);
      const auto end = [&](bool open) { return periodic ? 0 : open ? -per_area : per_area; };
      self.last = {n, stride, per_area, end(low_open), end(high_open), periodic};
    } else {
      self.axes.emplace_back(n, stride, layout.h[a], periodic, low_open, high_open, self.buffers[0].get());
    }
    stride *= n;
  }
}
Poisson::Poisson(Poisson&&) noexcept = default;
Poisson::~Poisson() = default;

std::size_t Poisson::bytes() const { return poisson_tasks * implementation_->buffer_size * sizeof(double); }

void Poisson::solve(std::span<double> b, int threads) {
  Implementation& self = *implementation_;
  const auto transform = [](fftw_plan plan) { return [plan](double* buffer) { fftw_execute_r2r(plan, buffer, buffer); }; };
  for (const Axis& axis : self.axes) self.over_lines(axis, b, threads, transform(axis.forward));
  // Lines of the slowest axis begin one after the other.
  const int lines = static_cast<int>(self.last.stride), groups = (lines + lines_at_once - 1) / lines_at_once;
  parallel_for(poisson_tasks, threads, [&](int task) {
    double* buffer = self.buffers[static_cast<std::size_t>(task)].get();
    const int end = static_cast<int>(static_cast<std::int64_t>(groups) * (task + 1) / poisson_tasks);
    for (int group = static_cast<int>(static_cast<std::int64_t>(groups) * task / poisson_tasks); group < end; ++group) {
      const int first = group * lines_at_once, count = std::min(lines_at_once, lines - first);
      std::array<double, lines_at_once> other{};
      for (int l = 0; l < count; ++l) {
        int rest = first + l;
        for (const Axis& axis : self.axes) {
          other[static_cast<std::size_t>(l)] += self.scale * axis.eigenvalue[static_cast<std::size_t>(rest % axis.n)];
          rest /= axis.n;
        }
      }
      double* with_last = buffer + static_cast<std::ptrdiff_t>(self.last.n) * lines_at_once;
      const bool singular = self.closed && first == 0;
      if (count == lines_at_once)
        self.last.solve(b.data() + first, other.data(), std::integral_constant<int, lines_at_once>(), singular, buffer,
                        with_last);
      else
        self.last.solve(b.data() + first, other.data(), count, singular, buffer, with_last);
    }
  });
  for (std::size_t k = self.axes.size(); k-- > 0;) self.over_lines(self.axes[k], b, threads, transform(self.axes[k].backward));
}

}  // namespace rotule
