#include "step/realtime/soft/free_groups.h"

#include <Eigen/LU>
#include <algorithm>

namespace rotule::realtime {

FreeGroups::FreeGroups(const Model& model) : model_(&model) {
  const ParticleSprings& springs = model.forces.particle_springs;
  for (const Particles::Group& group : model.particles.groups) {
    const auto own = [&](int particle) { return particle >= group.first && particle < group.first + group.count; };
    bool free = group.count > 2;
    for (int i = group.first; i < group.first + group.count; ++i) free = free && model.particles.movable(i);
    for (int n = 0; free && n < springs.count(); ++n) free = own(springs.i[n]) == own(springs.j[n]);
    if (free) groups_.push_back({group.first, group.count});
  }
}

void FreeGroups::keep_spin(const State& s, float h, ParticleLines& lines) const {
  for (const Group& group : groups_) {
    const auto line = [](int particle) { return static_cast<std::size_t>(line_of_particle(particle)); };
    // Who rests on a body is moved as one with it.
    const auto rests = [&](int i) {
      return std::any_of(std::begin(lines.held[line(i)].at), std::end(lines.held[line(i)].at), [](float x) { return x != 0; });
    };
    const int last = group.first + group.count;
    bool free = true;
    for (int i = group.first; lines.any_held && free && i < last; ++i) free = !rests(i);
    if (!free) continue;
    const auto place = [&](int i) -> Vec3 {
      const float* at = lines.begun[line(i)].at;
      return s.particle_position(i) + Vec3(at[0], at[1], at[2]);
    };
    Vec3 centre = Vec3::Zero(), torque = Vec3::Zero();
    double mass = 0;
    for (int i = group.first; i < last; ++i) {
      centre += model_->particles.mass[i] * place(i);
      mass += model_->particles.mass[i];
    }
    centre /= mass;
    Mat3 inertia = Mat3::Zero();
    for (int i = group.first; i < last; ++i) {
      const double m = model_->particles.mass[i];
      const Vec3 r = place(i) - centre;
      inertia += m * (r.squaredNorm() * Mat3::Identity() - r * r.transpose());
      const float* moved = lines.moved[line(i)].at;
      const float* begun = lines.begun[line(i)].at;
      const float* v = lines.v[line(i)].at;
      Vec3 given;
      for (int k = 0; k < 3; ++k) given[k] = double(moved[k] - begun[k] - h * v[k]);
      torque += m * r.cross(given);
    }
    // On a line there is no turning about it.
    inertia += 1e-6 * inertia.trace() * Mat3::Identity();
    const Vec3 turn = inertia.inverse() * torque;
    for (int i = group.first; i < last; ++i) {
      const Vec3 back = turn.cross(place(i) - centre);
      for (int k = 0; k < 3; ++k) lines.moved[line(i)].at[k] -= static_cast<float>(back[k]);
    }
  }
}

}  // namespace rotule::realtime
