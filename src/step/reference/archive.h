#pragma once
// What an exact snapshot saves of the reference stepper: all that its next step depends on besides the state.
#include <rotule/error.h>

#include <algorithm>
#include <span>

#include "mechanism/reduced/reduced_motion.h"
#include "mechanism/touching/touching_motion.h"
#include "step/reference/reference_stepper.h"

namespace rotule {

template <class Archive>
void archive_state(Archive& io, State& s, std::size_t bodies) {
  s.p.resize(bodies);
  s.theta.resize(bodies);
  for (std::size_t i = 0; i < bodies; ++i) {
    for (double& x : s.p[i]) io(x);
    for (double& x : s.theta[i].coeffs()) io(x);
  }
  io(s.x);
  io(s.u);
}

template <class Archive>
void archive_memory(Archive& io, AdaptiveMemory& memory, std::size_t) {
  io(memory.step);
  io(memory.previous_error);
  io(memory.knows_acceleration);
  io(memory.acceleration);
  io(memory.previous_step);
  io(memory.polynomial.step);
  VecX none;
  for (VecX& stage : memory.polynomial.u) io(memory.polynomial.step > 0 ? stage : none);
}

template <class Archive>
void archive_memory(Archive& io, Memory<State>& memory, std::size_t bodies) {
  io(memory.h);
  io(memory.filled);
  const auto filled = static_cast<std::size_t>(std::clamp(memory.filled, 0, 16));
  if (!Archive::writes || memory.samples.size() < filled) memory.samples.resize(filled);
  for (auto& sample : std::span(memory.samples).first(filled)) {
    archive_state(io, sample.s, bodies);
    io(sample.acceleration);
  }
}

/// The bytes may come from a file: whom they speak of must be there.
inline void require_known(const Model& model, const Attempt& read) {
  const auto body = [&](int i) { return i >= 0 && i < model.body_count(); };
  const auto partner = [&](int i) { return i == world_body || (i >= 0 && i < model.partner_count()); };
  const auto joints = static_cast<int>(model.joints.size());
  const bool all = std::ranges::all_of(read.contacts, [&](const Contact& c) { return body(c.a) && body(c.b); }) &&
                   std::ranges::all_of(read.drives, [&](const DriveRow& d) {
                     return d.joint >= 0 && d.joint < joints && d.axis >= 0 && d.axis < 6 && partner(d.a) && partner(d.b);
                   });
  if (!all) throw Error("snapshot", "speaks of bodies or joints that are not there; load it into the same world");
}

template <class Archive>
void ReferenceStepper::archive(Archive& io) {
  io(totals);
  io(mechanism.evaluations);
  for (std::size_t i = 0; i < mechanism.linkages.size(); ++i) {
    JointAnswer& answer = mechanism.now.joints[i];
    io(answer.x);
    io(answer.lambda);
    io(answer.known);
    io(answer.drift_force);
    Linkage& linkage = mechanism.linkages[i];
    io(linkage.compliance);  // which rows are set aside, and how
    linkage.redundant.archive(io);
  }
  io(last_h_);
  io(part_h_);
  io(start_u_);
  touches_.archive(io);
  io(mechanism.now.contacts);
  io(mechanism.now.struck);
  io(mechanism.now.drives);
  if constexpr (!Archive::writes) require_known(mechanism.model, mechanism.now);
  finder.archive(io);
  if (touching_) touching_->archive(io);
  if (reduced_) reduced_->archive(io);
  std::visit(
      [&](auto& chosen) {
        if constexpr (requires { chosen.memory; }) archive_memory(io, chosen.memory, mechanism.model.bodies.size());
      },
      method);
}

}  // namespace rotule
