// Bodies in lanes: from the state, through the substeps, back into the state; and the boxes around their parts.
#include <algorithm>
#include <cmath>

#include "step/realtime/kernels.h"
#include "step/realtime/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "step/realtime/body_kernels.cpp"  // NOLINT: how Highway compiles this file once per target
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "step/realtime/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rotule::realtime::HWY_NAMESPACE {
namespace {

/// Sixteen bodies of the state as floats, positions as a sum of two.
struct Staged {
  Rows3 high, low, v, omega;
  Row q[4];

  HWY_INLINE void put_position(int lane, const Vec3& p) {
    put(high, lane, p.x(), p.y(), p.z());
    put(low, lane, p.x() - double(high.x.lane[lane]), p.y() - double(high.y.lane[lane]), p.z() - double(high.z.lane[lane]));
  }
};

HWY_INLINE Symmetric load_symmetric(const std::vector<Row> (&columns)[6], std::size_t row, int first) {
  Symmetric s;
  for (int k = 0; k < 6; ++k) s.at[k] = load(columns[k][row], first);
  return s;
}

/// R S R^T.
HWY_INLINE Symmetric in_world(const Matrix& R, const Symmetric& s) {
  const Vector c0 = s * R.r0, c1 = s * R.r1, c2 = s * R.r2;
  return {{dot(R.r0, c0), dot(R.r0, c1), dot(R.r0, c2), dot(R.r1, c1), dot(R.r1, c2), dot(R.r2, c2)}};
}

/// The lines of `width` bodies, from what the state has of them.
HWY_INLINE void write_lines(BodyLines& bodies, std::size_t row, int first, const Staged& from) {
  const std::size_t line = row * row_lanes + first;
  const Rotation q{{load(from.q[0], first), load(from.q[1], first), load(from.q[2], first)}, load(from.q[3], first)};
  const Matrix R = matrix_of(q);
  const Symmetric inverse = in_world(R, load_symmetric(bodies.inverse_inertia_root, row, first));
  const Vector high = load(from.high, first), low = load(from.low, first);
  const auto pose = [&](int k) { return [&, k](int i) { return bodies.pose[line + i].at + 4 * k; }; };
  put_back({{high.x, high.y, high.z, low.x}}, pose(0));
  put_back({{low.y, low.z, q.v.x, q.v.y}}, pose(1));
  put_back({{q.v.z, q.w, inverse.at[0], inverse.at[1]}}, pose(2));
  put_back({{inverse.at[2], inverse.at[3], inverse.at[4], inverse.at[5]}}, pose(3));
  const Vector v = load(from.v, first) * load(bodies.mass_root[row], first);
  const Symmetric inertia = load_symmetric(bodies.inertia_root, row, first);
  const Vector w = R * (inertia * transposed_times(R, load(from.omega, first)));
  put_back({{v.x, v.y, v.z, w.x}}, [&](int i) { return bodies.motion[line + i].at; });
  put_back({{w.y, w.z, load(bodies.inverse_root[row], first), none()}}, [&](int i) { return bodies.motion[line + i].at + 4; });
}

void load_some(const State& s, std::span<const int> rows, BodyLines& bodies) {
  for (const int number : rows) {
    const auto row = static_cast<std::size_t>(number);
    Staged staged{};
    for (int lane = 0; lane < row_lanes; ++lane) {
      const int i = body_of(static_cast<int>(row) * row_lanes + lane);
      staged.q[3].lane[lane] = 1;
      if (i < 0 || i >= s.bodies()) continue;
      staged.put_position(lane, s.p[i]);
      const float* before = bodies.pose[line_of(i)].at;
      double turned = 0, moved = 0;
      for (int k = 0; k < 4; ++k) {
        staged.q[k].lane[lane] = static_cast<float>(s.theta[i].coeffs()[k]);
        turned += std::abs(double(staged.q[k].lane[lane] - before[6 + k]));
      }
      for (int k = 0; k < 3; ++k) moved += std::abs(s.p[i][k] - (double(before[k]) + double(before[3 + k])));
      const double way = std::min((moved + 2 * turned * double(bodies.arm[row].lane[lane])) / double(wander_unit), 1e9);
      bodies.wandered[row].lane[lane] = static_cast<std::int32_t>(static_cast<std::uint32_t>(bodies.wandered[row].lane[lane]) +
                                                                  static_cast<std::uint32_t>(way));
      // Of rows without anybody who goes nobody looks ahead (look_ahead): their bodies stay where they are.
      bodies.expected[row].lane[lane] = bodies.wandered[row].lane[lane];
      const double* u = s.u.data() + 6 * i;
      put(staged.v, lane, u[0], u[1], u[2]);
      put(staged.omega, lane, u[3], u[4], u[5]);
    }
    for (int first = 0; first < row_lanes; first += width) write_lines(bodies, row, first, staged);
  }
}

/// omega from its whitened form.
HWY_INLINE Vector spin_of(const Quad& m0, const Quad& m1, const Quad& p2, const Quad& p3) {
  return Symmetric{{p2.v[2], p2.v[3], p3.v[0], p3.v[1], p3.v[2], p3.v[3]}} * Vector{m0.v[3], m1.v[0], m1.v[1]};
}

void look_ahead_in(BodyLines& bodies, std::span<const int> rows, float h, float fall) {
  for (const int number : rows)
    for (int first = 0; first < row_lanes; first += width) {
      const auto row = static_cast<std::size_t>(number);
      const std::size_t line = row * row_lanes + first;
      const auto motion = [&](int k) HWY_ATTR { return fetch([&](int i) { return bodies.motion[line + i].at + 4 * k; }); };
      const auto pose = [&](int k) HWY_ATTR { return fetch([&](int i) { return bodies.pose[line + i].at + 4 * k; }); };
      const Quad m0 = motion(0), m1 = motion(1);
      const Vector v = Vector{m0.v[0], m0.v[1], m0.v[2]} * m1.v[2], omega = spin_of(m0, m1, pose(2), pose(3));
      const Lanes speed = root(dot(v, v)) + root(dot(omega, omega)) * load(bodies.arm[row], first);
      const Lanes way = choose(hn::Gt(m1.v[2], none()), all(h) * speed + all(fall), none());
      const auto far = hn::ConvertTo(WholeTag(), least(way * all(1 / wander_unit), all(1e9F)));
      hn::Store(hn::Add(far, hn::Load(WholeTag(), bodies.wandered[row].lane + first)), WholeTag(),
                bodies.expected[row].lane + first);
    }
}

/// What is less calm is burdened with nothing more; what is half as calm sheds at once what it had.
constexpr float steady = 0.5F;

void find_calm_in(BodyLines& bodies, std::span<const int> rows, float slow) {
  for (const int number : rows)
    for (int first = 0; first < row_lanes; first += width) {
      const auto row = static_cast<std::size_t>(number);
      const std::size_t line = row * row_lanes + first;
      const auto motion = [&](int k) HWY_ATTR { return fetch([&](int i) { return bodies.motion[line + i].at + 4 * k; }); };
      const auto pose = [&](int k) HWY_ATTR { return fetch([&](int i) { return bodies.pose[line + i].at + 4 * k; }); };
      const Quad m0 = motion(0), m1 = motion(1);
      const Vector v = Vector{m0.v[0], m0.v[1], m0.v[2]} * m1.v[2], omega = spin_of(m0, m1, pose(2), pose(3));
      const Lanes arm = load(bodies.arm[row], first), speed_2 = dot(v, v) + dot(omega, omega) * arm * arm;
      const Lanes calm = largest(all(1) - speed_2 * all(1 / (slow * slow)), none()),
                  mass_root = load(bodies.mass_root[row], first);
      store(calm, bodies.calm[row], first);
      store(choose(hn::Lt(calm, all(steady)), mass_root * mass_root * root(speed_2), none()), bodies.push[row], first);
    }
}

void bear_loads_in(BodyLines& bodies, std::span<const int> rows, const Burdens& burdens) {
  constexpr float up = 2, down = 0.3F, decay = 0.9F;  // of the factor: where it jumps, where it begins to fall, and how fast
  // It jumps beyond what is wanted, for as it stays until that has doubled it would lag on average.
  constexpr float beyond = 1.25F;
  for (const int number : rows)
    for (int first = 0; first < row_lanes; first += width) {
      const auto row = static_cast<std::size_t>(number);
      const std::size_t line = row * row_lanes + first;
      const auto motion = [&](int k) HWY_ATTR { return fetch([&](int i) { return bodies.motion[line + i].at + 4 * k; }); };
      const auto pose = [&](int k) HWY_ATTR { return fetch([&](int i) { return bodies.pose[line + i].at + 4 * k; }); };
      const Lanes mass_root = load(bodies.mass_root[row], first), weight = mass_root * mass_root * all(burdens.gravity);
      const Lanes before = load(bodies.burden[row], first), forces = least(load(bodies.load[row], first), all(burdens.most));
      // Half of what is more than its weight came from above, and went through it.
      const Lanes through = largest(forces - weight, none()) * all(0.5F) / largest(weight, all(1e-30F));
      if (bits_of(hn::Or(hn::Gt(through, none()), hn::Gt(before, all(1)))) == 0) continue;

      const Quad m0 = motion(0), m1 = motion(1), p2 = pose(2), p3 = pose(3);
      const Lanes calm = load(bodies.calm[row], first), wanted = all(1) + all(burdens.share) * through * calm;
      const Lanes share = largest(least(all(2 / steady) * calm - all(1), all(1)), none()),
                  kept = all(1) + (before - all(1)) * share;
      const Lanes lower = least(choose(hn::Lt(wanted, before * all(down)), largest(wanted, before * all(decay)), before), kept);
      const auto grows = hn::And(hn::Gt(wanted, before * all(up)), hn::Gt(calm, all(steady)));
      const Lanes burden = choose(hn::Gt(mass_root, none()), choose(grows, wanted * all(beyond), lower), all(1));
      store(burden, bodies.burden[row], first);
      store(choose(hn::Lt(burden, before * all(decay)), burden / before, all(1)), bodies.kept[row], first);

      // Velocities stay; whitened ones, and roots of inertias, are of the inertias in force.
      const Lanes scale = root(burden), inverse = all(1) / scale;
      put_back({{m0.v[0] * scale, m0.v[1] * scale, m0.v[2] * scale, m0.v[3] * scale}},
               [&](int i) { return bodies.motion[line + i].at; });
      put_back({{m1.v[0] * scale, m1.v[1] * scale, m1.v[2] * inverse, m1.v[3]}},
               [&](int i) { return bodies.motion[line + i].at + 4; });
      put_back({{p2.v[0], p2.v[1], p2.v[2] * inverse, p2.v[3] * inverse}}, [&](int i) { return bodies.pose[line + i].at + 8; });
      put_back({{p3.v[0] * inverse, p3.v[1] * inverse, p3.v[2] * inverse, p3.v[3] * inverse}},
               [&](int i) { return bodies.pose[line + i].at + 12; });
    }
}

/// work(line) for all lines of these rows.
template <class Work>
HWY_INLINE void for_each_line(std::span<const int> rows, const Work& work) {
  for (const int row : rows)
    for (int i = row * row_lanes; i < (row + 1) * row_lanes; ++i) work(i);
}

void begin_step_in(BodyLines& bodies, std::span<const int> rows) {
  for_each_line(rows, [&](int i) HWY_ATTR {
    float* HWY_RESTRICT motion = bodies.motion[i].at;
    float* HWY_RESTRICT last = bodies.last[i].at;
    const float* HWY_RESTRICT kick = bodies.kick[i].at;
    for (int k = 0; k < 8; ++k) {
      last[k] = motion[k];
      motion[k] += kick[k];
      motion[k + 8] = 0;
    }
  });
}

void begin_substep_in(BodyLines& bodies, std::span<const int> rows) {
  for_each_line(rows, [&](int i) HWY_ATTR {
    float* HWY_RESTRICT motion = bodies.motion[i].at;
    float* HWY_RESTRICT last = bodies.last[i].at;
    for (int k = 0; k < 8; ++k) {
      const float now = motion[k];
      motion[k] = 2 * now - last[k];
      last[k] = now;
    }
  });
}

void advance_in(BodyLines& bodies, std::span<const int> rows, float h) {
  for_each_line(rows, [&](int i) HWY_ATTR {
    float* HWY_RESTRICT motion = bodies.motion[i].at;
    for (int k = 0; k < 8; ++k) motion[k + 8] += h * motion[k];
  });
}

void find_fast_in(const BodyLines& bodies, std::span<const int> rows, std::vector<int>& fast) {
  for (const int number : rows)
    for (int first = 0; first < row_lanes; first += width) {
      const auto row = static_cast<std::size_t>(number);
      const std::size_t line = row * row_lanes + first;
      const auto motion = [&](int k) HWY_ATTR { return fetch([&](int i) { return bodies.motion[line + i].at + 4 * k; }); };
      const auto pose = [&](int k) HWY_ATTR { return fetch([&](int i) { return bodies.pose[line + i].at + 4 * k; }); };
      const Quad m1 = motion(1), m2 = motion(2), m3 = motion(3);
      const Vector dp = Vector{m2.v[0], m2.v[1], m2.v[2]} * m1.v[2], theta = spin_of(m2, m3, pose(2), pose(3));
      const Lanes way = root(dot(dp, dp)) + root(dot(theta, theta)) * load(bodies.arm[row], first);
      for (unsigned rest = bits_of(hn::Gt(way, load(bodies.core[row], first))); rest != 0; rest &= rest - 1)
        fast.push_back(static_cast<int>(line) + std::countr_zero(rest));
    }
}

/// Of motion, with the inertia that bodies have, whatever they are burdened with.
HWY_INLINE Lanes energy_of(const BodyLines& bodies, std::size_t row, int first, const Quad& m0, const Quad& m1) {
  const Lanes square =
      m0.v[0] * m0.v[0] + m0.v[1] * m0.v[1] + m0.v[2] * m0.v[2] + m0.v[3] * m0.v[3] + m1.v[0] * m1.v[0] + m1.v[1] * m1.v[1];
  return all(0.5F) * square / load(bodies.burden[row], first);
}

void note_energy_in(BodyLines& bodies, std::span<const int> rows) {
  for (const int number : rows)
    for (int first = 0; first < row_lanes; first += width) {
      const auto row = static_cast<std::size_t>(number);
      const std::size_t line = row * row_lanes + first;
      const auto motion = [&](int k) HWY_ATTR { return fetch([&](int i) { return bodies.motion[line + i].at + 4 * k; }); };
      store(energy_of(bodies, row, first, motion(0), motion(1)), bodies.energy[row], first);
    }
}

void find_gaining_in(const BodyLines& bodies, std::span<const int> rows, const Vec3& gravity, float slow,
                     std::vector<int>& gaining) {
  constexpr float share = 0.05F;
  const Lanes g[3] = {all(static_cast<float>(gravity.x())), all(static_cast<float>(gravity.y())),
                      all(static_cast<float>(gravity.z()))};
  for (const int number : rows)
    for (int first = 0; first < row_lanes; first += width) {
      const auto row = static_cast<std::size_t>(number);
      const std::size_t line = row * row_lanes + first;
      const auto motion = [&](int k) HWY_ATTR { return fetch([&](int i) { return bodies.motion[line + i].at + 4 * k; }); };
      const Quad m0 = motion(0), m1 = motion(1), m2 = motion(2);
      const Lanes mass_root = load(bodies.mass_root[row], first), mass = mass_root * mass_root;
      const Lanes energy = energy_of(bodies, row, first, m0, m1);
      const Lanes fall = (g[0] * m2.v[0] + g[1] * m2.v[1] + g[2] * m2.v[2]) * m1.v[2];
      const Lanes had = load(bodies.energy[row], first) + mass * largest(fall, none());
      const auto gains = hn::And(hn::Gt(energy, all(1 + share) * had), hn::Gt(energy, mass * all(0.5F * slow * slow)));
      for (unsigned rest = bits_of(gains); rest != 0; rest &= rest - 1)
        gaining.push_back(static_cast<int>(line) + std::countr_zero(rest));
    }
}

/// q turned by the vector theta: series of sine and cosine of half of it, good to a float's rounding up to half a turn.
HWY_INLINE Rotation turned_by(const Vector& theta, const Rotation& q) {
  const Lanes x = dot(theta, theta) * all(0.25F);
  const auto series = [&](const float(&c)[7]) HWY_ATTR {
    Lanes sum = all(c[6]);
    for (int k = 5; k >= 0; --k) sum = sum * x + all(c[k]);
    return sum;
  };
  constexpr float cosine[7] = {1, -1 / 2.F, 1 / 24.F, -1 / 720.F, 1 / 40320.F, -1 / 3628800.F, 1 / 479001600.F};
  constexpr float sine[7] = {1, -1 / 6.F, 1 / 120.F, -1 / 5040.F, 1 / 362880.F, -1 / 39916800.F, 1 / 6227020800.F};
  const Lanes c = series(cosine);
  const Vector a = theta * (series(sine) * all(0.5F));
  const Rotation out{q.v * c + a * q.w + cross(a, q.v), c * q.w - dot(a, q.v)};
  const Lanes inverse = all(1) / root(dot(out.v, out.v) + out.w * out.w);
  return {out.v * inverse, out.w * inverse};
}

bool finish_in(BodyLines& bodies, std::span<const int> rows, float h, State& s) {
  bool all_finite = true;
  for (const int number : rows) {
    const auto row = static_cast<std::size_t>(number);
    bool finite = true;
    Staged staged{};  // lines of nobody stay at the origin
    Rows3 moved;
    alignas(64) std::int32_t way[row_lanes];
    for (int first = 0; first < row_lanes; first += width) {
      const std::size_t line = row * row_lanes + first;
      const auto motion = [&](int k) HWY_ATTR { return fetch([&](int i) { return bodies.motion[line + i].at + 4 * k; }); };
      const auto pose = [&](int k) HWY_ATTR { return fetch([&](int i) { return bodies.pose[line + i].at + 4 * k; }); };
      const Quad m0 = motion(0), m1 = motion(1), m2 = motion(2), m3 = motion(3), p1 = pose(1), p2 = pose(2), p3 = pose(3);
      const Symmetric inverse{{p2.v[2], p2.v[3], p3.v[0], p3.v[1], p3.v[2], p3.v[3]}};
      const Vector dp = Vector{m2.v[0], m2.v[1], m2.v[2]} * m1.v[2], v = Vector{m0.v[0], m0.v[1], m0.v[2]} * m1.v[2];
      const Vector spin = inverse * Vector{m0.v[3], m1.v[0], m1.v[1]};
      store(m1.v[3] * all(1 / h), bodies.load[row], first);
      const Rotation before{{p1.v[2], p1.v[3], p2.v[0]}, p2.v[1]};
      const Matrix R0 = matrix_of(before);
      const Symmetric inertia_root = load_symmetric(bodies.inertia_root, row, first),
                      inverse_root = load_symmetric(bodies.inverse_inertia_root, row, first);

      // What turns on its own has its own inertia, whatever it was burdened with. About no principal axis it turns by the
      // velocity of the step's middle: omega' = I^-1 (L x omega).
      const Vector b0 = inertia_root * transposed_times(R0, spin), L = R0 * (inertia_root * b0);
      const Lanes quick = all(0.5F * h * h) / (all(1) + all(h * h) * dot(spin, spin));
      const Vector swerve = R0 * (inverse_root * (inverse_root * transposed_times(R0, cross(L, spin))));
      const Vector theta = inverse * Vector{m2.v[3], m3.v[0], m3.v[1]} + swerve * quick;
      const Rotation after = turned_by(theta, before);
      const Matrix R = matrix_of(after);

      // The angular momentum stays while the body turns; where that would bring more energy, the energy stays. Rounding must
      // not add up to a gain either.
      constexpr float rounding = 1 - 1e-6F;
      const Vector b = inverse_root * transposed_times(R, L);
      const Lanes excess = dot(b, b), energy = dot(b0, b0);
      const Lanes keep = choose(hn::Gt(excess, energy), root(energy / largest(excess, all(1e-30F))), all(1));
      const Vector omega = R * (inverse_root * (b * (keep * all(rounding))));

      store(dp, moved, first);
      store(v, staged.v, first);
      store(omega, staged.omega, first);
      store(after.v.x, staged.q[0], first);
      store(after.v.y, staged.q[1], first);
      store(after.v.z, staged.q[2], first);
      store(after.w, staged.q[3], first);
      const Lanes turning = root(dot(theta, theta)) * load(bodies.arm[row], first);
      const Lanes far = least((root(dot(dp, dp)) + turning) * all(1 / wander_unit), all(1e9F));
      hn::Store(hn::ConvertTo(WholeTag(), far), WholeTag(), way + first);
      // Not a number, or more than any scene can mean.
      const Lanes size = dot(dp, dp) + dot(v, v) + dot(omega, omega) + dot(theta, theta) + dot(after.v, after.v);
      finite = finite && bits_of(hn::Not(hn::Lt(size, all(1e30F)))) == 0;
    }
    all_finite = all_finite && finite;
    if (!finite) continue;  // they stay where they were, and all numbers are numbers
    for (int lane = 0; lane < row_lanes; ++lane) {
      const int i = body_of(static_cast<int>(row) * row_lanes + lane);
      if (i < 0 || i >= s.bodies()) continue;
      if (bodies.inverse_root[row].lane[lane] > 0) {
        s.p[i] += Vec3(moved.x.lane[lane], moved.y.lane[lane], moved.z.lane[lane]);
        for (int k = 0; k < 4; ++k) s.theta[i].coeffs()[k] = staged.q[k].lane[lane];
        double* u = s.u.data() + 6 * i;
        u[0] = staged.v.x.lane[lane], u[1] = staged.v.y.lane[lane], u[2] = staged.v.z.lane[lane];
        u[3] = staged.omega.x.lane[lane], u[4] = staged.omega.y.lane[lane], u[5] = staged.omega.z.lane[lane];
        bodies.wandered[row].lane[lane] =
            static_cast<std::int32_t>(static_cast<std::uint32_t>(bodies.wandered[row].lane[lane]) + std::uint32_t(way[lane]) + 1);
      } else {
        for (int k = 0; k < 4; ++k) staged.q[k].lane[lane] = static_cast<float>(s.theta[i].coeffs()[k]);
      }
      staged.put_position(lane, s.p[i]);
    }
    for (int first = 0; first < row_lanes; first += width) write_lines(bodies, row, first, staged);
  }
  return all_finite;
}

void find_left_in(ProxyBoxes& boxes, const BodyLines& bodies, std::span<const int> rows, float h, std::vector<int>& left) {
  constexpr float steps_ahead = 4;  // that a new box is good for
  for (const int number : rows)
    for (int first = 0; first < row_lanes; first += width) {
      const auto row = static_cast<std::size_t>(number);
      const std::int32_t* lines = boxes.line[row].lane + first;
      const auto pose = [&](int k) HWY_ATTR { return fetch([&](int i) { return bodies.pose[lines[i]].at + 4 * k; }); };
      const auto motion = [&](int k) HWY_ATTR { return fetch([&](int i) { return bodies.motion[lines[i]].at + 4 * k; }); };
      const Quad p0 = pose(0), p1 = pose(1), p2 = pose(2), m0 = motion(0), m1 = motion(1);
      const Matrix R = matrix_of({{p1.v[2], p1.v[3], p2.v[0]}, p2.v[1]});
      const Vector half = load(boxes.half[row], first), position{p0.v[0], p0.v[1], p0.v[2]};
      const Vector centre = position + R * load(boxes.centre[row], first);
      const auto extent = [&](const Vector& r)
                              HWY_ATTR { return hn::Abs(r.x) * half.x + hn::Abs(r.y) * half.y + hn::Abs(r.z) * half.z; };
      // Far from the origin a float's rounding counts.
      const Vector v = Vector{m0.v[0], m0.v[1], m0.v[2]} * m1.v[2], omega = spin_of(m0, m1, p2, pose(3));
      const Lanes swing = all(h) * root(dot(omega, omega) * (dot(half, half)));
      const Lanes rounding = load(boxes.rounding[row], first) + all(4e-7F) * root(dot(position, position)) + swing;
      const Vector reach{extent(R.r0) + rounding, extent(R.r1) + rounding, extent(R.r2) + rounding};
      const Vector way = v * all(h);
      const Vector low = centre - reach, high = centre + reach;
      const auto lower = [&](Lanes x, Lanes d) HWY_ATTR { return x + least(d, none()); };
      const auto higher = [&](Lanes x, Lanes d) HWY_ATTR { return x + largest(d, none()); };
      const Vector out_low = load(boxes.low[row], first) - Vector{lower(low.x, way.x), lower(low.y, way.y), lower(low.z, way.z)},
                   out_high =
                       Vector{higher(high.x, way.x), higher(high.y, way.y), higher(high.z, way.z)} - load(boxes.high[row], first);
      const Lanes out =
          largest(largest(largest(out_low.x, out_low.y), out_low.z), largest(largest(out_high.x, out_high.y), out_high.z));
      const unsigned bits = bits_of(hn::Gt(out, none()));
      if (bits == 0) continue;
      const Vector far = way * all(steps_ahead);
      const Lanes fat = load(boxes.fat[row], first);
      Rows3 new_low, new_high;
      store(Vector{lower(low.x, far.x) - fat, lower(low.y, far.y) - fat, lower(low.z, far.z) - fat}, new_low, first);
      store(Vector{higher(high.x, far.x) + fat, higher(high.y, far.y) + fat, higher(high.z, far.z) + fat}, new_high, first);
      for (unsigned rest = bits; rest != 0; rest &= rest - 1) {
        const int lane = first + std::countr_zero(rest), proxy = static_cast<int>(row) * row_lanes + lane;
        if (proxy >= boxes.count) break;
        put(boxes.low[row], lane, new_low.x.lane[lane], new_low.y.lane[lane], new_low.z.lane[lane]);
        put(boxes.high[row], lane, new_high.x.lane[lane], new_high.y.lane[lane], new_high.z.lane[lane]);
        left.push_back(proxy);
      }
    }
}

}  // namespace
}  // namespace rotule::realtime::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rotule::realtime {

void mark(BodyLines& bodies, std::span<const int> rows) {
  for (const int row : rows)
    for (int i = row * row_lanes; i < (row + 1) * row_lanes; ++i) std::copy_n(bodies.motion[i].at, 8, bodies.last[i].at);
}

HWY_EXPORT(load_some);
HWY_EXPORT(look_ahead_in);
HWY_EXPORT(find_calm_in);
HWY_EXPORT(bear_loads_in);
HWY_EXPORT(begin_step_in);
HWY_EXPORT(begin_substep_in);
HWY_EXPORT(advance_in);
HWY_EXPORT(note_energy_in);
HWY_EXPORT(find_gaining_in);
HWY_EXPORT(find_fast_in);
HWY_EXPORT(finish_in);
HWY_EXPORT(find_left_in);

void load_rows(const State& s, std::span<const int> rows, BodyLines& bodies) { HWY_DYNAMIC_DISPATCH(load_some)(s, rows, bodies); }
void load_bodies(const State& s, BodyLines& bodies) { load_rows(s, bodies.every_row, bodies); }
void look_ahead(BodyLines& bodies, std::span<const int> rows, float h, float fall) {
  HWY_DYNAMIC_DISPATCH(look_ahead_in)(bodies, rows, h, fall);
}
void find_calm(BodyLines& bodies, std::span<const int> rows, float slow) {
  HWY_DYNAMIC_DISPATCH(find_calm_in)(bodies, rows, slow);
}
void bear_loads(BodyLines& bodies, std::span<const int> rows, const Burdens& burdens) {
  HWY_DYNAMIC_DISPATCH(bear_loads_in)(bodies, rows, burdens);
}
void begin_step(BodyLines& bodies, std::span<const int> rows) { HWY_DYNAMIC_DISPATCH(begin_step_in)(bodies, rows); }
void begin_substep(BodyLines& bodies, std::span<const int> rows) { HWY_DYNAMIC_DISPATCH(begin_substep_in)(bodies, rows); }
void advance(BodyLines& bodies, std::span<const int> rows, float h) { HWY_DYNAMIC_DISPATCH(advance_in)(bodies, rows, h); }
void note_energy(BodyLines& bodies, std::span<const int> rows) { HWY_DYNAMIC_DISPATCH(note_energy_in)(bodies, rows); }
void find_gaining(const BodyLines& bodies, std::span<const int> rows, const Vec3& gravity, float slow,
                  std::vector<int>& gaining) {
  HWY_DYNAMIC_DISPATCH(find_gaining_in)(bodies, rows, gravity, slow, gaining);
}
void find_fast(const BodyLines& bodies, std::span<const int> rows, std::vector<int>& fast) {
  HWY_DYNAMIC_DISPATCH(find_fast_in)(bodies, rows, fast);
}
bool finish_bodies(BodyLines& bodies, std::span<const int> rows, float h, State& s) {
  return HWY_DYNAMIC_DISPATCH(finish_in)(bodies, rows, h, s);
}
void find_left(ProxyBoxes& boxes, const BodyLines& bodies, std::span<const int> rows, float h, std::vector<int>& left) {
  HWY_DYNAMIC_DISPATCH(find_left_in)(boxes, bodies, rows, h, left);
}

void ProxyBoxes::resize(int proxies) {
  const int rows = rows_for(proxies);
  line.resize(rows);
  for (auto* column : {&centre, &half, &low, &high}) column->resize(rows);
  for (auto* column : {&rounding, &fat}) column->resize(rows);
  for (int i = std::min(count, proxies); i < rows * row_lanes; ++i) {
    const int row = i / row_lanes, lane = i % row_lanes;
    line[row].lane[lane] = nobody;
    for (auto* column : {&centre, &half}) put((*column)[row], lane, 0, 0, 0);
    put(low[row], lane, -1e30, -1e30, -1e30);
    put(high[row], lane, 1e30, 1e30, 1e30);
    rounding[row].lane[lane] = fat[row].lane[lane] = 0;
  }
  count = proxies;
}

}  // namespace rotule::realtime
#endif
