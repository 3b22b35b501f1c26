#include "model/beam_chain.h"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <Eigen/Geometry>
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numbers>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>

#include "base/text.h"

namespace rotule {

namespace {

/// -pi/4 sin(2 angle) over a full turn, as a table.
void add_table_against_munk(FlowSection& section) {
  constexpr int parts = 48;
  for (int n = 0; n <= parts; ++n) {
    const double angle = std::numbers::pi * (2.0 * n / parts - 1);
    section.angles.push_back(angle);
    section.moment.push_back(n % parts == 0 ? 0.0 : -std::numbers::pi / 4 * std::sin(2 * angle));
  }
}

/// The fluid that a plate of the chord 2 b moves along: pi rho b^2 per length where it moves across itself, pi rho b^4 / 8 where
/// it turns, about the middle of its chord. The wind makes Munk's moment of it, which lift at the quarter of the chord has in
/// itself: what feels the three-quarter point takes it out again, and leaves of the two what damps turning (T. Theodorsen,
/// 1935).
void add_apparent_mass(const SectionCoefficients& section, const FlowSection& wind, const Vec3& chord, Scene& scene) {
  const double b = section.width / 2, moved = std::numbers::pi * section.density * b * b * wind.length;
  const Vec3 middle = 0.5 * (*wind.at + *wind.velocity_at);
  scene.forces.emplace_back(AddedMass{.name = wind.on + "/apparent_mass",
                                      .on = wind.on,
                                      .translation = Vec3(0, 0, moved).asDiagonal().toDenseMatrix(),
                                      .rotation = Vec3(moved * b * b / 8, 0, 0).asDiagonal().toDenseMatrix(),
                                      .at = middle});
  FlowSection against{.name = wind.on + "/against_munk",
                      .on = wind.on,
                      .at = middle,
                      .velocity_at = Vec3(middle + b / 2 * chord),
                      .chord = chord,
                      .normal = wind.normal,
                      .width = section.width,
                      .length = wind.length,
                      .density = section.density};
  add_table_against_munk(against);
  scene.forces.emplace_back(std::move(against));
}

/// What wind makes of a part. Fluid that comes from the left, across the structure, has the angle zero.
void add_section(const SectionCoefficients& section, const std::string& on, const Vec3& at, const StructureFrame& frame,
                 double length, Scene& scene) {
  const Vec3 chord = -frame.side;
  const FlowSection wind{.name = on + "/section",
                         .on = on,
                         .at = Vec3(at + section.pressure_offset * chord),
                         .velocity_at = Vec3(at + section.velocity_offset * chord),
                         .chord = chord,
                         .normal = frame.up,
                         .width = section.width,
                         .length = length,
                         .density = section.density,
                         .angles = section.angles,
                         .drag = section.drag,
                         .lift = section.lift,
                         .moment = section.moment,
                         .skin_friction = section.skin_friction,
                         .unsteady = section.unsteady};
  scene.forces.emplace_back(wind);
  if (section.apparent_mass) add_apparent_mass(section, wind, chord, scene);
}

/// Compliance of half a part, in world axes: rad/(N m).
Mat3 half_compliance(const ChainPart& part, const Vec3& rigidity) {
  const Mat3 axes = part.frame.axes();
  return axes * (0.5 * part.length * rigidity.cwiseInverse()).asDiagonal() * axes.transpose();
}

/// rad/(N m), of springs that beams were given at a node.
Mat3 compliance_of_springs(const std::string& node, const Scene& scene) {
  Mat3 out = Mat3::Zero();
  for (const ForceDef& force : scene.forces)
    if (const auto* spring = std::get_if<TorsionSpring>(&force); spring && spring->name.starts_with(node + "/"))
      out += spring->axis.normalized() * spring->axis.normalized().transpose() / spring->stiffness;
  return out;
}

/// What the last part of another beam bends and twists in the half beyond its middle, where something is held by that end: that
/// half has no joint of its own. Nothing of what is no beam, of the middle of a part, or where its beam goes on.
Mat3 compliance_beyond(const std::string& on, const Vec3& at, const Scene& scene) {
  const auto slash = on.rfind('/');
  const auto body = std::find_if(scene.bodies.begin(), scene.bodies.end(), [&](const BodyDef& b) { return b.name == on; });
  if (slash == on.npos || body == scene.bodies.end() || !std::holds_alternative<Box>(body->shape)) return Mat3::Zero();
  const std::string digits = on.substr(slash + 1);
  int number = 0;
  if (const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), number); read.ec != std::errc())
    return Mat3::Zero();
  const double x = (body->orientation.conjugate() * (at - body->position)).x(), length = std::get<Box>(body->shape).size.x();
  if (std::abs(x) < 0.25 * length) return Mat3::Zero();
  const std::string beam = on.substr(0, slash);
  const auto goes_on = [&](int k) {
    return std::any_of(scene.bodies.begin(), scene.bodies.end(), [&](const BodyDef& b) { return b.name == part(beam, k); });
  };
  const bool before = goes_on(number - 1), after = goes_on(number + 1);
  if (x > 0 ? after : before) return Mat3::Zero();
  // Springs between two parts bend for a half of each, those at a clamped end for one alone.
  return compliance_of_springs(part(beam, x > 0 || !after ? number : number + 1), scene) * (before || after ? 0.5 : 1.0);
}

/// A spring for each principal direction.
void add_springs(const Between& between, const Mat3& compliance, double damping, const std::string& name, Scene& scene) {
  const Eigen::SelfAdjointEigenSolver<Mat3> eigen(compliance);
  for (int k = 0; k < 3; ++k) {
    const double stiffness = 1 / eigen.eigenvalues()[k];
    scene.forces.emplace_back(TorsionSpring{.name = fmt::format("{}/turn_{}", name, k),
                                            .between = between,
                                            .axis = eigen.eigenvectors().col(k),
                                            .stiffness = stiffness,
                                            .damping = damping * stiffness});
  }
}

}  // namespace

StructureFrame::StructureFrame(const Vec3& from, const Vec3& to, const Vec3& upwards, const Place& place)
    : along(to - from), length(along.norm()) {
  if (!(length > 0)) fail(place / "to", "must not be where it begins");
  along /= length;
  side = upwards.cross(along);
  if (!(side.norm() > 1e-9 * upwards.norm())) fail(place / "up", "must not be along the structure");
  side.normalize();
  up = along.cross(side);
}

Mat3 StructureFrame::axes() const {
  Mat3 out;
  out << along, side, up;
  return out;
}

std::string part(const std::string& name, int number) { return fmt::format("{}/{}", name, number); }

void add_springs(const Between& between, const StructureFrame& frame, const Vec3& stiffness, double damping,
                 const std::string& name, Scene& scene) {
  const std::array<Vec3, 3> axes{frame.along, frame.side, frame.up};
  constexpr std::array<std::string_view, 3> kinds{"twist", "bend", "sway"};
  for (int k = 0; k < 3; ++k)
    if (stiffness[k] > 0)
      scene.forces.emplace_back(TorsionSpring{.name = fmt::format("{}/{}", name, kinds[static_cast<std::size_t>(k)]),
                                              .between = between,
                                              .axis = axes[static_cast<std::size_t>(k)],
                                              .stiffness = stiffness[k],
                                              .damping = damping * stiffness[k]});
}

void Chain::build(const std::string& name, Scene& scene) const {
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const ChainPart& piece = parts[k];
    const int number = static_cast<int>(k);
    BodyDef body{.name = part(name, number),
                 .mass = piece.mass,
                 .inertia = Mat3(piece.inertia.asDiagonal()),
                 .position = 0.5 * (nodes[k] + nodes[k + 1]),
                 .orientation = piece.frame.orientation(),
                 .shape = Box{piece.size},
                 .contacts = false};
    if (piece.mass_offset != 0) body.center_of_mass = Vec3(0, -piece.mass_offset, 0);
    if (section) add_section(*section, body.name, body.position, piece.frame, piece.length, scene);
    scene.bodies.push_back(std::move(body));
    if (k > 0) join(name, number - 1, number, number, scene);
  }
}

void Chain::join(const std::string& name, int before, int after, int node, Scene& scene) const {
  const Between between{part(name, before), part(name, after)};
  scene.joints.emplace_back(
      Ball{.name = part(name + "_pin", node), .between = between, .at = nodes[static_cast<std::size_t>(node)]});
  const ChainPart &a = parts[static_cast<std::size_t>(before)], &b = parts[static_cast<std::size_t>(after)];
  if (a.frame.axes() == b.frame.axes())
    return add_springs(between, a.frame, rigidity / (0.5 * (a.length + b.length)), damping, part(name, node), scene);
  add_springs(between, Mat3(half_compliance(a, rigidity) + half_compliance(b, rigidity)), damping, part(name, node), scene);
}

void Chain::hold(const std::string& name, bool at_end, const std::string& how, const std::string& on, const Vec3& rolling,
                 const Place& place, Scene& scene) const {
  const int count = static_cast<int>(parts.size()), number = at_end ? count : 0;
  const Between between{on, part(name, at_end ? count - 1 : 0)};
  const std::string called = part(name + "_pin", number);
  const ChainPart& last = at_end ? parts.back() : parts.front();
  const Vec3& at = at_end ? nodes.back() : nodes.front();
  if (how == "free") return;
  if (how == "clamped" || how == "pinned")
    scene.joints.emplace_back(Ball{.name = called, .between = between, .at = at});
  else if (how == "rolling")
    scene.joints.emplace_back(PointOnLine{.name = called, .between = between, .at = at, .axis = rolling});
  else
    fail(place, fmt::format("must be free, clamped, pinned or rolling, is {}", in_quotes(how)));
  if (how != "clamped") return;
  const Mat3 beyond = compliance_beyond(on, at, scene);
  if (beyond.isZero(0))
    add_springs(between, last.frame, 2 * rigidity / last.length, damping, part(name, number), scene);
  else
    add_springs(between, Mat3(half_compliance(last, rigidity) + beyond), damping, part(name, number), scene);
}

void Chain::close(const std::string& name, Scene& scene) const {
  const int count = static_cast<int>(parts.size());
  join(name, count - 1, 0, count, scene);
}

}  // namespace rotule
