// Linkages that cannot move: by counting what is left of six degrees of freedom per body when all independent rows are taken
// away.
#include <fmt/format.h>
#include <rotule/error.h>

#include <algorithm>

#include "analyse/linkage_count.h"
#include "analyse/remarks.h"
#include "base/text.h"
#include "model/names.h"
#include "world/world_implementation.h"

namespace rotule {
namespace {

Vec3* axis_of(JointDef& joint) {
  return std::visit(
      [](auto& j) -> Vec3* {
        if constexpr (requires { j.axis; })
          if constexpr (std::is_same_v<decltype(j.axis), Vec3>) return &j.axis;  // a disc's may be left out, and frees nothing
        return nullptr;
      },
      joint);
}

/// The joint, and the axis of a neighbour, with which the linkage could move again.
std::optional<std::pair<int, Vec3>> axis_that_frees(const Scene& scene, const LinkageCount& linkage) {
  constexpr int most_trials = 40;
  const auto parallel_to = [](const Vec3& direction) {
    return [&](const Vec3& other) { return std::abs(other.dot(direction)) > 1 - 1e-9; };
  };
  std::vector<Vec3> directions;  // of the linkage's axes, each once
  for (const int j : linkage.joints) {
    JointDef joint = scene.joints[static_cast<std::size_t>(j)];
    const Vec3* axis = axis_of(joint);
    if (axis == nullptr || directions.size() > most_trials) continue;
    const Vec3 direction = axis->normalized();
    if (std::none_of(directions.begin(), directions.end(), parallel_to(direction))) directions.push_back(direction);
  }
  if (directions.size() < 2) return std::nullopt;
  int trials = 0;
  for (const int j : linkage.joints) {
    JointDef joint = scene.joints[static_cast<std::size_t>(j)];
    Vec3* axis = axis_of(joint);
    if (axis == nullptr) continue;
    const Vec3 before = axis->normalized();
    for (const Vec3& direction : directions) {
      if (parallel_to(direction)(before)) continue;
      if (++trials > most_trials) return std::nullopt;
      *axis = direction;
      Scene trial = scene;
      trial.joints[static_cast<std::size_t>(j)] = joint;
      const World world(trial, recipes::exact());
      for (const LinkageCount& found : count_linkages(implementation_of(world).model, world.redundancies()))
        if (std::find(found.joints.begin(), found.joints.end(), j) != found.joints.end() && found.freedom() > 0)
          return std::pair(j, direction);
    }
  }
  return std::nullopt;
}

/// The joint without which the linkage could move, the one of most equations first.
std::optional<int> joint_that_locks(const Scene& scene, const Model& model, const LinkageCount& linkage) {
  constexpr std::size_t most_trials = 40;
  std::vector<int> joints = linkage.joints;
  if (joints.size() < 2) return std::nullopt;
  std::stable_sort(joints.begin(), joints.end(), [&](int a, int b) { return model.joints[a].rows() > model.joints[b].rows(); });
  if (joints.size() > most_trials) joints.resize(most_trials);
  for (const int j : joints) {
    Scene trial = scene;
    trial.joints.erase(trial.joints.begin() + j);
    const int other = linkage.joints[linkage.joints[0] == j ? 1 : 0];
    const World world(trial, recipes::exact());
    for (const LinkageCount& found : count_linkages(implementation_of(world).model, world.redundancies()))
      if (std::find(found.joints.begin(), found.joints.end(), other - (other > j ? 1 : 0)) != found.joints.end() &&
          found.freedom() > 0)
        return j;
  }
  return std::nullopt;
}

}  // namespace

void look_at_locks(const Patient& patient, const Checkup& checkup, std::vector<Remark>& out) {
  if (!checkup.conflicts.empty()) return;  // the rank of a pose that is not one says nothing
  const Scene scene = undriven(patient.scene);
  for (const LinkageCount& linkage : count_linkages(patient.model, checkup.redundant)) {
    if (linkage.freedom() > 0) continue;
    // What time leads moves with it.
    const auto led = [&](int j) {
      const auto& equations = patient.model.joints[static_cast<std::size_t>(j)].equations;
      return equations && equations->knows_time;
    };
    if (std::any_of(linkage.joints.begin(), linkage.joints.end(), led)) continue;
    // What is welded or braced is meant to stand; a joint with an axis is meant to turn or slide.
    std::string names;
    int axes = 0;
    for (const int j : linkage.joints) {
      JointDef joint = scene.joints[static_cast<std::size_t>(j)];
      if (axis_of(joint) == nullptr) continue;
      if (++axes <= 4) names += (names.empty() ? "" : ", ") + in_quotes(name_of(joint));
    }
    if (axes == 0) continue;
    Remark remark{
        .kind = "locked_mechanism",
        .grade = Remark::Grade::grave,
        .text = fmt::format("the mechanism of {}{} cannot move: 0 degrees of freedom ({} of its bodies alone, {} equations, {} "
                            "of them independent; by counting alone {})",
                            names, axes > 4 ? " and others" : "", linkage.movable, linkage.rows, linkage.rank,
                            linkage.movable - linkage.rows),
        .flags = {},
        .edits = {}};
    if (const auto free = axis_that_frees(scene, linkage)) {
      const auto& [j, axis] = *free;
      const JointDef& joint = scene.joints[static_cast<std::size_t>(j)];
      remark.text += fmt::format("; with the axis of joint {} along its neighbours' it could", in_quotes(name_of(joint)));
      remark.edits.push_back({fmt::format("/joints/{}/{}/axis", j, kind_of(joint)),
                              fmt::format("[{}, {}, {}]", shortest(axis[0]), shortest(axis[1]), shortest(axis[2]))});
    } else if (const auto locking = joint_that_locks(scene, patient.model, linkage)) {
      remark.text +=
          fmt::format("; without joint {} it could", in_quotes(name_of(scene.joints[static_cast<std::size_t>(*locking)])));
    }
    out.push_back(std::move(remark));
  }
}

}  // namespace rotule
