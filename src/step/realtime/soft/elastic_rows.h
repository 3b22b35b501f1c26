#pragma once
// Elastic elements of one group of particles in lanes: tetrahedra, membranes, and triangles that bend. Sixteen elements that have
// no particle in common are a block, so that lanes may add to their corners' lines. Particles have numbers of their own here,
// from 1 on; 0 is nobody's, whom empty lanes name.
//
// In a substep each element is taken at the places where it finds its corners, F = U diag(s) V^T, and for changes of them as
// linear there, by the derivatives of dynamics/forces/elastic_law.h with what is negative left out:
//   G = U^T dF V,   Q_ii = sum_j second_ij G_jj,   Q_ij = own_ij G_ij + other_ij G_ji,   Q_3j = across_j G_3j of sheets,
//   d(h^2 f_k) = -U Q g_k,   g_k = V^T times the gradient at rest of the k-th corner's shape function.
// Viscosity is in `second`, `own` and `other` too: stress tau (2 mu E' + lambda tr E') with E' by the change within the substep.
#include <vector>

#include "model/model.h"
#include "step/realtime/rows.h"
#include "step/realtime/soft/particle_lines.h"

namespace rotule::realtime {

template <int Dim>
struct ElementRow {
  static constexpr int pairs = Dim * (Dim - 1) / 2;  // (0, 1); of a solid (1, 2), (2, 0) too
  WholeRow corners[Dim + 1];
  Rows3 edges[Dim];             // from the first corner, at the step's start
  Row inverse_rest[Dim * Dim];  // row by row
  Row size, mu, lambda, viscosity, corotated;
  // Of the substep.
  Rows3 axes[3];             // U
  Row gradients[Dim * Dim];  // g_k, of corners after the first
  Row second[Dim + pairs];   // the diagonal, then pairs
  Row own[2 * pairs], other[pairs];
  Row across[2];
};

/// V = 1/2 a^T C a with the angles at a triangle's three edges, less those at rest.
struct BendRow {
  WholeRow corners[6];  // of the triangle, and what lies opposite to each across its edge
  Rows3 edges[5];       // from the first corner, at the step's start
  Row rest[3];          // angles
  Row stiffness[6];     // C: 00 01 02 11 12 22, N m
  Row viscosity;
  // Of the substep: gradients of the angles by the two corners that lie opposite, and where their feet stand on the edge.
  Rows3 near[3], far[3];
  Row near_foot[3], far_foot[3];
  Row firm[6];  // h^2 C, dampers included
};

/// Particles of a group, and what is done with them (elastic_solids.h); triples, and the inverse mass behind `moved`.
struct ElasticRows {
  int first = 0, count = 0;  // particles
  std::vector<ElementRow<3>> solids;
  std::vector<ElementRow<2>> sheets;
  std::vector<BendRow> bends;
  bool corotated = false;
  std::vector<ParticleLine> moved, begun;         // since the step's start: now, and when the substep began
  std::vector<ParticleLine> left, way, resisted;  // kg m: what is unbalanced; m: a change; kg m: h^2 K times it

  ElasticRows(const Model& model, int first, int count);
  [[nodiscard]] bool empty() const { return solids.empty() && sheets.empty(); }
  /// Moduli and shapes at rest as they are now: elements yield and tear.
  void read_materials(const Model& model);
  /// Edges at the start of a step.
  void set_start(const State& s);

 private:
  std::vector<WholeRow> solid_numbers_, sheet_numbers_, bend_numbers_;  // in the model, + 1; 0: none
};

/// Takes all elements at `moved`, for substeps of h; adds h^2 times their forces to `left`.
void linearise(ElasticRows& rows, float h);
/// Adds h^2 K way to `resisted`.
void resist(ElasticRows& rows);

}  // namespace rotule::realtime
