// Bodies, joints and forces that come and go between steps.
#include <algorithm>
#include <numeric>

#include "mechanism/soft/soft_motion.h"
#include "mechanism/touching/touching_motion.h"
#include "step/checks.h"
#include "step/reference/reference_stepper.h"

namespace rotule {

namespace {

/// 0, 1, 2 ... with a gap: from `place` on everything moves up (by -1: `place` itself is gone) or down (by +1).
std::vector<int> shifted(int count, int place, int by) {
  std::vector<int> out(static_cast<std::size_t>(count));
  std::iota(out.begin(), out.end(), 0);
  for (int i = place; i < count; ++i) out[static_cast<std::size_t>(i)] += by;
  if (by < 0) out[static_cast<std::size_t>(place)] = -1;
  return out;
}

}  // namespace

void ReferenceStepper::body_added() {
  finder.body_added();
  look_for_bounces();
  if (touching_) touching_->shapes_changed();
  const Model& model = mechanism.model;
  // Particles that joints hold are numbered behind the bodies: the last step's islands speak of other numbers then.
  if (!model.joined.empty()) {
    mechanism.model_changed(shifted(model.partner_count() - 1, model.body_count() - 1, 1), {});
    island_count_ = 0;
  } else {
    mechanism.forget_shape();
  }
  look_at_coordinates();
  forget();
  look_for_soft();
}

void ReferenceStepper::body_removed(int body) {
  finder.body_removed(body, mechanism.now.contacts);
  mechanism.now.struck.clear();
  touches_.body_removed(body);
  if (touching_) touching_->shapes_changed();
  mechanism.model_changed(shifted(mechanism.model.partner_count() + 1, body, -1), {});
  ledger.find_joints(mechanism);
  island_count_ = 0;
  look_at_coordinates();
  forget();
  look_for_soft();
}

void ReferenceStepper::joint_added() {
  const Joint& joint = mechanism.model.joints.back();
  check_drives(mechanism.model, mechanism.recipe);
  finder.joint_added(joint);
  if (touching_) touching_->shapes_changed();
  mechanism.model_changed({}, {});
  ledger.find_joints(mechanism);
  // The two no longer touch.
  std::erase_if(mechanism.now.contacts, [&](const Contact& c) { return std::minmax(c.a, c.b) == std::minmax(joint.a, joint.b); });
  look_at_coordinates();
  forget();
  look_for_soft();
}

void ReferenceStepper::joint_removed(int number, const Joint& joint) {
  finder.joint_removed(joint);
  if (touching_) touching_->shapes_changed();
  mechanism.model_changed({}, shifted(static_cast<int>(mechanism.model.joints.size()) + 1, number, -1));
  ledger.find_joints(mechanism);
  std::vector<DriveRow>& drives = mechanism.now.drives;
  std::erase_if(drives, [number](const DriveRow& row) { return row.joint == number; });
  for (DriveRow& row : drives) row.joint -= row.joint > number;
  island_count_ = 0;
  look_at_coordinates();
  forget();
  look_for_soft();
}

void ReferenceStepper::drives_changed() {
  check_drives(mechanism.model, mechanism.recipe);
  if (touching_) touching_->shapes_changed();
  mechanism.look_at_drives();
  forget();
}

void ReferenceStepper::forces_changed() {
  check_surroundings(mechanism.model, mechanism.recipe);
  if (mechanism.coupled_otherwise()) {
    mechanism.model_changed({}, {});
    ledger.find_joints(mechanism);
    island_count_ = 0;
  } else {
    mechanism.forget_shape();
  }
  look_at_coordinates();
  forget();
  look_for_soft();
}

}  // namespace rotule
