#pragma once
// What all parts of an MJCF file are read by: the compiler's settings, classes of defaults, included files, meshes.
//   A class is a chain of defaults, from the outermost to its own; an element has what it says itself, over what the chain says.
#include <map>
#include <set>
#include <string>
#include <vector>

#include "robot/mesh_files.h"
#include "robot/tree.h"

namespace rotule::robot {

struct MjcfContext {
  MjcfContext(const Element& root, const RobotOptions& options, Remarks& remarks);

  /// Children, with what <include> names in its place. Throws Error where files include each other in a circle.
  [[nodiscard]] std::vector<Element> children(const Element& parent);
  /// All sections of a name, at the top.
  [[nodiscard]] std::vector<Element> sections(std::string_view tag) const;

  /// The element with the defaults of its own class, else of the one around it.
  [[nodiscard]] Element with_defaults(const Element& element, const std::string& around) const;
  /// The chain of a class. Throws by the element where there is no such class.
  [[nodiscard]] const std::vector<Element>& chain(const Element& element, const std::string& around) const;

  [[nodiscard]] double angle(double given) const;
  /// pos and any of quat, axisangle, euler, xyaxes, zaxis.
  [[nodiscard]] Pose pose(const Element& element) const;
  [[nodiscard]] Quat orientation(const Element& element) const;

  /// In a folder; where it is not there, beside the file that the element stands in, as files that are included have it.
  [[nodiscard]] std::filesystem::path find_beside(const std::string& name, const std::filesystem::path& first,
                                                  const Element& element) const;

  const RobotOptions& options;
  Remarks& remarks;
  MeshFiles files;
  std::filesystem::path folder;  // of the file
  std::filesystem::path mesh_folder;
  bool degrees = true, auto_limits = true, strip_path = false, balance_inertia = false;
  std::string euler_order = "xyz";
  enum class FromGeoms { no, yes, missing } inertia_from_geoms = FromGeoms::missing;
  double least_mass = 0, least_inertia = 0;
  std::optional<double> total_mass;
  std::array<double, 2> inertia_groups{0, 5};

 private:
  void include(const Element& element, std::vector<Element>& out, int depth);
  void read_compiler(const Element& element);
  void read_defaults(const Element& element, const std::vector<Element>& before, bool outermost);

  std::vector<Element> top_;
  std::map<std::string, std::vector<Element>> classes_;
  std::map<std::filesystem::path, std::shared_ptr<const XmlFile>> included_;
  std::vector<std::filesystem::path> including_;
  int includes_ = 0;
};

}  // namespace rotule::robot
