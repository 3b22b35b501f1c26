#pragma once
// Particles as the real-time step sees them. The state (doubles) is the truth; what stands here are ways since the step's start,
// floats of 16 bytes, which lanes fetch by transposing. Distances between neighbours at the start are differences of doubles: a
// rope is as exact 10 km from the origin as at it.
//
// A substep of h (M. Macklin, M. Müller, N. Chentanez, "XPBD", 2016; M. Macklin et al., "Small steps in physics simulation",
// 2019):
//   v <- v + h/M f,  x <- x + h v;   chains of springs, each chain at once (chains.h);   contacts;   v <- (x - x_0)/h
// All of these act in pairs along a line, so that momentum is kept whatever is left unsolved.
#include <vector>

#include "model/model.h"

namespace rotule::realtime {

struct alignas(16) ParticleLine {
  float at[4] = {};
};

/// Line 0 belongs to nobody: empty lanes name it.
inline constexpr int line_of_particle(int particle) { return particle + 1; }

struct ParticleLines {
  int count = 0;                    // lines in use, nobody's included
  std::vector<ParticleLine> moved;  // m, since the step's start; then the inverse mass, 1/kg
  std::vector<ParticleLine> begun;  // the same at the start of the substep
  std::vector<ParticleLine> v;      // m/s
  std::vector<ParticleLine> first;  // m/s, at the start of the substep
  std::vector<ParticleLine> kick;   // what forces add to it in a substep
  /// Who rests on a body has, along the normal n, that body's inertia too: springs move him by W p, W = w - c c^T, with c = n
  /// (w - w')^(1/2), w' the inverse mass of both; the fourth is the sum of c . p. Of who sticks to a body c is zero, the fourth
  /// not, and his inverse mass is for the time that of both. Of all others it is zero.
  std::vector<ParticleLine> held;
  bool any_held = false;

  void resize(const Model& model);
  [[nodiscard]] float inverse_mass(int line) const { return moved[line].at[3]; }
};

/// What a medium makes of velocities in a substep of h, implicitly, as drag may be stiff beside a light cloth:
///   v <- B v + b,   B = (1 + h/m C)^-1,   b = B h/m (f + C v_0),   C = -df/dv at the step's start.
struct Resistance {
  float B[6] = {1, 0, 0, 1, 0, 1};  // xx xy xz yy yz zz
  float b[3] = {};
};

/// v <- v + kick, resistances if there are any (one per line); where the substep begins; x <- x + h v.
void predict(ParticleLines& lines, const std::vector<Resistance>& resistances, int first, int last, float h);
/// v <- (x - x_0)/h.
void find_velocities(ParticleLines& lines, int first, int last, float h);

}  // namespace rotule::realtime
