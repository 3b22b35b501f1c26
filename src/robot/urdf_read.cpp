#include "robot/urdf_read.h"

#include <fmt/format.h>
#include <rotule/error.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <unordered_map>

#include "base/text.h"
#include "math/pose.h"
#include "robot/mesh_files.h"

namespace rotule::robot {

namespace {

Quat from_rpy(const Vec3& rpy) {
  return Quat(Eigen::AngleAxisd(rpy.z(), Vec3::UnitZ()) * Eigen::AngleAxisd(rpy.y(), Vec3::UnitY()) *
              Eigen::AngleAxisd(rpy.x(), Vec3::UnitX()));
}

class UrdfReader {
 public:
  UrdfReader(const Element& root, const RobotOptions& options, Remarks& remarks)
      : root_(root), options_(options), remarks_(remarks), files_(root.source()->path, options) {}

  Tree read() {
    Tree tree;
    tree.name = root_.text("name", "");
    tree.element = root_;
    tree.one_group = !options_.self_contacts;
    if (tree.one_group)
      root_.remark(remarks_, "self contacts", "links of one robot pass through each other: URDF does not say which may touch");
    for (const Element& element : root_.children()) {
      if (element.tag() == "link")
        links_.push_back(element);
      else if (element.tag() == "joint")
        joints_.push_back(element);
      else if (element.tag() != "material")
        element.tell_ignored(remarks_, "is not taken over");
    }
    if (links_.empty()) root_.fail("has no links");
    order_links();
    for (const int k : order_) tree.links.push_back(link_of(static_cast<std::size_t>(k)));
    settle_root(tree);
    read_mimics(tree);
    root_.tell_unread(remarks_);
    return tree;
  }

 private:
  [[nodiscard]] Pose origin_of(const Element& element) const {
    const std::optional<Element> origin = element.child("origin");
    if (!origin) return {};
    Pose out{origin->vec3("xyz", Vec3::Zero()), from_rpy(origin->vec3("rpy", Vec3::Zero()))};
    origin->tell_unread(remarks_);
    return out;
  }

  /// Parents first, from the one root; whoever is not reached is in a cycle.
  void order_links() {
    for (std::size_t i = 0; i < links_.size(); ++i)
      if (!number_.emplace(links_[i].required("name"), static_cast<int>(i)).second)
        links_[i].fail("the name is taken already; links have names of their own");
    above_.assign(links_.size(), -1);
    below_.assign(links_.size(), {});
    for (std::size_t j = 0; j < joints_.size(); ++j) {
      const auto end = [&](const char* tag) {
        const std::optional<Element> element = joints_[j].child(tag);
        if (!element) joints_[j].fail(fmt::format("needs a <{}>", tag));
        const std::string name = element->required("link");
        const auto found = number_.find(name);
        if (found == number_.end()) {
          std::vector<std::string> known;
          for (const auto& [each, at] : number_) known.push_back(each);
          std::sort(known.begin(), known.end());
          element->fail(fmt::format("there is no link {}; {}", in_quotes(name), suggestion(name, known)));
        }
        return found->second;
      };
      const int parent = end("parent"), child = end("child");
      if (above_[static_cast<std::size_t>(child)] >= 0)
        joints_[j].fail(
            fmt::format("link {} has a parent already: URDF has trees alone", in_quotes(links_[child].required("name"))));
      above_[static_cast<std::size_t>(child)] = static_cast<int>(j);
      below_[static_cast<std::size_t>(parent)].push_back(child);
    }
    std::vector<int> roots;
    for (std::size_t i = 0; i < links_.size(); ++i)
      if (above_[i] < 0) roots.push_back(static_cast<int>(i));
    if (roots.empty()) root_.fail("every link has a parent: they go round in a circle");
    if (roots.size() > 1)
      links_[static_cast<std::size_t>(roots[1])].fail(
          fmt::format("has no parent, as {} has none: join them, a robot has one root",
                      in_quotes(links_[static_cast<std::size_t>(roots[0])].required("name"))));
    place_.assign(links_.size(), -1);
    std::vector<int> stack{roots[0]};
    while (!stack.empty()) {
      const int k = stack.back();
      stack.pop_back();
      place_[static_cast<std::size_t>(k)] = static_cast<int>(order_.size());
      order_.push_back(k);
      const auto& next = below_[static_cast<std::size_t>(k)];
      stack.insert(stack.end(), next.rbegin(), next.rend());
    }
    for (std::size_t i = 0; i < links_.size(); ++i)
      if (place_[i] < 0) links_[i].fail("is in a circle of joints that the root does not reach");
  }

  TreeLink link_of(std::size_t k) {
    const Element& element = links_[k];
    TreeLink out;
    out.name = element.required("name");
    out.element = element;
    out.inertial = inertial_of(element);
    bool any_collision = false;
    for (const Element& child : element.children("collision")) {
      any_collision = true;
      add_geom(child, true, out);
    }
    for (const Element& child : element.children("visual"))
      if (!any_collision)
        add_geom(child, false, out);
      else
        child.tell_ignored(remarks_, "is left out where a link has collision shapes: those are shown");
    for (const Element& child : element.children())
      if (child.tag() != "inertial" && child.tag() != "collision" && child.tag() != "visual")
        child.tell_ignored(remarks_, "is not taken over");
    element.tell_unread(remarks_);
    if (above_[k] >= 0) add_joint(joints_[static_cast<std::size_t>(above_[k])], out);
    return out;
  }

  std::optional<MassProperties> inertial_of(const Element& link) {
    const std::optional<Element> inertial = link.child("inertial");
    if (!inertial) return std::nullopt;
    MassProperties out;
    const std::optional<Element> mass = inertial->child("mass");
    if (!mass) inertial->fail("needs a <mass value=\"...\"/>");
    out.mass = mass->number("value", 0);
    if (out.mass < 0) mass->fail(fmt::format("must not be negative, is {}", shortest(out.mass)));
    const std::string whose = in_quotes(link.required("name"));
    Mat3 inertia = Mat3::Zero();
    if (const std::optional<Element> tensor = inertial->child("inertia")) {
      const auto at = [&](const char* name) { return tensor->number(name, 0); };
      inertia << at("ixx"), at("ixy"), at("ixz"), at("ixy"), at("iyy"), at("iyz"), at("ixz"), at("iyz"), at("izz");
      inertia = possible_inertia(inertia, *tensor, whose, remarks_);
    }
    if (out.mass == 0) {
      if (!inertia.isZero(0)) inertial->remark(remarks_, fmt::format("inertia of {}", whose), "comes without mass: left out");
      return std::nullopt;
    }
    out.inertia = inertia;
    return seen_from(origin_of(*inertial), out);
  }

  void add_geom(const Element& element, bool collides, TreeLink& link) {
    const std::optional<Element> geometry = element.child("geometry");
    if (!geometry) element.fail("needs a <geometry>");
    for (const Element& child : element.children())
      if (child.tag() != "geometry" && child.tag() != "origin" && child.tag() != "material")
        child.tell_ignored(remarks_, "is not taken over");
    const std::vector<Element> shapes = geometry->children();
    if (shapes.empty()) geometry->fail("is empty; give a box, cylinder, sphere, capsule or mesh");
    std::optional<Shape> shape = shape_in(shapes[0], collides);
    if (!shape) return;
    TreeGeom geom;
    geom.name = element.text("name", "");
    geom.shape = std::move(*shape);
    geom.pose = origin_of(element);
    geom.collides = collides;
    link.geoms.push_back(std::move(geom));
  }

  static double positive(const Element& element, const char* name) {
    const double out = element.number(name, 0);
    if (!(out > 0)) element.fail(fmt::format("{} must be greater than 0, is {}", name, shortest(out)));
    return out;
  }

  std::optional<Shape> shape_in(const Element& element, bool collides) {
    const std::string& tag = element.tag();
    if (tag == "box") {
      const Vec3 size = element.vec3("size", Vec3::Zero());
      if (!(size.minCoeff() > 0)) element.fail("size must be three lengths greater than 0");
      return Box{size};
    }
    if (tag == "sphere") return Sphere{positive(element, "radius")};
    if (tag == "cylinder") return Cylinder{positive(element, "radius"), positive(element, "length")};
    if (tag == "capsule") return Capsule{positive(element, "radius"), positive(element, "length")};
    if (tag != "mesh") {
      element.remark(remarks_, fmt::format("geometry {}", tag), "is left out: a box, cylinder, sphere, capsule or mesh is known");
      return std::nullopt;
    }
    const std::string name = element.required("filename");
    const Vec3 scale = element.vec3("scale", Vec3::Ones());
    if (options_.meshes == RobotOptions::Meshes::none) {
      element.remark(remarks_, "mesh", "is left out, as asked");
      return std::nullopt;
    }
    if (scale.prod() == 0) element.fail("scale must not be zero");
    // What is for the eye alone is not worth a refusal.
    std::filesystem::path path;
    try {
      path = files_.find(name, root_.source()->path.parent_path(), element);
    } catch (const Error& error) {
      if (collides) throw;
      element.remark(remarks_, fmt::format("visual mesh {}", in_quotes(name)), "cannot be found: left out");
      return std::nullopt;
    }
    const std::optional<TriangleMesh> mesh = files_.read(path, scale, element, remarks_);
    if (!mesh) return std::nullopt;
    return shape_of(*mesh, options_, element, remarks_);
  }

  void add_joint(const Element& element, TreeLink& link) {
    const std::string parent = element.child("parent")->required("link");
    link.parent = place_of(parent);
    link.rest = origin_of(element);
    TreeJoint joint;
    joint.name = element.required("name");
    joint.element = element;
    const std::string type = element.required("type");
    if (const std::optional<Element> axis = element.child("axis"))
      joint.axis = axis->vec3("xyz", Vec3::UnitX());
    else
      joint.axis = Vec3::UnitX();
    const bool has_axis = type != "fixed" && type != "floating" && type != "spherical";
    if (has_axis && !(joint.axis.norm() > 1e-9)) element.fail("its axis must not be the zero vector");
    joint.axis.normalize();
    if (const std::optional<Element> dynamics = element.child("dynamics")) {
      joint.drive.damping = dynamics->number("damping", 0);
      joint.drive.friction = dynamics->number("friction", 0);
      if (joint.drive.damping < 0 || joint.drive.friction < 0) dynamics->fail("damping and friction must not be negative");
    }
    read_limit(element, type, joint);
    for (const Element& child : element.children()) {
      const std::string& tag = child.tag();
      if (tag != "origin" && tag != "parent" && tag != "child" && tag != "axis" && tag != "dynamics" && tag != "limit" &&
          tag != "mimic")
        child.tell_ignored(remarks_, "is not taken over");
    }
    element.tell_unread(remarks_);
    using Kind = TreeJoint::Kind;
    if (type == "fixed") return;
    if (type == "floating") {
      joint.kind = Kind::free;
    } else if (type == "revolute" || type == "continuous") {
      joint.kind = Kind::hinge;
    } else if (type == "prismatic") {
      joint.kind = Kind::slide;
    } else if (type == "planar") {
      joint.kind = Kind::planar;
    } else if (type == "spherical") {  // not of URDF's own, but common
      joint.kind = Kind::ball;
    } else {
      const std::vector<std::string> known{"revolute", "continuous", "prismatic", "fixed", "floating", "planar", "spherical"};
      element.fail(fmt::format("unknown type {}; {}", in_quotes(type), suggestion(type, known)));
    }
    link.joints.push_back(std::move(joint));
  }

  void read_limit(const Element& element, const std::string& type, TreeJoint& joint) {
    const std::optional<Element> limit = element.child("limit");
    if (!limit) {
      if (type == "revolute" || type == "prismatic")
        element.remark(remarks_, fmt::format("joint {}", in_quotes(joint.name)), "has no limit: it has no stops");
      return;
    }
    const double lower = limit->number("lower", 0), upper = limit->number("upper", 0);
    joint.effort = limit->number("effort");
    joint.velocity = limit->number("velocity");
    limit->tell_unread(remarks_);
    if (joint.velocity)
      limit->remark(remarks_, "limit@velocity", "is a rating of the motor, and no law of the joint: kept beside the scene");
    if (joint.effort && *joint.effort < 0) limit->fail("effort must not be negative");
    if (type == "revolute" || type == "prismatic") {
      if (lower > upper)
        limit->fail(fmt::format("lower ({}) must not exceed upper ({}); exchange them", shortest(lower), shortest(upper)));
      if (type == "prismatic" && std::max(std::abs(lower), std::abs(upper)) > 1e9) {
        limit->remark(remarks_, fmt::format("joint {}", in_quotes(joint.name)),
                      "its stops are further away than anything: left out");
      } else {
        joint.drive.lower = lower;
        joint.drive.upper = upper;
      }
    }
    if (options_.hold && (type == "revolute" || type == "continuous" || type == "prismatic") && joint.effort.value_or(0) > 0)
      joint.drive.motor_strength = *joint.effort;
    else if (joint.effort)
      limit->remark(remarks_, "limit@effort", "is a rating of the motor, and no motor is at work: kept beside the scene");
  }

  int place_of(const std::string& name) { return place_[static_cast<std::size_t>(number_.at(name))]; }

  /// The world itself where the root is its name; else a body that stands still or floats.
  void settle_root(Tree& tree) {
    TreeLink& root = tree.links[0];
    if (root.name == "world") {
      if (root.inertial) root.element.remark(remarks_, "link \"world\"", "never moves: its inertia is left out");
      for (TreeGeom& geom : root.geoms) {
        geom.pose = Pose{options_.base_position, Quat::Identity()} * geom.pose;
        tree.ground.push_back(std::move(geom));
      }
      for (std::size_t i = 1; i < tree.links.size(); ++i) {
        TreeLink& link = tree.links[i];
        if (link.parent == 0) link.rest = Pose{options_.base_position, Quat::Identity()} * link.rest;
        --link.parent;
      }
      tree.links.erase(tree.links.begin());
      return;
    }
    root.rest.position = options_.base_position;
    using Base = RobotOptions::Base;
    const bool floats = options_.base == Base::floating || (options_.base == Base::automatic && root.inertial);
    root.element.remark(remarks_, fmt::format("root {}", in_quotes(root.name)),
                        floats ? "floats, for it has an inertia; a base that is fixed is an option"
                               : "is fixed to the world, where it has no inertia or that is asked for");
    if (!floats) return;
    TreeJoint joint;
    joint.name = root.name + " floats";
    joint.kind = TreeJoint::Kind::free;
    joint.element = root.element;
    root.joints.push_back(std::move(joint));
  }

  void read_mimics(Tree& tree) {
    const auto find = [&](const std::string& name) -> JointPlace {
      for (std::size_t i = 0; i < tree.links.size(); ++i)
        for (std::size_t k = 0; k < tree.links[i].joints.size(); ++k)
          if (tree.links[i].joints[k].name == name) return {static_cast<int>(i), static_cast<int>(k)};
      return {};
    };
    for (const Element& element : joints_) {
      const std::optional<Element> mimic = element.child("mimic");
      if (!mimic) continue;
      const std::string name = element.required("name"), other = mimic->required("joint");
      const JointPlace follower = find(name), leader = find(other);
      if (leader.link < 0) mimic->fail(fmt::format("there is no joint {} that moves", in_quotes(other)));
      if (name == other) mimic->fail("a joint cannot follow itself");
      if (follower.link < 0) {
        mimic->remark(remarks_, fmt::format("mimic of {}", in_quotes(name)), "is left out: the joint is fixed");
        continue;
      }
      const double multiplier = mimic->number("multiplier", 1), offset = mimic->number("offset", 0);
      tree.couplings.push_back(
          {fmt::format("{} follows {}", name, other), {{follower, {offset, -1}}, {leader, {0, multiplier}}}, *mimic});
    }
    // Leaders before those that follow them, so that a chain of followers begins in order.
    std::vector<Coupling> sorted;
    std::vector<Coupling> left = std::move(tree.couplings);
    while (!left.empty()) {
      const auto ready = std::find_if(left.begin(), left.end(), [&](const Coupling& c) {
        return std::none_of(left.begin(), left.end(), [&](const Coupling& d) {
          return d.terms[0].joint.link == c.terms[1].joint.link && d.terms[0].joint.joint == c.terms[1].joint.joint;
        });
      });
      if (ready == left.end()) left[0].element.fail("joints follow each other in a circle");
      sorted.push_back(std::move(*ready));
      left.erase(ready);
    }
    tree.couplings = std::move(sorted);
  }

  const Element& root_;
  const RobotOptions& options_;
  Remarks& remarks_;
  MeshFiles files_;
  std::vector<Element> links_, joints_;
  std::unordered_map<std::string, int> number_;  // of links, by name
  std::vector<int> above_;                       // of each link, the joint to its parent
  std::vector<std::vector<int>> below_;          // of each link, those that joints tie to it
  std::vector<int> order_, place_;
};

}  // namespace

Tree read_urdf(const Element& root, const RobotOptions& options, Remarks& remarks) {
  return UrdfReader(root, options, remarks).read();
}

}  // namespace rotule::robot
