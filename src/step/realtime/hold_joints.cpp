// Joints within a substep: one solve, and the bounds of drives.
#include <algorithm>
#include <cmath>

#include "step/realtime/articulations.h"

namespace rotule::realtime {

namespace {

constexpr int most_sortings = 4;     // of drives by their bounds, in a substep
constexpr double limit_share = 0.2;  // of what is beyond a limit, taken back in a substep

/// Of a drive's single row.
template <class Group, class Node>
void push_one(Group& group, const Node& node, double x) {
  for (int k = node.first_side; k < node.first_side + node.sides; ++k)
    add_rows_of<1>(group.W.data() + group.sides[k].values, 1, &x, group.w.data() + 6 * group.sides[k].body);
}

}  // namespace

double Articulations::along(const Group& group, const Node& node, const std::vector<double>& of) {
  double sum = 0;
  for (int k = node.first_side; k < node.first_side + node.sides; ++k) {
    const double *W = group.W.data() + group.sides[k].values, *w = of.data() + 6 * group.sides[k].body;
    for (int n = 0; n < 6; ++n) sum += W[n] * w[n];
  }
  return sum;
}

void Articulations::prepare(BodyLines& bodies, Stages& stages) {
  for_each_group(stages, [&](int i, int) {
    Group& group = groups_[i];
    const VecX& x = answers_[i].x;
    whiten(bodies, group);
    refactor(group);
    std::fill(group.w.begin(), group.w.end(), 0.0);
    for (int k = 0; k < static_cast<int>(group.nodes.size()); ++k) {
      const Node& node = group.nodes[k];
      push(group, node, k < group.joints ? x.data() + node.first_row : group.drive_x.data() + k - group.joints, group.w);
    }
    for (std::size_t b = 0; b < group.lines.size(); ++b)
      for (int n = 0; n < 6; ++n) bodies.motion[group.lines[b]].at[n] += static_cast<float>(group.w[6 * b + n]);
  });
}

/// w = W w + bias, by where the axis has come to within the step.
double Articulations::drive_bias(const Group& group, int k) const {
  const DriveRow& row = drives_[group.drives[k]];
  const Node& node = group.nodes[group.joints + k];
  const double rate = along(group, node, group.w), way = along(group, node, group.moved) - group.led[k];
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
bool Articulations::sort_drives(Group& group, bool first_round) {
  bool changed = false;
  for (int k = 0; k < static_cast<int>(group.drives.size()); ++k) {
    const DriveRow& row = drives_[group.drives[k]];
    const Node& node = group.nodes[group.joints + k];
    double& x = group.drive_x[k];
    double& bias = group.bias[node.first_row];
    if (first_round) bias = drive_bias(group, k);
    double own = row.compliance;
    for (int side = 0; side < node.sides; ++side) {
      const double* W = group.W.data() + group.sides[node.first_side + side].values;
      for (int n = 0; n < 6; ++n) own += W[n] * W[n];
    }
    const double wrong = along(group, node, group.w) + bias + row.compliance * x;
    const double wanted = own > 0 ? x - wrong / own : x;
    const bool held = wanted > row.lower && wanted < row.upper;
    if (held != (group.held[k] != 0)) changed = true;
    group.held[k] = held ? 1 : 0;
    if (held) continue;
    const double bound = wanted <= row.lower ? row.lower : row.upper;
    const double rest = bound - x;
    push_one(group, node, rest);
    x = bound;
  }
  return changed;
}

void Articulations::hold_group(Group& group, VecX& x, BodyLines& bodies, bool drifts) {
  const auto fetch = [&](std::vector<double>& to, int first) {
    for (std::size_t b = 0; b < group.lines.size(); ++b)
      for (int n = 0; n < 6; ++n) to[6 * b + n] = bodies.motion[group.lines[b]].at[first + n];
  };
  fetch(group.w, 0);
  if (drifts || !group.drives.empty()) fetch(group.moved, 8);
  const int nodes = static_cast<int>(group.nodes.size());
  const int rounds = group.drives.empty() ? 1 : most_sortings;
  for (int round = 0; round < rounds; ++round) {
    if (!group.drives.empty()) {
      const bool changed = sort_drives(group, round == 0);
      if (changed) refactor(group);
      if (round > 0 && !changed) break;
    }
    // -(W w + b): what is wrong.
    for (int k = 0; k < nodes; ++k) {
      const Node& node = group.nodes[k];
      double* rhs = group.rhs.data() + node.first_row;
      const double* bias = group.bias.data() + node.first_row;
      const int drive = k - group.joints;
      if (drive >= 0) {
        rhs[0] = 0;
        if (group.held[drive] == 0) continue;
        rhs[0] = -drives_[group.drives[drive]].compliance * group.drive_x[drive];
      }
      for (int r = 0; r < node.rows; ++r) rhs[r] = (drive >= 0 ? rhs[r] : 0) - bias[r];
      for (int side = node.first_side; side < node.first_side + node.sides; ++side) {
        take_rows(group.W.data() + group.sides[side].values, node.rows, group.w.data() + 6 * group.sides[side].body, rhs);
      }
    }
    group.factor.solve(group.rhs.data());
    for (int r = 0; r < group.joint_rows; ++r) x[r] += group.rhs[r];
    for (std::size_t k = 0; k < group.drives.size(); ++k) group.drive_x[k] += group.rhs[group.joint_rows + k];
    for (const Node& node : group.nodes) push(group, node, group.rhs.data() + node.first_row, group.w);
  }
  // Whoever is still beyond its bounds after the last round gives up the rest.
  for (std::size_t k = 0; k < group.drives.size(); ++k) {
    DriveRow& row = drives_[group.drives[k]];
    const double within = std::clamp(group.drive_x[k], row.lower, row.upper);
    if (const double rest = within - group.drive_x[k]; rest != 0) push_one(group, group.nodes[group.joints + k], rest);
    group.drive_x[k] = row.x = within;
  }
  for (std::size_t b = 0; b < group.lines.size(); ++b)
    for (int n = 0; n < 6; ++n) bodies.motion[group.lines[b]].at[n] = static_cast<float>(group.w[6 * b + n]);
  if (drifts) take_out_drift(group, bodies);
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
