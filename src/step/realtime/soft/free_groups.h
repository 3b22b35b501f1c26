#pragma once
// Groups of particles that nothing holds. What acts within them exerts no torque on the whole; but an implicit step acts along
// the springs as they will be, and so brakes what turns, by (h omega)^2 of its angular momentum L in each substep of h. With x_0
// the places at the substep's start and d_i = m_i dx_i/h what springs gave, that is sum x_0 x d, and a group gets it back as one
// that turns:
//   dv_i = -omega x (x_0 - c),   omega = I^-1 sum (x_0 - c) x d.
#include "step/realtime/soft/particle_lines.h"

namespace rotule::realtime {

class FreeGroups {
 public:
  FreeGroups() = default;
  explicit FreeGroups(const Model& model);
  /// After springs, in the middle of a substep of h.
  void keep_spin(const State& s, float h, ParticleLines& lines) const;

 private:
  struct Group {
    int first = 0, count = 0;  // its particles
  };
  const Model* model_ = nullptr;
  std::vector<Group> groups_;
};

}  // namespace rotule::realtime
