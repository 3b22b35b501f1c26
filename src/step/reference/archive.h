#pragma once
// What an exact snapshot saves of the reference stepper: all that its next step depends on besides the state.
#include <algorithm>
#include <array>
#include <span>

#include "base/snapshot_check.h"
#include "mechanism/reduced/reduced_motion.h"
#include "mechanism/touching/touching_motion.h"
#include "step/reference/reference_stepper.h"

namespace rotule {

template <class Archive>
void archive_state(Archive& io, State& s, std::size_t bodies) {
  s.p.resize(bodies);
  s.theta.resize(bodies);
  for (std::size_t i = 0; i < bodies; ++i) {
    io(s.p[i]);
    io(s.theta[i].coeffs());
  }
  io(s.x);
  io(s.u);
}

template <class Archive>
void archive_memory(Archive& io, AdaptiveMemory& memory, std::size_t, Eigen::Index velocities) {
  io(memory.step);
  io(memory.previous_error);
  io(memory.knows_acceleration);
  io(memory.acceleration);
  io(memory.previous_step);
  memory.pace.archive(io);
  io(memory.polynomial.step);
  VecX none;
  for (VecX& stage : memory.polynomial.u) io(memory.polynomial.step > 0 ? stage : none);
  if constexpr (!Archive::writes) {
    require_fit(!memory.knows_acceleration || memory.acceleration.size() == velocities);
    for (const VecX& stage : memory.polynomial.u) require_fit(!(memory.polynomial.step > 0) || stage.size() == velocities);
  }
}

/// More than any method remembers.
inline constexpr int most_samples = 16;

template <class Archive>
void archive_memory(Archive& io, Memory<State>& memory, std::size_t bodies, Eigen::Index velocities) {
  io(memory.h);
  io(memory.filled);
  if constexpr (!Archive::writes) require_fit(memory.filled >= 0 && memory.filled <= most_samples);
  const auto filled = static_cast<std::size_t>(memory.filled);
  if (!Archive::writes || memory.samples.size() < filled) memory.samples.resize(filled);
  for (auto& sample : std::span(memory.samples).first(filled)) {
    archive_state(io, sample.s, bodies);
    io(sample.acceleration);
    if constexpr (!Archive::writes)
      require_fit(sample.s.u.size() == velocities && sample.s.x.size() + 6 * static_cast<Eigen::Index>(bodies) <= velocities &&
                  (sample.acceleration.size() == 0 || sample.acceleration.size() == velocities));
  }
}

/// The bytes may come from a file: whom they speak of must be there.
inline void require_known(const Model& model, const Attempt& read) {
  const auto body = [&](int i) { return i >= 0 && i < model.body_count(); };
  const auto partner = [&](int i) { return i == world_body || (i >= 0 && i < model.partner_count()); };
  const auto joints = static_cast<int>(model.joints.size());
  const bool all =
      std::ranges::all_of(
          read.contacts,
          [&](const Contact& c) { return body(c.a) && body(c.b) && is_bool(c.sliding) && is_bool(c.met) && is_bool(c.held); }) &&
      std::ranges::all_of(read.struck, [&](const Struck& struck) { return partner(struck.a) && partner(struck.b); }) &&
      std::ranges::all_of(read.drives, [&](const DriveRow& d) {
        return is_place(d.joint, joints) && is_place(d.axis, 6) && d.kind <= DriveRow::Kind::spring && partner(d.a) &&
               partner(d.b);
      });
  require_fit(all);
}

/// Rows that follow from others, looked at on their way in: lists of rows of a problem of so many, each list with marks by row
/// where it is not empty.
template <class Archive>
struct RowsWithin {
  static constexpr bool writes = Archive::writes;
  Archive& io;
  int rows;
  std::array<bool, 3> lists{};  // whether they hold any
  std::size_t list_count = 0, mark_count = 0;

  void operator()(std::vector<int>& list) {
    io(list);
    lists.at(list_count++) = !list.empty();
    if constexpr (!writes) require_fit(are_places(list, rows));
  }
  void operator()(std::vector<char>& marks) {
    io(marks);
    if constexpr (!writes) require_fit(static_cast<int>(marks.size()) == rows || (marks.empty() && !lists.at(mark_count)));
    ++mark_count;
  }
  void operator()(double& x) { io(x); }
};

template <class Archive>
void ReferenceStepper::archive(Archive& io) {
  io(totals);
  io(mechanism.evaluations);
  for (std::size_t i = 0; i < mechanism.linkages.size(); ++i) {
    JointAnswer& answer = mechanism.now.joints[i];
    Linkage& linkage = mechanism.linkages[i];
    const int rows = linkage.constraints.rows();
    io(answer.x);
    io(answer.lambda);
    io(answer.known);
    io(answer.drift_force);
    io(linkage.compliance);  // which rows are set aside, and how
    RowsWithin<Archive> within{io, rows};
    linkage.redundant.archive(within);
    if constexpr (!Archive::writes)
      require_fit(answer.x.size() == rows && answer.lambda.size() == rows && linkage.compliance.size() == rows &&
                  (answer.drift_force.size() == 0 || answer.drift_force.size() == rows));
  }
  io(last_h_);
  io(part_h_);
  io(start_u_);
  touches_.archive(io);
  io(mechanism.now.contacts);
  io(mechanism.now.struck);
  io(mechanism.now.drives);
  if constexpr (!Archive::writes) {
    require_known(mechanism.model, mechanism.now);
    require_fit(touches_.fits(mechanism.model.body_count()) &&
                (start_u_.size() == 0 || start_u_.size() == mechanism.model.velocity_count()));
  }
  finder.archive(io);
  if (touching_) touching_->archive(io);
  if (reduced_) reduced_->archive(io);
  if constexpr (!Archive::writes) mechanism.unsettle_trees();
  std::visit(
      [&](auto& chosen) {
        if constexpr (requires { chosen.memory; })
          archive_memory(io, chosen.memory, mechanism.model.bodies.size(), mechanism.model.velocity_count());
      },
      method);
}

}  // namespace rotule
