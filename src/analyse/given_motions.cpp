// Motions that are given (drives by time, equations that know it), more of them than a mechanism has ways to move: either they
// agree, and who exerts what is not unique, or nothing can follow all of them.
#include <fmt/format.h>

#include <algorithm>

#include "analyse/linkage_count.h"
#include "analyse/remarks.h"
#include "base/text.h"
#include "world/world_implementation.h"

namespace rotule {
namespace {

constexpr double apart = 1e-6;  // m, rad, m/s, rad/s: what stays open of a motion that others forbid

/// How many axes of the joint are moved by time; of an equation that knows it, those that it locks.
int led_by(const JointDef& def, const Joint& joint) {
  int out = joint.equations && joint.equations->knows_time ? joint.rows() : 0;
  std::visit(
      [&](const auto& j) {
        if constexpr (requires { j.drive; }) out += j.drive.motion ? 1 : 0;
        if constexpr (requires { j.drives; })
          for (const auto& axis : j.drives) out += axis.drive.motion ? 1 : 0;
      },
      def);
  return out;
}

int rows_of(const std::vector<Redundancy>& redundant, const LinkageCount& linkage, const Model& model) {
  int out = 0;
  for (const Redundancy& r : redundant)
    if (std::any_of(linkage.joints.begin(), linkage.joints.end(),
                    [&](int j) { return model.joints[static_cast<std::size_t>(j)].name == r.joint; }))
      out += r.rows;
  return out;
}

}  // namespace

void look_at_given_motions(const Patient& patient, const Checkup& checkup, std::vector<Remark>& out) {
  if (!checkup.conflicts.empty()) return;  // not even the joints can be closed
  const std::vector<JointDef>& joints = patient.scene.joints;
  int led = 0;
  for (std::size_t j = 0; j < joints.size(); ++j) led += led_by(joints[j], patient.model.joints[j]);
  if (led < 2) return;  // what stands against the joints alone is said elsewhere

  World world(with_drives(patient.scene, [](const Drive& drive) { return Drive{.motion = drive.motion}; }), recipes::exact());
  world.project();
  static_cast<void>(world.diagnostics());
  for (const LinkageCount& linkage : count_linkages(patient.model, checkup.redundant)) {
    const int more = rows_of(world.redundancies(), linkage, patient.model) - rows_of(checkup.redundant, linkage, patient.model);
    std::vector<std::string> names;
    int motions = 0;
    double open = 0, wide = 0;
    for (const int j : linkage.joints) {
      const auto number = static_cast<std::size_t>(j);
      const JointError error = implementation_of(world).stepper->joint_error(j);
      wide = std::max(wide, error.position);
      open = std::max(open, error.velocity);
      const int own = led_by(joints[number], patient.model.joints[number]);
      if (own > 0) names.push_back(patient.model.joints[number].name);
      motions += own;
    }
    const bool disagree = wide > apart || open > apart;
    if (motions < 2 || (more <= 0 && !disagree)) continue;
    const std::string given =
        fmt::format("the motions given to joints {} are {}, and their mechanism can follow {} of them at once", and_others(names),
                    motions, motions - std::max(more, 1));
    if (disagree)
      out.push_back({.kind = "motions_in_conflict",
                     .grade = Remark::Grade::grave,
                     .text = given +
                             (wide > apart ? fmt::format(": at the start {:.3g} m or rad stay open", wide)
                                           : fmt::format(": at the start {:.3g} m/s or rad/s stay open", open)) +
                             "; take one away, or give it a motor or a spring, which yields",
                     .flags = {},
                     .edits = {}});
    else
      out.push_back({.kind = "motions_too_many",
                     .grade = Remark::Grade::warning,
                     .text = given + "; at the start they agree, but what each exerts is not unique, and wherever they do not "
                                     "agree nothing can follow them",
                     .flags = {},
                     .edits = {}});
  }
}

}  // namespace rotule
