#pragma once
// What fills closed surfaces. With V the volume inside and p how much its pressure is above that outside,
//   f_a = p dV/dx_a,   dV/dx_a = sum over triangles (a, b, c) of x_b x x_c / 6,
//   potential -int p dV,   df_a/dx_b = p d^2V/dx_a dx_b + (dp/dV) dV/dx_a (dV/dx_b)^T.
// The first part couples neighbours, and is neither positive nor negative; the second couples all particles of the surface, but
// is of rank one: who solves with it takes it as such (`GasGradient`).
#include <rotule/types.h>

#include <vector>

#include "dynamics/forces/end_point.h"

namespace rotule {

/// A gas, or a pump, at some volume. Below a thousandth of the first volume the pressure grows no more, so that there always is
/// an energy.
struct GasLaw {
  double pressure = 0;  // Pa, above that outside
  double slope = 0;     // dp/dV, Pa/m^3
  double energy = 0;    // J; of a gas nothing where its pressure is that outside, of a pump nothing at the start
  GasLaw(const GasForce& gas, double volume);
};

void add_gas(const Model& model, const State& s, VecX& f);
double gas_potential(const Model& model, const State& s);

/// The part of the derivative that is of rank one: df/dx = ... - stiffness gradient gradient^T.
struct GasGradient {
  double stiffness = 0;  // -dp/dV, Pa/m^3
  VecX gradient;         // dV/dx, m^2, laid out as x
};
void gas_gradients(const Model& model, const State& s, std::vector<GasGradient>& out);

/// b df/dq without that part; nothing where a positive matrix is wanted.
class BlockSink;
void add_gas_derivatives(const Model& model, const State& s, double b, bool positive, const BlockSink& sink);
/// That part, all pairs: for matrices that are full anyway.
void add_full_gas_derivatives(const Model& model, const State& s, double b, const BlockSink& sink);

}  // namespace rotule
