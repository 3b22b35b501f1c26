#include "step/realtime/soft/elastic_solids.h"

#include <algorithm>
#include <cmath>

#include "model/surface_volume.h"

namespace rotule::realtime {

namespace {

constexpr double enough = 1e-2;        // of what is given, that may be left unbalanced
constexpr double least = 1e-6;         // of momentum, that floats tell
constexpr int most_iterations = 1000;  // then it is given up, and told

using Lines = std::vector<ParticleLine>;

/// Sums in an order of their own: four at a time, in doubles.
double dot(const Lines& a, const Lines& b) {
  double sum[4] = {};
  for (std::size_t i = 1; i < a.size(); ++i)
    for (int k = 0; k < 3; ++k) sum[k] += double(a[i].at[k]) * double(b[i].at[k]);
  return sum[0] + sum[1] + sum[2];
}

void add(float times, const Lines& from, Lines& to) {
  for (std::size_t i = 1; i < to.size(); ++i)
    for (int k = 0; k < 3; ++k) to[i].at[k] += times * from[i].at[k];
}

/// Of the group's way in a substep, kg m.
double momentum_square(const ParticleLines& lines, std::size_t first, std::size_t size, float h) {
  double sum = 0;
  for (std::size_t i = 1; i < size; ++i) {
    const float* v = lines.v[first + i - 1].at;
    const float w = lines.inverse_mass(static_cast<int>(first + i - 1));
    if (w > 0) sum += double(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) / double(w);
  }
  return double(h) * double(h) * sum;
}

/// W p, as ParticleLines::held has it; `moved` and `held` from the group's first particle on.
void carry(const ParticleLine* moved, const ParticleLine* held, const Lines& p, Lines& out) {
  for (std::size_t i = 1; i < p.size(); ++i) {
    const float w = moved[i - 1].at[3];
    for (int k = 0; k < 3; ++k) out[i].at[k] = w * p[i].at[k];
    if (held == nullptr) continue;
    const float* c = held[i - 1].at;
    const float along = c[0] * p[i].at[0] + c[1] * p[i].at[1] + c[2] * p[i].at[2];
    for (int k = 0; k < 3; ++k) out[i].at[k] -= c[k] * along;
  }
}

}  // namespace

ElasticSolids::ElasticSolids(const Model& model) : wears_(!model.forces.elements.limits.empty()) {
  for (const Particles::Group& of : model.particles.groups) {
    Group group(model, of);
    for (std::size_t n = 0; n < model.forces.gases.size(); ++n) {
      const auto& triangles = model.forces.gases[n].triangles;
      if (!triangles.empty() && triangles[0][0] >= of.first && triangles[0][0] < of.first + of.count)
        group.gases.push_back({.number = static_cast<int>(n), .gradient = Lines(static_cast<std::size_t>(of.count) + 1)});
    }
    if (group.rows.empty() && group.gases.empty()) continue;
    group.impulse.assign(static_cast<std::size_t>(of.count) + 1, {});
    group.along = group.impulse;
    groups_.push_back(std::move(group));
  }
}

void ElasticSolids::begin(const Model& model, const State& s, Stages& stages) {
  stages.in_parts(static_cast<int>(groups_.size()), 1, [&](int first, int last, int) {
    for (int k = first; k < last; ++k) {
      Group& group = groups_[static_cast<std::size_t>(k)];
      group.left = 0;
      if (wears_) group.rows.read_materials(model);
      group.rows.set_start(s);
    }
  });
}

void ElasticSolids::solve(const Model& model, const State& s, float h, Lines& given, ParticleLines& lines, Stages& stages) {
  if (given.size() != static_cast<std::size_t>(lines.count)) given.assign(static_cast<std::size_t>(lines.count), {});
  stages.in_parts(static_cast<int>(groups_.size()), 1, [&](int first, int last, int) {
    for (int k = first; k < last; ++k) solve_one(model, s, h, given, lines, groups_[static_cast<std::size_t>(k)]);
  });
}

double ElasticSolids::left() const {
  double out = 0;
  for (const Group& group : groups_) out = std::max(out, double(group.left));
  return out;
}

void ElasticSolids::solve_one(const Model& model, const State& s, float h, Lines& given, ParticleLines& lines,
                              Group& group) const {
  ElasticRows& rows = group.rows;
  const auto first = static_cast<std::size_t>(line_of_particle(rows.first)), size = static_cast<std::size_t>(rows.count) + 1;
  const ParticleLine* held = lines.any_held ? lines.held.data() + first : nullptr;
  const auto at_first = static_cast<std::ptrdiff_t>(first), count = static_cast<std::ptrdiff_t>(rows.count);
  std::copy_n(lines.moved.begin() + at_first, count, rows.moved.begin() + 1);
  std::copy_n(lines.begun.begin() + at_first, count, rows.begun.begin() + 1);
  const ParticleLine* moved = lines.moved.data() + first;
  Lines& left = rows.left;
  Lines& way = rows.way;
  Lines& resisted = rows.resisted;

  left.assign(size, {});
  linearise(rows, h);
  for (Gas& gas : group.gases) {
    const GasForce& of = model.forces.gases[static_cast<std::size_t>(gas.number)];
    const auto place = [&](int particle) -> Vec3 {
      const float* at = rows.moved[static_cast<std::size_t>(particle - rows.first) + 1].at;
      return s.particle_position(particle) + Vec3(at[0], at[1], at[2]);
    };
    const Vec3 origin = place(of.triangles[0][0]);
    gas.gradient.assign(size, {});
    double volume = 0;
    for (const std::array<int, 3>& triangle : of.triangles) {
      const std::array<Vec3, 3> x{place(triangle[0]) - origin, place(triangle[1]) - origin, place(triangle[2]) - origin};
      volume += x[0].dot(x[1].cross(x[2])) / 6;
      for (std::size_t k = 0; k < 3; ++k) {
        const Vec3 share = x[(k + 1) % 3].cross(x[(k + 2) % 3]) / 6;
        float* to = gas.gradient[static_cast<std::size_t>(triangle[k] - rows.first) + 1].at;
        for (int n = 0; n < 3; ++n) to[n] += static_cast<float>(share[n]);
      }
    }
    const GasLaw law(of, volume);
    gas.stiffness = static_cast<float>(-law.slope) * h * h;
    add(static_cast<float>(law.pressure) * h * h, gas.gradient, left);
  }
  const auto find_resistance = [&] {
    resisted.assign(size, {});
    resist(rows);
    for (const Gas& gas : group.gases) add(gas.stiffness * static_cast<float>(dot(gas.gradient, way)), gas.gradient, resisted);
  };

  // What was given last, and what that leaves.
  for (std::size_t i = 1; i < size; ++i)
    for (int k = 0; k < 3; ++k) group.impulse[i].at[k] = h * h * given[first + i - 1].at[k];
  carry(moved, held, group.impulse, way);
  double given_square = dot(group.impulse, way);
  find_resistance();
  add(-1, group.impulse, left);
  add(-1, resisted, left);
  carry(moved, held, left, way);
  double unbalanced = dot(left, way), before = 0;
  const double floor = least * least * momentum_square(lines, first, size, h);
  const auto tolerance = [&] { return std::max(enough * enough * given_square, floor); };
  int iteration = 0;
  for (; unbalanced > tolerance() && iteration < most_iterations; ++iteration) {
    const auto carried = static_cast<float>(iteration == 0 ? 0 : unbalanced / before);
    for (std::size_t i = 1; i < size; ++i)
      for (int k = 0; k < 3; ++k) group.along[i].at[k] = left[i].at[k] + carried * group.along[i].at[k];
    carry(moved, held, group.along, way);
    find_resistance();
    add(1, group.along, resisted);
    const double curvature = dot(way, resisted);
    if (!(curvature > 0)) break;
    const auto far = static_cast<float>(unbalanced / curvature);
    given_square += double(far) * (2 * dot(group.impulse, way) + double(far) * dot(group.along, way));
    add(far, group.along, group.impulse);
    add(-far, resisted, left);
    carry(moved, held, left, way);
    before = unbalanced;
    unbalanced = dot(left, way);
  }
  if (iteration == most_iterations) group.left = std::max(group.left, static_cast<float>(std::sqrt(unbalanced / given_square)));

  // What is unbalanced counts by W: where a body behind it makes that small, the impulse is hardly known, though the way is. What
  // is borne there is what elements give after all.
  for (std::size_t i = 1; held != nullptr && i < size; ++i) {
    const float w = moved[i - 1].at[3];
    if (w == 0) continue;
    const float* c = held[i - 1].at;
    const auto own = static_cast<float>(model.particles.inverse_mass[rows.first + static_cast<int>(i) - 1]);
    const float along = (c[0] * left[i].at[0] + c[1] * left[i].at[1] + c[2] * left[i].at[2]) / w, stuck = 1 - w / own;
    for (int k = 0; k < 3; ++k) group.impulse[i].at[k] += c[k] * along + stuck * left[i].at[k];
  }
  carry(moved, held, group.impulse, way);
  const float inverse = 1 / (h * h);
  for (std::size_t i = 1; i < size; ++i) {
    ParticleLine& line = lines.moved[first + i - 1];
    for (int k = 0; k < 3; ++k) {
      line.at[k] += way[i].at[k];
      given[first + i - 1].at[k] = inverse * group.impulse[i].at[k];
    }
    if (held == nullptr) continue;
    float* on = lines.held[first + i - 1].at;
    for (int k = 0; k < 3; ++k) on[3] += on[k] * group.impulse[i].at[k];
  }
}

}  // namespace rotule::realtime
