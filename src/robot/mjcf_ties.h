#pragma once
// What ties and drives the joints of an MJCF file besides the tree: keyframes, equalities, fixed tendons, exclusions, actuators.
#include <map>
#include <string>
#include <vector>

#include "robot/mjcf_context.h"

namespace rotule::robot {

/// Names of the file, and what they stand for in the tree.
struct MjcfNames {
  std::map<std::string, int> body;  // "world" is -1
  std::map<std::string, JointPlace> joint;
  std::map<std::string, Tree::Site> site;

  [[nodiscard]] int find_body(const Element& element, const std::string& name) const;
  [[nodiscard]] JointPlace find_joint(const Element& element, const std::string& name) const;
  [[nodiscard]] const Tree::Site& find_site(const Element& element, const std::string& name) const;
};

/// A fixed tendon: L = sum of factor q.
struct FixedTendon {
  std::vector<std::pair<JointPlace, double>> joints;
};

/// The keyframe's controls; its positions are given to the tree.
std::vector<double> read_keyframe(MjcfContext& context, Tree& tree);
/// Their ranges are bounds of the tree.
std::map<std::string, FixedTendon> read_tendons(MjcfContext& context, const MjcfNames& names, Tree& tree);
void read_equalities(MjcfContext& context, const MjcfNames& names, const std::map<std::string, FixedTendon>& tendons, Tree& tree);
/// Who touches besides what masks say: <exclude> and <pair>.
void read_contacts(MjcfContext& context, const MjcfNames& names, Tree& tree);
/// Actuators as springs, dampers and torques of the joints' drives, at the controls given.
void read_actuators(MjcfContext& context, const MjcfNames& names, const std::map<std::string, FixedTendon>& tendons,
                    const std::vector<double>& controls, Tree& tree);

}  // namespace rotule::robot
