// How good was the step? The reference's judge (problem/judge.h), in lanes: at the end of the last substep, the velocity psi that
// each law has wrong, against the velocity s that is at stake there. Of its terms those count that are large where contacts
// press: what the row would do alone, and what all impulses together do to its bodies, here with whitened lengths; and in place
// of the shares of single impulses what a float's rounding may leave.
#include <cmath>

#include "step/realtime/kernels.h"
#include "step/realtime/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "step/realtime/judging.cpp"  // NOLINT: how Highway compiles this file once per target
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "step/realtime/contact_lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rotule::realtime::HWY_NAMESPACE {
namespace {

/// Of the velocities that meet in a row: what rounding may leave of them counts as at stake.
constexpr float rounding_share = 1e-4F;

void note_changes_in(BodyLines& bodies, std::span<const int> rows) {
  for (const int row : rows)
    for (int i = row * row_lanes; i < (row + 1) * row_lanes; ++i) {
      const float* HWY_RESTRICT motion = bodies.motion[i].at;
      const float* HWY_RESTRICT kick = bodies.kick[i].at;
      float* HWY_RESTRICT last = bodies.last[i].at;
      for (int k = 0; k < 6; ++k) last[k] = motion[k] - last[k] - kick[k];
      last[6] = std::sqrt(last[0] * last[0] + last[1] * last[1] + last[2] * last[2]);
      last[7] = std::sqrt(last[3] * last[3] + last[4] * last[4] + last[5] * last[5]);
    }
}

/// A body's part in rows: its velocities, and what all impulses of the substep together did to them.
struct Side {
  Vector linear, angular, d_linear, d_angular;
  Lanes push, twist;      // lengths of the changes
  Lanes speed, spinning;  // and of the velocities
};
HWY_INLINE Side fetch_side(const BodyLines& bodies, const std::int32_t* lines) {
  const Motion now = fetch_motion(bodies, lines, 0);
  const auto first = fetch([&](int i) { return bodies.last[lines[i]].at; });
  const auto second = fetch([&](int i) { return bodies.last[lines[i]].at + 4; });
  return {now.linear,  now.angular, {first.v[0], first.v[1], first.v[2]}, {first.v[3], second.v[0], second.v[1]},
          second.v[2], second.v[3], root(dot(now.linear, now.linear)),    root(dot(now.angular, now.angular))};
}

/// What is at stake besides b, by the lengths of a row's parts.
HWY_INLINE Lanes at_stake(const Side& a, const Side& b, Lanes linear_a, Lanes linear_b, Lanes angular_a, Lanes angular_b) {
  const Lanes changes = linear_a * a.push + linear_b * b.push + angular_a * a.twist + angular_b * b.twist;
  const Lanes speeds = linear_a * a.speed + linear_b * b.speed + angular_a * a.spinning + angular_b * b.spinning;
  return changes + speeds * all(rounding_share) + all(1e-30F);
}

template <int N>
HWY_INLINE Lanes worst_of(const HotBlock<N>& hot, const ExtraBlock* extra, int first, const BodyLines& bodies, float h) {
  const Side a = fetch_side(bodies, hot.a.lane + first), b = fetch_side(bodies, hot.b.lane + first);
  const Vector n = load(hot.normal, first);
  const Lanes mass_a = load(hot.mass_a, first), mass_b = load(hot.mass_b, first), inverse_h = all(1 / h);
  const Vector dv = b.linear * mass_b - a.linear * mass_a, ddv = b.d_linear * mass_b - a.d_linear * mass_a;
  Lanes worst = none(), total = none(), lever = none();
  for (int k = 0; k < N; ++k) {
    const auto& point = hot.point[k];
    const Vector turn_a = load(point.turn_a, first), turn_b = load(point.turn_b, first);
    const Lanes share = load(point.share, first), x = load(point.impulse, first);
    const Lanes w =
        dot(n, dv) + dot(turn_a, a.angular) + dot(turn_b, b.angular) + largest(load(point.gap, first), none()) * inverse_h;
    const Lanes got = dot(n, ddv) + dot(turn_a, a.d_angular) + dot(turn_b, b.d_angular);
    const Lanes psi = largest(none() - w, least(x / largest(share, all(1e-30F)), w));
    const Lanes stake =
        largest(got - w, none()) + at_stake(a, b, mass_a, mass_b, root(dot(turn_a, turn_a)), root(dot(turn_b, turn_b)));
    worst = largest(worst, choose(hn::Gt(share, none()), psi / stake, none()));
    total = total + x;
    lever = lever + load(hot.lever[k], first) * x;
  }
  const Lanes friction = load(hot.friction, first);

  {  // Spinning.
    const Vector spin_a = load(hot.spin_a, first), spin_b = load(hot.spin_b, first);
    const Lanes d = all(1) / largest(load(hot.spin_share, first), all(1e-30F)), x = load(hot.spin, first),
                most = friction * lever + load(hot.torsion, first) * total;
    const Lanes w = dot(spin_a, a.angular) + dot(spin_b, b.angular);
    const Lanes got = dot(spin_a, a.d_angular) + dot(spin_b, b.d_angular);
    const Lanes psi = largest(least(d * (most - x), none() - w), least(d * (x + most), w));
    const Lanes stake =
        least(hn::Abs(got - w), d * most) + at_stake(a, b, none(), none(), root(dot(spin_a, spin_a)), root(dot(spin_b, spin_b)));
    worst = largest(worst, choose(hn::Gt(most, none()), psi / stake, none()));
  }

  // Sliding: one size for both rows.
  const Vector t1 = load(hot.tangent, first), t2 = cross(t1, n), a1 = load(hot.slide_a1, first), b1 = load(hot.slide_b1, first),
               a2 = load(hot.slide_a2, first), b2 = load(hot.slide_b2, first);
  Lanes w1 = dot(t1, dv) + dot(a1, a.angular) + dot(b1, b.angular), w2 = dot(t2, dv) + dot(a2, a.angular) + dot(b2, b.angular);
  if (extra != nullptr) {
    w1 = w1 + load(extra->belt_1, first);
    w2 = w2 + load(extra->belt_2, first);
  }
  const Lanes got_1 = dot(t1, ddv) + dot(a1, a.d_angular) + dot(b1, b.d_angular),
              got_2 = dot(t2, ddv) + dot(a2, a.d_angular) + dot(b2, b.d_angular);
  const Lanes k11 = load(hot.k11, first), k12 = load(hot.k12, first), k22 = load(hot.k22, first);
  const Lanes d = all(0.5F) * (k11 + k22) / largest(k11 * k22 - k12 * k12, all(1e-30F)), most = d * friction * total;
  const Lanes x1 = d * load(hot.slide_1, first), x2 = d * load(hot.slide_2, first), image_1 = x1 - w1, image_2 = x2 - w2;
  const Lanes shorter = most / largest(root(image_1 * image_1 + image_2 * image_2), largest(most, all(1e-30F)));
  const Lanes psi_1 = x1 - image_1 * shorter, psi_2 = x2 - image_2 * shorter, alone_1 = got_1 - w1, alone_2 = got_2 - w2;
  const Lanes stake =
      least(root(alone_1 * alone_1 + alone_2 * alone_2), most) +
      at_stake(a, b, mass_a, mass_b, root(largest(dot(a1, a1), dot(a2, a2))), root(largest(dot(b1, b1), dot(b2, b2))));
  return largest(worst, choose(hn::Gt(most, none()), root(psi_1 * psi_1 + psi_2 * psi_2) / stake, none()));
}

float judge_in(ContactSlots& slots, const BlockRange& range, const BodyLines& bodies, float h) {
  Lanes worst = none();
  for_lanes(slots, range, [&](const auto& hot, const auto&, const ExtraBlock* extra, int first) HWY_ATTR {
    worst = largest(worst, worst_of(hot, extra, first, bodies, h));
  });
  alignas(64) float lanes[row_lanes];
  hn::Store(worst, Tag(), lanes);
  float out = 0;
  for (int i = 0; i < width; ++i) out = lanes[i] > out ? lanes[i] : out;
  return out;
}

}  // namespace
}  // namespace rotule::realtime::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rotule::realtime {

HWY_EXPORT(note_changes_in);
HWY_EXPORT(judge_in);

void note_changes(BodyLines& bodies, std::span<const int> rows) { HWY_DYNAMIC_DISPATCH(note_changes_in)(bodies, rows); }
float judge(ContactSlots& slots, const BlockRange& range, const BodyLines& bodies, float h) {
  return HWY_DYNAMIC_DISPATCH(judge_in)(slots, range, bodies, h);
}

}  // namespace rotule::realtime
#endif
