// What happens to bodies on their way through a step by impulses: whom they meet, and what bounces.
#include <algorithm>
#include <cmath>

#include "base/budget.h"
#include "mechanism/soft/soft_motion.h"
#include "step/island_pieces.h"
#include "step/reference/reference_stepper.h"

namespace rotule {

void ReferenceStepper::look_for_bounces() {
  const std::vector<Body>& bodies = mechanism.model.bodies;
  bouncy_ = std::any_of(bodies.begin(), bodies.end(), [](const Body& body) { return body.surface.restitution > 0; }) ||
            std::any_of(mechanism.model.surface_pairs.begin(), mechanism.model.surface_pairs.end(),
                        [](const SurfacePair& pair) { return pair.restitution.value_or(0) > 0; });
}

void ReferenceStepper::plan(double h) {
  const Model& model = mechanism.model;
  const State& s = mechanism.now.state;
  const VecX& start = s.u;
  touched_.assign(static_cast<std::size_t>(model.partner_count()), 0);
  for (const Linkage& linkage : mechanism.linkages)
    for (const int body : linkage.bodies) touched_[body] = 1;
  for (const Contact& c : mechanism.now.contacts)
    for (const int body : {c.a, c.b}) touched_[body] = touched_[body] || pushes(first_, free_, 6 * body);
  for (int i = 0; soft_ && i < model.body_count(); ++i) touched_[i] = touched_[i] || !push_.segment<6>(6 * i).isZero(0);
  passages_.resize(static_cast<std::size_t>(model.body_count()));
  move_ = h * first_;
  for (int i = 0; i < model.body_count(); ++i) {
    Passage& passage = passages_[i];
    passage.v = first_.segment<3>(6 * i);
    passage.a.setZero();
    passage.omega = first_.segment<3>(6 * i + 3);
    if (!model.movable(i) || touched_[i] || !model.forces.empty()) continue;
    // What nothing touches and no spring holds falls along its parabola, where the mean velocity is exact, and turns as a free
    // body does.
    passage.v = start.segment<3>(6 * i);
    passage.a = (first_.segment<3>(6 * i) - passage.v) / h;
    move_.segment<3>(6 * i) = 0.5 * h * (first_.segment<3>(6 * i) + passage.v);
    if (passage.omega.isZero() || !mechanism.external.segment<3>(6 * i + 3).isZero()) continue;
    Quat theta = s.theta[i];
    Vec3 omega = s.omega(i);
    mechanism.glide(i, theta, omega, h);
    const Vec3 turned = log_rotation(theta * s.theta[i].conjugate());
    // More than half a turn comes back by the shorter way, and so does what the sweep sees of it.
    constexpr double half_turn = 3;
    if (h * passage.omega.norm() < half_turn) passage.omega = turned / h;
    move_.segment<3>(6 * i + 3) = turned;
    first_.segment<3>(6 * i + 3) = after_.segment<3>(6 * i + 3) = omega;
  }
}

void ReferenceStepper::hold_spin(State& s) const {
  const Model& model = mechanism.model;
  if (!mechanism.linkages.empty() || !model.forces.empty() || !mechanism.external.isZero(0)) return;
  for (int i = 0; i < model.body_count(); ++i) {
    const bool thrown = after_.segment<6>(6 * i) != first_.segment<6>(6 * i);
    if (!(touched_[i] || thrown) || !model.movable(i)) continue;
    const auto energy = [&](const Mat3& R, const Vec3& omega) {  // twice
      const Vec3 along = R.transpose() * omega;
      return along.dot(model.inertia[i] * along);
    };
    const Mat3& R = mechanism.kinematics.bodies[i].R;
    const Vec3 omega = s.omega(i);
    const double had = energy(R, before_.segment<3>(6 * i + 3)) - energy(R, free_.segment<3>(6 * i + 3)) + energy(R, omega);
    const double has = energy(s.theta[i].toRotationMatrix(), omega);
    if (has > had && has > 0) s.omega(i) *= std::sqrt(std::max(had, 0.0) / has);
  }
}

double ReferenceStepper::first_blow(double h) const {
  // What is there already has been struck; if it is pushed together all the same, that is the solution's business.
  constexpr double at_once = 1e-9;
  for (const Meeting& m : meetings_)
    if (m.bounces && m.time > at_once * h) return m.time;
  return h;
}

void ReferenceStepper::add_meetings() {
  const Model& model = mechanism.model;
  Attempt& now = mechanism.now;
  // Who meets something changes its way: what it would meet much later may not happen. The next round will tell.
  constexpr double much_later = 0.25;
  met_.assign(static_cast<std::size_t>(model.body_count()), infinity);
  const auto early = [&](int body, double time) { return !model.movable(body) || time <= met_[body] + much_later * mechanism.h; };
  for (const Meeting& m : meetings_) {
    if (early(m.a, m.time) && early(m.b, m.time)) {
      const std::size_t had = now.contacts.size();
      finder.add_meeting(m, now.state, now.contacts);
      // Beside an inner edge of a mesh there is nothing to hold them, and nothing that anybody would meet later is put off by it.
      if (now.contacts.size() == had && !m.pressed) continue;
    }
    for (const int body : {m.a, m.b}) met_[body] = std::min(met_[body], m.time);
  }
}

void ReferenceStepper::strike_contacts(double t) {
  if (!bouncy_) return;
  Attempt& now = mechanism.now;
  touched_.clear();
  for (const Contact& c : now.contacts) touched_.push_back(finder.touching(c));
  const JointedMechanism::Jump jump(mechanism, now.state);
  const WorkPiece blows(*SharedWork::current(), SharedWork::current()->left(share_of_impulses));
  const double kinetic = mechanism.books ? kinetic_energy(mechanism.model, now.state) : 0;
  now.report.shocks += impacts_.resolve(mechanism, rules_, touched_, cone_, now.state, t);
  totals.given_work += impacts_.given_work;
  if (!mechanism.books) return;
  now.flow[Agent::guides] += impacts_.given_work;
  now.flow[Agent::impacts] += kinetic_energy(mechanism.model, now.state) - kinetic - impacts_.given_work;
}

}  // namespace rotule
