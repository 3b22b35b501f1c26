#include "model/content.h"
#include "model/elements.h"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "base/budget.h"
#include "base/text.h"
#include "base/union_find.h"
#include "model/model.h"
#include "model/names.h"
#include "model/realtime_scope.h"
#include "model/scene_fields.h"
#include "model/support.h"

namespace rotule {

namespace {

bool is_ground(const Shape& shape) {
  if (std::holds_alternative<Plane>(shape) || std::holds_alternative<HeightField>(shape)) return true;
  const auto* compound = std::get_if<Compound>(&shape);
  return compound != nullptr &&
         std::any_of(compound->parts.begin(), compound->parts.end(), [](const auto& part) { return is_ground(part.shape); });
}

/// A ball about the body's origin that holds its shape: from the corners of its bounding box.
double reach_of(const Shape& shape) {
  if (std::holds_alternative<std::monostate>(shape)) return 0;
  if (is_ground(shape)) return infinity;
  Vec3 corner = Vec3::Zero();
  for (int k = 0; k < 3; ++k) corner[k] = std::max(support(shape, Vec3::Unit(k))[k], -support(shape, -Vec3::Unit(k))[k]);
  return corner.norm();
}

/// Points at which joints hold a body, and whether they let it go no further than its arms.
struct Anchor {
  std::optional<Vec3> at;  // a point of the world that some body of the linkage turns about
  double reach = 0;        // m, from there
  bool bounded = true;
};

struct Ball3 {
  Vec3 at = Vec3::Zero();
  double radius = infinity;
};

bool may_touch(const Ball3& a, const Ball3& b) {
  return !std::isfinite(a.radius) || !std::isfinite(b.radius) || (a.at - b.at).norm() <= a.radius + b.radius;
}

/// Who could meet whom.
class Meetings {
 public:
  explicit Meetings(const Scene& scene) : scene_(scene), linked_(scene.bodies.size()) {
    for (std::size_t i = 0; i < scene.bodies.size(); ++i) index_.emplace(scene.bodies[i].name, static_cast<int>(i));
    shape_reach_.reserve(scene.bodies.size());
    for (const BodyDef& body : scene.bodies) shape_reach_.push_back(reach_of(body.shape));
    look_at_joints();
  }

  void find(SceneContent& out) {
    for (std::size_t i = 0; i < scene_.bodies.size(); ++i)
      if (scene_.bodies[i].contacts && shape_reach_[i] > 0) solid_.push_back(static_cast<int>(i));
    const auto group = [&](int i) { return scene_.bodies[i].group; };
    if (solid_.empty() ||
        (group(solid_[0]) != 0 && std::all_of(solid_.begin(), solid_.end(), [&](int i) { return group(i) == group(solid_[0]); })))
      return;
    out.could_meet = find_meeting(out.pair);
    out.folds = find_folding(out.folding_pair);
  }

 private:
  using Names = std::pair<std::string, std::string>;

  /// Of two mechanisms: those that can move, each against all before it and all that are fixed. Where that takes long, among
  /// those alone that come by each other along x.
  bool find_meeting(Names& pair) {
    constexpr std::int64_t most_looks = 4'000'000;
    std::int64_t looks = 0;
    for (const int i : solid_) {
      if (scene_.bodies[i].immovable()) continue;
      for (const int j : solid_) {
        if (j == i || (!scene_.bodies[j].immovable() && j > i)) continue;
        if (++looks > most_looks) return sweep_for_meeting(pair);
        if (same_mechanism(i, j) || !meet(i, j)) continue;
        pair = {scene_.bodies[j].name, scene_.bodies[i].name};
        return true;
      }
    }
    return false;
  }
  bool sweep_for_meeting(Names& pair) {
    struct Stretch {
      double low, high;
      int body;
    };
    std::vector<Stretch> stretches, under_way;
    for (const int i : solid_) {
      const Ball3 all = std::holds_alternative<Plane>(scene_.bodies[i].shape) ? Ball3{} : range(i);
      Stretch stretch{all.at.x() - all.radius, all.at.x() + all.radius, i};
      if (weightless_) {
        const double x = scene_.bodies[i].position.x(), near = nearness * shape_reach_[i];
        stretch.low = std::max(stretch.low, x - near);
        stretch.high = std::min(stretch.high, x + near);
      }
      stretches.push_back(stretch);
    }
    std::stable_sort(stretches.begin(), stretches.end(), [](const Stretch& a, const Stretch& b) { return a.low < b.low; });
    for (const Stretch& next : stretches) {
      Budget::listen();
      std::erase_if(under_way, [&](const Stretch& other) { return other.high < next.low; });
      for (const Stretch& other : under_way) {
        const bool led = scene_.bodies[next.body].immovable();
        const int i = led ? other.body : next.body, j = led ? next.body : other.body;
        if (scene_.bodies[i].immovable() || same_mechanism(i, j) || !meet(i, j)) continue;
        pair = {scene_.bodies[j].name, scene_.bodies[i].name};
        return true;
      }
      under_way.push_back(next);
    }
    return false;
  }
  /// Of one mechanism, what holds it included.
  bool find_folding(Names& pair) {
    std::unordered_map<int, std::vector<int>> mechanisms;  // by their roots
    std::vector<bool> is_solid(scene_.bodies.size(), false);
    for (const int i : solid_) {
      is_solid[i] = true;
      if (!scene_.bodies[i].immovable()) mechanisms[linked_.root(i)].push_back(i);
    }
    for (const auto& [root, fixed] : attached_)
      if (is_solid[fixed]) mechanisms[root].push_back(fixed);
    for (auto& [root, bodies] : mechanisms) std::sort(bodies.begin(), bodies.end());
    for (const int i : solid_) {
      if (scene_.bodies[i].immovable()) continue;
      Budget::listen();
      for (const int j : mechanisms[linked_.root(i)]) {
        if (j == i || (!scene_.bodies[j].immovable() && j > i) || !same_mechanism(i, j) || !meet(i, j)) continue;
        pair = {scene_.bodies[j].name, scene_.bodies[i].name};
        return true;
      }
    }
    return false;
  }

  [[nodiscard]] int body(const std::string& name) const {
    const auto found = index_.find(name);
    return found == index_.end() ? -1 : found->second;
  }

  void look_at_joints() {
    std::vector<double> arm(scene_.bodies.size(), 0);
    for (std::size_t i = 0; i < arm.size(); ++i) arm[i] = shape_reach_[i];
    for (const JointDef& joint : scene_.joints) {
      const std::vector<std::string> partners = partners_of(joint);
      for (std::size_t a = 0; a < partners.size(); ++a)
        for (std::size_t b = 0; b < a; ++b) {
          const int i = body(partners[a]), j = body(partners[b]);
          if (i < 0 || j < 0) continue;
          joined_.emplace(std::min(i, j), std::max(i, j));
          if (!scene_.bodies[i].immovable() && !scene_.bodies[j].immovable()) linked_.join(i, j);
        }
      std::visit(
          [&](const auto& j) {
            if constexpr (requires { j.at; })
              for (const std::string& name : j.between)
                if (const int i = body(name); i >= 0) arm[i] = std::max(arm[i], (j.at - scene_.bodies[i].position).norm());
          },
          joint);
    }
    // A linkage that turns about a point of the world goes no further from it than all its bodies in a line.
    anchors_.resize(scene_.bodies.size());
    for (std::size_t i = 0; i < arm.size(); ++i)
      if (!scene_.bodies[i].immovable()) anchors_[linked_.root(static_cast<int>(i))].reach += 2 * arm[i];
    for (const JointDef& joint : scene_.joints)
      for (const std::string& name : between(joint)) {
        const int i = body(name);
        if (i < 0 || scene_.bodies[i].immovable()) continue;
        Anchor& anchor = anchors_[linked_.root(i)];
        const bool turns = std::holds_alternative<Ball>(joint) || std::holds_alternative<Hinge>(joint) ||
                           std::holds_alternative<Universal>(joint) || std::holds_alternative<Weld>(joint) ||
                           std::holds_alternative<Gear>(joint);
        anchor.bounded = anchor.bounded && turns;
        for (const std::string& other : between(joint)) {
          const int k = body(other);
          if (k >= 0 && scene_.bodies[k].immovable()) attached_.emplace(linked_.root(i), k);
          std::visit(
              [&](const auto& j) {
                if constexpr (requires { j.at; })
                  if (other == "world" || (k >= 0 && scene_.bodies[k].fixed)) anchor.at = j.at;
              },
              joint);
        }
      }
  }

  /// Where the body's shape can come to.
  [[nodiscard]] Ball3 range(int i) {
    const BodyDef& body = scene_.bodies[i];
    if (body.fixed) return {body.position, shape_reach_[i]};
    if (body.immovable()) return {};  // wherever it is told to go
    const Anchor& anchor = anchors_[linked_.root(i)];
    if (!anchor.at || !anchor.bounded) return {};
    return {*anchor.at, anchor.reach};
  }

  [[nodiscard]] bool meet(int i, int j) {
    const BodyDef &a = scene_.bodies[i], &b = scene_.bodies[j];
    if (a.group != 0 && a.group == b.group) return false;
    const auto accepts = [](const BodyDef& p, const BodyDef& q) {
      return !p.meets || std::find(p.meets->begin(), p.meets->end(), q.layer) != p.meets->end();
    };
    if (!accepts(a, b) || !accepts(b, a)) return false;
    if (joined_.contains({std::min(i, j), std::max(i, j)})) return false;
    const Ball3 of_a = range(i);
    if (std::holds_alternative<Plane>(b.shape) && std::isfinite(of_a.radius))
      return (b.orientation * Vec3::UnitZ()).dot(of_a.at - b.position) <= of_a.radius;
    // In space, what attracts each other from hundreds of times its size passes as a rule.
    if (weightless_ && (a.position - b.position).norm() > nearness * (shape_reach_[i] + shape_reach_[j])) return false;
    return may_touch(of_a, range(j));
  }

  [[nodiscard]] bool same_mechanism(int i, int j) {
    if (!scene_.bodies[j].immovable()) return linked_.root(i) == linked_.root(j);
    return !is_ground(scene_.bodies[j].shape) && attached_.contains({linked_.root(i), j});
  }

  static constexpr double nearness = 100;
  const Scene& scene_;
  std::vector<int> solid_;  // that have contacts, rising
  UnionFind linked_;
  std::unordered_map<std::string, int> index_;
  std::vector<double> shape_reach_;
  std::vector<Anchor> anchors_;             // of each linkage, by its root
  std::set<std::pair<int, int>> joined_;    // bodies that a joint ties: these never touch
  std::set<std::pair<int, int>> attached_;  // linkages, and the fixed bodies that hold them
  bool weightless_ = scene_.gravity.isZero(0) && std::any_of(scene_.forces.begin(), scene_.forces.end(), [](const ForceDef& f) {
                       return std::holds_alternative<Gravitation>(f);
                     });
};

/// Springs or dampers between ends of some compliance, as a graph. With B the matrix of all sqrt(k) J M^(-1/2), the largest
/// eigenvalue of M^-1 K is that of B B^T, at most its largest sum over a row (Gershgorin):
///   sqrt(k) sum over both ends (1/m of the end) sum over its springs sqrt(k').
class Graph {
 public:
  void add(double k, std::vector<std::pair<std::size_t, double>> ends) {
    if (!(k > 0)) return;
    const double root = std::sqrt(k);
    for (const auto& [end, inverse_mass] : ends) sums_[end] += inverse_mass > 0 ? root * std::sqrt(inverse_mass) : 0;
    springs_.push_back({root, std::move(ends)});
  }
  [[nodiscard]] double bound() const {
    double out = 0;
    for (const auto& [root, ends] : springs_) {
      double sum = 0;
      for (const auto& [end, inverse_mass] : ends) sum += std::sqrt(inverse_mass) * sums_.at(end);
      out = std::max(out, root * sum);
    }
    return out;
  }

 private:
  struct Element {
    double root;
    std::vector<std::pair<std::size_t, double>> ends;
  };
  std::vector<Element> springs_;
  std::unordered_map<std::size_t, double> sums_;
};

/// Calls visit(joint, drive, whether it turns) for all drives.
template <class Visit>
void for_each_drive(const Scene& scene, Visit&& visit) {
  for (const JointDef& joint : scene.joints)
    std::visit(
        [&](const auto& j) {
          if constexpr (requires { j.drive; }) {
            if (j.drive != Drive{}) visit(joint, j.drive, !locks(j).locked[5]);
          } else if constexpr (requires { j.drives; }) {
            for (const AxisDrive& axis : j.drives) visit(joint, axis.drive, axis_number(axis.axis) >= 3);
          }
        },
        joint);
}

/// How stiff and how damped.
class Stiffness {
 public:
  explicit Stiffness(const Scene& scene) : scene_(scene) {
    for (std::size_t i = 0; i < scene.bodies.size(); ++i) body_.emplace(scene.bodies[i].name, i);
    std::size_t first = scene.bodies.size();
    const auto add_group = [&](const ParticleGroup& group) {
      groups_.push_back({group, first, particle_masses(group)});
      first += group.positions.size();
    };
    for (const ParticleGroup& group : scene.particles) add_group(group);
    for (const SolidDef& solid : scene.solids) add_group(build(solid));
  }

  void find(SceneContent& out) {
    for (const Group& group : groups_) out.particle_count += group.particles.positions.size();
    for (const ForceDef& force : scene_.forces) std::visit([this](const auto& f) { add(f); }, force);
    out.tied_frequency = std::sqrt(springs_.bound());
    out.tied_decay = std::max(dampers_.bound(), drag_);
    for (const Group& group : groups_)
      for (const SpringSet& set : group.particles.springs)
        for (const auto& [i, j] : set.pairs) {
          const std::vector ends{particle(group, i), particle(group, j)};
          springs_.add(set.stiffness, ends);
          dampers_.add(set.damping, ends);
        }
    // An element is no stiffer than springs of its largest stiffness that hold each of its corners.
    for (const Group& group : groups_)
      visit_element_stiffness(group.particles, [&](const auto& corners, double stiffness, double viscosity) {
        for (const int corner : corners) {
          springs_.add(stiffness, {particle(group, corner)});
          dampers_.add(viscosity * stiffness, {particle(group, corner)});
        }
      });
    out.frequency = std::sqrt(springs_.bound());
    out.decay = std::max(dampers_.bound(), drag_);
    for_each_drive(scene_, [&](const JointDef& joint, const Drive& drive, bool turns) { add(joint, drive, turns); });
    out.joint_frequency = std::sqrt(joint_springs_.bound());
    out.joint_decay = joint_dampers_.bound();
  }

 private:
  using End = std::pair<std::size_t, double>;  // number, inverse mass
  struct Group {
    ParticleGroup particles;
    std::size_t first;
    std::vector<double> masses;
  };
  static constexpr std::size_t nobody = static_cast<std::size_t>(-1);

  static End particle(const Group& group, int k) {
    const ParticleGroup& g = group.particles;
    if (std::find(g.pinned.begin(), g.pinned.end(), k) != g.pinned.end()) return {nobody, 0};
    const double mass = static_cast<std::size_t>(k) < group.masses.size() ? group.masses[k] : 1;
    return {group.first + static_cast<std::size_t>(k), 1 / mass};
  }

  const Body& compiled(std::size_t i) {
    auto found = compiled_.find(i);
    if (found == compiled_.end()) found = compiled_.emplace(i, compile_body(scene_.bodies[i], scene_.materials, "/bodies")).first;
    return found->second;
  }

  End end(const std::string& name, const std::optional<Vec3>& at) {
    if (const auto found = body_.find(name); found != body_.end()) {
      const BodyDef& def = scene_.bodies[found->second];
      if (def.immovable()) return {nobody, 0};
      const Body& body = compiled(found->second);
      double inverse_mass = 1 / body.mass;
      if (at && !body.point_mass) {
        const Vec3 r = def.orientation.conjugate() * (*at - def.position) - body.center_of_mass;
        inverse_mass += r.squaredNorm() * least_inverse(body);
      }
      return {found->second, inverse_mass};
    }
    for (const Group& group : groups_) {
      const std::string& own = group.particles.name;
      if (name == own) return particle(group, 0);
      if (name.starts_with(own + "/"))
        if (const auto k = to_integer(std::string_view(name).substr(own.size() + 1)))
          return particle(group, static_cast<int>(*k));
    }
    return {nobody, 0};
  }

  /// One over the smallest moment of inertia, from below by the trace.
  static double least_inverse(const Body& body) { return body.inertia.inverse().trace(); }

  void add(const Spring& s) {
    const std::vector ends{end(s.between[0], s.from), end(s.between[1], s.to)};
    springs_.add(s.stiffness, ends);
    dampers_.add(s.damping, ends);
  }
  void add(const TorsionSpring& s) {
    std::vector<End> ends;
    for (const std::string& name : s.between) {
      const auto found = body_.find(name);
      if (found == body_.end() || scene_.bodies[found->second].immovable() || compiled(found->second).point_mass) continue;
      // Rotations are other coordinates than translations: ends of their own.
      ends.emplace_back(nobody - 1 - found->second, least_inverse(compiled(found->second)));
    }
    springs_.add(s.stiffness, ends);
    dampers_.add(s.damping, ends);
  }
  /// What acts on a free axis, the joint's own rows left out of account: they only make bodies heavier.
  void add(const JointDef& joint, const Drive& drive, bool turns) {
    std::vector<End> ends;
    std::visit(
        [&](const auto& j) {
          for (const std::string& name : j.between) {
            const auto found = body_.find(name);
            if (found == body_.end() || scene_.bodies[found->second].fixed) continue;
            const Body& body = compiled(found->second);
            if (turns && !body.point_mass) ends.emplace_back(nobody - 1 - found->second, least_inverse(body));
            if constexpr (requires { j.at; })
              if (!turns) ends.push_back(end(name, j.at));
          }
        },
        joint);
    joint_springs_.add(drive.stiffness, ends);
    joint_dampers_.add(drive.damping, ends);
  }
  void add(const Drag& d) {
    for (std::size_t i = 0; i < scene_.bodies.size(); ++i) {
      const std::string& name = scene_.bodies[i].name;
      if (scene_.bodies[i].immovable() || (!d.on.empty() && std::find(d.on.begin(), d.on.end(), name) == d.on.end())) continue;
      drag_ = std::max(drag_, d.viscous / compiled(i).mass);
      if (d.angular > 0 && !compiled(i).point_mass) drag_ = std::max(drag_, d.angular * least_inverse(compiled(i)));
    }
    for (const Group& group : groups_) {
      if (!d.on.empty() && std::find(d.on.begin(), d.on.end(), group.particles.name) == d.on.end()) continue;
      for (std::size_t k = 0; k < group.particles.positions.size(); ++k)
        drag_ = std::max(drag_, d.viscous * particle(group, static_cast<int>(k)).second);
    }
  }
  void add(const PenaltyPlane& p) {
    for (const Group& group : groups_)
      for (std::size_t k = 0; k < group.particles.positions.size(); ++k) {
        springs_.add(p.stiffness, {particle(group, static_cast<int>(k))});
        dampers_.add(p.damping, {particle(group, static_cast<int>(k))});
      }
  }
  template <class Other>
  void add(const Other&) {}  // angle springs are soft as a rule; what others do is not known ahead

  const Scene& scene_;
  std::unordered_map<std::string, std::size_t> body_;
  std::unordered_map<std::size_t, Body> compiled_;
  std::vector<Group> groups_;
  Graph springs_, dampers_, joint_springs_, joint_dampers_;
  double drag_ = 0;
};

void add_needs(const Drive& drive, JointNeeds& needs) {
  needs.drives = true;
  needs.switching = needs.switching || switches(drive) || saturates(drive);
  needs.rotors = needs.rotors || drive.armature > 0;
}

}  // namespace

bool some_touches(const Scene& scene) {
  const auto touches = [](const auto& group) { return group.contact.has_value(); };
  return std::any_of(scene.particles.begin(), scene.particles.end(), touches) ||
         std::any_of(scene.solids.begin(), scene.solids.end(), [&](const SolidDef& solid) { return std::visit(touches, solid); });
}

JointNeeds needs_of(const Scene& scene) {
  JointNeeds out;
  for_each_drive(scene, [&](const JointDef&, const Drive& drive, bool) { add_needs(drive, out); });
  for (const JointDef& joint : scene.joints) add_needs(joint, out);
  for (const BodyDef& body : scene.bodies) {
    out.kinematic = out.kinematic || (body.immovable() && !body.fixed);
    out.belts = out.belts || !body.surface_velocity.isZero(0);
  }
  out.soft = some_touches(scene);
  return out;
}

JointNeeds needs_of(const Joint& joint) {
  JointNeeds out;
  for (const Joint::AxisDrive& axis : joint.drives) add_needs(axis.drive, out);
  if (joint.equations) {
    out.rates = joint.equations->velocities;
    out.drives = out.drives || joint.equations->one_sided;
    out.switching = out.switching || joint.equations->one_sided;
  }
  return out;
}

JointNeeds needs_of(const Model& model) {
  JointNeeds out;
  for (const Joint& joint : model.joints) {
    const JointNeeds own = needs_of(joint);
    out.drives = out.drives || own.drives;
    out.switching = out.switching || own.switching;
    out.rates = out.rates || own.rates;
    out.rotors = out.rotors || own.rotors;
  }
  out.kinematic = model.has_kinematic();
  out.belts = model.belt_count > 0;
  out.soft = !model.particle_surfaces.empty();
  return out;
}

SceneContent content_of(const Scene& scene) {
  SceneContent out;
  out.joints = !scene.joints.empty();
  out.particles = !scene.particles.empty() || !scene.solids.empty();
  for (const BodyDef& body : scene.bodies) {
    out.movable = out.movable || !body.immovable();
    if (!body.fixed) out.spin = std::max(out.spin, body.angular_velocity.norm());
  }
  out.needs = needs_of(scene);
  out.realtime = unknown_to_realtime(scene).empty();
  for_each_drive(scene, [&](const JointDef&, const Drive& drive, bool turns) {
    if (turns && drive.motor_strength > 0) out.spin = std::max(out.spin, std::abs(drive.motor_speed));
    if (turns && drive.motion) out.spin = std::max(out.spin, fastest(*drive.motion));
  });
  Meetings(scene).find(out);
  Stiffness(scene).find(out);
  return out;
}

}  // namespace rotule
