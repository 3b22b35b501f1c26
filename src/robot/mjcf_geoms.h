#pragma once
// MJCF's geoms as shapes and masses. Sizes are half lengths there and full ones here.
#include <map>
#include <set>
#include <string>
#include <vector>

#include "robot/mjcf_context.h"

namespace rotule::robot {

/// A sphere, capsule, cylinder, box or ellipsoid of these sizes; nothing for other types. `fromto` is its pose, where it is
/// given.
std::optional<Shape> primitive(const Element& geom, const std::string& type, std::vector<double> size, Pose& pose);

class MjcfGeoms {
 public:
  explicit MjcfGeoms(MjcfContext& context);

  /// All geoms of a body, each with the class of defaults and the frame around it: its shapes, and, where `weighs`, its mass.
  struct Given {
    Element element;
    Pose frame;
  };
  void add(const std::vector<Given>& geoms, bool weighs, std::vector<TreeGeom>& out, std::optional<MassProperties>& mass);

 private:
  struct Mesh {
    Element element;
    std::optional<TriangleMesh> read;
    bool tried = false;
    std::string inertia = "legacy";
  };
  const Mesh* mesh_of(const Element& geom);
  std::optional<Shape> shape(const Element& geom, const std::string& type, Pose& pose, const Mesh*& mesh);
  std::optional<Shape> height_field(const Element& geom, Pose& pose);

  MjcfContext& context_;
  std::map<std::string, Mesh> meshes_;
  std::map<std::string, Element> height_fields_;
  std::set<std::string> paired_;  // geoms that <pair> names
};

}  // namespace rotule::robot
