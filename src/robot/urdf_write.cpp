// Scenes that are trees, as URDF. A link's frame is its body's, moved onto the axis of the joint to its parent where that does
// not pass through it; joints stand at the origin that they have at q = 0.
#include <fmt/format.h>
#include <rotule/error.h>
#include <rotule/mass_properties.h>
#include <rotule/robots.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <unordered_map>

#include "base/markup.h"
#include "base/text.h"
#include "math/pose.h"
#include "model/model.h"
#include "model/names.h"

namespace rotule {

namespace {

constexpr double on_axis = 1e-12;       // m: a frame that is no further off stands on the axis
constexpr double no_stop = 1e10;        // m: what stands for none where URDF must have one
constexpr double rating_unknown = 1e9;  // effort and velocity where nobody says

std::string list(const Vec3& v) { return fmt::format("{} {} {}", shortest(v.x()), shortest(v.y()), shortest(v.z())); }

/// Roll, pitch and yaw about fixed axes; exact near the pole too, where yaw is zero by choice.
Vec3 rpy_of(const Quat& q) {
  const Mat3 R = q.normalized().toRotationMatrix();
  const double cosine = std::hypot(R(0, 0), R(1, 0));
  const double pitch = std::atan2(-R(2, 0), cosine);
  if (cosine < 1e-9) return {std::atan2(-R(1, 2), R(1, 1)), pitch, 0};
  return {std::atan2(R(2, 1), R(2, 2)), pitch, std::atan2(R(1, 0), R(0, 0))};
}

std::string origin(const Pose& X) {
  if (X.position.isZero(0) && X.orientation.vec().isZero(0)) return {};
  return fmt::format("<origin xyz=\"{}\" rpy=\"{}\"/>", list(X.position), list(rpy_of(X.orientation)));
}

/// A joint of the tree, from parent to child.
struct Edge {
  const JointDef* joint = nullptr;
  int parent = -1, child = -1;  // the world is -1
  bool reversed = false;        // whether the child is the joint's first body
};

class UrdfWriter {
 public:
  UrdfWriter(Scene scene, const std::vector<JointRating>& ratings, std::vector<RobotRemark>* remarks)
      : scene_(std::move(scene)), ratings_(ratings), remarks_(remarks) {
    name_unnamed(scene_);
  }

  std::string write() {
    find_tree();
    for (const BodyDef& body : scene_.bodies) frames_.push_back({body.position, body.orientation.normalized()});
    for (const Edge& edge : edges_) move_frame(edge);
    out_ = fmt::format("<?xml version=\"1.0\"?>\n<robot name=\"{}\">\n",
                       markup_escaped(scene_.name.empty() ? "robot" : scene_.name));
    if (has_world_) out_ += "  <link name=\"world\"/>\n";
    for (const int i : order_) write_link(static_cast<std::size_t>(i));
    for (const Edge& edge : edges_) write_joint(edge);
    out_ += "</robot>\n";
    tell_rest();
    return std::move(out_);
  }

 private:
  void tell(const std::string& what, const std::string& text) {
    if (remarks_ == nullptr) return;
    for (RobotRemark& each : *remarks_)
      if (each.what == what && each.text == text) {
        ++each.count;
        return;
      }
    remarks_->push_back({what, text, "", 0, 1});
  }

  int number_of(const std::string& name) const {
    if (name == "world") return -1;
    const auto found = numbers_.find(name);
    if (found == numbers_.end()) throw Error(fmt::format("{} is no body: URDF knows links alone", in_quotes(name)));
    return found->second;
  }

  void find_tree() {
    for (std::size_t i = 0; i < scene_.bodies.size(); ++i) numbers_.emplace(scene_.bodies[i].name, static_cast<int>(i));
    std::vector<std::vector<Edge>> around(scene_.bodies.size() + 1);  // the world is the last
    const auto slot = [&](int body) { return body < 0 ? scene_.bodies.size() : static_cast<std::size_t>(body); };
    for (const JointDef& joint : scene_.joints) {
      if (std::holds_alternative<Constraint>(joint) || std::holds_alternative<Gear>(joint)) {
        tell(fmt::format("joint {}", in_quotes(name_of(joint))), "is left out: URDF has no equations between joints but mimic");
        continue;
      }
      const bool known = std::holds_alternative<Hinge>(joint) || std::holds_alternative<Slider>(joint) ||
                         std::holds_alternative<Planar>(joint) || std::holds_alternative<Weld>(joint);
      if (!known)
        throw Error(fmt::format("joint {}", in_quotes(name_of(joint))),
                    fmt::format("is a {}; URDF has hinges, sliders, planar joints and welds", kind_of(joint)));
      const int a = number_of(between(joint)[0]), b = number_of(between(joint)[1]);
      around[slot(a)].push_back({&joint, a, b, false});
      around[slot(b)].push_back({&joint, b, a, true});
    }
    // What is fixed hangs at the world, and so does what floats, where there is more than one root.
    std::vector<bool> seen(scene_.bodies.size() + 1, false);
    const auto walk = [&](int from) {
      std::vector<int> stack{from};
      seen[slot(from)] = true;
      while (!stack.empty()) {
        const int at = stack.back();
        stack.pop_back();
        if (at >= 0) order_.push_back(at);
        const std::vector<Edge>& edges = around[slot(at)];
        for (std::size_t k = edges.size(); k-- > 0;) {
          const Edge* edge = &edges[k];
          if (is_used(edge->joint)) continue;
          if (seen[slot(edge->child)])
            throw Error(fmt::format("joint {}", in_quotes(name_of(*edge->joint))), "closes a loop, and URDF has trees alone");
          seen[slot(edge->child)] = true;
          edges_.push_back(*edge);
          used_.push_back(edge->joint);
          stack.push_back(edge->child);
        }
      }
    };
    std::vector<int> fixed;
    for (std::size_t i = 0; i < scene_.bodies.size(); ++i)
      if (scene_.bodies[i].immovable()) fixed.push_back(static_cast<int>(i));
    has_world_ = !fixed.empty() || !around.back().empty();
    if (has_world_) {
      for (const int i : fixed) {
        seen[slot(i)] = true;
        edges_.push_back({nullptr, -1, i, false});
      }
      walk(-1);
      for (const int i : fixed) walk(i);
    }
    std::vector<int> roots;
    const std::size_t before = edges_.size();
    for (std::size_t i = 0; i < scene_.bodies.size(); ++i)
      if (!seen[i]) {
        roots.push_back(static_cast<int>(i));
        walk(static_cast<int>(i));
      }
    if (!has_world_ && roots.size() == 1) return;
    has_world_ = has_world_ || roots.size() > 1;
    std::vector<Edge> floating;
    for (const int i : roots) floating.push_back({nullptr, -1, i, false});
    edges_.insert(edges_.begin() + static_cast<std::ptrdiff_t>(before), floating.begin(), floating.end());
  }
  bool is_used(const JointDef* joint) const { return std::find(used_.begin(), used_.end(), joint) != used_.end(); }

  /// A hinge's link stands on its axis.
  void move_frame(const Edge& edge) {
    if (edge.joint == nullptr || edge.child < 0) return;
    Vec3& p = frames_[static_cast<std::size_t>(edge.child)].position;
    if (const auto* hinge = std::get_if<Hinge>(edge.joint)) {
      const Vec3 axis = hinge->axis.normalized(), off = p - hinge->at;
      if ((off - axis.dot(off) * axis).norm() > on_axis * (1 + p.norm())) p = hinge->at;
    }
  }

  [[nodiscard]] Pose frame(int body) const { return body < 0 ? Pose{} : frames_[static_cast<std::size_t>(body)]; }

  void write_link(std::size_t i) {
    const BodyDef& def = scene_.bodies[i];
    const Pose in_link = inverse(frames_[i]) * Pose{def.position, def.orientation.normalized()};
    const Pose body{in_link.position, Quat::Identity()};  // the same axes
    out_ += fmt::format("  <link name=\"{}\">\n", markup_escaped(def.name));
    MassProperties m;
    if (def.immovable()) {
      m = {def.mass.value_or(0), def.center_of_mass.value_or(Vec3::Zero()), def.inertia.value_or(Mat3::Zero())};
    } else {
      const Body compiled = compile_body(def, scene_.materials, fmt::format("body {}", in_quotes(def.name)));
      m = {compiled.mass, compiled.center_of_mass, compiled.inertia};
    }
    if (m.mass > 0) {
      const Mat3& I = m.inertia;
      out_ += fmt::format("    <inertial>{}<mass value=\"{}\"/>", origin({body.position + m.center_of_mass, Quat::Identity()}),
                          shortest(m.mass));
      out_ += fmt::format("<inertia ixx=\"{}\" ixy=\"{}\" ixz=\"{}\" iyy=\"{}\" iyz=\"{}\" izz=\"{}\"/></inertial>\n",
                          shortest(I(0, 0)), shortest(I(0, 1)), shortest(I(0, 2)), shortest(I(1, 1)), shortest(I(1, 2)),
                          shortest(I(2, 2)));
    }
    write_shape(def.shape, body, def.contacts ? "collision" : "visual", def.name);
    out_ += "  </link>\n";
  }

  void write_shape(const Shape& shape, const Pose& X, const char* tag, const std::string& whose) {
    if (std::holds_alternative<std::monostate>(shape)) return;
    if (const auto* compound = std::get_if<Compound>(&shape)) {
      for (const CompoundPart& part : compound->parts)
        write_shape(part.shape, X * Pose{part.position, part.orientation}, tag, whose);
      return;
    }
    std::string text;
    if (const auto* box = std::get_if<Box>(&shape)) text = fmt::format("<box size=\"{}\"/>", list(box->size));
    if (const auto* ball = std::get_if<Sphere>(&shape)) text = fmt::format("<sphere radius=\"{}\"/>", shortest(ball->radius));
    if (const auto* c = std::get_if<Cylinder>(&shape))
      text = fmt::format("<cylinder radius=\"{}\" length=\"{}\"/>", shortest(c->radius), shortest(c->height));
    if (const auto* c = std::get_if<Capsule>(&shape))
      text = fmt::format("<capsule radius=\"{}\" length=\"{}\"/>", shortest(c->radius), shortest(c->length));
    if (const auto* mesh = std::get_if<TriangleMesh>(&shape); mesh != nullptr && !mesh->file.empty())
      text = fmt::format("<mesh filename=\"{}\" scale=\"{}\"/>", markup_escaped(mesh->file), list(Vec3::Constant(mesh->scale)));
    if (text.empty())
      return tell(fmt::format("shape of {}", in_quotes(whose)),
                  "is left out: URDF has boxes, cylinders, spheres and files of meshes");
    if (std::holds_alternative<Capsule>(shape)) tell("capsule", "is an extension of URDF that not all programs read");
    out_ += fmt::format("    <{0}>{1}<geometry>{2}</geometry></{0}>\n", tag, origin(X), text);
  }

  void write_joint(const Edge& edge) {
    const std::string child = edge.child < 0 ? "world" : scene_.bodies[static_cast<std::size_t>(edge.child)].name;
    const std::string parent = edge.parent < 0 ? "world" : scene_.bodies[static_cast<std::size_t>(edge.parent)].name;
    Pose X = frame(edge.child);
    std::string type = "fixed", name = child + " joint", more;
    if (edge.joint == nullptr) {
      const bool still = scene_.bodies[static_cast<std::size_t>(edge.child)].immovable();
      type = still ? "fixed" : "floating";
      name = fmt::format("world {} {}", still ? "holds" : "lets go", child);
    } else {
      name = name_of(*edge.joint);
      const double sign = edge.reversed ? -1 : 1;
      if (const auto* hinge = std::get_if<Hinge>(edge.joint)) {
        const Vec3 axis = sign * hinge->axis.normalized();
        const Quat back(Eigen::AngleAxisd(-hinge->start, axis));
        more = axis_text(X, axis) + drive_text(name, hinge->drive, true);
        if (hinge->start != 0) X = {hinge->at + back * (X.position - hinge->at), (back * X.orientation).normalized()};
        type = hinge->drive.lower || hinge->drive.upper ? "revolute" : "continuous";
      } else if (const auto* slider = std::get_if<Slider>(edge.joint)) {
        const Vec3 axis = sign * slider->axis.normalized();
        more = axis_text(X, axis) + drive_text(name, slider->drive, false);
        X.position -= slider->start * axis;
        type = "prismatic";
      } else if (const auto* planar = std::get_if<Planar>(edge.joint)) {
        more = axis_text(X, sign * planar->normal.normalized());
        if (!planar->drives.empty()) tell(fmt::format("joint {}", in_quotes(name)), "its drives are left out");
        type = "planar";
      }
    }
    const Pose in_parent = inverse(frame(edge.parent)) * X;
    out_ += fmt::format("  <joint name=\"{}\" type=\"{}\">{}<parent link=\"{}\"/><child link=\"{}\"/>{}</joint>\n",
                        markup_escaped(name), type, origin(in_parent), markup_escaped(parent), markup_escaped(child), more);
  }

  static std::string axis_text(const Pose& link, const Vec3& axis) {
    return fmt::format("<axis xyz=\"{}\"/>", list(link.orientation.conjugate() * axis));
  }

  std::string drive_text(const std::string& joint, const Drive& drive, bool turns) {
    std::string out;
    if (drive.damping > 0 || drive.friction > 0)
      out += fmt::format("<dynamics damping=\"{}\" friction=\"{}\"/>", shortest(drive.damping), shortest(drive.friction));
    double effort = drive.motor_strength > 0 ? drive.motor_strength : rating_unknown, velocity = rating_unknown;
    for (const JointRating& rating : ratings_)
      if (rating.joint == joint) {
        effort = rating.effort;
        velocity = rating.velocity;
      }
    const double far = turns ? std::numbers::pi : no_stop;
    if (turns && drive.lower.has_value() != drive.upper.has_value())
      tell(fmt::format("joint {}", in_quotes(joint)), "has one stop; the other is written half a turn away");
    if (!turns || drive.lower || drive.upper)
      out += fmt::format("<limit lower=\"{}\" upper=\"{}\" effort=\"{}\" velocity=\"{}\"/>", shortest(drive.lower.value_or(-far)),
                         shortest(drive.upper.value_or(far)), shortest(effort), shortest(velocity));
    else if (effort < rating_unknown || velocity < rating_unknown)
      out += fmt::format("<limit effort=\"{}\" velocity=\"{}\"/>", shortest(effort), shortest(velocity));
    if (drive.stiffness > 0 || drive.motor_torque != 0 || drive.motion || drive.restitution > 0 || drive.motor_speed != 0 ||
        drive.armature > 0)
      tell(fmt::format("joint {}", in_quotes(joint)), "its spring, torque, given motion, restitution or armature is left out");
    return out;
  }

  void tell_rest() {
    if (!scene_.particles.empty() || !scene_.solids.empty()) tell("particles", "are left out");
    if (!scene_.forces.empty()) tell("forces", "are left out");
    if (!scene_.walls.empty()) tell("walls", "are left out");
    if (!scene_.materials.empty()) tell("materials", "are left out");
    if (std::any_of(edges_.begin(), edges_.end(), [](const Edge& edge) {
          const auto* hinge = edge.joint ? std::get_if<Hinge>(edge.joint) : nullptr;
          const auto* slider = edge.joint ? std::get_if<Slider>(edge.joint) : nullptr;
          return (hinge && hinge->start != 0) || (slider && slider->start != 0);
        }))
      tell("pose", "is written with all coordinates at zero, as URDF has it");
  }

  Scene scene_;
  const std::vector<JointRating>& ratings_;
  std::vector<RobotRemark>* remarks_;
  std::unordered_map<std::string, int> numbers_;
  std::vector<Edge> edges_;
  std::vector<const JointDef*> used_;
  std::vector<int> order_;
  std::vector<Pose> frames_;
  bool has_world_ = false;
  std::string out_;
};

}  // namespace

std::string to_urdf(const Scene& scene, const std::vector<JointRating>& ratings, std::vector<RobotRemark>* remarks) {
  return UrdfWriter(scene, ratings, remarks).write();
}

}  // namespace rotule
