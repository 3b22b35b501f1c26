// What bodies under joints put on the books: work and impulses by who makes them (dynamics/flow.h).
#include "base/spans.h"
#include "mechanism/jointed_mechanism.h"

namespace rotule {

namespace {

/// What is not weight and not applied comes from what does not move.
void take_supports(Flow& flow) {
  for (std::size_t i = 0; i < flow.supports.size(); ++i) flow.supports[i] -= flow.weight[i] + flow.applied[i];
}

/// The power of constraints that know the time: lambda . J u = -lambda . C_t.
double guiding_power(const VecX& lambda, const VecX& C_t) { return lambda.size() == C_t.size() ? -lambda.dot(C_t) : 0.0; }

}  // namespace

void JointedMechanism::flow_over(double t, const State& s, const VecX& udot, const VecX& u, Flow& out) {
  out = {};
  add_force_flow(model, external, s, t, u, recipe.threads, flow_scratch_, out);
  for (std::size_t i = 0; i < islands.size(); ++i)
    out[Agent::guides] += guiding_power(now.joints[i].lambda, islands[i].values.C_t);
  if (drives.any()) drives.add_flow(*this, u, out);
  add_inertia(model, s, udot, 1, out.supports);
  take_supports(out);
}

void JointedMechanism::flow_anew(double t, const State& s, Flow& out) {
  const Untraced untraced(*this);
  accelerations(t, s, mean_);
  flow(t, s, mean_, out);
}

void JointedMechanism::book_jump(const MomentumRate& before, const State& s) {
  const MomentumRate after = momentum_of(model, s);
  for (std::size_t i = 0; i < after.size(); ++i) now.flow.supports[i] += after[i] - before[i];
}

void JointedMechanism::book_kick(const State& s, double t, double step) {
  // forces_ holds the accelerations; forces depend on the velocities before the kick, and work with the mean ones.
  mean_ = s.u + step / 2 * forces_;
  Flow flow;
  add_force_flow(model, external, s, t, mean_, recipe.threads, flow_scratch_, flow);
  struck_ = s;
  struck_.u = s.u + step * forces_;
  const MomentumRate before = momentum_of(model, s), after = momentum_of(model, struck_);
  for (std::size_t i = 0; i < after.size(); ++i) flow.supports[i] = (after[i] - before[i]) / step;
  take_supports(flow);
  book(flow, step);
}

void JointedMechanism::book_drift() {
  // Along the gradients of the drift's start, by time as by place: so counted, work is one more coordinate of the same
  // symplectic map, and as exact as the others.
  for (std::size_t i = 0; i < islands.size(); ++i) now.flow[Agent::guides] += guiding_power(drifts_[i].impulse, drifts_[i].C_t);
  struck_ = start_;
  for (std::size_t i = 0; i < islands.size(); ++i) {
    Island& island = islands[i];
    island.gather(struck_.u, island.local);
    apply_impulses(drifts_[i].problem, view(drifts_[i].impulse), view(island.local));
    island.scatter(struck_.u);
  }
  book_jump(momentum_of(model, start_), struck_);
}

}  // namespace rotule
