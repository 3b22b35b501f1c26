// Found by Lanczos' method in the inner product of M, with full reorthogonalisation (C. Lanczos 1950): large eigenvalues come
// first, and matrices are only multiplied by.
#include <rotule/analyse.h>
#include <rotule/error.h>

#include <Eigen/SparseCore>
#include <cmath>

#include "base/budget.h"
#include "dynamics/forces/springs.h"
#include "linalg/decompositions.h"
#include "mechanism/gas_ranks.h"
#include "world/world_implementation.h"

namespace rotule {

LargestFrequency largest_frequency(const World& world, double tolerance) {
  static_cast<void>(world.evaluations());  // makes the stepper, and with it the inertia of point masses
  const WorldImplementation& w = implementation_of(world);
  const Model& model = w.model;
  const State& s = w.state;
  if (!model.joints.empty()) throw Error("largest_frequency", "is for systems without joints");
  if (model.has_added_mass()) throw Error("largest_frequency", "is for systems without added mass");
  if (model.forces.wakes > 0) throw Error("largest_frequency", "is for systems without unsteady sections");

  // K over the movable triples, and M^-1 triple by triple.
  const int bodies = model.body_count(), triples = model.velocity_count() / 3;
  std::vector<int> place(static_cast<std::size_t>(triples), -1);
  std::vector<Mat3> inverse_mass, mass;
  for (int i = 0; i < bodies; ++i) {
    if (!model.movable(i)) continue;
    const Mat3 R = s.theta[i].toRotationMatrix();
    place[2 * i] = static_cast<int>(mass.size());
    mass.emplace_back(model.bodies[i].mass * Mat3::Identity());
    inverse_mass.emplace_back(model.inverse_mass[i] * Mat3::Identity());
    place[2 * i + 1] = static_cast<int>(mass.size());
    mass.emplace_back(R * model.inertia[i] * R.transpose());
    inverse_mass.emplace_back(R * model.inverse_inertia[i] * R.transpose());
  }
  for (int k = 0; k < model.particle_count(); ++k) {
    if (!model.particles.movable(k)) continue;
    place[2 * bodies + k] = static_cast<int>(mass.size());
    mass.emplace_back(model.particles.mass[k] * Mat3::Identity());
    inverse_mass.emplace_back(model.particles.inverse_mass[k] * Mat3::Identity());
  }
  std::vector<Eigen::Triplet<double>> entries;
  auto sink = [&](int row, int column, const Mat3& block) {
    if (place[row] < 0 || place[column] < 0) return;
    for (int r = 0; r < 3; ++r)
      for (int c = 0; c < 3; ++c) entries.emplace_back(3 * place[row] + r, 3 * place[column] + c, -block(r, c));
  };
  add_force_derivatives(model, s, w.time, 0, 1, false, sink);
  add_particle_spring_derivatives(model, s, 0, 1, false, sink);
  const auto n = 3 * static_cast<Eigen::Index>(mass.size());
  std::vector<RankOne> gases;
  gas_ranks(
      model, s, 1, n / 3, [&](int k) { return place[2 * bodies + k]; }, gases);
  LargestFrequency out;
  if (n == 0 || entries.empty()) return out;
  Eigen::SparseMatrix<double, Eigen::RowMajor> K(n, n);
  K.setFromTriplets(entries.begin(), entries.end());
  const auto times = [](const std::vector<Mat3>& blocks, const VecX& x) {
    VecX y(x.size());
    for (std::size_t i = 0; i < blocks.size(); ++i) y.segment<3>(3 * i) = blocks[i] * x.segment<3>(3 * i);
    return y;
  };

  // Lanczos: the tridiagonal matrix grows until its largest eigenvalue stands still.
  constexpr int most = 300;
  std::vector<VecX> basis, basis_times_mass;
  std::vector<double> diagonal, beside;
  VecX q(n);
  for (Eigen::Index i = 0; i < n; ++i) q[i] = std::sin(1.0 + 12.9898 * static_cast<double>(i));  // no symmetry of the system
  double before = 0;
  while (true) {
    Budget::listen();
    VecX Mq = times(mass, q);
    const double length = std::sqrt(q.dot(Mq));
    if (!(length > 0)) break;
    basis.emplace_back(q / length);
    basis_times_mass.emplace_back(Mq / length);
    VecX Kq = K * basis.back();
    for (const RankOne& gas : gases) gas.add_product(basis.back(), Kq);
    diagonal.push_back(basis.back().dot(Kq));
    q = times(inverse_mass, Kq);
    for (int pass = 0; pass < 2; ++pass)
      for (std::size_t j = 0; j < basis.size(); ++j) q -= basis_times_mass[j].dot(q) * basis[j];
    ++out.iterations;

    const auto size = static_cast<Eigen::Index>(diagonal.size());
    const double largest = tridiagonal_eigenvalues(Eigen::Map<const VecX>(diagonal.data(), size),
                                                   Eigen::Map<const VecX>(beside.data(), size - 1))[size - 1];
    out.frequency = std::sqrt(std::max(largest, 0.0));
    const double next = std::sqrt(q.dot(times(mass, q)));
    if (size == n || !(next > 1e-12 * std::abs(largest)) || (size > 8 && std::abs(largest - before) < tolerance * largest)) break;
    if (out.iterations == most) {
      out.converged = false;
      break;
    }
    before = largest;
    beside.push_back(next);
  }
  return out;
}

}  // namespace rotule
