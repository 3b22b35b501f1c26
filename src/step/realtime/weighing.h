#pragma once
// What rests on whom, before any impulse has told. Loads are known from the impulses of the last step (bear_loads), but who meets
// anew has none yet, and a sweep carries weight down by a few bodies only: until impulses have come to the ground, a heavy body
// would sink into light ones. So where resting bodies meet, all are weighed: from the highest down, each hands its weight, and
// what it was handed, to those it rests on, in proportion to how upright their normals are.
//
// An estimate, and for inertias alone: forces are what the sweeps find. Where it is too much, the burden fades within some steps.
#include <vector>

#include "step/realtime/contact_slots.h"

namespace rotule::realtime {

class Weighing {
 public:
  /// Told how many manifolds have begun since the last step, of how many: whether it is time. Some at a time wait for others.
  bool due(int begun, int all);
  /// Raises the loads of all bodies to those that it finds.
  void weigh(const ContactSlots& slots, const Vec3& gravity, BodyLines& bodies);

  template <class Archive>
  void archive(Archive& io) {
    io(waiting_);
    io(since_);
  }

 private:
  /// `upper` rests on `lower`.
  struct Rest {
    int upper, lower;
    float upright;
  };
  int waiting_ = 0, since_ = 0;
  std::vector<Rest> rests_, sorted_;
  std::vector<int> first_, order_, lines_, place_;
  std::vector<float> height_, carried_;
};

/// Who touches something fast may be struck by it in a step of h, and who touches that is struck through it, by half as much from
/// body to body. What is struck harder than it is squeezed is not calm: it will slip out from under its load.
void hand_on_motion(const ContactSlots& slots, float h, BodyLines& bodies);

/// Multiplies the impulses of contacts by what their bodies say (BodyLines::kept), the less of two: those of the last step were
/// for the inertia that was raised then, or were too large; repeated, they would throw what they press on.
void let_go(ContactSlots& slots, BodyLines& bodies);

}  // namespace rotule::realtime
