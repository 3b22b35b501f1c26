#pragma once
// Elastic elements of a group of particles: their masses, what they are at rest, and what makes no element. The shape operator of
// a shell's triangle of area A, with edges of length l_e and normals m_e in its plane, is by the angles a_e at its edges
//   S = sum_e a_e l_e / (2 A) m_e m_e^T,   V = A D/2 ((1 - nu) |S - S_0|^2 + nu tr(S - S_0)^2),
// exact for any quadratic surface where neighbours are each other's mirror image through the middle of their edge.
#include <rotule/particles.h>

#include <vector>

#include "base/place.h"
#include "model/forces.h"

namespace rotule {

/// Whether all elements speak of particles that there are; scenes are looked at before they are checked, too.
bool elements_fit(const ParticleGroup& group);

/// By mass, masses, or the density of the elements around a particle.
std::vector<double> particle_masses(const ParticleGroup& group);

/// Appends the group's elements, its first particle being `first`.
void add_elements(const ParticleGroup& group, int first, Elements& out);

/// Refuses, with the place: materials that are none, elements without volume, slivers, elements turned inside out against their
/// neighbours, edges of more than two triangles, particles without mass.
void check_elements(const ParticleGroup& group, const Place& place);

/// How stiff an element can be at its corners, N/m, at most, and its viscosity, s: visit(corners, stiffness, viscosity).
template <class Visit>
void visit_element_stiffness(const ParticleGroup& group, Visit&& visit) {
  if (!elements_fit(group)) return;
  Elements elements;
  add_elements(group, 0, elements);
  const auto stiffest = [](const auto& inverse_rest, double size, const ElasticModuli& moduli) {
    return (3 * moduli.lambda + 2 * moduli.mu) * size * (inverse_rest.squaredNorm() + inverse_rest.colwise().sum().squaredNorm());
  };
  for (std::size_t n = 0; n < elements.tetrahedra.count(); ++n)
    visit(elements.tetrahedra.corners[n],
          stiffest(elements.tetrahedra.inverse_rest[n], elements.tetrahedra.volume[n], elements.tetrahedra.moduli[n]),
          elements.tetrahedra.moduli[n].viscosity);
  for (std::size_t n = 0; n < elements.membranes.count(); ++n)
    visit(elements.membranes.corners[n],
          stiffest(elements.membranes.inverse_rest[n], elements.membranes.area[n], elements.membranes.moduli[n]),
          elements.membranes.moduli[n].viscosity);
}

}  // namespace rotule
