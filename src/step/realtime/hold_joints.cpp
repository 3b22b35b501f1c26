// Joints within a substep: one solve, and the bounds of drives.
#include <algorithm>
#include <cmath>

#include "step/realtime/articulations.h"

namespace rotule::realtime {

namespace {

constexpr int most_sortings = 4;     // of drives by their bounds, in a substep
constexpr double limit_share = 0.2;  // of what is beyond a limit, taken back in a substep

}  // namespace

void Articulations::prepare(BodyLines& bodies, Stages& stages) {
  for_each_group(stages, [&](int i, int) {
    Group& group = groups_[i];
    const VecX& x = answers_[i].x;
    whiten(bodies, group);
    refactor(group);
    std::fill(group.w.begin(), group.w.end(), 0.0);
    for (int k = 0; k < static_cast<int>(group.nodes.size()); ++k) {
      const Node& node = group.nodes[k];
      push(group, node, k < group.joints ? x.data() + node.first_row : group.drive_x.data() + k - group.joints);
    }
    add_impulses(group, bodies);
  });
}

/// w = W w + bias, by where the axis has come to within the step.
double Articulations::drive_bias(const Group& group, int k, const BodyLines& bodies) const {
  const DriveRow& row = drives_[group.drives[k]];
  const Node& node = group.nodes[group.joints + k];
  const double rate = along(group, node, bodies.motion), way = along(group, node, bodies.motion, 8) - group.led[k];
  const auto drive = [&]() -> const Drive& {
    const auto& all = model_.joints[row.joint].drives;
    return std::find_if(all.begin(), all.end(), [&](const auto& axis) { return axis.axis == row.axis; })->drive;
  };
  switch (row.kind) {
    case DriveRow::Kind::lower:
    case DriveRow::Kind::upper: {
      const double room = way - row.overshoot, restitution = drive().restitution;
      if (restitution > 0 && rate < 0 && room + part_ * rate < 0) return restitution * rate + row.given;
      return (room > 0 ? room / part_ : std::max(limit_share * room / part_, -push_speed_)) + row.given;
    }
    case DriveRow::Kind::spring: {
      const Drive& of = drive();
      return row.bias + way * of.stiffness / (part_ * of.stiffness + of.damping);
    }
    default:
      return row.bias;
  }
}

/// Who is solved for, by what it has and what it wants; who is not gets its bound. Whether somebody changed sides.
bool Articulations::sort_drives(Group& group, bool first_round, BodyLines& bodies) {
  bool changed = false;
  for (int k = 0; k < static_cast<int>(group.drives.size()); ++k) {
    const DriveRow& row = drives_[group.drives[k]];
    const Node& node = group.nodes[group.joints + k];
    double& x = group.drive_x[k];
    double& bias = group.bias[node.first_row];
    if (first_round) bias = drive_bias(group, k, bodies);
    double own = row.compliance;
    for (int side = 0; side < node.sides; ++side) {
      const double* W = group.W.data() + group.sides[node.first_side + side].values;
      for (int n = 0; n < 6; ++n) own += W[n] * W[n];
    }
    const double wrong = along(group, node, bodies.motion) + bias + row.compliance * x;
    const double wanted = own > 0 ? x - wrong / own : x;
    const bool held = wanted > row.lower && wanted < row.upper;
    if (held != (group.held[k] != 0)) changed = true;
    group.held[k] = held ? 1 : 0;
    if (held) continue;
    const double bound = wanted <= row.lower ? row.lower : row.upper;
    const double rest = bound - x;
    push(group, node, &rest, bodies, 0);
    x = bound;
  }
  return changed;
}

template <bool points>
void Articulations::find_wrong(Group& group, const BodyLines& bodies) {
  for (int k = 0; k < group.joints; ++k) {
    const Node& node = group.nodes[k];
    for (int from = 0; from < node.rows; from += 4) {
      Four wrong{};
      for (int side = node.first_side; side < node.first_side + node.sides; ++side)
        take_rows<points>(group.lanes[group.sides[side].lanes + from / 4], bodies.motion[group.lines[group.sides[side].body]].at,
                          wrong);
      double* rhs = group.rhs.data() + node.first_row;
      const double* bias = group.bias.data() + node.first_row;
      if (points || node.rows == 3) {
        for (int r = 0; r < 3; ++r) rhs[r] = double(wrong[r]) - bias[r];
      } else {
        for (int r = from; r < std::min(node.rows, from + 4); ++r) rhs[r] = double(wrong[r - from]) - bias[r];
      }
    }
  }
}

void Articulations::hold_group(Group& group, VecX& x, BodyLines& bodies, bool drifts) {
  const int rounds = group.drives.empty() ? 1 : most_sortings;
  for (int round = 0; round < rounds; ++round) {
    if (!group.drives.empty()) {
      const bool changed = sort_drives(group, round == 0, bodies);
      if (changed) refactor(group);
      if (round > 0 && !changed) break;
    }
    group.balls ? find_wrong<true>(group, bodies) : find_wrong<false>(group, bodies);
    for (std::size_t k = 0; k < group.drives.size(); ++k) {
      const Node& node = group.nodes[group.joints + k];
      group.rhs[node.first_row] = group.held[k] == 0 ? 0
                                                     : -along(group, node, bodies.motion) - group.bias[node.first_row] -
                                                           drives_[group.drives[k]].compliance * group.drive_x[k];
    }
    group.factor.solve(group.rhs.data());
    for (int r = 0; r < group.joint_rows; ++r) x[r] += group.rhs[r];
    for (std::size_t k = 0; k < group.drives.size(); ++k) group.drive_x[k] += group.rhs[group.joint_rows + k];
    group.balls ? push_all<true>(group, bodies, 0) : push_all<false>(group, bodies, 0);
  }
  // Whoever is still beyond its bounds after the last round gives up the rest.
  for (std::size_t k = 0; k < group.drives.size(); ++k) {
    DriveRow& row = drives_[group.drives[k]];
    const double within = std::clamp(group.drive_x[k], row.lower, row.upper);
    if (const double rest = within - group.drive_x[k]; rest != 0) push(group, group.nodes[group.joints + k], &rest, bodies, 0);
    group.drive_x[k] = row.x = within;
  }
  if (drifts) take_out_drift(group, bodies);
}

/// What joints pass on of right-hand sides in rhs: those of drives that are at their bounds are no part of it.
void Articulations::pass_on(Group& group) {
  group.factor.solve(group.rhs.data());
  std::ranges::fill(group.w, 0.0);
  for (int k = 0; k < static_cast<int>(group.nodes.size()); ++k)
    if (k < group.joints || group.held[k - group.joints] != 0)
      push(group, group.nodes[k], group.rhs.data() + group.nodes[k].first_row);
}

double Articulations::stop(int number, int line, const Vec3& lever, const Vec3& normal, double speed, BodyLines& bodies) {
  Group& group = groups_[number];
  const double before = motion_energy(group, bodies);
  // Velocities are those of the step's middle: first as joints have them where it stops.
  for (int k = 0; k < static_cast<int>(group.nodes.size()); ++k) {
    const Node& node = group.nodes[k];
    for (int r = 0; r < node.rows; ++r) {
      double& wrong = group.rhs[node.first_row + r] = 0;
      if (k >= group.joints) continue;
      wrong = -group.values.C_t[node.first_row + r];
      for (int side = node.first_side; side < node.first_side + node.sides; ++side) {
        const double* W = group.W.data() + group.sides[side].values + 6 * r;
        const float* w = bodies.motion[group.lines[group.sides[side].body]].at;
        for (int n = 0; n < 6; ++n) wrong -= W[n] * double(w[n]);
      }
    }
  }
  pass_on(group);
  add_impulses(group, bodies);

  Vec6 row;
  row << double(bodies.motion[line].at[6]) * normal, inverse_inertia_root(bodies.pose[line].at) * lever.cross(normal);
  double closing = -speed;
  for (int n = 0; n < 6; ++n) closing += row[n] * double(bodies.motion[line].at[n]);
  if (closing > 0) {
    // What a blow of 1 N s does to velocities, by the joints to all of them.
    const auto body = static_cast<int>(std::ranges::lower_bound(group.lines, line) - group.lines.begin());
    std::ranges::fill(group.rhs, 0.0);
    for (int k = 0; k < static_cast<int>(group.nodes.size()); ++k) {
      const Node& node = group.nodes[k];
      if (k >= group.joints && group.held[k - group.joints] == 0) continue;
      for (int side = node.first_side; side < node.first_side + node.sides; ++side)
        if (group.sides[side].body == body)
          for (int r = 0; r < node.rows; ++r)
            group.rhs[node.first_row + r] -= row.dot(Eigen::Map<const Vec6>(group.W.data() + group.sides[side].values + 6 * r));
    }
    pass_on(group);
    Eigen::Map<Vec6> own(group.w.data() + 6 * static_cast<std::ptrdiff_t>(body));
    own += row;
    const double impulse = closing / row.dot(own);
    for (double& w : group.w) w *= -impulse;
    add_impulses(group, bodies);
  }
  // Joints as the factor has them are those of another pose than this one: where that brings energy, it is not kept.
  const double after = motion_energy(group, bodies);
  if (!(after > before)) return before - after;
  const auto share = static_cast<float>(std::sqrt(before / after));
  for (const int each : group.lines)
    for (int n = 0; n < 6; ++n) bodies.motion[each].at[n] *= share;
  return 0;
}

double Articulations::motion_energy(const Group& group, const BodyLines& bodies) {
  double square = 0;
  for (const int line : group.lines)
    for (int n = 0; n < 6; ++n) square += double(bodies.motion[line].at[n]) * double(bodies.motion[line].at[n]);
  return 0.5 * square;
}

double Articulations::judge(const BodyLines& bodies, std::int64_t step) const {
  constexpr int few = 32, share = 8;
  constexpr double rounding_share = 1e-4;  // as of contacts
  int joints = 0;
  for (const int i : awake_) joints += groups_[i].joints;
  const int stride = joints > few ? share : 1;
  double worst = 0;
  int next = static_cast<int>(step % stride);  // counted from the first of the group at hand
  for (const int i : awake_) {
    const Group& group = groups_[i];
    for (; next < group.joints; next += stride) worst = std::max(worst, judge(group, group.nodes[next], bodies, rounding_share));
    next -= group.joints;
  }
  return worst;
}

double Articulations::judge(const Group& group, const Node& node, const BodyLines& bodies, double rounding_share) {
  double worst = 0;
  for (int r = 0; r < node.rows; ++r) {
    double wrong = group.bias[node.first_row + r], got = 0, stake = 1e-60;
    for (int i = node.first_side; i < node.first_side + node.sides; ++i) {
      const double* W = group.W.data() + group.sides[i].values + 6 * r;
      const float *w = bodies.motion[group.lines[group.sides[i].body]].at,
                  *change = bodies.last[group.lines[group.sides[i].body]].at;
      double length = 0, speed = 0;
      for (int n = 0; n < 6; ++n) {
        wrong += W[n] * double(w[n]);
        got += W[n] * double(change[n]);
        length += W[n] * W[n];
        speed += double(w[n]) * double(w[n]);
      }
      stake += length * (double(change[6] * change[6] + change[7] * change[7]) + rounding_share * rounding_share * speed);
    }
    worst = std::max(worst, std::abs(wrong) / (std::sqrt(stake) + std::abs(got - wrong)));
  }
  return worst;
}

void Articulations::hold(const State& s, double t, int part, BodyLines& bodies, Stages& stages) {
  const double now = t + part * part_;
  if (part > 0 && any_quick()) place_led(s, now - start_);
  for_each_group(stages, [&](int i, int) {
    Group& group = groups_[i];
    if (part > 0 && group.quick) follow(s, now, linkages_[i], group, answers_[i].x, bodies);
    hold_group(group, answers_[i].x, bodies, part == 0 || group.quick);
    // What was struck may turn fast from now on.
    group.quick = group.quick || turns_fast(group, bodies);
  });
}

}  // namespace rotule::realtime
