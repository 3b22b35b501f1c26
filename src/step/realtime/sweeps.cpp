// Sweeps over contacts in lanes. Each block is one gather of its bodies' velocities, its rows one after the other, and one
// scatter.
#include <cmath>
#include <numbers>

#include "step/realtime/kernels.h"
#include "step/realtime/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "step/realtime/sweeps.cpp"  // NOLINT: how Highway compiles this file once per target
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "step/realtime/contact_lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rotule::realtime::HWY_NAMESPACE {
namespace {

void find_moved_in(ContactSlots& slots, const BlockRange& range, const BodyLines& bodies, std::vector<int>& moved) {
  constexpr float most_turn = 0.0019F;  // sin^2 of half of 5 degrees: normals stay fixed in the world
  for_lanes(slots, range, [&](const auto& hot, const auto& cold, const ExtraBlock*, int first) HWY_ATTR {
    const BodyPose A = fetch_pose(bodies, hot.a.lane + first), B = fetch_pose(bodies, hot.b.lane + first);
    // How B has moved as seen from A: its centre, and how far its turning may have carried its points.
    const Vector between = (B.high - A.high) + (B.low - A.low);
    const Rotation da = turn_since(A.turn, load_turn(cold.turn_a, first)), db = turn_since(B.turn, load_turn(cold.turn_b, first));
    const Vector d = turned_back(da, between) - load(cold.between, first);
    const Vector e = db.v * da.w - da.v * db.w - cross(da.v, db.v);
    const Lanes way = root(dot(d, d)) + all(2) * root(dot(e, e)) * load(cold.arm, first);
    const Lanes turn = largest(dot(da.v, da.v) * load(cold.flat_a, first), dot(db.v, db.v) * load(cold.flat_b, first));
    const Mask too_far = hn::Or(hn::Gt(way, load(cold.tolerance, first)), hn::Gt(turn, all(most_turn)));
    for (unsigned bits = bits_of(too_far); bits != 0; bits &= bits - 1) {
      const int lane = first + std::countr_zero(bits);
      if (cold.touch.lane[lane] >= 0) moved.push_back(cold.touch.lane[lane]);
    }
  });
}

/// Velocities of one surface against the other along the tangents: belts besides.
HWY_INLINE void run_belts(const ExtraBlock& extra, int first, Lanes& v1, Lanes& v2) {
  v1 = v1 + load(extra.belt_1, first);
  v2 = v2 + load(extra.belt_2, first);
}

/// The rows of one vector of manifolds, and their impulses of the last step applied.
template <int N>
HWY_INLINE void prepare_block(HotBlock<N>& hot, ColdBlock<N>& cold, ExtraBlock* extra, int first, BodyLines& bodies,
                              const SweepSettings& settings) {
  const BodyPose A = fetch_pose(bodies, hot.a.lane + first), B = fetch_pose(bodies, hot.b.lane + first);
  Motion a = fetch_motion(bodies, hot.a.lane + first, 0), b = fetch_motion(bodies, hot.b.lane + first, 0);
  const Lanes one = all(1), tiny = all(1e-30F), scale = all(settings.impulse_scale);
  const Lanes mass_a = a.inverse_root, mass_b = b.inverse_root, linear = mass_a * mass_a + mass_b * mass_b;
  store(mass_a, hot.mass_a, first);
  store(mass_b, hot.mass_b, first);

  const Vector between = (B.high - A.high) + (B.low - A.low), between_then = load(cold.between, first);
  const Rotation da = turn_since(A.turn, load_turn(cold.turn_a, first)), db = turn_since(B.turn, load_turn(cold.turn_b, first));
  const Vector n = load(hot.normal, first), t1 = load(hot.tangent, first), t2 = cross(t1, n);
  const Vector round_a = n * load(cold.round_a, first), round_b = n * load(cold.round_b, first);
  const Lanes rounding = load(cold.round_a, first) + load(cold.round_b, first);
  const Lanes restitution = load(cold.restitution, first), inverse_margin = load(cold.inverse_margin, first);
  const Vector dv = b.linear * mass_b - a.linear * mass_a;
  const Lanes approach = dot(n, dv);
  const Motion a0 = a, b0 = b;

  Vector middle_a{none(), none(), none()}, middle_b = middle_a, anchors[N];
  Lanes weight = all(1e-20F), total = none();
  for (int k = 0; k < N; ++k) {
    auto& point = hot.point[k];
    auto& kept = cold.point[k];
    const Lanes there = load(kept.there, first);
    const Vector r_a = load(kept.anchor, first), r_b = r_a - between_then;
    anchors[k] = r_a;
    // Cores turn with their bodies, roundings do not.
    const Lanes gap = dot(n, between + turned(db, r_b + round_b) - turned(da, r_a - round_a)) - rounding + load(kept.gap, first);
    const Vector turn_a = A.inverse_root * cross(n, r_a), turn_b = B.inverse_root * cross(r_b, n);
    const Lanes share = there / (linear + dot(turn_a, turn_a) + dot(turn_b, turn_b) + tiny);
    store(share, point.share, first);
    store(turn_a, point.turn_a, first);
    store(turn_b, point.turn_b, first);
    const Lanes held = gap + all(settings.slop);
    store(held, point.gap, first);
    store(held, hot.start[k], first);
    store(restitution * (approach + dot(turn_a, a0.angular) + dot(turn_b, b0.angular)), kept.closing, first);
    const Lanes impulse = load(point.impulse, first) * there * scale;
    store(impulse, point.impulse, first);
    a.angular = a.angular + turn_a * impulse;
    b.angular = b.angular + turn_b * impulse;
    total = total + impulse;
    // Friction acts where the patch touches: points that are apart count less.
    const Lanes w = there * largest(all(0.01F), least(one, all(2) - gap * inverse_margin));
    middle_a = middle_a + r_a * w;
    middle_b = middle_b + r_b * w;
    weight = weight + w;
  }
  middle_a = middle_a * (one / weight);
  middle_b = middle_b * (one / weight);
  const Lanes patch = load(cold.patch, first);
  for (int k = 0; k < N; ++k) {
    const Vector d = anchors[k] - middle_a;
    store(choose(hn::Gt(patch, none()), patch, root(dot(d, d))), hot.lever[k], first);
  }

  const Vector a1 = A.inverse_root * cross(t1, middle_a), b1 = B.inverse_root * cross(middle_b, t1),
               a2 = A.inverse_root * cross(t2, middle_a), b2 = B.inverse_root * cross(middle_b, t2);
  const Lanes k11 = linear + dot(a1, a1) + dot(b1, b1), k22 = linear + dot(a2, a2) + dot(b2, b2), k12 = dot(a1, a2) + dot(b1, b2);
  const Lanes inverse = one / (k11 * k22 - k12 * k12 + tiny);
  store(k22 * inverse, hot.k11, first);
  store(k11 * inverse, hot.k22, first);
  store(none() - k12 * inverse, hot.k12, first);
  store(a1, hot.slide_a1, first);
  store(b1, hot.slide_b1, first);
  store(a2, hot.slide_a2, first);
  store(b2, hot.slide_b2, first);
  Lanes v1 = dot(t1, dv) + dot(a1, a0.angular) + dot(b1, b0.angular),
        v2 = dot(t2, dv) + dot(a2, a0.angular) + dot(b2, b0.angular);
  if (extra != nullptr) run_belts(*extra, first, v1, v2);
  const Mask slides = hn::Gt(v1 * v1 + v2 * v2, all(settings.stick_speed * settings.stick_speed));
  store(choose(slides, load(cold.sliding_friction, first), load(cold.static_friction, first)), hot.friction, first);
  const Vector spin_a = A.inverse_root * (n * all(-1)), spin_b = B.inverse_root * n;
  store(one / (dot(spin_a, spin_a) + dot(spin_b, spin_b) + tiny), hot.spin_share, first);
  store(spin_a, hot.spin_a, first);
  store(spin_b, hot.spin_b, first);

  const Lanes slide_1 = load(hot.slide_1, first) * scale, slide_2 = load(hot.slide_2, first) * scale,
              spin = load(hot.spin, first) * scale;
  store(slide_1, hot.slide_1, first);
  store(slide_2, hot.slide_2, first);
  store(spin, hot.spin, first);
  // Impulses are repeated in each substep, and so is this: at the end of the step it is the impulse of the whole of it.
  a.load = a.load + total;
  b.load = b.load + total;
  const Vector force = n * total + t1 * slide_1 + t2 * slide_2;
  a.linear = a.linear - force * mass_a;
  b.linear = b.linear + force * mass_b;
  a.angular = a.angular + a1 * slide_1 + a2 * slide_2 + spin_a * spin;
  b.angular = b.angular + b1 * slide_1 + b2 * slide_2 + spin_b * spin;
  if (extra != nullptr) {
    const Lanes roll_1 = load(extra->roll_1, first) * scale, roll_2 = load(extra->roll_2, first) * scale;
    store(roll_1, extra->roll_1, first);
    store(roll_2, extra->roll_2, first);
    const Vector roll = t1 * roll_1 + t2 * roll_2;
    a.angular = a.angular - A.inverse_root * roll;
    b.angular = b.angular + B.inverse_root * roll;
  }
  put_motion(a, mass_a, bodies, hot.a.lane + first);
  put_motion(b, mass_b, bodies, hot.b.lane + first);
}

template <int N>
HWY_INLINE void push_block(HotBlock<N>& hot, int first, BodyLines& bodies, const SweepSettings& settings) {
  Motion a = fetch_motion(bodies, hot.a.lane + first, 0), b = fetch_motion(bodies, hot.b.lane + first, 0);
  const Vector n = load(hot.normal, first);
  const Lanes mass_a = load(hot.mass_a, first), mass_b = load(hot.mass_b, first), linear = mass_a * mass_a + mass_b * mass_b;
  const Lanes inverse_h = all(1 / settings.h), slowest = all(-settings.push_speed), one = all(1);
  const Mask both = hn::And(hn::Gt(mass_a, all(least_inverse_root)), hn::Gt(mass_b, all(least_inverse_root)));
  const Lanes rate = choose(both, all(settings.moving.rate * settings.moving.share),
                            all(settings.fixed.rate * settings.fixed.share)),
              share = choose(both, all(settings.moving.share), all(settings.fixed.share)),
              give = choose(both, all(settings.moving.give), all(settings.fixed.give));
  // The linear part of the points' relative velocity is one number for all of them.
  Lanes approach = dot(n, b.linear * mass_b - a.linear * mass_a), change = none();
  for (int k = 0; k < N; ++k) {
    auto& point = hot.point[k];
    const Vector turn_a = load(point.turn_a, first), turn_b = load(point.turn_b, first);
    const Lanes gap = load(point.gap, first), impulse = load(point.impulse, first);
    const Lanes v = approach + dot(turn_a, a.angular) + dot(turn_b, b.angular);
    // Apart: it may close, and no more. Overlapping: a spring.
    const Mask apart = hn::Gt(gap, none());
    const Lanes bias = choose(apart, gap * inverse_h, largest(rate * gap, slowest));
    const Lanes next = largest(
        impulse - (load(point.share, first) * (choose(apart, one, share) * v + bias) + choose(apart, none(), give) * impulse),
        none());
    const Lanes d = next - impulse;
    store(next, point.impulse, first);
    change = change + d;
    approach = approach + d * linear;
    a.angular = a.angular + turn_a * d;
    b.angular = b.angular + turn_b * d;
  }
  const Vector force = n * change;
  a.linear = a.linear - force * mass_a;
  b.linear = b.linear + force * mass_b;
  put_motion(a, mass_a, bodies, hot.a.lane + first);
  put_motion(b, mass_b, bodies, hot.b.lane + first);
}

/// Two rows of friction under one bound: their velocities, and the inverse of their block. Where the solution of both is within
/// the bound, they stick. Else they slide, against their velocity: a step of one size in all directions, shortened to the bound,
/// comes to rest only there. What is added to the impulses.
struct Inverse2 {
  Lanes k11, k12, k22;
};
struct Rubbed {
  Lanes d1, d2;
};
HWY_INLINE Rubbed rub(const Inverse2& k, Lanes v1, Lanes v2, Lanes most, Row& impulse_1, Row& impulse_2, int first) {
  const Lanes old_1 = load(impulse_1, first), old_2 = load(impulse_2, first);
  const Lanes stick_1 = old_1 - (k.k11 * v1 + k.k12 * v2), stick_2 = old_2 - (k.k12 * v1 + k.k22 * v2);
  const Lanes size = all(2) * (k.k11 * k.k22 - k.k12 * k.k12) / (k.k11 + k.k22 + all(1e-30F));
  const Lanes slide_1 = old_1 - size * v1, slide_2 = old_2 - size * v2;
  const Mask sticks = hn::Le(stick_1 * stick_1 + stick_2 * stick_2, most * most);
  const Lanes shorter = most / largest(root(slide_1 * slide_1 + slide_2 * slide_2), largest(most, all(1e-30F)));
  const Lanes new_1 = choose(sticks, stick_1, slide_1 * shorter), new_2 = choose(sticks, stick_2, slide_2 * shorter);
  store(new_1, impulse_1, first);
  store(new_2, impulse_2, first);
  return {new_1 - old_1, new_2 - old_2};
}

/// Rolling, about the two tangents: the normal force at its lever bounds it. Few scenes have it, so that rows are made here, each
/// time, and not kept.
template <int N>
HWY_INLINE void roll(const HotBlock<N>& hot, ExtraBlock& extra, int first, const BodyLines& bodies, Lanes total, Motion& a,
                     Motion& b) {
  const Lanes rolling = load(extra.rolling, first);
  if (bits_of(hn::Gt(rolling, none())) == 0) return;
  const Symmetric A = fetch_inverse_root(bodies, hot.a.lane + first), B = fetch_inverse_root(bodies, hot.b.lane + first);
  const Vector t1 = load(hot.tangent, first), t2 = cross(t1, load(hot.normal, first));
  const Vector a1 = A * t1, a2 = A * t2, b1 = B * t1, b2 = B * t2;
  const Lanes k11 = dot(a1, a1) + dot(b1, b1), k22 = dot(a2, a2) + dot(b2, b2), k12 = dot(a1, a2) + dot(b1, b2);
  const Lanes inverse = all(1) / (k11 * k22 - k12 * k12 + all(1e-30F));
  const Lanes v1 = dot(b1, b.angular) - dot(a1, a.angular), v2 = dot(b2, b.angular) - dot(a2, a.angular);
  const auto [d1, d2] =
      rub({k22 * inverse, none() - k12 * inverse, k11 * inverse}, v1, v2, rolling * total, extra.roll_1, extra.roll_2, first);
  a.angular = a.angular - (a1 * d1 + a2 * d2);
  b.angular = b.angular + (b1 * d1 + b2 * d2);
}

template <int N>
HWY_INLINE void relax_block(HotBlock<N>& hot, ExtraBlock* extra, int first, BodyLines& bodies, const SweepSettings& settings) {
  Motion a = fetch_motion(bodies, hot.a.lane + first, 0), b = fetch_motion(bodies, hot.b.lane + first, 0);
  const Motion da = fetch_motion(bodies, hot.a.lane + first, 8), db = fetch_motion(bodies, hot.b.lane + first, 8);
  const Vector n = load(hot.normal, first);
  const Lanes mass_a = load(hot.mass_a, first), mass_b = load(hot.mass_b, first), linear = mass_a * mass_a + mass_b * mass_b;
  const Lanes inverse_h = all(1 / settings.h);
  Lanes approach = dot(n, b.linear * mass_b - a.linear * mass_a), change = none(), total = none(), lever = none();
  const Lanes moved = dot(n, db.linear * mass_b - da.linear * mass_a);
  // In reverse: going round a patch always the same way makes stacks sway.
  for (int k = N - 1; k >= 0; --k) {
    auto& point = hot.point[k];
    const Vector turn_a = load(point.turn_a, first), turn_b = load(point.turn_b, first);
    const Lanes impulse = load(point.impulse, first);
    const Lanes v = approach + dot(turn_a, a.angular) + dot(turn_b, b.angular);
    // The gap now, for the next push too.
    const Lanes gap = load(hot.start[k], first) + moved + dot(turn_a, da.angular) + dot(turn_b, db.angular);
    store(gap, point.gap, first);
    const Lanes next = largest(impulse - load(point.share, first) * (v + largest(gap, none()) * inverse_h), none());
    const Lanes d = next - impulse;
    store(next, point.impulse, first);
    lever = lever + load(hot.lever[k], first) * next;
    total = total + next;
    change = change + d;
    approach = approach + d * linear;
    a.angular = a.angular + turn_a * d;
    b.angular = b.angular + turn_b * d;
  }
  Vector force = n * change;
  const Lanes friction = load(hot.friction, first);

  {  // Spinning.
    const Vector spin_a = load(hot.spin_a, first), spin_b = load(hot.spin_b, first);
    const Lanes spin = load(hot.spin, first), most = friction * lever + load(hot.torsion, first) * total;
    const Lanes v = dot(spin_a, a.angular) + dot(spin_b, b.angular);
    const Lanes next = largest(least(spin - load(hot.spin_share, first) * v, most), none() - most), d = next - spin;
    store(next, hot.spin, first);
    a.angular = a.angular + spin_a * d;
    b.angular = b.angular + spin_b * d;
  }

  // Sliding, with Coulomb's cone.
  const Vector t1 = load(hot.tangent, first), t2 = cross(t1, n), a1 = load(hot.slide_a1, first), b1 = load(hot.slide_b1, first),
               a2 = load(hot.slide_a2, first), b2 = load(hot.slide_b2, first);
  const Vector dv = (b.linear + force * mass_b) * mass_b - (a.linear - force * mass_a) * mass_a;
  Lanes v1 = dot(t1, dv) + dot(a1, a.angular) + dot(b1, b.angular), v2 = dot(t2, dv) + dot(a2, a.angular) + dot(b2, b.angular);
  if (extra != nullptr) run_belts(*extra, first, v1, v2);
  const auto [d1, d2] = rub({load(hot.k11, first), load(hot.k12, first), load(hot.k22, first)}, v1, v2, friction * total,
                            hot.slide_1, hot.slide_2, first);
  force = force + t1 * d1 + t2 * d2;
  a.angular = a.angular + a1 * d1 + a2 * d2;
  b.angular = b.angular + b1 * d1 + b2 * d2;
  a.linear = a.linear - force * mass_a;
  b.linear = b.linear + force * mass_b;
  if (extra != nullptr) roll(hot, *extra, first, bodies, total, a, b);
  put_motion(a, mass_a, bodies, hot.a.lane + first);
  put_motion(b, mass_b, bodies, hot.b.lane + first);
}

template <int N>
HWY_INLINE void bounce_block(HotBlock<N>& hot, ColdBlock<N>& cold, int first, BodyLines& bodies, const SweepSettings& settings) {
  constexpr float near_share = 1e-3F;  // of the way that it bounces back in a substep
  Motion a = fetch_motion(bodies, hot.a.lane + first, 0), b = fetch_motion(bodies, hot.b.lane + first, 0);
  const Vector n = load(hot.normal, first);
  const Lanes mass_a = load(hot.mass_a, first), mass_b = load(hot.mass_b, first), linear = mass_a * mass_a + mass_b * mass_b;
  const Lanes slowest = load(cold.restitution, first) * all(-settings.restitution_speed);
  Lanes approach = dot(n, b.linear * mass_b - a.linear * mass_a), change = none();
  for (int k = 0; k < N; ++k) {
    auto& point = hot.point[k];
    const Vector turn_a = load(point.turn_a, first), turn_b = load(point.turn_b, first);
    const Lanes impulse = load(point.impulse, first), closing = load(cold.point[k].closing, first);
    const Lanes v = approach + dot(turn_a, a.angular) + dot(turn_b, b.angular);
    // Only what arrived: fast enough, and held by now. Where one was stopped some substeps ago nothing presses any more, but it
    // is still there.
    const Lanes there = all(settings.slop) - closing * all(near_share * settings.h);
    const Mask held = hn::Or(hn::Gt(impulse, none()), hn::Lt(load(point.gap, first), there));
    const Mask arrived = hn::And(hn::Lt(closing, slowest), held);
    const Lanes next = largest(impulse - load(point.share, first) * (v + closing), none());
    const Lanes d = choose(arrived, next - impulse, none());
    store(d, cold.point[k].closing, first);  // for the books: what it was is no longer asked for
    change = change + d;
    approach = approach + d * linear;
    a.angular = a.angular + turn_a * d;
    b.angular = b.angular + turn_b * d;
  }
  const Vector force = n * change;
  a.linear = a.linear - force * mass_a;
  b.linear = b.linear + force * mass_b;
  put_motion(a, mass_a, bodies, hot.a.lane + first);
  put_motion(b, mass_b, bodies, hot.b.lane + first);
}

/// Mean velocities of a substep: of its start and of now.
HWY_INLINE Motion mean_motion(const BodyLines& bodies, const std::int32_t* lines) {
  const Motion now = fetch_motion(bodies, lines, 0);
  const auto first = fetch([&](int i) { return bodies.last[lines[i]].at; });
  const auto second = fetch([&](int i) { return bodies.last[lines[i]].at + 4; });
  const Lanes half = all(0.5F);
  return {(now.linear + Vector{first.v[0], first.v[1], first.v[2]}) * half,
          (now.angular + Vector{first.v[3], second.v[0], second.v[1]}) * half, now.inverse_root, none()};
}

/// Lane after lane, so that sums are the same whatever the width.
HWY_INLINE void add_lanes(Lanes x, double& sum) {
  alignas(64) float lanes[row_lanes];
  hn::Store(x, Tag(), lanes);
  for (int i = 0; i < width; ++i) sum += double(lanes[i]);
}

template <int N>
HWY_INLINE void add_work(const HotBlock<N>& hot, const ColdBlock<N>& cold, const ExtraBlock* extra, int first,
                         const BodyLines& bodies, bool bounced, ContactWork& out) {
  const Motion a = mean_motion(bodies, hot.a.lane + first), b = mean_motion(bodies, hot.b.lane + first);
  const Vector n = load(hot.normal, first);
  const Lanes mass_a = load(hot.mass_a, first), mass_b = load(hot.mass_b, first);
  const Vector dv = b.linear * mass_b - a.linear * mass_a;
  const Lanes approach = dot(n, dv);
  Lanes pressed = none(), total = none();
  Vector twist{none(), none(), none()};  // on a, whitened
  for (int k = 0; k < N; ++k) {
    const Vector turn_a = load(hot.point[k].turn_a, first), turn_b = load(hot.point[k].turn_b, first);
    const Lanes impulse = bounced ? load(cold.point[k].closing, first) : load(hot.point[k].impulse, first);
    pressed = pressed + impulse * (approach + dot(turn_a, a.angular) + dot(turn_b, b.angular));
    total = total + impulse;
    twist = twist + turn_a * impulse;
  }
  Vector force = n * total;
  add_lanes(pressed, out.normal);
  if (!bounced) {
    const Vector t1 = load(hot.tangent, first), t2 = cross(t1, n), a1 = load(hot.slide_a1, first), a2 = load(hot.slide_a2, first),
                 spin_a = load(hot.spin_a, first);
    const Lanes slide_1 = load(hot.slide_1, first), slide_2 = load(hot.slide_2, first), spin = load(hot.spin, first);
    const Lanes v1 = dot(t1, dv) + dot(a1, a.angular) + dot(load(hot.slide_b1, first), b.angular),
                v2 = dot(t2, dv) + dot(a2, a.angular) + dot(load(hot.slide_b2, first), b.angular),
                turning = dot(spin_a, a.angular) + dot(load(hot.spin_b, first), b.angular);
    add_lanes(slide_1 * v1 + slide_2 * v2 + spin * turning, out.friction);
    force = force + t1 * slide_1 + t2 * slide_2;
    twist = twist + a1 * slide_1 + a2 * slide_2 + spin_a * spin;
    if (extra != nullptr) {
      // What surfaces lose by sliding is more than what bodies get, where a belt drives them.
      const Lanes driven = slide_1 * load(extra->belt_1, first) + slide_2 * load(extra->belt_2, first);
      add_lanes(driven, out.friction);
      add_lanes(none() - driven, out.led);
      const Vector rolled = t1 * load(extra->roll_1, first) + t2 * load(extra->roll_2, first);
      const Vector roll_a = fetch_inverse_root(bodies, hot.a.lane + first) * rolled,
                   roll_b = fetch_inverse_root(bodies, hot.b.lane + first) * rolled;
      add_lanes(dot(roll_b, b.angular) - dot(roll_a, a.angular), out.friction);
      twist = twist - roll_a;
    }
  }
  // Who is led works against what pushes it: of the two, the first.
  const Mask led = hn::And(hn::Gt(mass_a, none()), hn::Lt(mass_a, all(least_inverse_root)));
  if (bits_of(led) == 0) return;
  add_lanes(choose(led, dot(force, a.linear * mass_a) - dot(twist, a.angular), none()), out.led);
}

void add_work_in(ContactSlots& slots, const BlockRange& range, const BodyLines& bodies, bool bounced, ContactWork& out) {
  for_lanes(slots, range, [&](const auto& hot, const auto& cold, const ExtraBlock* extra, int first) HWY_ATTR {
    add_work(hot, cold, extra, first, bodies, bounced, out);
  });
}

void sweep_in(Pass pass, ContactSlots& slots, const BlockRange& range, BodyLines& bodies, const SweepSettings& settings) {
  switch (pass) {
    case Pass::prepare:
      return for_lanes(slots, range, [&](auto& hot, auto& cold, ExtraBlock* extra, int first) HWY_ATTR {
        prepare_block(hot, cold, extra, first, bodies, settings);
      });
    case Pass::push:
      return for_lanes(slots, range,
                       [&](auto& hot, auto&, ExtraBlock*, int first) HWY_ATTR { push_block(hot, first, bodies, settings); });
    case Pass::relax:
      return for_lanes(slots, range, [&](auto& hot, auto&, ExtraBlock* extra, int first) HWY_ATTR {
        relax_block(hot, extra, first, bodies, settings);
      });
    case Pass::bounce:
      return for_lanes(slots, range, [&](auto& hot, auto& cold, ExtraBlock*, int first) HWY_ATTR {
        bounce_block(hot, cold, first, bodies, settings);
      });
  }
}

void find_pressing_in(ContactSlots& slots, const BlockRange& range, std::vector<Pressing>& changed) {
  for_lanes(slots, range, [&](const auto& hot, auto& cold, const ExtraBlock*, int first) HWY_ATTR {
    Lanes total = none();
    for (const auto& point : hot.point) total = total + load(point.impulse, first);
    const Lanes now = choose(hn::Gt(total, none()), all(1), none()), before = load(cold.pressed, first);
    const unsigned differ = bits_of(hn::Ne(now, before));
    if (differ == 0) return;
    store(now, cold.pressed, first);
    for (unsigned bits = differ; bits != 0; bits &= bits - 1) {
      const int lane = first + std::countr_zero(bits);
      if (cold.touch.lane[lane] >= 0) changed.push_back({cold.touch.lane[lane], cold.pressed.lane[lane] > 0});
    }
  });
}

}  // namespace
}  // namespace rotule::realtime::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rotule::realtime {

HWY_EXPORT(find_moved_in);
HWY_EXPORT(sweep_in);
HWY_EXPORT(add_work_in);
HWY_EXPORT(find_pressing_in);

Softness softness(double frequency, double damping, double h) {
  const double omega = 2 * std::numbers::pi * frequency, a1 = 2 * damping + h * omega, a2 = h * omega * a1, a3 = 1 / (1 + a2);
  return {static_cast<float>(omega / a1), static_cast<float>(a2 * a3), static_cast<float>(a3)};
}

void find_moved(ContactSlots& slots, const BlockRange& range, const BodyLines& bodies, std::vector<int>& moved) {
  HWY_DYNAMIC_DISPATCH(find_moved_in)(slots, range, bodies, moved);
}
void sweep(Pass pass, ContactSlots& slots, const BlockRange& range, BodyLines& bodies, const SweepSettings& settings) {
  HWY_DYNAMIC_DISPATCH(sweep_in)(pass, slots, range, bodies, settings);
}
void add_work(ContactSlots& slots, const BlockRange& range, const BodyLines& bodies, bool bounced, ContactWork& out) {
  HWY_DYNAMIC_DISPATCH(add_work_in)(slots, range, bodies, bounced, out);
}
void find_pressing(ContactSlots& slots, const BlockRange& range, std::vector<Pressing>& changed) {
  HWY_DYNAMIC_DISPATCH(find_pressing_in)(slots, range, changed);
}

}  // namespace rotule::realtime
#endif
