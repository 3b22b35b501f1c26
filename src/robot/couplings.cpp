#include "robot/couplings.h"

#include <fmt/format.h>
#include <rotule/moving.h>

#include <algorithm>

#include "base/text.h"
#include "math/pose.h"

namespace rotule::robot {

namespace {

/// Points that the equation speaks of, by number: names of links may be anything.
struct PointList {
  Constraint& out;
  std::string add(const std::string& body, const Pose& frame, const Vec3& in_world) {
    const Pose back = inverse(frame);
    out.points.push_back({fmt::format("joint_point_{}", out.points.size()), body, back.position + back.orientation * in_world});
    return out.points.back().name;
  }
};

std::string dot(const std::string& a, const std::string& b, const std::string& c, const std::string& d) {
  return fmt::format("(({0}.x-{1}.x)*({2}.x-{3}.x)+({0}.y-{1}.y)*({2}.y-{3}.y)+({0}.z-{1}.z)*({2}.z-{3}.z))", a, b, c, d);
}

/// q - rest of one joint.
std::string coordinate(const PlacedJoint& joint, PointList& points) {
  const auto of_first = [&](const Vec3& x) { return points.add(joint.between[0], joint.first, x); };
  const auto of_second = [&](const Vec3& x) { return points.add(joint.between[1], joint.second, x); };
  if (!joint.turns) {
    const std::string from = of_first(joint.at - joint.u * joint.axis), along = of_first(joint.at + (1 - joint.u) * joint.axis);
    return dot(of_second(joint.at), from, along, from);
  }
  const Vec3 u = joint.axis.unitOrthogonal(), v = joint.axis.cross(u);
  const Vec3 e = Eigen::AngleAxisd(joint.u, joint.axis) * u;
  const std::string a0 = of_first(joint.at), au = of_first(joint.at + u), av = of_first(joint.at + v);
  const std::string b0 = of_second(joint.at), be = of_second(joint.at + e);
  return fmt::format("atan2({},{})", dot(be, b0, av, a0), dot(be, b0, au, a0));
}

}  // namespace

std::optional<Constraint> coupling_constraint(const Coupling& coupling, const std::vector<PlacedJoint>& joints) {
  Constraint out;
  out.name = coupling.name;
  std::vector<std::string> bodies;
  for (const PlacedJoint& joint : joints)
    for (const std::string& body : joint.between)
      if (std::find(bodies.begin(), bodies.end(), body) == bodies.end()) bodies.push_back(body);
  if (bodies.size() > Moving::most_bodies || bodies.size() < 2) return std::nullopt;
  out.between = {bodies[0], bodies[1]};
  out.more.assign(bodies.begin() + 2, bodies.end());

  PointList points{out};
  std::string text;
  double constant = 0;
  for (std::size_t i = 0; i < coupling.terms.size(); ++i) {
    const std::vector<double>& powers = coupling.terms[i].powers;
    if (!powers.empty()) constant += powers[0];
    std::string q;
    for (std::size_t k = 1; k < powers.size(); ++k) {
      if (powers[k] == 0) continue;
      if (q.empty()) q = coordinate(joints[i], points);
      text += fmt::format("{}({})*{}{}", text.empty() ? "" : "+", shortest(powers[k]), q, k > 1 ? fmt::format("^{}", k) : "");
    }
  }
  if (text.empty()) return std::nullopt;
  out.equation = EquationText(fmt::format("{}+({})", text, shortest(constant)));
  return out;
}

}  // namespace rotule::robot
