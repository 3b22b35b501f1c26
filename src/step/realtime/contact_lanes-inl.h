// Contacts in lanes, once per kind of processor: how their bodies are fetched and put back, and how blocks are gone through.
#if defined(ROTULE_REALTIME_CONTACT_LANES_INL_H) == defined(HWY_TARGET_TOGGLE)  // NOLINT: as Highway wants it
#ifdef ROTULE_REALTIME_CONTACT_LANES_INL_H
#undef ROTULE_REALTIME_CONTACT_LANES_INL_H
#else
#define ROTULE_REALTIME_CONTACT_LANES_INL_H
#endif

#include <hwy/highway.h>

#include "step/realtime/kernels.h"
#include "step/realtime/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rotule::realtime::HWY_NAMESPACE {
namespace {

/// Half a line of each lane's body: velocities, or what they moved in this step.
struct Motion {
  Vector linear, angular;
  Lanes inverse_root, load;
};

HWY_INLINE Motion fetch_motion(const BodyLines& bodies, const std::int32_t* lines, int offset) {
  const auto first = fetch([&](int i) { return bodies.motion[lines[i]].at + offset; });
  const auto second = fetch([&](int i) { return bodies.motion[lines[i]].at + offset + 4; });
  return {{first.v[0], first.v[1], first.v[2]}, {first.v[3], second.v[0], second.v[1]}, second.v[2], second.v[3]};
}
HWY_INLINE void put_motion(const Motion& m, BodyLines& bodies, const std::int32_t* lines) {
  put_back({{m.linear.x, m.linear.y, m.linear.z, m.angular.x}}, [&](int i) { return bodies.motion[lines[i]].at; });
  put_back({{m.angular.y, m.angular.z, m.inverse_root, m.load}}, [&](int i) { return bodies.motion[lines[i]].at + 4; });
}

/// Only of those that move: what is fixed or led may be in several lanes and blocks at once, on several threads, and stays.
HWY_INLINE void put_motion(const Motion& m, Lanes mass, BodyLines& bodies, const std::int32_t* lines) {
  const unsigned moves = bits_of(hn::Gt(mass, all(least_inverse_root)));
  if (moves == (1U << width) - 1) return put_motion(m, bodies, lines);
  alignas(32) float nowhere[8];
  const auto at = [&](int i) { return (moves >> i & 1U) != 0 ? bodies.motion[lines[i]].at : nowhere; };
  put_back({{m.linear.x, m.linear.y, m.linear.z, m.angular.x}}, at);
  put_back({{m.angular.y, m.angular.z, m.inverse_root, m.load}}, [&](int i) { return at(i) + 4; });
}

struct BodyPose {
  Vector high, low;
  Rotation turn;
  Symmetric inverse_root;
};
HWY_INLINE BodyPose fetch_pose(const BodyLines& bodies, const std::int32_t* lines) {
  Quad q[4];
  for (int k = 0; k < 4; ++k) q[k] = fetch([&](int i) { return bodies.pose[lines[i]].at + 4 * k; });
  return {{q[0].v[0], q[0].v[1], q[0].v[2]},
          {q[0].v[3], q[1].v[0], q[1].v[1]},
          {{q[1].v[2], q[1].v[3], q[2].v[0]}, q[2].v[1]},
          {{q[2].v[2], q[2].v[3], q[3].v[0], q[3].v[1], q[3].v[2], q[3].v[3]}}};
}

HWY_INLINE Symmetric fetch_inverse_root(const BodyLines& bodies, const std::int32_t* lines) {
  const auto third = fetch([&](int i) { return bodies.pose[lines[i]].at + 8; });
  const auto fourth = fetch([&](int i) { return bodies.pose[lines[i]].at + 12; });
  return {{third.v[2], third.v[3], fourth.v[0], fourth.v[1], fourth.v[2], fourth.v[3]}};
}

HWY_INLINE Rotation load_turn(const Row (&rows)[4], int first) {
  return {{load(rows[0], first), load(rows[1], first), load(rows[2], first)}, load(rows[3], first)};
}

/// work(hot block, cold block, extras or null, first lane) for all lanes of these blocks, in order.
template <class Colour, class Work>
HWY_INLINE void for_lanes(Colour& colour, const BlockRange& range, const Work& work) {
  for (auto block = static_cast<std::size_t>(range.first); block < static_cast<std::size_t>(range.last); ++block) {
    ExtraBlock* const extra = colour.extras.empty() ? nullptr : &colour.extras[block];
    for (int first = 0; first < colour.lanes(static_cast<int>(block)); first += width)
      work(colour.hot[block], colour.cold[block], extra, first);
  }
}
template <class Work>
HWY_INLINE void for_lanes(ContactSlots& slots, const BlockRange& range, const Work& work) {
  const auto colour = static_cast<std::size_t>(range.colour);
  if (range.family == 0) {
    for_lanes(slots.single.colours[colour], range, work);
  } else {
    for_lanes(slots.patches.colours[colour], range, work);
  }
}

}  // namespace
}  // namespace rotule::realtime::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
