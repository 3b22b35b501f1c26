#include "flow/field.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "flow/grid_field.h"

namespace rotule {
namespace {

using std::numbers::pi;

/// The same numbers on every machine (G. L. Steele et al., "Fast splittable pseudorandom number generators", 2014).
class SplitMix {
 public:
  explicit SplitMix(std::uint64_t seed) : state_(seed) {}
  /// From 0 to 1, the latter excluded.
  double uniform() {
    state_ += 0x9e3779b97f4a7c15u;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
  }

 private:
  std::uint64_t state_;
};

/// Waves whose numbers are spread evenly over the logarithm of k, one at random in each part.
std::vector<TurbulentWave> turbulent_waves(const TurbulentFlow& flow) {
  const double l = flow.length * std::tgamma(1.0 / 3) / (std::sqrt(pi) * std::tgamma(5.0 / 6));
  const double scale =
      55 * std::tgamma(5.0 / 6) / (9 * std::sqrt(pi) * std::tgamma(1.0 / 3)) * flow.intensity * flow.intensity * l;
  const auto energy = [&](double k) {
    const double square = k * l * k * l;
    return scale * square * square / std::pow(1 + square, 17.0 / 6);
  };
  // Above lies a hundredth and a half of the energy, below next to nothing.
  constexpr double lowest = 0.02, highest = 1000;
  const double width = std::log(highest / lowest) / flow.waves;
  SplitMix random(static_cast<std::uint64_t>(flow.seed));
  std::vector<TurbulentWave> out;
  double sum = 0;
  for (int n = 0; n < flow.waves; ++n) {
    const double k = lowest / l * std::exp((n + random.uniform()) * width);
    const double cosine = 2 * random.uniform() - 1, sine = std::sqrt(1 - cosine * cosine), turn = 2 * pi * random.uniform();
    const Vec3 along(sine * std::cos(turn), sine * std::sin(turn), cosine);
    const double tilt = 2 * pi * random.uniform();
    const Vec3 across = along.unitOrthogonal(), other = along.cross(across);
    const double part = energy(k) * k * width;
    sum += part;
    out.push_back({k * along, 2 * std::sqrt(part) * (std::cos(tilt) * across + std::sin(tilt) * other), 0, 0});
    out.back().frequency = -out.back().k.dot(flow.mean);
    out.back().phase = 2 * pi * random.uniform();
  }
  // What is cut off above and below, and the luck of the draw, shall not change the intensity.
  const double mend = sum > 0 ? std::sqrt(1.5 * flow.intensity * flow.intensity / sum) : 0;
  for (TurbulentWave& wave : out) wave.amplitude *= mend;
  return out;
}

/// k of omega^2 = g k tanh(k depth), by Newton from a value that is never too small.
double dispersion(double omega, double gravity, std::optional<double> depth) {
  const double deep = omega * omega / gravity;
  if (!depth) return deep;
  double k = deep / std::sqrt(std::tanh(deep * *depth));
  for (int i = 0; i < 50; ++i) {
    const double t = std::tanh(k * *depth), f = k * t - deep, slope = t + k * *depth * (1 - t * t), step = f / slope;
    k -= step;
    if (std::abs(step) < 1e-15 * k) break;
  }
  return k;
}

/// A profile over the height along `up`: speed and its slope.
void add_profile(const Vec3& direction, const Vec3& up, double speed, double slope, FlowAt& out) {
  out.u += speed * direction;
  out.gradient += slope * direction * up.transpose();
}

void add_field(const PowerLawFlow& flow, const Vec3& x, FlowAt& out) {
  const double z = flow.up.dot(x) - flow.ground, low = 0.01 * flow.reference_height;
  if (z <= 0) return;
  const double at = std::max(z, low), there = flow.speed * std::pow(at / flow.reference_height, flow.exponent);
  if (z < low)
    add_profile(flow.direction, flow.up, there * z / low, there / low, out);
  else
    add_profile(flow.direction, flow.up, there, flow.exponent * there / z, out);
}

void add_field(const LogLawFlow& flow, const Vec3& x, FlowAt& out) {
  const double z = flow.up.dot(x) - flow.ground;
  if (z <= flow.roughness) return;
  const double scale = flow.speed / std::log(flow.reference_height / flow.roughness);
  add_profile(flow.direction, flow.up, scale * std::log(z / flow.roughness), scale / z, out);
}

void add_field(const GustFlow& flow, const Vec3& x, double t, FlowAt& out) {
  const Vec3 n = *flow.travels;
  const double slowness = flow.celerity > 0 ? 1 / flow.celerity : 0;
  const double s = t - flow.start - slowness * n.dot(x);
  if (s <= 0 || s >= flow.duration) return;
  const double omega = 2 * pi / flow.duration, rise = 0.5 * omega * std::sin(omega * s);
  out.u += 0.5 * (1 - std::cos(omega * s)) * flow.velocity;
  out.rate += rise * flow.velocity;
  out.gradient -= rise * slowness * flow.velocity * n.transpose();
}

void add_waves(const std::vector<TurbulentWave>& waves, const Vec3& x, double t, FlowAt& out) {
  for (const TurbulentWave& wave : waves) {
    const double phase = wave.k.dot(x) + wave.frequency * t + wave.phase, s = std::sin(phase);
    out.u += std::cos(phase) * wave.amplitude;
    out.gradient -= s * wave.amplitude * wave.k.transpose();
    out.rate -= s * wave.frequency * wave.amplitude;
  }
}

void add_field(const VortexFlow& flow, const Vec3& x, double t, FlowAt& out) {
  Mat3 across;  // y -> axis x y
  across << 0, -flow.axis.z(), flow.axis.y(), flow.axis.z(), 0, -flow.axis.x(), -flow.axis.y(), flow.axis.x(), 0;
  for (int n = 0; n < flow.count; ++n) {
    const Vec3 from = x - flow.at - n * flow.spacing - t * flow.velocity;
    const Vec3 d = from - flow.axis.dot(from) * flow.axis, turned = across * d;
    const double strength = (flow.alternating && n % 2 == 1 ? -flow.circulation : flow.circulation) / (2 * pi);
    const double q = 1 / (d.squaredNorm() + flow.core * flow.core);
    const Mat3 gradient = strength * (q * across - 2 * q * q * turned * d.transpose());
    out.u += strength * q * turned;
    out.gradient += gradient;
    out.rate -= gradient * flow.velocity;
  }
}

void add_field(const WaveFlow& flow, double k, double omega, const Vec3& x, double t, FlowAt& out) {
  const double z = flow.up.dot(x) - flow.level, below = std::min(z, 0.0);
  // cosh(k (z + depth)) / sinh(k depth) and its like, without numbers that overflow.
  double c = std::exp(k * below), s = c;
  if (flow.depth) {
    const double high = std::max(below + *flow.depth, 0.0), up = std::exp(k * (high - *flow.depth)),
                 down = std::exp(-k * (high + *flow.depth)), whole = 1 - std::exp(-2 * k * *flow.depth);
    c = (up + down) / whole;
    s = (up - down) / whole;
  }
  const double phase = k * flow.direction.dot(x) - omega * t + flow.phase, cosine = std::cos(phase), sine = std::sin(phase);
  const double a = flow.amplitude * omega;
  const Vec3 &n = flow.direction, &up = flow.up;
  const bool inside = z < 0 && (!flow.depth || z > -*flow.depth);
  out.u += a * (c * cosine * n + s * sine * up);
  out.rate += a * omega * (c * sine * n - s * cosine * up);
  out.gradient += a * k * (-c * sine * n + s * cosine * up) * n.transpose();
  if (inside) out.gradient += a * k * (s * cosine * n + c * sine * up) * up.transpose();
}

}  // namespace

FlowField::FlowField(const FlowDef& definition, TimeVelocity velocity) : definition_(definition), velocity_(std::move(velocity)) {
  const auto straighten = [](auto& flow) {
    if constexpr (requires { flow.direction; }) flow.direction.normalize();
    if constexpr (requires { flow.up; }) flow.up.normalize();
    if constexpr (requires { flow.axis; }) flow.axis.normalize();
    if constexpr (requires { flow.travels; }) flow.travels = flow.travels.value_or(flow.velocity).normalized();
  };
  std::visit(straighten, definition_);
  if (const auto* turbulent = std::get_if<TurbulentFlow>(&definition_)) waves_ = turbulent_waves(*turbulent);
  if (auto* wave = std::get_if<WaveFlow>(&definition_)) {
    wave->direction = (wave->direction - wave->up.dot(wave->direction) * wave->up).normalized();
    wave_frequency_ = 2 * pi / wave->period;
    wave_number_ = dispersion(wave_frequency_, wave->gravity, wave->depth);
  }
}

void FlowField::add(const Vec3& x, double t, FlowAt& out) const {
  std::visit(
      [&]<class Flow>(const Flow& flow) {
        if constexpr (std::is_same_v<Flow, UniformFlow>) {
          Vec3 u, rate;
          velocity_(t, u, rate);
          out.u += u;
          out.rate += rate;
        } else if constexpr (std::is_same_v<Flow, ComputedFlow>) {
          if (source_ != nullptr) (*source_)(x, out);
        } else if constexpr (std::is_same_v<Flow, TurbulentFlow>) {
          add_waves(waves_, x, t, out);
        } else if constexpr (std::is_same_v<Flow, WaveFlow>) {
          add_field(flow, wave_number_, wave_frequency_, x, t, out);
        } else if constexpr (std::is_same_v<Flow, PowerLawFlow> || std::is_same_v<Flow, LogLawFlow>) {
          add_field(flow, x, out);
        } else {
          add_field(flow, x, t, out);
        }
      },
      definition_);
}

void FlowField::add_surface(const Vec3& x, double t, SurfaceAt& out) const {
  const auto* wave = std::get_if<WaveFlow>(&definition_);
  if (wave == nullptr) return;
  const double phase = wave_number_ * wave->direction.dot(x) - wave_frequency_ * t + wave->phase;
  out.elevation += wave->amplitude * std::cos(phase);
  out.slope -= wave->amplitude * wave_number_ * std::sin(phase) * wave->direction;
}

FlowAt flow_at(std::span<const FlowField> fields, std::span<const int> which, const Vec3& x, double t) {
  FlowAt out;
  for (const int k : which) fields[static_cast<std::size_t>(k)].add(x, t, out);
  return out;
}

}  // namespace rotule
