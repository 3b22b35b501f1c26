// A tree of links as a scene. Links without joints of their own are one body with their parent; a link with several joints, and
// one without mass between two joints, stands on carriers: bodies that take a small share of the mass of the one that they carry,
// so that the whole weighs what it did.
#include <fmt/format.h>
#include <rotule/error.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <set>
#include <tuple>
#include <unordered_map>

#include "base/text.h"
#include "math/pose.h"
#include "model/names.h"
#include "model/validate.h"
#include "robot/couplings.h"
#include "robot/sensor_seats.h"
#include "robot/surfaces.h"
#include "robot/tree.h"

namespace rotule::robot {

namespace {

using std::numbers::pi;

/// What a carrier takes of the mass and the inertia of what it carries. Motion is off by about as much; solvers bear the ratio.
constexpr double carrier_share = 1e-5;
/// Joints of a loop that are further open than this at the start are another pose's.
constexpr double widest_gap = 1e-3;  // m, rad

class Assembly {
 public:
  Assembly(Tree tree, const RobotOptions& options, Remarks& remarks)
      : tree_(std::move(tree)), options_(options), remarks_(remarks) {}

  Robot make() {
    check_names();
    hold_massless();
    start_within_stops();
    follow();
    poses_ = link_poses(tree_, false, &after_);
    find_bodies();
    add_ground();
    for (std::size_t i = 0; i < tree_.links.size(); ++i)
      if (own_[i]) add_link(i);
    for (std::size_t i = 0; i < tree_.links.size(); ++i)
      if (!own_[i]) add_frame(i);
    for (const Tree::Site& site : tree_.sites) add_site(site);
    add_couplings();
    add_bounds();
    add_closures();
    for (const auto& [a, b] : tree_.excluded)
      if (a >= 0 && b >= 0) excluded_.push_back({body_name(static_cast<std::size_t>(a)), body_name(static_cast<std::size_t>(b))});
    say_who_touches(robot_.scene, surfaces_, excluded_, touching_pairs(), tree_.largest_friction, remarks_);
    hold_up();
    name_actuators();
    robot_.sensors = seat_sensors(tree_, holder_, in_holder_, remarks_);
    finish();
    return std::move(robot_);
  }

 private:
  void check_names() {
    std::set<std::string> links, joints;
    for (const TreeLink& link : tree_.links) {
      if (link.name == "world") link.element.fail("\"world\" is the frame that never moves; choose another name");
      if (!links.insert(link.name).second) link.element.fail(fmt::format("the name {} is taken already", in_quotes(link.name)));
      for (const TreeJoint& joint : link.joints)
        if (!joints.insert(joint.name).second)
          joint.element.fail(fmt::format("the name {} is taken already", in_quotes(joint.name)));
    }
  }

  /// What moves and carries no mass at all has no motion of its own: it is held fast.
  void hold_massless() {
    std::vector<double> carried(tree_.links.size(), 0.0);
    for (std::size_t i = tree_.links.size(); i-- > 0;) {
      TreeLink& link = tree_.links[i];
      if (link.inertial) carried[i] += link.inertial->mass;
      if (carried[i] == 0 && !link.joints.empty()) {
        for (const TreeJoint& joint : link.joints)
          joint.element.remark(remarks_, fmt::format("joint {}", in_quotes(joint.name)),
                               "moves nothing that has mass; what it carries is held fast");
        link.joints.clear();
      }
      if (link.parent >= 0) carried[static_cast<std::size_t>(link.parent)] += carried[i];
    }
  }

  void start_within_stops() {
    std::set<std::pair<int, int>> tied;
    for (const Coupling& coupling : tree_.couplings)
      for (const Coupling::Term& term : coupling.terms) tied.insert({term.joint.link, term.joint.joint});
    for (std::size_t i = 0; i < tree_.links.size(); ++i)
      for (std::size_t k = 0; k < tree_.links[i].joints.size(); ++k) {
        TreeJoint& joint = tree_.links[i].joints[k];
        const double within = std::clamp(joint.q, joint.drive.lower.value_or(-infinity), joint.drive.upper.value_or(infinity));
        if (within == joint.q) continue;
        const bool moves =
            tree_.clamp_start && tree_.closures.empty() && !tied.contains({static_cast<int>(i), static_cast<int>(k)});
        joint.element.remark(remarks_, fmt::format("joint {}", in_quotes(joint.name)),
                             fmt::format("is beyond its stop at {}; {} {}", shortest(joint.q),
                                         moves ? "begins at" : "begins there all the same, the stop being at", shortest(within)));
        if (moves) joint.q = within;
      }
  }

  TreeJoint* joint_at(const JointPlace& place) {
    TreeLink& link = tree_.links[static_cast<std::size_t>(place.link)];
    if (static_cast<std::size_t>(place.joint) >= link.joints.size()) return nullptr;  // held fast
    return &link.joints[static_cast<std::size_t>(place.joint)];
  }

  /// Joints that follow others begin where those put them.
  void follow() {
    std::map<const TreeJoint*, double> before;
    // Followers lead others in their turn, in any order: as many rounds as there are couplings reach the last of a chain.
    bool changed = true;
    for (std::size_t round = 0; changed && round <= tree_.couplings.size(); ++round) {
      changed = false;
      for (const Coupling& coupling : tree_.couplings) {
        TreeJoint* follower = joint_at(coupling.terms[0].joint);
        const std::optional<double> q = follower == nullptr ? std::nullopt : put_by_leaders(coupling, *follower);
        if (!q) continue;
        before.try_emplace(follower, follower->q);
        changed = changed || std::abs(*q - follower->q) > 1e-12;
        follower->q = *q;
      }
    }
    for (const TreeLink& link : tree_.links)
      for (const TreeJoint& joint : link.joints)
        if (const auto found = before.find(&joint); found != before.end() && std::abs(joint.q - found->second) > 1e-6)
          joint.element.remark(remarks_, fmt::format("joint {}", in_quotes(joint.name)),
                               fmt::format("follows others, and begins at {:.6g} in place of {:.6g}", joint.q, found->second));
  }
  /// Nothing where the law has no single answer, or a leader is held fast.
  std::optional<double> put_by_leaders(const Coupling& coupling, const TreeJoint& follower) {
    const std::vector<double>& own = coupling.terms[0].powers;
    if (own.size() != 2 || own[1] == 0) return std::nullopt;
    double rest = own[0];
    for (std::size_t i = 1; i < coupling.terms.size(); ++i) {
      const TreeJoint* leader = joint_at(coupling.terms[i].joint);
      if (leader == nullptr) return std::nullopt;
      double power = 1;
      for (const double factor : coupling.terms[i].powers) {
        rest += factor * power;
        power *= leader->q - leader->rest;
      }
    }
    return follower.rest - rest / own[1];
  }

  /// Which links are bodies, and where the others stand in those.
  void find_bodies() {
    const std::size_t count = tree_.links.size();
    own_.assign(count, true);
    fixed_.assign(count, false);
    holder_.resize(count);
    in_holder_.resize(count);
    mass_.assign(count, {});
    for (std::size_t i = 0; i < count; ++i) {
      const TreeLink& link = tree_.links[i];
      const bool parent_fixed = link.parent < 0 || fixed_[static_cast<std::size_t>(link.parent)];
      fixed_[i] = link.joints.empty() && parent_fixed && !link.kinematic;
      holder_[i] = i;
      // What stands still with the world keeps its name: that costs nothing.
      if (!link.joints.empty() || parent_fixed || link.kinematic) continue;
      if (options_.weld_fixed && link.inertial && link.inertial->mass > 0) continue;
      own_[i] = false;
      holder_[i] = holder_[static_cast<std::size_t>(link.parent)];
      in_holder_[i] = in_holder_[static_cast<std::size_t>(link.parent)] * link.rest;
      in_holder_[i].orientation.normalize();
    }
    for (std::size_t i = 0; i < count; ++i)
      if (tree_.links[i].inertial)
        mass_[holder_[i]] = together(mass_[holder_[i]], seen_from(in_holder_[i], *tree_.links[i].inertial));
    find_carriers();
  }

  /// Each carrier takes its share from the first body with mass beyond it.
  void find_carriers() {
    carrier_of_.assign(tree_.links.size(), {});
    for (std::size_t i = tree_.links.size(); i-- > 0;) {
      if (!own_[i] || fixed_[i] || tree_.links[i].kinematic) continue;
      std::size_t from = i;
      if (mass_[i].mass == 0) {
        // A link without mass: the heaviest of the bodies beyond it bears it.
        from = tree_.links.size();
        for (std::size_t j = i + 1; j < tree_.links.size(); ++j) {
          const int parent = tree_.links[j].parent;
          if (!own_[j] || parent < 0 || holder_[static_cast<std::size_t>(parent)] != i) continue;
          if (from == tree_.links.size() || mass_[j].mass > mass_[from].mass) from = j;
        }
        if (from == tree_.links.size()) continue;
        mass_[i] = share_of(from, i);
        tree_.links[i].element.remark(remarks_, fmt::format("link {}", in_quotes(tree_.links[i].name)),
                                      fmt::format("has no mass and stands between joints; it takes {:g} of the mass of {}",
                                                  carrier_share, in_quotes(tree_.links[from].name)));
      }
      const std::size_t joints = tree_.links[i].joints.size();
      for (std::size_t k = 0; k + 1 < joints; ++k) carrier_of_[i].push_back(share_in(i, poses_[i], after_[i][k]));
      if (joints > 1)
        tree_.links[i].element.remark(
            remarks_, fmt::format("body {}", in_quotes(tree_.links[i].name)),
            fmt::format("has {} joints; each but the last moves a carrier, which takes {:g} of its mass", joints, carrier_share));
    }
  }
  MassProperties share_of(std::size_t from, std::size_t to) { return share_in(from, poses_[from], poses_[to]); }
  MassProperties share_in(std::size_t from, const Pose& X_from, const Pose& X_to) {
    MassProperties& whole = mass_[from];
    MassProperties part = whole;
    part.mass *= carrier_share;
    part.inertia *= carrier_share;
    whole.mass -= part.mass;
    whole.inertia -= part.inertia;
    return seen_from(inverse(X_to) * X_from, part);
  }

  void add_ground() {
    for (std::size_t k = 0; k < tree_.ground.size(); ++k) {
      TreeGeom& geom = tree_.ground[k];
      if (!geom.collides) continue;
      BodyDef body{.name = free_body_name(geom.name.empty() ? fmt::format("ground_{}", k) : geom.name), .fixed = true};
      body.position = geom.pose.position;
      body.orientation = geom.pose.orientation;
      body.shape = std::move(geom.shape);
      surfaces_.push_back({geom.friction, geom.slides_freely, geom.priority, geom.contype, geom.conaffinity});
      if (!geom.name.empty()) body_of_geom_.emplace(geom.name, body.name);
      taken_.insert(body.name);
      robot_.scene.add(std::move(body));
    }
  }

  std::string free_body_name(std::string name) {
    const auto is_taken = [&](const std::string& n) {
      return n == "world" || taken_.contains(n) ||
             std::any_of(tree_.links.begin(), tree_.links.end(), [&](const TreeLink& link) { return link.name == n; });
    };
    while (is_taken(name)) name += "_";
    return name;
  }

  void add_link(std::size_t i) {
    TreeLink& link = tree_.links[i];
    BodyDef body{.name = link.name, .fixed = fixed_[i], .kinematic = link.kinematic};
    body.position = poses_[i].position;
    body.orientation = poses_[i].orientation;
    const MassProperties& m = mass_[i];
    if (m.mass > 0) {
      body.mass = m.mass;
      body.center_of_mass = m.center_of_mass;
      if (m.inertia.isZero(0)) {
        if (!body.immovable())
          link.element.remark(remarks_, fmt::format("inertia of {}", in_quotes(link.name)), "is zero; taken as a point mass");
      } else {
        body.inertia = m.inertia;
      }
    }
    const Surface surface = take_shape(i, body);
    if (tree_.one_group) body.group = 1;
    std::string parent = link.parent < 0 ? "world" : tree_.links[holder_[static_cast<std::size_t>(link.parent)]].name;
    const std::string parent_body = parent;
    // Joints one after the other, each but the last with a carrier as its second body.
    Pose X = link.parent < 0 ? link.rest : poses_[static_cast<std::size_t>(link.parent)] * link.rest;
    Pose X_first = parent == "world" ? Pose{} : poses_[holder_[static_cast<std::size_t>(link.parent)]];
    std::vector<JointDef> joints;
    placed_[i].resize(link.joints.size());
    for (std::size_t k = 0; k < link.joints.size(); ++k) {
      const bool last = k + 1 == link.joints.size();
      const std::string second = last ? link.name : free_body_name(fmt::format("{}/{}", link.name, link.joints[k].name));
      if (!last) add_carrier(second, after_[i][k], carrier_of_[i][k]);
      if (const auto joint = joint_of(link.joints[k], {parent, second}, X, after_[i][k], X_first, placed_[i][k]))
        joints.push_back(*joint);
      parent = second;
      X = X_first = after_[i][k];
    }
    if (link.joints.empty() && !body.immovable())
      joints.emplace_back(Weld{fmt::format("{} weld", link.name), {parent, link.name}, X.position});
    if (link.joints.size() > 1 && parent_body != "world") excluded_.push_back({parent_body, link.name});
    taken_.insert(link.name);
    surfaces_.push_back(surface);
    robot_.scene.add(std::move(body));
    for (JointDef& joint : joints) robot_.scene.add(std::move(joint));
  }

  void add_carrier(const std::string& name, const Pose& X, const MassProperties& m) {
    BodyDef body{.name = name, .mass = m.mass, .center_of_mass = m.center_of_mass};
    if (!m.inertia.isZero(0)) body.inertia = m.inertia;
    body.position = X.position;
    body.orientation = X.orientation;
    body.contacts = false;
    surfaces_.push_back({.touches = false});
    taken_.insert(name);
    robot_.scene.add(std::move(body));
  }

  /// All shapes of a body and of what is held fast to it.
  Surface take_shape(std::size_t i, BodyDef& body) {
    std::vector<std::pair<Pose, TreeGeom*>> all;
    bool any_collides = false;
    for (std::size_t j = i; j < tree_.links.size(); ++j)
      if (holder_[j] == i)
        for (TreeGeom& geom : tree_.links[j].geoms) {
          all.emplace_back(in_holder_[j] * geom.pose, &geom);
          any_collides = any_collides || geom.collides;
        }
    if (any_collides) std::erase_if(all, [](const auto& each) { return !each.second->collides; });
    Surface out;
    body.contacts = out.touches = any_collides && tree_.contacts;
    if (all.empty()) return out;
    const TreeGeom& first = *all[0].second;
    out = {first.friction, first.slides_freely, first.priority, 0, 0, out.touches};
    for (const auto& [pose, geom] : all) {
      if (geom->friction != first.friction || geom->contype != first.contype || geom->conaffinity != first.conaffinity ||
          geom->slides_freely != first.slides_freely || geom->priority != first.priority)
        tree_.links[i].element.remark(
            remarks_, fmt::format("geoms of {}", in_quotes(body.name)),
            "differ in friction or contype, and a body has one surface: the friction of the highest priority and the largest "
            "counts, and all of their contypes");
      const auto rank = [](double priority, bool slides_freely, const std::array<double, 3>& friction) {
        return std::tuple(priority, !slides_freely, friction[0]);
      };
      if (rank(geom->priority, geom->slides_freely, geom->friction) > rank(out.priority, out.slides_freely, out.friction)) {
        out.friction = geom->friction;
        out.slides_freely = geom->slides_freely;
        out.priority = geom->priority;
      }
      out.contype |= geom->contype;
      out.conaffinity |= geom->conaffinity;
      if (!geom->name.empty() && out.touches) body_of_geom_.emplace(geom->name, body.name);
    }
    if (all.size() == 1 && all[0].first.position.isZero(0) && all[0].first.orientation.coeffs() == Quat::Identity().coeffs()) {
      body.shape = std::move(all[0].second->shape);
      return out;
    }
    Compound compound;
    for (auto& [pose, geom] : all)
      compound.parts.push_back({std::move(geom->shape), pose.position, pose.orientation.normalized(), 1});
    body.shape = std::move(compound);
    return out;
  }

  /// Angles are measured from -pi to pi: stops beyond that are measured from the middle between them.
  double measured_from(TreeJoint& joint) {
    Drive& drive = joint.drive;
    if (!drive.lower && !drive.upper) return 0;
    // Half a turn in a few digits is half a turn.
    constexpr double few_digits = 1e-5;
    if (drive.lower && *drive.lower<-pi&& * drive.lower> - pi - few_digits) drive.lower = -pi;
    if (drive.upper && *drive.upper > pi && *drive.upper < pi + few_digits) drive.upper = pi;
    const std::string what = fmt::format("joint {}", in_quotes(joint.name));
    const bool both = drive.lower && drive.upper;
    const bool beyond = drive.lower.value_or(0) < -pi || drive.upper.value_or(0) > pi;
    if (beyond && both && *drive.upper - *drive.lower >= 2 * pi - 1e-3) {
      joint.element.remark(
          remarks_, what,
          fmt::format("its stops at {} and {} are a full turn apart, and angles are measured within one: left out",
                      shortest(*drive.lower), shortest(*drive.upper)));
      drive.lower.reset();
      drive.upper.reset();
      return 0;
    }
    if (!beyond) return 0;
    if (!both) {
      joint.element.remark(remarks_, what, "its stop is more than half a turn away: left out");
      drive.lower.reset();
      drive.upper.reset();
      return 0;
    }
    const double middle = 0.5 * (*drive.lower + *drive.upper);
    joint.element.remark(
        remarks_, what,
        fmt::format("its stops reach beyond half a turn: its angle is measured from the middle, {:.6g} of the file being 0",
                    middle));
    drive.lower = *drive.lower - middle;
    drive.upper = *drive.upper - middle;
    if (drive.stiffness > 0) drive.rest -= middle;
    return middle;
  }

  std::optional<JointDef> joint_of(TreeJoint& joint, const Between& between, const Pose& before, const Pose& after,
                                   const Pose& X_first, PlacedJoint& placed) {
    const Vec3 at = before.position + before.orientation * joint.at;
    const Vec3 axis = before.orientation * joint.axis;
    if (joint.effort || joint.velocity)
      robot_.ratings.push_back({joint.name, joint.effort.value_or(0), joint.velocity.value_or(0)});
    switch (joint.kind) {
      case TreeJoint::Kind::hinge: {
        const double zero = joint.zero = measured_from(joint);
        placed = {between, true, at, axis, joint.q - joint.rest, X_first, after};
        Hinge out{.name = joint.name, .between = between, .at = at, .axis = axis, .drive = joint.drive};
        out.start = std::remainder(joint.q - zero, 2 * pi);
        return out;
      }
      case TreeJoint::Kind::slide: {
        const Vec3 point = after.position + after.orientation * joint.at;
        placed = {between, false, point, axis, joint.q - joint.rest, X_first, after};
        Slider out{.name = joint.name, .between = between, .at = point, .axis = axis, .drive = joint.drive};
        out.start = joint.q;
        return out;
      }
      case TreeJoint::Kind::ball: {
        Ball out{.name = joint.name, .between = between, .at = at};
        if (joint.drive.damping > 0 || joint.drive.friction > 0)
          for (const char* name : {"rx", "ry", "rz"})
            out.drives.push_back({name, {.friction = joint.drive.friction, .damping = joint.drive.damping}});
        return out;
      }
      case TreeJoint::Kind::planar: {
        Planar out{.name = joint.name, .between = between, .at = at, .normal = axis};
        if (joint.drive.damping > 0 || joint.drive.friction > 0)
          for (const char* name : {"x", "y", "rz"})
            out.drives.push_back({name, {.friction = joint.drive.friction, .damping = joint.drive.damping}});
        return out;
      }
      case TreeJoint::Kind::free:
        break;
    }
    return std::nullopt;
  }

  [[nodiscard]] std::string body_name(std::size_t link) const { return tree_.links[holder_[link]].name; }

  void add_frame(std::size_t i) { robot_.frames.push_back({tree_.links[i].name, body_name(i), in_holder_[i]}); }
  void add_site(const Tree::Site& site) {
    if (site.link < 0) return robot_.frames.push_back({site.name, "world", site.pose});
    const auto i = static_cast<std::size_t>(site.link);
    robot_.frames.push_back({site.name, body_name(i), in_holder_[i] * site.pose});
  }

  /// Nothing, and a remark, where the scene has no such equation.
  std::optional<Constraint> constraint_of(const Coupling& coupling) {
    std::vector<PlacedJoint> joints;
    bool whole = true;
    for (const Coupling::Term& term : coupling.terms) {
      const auto found = placed_.find(static_cast<std::size_t>(term.joint.link));
      whole = whole && found != placed_.end() && static_cast<std::size_t>(term.joint.joint) < found->second.size();
      if (whole) joints.push_back(found->second[static_cast<std::size_t>(term.joint.joint)]);
      whole = whole && !joints.back().between[0].empty();  // balls and free joints have no one coordinate
    }
    std::optional<Constraint> out;
    if (whole) out = coupling_constraint(coupling, joints);
    if (!out)
      coupling.element.remark(
          remarks_, coupling.element.title(),
          "is left out: it ties joints that are held fast or have no one coordinate, or more bodies than an equation "
          "takes");
    return out;
  }

  void add_couplings() {
    for (const Coupling& coupling : tree_.couplings)
      if (std::optional<Constraint> constraint = constraint_of(coupling)) robot_.scene.add(JointDef(std::move(*constraint)));
  }

  /// L = sum of factor q, in q - rest as couplings have it.
  void add_bounds() {
    for (const SumBounds& bounds : tree_.bounds) {
      Coupling sum{bounds.name, {}, bounds.element};
      double at_rest = 0;
      for (const auto& [place, factor] : bounds.terms) {
        sum.terms.push_back({place, {0, factor}});
        if (const TreeJoint* joint = joint_at(place)) at_rest += factor * joint->rest;
      }
      for (const bool low : {true, false}) {
        std::optional<Constraint> constraint = constraint_of(sum);
        if (!constraint) break;
        constraint->name += low ? " lower" : " upper";
        (low ? constraint->at_least : constraint->at_most) = (low ? bounds.lower : bounds.upper) - at_rest;
        robot_.scene.add(JointDef(std::move(*constraint)));
      }
    }
  }

  /// Geoms that are named to touch, as the bodies that they are part of.
  std::vector<TouchingPair> touching_pairs() {
    std::vector<TouchingPair> out;
    std::set<std::pair<std::string, std::string>> tied;
    for (const JointDef& joint : robot_.scene.joints) tied.insert({between(joint)[0], between(joint)[1]});
    for (const GeomPair& pair : tree_.pairs) {
      const auto a = body_of_geom_.find(pair.geoms[0]), b = body_of_geom_.find(pair.geoms[1]);
      const std::string what = fmt::format("pair of {} and {}", in_quotes(pair.geoms[0]), in_quotes(pair.geoms[1]));
      if (a == body_of_geom_.end() || b == body_of_geom_.end()) {
        pair.element.remark(remarks_, what, "is left out: one of them is not there, or nothing that can touch");
      } else if (a->second == b->second) {
        pair.element.remark(remarks_, what, "is left out: both are parts of one body");
      } else if (tied.contains({a->second, b->second}) || tied.contains({b->second, a->second})) {
        pair.element.remark(remarks_, what, "is left out: bodies that a joint ties do not touch");
      } else {
        out.push_back({{a->second, b->second}, pair.friction, pair.element});
      }
    }
    return out;
  }

  /// What something unseen carries of a link's weight acts where the link has its own centre of mass.
  void hold_up() {
    for (std::size_t i = 0; i < tree_.links.size(); ++i) {
      const TreeLink& link = tree_.links[i];
      const std::size_t holder = holder_[i];
      if (link.held_up == 0 || !link.inertial || !(link.inertial->mass > 0) || fixed_[holder] || tree_.links[holder].kinematic)
        continue;
      const Vec3 force = -link.held_up * link.inertial->mass * tree_.gravity;
      if (force.isZero(0)) continue;
      Load load{.name = fmt::format("{} gravcomp", link.name), .on = tree_.links[holder].name};
      for (std::size_t k = 0; k < 3; ++k) load.force[k] = force[static_cast<Eigen::Index>(k)];
      load.at = poses_[i].position + poses_[i].orientation * link.inertial->center_of_mass;
      robot_.scene.add(std::move(load));
    }
  }

  void add_closures() {
    const std::vector<Pose>& X = poses_;
    for (const Closure& closure : tree_.closures) {
      const auto frame = [&](int link, const Pose& in) { return link < 0 ? in : X[static_cast<std::size_t>(link)] * in; };
      const Pose a = frame(closure.first, closure.in_first), b = frame(closure.second, closure.in_second);
      const double gap = (a.position - b.position).norm();
      const double turn = closure.weld ? a.orientation.angularDistance(b.orientation) : 0;
      const auto name = [&](int link) { return link < 0 ? std::string("world") : body_name(static_cast<std::size_t>(link)); };
      const Between between{name(closure.first), name(closure.second)};
      const auto still = [&](int link) { return link < 0 || fixed_[holder_[static_cast<std::size_t>(link)]]; };
      if (between[0] == between[1] || (still(closure.first) && still(closure.second))) {
        closure.element.remark(remarks_, closure.element.title(), "ties what is one body already: left out");
        continue;
      }
      if (gap > widest_gap || turn > widest_gap) {
        closure.element.remark(remarks_, closure.element.title(),
                               fmt::format("is open by {:.3g} m and {:.3g} rad at the start: left out", gap, turn));
        continue;
      }
      if (gap > 1e-9 || turn > 1e-9)
        closure.element.remark(remarks_, closure.element.title(),
                               fmt::format("is open by {:.3g} m and {:.3g} rad at the start: taken as closed there", gap, turn));
      const Vec3 at = 0.5 * (a.position + b.position);
      if (closure.weld)
        robot_.scene.add(Weld{.name = closure.name, .between = between, .at = at});
      else
        robot_.scene.add(Ball{.name = closure.name, .between = between, .at = at});
    }
  }

  void name_actuators() {
    for (TreeActuator& actuator : tree_.actuators) {
      bool whole = true;
      for (std::size_t k = 0; k < actuator.places.size(); ++k) {
        const TreeJoint* joint = joint_at(actuator.places[k]);
        whole = whole && joint != nullptr;
        if (!whole) break;  // held fast: there is nothing to move
        actuator.law.moves[k].joint = joint->name;
        actuator.law.moves[k].zero = joint->zero;
      }
      if (whole) robot_.actuators.push_back(std::move(actuator.law));
    }
  }

  void finish() {
    Scene& scene = robot_.scene;
    scene.name = tree_.name;
    scene.gravity = tree_.gravity;
    if (tree_.dt) scene.recipe.dt = *tree_.dt;
    name_unnamed(scene);
    try {
      validate(scene);
    } catch (const Error& error) {
      throw Error(tree_.element.file(), error.what());
    }
  }

  Tree tree_;
  const RobotOptions& options_;
  Remarks& remarks_;
  Robot robot_;
  std::vector<Pose> poses_;
  std::vector<std::vector<Pose>> after_;
  std::vector<bool> own_, fixed_;    // bodies of their own; standing still
  std::vector<std::size_t> holder_;  // the link whose body it belongs to
  std::vector<Pose> in_holder_;
  std::vector<MassProperties> mass_;  // of bodies, by their link
  std::vector<std::vector<MassProperties>> carrier_of_;
  std::set<std::string> taken_;
  std::unordered_map<std::size_t, std::vector<PlacedJoint>> placed_;
  std::vector<Surface> surfaces_;  // of the scene's bodies
  std::vector<Between> excluded_;
  std::map<std::string, std::string> body_of_geom_;  // of those that touch
};

}  // namespace

Robot assemble(Tree tree, const RobotOptions& options, Remarks& remarks) {
  return Assembly(std::move(tree), options, remarks).make();
}

}  // namespace rotule::robot
