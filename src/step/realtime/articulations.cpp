// Joints: how they hang together, and their rows at the start of a step.
#include "step/realtime/articulations.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include "math/rotation.h"

namespace rotule::realtime {

namespace {

constexpr double pivot_tolerance = 1e-10;  // below this share of its diagonal, a row follows from others
/// Of the speed at which overlaps are pushed out: drift leaves no speed behind, and may go faster.
constexpr double most_drift = 4;
/// Joints that are open by more than this share of their reach are told of.
constexpr double open_share = 0.02;

}  // namespace

void Articulations::rebuild() {
  std::vector<Group> before = std::exchange(groups_, {});
  const std::vector<DriveRow> rows_before = drives_;
  const std::vector<int> stood = find_linkages(model_, linkages_, answers_, false);
  places_.assign(model_.joints.size(), {-1, -1});
  for (std::size_t i = 0; i < linkages_.size(); ++i) {
    const auto& blocks = linkages_[i].constraints.blocks();
    for (std::size_t k = 0; k < blocks.size(); ++k) places_[blocks[k].source] = {static_cast<int>(i), static_cast<int>(k)};
  }
  // One row per drive that there is; numbers come with the first step.
  kinematics_.bodies.resize(model_.joints.empty() ? 0 : model_.partner_count());
  evaluate_drives(model_, kinematics_, 1, drives_);
  std::vector<std::vector<int>> rows_of(linkages_.size());
  for (std::size_t k = 0; k < drives_.size(); ++k) rows_of[places_[drives_[k].joint].first].push_back(static_cast<int>(k));

  const auto same = [&](int p, int q) {
    const DriveRow &row = rows_before[p], &now = drives_[q];
    return row.joint == now.joint && row.axis == now.axis && row.kind == now.kind;
  };
  groups_.resize(linkages_.size());
  for (std::size_t i = 0; i < linkages_.size(); ++i) {
    Group& group = groups_[i];
    Group* const old = stood[i] >= 0 ? &before[stood[i]] : nullptr;
    if (old && std::ranges::equal(old->drives, rows_of[i], same)) {
      group = std::move(*old);
      group.drives = std::move(rows_of[i]);
    } else {
      group.drives = std::move(rows_of[i]);
      if (answers_[i].x.size() != linkages_[i].constraints.rows()) answers_[i].x.setZero(linkages_[i].constraints.rows());
      build(linkages_[i], group);
    }
    group.guided = is_guided(linkages_[i]);
    group.driven = group.guided || has_motors(linkages_[i]);
  }
  note_groups();
  awake_.resize(groups_.size());
  std::iota(awake_.begin(), awake_.end(), 0);
  known_ = false;
}

void Articulations::body_added() {
  note_groups();
  kinematics_.bodies.resize(model_.joints.empty() ? 0 : model_.partner_count());
  known_ = false;
}

bool Articulations::is_guided(const Linkage& linkage) const {
  return std::ranges::any_of(linkage.joints, [&](int number) {
    const Joint& joint = model_.joints[number];
    bool led = false;
    for_each_partner(joint, [&](int partner) { led = led || model_.kinematic(partner); });
    return led || joint.function || joint.equations ||
           std::ranges::any_of(joint.drives, [](const Joint::AxisDrive& axis) { return axis.drive.motion.has_value(); });
  });
}

bool Articulations::has_motors(const Linkage& linkage) const {
  return std::ranges::any_of(linkage.joints, [&](int number) {
    return std::ranges::any_of(model_.joints[number].drives, [](const Joint::AxisDrive& axis) {
      return axis.drive.motor_strength > 0 || axis.drive.motor_torque != 0;
    });
  });
}

void Articulations::note_groups() {
  group_of_.assign(static_cast<std::size_t>(model_.body_count()), -1);
  for (std::size_t i = 0; i < linkages_.size(); ++i)
    for (const int body : linkages_[i].bodies) group_of_[body] = static_cast<int>(i);
}

void Articulations::sleep_with(const Sleepers& sleepers) {
  awake_.clear();
  for (std::size_t i = 0; i < groups_.size(); ++i)
    if (!sleepers.asleep(linkages_[i].bodies.front())) awake_.push_back(static_cast<int>(i));
}

void Articulations::build(const Linkage& linkage, Group& group) const {
  const auto& blocks = linkage.constraints.blocks();
  for (const int body : linkage.bodies) group.lines.push_back(line_of(body));
  group.joints = static_cast<int>(blocks.size());
  group.joint_rows = linkage.constraints.rows();
  const int body_count = static_cast<int>(linkage.bodies.size());
  std::vector<std::vector<std::pair<int, int>>> of_body(body_count);  // node, side
  std::vector<GraphEdge> edges;
  bool tree = !linkage.has_loops && group.drives.empty();
  int values = 0, lanes = 0;
  const auto add_side = [&](int body) {
    if (body < 0) return;
    of_body[body].emplace_back(static_cast<int>(group.nodes.size()) - 1, static_cast<int>(group.sides.size()));
    group.sides.push_back({body, values, lanes});
    values += 6 * group.nodes.back().rows;
    lanes += (group.nodes.back().rows + 3) / 4;
    ++group.nodes.back().sides;
  };
  for (const ConstraintBlock& block : blocks) {
    group.nodes.push_back({block.first_row, block.rows, static_cast<int>(group.sides.size()), 0});
    add_side(block.body_a);
    add_side(block.body_b);
    for (int k = 0; k < block.more_count; ++k) add_side(linkage.constraints.more()[block.first_more + k].body);
    edges.push_back({block.body_a, block.body_b});
    group.free = group.free && block.body_a >= 0 && block.body_b >= 0;
    tree = tree && block.more_count == 0;
  }
  const auto local = [&](int body) {
    const auto found = std::lower_bound(linkage.bodies.begin(), linkage.bodies.end(), body);
    return found != linkage.bodies.end() && *found == body ? static_cast<int>(found - linkage.bodies.begin()) : -1;
  };
  int row = group.joint_rows;
  for (const int k : group.drives) {
    group.nodes.push_back({row++, 1, static_cast<int>(group.sides.size()), 0});
    add_side(local(drives_[k].a));
    add_side(local(drives_[k].b));
  }

  // Nodes are neighbours where they share a body.
  const int n = static_cast<int>(group.nodes.size());
  std::vector<std::vector<int>> near(n);
  for (const auto& nodes : of_body)
    for (const auto& [i, side_i] : nodes)
      for (const auto& [j, side_j] : nodes)
        if (i != j) near[i].push_back(j);
  Graph adjacency;
  adjacency.start.push_back(0);
  for (auto& list : near) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    adjacency.neighbours.insert(adjacency.neighbours.end(), list.begin(), list.end());
    adjacency.start.push_back(static_cast<int>(adjacency.neighbours.size()));
  }
  std::vector<int> order;
  if (!tree || !leaves_first(edges, body_count, order)) minimum_degree(adjacency, order);
  std::vector<BlockLdlt::Node> nodes;
  for (const Node& node : group.nodes) nodes.push_back({node.first_row, node.rows, false});
  group.factor.analyse(nodes, adjacency, order);

  for (const auto& list : of_body)
    for (const auto& [i, side_i] : list)
      for (const auto& [j, side_j] : list)
        if (group.factor.position(i) > group.factor.position(j))
          group.products.push_back({i, j, side_i, side_j, group.factor.offset(i, j), false});
  std::stable_sort(group.products.begin(), group.products.end(),
                   [](const Product& p, const Product& q) { return p.offset < q.offset; });
  for (std::size_t k = 1; k < group.products.size(); ++k)
    group.products[k].adds = group.products[k].offset == group.products[k - 1].offset;
  const auto written = std::count_if(group.products.begin(), group.products.end(), [](const Product& p) { return !p.adds; });
  group.fills = !group.drives.empty() || static_cast<std::size_t>(written) != group.factor.off_diagonal_blocks();

  group.balls = group.drives.empty() && std::all_of(blocks.begin(), blocks.end(), [&](const ConstraintBlock& block) {
                  const Joint& joint = model_.joints[block.source];
                  const bool point = joint.locked[0] && joint.locked[1] && joint.locked[2];
                  return point && block.rows == 3 && block.more_count == 0;
                });
  group.W.assign(values, 0);
  group.lanes.assign(lanes, {});
  group.w.assign(6 * body_count, 0);
  group.bias.assign(row, 0);
  group.rhs = group.bias;
  group.drift.assign(group.joint_rows, 0);
  group.led.assign(group.drives.size(), 0);
  group.twist.assign(body_count, 0);
  group.pull = group.twist;
  group.stiffness.assign(body_count, Mat3::Zero());
  group.drive_x.setZero(static_cast<Eigen::Index>(group.drives.size()));
  group.held.assign(group.drives.size(), 0);
  group.rows.blocks = blocks;
  group.rows.more = linkage.constraints.more();
  group.rows.resize(body_count, group.joint_rows);
  group.rows.J_more.setZero(linkage.constraints.more_rows(), 6);
  group.values.resize(group.joint_rows);
}

void Articulations::body_removed(int body, int bodies_before) {
  std::vector<int> to(bodies_before);
  for (int i = 0; i < bodies_before; ++i) to[i] = i == body ? -1 : i - (i > body);
  for (Linkage& linkage : linkages_) renumber(linkage, to, {});
  for (std::size_t i = 0; i < linkages_.size(); ++i)
    std::transform(linkages_[i].bodies.begin(), linkages_[i].bodies.end(), groups_[i].lines.begin(), line_of);
  note_groups();
  kinematics_.bodies.resize(model_.joints.empty() ? 0 : model_.partner_count());
}

void Articulations::joint_removed(int joint, int joints_before) {
  std::vector<int> to(joints_before);
  for (int i = 0; i < joints_before; ++i) to[i] = i == joint ? -1 : i - (i > joint);
  for (Linkage& linkage : linkages_) renumber(linkage, {}, to);
  for (DriveRow& row : drives_) row.joint = to[row.joint];
  rebuild();
}

void Articulations::look(const State& s, double t, double h, int parts, double scale, double push_speed, BodyLines& bodies,
                         Stages& stages) {
  start_ = t;
  step_ = h;
  part_ = h / parts;
  push_speed_ = push_speed;
  if (awake_.empty()) return;
  // Forces turn with rows, once per step, while velocities grow from part to part: rows of a pose this far ahead make up for it,
  // so that what swings neither gains nor loses (articulations.h).
  const double lead = 0.5 * (h - part_);
  if (!known_) kinematics_.update(model_, s);
  known_ = true;
  kinematics_.given.clear();  // whoever is led goes steadily within a step
  desks_.resize(static_cast<std::size_t>(stages.threads()));
  for_each_group(stages, [&](int i, int) {
    groups_[i].quick = turns_fast(s, linkages_[i], h);
    const double own_lead = groups_[i].quick ? 0 : lead;
    for (const int body : linkages_[i].bodies) {
      BodyLanes<double>& at = kinematics_.bodies[body];
      at.v = s.v(body);
      at.omega = s.omega(body);
      at.p = s.p[body] + own_lead * at.v;
      at.R = (own_lead > 0 ? turn(s.theta[body], Vec3(own_lead * at.omega)) : s.theta[body]).toRotationMatrix();
    }
  });
  place_led(s, lead);
  if (std::any_of(awake_.begin(), awake_.end(), [&](int i) { return !groups_[i].drives.empty(); }))
    evaluate_drives(model_, kinematics_, part_, drives_);
  for (const bool quick : {false, true}) {
    if (quick) place_led(s, 0);
    for_each_group(stages, [&](int i, int worker) {
      if (groups_[i].quick == quick) look_at(i, s, t, h, scale, quick ? 0 : lead, bodies, desks_[worker]);
    });
  }
}

void Articulations::look_at(int number, const State& s, double t, double h, double scale, double lead, BodyLines& bodies,
                            Desk& desk) {
  Group& group = groups_[number];
  const Linkage& linkage = linkages_[number];
  VecX& x = answers_[number].x;
  x *= scale;
  group.drive_x *= scale;
  linkage.constraints.evaluate(kinematics_, t + lead, group.rows, group.values);
  set_bias(s, linkage, group, group.quick ? part_ : h, lead);
  for (std::size_t k = 0; k < group.drives.size(); ++k) {
    const DriveRow& row = drives_[group.drives[k]];
    double rate = 0;
    for (int n = 0; n < 6; ++n) {
      if (model_.movable(row.a)) rate += row.J_a[n] * s.u[6 * row.a + n];
      if (model_.movable(row.b)) rate += row.J_b[n] * s.u[6 * row.b + n];
    }
    group.led[k] = lead * (rate + row.given);
  }
  stiffen(linkage, x, group, bodies, desk);
}

double Articulations::most_open() const {
  double most = 0;
  for (const int i : awake_)
    if (groups_[i].open > open_share * std::min(linkages_[i].reach, 1.0)) most = std::max(most, groups_[i].open);
  return most;
}

void Articulations::place_led(const State& s, double ahead) {
  if (!model_.has_kinematic()) return;
  for (int body = 0; body < model_.body_count(); ++body) {
    if (!model_.kinematic(body)) continue;
    BodyLanes<double>& at = kinematics_.bodies[body];
    at.v = s.v(body);
    at.omega = s.omega(body);
    at.p = s.p[body] + ahead * at.v;
    at.R = turn(s.theta[body], Vec3(ahead * at.omega)).toRotationMatrix();
  }
}

void Articulations::set_bias(const State& s, const Linkage& linkage, Group& group, double span, double lead) const {
  double most = 0;
  for (int k = 0; k < group.joints; ++k) {
    const ConstraintBlock& block = group.rows.blocks[k];
    double spin = 0;
    for (const int place : {block.body_a, block.body_b})
      if (place >= 0) spin = std::max(spin, kinematics_.bodies[linkage.bodies[place]].omega.squaredNorm());
    // Of an arc, 1 - cos lies inside; a half of the angle's square is what gamma knows.
    const double square = std::min(span * span * spin, std::numbers::pi * std::numbers::pi);
    const double share =
        square > 0.1 ? 2 * (1 - std::cos(std::sqrt(square))) / square : 1 - square / 12 * (1 - square / 30 * (1 - square / 56));
    for (int r = block.first_row; r < block.first_row + block.rows; ++r) {
      const double gamma = share * group.values.gamma[r];
      group.bias[r] = group.values.C_t[r] + 0.5 * span * gamma;
      // C at the start, seen from ahead; and what velocities of the middle do to positions, but for the lead.
      group.drift[r] = group.values.C[r];
      if (lead > 0)
        group.drift[r] += 0.5 * lead * lead * gamma - span * lead * gamma - lead * rate_of(s, linkage, group, block, r);
      most = std::max(most, std::abs(group.drift[r]));
    }
  }
  const double fastest = most_drift * push_speed_ * step_;
  group.shorter = most > fastest ? fastest / most : 1;
  group.open = most;
}

double Articulations::rate_of(const State& s, const Linkage& linkage, const Group& group, const ConstraintBlock& block, int row) {
  double rate = group.values.C_t[row];
  const auto add = [&](const JacobianRows& J, int at, int body) {
    if (body < 0) return;
    const double* u = s.u.data() + 6 * linkage.bodies[body];
    for (int n = 0; n < 6; ++n) rate += J(at, n) * u[n];
  };
  add(group.rows.J_a, row, block.body_a);
  add(group.rows.J_b, row, block.body_b);
  for (int m = 0; m < block.more_count; ++m) {
    const BlockPartner& partner = group.rows.more[block.first_more + m];
    add(group.rows.J_more, partner.first + row - block.first_row, partner.body);
  }
  return rate;
}

bool Articulations::has_torques() const {
  for (const Joint& joint : model_.joints)
    for (const Joint::AxisDrive& axis : joint.drives)
      if (axis.drive.motor_torque != 0) return true;
  return false;
}

void Articulations::add_torques(VecX& forces) const {
  for (const Joint& joint : model_.joints)
    for (const Joint::AxisDrive& driven : joint.drives) {
      const double torque = driven.drive.motor_torque;
      if (torque == 0) continue;
      const DriveAxis<double> axis = drive_axis(joint, driven.axis, kinematics_);
      const auto add = [&](int body, const Vec3& linear, const Vec3& angular) {
        if (!model_.movable(body)) return;
        forces.segment<3>(6 * body) += torque * linear;
        forces.segment<3>(6 * body + 3) += torque * angular;
      };
      add(joint.a, axis.linear_a, axis.angular_a);
      add(joint.b, axis.linear_b, axis.angular_b);
    }
}

void Articulations::whiten(const BodyLines& bodies, Group& group) const {
  // The factor is of the same numbers that substeps have: what they are rounded by moves directions a little, and no more.
  const auto write = [&](const double* J, const Side& side, int row) {
    const float *motion = bodies.motion[group.lines[side.body]].at, *S = bodies.pose[group.lines[side.body]].at + 10;
    const double m = motion[6];
    const double exact[6] = {m * J[0],
                             m * J[1],
                             m * J[2],
                             S[0] * J[3] + S[1] * J[4] + S[2] * J[5],
                             S[1] * J[3] + S[3] * J[4] + S[4] * J[5],
                             S[2] * J[3] + S[4] * J[4] + S[5] * J[5]};
    double* W = group.W.data() + side.values + 6 * row;
    float* lane = reinterpret_cast<float*>(&group.lanes[side.lanes + row / 4]) + row % 4;
    for (int n = 0; n < 6; ++n) {
      lane[4 * n] = static_cast<float>(exact[n]);
      W[n] = double(lane[4 * n]);
    }
  };
  for (int k = 0; k < group.joints; ++k) {
    const ConstraintBlock& block = group.rows.blocks[k];
    int number = group.nodes[k].first_side;
    const auto fill = [&](const double* J) {
      const Side& side = group.sides[number++];
      for (int r = 0; r < block.rows; ++r) write(J + 6 * r, side, r);
    };
    if (block.body_a >= 0) fill(group.rows.J_a.data() + 6 * block.first_row);
    if (block.body_b >= 0) fill(group.rows.J_b.data() + 6 * block.first_row);
    for (int m = 0; m < block.more_count; ++m) fill(group.rows.J_more.data() + 6 * group.rows.more[block.first_more + m].first);
  }
  for (std::size_t k = 0; k < group.drives.size(); ++k) {
    const DriveRow& row = drives_[group.drives[k]];
    const Node& node = group.nodes[group.joints + k];
    int number = node.first_side;
    if (model_.movable(row.a)) write(row.J_a.data(), group.sides[number++], 0);
    if (model_.movable(row.b)) write(row.J_b.data(), group.sides[number], 0);
  }
}

template <bool points>
void Articulations::square_joints(Group& group) {
  double* const A = group.factor.values().data();
  const double* W = group.W.data();
  const RowLanes* lanes = group.lanes.data();
  for (int i = 0; i < group.joints; ++i) {
    const Node& node = group.nodes[i];
    double* D = A + group.factor.offset(i);
    if (node.sides == 0) std::fill_n(D, node.rows * node.rows, 0.0);
    for (int k = 0; k < node.sides; ++k) {
      const Side& side = group.sides[node.first_side + k];
      if (points || node.rows == 3) {
        add_square_of_three<points>(lanes[side.lanes], k == 0, D);
      } else {
        add_square(W + side.values, node.rows, k == 0, D);
      }
    }
  }
  for (const Product& p : group.products) {
    const int rows = group.nodes[p.later].rows, columns = group.nodes[p.earlier].rows;
    const Side &later = group.sides[p.later_side], &earlier = group.sides[p.earlier_side];
    const bool first = !p.adds && !group.fills;
    const auto sleeps = [&](int node) { return node >= group.joints && group.held[node - group.joints] == 0; };
    if (points || (rows == 3 && columns == 3)) {
      add_product_of_three<points>(lanes[later.lanes], lanes[earlier.lanes], first, A + p.offset);
    } else if (!sleeps(p.later) && !sleeps(p.earlier)) {
      add_product(W + later.values, rows, W + earlier.values, columns, first, A + p.offset);
    }
  }
}

void Articulations::refactor(Group& group) {
  std::vector<double>& A = group.factor.values();
  if (group.fills) std::fill(A.begin(), A.end(), 0.0);
  group.balls ? square_joints<true>(group) : square_joints<false>(group);
  for (std::size_t k = 0; k < group.drives.size(); ++k) {
    const Node& node = group.nodes[group.joints + k];
    double& D = A[group.factor.offset(group.joints + static_cast<int>(k))];
    D = 1;
    if (group.held[k] == 0) continue;
    D = drives_[group.drives[k]].compliance;
    for (int side = node.first_side; side < node.first_side + node.sides; ++side) {
      const double* W = group.W.data() + group.sides[side].values;
      D += row_product(W, W);
    }
  }
  group.redundant.clear();
  group.factor.factor(pivot_tolerance, group.redundant);
}

void Articulations::measure(const State& s, double t) {
  kinematics_.update(model_, s, t);
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    Group& group = groups_[i];
    linkages_[i].constraints.evaluate(kinematics_, t, group.rows, group.values);
    group.rate.resize(static_cast<std::size_t>(group.joint_rows));
    for (int k = 0; k < group.joints; ++k) {
      const ConstraintBlock& block = group.rows.blocks[k];
      for (int r = block.first_row; r < block.first_row + block.rows; ++r)
        group.rate[r] = rate_of(s, linkages_[i], group, block, r);
    }
  }
}

JointError Articulations::error(int joint) const {
  const auto [linkage, number] = places_[joint];
  const Group& group = groups_[linkage];
  const ConstraintBlock& block = group.rows.blocks[number];
  JointError out;
  for (int r = block.first_row; r < block.first_row + block.rows; ++r) {
    out.position = std::max(out.position, std::abs(group.values.C[r]));
    out.velocity = std::max(out.velocity, std::abs(group.rate[r]));
  }
  return out;
}

JointError Articulations::largest_error() const {
  JointError out;
  for (int j = 0; j < static_cast<int>(places_.size()); ++j) {
    const JointError e = error(j);
    out.position = std::max(out.position, e.position);
    out.velocity = std::max(out.velocity, e.velocity);
  }
  return out;
}

JointForce Articulations::force(int joint) const {
  const auto [linkage, number] = places_[joint];
  const Group& group = groups_[linkage];
  const ConstraintBlock& block = group.rows.blocks[number];
  const ConstraintSet& constraints = linkages_[linkage].constraints;
  const int rows = block.rows - static_cast<int>(constraints.driven(number).size());  // those of driven axes come last
  const Vec6 on_b = per_second() * (group.rows.J_b.middleRows(block.first_row, rows).transpose() *
                                    answers_[linkage].x.segment(block.first_row, rows));
  JointForce out;
  out.force = on_b.head<3>();
  out.torque = on_b.tail<3>() - constraints.lever(number, kinematics_, true).cross(out.force);
  out.unique = std::none_of(group.redundant.begin(), group.redundant.end(),
                            [&](int r) { return r >= block.first_row && r < block.first_row + block.rows; });
  for (const DriveRow& row : drives_)
    if (row.joint == joint) out.drive[row.axis] += (row.kind == DriveRow::Kind::upper ? -1 : 1) * row.x * per_second();
  return out;
}

std::vector<std::pair<int, int>> Articulations::redundant() const {
  std::vector<std::pair<int, int>> out;
  for (int j = 0; j < static_cast<int>(places_.size()); ++j) {
    const Group& group = groups_[places_[j].first];
    const ConstraintBlock& block = group.rows.blocks[places_[j].second];
    const auto count = std::count_if(group.redundant.begin(), group.redundant.end(),
                                     [&](int r) { return r >= block.first_row && r < block.first_row + block.rows; });
    if (count > 0) out.emplace_back(j, static_cast<int>(count));
  }
  return out;
}

}  // namespace rotule::realtime
