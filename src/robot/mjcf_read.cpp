#include "robot/mjcf_read.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/text.h"
#include "math/pose.h"
#include "robot/mjcf_context.h"
#include "robot/mjcf_geoms.h"
#include "robot/mjcf_sensors.h"
#include "robot/mjcf_ties.h"

namespace rotule::robot {

namespace {

class MjcfReader {
 public:
  MjcfReader(const Element& root, const RobotOptions& options, Remarks& remarks)
      : root_(root), context_(root, options, remarks), geoms_(context_), remarks_(remarks) {}

  Tree read() {
    tree_.name = root_.text("model", "");
    tree_.element = root_;
    tree_.largest_friction = true;
    names_.body["world"] = -1;
    for (const Element& element : context_.sections("option")) read_option(element);
    for (const Element& element : context_.sections("worldbody")) {
      std::vector<MjcfGeoms::Given> geoms;
      read_children(element, -1, element.text("childclass", ""), {}, geoms);
      add_ground(geoms);
    }
    scale_total_mass();
    const std::vector<double> controls = read_keyframe(context_, tree_);
    const auto tendons = read_tendons(context_, names_, tree_);
    read_equalities(context_, names_, tendons, tree_);
    read_contacts(context_, names_, tree_);
    read_actuators(context_, names_, tendons, controls, tree_);
    read_sensors(context_, names_, tendons, tree_);
    tell_other_sections();
    root_.tell_unread(remarks_);
    return std::move(tree_);
  }

 private:
  void read_option(const Element& element) {
    tree_.gravity = element.vec3("gravity", tree_.gravity);
    if (const auto dt = element.number("timestep")) {
      if (!(*dt > 0)) element.fail("timestep must be greater than 0");
      tree_.dt = dt;
    }
    for (const Element& flag : element.children("flag")) {
      if (flag.text("gravity") == "disable") tree_.gravity.setZero();
      if (flag.text("contact") == "disable") tree_.contacts = false;
      flag.tell_unread(remarks_);
    }
    element.tell_unread(remarks_);
  }

  /// Bodies, joints, geoms and sites below an element; frames are passed through.
  void read_children(const Element& parent, int link, const std::string& around, const Pose& frame,
                     std::vector<MjcfGeoms::Given>& geoms) {
    for (const Element& child : context_.children(parent)) {
      const std::string& tag = child.tag();
      if (tag == "body") {
        read_body(child, link, around, frame);
      } else if (tag == "geom") {
        geoms.push_back({context_.with_defaults(child, around), frame});
      } else if (tag == "joint" || tag == "freejoint") {
        if (link < 0) child.fail("the world has no joints; put it into a body");
        read_joint(child, link, around, frame);
      } else if (tag == "site") {
        read_site(context_.with_defaults(child, around), link, frame);
      } else if (tag == "frame") {
        const Pose X = frame * context_.pose(child);
        read_children(child, link, child.text("childclass", around), {X.position, X.orientation.normalized()}, geoms);
      } else if (tag != "inertial") {
        child.tell_ignored(remarks_, tag == "light" || tag == "camera" ? "is for the eye" : "is left out");
      }
    }
  }

  void read_body(const Element& element, int parent, const std::string& around, const Pose& frame) {
    const auto number = static_cast<int>(tree_.links.size());
    const std::string childclass = element.text("childclass", around);
    TreeLink link;
    link.name = element.text("name", fmt::format("body_{}", number));
    link.parent = parent;
    link.rest = frame * context_.pose(element);
    link.rest.orientation.normalize();
    link.element = element;
    link.kinematic = element.flag("mocap").value_or(false);
    link.held_up = element.number("gravcomp", 0);
    element.tell_unread(remarks_);
    if (!names_.body.emplace(link.name, number).second)
      element.fail(fmt::format("the name {} is taken already", in_quotes(link.name)));
    tree_.links.push_back(std::move(link));

    // Bodies within come behind it in the list, so that it is spoken of by its number.
    std::vector<MjcfGeoms::Given> geoms;
    const std::optional<Element> inertial = element.child("inertial");
    using FromGeoms = MjcfContext::FromGeoms;
    const bool weighs =
        context_.inertia_from_geoms == FromGeoms::yes || (context_.inertia_from_geoms == FromGeoms::missing && !inertial);
    read_children(element, number, childclass, {}, geoms);
    std::vector<TreeGeom> shapes;
    std::optional<MassProperties> mass;
    geoms_.add(geoms, weighs, shapes, mass);
    if (inertial && !weighs) mass = read_inertial(*inertial, in_quotes(tree_.links[static_cast<std::size_t>(number)].name));
    for (TreeGeom& geom : shapes)
      if (std::holds_alternative<Plane>(geom.shape) || std::holds_alternative<HeightField>(geom.shape))
        element.remark(remarks_, "geom of type plane or hfield", "is left out in a body: it is for the world");
    std::erase_if(shapes, [](const TreeGeom& geom) {
      return std::holds_alternative<Plane>(geom.shape) || std::holds_alternative<HeightField>(geom.shape);
    });
    TreeLink& made = tree_.links[static_cast<std::size_t>(number)];
    made.geoms = std::move(shapes);
    if (mass && mass->mass > 0) {
      mass->mass = std::max(mass->mass, context_.least_mass);
      for (int k = 0; k < 3; ++k) mass->inertia(k, k) = std::max(mass->inertia(k, k), context_.least_inertia);
      made.inertial = mass;
    }
  }

  MassProperties read_inertial(const Element& element, const std::string& whose) {
    MassProperties out;
    out.mass = element.number("mass", 0);
    if (out.mass < 0) element.fail(fmt::format("mass must not be negative, is {}", shortest(out.mass)));
    Mat3 inertia = Mat3::Zero();
    if (const auto full = element.numbers("fullinertia", 6, 6)) {
      const std::vector<double>& f = *full;
      inertia << f[0], f[3], f[4], f[3], f[1], f[5], f[4], f[5], f[2];
    } else if (const auto diagonal = element.vec3("diaginertia")) {
      inertia = diagonal->asDiagonal();
    } else if (out.mass > 0) {
      element.fail("needs diaginertia or fullinertia");
    }
    if (context_.balance_inertia && element.has("diaginertia")) {
      const Vec3 d = inertia.diagonal();
      if (2 * d.maxCoeff() > d.sum()) inertia = d.mean() * Mat3::Identity();
    }
    out.inertia = possible_inertia(inertia, element, whose, remarks_);
    const Pose X = context_.pose(element);
    element.tell_unread(remarks_);
    return seen_from(X, out);
  }

  void read_joint(const Element& given, int link, const std::string& around, const Pose& frame) {
    const Element element = given.tag() == "joint" ? context_.with_defaults(given, around) : given;
    TreeLink& body = tree_.links[static_cast<std::size_t>(link)];
    TreeJoint joint;
    joint.element = element;
    joint.name = element.text("name", fmt::format("{} joint {}", body.name, body.joints.size()));
    const std::string type = given.tag() == "freejoint" ? "free" : element.text("type", "hinge");
    using Kind = TreeJoint::Kind;
    if (type == "free") {
      if (body.parent >= 0) element.fail("a free joint is for bodies of the world alone");
      if (!body.joints.empty()) element.fail("a free joint stands alone");
      joint.kind = Kind::free;
    } else if (type == "ball") {
      joint.kind = Kind::ball;
    } else if (type == "slide") {
      joint.kind = Kind::slide;
    } else if (type != "hinge") {
      const std::vector<std::string> known{"free", "ball", "slide", "hinge"};
      element.fail(fmt::format("unknown type {}; {}", in_quotes(type), suggestion(type, known)));
    }
    const auto measure = [&](double x) { return joint.kind == Kind::slide ? x : context_.angle(x); };
    joint.at = frame.position + frame.orientation * element.vec3("pos", Vec3::Zero());
    joint.axis = frame.orientation * element.vec3("axis", Vec3::UnitZ());
    if (!(joint.axis.norm() > 1e-9)) element.fail("its axis must not be the zero vector");
    joint.axis.normalize();
    joint.rest = joint.q = measure(element.number("ref", 0));
    Drive& drive = joint.drive;
    const auto constant = [&](const char* name) {
      const auto all = element.numbers(name, 1, 3);
      if (!all) return 0.0;
      if ((*all)[0] < 0) element.fail(fmt::format("{} must not be negative", name));
      if (std::any_of(all->begin() + 1, all->end(), [](double x) { return x != 0; }))
        element.remark(remarks_, fmt::format("joint@{}", name), "is a polynomial; its first number is taken");
      return (*all)[0];
    };
    drive.damping = constant("damping");
    drive.friction = constant("frictionloss");
    drive.stiffness = constant("stiffness");
    drive.rest =
        drive.stiffness > 0 ? measure(element.number("springref", 0)) : (static_cast<void>(element.text("springref")), 0);
    drive.armature = constant("armature");
    read_range(element, joint, measure);
    if (drive.armature > 0 && joint.kind != Kind::hinge && joint.kind != Kind::slide) {
      element.remark(remarks_, "joint@armature", "is left out of a joint that is no hinge and no slide");
      drive.armature = 0;
    }
    if (joint.kind == Kind::ball && drive.stiffness > 0)
      element.remark(remarks_, "joint@stiffness", "is left out of a ball joint");
    if (joint.kind == Kind::free && (drive.damping > 0 || drive.friction > 0 || drive.stiffness > 0))
      element.remark(remarks_, "joint@damping, frictionloss, stiffness", "are left out of a free joint");
    read_force_range(element, joint);
    element.tell_unread(remarks_);
    if (!names_.joint.emplace(joint.name, JointPlace{link, static_cast<int>(body.joints.size())}).second)
      element.fail(fmt::format("the name {} is taken already", in_quotes(joint.name)));
    body.joints.push_back(std::move(joint));
  }

  template <class Measure>
  void read_range(const Element& element, TreeJoint& joint, const Measure& measure) {
    const auto range = element.numbers("range", 2, 2);
    const std::optional<std::string> limited = element.text("limited");
    const bool on = limited == "true" || ((!limited || limited == "auto") && context_.auto_limits && range);
    if (!on || !range) return;
    if (joint.kind == TreeJoint::Kind::ball || joint.kind == TreeJoint::Kind::free) {
      element.remark(remarks_, "joint@range", "is left out of a ball joint: it has no stops");
      return;
    }
    joint.drive.lower = measure((*range)[0]);
    joint.drive.upper = measure((*range)[1]);
    if (*joint.drive.lower > *joint.drive.upper) element.fail("range must be from the smaller to the larger");
  }

  /// What all actuators of a joint may exert together.
  void read_force_range(const Element& element, TreeJoint& joint) {
    const auto range = element.numbers("actuatorfrcrange", 2, 2);
    const std::optional<std::string> limited = element.text("actuatorfrclimited");
    const bool on = limited == "true" || ((!limited || limited == "auto") && context_.auto_limits);
    if (!range || !on || (joint.kind != TreeJoint::Kind::hinge && joint.kind != TreeJoint::Kind::slide)) return;
    if (!((*range)[0] < (*range)[1])) element.fail("actuatorfrcrange must be from the smaller to the larger");
    joint.actuator_range = {(*range)[0], (*range)[1]};
  }

  void read_site(const Element& element, int link, const Pose& frame) {
    Tree::Site site{.name = element.text("name", ""), .link = link};
    if (site.name.empty()) return;
    std::vector<double> size = element.numbers("size", 1, 3).value_or(std::vector<double>{});
    if (!element.has("fromto")) size.resize(3, 0.005);  // MJCF's
    Pose X = context_.pose(element);
    if (std::optional<Shape> zone = primitive(element, element.text("type", "sphere"), std::move(size), X)) site.zone = *zone;
    X = frame * X;
    site.pose = {X.position, X.orientation.normalized()};
    names_.site.emplace(site.name, site);
    tree_.sites.push_back(site);
  }

  void add_ground(const std::vector<MjcfGeoms::Given>& geoms) {
    std::vector<TreeGeom> shapes;
    std::optional<MassProperties> none;
    geoms_.add(geoms, false, shapes, none);
    for (TreeGeom& geom : shapes) {
      if (!geom.collides) continue;
      tree_.ground.push_back(std::move(geom));
    }
  }

  void scale_total_mass() {
    if (!context_.total_mass) return;
    double sum = 0;
    for (const TreeLink& link : tree_.links)
      if (link.inertial) sum += link.inertial->mass;
    if (!(sum > 0)) return;
    const double factor = *context_.total_mass / sum;
    for (TreeLink& link : tree_.links)
      if (link.inertial) {
        link.inertial->mass *= factor;
        link.inertial->inertia *= factor;
      }
  }

  void tell_other_sections() {
    const std::set<std::string> read{"compiler", "option",   "default", "asset",    "worldbody", "keyframe",
                                     "tendon",   "equality", "contact", "actuator", "sensor"};
    for (const Element& element : context_.children(root_)) {
      if (read.contains(element.tag())) continue;
      const bool eye = element.tag() == "visual" || element.tag() == "statistic";
      const std::vector<Element> inside = context_.children(element);
      for (const Element& child : inside)
        child.remark(remarks_, fmt::format("{} {}", element.tag(), child.tag()), eye ? "is for the eye" : "is left out");
      if (inside.empty()) element.tell_ignored(remarks_, eye ? "is for the eye" : "is left out");
    }
  }

  const Element& root_;
  MjcfContext context_;
  MjcfGeoms geoms_;
  Remarks& remarks_;
  MjcfNames names_;
  Tree tree_;
};

}  // namespace

Tree read_mjcf(const Element& root, const RobotOptions& options, Remarks& remarks) {
  return MjcfReader(root, options, remarks).read();
}

}  // namespace rotule::robot
