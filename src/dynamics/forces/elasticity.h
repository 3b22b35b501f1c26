#pragma once
// Forces of elastic elements (elastic_law.h). F is constant over an element: with g_p the gradients of the shape functions at
// rest,
//   F = sum_p x_p g_p^T,   f_p = -size P g_p,   df_p/dx_q = -size block(g_p, g_q).
// Bending: torques C (angles + tau rates) about the edges of each triangle (model/elements.h), times the angles' gradients. Of
// its second derivative the positive part grad C grad^T is taken; what the gradients' own change adds is left out.
#include "dynamics/forces/end_point.h"

namespace rotule {

void add_elasticity(const Model& model, const State& s, VecX& f);
double elastic_potential(const Model& model, const State& s);
/// Whether any element is viscous.
bool has_viscosity(const Elements& elements);

/// visit(i, j) for all pairs of different particles that elements couple.
template <class Visit>
void visit_element_pairs(const Elements& elements, Visit&& visit) {
  const auto all_pairs = [&](const auto& corners) {
    for (const int i : corners)
      for (const int j : corners)
        if (i < j) visit(i, j);
  };
  for (const std::array<int, 4>& corners : elements.tetrahedra.corners) all_pairs(corners);
  for (const std::array<int, 3>& corners : elements.membranes.corners) all_pairs(corners);
  for (const BendingTriangle& triangle : elements.bendings)
    for (const int e : triangle.hinges)
      for (const int k : triangle.hinges) {
        if (e < 0 || k < 0) continue;
        for (const int i : elements.hinges[e].corners)
          for (const int j : elements.hinges[k].corners)
            if (i < j) visit(i, j);
      }
}

/// a df/du + b df/dq, blocks as sink(row, column, block), triples of u.
class BlockSink;
void add_elastic_derivatives(const Model& model, const State& s, double a, double b, bool positive, const BlockSink& sink);

}  // namespace rotule
