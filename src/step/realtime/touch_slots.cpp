// Manifolds into their slots.
#include <algorithm>
#include <cmath>
#include <tuple>

#include "step/realtime/touches.h"

namespace rotule::realtime {

namespace {

/// Points of the same feature, or nearer than this share of the margin's, go on with the same impulse.
constexpr double same_point = 5;  // margins
/// Moved by before it is collided again, of the smaller part's size.
constexpr double reuse_share = 0.03;

Mat3 rotation_of(const BodyLines& bodies, int body) {
  const float* at = bodies.pose[line_of(body)].at;
  return Quat(at[9], at[6], at[7], at[8]).toRotationMatrix();
}

Vec3 at_lane(const Rows3& rows, int lane) { return {rows.x.lane[lane], rows.y.lane[lane], rows.z.lane[lane]}; }

}  // namespace

SlotPlace Touches::take(int touch, int family, const Pair& pair) {
  const Proxy &p = proxies_[pair.a], &q = proxies_[pair.b];
  SlotPlace place;
  place.family = static_cast<std::int16_t>(family);
  const auto [colour, index] =
      slots.visit(family, [&](auto& of) { return of.take(touch, line_of(p.body), line_of(q.body), p.moves, q.moves); });
  place.colour = static_cast<std::int16_t>(colour);
  place.index = index;
  return place;
}

void Touches::give_back(const SlotPlace& slot, const Pair& pair) {
  const int moved = slots.visit(slot.family, [&](auto& of) {
    return of.give_back(slot.colour, slot.index, proxies_[pair.a].moves, proxies_[pair.b].moves);
  });
  if (moved >= 0) touches_[moved].slot.index = slot.index;
}

template <int N>
void Touches::take_down(const SlotFamily<N>& family, const SlotPlace& at, Before& out) const {
  const auto& hot = family.colours[at.colour].hot[at.index / row_lanes];
  const auto& cold = family.colours[at.colour].cold[at.index / row_lanes];
  const int lane = at.index % row_lanes;
  out.count = 0;
  for (int k = 0; k < N; ++k) {
    if (!(cold.point[k].there.lane[lane] > 0)) continue;
    out.anchor[out.count] = at_lane(cold.point[k].anchor, lane);
    out.impulse[out.count] = hot.point[k].impulse.lane[lane];
    out.feature[out.count++] = static_cast<std::uint32_t>(cold.point[k].feature.lane[lane]);
  }
  const Vec3 t = at_lane(hot.tangent, lane), n = at_lane(hot.normal, lane);
  out.slide = double(hot.slide_1.lane[lane]) * t + double(hot.slide_2.lane[lane]) * t.cross(n);
  out.spin = hot.spin.lane[lane];
  if (const auto& extras = family.colours[at.colour].extras; !extras.empty()) {
    const ExtraBlock& extra = extras[at.index / row_lanes];
    out.roll = double(extra.roll_1.lane[lane]) * t + double(extra.roll_2.lane[lane]) * t.cross(n);
  }
  out.pressed = cold.pressed.lane[lane];
}

void Touches::release(int touch) {
  Pair& pair = pairs_[touches_[touch].pair];
  if (pair.touch == touch) {
    pair.touch = touches_[touch].next;
  } else {
    for (int t = pair.touch; t >= 0; t = touches_[t].next)
      if (touches_[t].next == touch) touches_[t].next = touches_[touch].next;
  }
  Before before;
  slots.visit(touches_[touch].slot.family, [&](auto& family) { take_down(family, touches_[touch].slot, before); });
  points_ -= before.count;
  if (before.pressed > 0) ended.push_back(bodies_of(touch));
  give_back(touches_[touch].slot, pair);
  touches_[touch] = {};
  free_touches_.push_back(touch);
}

int Touches::write_again(int touch, const Manifold& m, double margin, const BodyLines& bodies) {
  const SlotPlace at = touches_[touch].slot;
  Before before;
  slots.visit(at.family, [&](auto& family) {
    take_down(family, at, before);
    write_lane(family, at, m, margin, &before, false, bodies, pairs_[touches_[touch].pair]);
  });
  return m.count - before.count;
}

template <int N>
void Touches::write_lane(SlotFamily<N>& family, const SlotPlace& at, const Manifold& m, double margin, const Before* before,
                         bool begins, const BodyLines& bodies, const Pair& pair) {
  HotBlock<N>& hot = family.colours[at.colour].hot[at.index / row_lanes];
  ColdBlock<N>& cold = family.colours[at.colour].cold[at.index / row_lanes];
  const int lane = at.index % row_lanes;
  const Proxy &p = proxies_[pair.a], &q = proxies_[pair.b];
  const Line &A = bodies.pose[line_of(p.body)], &B = bodies.pose[line_of(q.body)];
  const auto position = [](const Line& line) {
    return Vec3(double(line.at[0]) + double(line.at[3]), double(line.at[1]) + double(line.at[4]),
                double(line.at[2]) + double(line.at[5]));
  };
  // Points of a blow to come are beside each other: each body has its own lever, as if they were not.
  Vec3 aside = Vec3::Zero();
  if (m.count == 1) {
    aside = m.points[0].on_b - m.points[0].on_a;
    aside -= m.normal.dot(aside) * m.normal;
  }
  const Vec3 p_a = position(A), between = position(B) - p_a - aside;
  const Vec3 t1 = any_normal_to(m.normal), t2 = t1.cross(m.normal);

  // Impulses go on: of the same feature, else of the nearest point.
  std::array<float, 4> impulse{};
  std::array<bool, 4> given{}, done{};
  const auto anchor = [&](int k) { return Vec3(0.5 * (m.points[k].on_a + m.points[k].on_b - aside) - p_a); };
  if (before) {
    for (int k = 0; k < m.count; ++k)
      for (int j = 0; j < before->count && !done[k]; ++j)
        if (!given[j] && before->feature[j] == m.points[k].feature) {
          given[j] = done[k] = true;
          impulse[k] = before->impulse[j];
        }
    for (int k = 0; k < m.count; ++k) {
      int best = -1;
      double nearest = same_point * margin * same_point * margin;
      for (int j = 0; j < before->count && !done[k]; ++j)
        if (const double d = (before->anchor[j] - anchor(k)).squaredNorm(); !given[j] && d < nearest) {
          nearest = d;
          best = j;
        }
      if (best < 0) continue;
      given[best] = true;
      impulse[k] = before->impulse[best];
    }
  }
  hot.slide_1.lane[lane] = before ? static_cast<float>(before->slide.dot(t1)) : 0;
  hot.slide_2.lane[lane] = before ? static_cast<float>(before->slide.dot(t2)) : 0;
  hot.spin.lane[lane] = before ? before->spin : 0;
  cold.pressed.lane[lane] = before ? before->pressed : 0;

  for (int k = 0; k < N; ++k) {
    const bool there = k < m.count;
    const Vec3 r = there ? anchor(k) : Vec3(Vec3::Zero());
    hot.point[k].impulse.lane[lane] = impulse[k];
    cold.point[k].there.lane[lane] = there;
    cold.point[k].gap.lane[lane] = there ? static_cast<float>(m.points[k].gap) : 0;
    cold.point[k].feature.lane[lane] = there ? static_cast<std::int32_t>(m.points[k].feature) : -1;
    put(cold.point[k].anchor, lane, r.x(), r.y(), r.z());
  }
  put(hot.normal, lane, m.normal.x(), m.normal.y(), m.normal.z());
  put(hot.tangent, lane, t1.x(), t1.y(), t1.z());
  put(cold.between, lane, between.x(), between.y(), between.z());
  for (int k = 0; k < 4; ++k) {
    cold.turn_a[k].lane[lane] = A.at[6 + k];
    cold.turn_b[k].lane[lane] = B.at[6 + k];
  }
  const double gap = m.gap(), size = std::min(p.form->size, q.form->size), tolerance = reuse_share * size;
  cold.tolerance.lane[lane] = static_cast<float>(gap > 0 ? std::min(tolerance, 0.25 * tolerance + 0.5 * gap) : tolerance);
  cold.patch.lane[lane] = static_cast<float>(m.lever);
  if (begins) write_pair(family, at, margin, pair);
  auto& extras = family.colours[at.colour].extras;
  if (extras.empty()) return;
  ExtraBlock& extra = extras[at.index / row_lanes];
  const auto belt = [&](int body) -> Vec3 { return rotation_of(bodies, body) * model_.bodies[body].surface_velocity; };
  const Vec3 runs = belt(q.body) - belt(p.body);
  extra.belt_1.lane[lane] = static_cast<float>(t1.dot(runs));
  extra.belt_2.lane[lane] = static_cast<float>(t2.dot(runs));
  extra.roll_1.lane[lane] = before ? static_cast<float>(before->roll.dot(t1)) : 0;
  extra.roll_2.lane[lane] = before ? static_cast<float>(before->roll.dot(t2)) : 0;
}

template <int N>
void Touches::write_pair(SlotFamily<N>& family, const SlotPlace& at, double margin, const Pair& pair) {
  HotBlock<N>& hot = family.colours[at.colour].hot[at.index / row_lanes];
  ColdBlock<N>& cold = family.colours[at.colour].cold[at.index / row_lanes];
  const int lane = at.index % row_lanes;
  const Proxy &p = proxies_[pair.a], &q = proxies_[pair.b];
  cold.arm.lane[lane] = static_cast<float>(q.form->arm);
  // What rides on a body that is led round would be taken along by velocities of where it was: it is collided again sooner.
  constexpr float sooner = 1e4F;  // squares of angles
  cold.flat_a.lane[lane] = p.form->arm > 0 ? (p.led ? sooner : 1) : 0;
  cold.flat_b.lane[lane] = q.form->arm > 0 ? 1 : 0;
  cold.round_a.lane[lane] = static_cast<float>(p.form->rounding);
  cold.round_b.lane[lane] = static_cast<float>(q.form->rounding);
  cold.inverse_margin.lane[lane] = static_cast<float>(0.5 / margin);
  const SurfaceLaw law = surface_between(model_, p.body, q.body);
  cold.static_friction.lane[lane] = static_cast<float>(law.static_friction);
  cold.sliding_friction.lane[lane] = static_cast<float>(law.friction);
  cold.restitution.lane[lane] = static_cast<float>(law.restitution);
  hot.torsion.lane[lane] = static_cast<float>(law.torsional_friction);
  if (auto& extras = family.colours[at.colour].extras; !extras.empty())
    extras[at.index / row_lanes].rolling.lane[lane] = static_cast<float>(law.rolling_friction);
}

// Written from collide_touches.cpp too.
template void Touches::take_down(const SlotFamily<1>&, const SlotPlace&, Before&) const;
template void Touches::take_down(const SlotFamily<4>&, const SlotPlace&, Before&) const;
template void Touches::write_lane(SlotFamily<1>&, const SlotPlace&, const Manifold&, double, const Before*, bool,
                                  const BodyLines&, const Pair&);
template void Touches::write_lane(SlotFamily<4>&, const SlotPlace&, const Manifold&, double, const Before*, bool,
                                  const BodyLines&, const Pair&);

}  // namespace rotule::realtime
