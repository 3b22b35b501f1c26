#include "record/quantity_list.h"

#include <rotule/world.h>

#include <algorithm>
#include <cmath>

#include "world/world_implementation.h"

namespace rotule {

namespace {

constexpr bool keys_differ() {
  for (std::size_t i = 0; i < quantity_count; ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (quantities[i].key == quantities[j].key) return false;
  return true;
}
static_assert(keys_differ());

/// What the last step did; nothing before the first one.
const StepReport& last_report(const World& world) { return implementation_of(world).stepper->last_report(); }

Eigen::Map<Vec3> three(std::vector<double>& out, std::size_t i) { return Eigen::Map<Vec3>(out.data() + 3 * i); }

/// One row per body, by its number.
template <class Row>
void each_body(const Moment& now, std::vector<double>& out, std::size_t width, Row&& row) {
  const WorldImplementation& inside = implementation_of(now.world);
  const int bodies = inside.model.body_count();
  out.resize(width * static_cast<std::size_t>(bodies));
  for (int i = 0; i < bodies; ++i) row(inside, i, static_cast<std::size_t>(i));
}

/// One row per joint, out of the ledger, which has been brought up to this state. Joints that broke keep their rows, which are
/// zero.
template <class Row>
void each_joint(const Moment& now, std::vector<double>& out, std::size_t width, Row&& row) {
  const WorldImplementation& inside = implementation_of(now.world);
  const std::size_t joints = inside.model.joints.size(), rows = joints + static_cast<std::size_t>(inside.broken_joints);
  out.assign(width * rows, 0);
  for (std::size_t j = 0; j < joints; ++j) {
    const std::size_t slot = inside.joint_slots.id(static_cast<int>(j)).index;
    row(*inside.stepper, static_cast<int>(j), inside.broken_joints > 0 && slot < rows ? slot : j);
  }
}

}  // namespace

void take_time(const Moment& now, std::vector<double>& out) { out.assign(1, now.world.time()); }
void take_momentum(const Moment& now, std::vector<double>& out) {
  const Vec3& p = now.ledger.linear_momentum;
  out.assign(p.data(), p.data() + 3);
}
void take_angular_momentum(const Moment& now, std::vector<double>& out) {
  const Vec3& L = now.ledger.angular_momentum;
  out.assign(L.data(), L.data() + 3);
}

void take_positions(const Moment& now, std::vector<double>& out) {
  each_body(now, out, 3, [&](const WorldImplementation& inside, int body, std::size_t i) {
    three(out, i) = body_frame(inside.model, inside.state, body).position;
  });
}
void take_orientations(const Moment& now, std::vector<double>& out) {
  each_body(now, out, 4, [&](const WorldImplementation& inside, int body, std::size_t i) {
    const Quat q = body_frame(inside.model, inside.state, body).orientation;
    Eigen::Map<Eigen::Vector4d>(out.data() + 4 * i) << q.w(), q.x(), q.y(), q.z();
  });
}
void take_velocities(const Moment& now, std::vector<double>& out) {
  each_body(now, out, 3,
            [&](const WorldImplementation& inside, int body, std::size_t i) { three(out, i) = inside.state.v(body); });
}
void take_angular_velocities(const Moment& now, std::vector<double>& out) {
  each_body(now, out, 3,
            [&](const WorldImplementation& inside, int body, std::size_t i) { three(out, i) = inside.state.omega(body); });
}

void take_particle_positions(const Moment& now, std::vector<double>& out) {
  const State& s = implementation_of(now.world).state;
  out.assign(s.x.data(), s.x.data() + s.x.size());
}
void take_particle_velocities(const Moment& now, std::vector<double>& out) {
  const WorldImplementation& inside = implementation_of(now.world);
  const State& s = inside.state;
  const double* const first = s.u.data() + 6 * inside.model.body_count();
  out.assign(first, first + s.x.size());
}

void take_joint_forces(const Moment& now, std::vector<double>& out) {
  each_joint(now, out, 3,
             [&](const Stepper& stepper, int joint, std::size_t j) { three(out, j) = stepper.last_joint_force(joint).force; });
}
void take_joint_torques(const Moment& now, std::vector<double>& out) {
  each_joint(now, out, 3,
             [&](const Stepper& stepper, int joint, std::size_t j) { three(out, j) = stepper.last_joint_force(joint).torque; });
}
void take_joint_errors(const Moment& now, std::vector<double>& out) {
  each_joint(now, out, 1,
             [&](const Stepper& stepper, int joint, std::size_t j) { out[j] = stepper.joint_error(joint).position; });
}

void take_stage_seconds(const Moment& now, std::vector<double>& out) {
  const auto& seconds = implementation_of(now.world).stepper->stage_seconds();
  out.assign(seconds.begin(), seconds.end());
}

void take_left_over(const Moment& now, std::vector<double>& out) {
  const EnergyBalance& balance = now.ledger.energy_balance;
  out.assign(1, balance.kept ? balance.left_over : std::nan(""));
}

namespace {
void take_rates(const Moment& now, Eigen::Index half, std::vector<double>& out) {
  const WorldImplementation& inside = implementation_of(now.world);
  const VecX& rates = implementation_of(now.world).ready().accelerations(inside.state, inside.time);
  each_body(now, out, 3, [&](const WorldImplementation&, int body, std::size_t i) {
    three(out, i) = rates.segment<3>(6 * static_cast<Eigen::Index>(body) + half);
  });
}
}  // namespace
void take_accelerations(const Moment& now, std::vector<double>& out) { take_rates(now, 0, out); }
void take_angular_accelerations(const Moment& now, std::vector<double>& out) { take_rates(now, 3, out); }

void take_contact_forces(const Moment& now, std::vector<double>& out) {
  const WorldImplementation& inside = implementation_of(now.world);
  out.assign(3 * inside.model.bodies.size(), 0.0);
  for (const ContactResult& c : now.contacts) {
    three(out, static_cast<std::size_t>(inside.body_slots.place(c.body_a))) -= c.force;
    three(out, static_cast<std::size_t>(inside.body_slots.place(c.body_b))) += c.force;
  }
}

void take_joint_motion(const Moment& now, Vec3 JointMotion::*part, std::vector<double>& out) {
  const State& s = implementation_of(now.world).state;
  each_joint(now, out, 3,
             [&](const Stepper& stepper, int joint, std::size_t j) { three(out, j) = stepper.joint_motion(s, joint).*part; });
}
void take_joint_powers(const Moment& now, std::vector<double>& out) {
  const State& s = implementation_of(now.world).state;
  each_joint(now, out, 1,
             [&](const Stepper& stepper, int joint, std::size_t j) { out[j] = stepper.joint_motion(s, joint).motor_power; });
}

void take_contact_bodies(const Moment& now, std::vector<double>& out) {
  const WorldImplementation& inside = implementation_of(now.world);
  out.clear();
  for (const ContactResult& c : now.contacts)
    for (const BodyId body : {c.body_a, c.body_b}) out.push_back(inside.body_slots.place(body));
}
void take_contact_vectors(const Moment& now, Vec3 ContactResult::*part, std::vector<double>& out) {
  out.resize(3 * now.contacts.size());
  for (std::size_t k = 0; k < now.contacts.size(); ++k) three(out, k) = now.contacts[k].*part;
}
void take_contact_gaps(const Moment& now, std::vector<double>& out) {
  out.clear();
  for (const ContactResult& c : now.contacts) out.push_back(c.gap);
}

std::vector<std::string_view> component_names(const Quantity& q) {
  if (q.components == 1) return {};
  if (q.components == 2) return {"a", "b"};
  if (q.components == 3) return {"x", "y", "z"};
  if (q.components == 4) return {"w", "x", "y", "z"};
  return {stage_names.begin(), stage_names.end()};
}

std::string_view part_name(const Quantity& q) {
  const std::size_t kind = q.per == Per::body ? 0 : name_of(q.per).size() + 1;  // "joint_"
  return q.per == Per::run ? q.key : q.key.substr(kind);
}

std::string_view name_of(Per per) {
  constexpr std::array<std::string_view, 5> names{"run", "body", "particle", "joint", "contact"};
  return names[static_cast<std::size_t>(per)];
}

TrajectoryFrame::TrajectoryFrame() {
  for (const Quantity& q : quantities)
    if (is_recorded(q) && q.per == Per::run) values[index_of(q)].assign(static_cast<std::size_t>(q.components), 0.0);
}

double TrajectoryFrame::number(const Quantity& q) const {
  if (!q.sum_of[0].empty()) {
    double sum = 0;
    for (const Quantity& part : quantities)
      if (part.key == q.sum_of[0] || part.key == q.sum_of[1]) sum += number(part);
    return sum;
  }
  const std::vector<double>& all = values[index_of(q)];
  return all.empty() ? 0 : *std::max_element(all.begin(), all.end());
}

void capture(const World& world, TrajectoryFrame& frame) {
  const Diagnostics ledger = world.diagnostics();
  implementation_of(world).find_contacts(frame.contacts);
  const Moment now{world, ledger, frame.contacts};
  const StepDone step{.report = last_report(world)};
  for (const Quantity& q : quantities) {
    std::vector<double>& out = frame.values[index_of(q)];
    if (!is_recorded(q)) continue;
    if (q.of_moment != nullptr)
      q.of_moment(now, out);
    else
      out.assign(1, q.of_step != nullptr ? q.of_step(step) : q.of_ledger(ledger));
  }
}

void time_stages(const World& world) { implementation_of(world).ready().time_stages(true); }

}  // namespace rotule
