#pragma once
// Meshes that files of robots name: where they lie, and as shapes. Nothing outside the file's folder, the package around it, the
// packages it names and the folders allowed is opened; links in the file system are followed before that is decided.
#include <rotule/mass_properties.h>
#include <rotule/robots.h>
#include <rotule/shapes.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "robot/xml_file.h"

namespace rotule::robot {

class MeshFiles {
 public:
  MeshFiles(const std::filesystem::path& robot, const RobotOptions& options);

  /// The file that `name` stands for, looked for in `folder`: a path, file://path, package://NAME/path or model://NAME/path. NAME
  /// is a folder among the parents of the robot's file, or a package (with its package.xml) beside one of them. Throws Error by
  /// the element.
  [[nodiscard]] std::filesystem::path find(const std::string& name, const std::filesystem::path& folder,
                                           const Element& element) const;
  /// The triangles; nothing, and a remark, where it is of a kind that is not read.
  std::optional<TriangleMesh> read(const std::filesystem::path& path, const Vec3& scale, const Element& element,
                                   Remarks& remarks);

 private:
  [[nodiscard]] bool allowed(const std::filesystem::path& path) const;
  std::filesystem::path folder_;
  mutable std::vector<std::filesystem::path> roots_;
  std::map<std::filesystem::path, TriangleMesh> read_;
};

/// The mesh as a body's shape, as the options want it; nothing, and a remark, where it has no volume.
std::optional<Shape> shape_of(const TriangleMesh& mesh, const RobotOptions& options, const Element& element, Remarks& remarks);

/// Mass, centre and inertia as MJCF has them (`inertia` of a mesh): "exact", of its inside; "convex", of its hull; "legacy", the
/// default there, with the tetrahedra between its triangles and its centre counted as positive all of them, which weighs
/// hollows too and needs no closed surface. What has no inside is weighed as its hull, and a remark says so.
MassProperties mass_of(const TriangleMesh& mesh, const std::string& how, double density, const Element& element,
                       Remarks& remarks);

}  // namespace rotule::robot
