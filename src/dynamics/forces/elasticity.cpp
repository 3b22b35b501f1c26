#include "dynamics/forces/elasticity.h"

#include "dynamics/forces/elastic_law.h"
#include "dynamics/forces/force_set.h"
#include "math/dihedral.h"

namespace rotule {

namespace {

/// An element's gradients of shape functions: those of the corners after the first are the rows of the inverse of its edges at
/// rest, and all of them sum up to nothing.
template <int Dim>
std::array<Eigen::Matrix<double, Dim, 1>, Dim + 1> shape_gradients(const Eigen::Matrix<double, Dim, Dim>& inverse_rest) {
  std::array<Eigen::Matrix<double, Dim, 1>, Dim + 1> out;
  out[0].setZero();
  for (int k = 0; k < Dim; ++k) {
    out[static_cast<std::size_t>(k) + 1] = inverse_rest.row(k).transpose();
    out[0] -= out[static_cast<std::size_t>(k) + 1];
  }
  return out;
}

/// Edges times the inverse of those at rest: F of positions, its rate of velocities.
template <int Dim, class Value>
Eigen::Matrix<double, 3, Dim> gradient_of(const std::array<int, Dim + 1>& corners,
                                          const Eigen::Matrix<double, Dim, Dim>& inverse_rest, Value&& value) {
  Eigen::Matrix<double, 3, Dim> edges;
  for (int k = 0; k < Dim; ++k) edges.col(k) = value(corners[static_cast<std::size_t>(k) + 1]) - value(corners[0]);
  return edges * inverse_rest;
}

/// visit(law, corners, inverse_rest, size, moduli) for tetrahedra, then for membranes, those that are whole.
template <class Visit>
void for_each_element(const Elements& elements, Visit&& visit) {
  const Tetrahedra& solid = elements.tetrahedra;
  for (std::size_t n = 0; n < solid.count(); ++n)
    if (!solid.moduli[n].torn())
      visit.template operator()<3>(solid.corners[n], solid.inverse_rest[n], solid.volume[n], solid.moduli[n]);
  const Membranes& sheet = elements.membranes;
  for (std::size_t n = 0; n < sheet.count(); ++n)
    if (!sheet.moduli[n].torn())
      visit.template operator()<2>(sheet.corners[n], sheet.inverse_rest[n], sheet.area[n], sheet.moduli[n]);
}

/// A bent triangle now: what its angles are beyond those at rest, how fast they change, and their gradients.
struct Bent {
  Vec3 angles = Vec3::Zero(), rates = Vec3::Zero();
  std::array<std::array<Vec3, 4>, 3> gradient{};

  Bent(const Elements& elements, const BendingTriangle& triangle, const State& s) {
    for (std::size_t k = 0; k < 3; ++k) {
      if (triangle.hinges[k] < 0) continue;
      const HingeEdge& edge = elements.hinges[triangle.hinges[k]];
      const Dihedral now(s.particle_position(edge.corners[0]), s.particle_position(edge.corners[1]),
                         s.particle_position(edge.corners[2]), s.particle_position(edge.corners[3]));
      gradient[k] = now.gradient;
      angles[static_cast<Eigen::Index>(k)] = now.angle - edge.rest_angle;
      for (std::size_t c = 0; c < 4; ++c)
        rates[static_cast<Eigen::Index>(k)] += now.gradient[c].dot(s.particle_velocity(edge.corners[c]));
    }
  }
};

}  // namespace

bool has_viscosity(const Elements& elements) {
  const auto viscous = [](const ElasticModuli& m) { return m.viscosity > 0; };
  return std::any_of(elements.tetrahedra.moduli.begin(), elements.tetrahedra.moduli.end(), viscous) ||
         std::any_of(elements.membranes.moduli.begin(), elements.membranes.moduli.end(), viscous);
}

void add_elasticity(const Model& model, const State& s, VecX& f) {
  const Elements& elements = model.forces.elements;
  for_each_element(elements, [&]<int Dim>(const auto& corners, const auto& inverse_rest, double size, const ElasticModuli& m) {
    using Law = ElasticLaw<Dim>;
    const auto F = gradient_of<Dim>(corners, inverse_rest, [&](int k) { return s.particle_position(k); });
    typename Law::Gradient P = Law::stress(m, F);
    if (m.viscosity > 0)
      P += Law::viscous_stress(m, F, gradient_of<Dim>(corners, inverse_rest, [&](int k) { return s.particle_velocity(k); }));
    const typename Law::Gradient on = -size * P * inverse_rest.transpose();
    for (int k = 0; k < Dim; ++k) {
      f.segment<3>(s.first(corners[static_cast<std::size_t>(k) + 1])) += on.col(k);
      f.segment<3>(s.first(corners[0])) -= on.col(k);
    }
  });
  for (const BendingTriangle& triangle : elements.bendings) {
    const Bent bent(elements, triangle, s);
    const Vec3 torque = triangle.stiffness * (bent.angles + triangle.viscosity * bent.rates);
    for (std::size_t k = 0; k < 3; ++k)
      for (std::size_t c = 0; triangle.hinges[k] >= 0 && c < 4; ++c)
        f.segment<3>(s.first(elements.hinges[triangle.hinges[k]].corners[c])) -=
            torque[static_cast<Eigen::Index>(k)] * bent.gradient[k][c];
  }
}

double elastic_potential(const Model& model, const State& s) {
  const Elements& elements = model.forces.elements;
  double sum = 0;
  for_each_element(elements, [&]<int Dim>(const auto& corners, const auto& inverse_rest, double size, const ElasticModuli& m) {
    sum +=
        size * ElasticLaw<Dim>::energy(m, gradient_of<Dim>(corners, inverse_rest, [&](int k) { return s.particle_position(k); }));
  });
  for (const BendingTriangle& triangle : elements.bendings) {
    const Bent bent(elements, triangle, s);
    sum += 0.5 * bent.angles.dot(triangle.stiffness * bent.angles);
  }
  return sum;
}

void add_elastic_derivatives(const Model& model, const State& s, double a, double b, bool positive, const BlockSink& sink) {
  const Elements& elements = model.forces.elements;
  for_each_element(elements, [&]<int Dim>(const auto& corners, const auto& inverse_rest, double size, const ElasticModuli& m) {
    using Law = ElasticLaw<Dim>;
    const auto F = gradient_of<Dim>(corners, inverse_rest, [&](int k) { return s.particle_position(k); });
    const typename Law::Stiffness stiffness(m, F, positive);
    const auto g = shape_gradients<Dim>(inverse_rest);
    for (std::size_t p = 0; p <= Dim; ++p)
      for (std::size_t q = 0; q <= Dim; ++q) {
        Mat3 block = b * stiffness.block(g[p], g[q]);
        if (m.viscosity > 0) block += a * Law::viscous_block(m, F, g[p], g[q]);
        sink(particle_triple(s, corners[p]), particle_triple(s, corners[q]), Mat3(-size * block));
      }
  });
  for (const BendingTriangle& triangle : elements.bendings) {
    const Bent bent(elements, triangle, s);
    for (std::size_t k = 0; k < 3; ++k)
      for (std::size_t l = 0; l < 3; ++l) {
        if (triangle.hinges[k] < 0 || triangle.hinges[l] < 0) continue;
        const double C =
            (b + a * triangle.viscosity) * triangle.stiffness(static_cast<Eigen::Index>(k), static_cast<Eigen::Index>(l));
        for (std::size_t p = 0; p < 4; ++p)
          for (std::size_t q = 0; q < 4; ++q)
            sink(particle_triple(s, elements.hinges[triangle.hinges[k]].corners[p]),
                 particle_triple(s, elements.hinges[triangle.hinges[l]].corners[q]),
                 Mat3(-C * bent.gradient[k][p] * bent.gradient[l][q].transpose()));
      }
  }
}

}  // namespace rotule
