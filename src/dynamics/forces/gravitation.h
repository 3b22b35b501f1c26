#pragma once
// Universal gravitation between all pairs (B2): with r = x_j - x_i and s the softening,
//   g_i = G sum_j m_j r / (r^2 + s^2)^(3/2),   V = -G sum_{i<j} m_i m_j / sqrt(r^2 + s^2).
// Every g_i is summed over j in the same order by one lane of a vector, whatever the number of lanes and threads: results have
// the same bits everywhere. No products are fused for the same reason. Two masses in the same place without softening feel
// nothing of each other. The cost is n^2: above some 100,000 masses a tree would be due.
#include <vector>

#include "model/model.h"

namespace rotule {

/// Places and masses as arrays of numbers, and what they do to each other. Padded to whole vectors.
struct Attractors {
  int count = 0;
  std::vector<double> x, y, z, mass;  // those without mass are attracted and attract nobody
  std::vector<double> gx, gy, gz;     // m/s^2
  std::vector<double> potential;      // J/kg

  void resize(int n);
};

/// Fills in the accelerations (and the potentials).
void attract(Attractors& attractors, double constant, double softening, int threads);
void attract_potential(Attractors& attractors, double constant, double softening, int threads);

void add_gravitation(const Model& model, const State& s, int threads, Attractors& scratch, VecX& f);
double gravitation_potential(const Model& model, const State& s, int threads, Attractors& scratch);

/// Derivatives of all pairs, n^2 blocks: for few bodies.
template <class Sink>
void add_gravitation_derivatives(const Model& model, const State& s, double b, Sink& sink) {
  const int bodies = s.bodies(), count = bodies + s.particles();
  const auto mass = [&](int i) { return i < bodies ? model.bodies[i].attracting_mass : model.particles.mass[i - bodies]; };
  const auto place = [&](int i) { return i < bodies ? s.p[i] : Vec3(s.particle_position(i - bodies)); };
  const auto triple = [&](int i) { return i < bodies ? 2 * i : bodies + i; };
  for (const Gravitation& law : model.forces.gravitations)
    for (int i = 0; i < count; ++i)
      for (int j = i + 1; j < count; ++j) {
        const Vec3 r = place(j) - place(i);
        const double square = r.squaredNorm() + law.softening * law.softening, k = law.constant * mass(i) * mass(j);
        if (square == 0 || k == 0) continue;
        const double cube = k / (square * std::sqrt(square));
        const Mat3 H = b * (cube * Mat3::Identity() - 3 * cube / square * r * r.transpose());  // of F_i by r
        sink(triple(i), triple(i), Mat3(-H));
        sink(triple(j), triple(j), Mat3(-H));
        sink(triple(i), triple(j), H);
        sink(triple(j), triple(i), H);
      }
}

}  // namespace rotule
