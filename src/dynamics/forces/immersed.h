#pragma once
// Forces of structures that are thinner than the cells of the computed flow (Model::immersed): as in any flow, but one by one,
// with the places where they meet the fluid. Of pressure and added mass it is what the computed flow adds.
#include <functional>
#include <string>
#include <vector>

#include "model/model.h"

namespace rotule {

/// What a structure gets at a place.
struct Exchange {
  Vec3 x = Vec3::Zero(), force = Vec3::Zero(), moment = Vec3::Zero();
  double grip = 0;        // N s/m, by which the force grows with the velocity of the fluid, at most
  bool by_world = false;  // who gets it
};

struct ImmersedForces {
  VecX f;  // sum on bodies and particles, laid out as u
  std::vector<Exchange> exchanges;
};
/// -df/du of each body and particle by itself; what corners of a triangle share is each of them's alone.
struct ImmersedDamping {
  std::vector<Mat6> of_bodies;
  std::vector<Mat3> of_particles;
};

/// `damping`, with which grips are known, may be null.
void immersed_forces(const Model& model, const State& s, double t, ImmersedForces& out, ImmersedDamping* damping);

/// m/s, of what they act on.
double fastest_immersed(const Model& model, const State& s);
/// The name of the first thing that they act on at a place that is meant; empty where there is none.
std::string first_immersed(const Model& model, const State& s, const std::function<bool(const Vec3&)>& is_meant);
/// Per body, whether they act on it.
std::vector<bool> immersed_bodies(const Model& model);

}  // namespace rotule
