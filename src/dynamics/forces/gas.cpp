#include "dynamics/forces/gas.h"

#include <algorithm>
#include <cmath>

#include "dynamics/forces/force_set.h"
#include "model/surface_volume.h"

namespace rotule {

namespace {

constexpr double least_volume = 1e-3;  // of that at the start

/// visit(corner, its share of dV/dx) for all corners of all triangles; points from one of the surface.
template <class Visit>
void visit_gradient(const GasForce& gas, const State& s, Visit&& visit) {
  const Vec3 origin = s.particle_position(gas.triangles[0][0]);
  for (const std::array<int, 3>& triangle : gas.triangles) {
    const std::array<Vec3, 3> x{s.particle_position(triangle[0]) - origin, s.particle_position(triangle[1]) - origin,
                                s.particle_position(triangle[2]) - origin};
    for (std::size_t k = 0; k < 3; ++k) visit(triangle[k], Vec3(x[(k + 1) % 3].cross(x[(k + 2) % 3]) / 6));
  }
}

}  // namespace

GasLaw::GasLaw(const GasForce& gas, double volume) {
  if (gas.burst) return;
  if (!gas.closed) {
    pressure = gas.pressure;
    energy = -pressure * (volume - gas.volume);
    return;
  }
  const double inside = gas.pressure + gas.outside, floor = least_volume * gas.volume, V = std::max(volume, floor);
  const double ratio = gas.volume / V, now = inside * std::pow(ratio, gas.exponent);
  pressure = now - gas.outside;
  slope = volume > floor ? -gas.exponent * now / V : 0;
  // What it can still do until it is no denser than what is around it, and beyond the least volume as that pressure has it.
  const double level = gas.volume * std::pow(inside / gas.outside, 1 / gas.exponent);
  const auto done = [&](double at) {  // by the gas, from the first volume on
    const double r = gas.volume / at;
    return gas.exponent == 1 ? -inside * gas.volume * std::log(r)
                             : inside * gas.volume * (1 - std::pow(r, gas.exponent - 1)) / (gas.exponent - 1);
  };
  energy = done(level) - done(V) - gas.outside * (level - V) - pressure * (volume - V);
}

void add_gas(const Model& model, const State& s, VecX& f) {
  for (const GasForce& gas : model.forces.gases) {
    const double p = GasLaw(gas, enclosed_volume(gas.triangles, s)).pressure;
    if (p != 0) visit_gradient(gas, s, [&](int k, const Vec3& g) { f.segment<3>(s.first(k)) += p * g; });
  }
}

double gas_potential(const Model& model, const State& s) {
  double sum = 0;
  for (const GasForce& gas : model.forces.gases) sum += GasLaw(gas, enclosed_volume(gas.triangles, s)).energy;
  return sum;
}

void gas_gradients(const Model& model, const State& s, std::vector<GasGradient>& out) {
  out.clear();
  for (const GasForce& gas : model.forces.gases) {
    const double slope = GasLaw(gas, enclosed_volume(gas.triangles, s)).slope;
    if (slope == 0) continue;
    GasGradient& now = out.emplace_back();
    now.stiffness = -slope;
    now.gradient.setZero(s.x.size());
    visit_gradient(gas, s, [&](int k, const Vec3& g) { now.gradient.segment<3>(3 * k) += g; });
  }
}

void add_gas_derivatives(const Model& model, const State& s, double b, bool positive, const BlockSink& sink) {
  if (positive) return;
  for (const GasForce& gas : model.forces.gases) {
    const double p = GasLaw(gas, enclosed_volume(gas.triangles, s)).pressure;
    if (p == 0) continue;
    const Vec3 origin = s.particle_position(gas.triangles[0][0]);
    for (const std::array<int, 3>& triangle : gas.triangles)
      for (std::size_t k = 0; k < 3; ++k) {
        // f_a = p x_b x x_c / 6: by x_b it changes by -p [x_c]x / 6, by x_c by p [x_b]x / 6.
        const int a = triangle[k], next = triangle[(k + 1) % 3], last = triangle[(k + 2) % 3];
        const Mat3 of_next = b * p / 6 * skew(Vec3(s.particle_position(next) - origin));
        const Mat3 of_last = b * p / 6 * skew(Vec3(s.particle_position(last) - origin));
        sink(particle_triple(s, a), particle_triple(s, next), Mat3(-of_last));
        sink(particle_triple(s, a), particle_triple(s, last), of_next);
      }
  }
}

void add_full_gas_derivatives(const Model& model, const State& s, double b, const BlockSink& sink) {
  std::vector<GasGradient> gases;
  gas_gradients(model, s, gases);
  for (const GasGradient& gas : gases)
    for (int i = 0; i < s.particles(); ++i)
      for (int j = 0; j < s.particles(); ++j) {
        const Vec3 of_i = gas.gradient.segment<3>(3 * i), of_j = gas.gradient.segment<3>(3 * j);
        if (of_i.isZero(0) || of_j.isZero(0)) continue;
        sink(particle_triple(s, i), particle_triple(s, j), Mat3(-b * gas.stiffness * of_i * of_j.transpose()));
      }
}

}  // namespace rotule
