#include "fluid/poisson.h"

#include <fftw3.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <mutex>
#include <numbers>
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

struct Poisson::Implementation {
  std::vector<Axis> axes;  // fastest first
  std::size_t cells = 0;
  std::vector<FftwBuffer> buffers;  // one per task
  bool closed = true;               // no side fixes the pressure

  /// Where the line begins: lines along an axis, those that are neighbours in memory one after the other.
  [[nodiscard]] std::ptrdiff_t start(const Axis& axis, int line) const {
    if (axis.stride == 1) return static_cast<std::ptrdiff_t>(line) * axis.n;
    return line % axis.stride + line / axis.stride * axis.stride * axis.n;
  }

  /// Calls work(buffer, first line, how many) on the gathered lines, several at a time, and puts them back.
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
        work(buffer, first, count);
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
  for (int task = 0; task < poisson_tasks; ++task) {
    const std::size_t numbers = static_cast<std::size_t>(longest) * lines_at_once;
    self.buffers.emplace_back(fftw_alloc_real(numbers));
    std::fill_n(self.buffers.back().get(), numbers, 0.0);
  }
  std::ptrdiff_t stride = 1;
  for (const int a : layout.order) {
    if (layout.flat[static_cast<std::size_t>(a)]) continue;
    const bool low_open = layout.kind(a, false) == FluidBoundary::outflow,
               high_open = layout.kind(a, true) == FluidBoundary::outflow;
    self.closed = self.closed && !low_open && !high_open;
    const int n = layout.n[static_cast<std::size_t>(a)];
    self.axes.emplace_back(n, stride, layout.h[a], layout.periodic(a), low_open, high_open, self.buffers[0].get());
    stride *= n;
  }
}
Poisson::Poisson(Poisson&&) noexcept = default;
Poisson::~Poisson() = default;

std::size_t Poisson::bytes() const {
  std::size_t longest = 0;
  for (const Axis& axis : implementation_->axes) longest = std::max(longest, axis.eigenvalue.size());
  return poisson_tasks * longest * lines_at_once * sizeof(double);
}

void Poisson::solve(std::span<double> b, int threads) {
  Implementation& self = *implementation_;
  const auto transform = [](fftw_plan plan) {
    return [plan](double* buffer, int, int) { fftw_execute_r2r(plan, buffer, buffer); };
  };
  for (std::size_t k = 0; k + 1 < self.axes.size(); ++k)
    self.over_lines(self.axes[k], b, threads, transform(self.axes[k].forward));
  // The last axis goes there and back in one pass, divided by the eigenvalues in between.
  const Axis& last = self.axes.back();
  double scale = 1;
  for (const Axis& axis : self.axes) scale *= axis.scale;
  self.over_lines(last, b, threads, [&](double* buffer, int first, int count) {
    fftw_execute_r2r(last.forward, buffer, buffer);
    for (int l = 0; l < count; ++l) {
      int rest = first + l;
      double others = 0;
      for (std::size_t k = 0; k + 1 < self.axes.size(); ++k) {
        others += self.axes[k].eigenvalue[static_cast<std::size_t>(rest % self.axes[k].n)];
        rest /= self.axes[k].n;
      }
      double* line = buffer + static_cast<std::ptrdiff_t>(l) * last.n;
      for (int i = 0; i < last.n; ++i) {
        const bool mean = self.closed && i == 0 && first + l == 0;
        line[i] = mean ? 0 : line[i] / (scale * (others + last.eigenvalue[static_cast<std::size_t>(i)]));
      }
    }
    fftw_execute_r2r(last.backward, buffer, buffer);
  });
  for (std::size_t k = self.axes.size() - 1; k-- > 0;)
    self.over_lines(self.axes[k], b, threads, transform(self.axes[k].backward));
}

}  // namespace rotule
