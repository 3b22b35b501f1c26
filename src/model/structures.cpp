#include "model/structures.h"

#include <fmt/format.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/text.h"
#include "model/names.h"
#include "model/range_check.h"

namespace rotule {
namespace {

/// Along a structure, to its side (to the left, looking along it) and up, at right angles; and its length.
struct StructureFrame {
  Vec3 along, side, up;
  double length;

  StructureFrame(const Vec3& from, const Vec3& to, const Vec3& upwards, const Place& place)
      : along(to - from), length(along.norm()) {
    if (!(length > 0)) fail(place / "to", "must not be where it begins");
    along /= length;
    side = upwards.cross(along);
    if (!(side.norm() > 1e-9 * upwards.norm())) fail(place / "up", "must not be along the structure");
    side.normalize();
    up = along.cross(side);
  }
  [[nodiscard]] Quat orientation() const {
    Mat3 axes;
    axes << along, side, up;
    return Quat(axes);
  }
};

std::string part(const std::string& name, int number) { return fmt::format("{}/{}", name, number); }

template <class Items>
bool is_taken(const Items& items, const std::string& name) {
  return std::any_of(items.begin(), items.end(), [&](const auto& item) { return item.name == name; });
}

/// A name that no other structure, body or group has, or one whose parts would be mistaken for theirs.
std::string structure_name(const std::string& given, std::string_view kind, const Place& place, const Scene& scene) {
  const auto taken = [&](const std::string& name) {
    return is_taken(scene.bodies, part(name, 0)) || is_taken(scene.particles, name) || is_taken(scene.bodies, name);
  };
  if (given.empty()) return free_name(kind, 0, taken);
  if (given.find('/') != given.npos) fail(place / "name", "must hold no /");
  if (taken(given)) fail(place / "name", fmt::format("{} is taken; choose another", in_quotes(given)));
  return given;
}

/// Rotations about three axes at a joint, each with its stiffness.
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

void add_section(const SectionCoefficients& section, const BodyDef& body, const StructureFrame& frame, double length,
                 Scene& scene) {
  // Fluid that comes from the left, across the structure, has the angle zero.
  const Vec3 chord = -frame.side;
  scene.forces.emplace_back(FlowSection{.name = body.name + "/section",
                                        .on = body.name,
                                        .at = Vec3(body.position + section.pressure_offset * chord),
                                        .velocity_at = Vec3(body.position + section.velocity_offset * chord),
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
                                        .unsteady = section.unsteady});
}

/// What has no shear modulus of its own has Poisson's ratio 0.3.
double shear_modulus(const std::optional<double>& given, double youngs_modulus) { return given.value_or(youngs_modulus / 2.6); }

/// A flow past a piece of that area between two ends, `to` being a point of the second where that is a body.
void add_line(const std::optional<LineCoefficients>& drag, double area, const std::string& name, const Between& between,
              const std::optional<Vec3>& to, Scene& scene) {
  if (!drag) return;
  scene.forces.emplace_back(LineDrag{.name = name + "/drag",
                                     .between = between,
                                     .to = to,
                                     .diameter = drag->diameter.value_or(std::sqrt(4 * area / std::numbers::pi)),
                                     .density = drag->density,
                                     .across = drag->across,
                                     .along = drag->along});
}

/// Rigid elements with springs between them: stiffness times length of twist, bending along up and bending to the side.
struct Chain {
  const StructureFrame& frame;
  Vec3 from;
  int elements;
  Vec3 rigidity;  // G J, E I, E I_side: N m^2
  double damping;
  double mass;   // kg, of an element
  Vec3 inertia;  // kg m^2, of an element, along, side, up
  Vec3 size;     // m, of the box that it is drawn as
  std::optional<SectionCoefficients> section;

  [[nodiscard]] double length() const { return frame.length / elements; }
  [[nodiscard]] Vec3 node(int k) const { return from + k * length() * frame.along; }

  void build(const std::string& name, Scene& scene) const {
    for (int k = 0; k < elements; ++k) {
      BodyDef body{.name = part(name, k),
                   .mass = mass,
                   .inertia = Mat3(inertia.asDiagonal()),
                   .position = 0.5 * (node(k) + node(k + 1)),
                   .orientation = frame.orientation(),
                   .shape = Box{size},
                   .contacts = false};
      if (section) add_section(*section, body, frame, length(), scene);
      scene.bodies.push_back(std::move(body));
      if (k == 0) continue;
      const Between between{part(name, k - 1), part(name, k)};
      scene.joints.emplace_back(Ball{.name = part(name + "_pin", k), .between = between, .at = node(k)});
      add_springs(between, frame, rigidity / length(), damping, part(name, k), scene);
    }
  }

  /// Holds an end, which is half an element away from where its neighbour bends.
  void hold(const std::string& name, bool at_end, const std::string& how, const std::string& on, const Place& place,
            Scene& scene) const {
    const int number = at_end ? elements : 0;
    const Between between{on, part(name, at_end ? elements - 1 : 0)};
    const std::string called = part(name + "_pin", number);
    if (how == "free") return;
    if (how == "clamped" || how == "pinned")
      scene.joints.emplace_back(Ball{.name = called, .between = between, .at = node(number)});
    else if (how == "rolling")
      scene.joints.emplace_back(PointOnLine{.name = called, .between = between, .at = node(number), .axis = frame.along});
    else
      fail(place, fmt::format("must be free, clamped, pinned or rolling, is {}", in_quotes(how)));
    if (how == "clamped") add_springs(between, frame, 2 * rigidity / length(), damping, part(name, number), scene);
  }
};

void build(const Beam& def, const Place& place, Scene& scene) {
  const StructureFrame frame(def.from, def.to, def.up, place);
  const std::string name = structure_name(def.name, "beam", place, scene);
  const double G = shear_modulus(def.shear_modulus, def.youngs_modulus), I = def.second_moment,
               I_side = def.second_moment_side.value_or(I), J = def.torsion_constant.value_or(I + I_side);
  const double l = frame.length / def.elements, mass = def.density * def.area * l;
  const Chain chain{.frame = frame,
                    .from = def.from,
                    .elements = def.elements,
                    .rigidity = Vec3(G * J, def.youngs_modulus * I, def.youngs_modulus * I_side),
                    .damping = def.damping,
                    .mass = mass,
                    .inertia = Vec3(def.density * l * (I + I_side), mass * l * l / 12 + def.density * l * I,
                                    mass * l * l / 12 + def.density * l * I_side),
                    .size = Vec3(l, std::sqrt(12 * I_side / def.area), std::sqrt(12 * I / def.area)),
                    .section = def.section};
  chain.build(name, scene);
  chain.hold(name, false, def.start, def.start_on, place / "start", scene);
  chain.hold(name, true, def.end, def.end_on, place / "end", scene);
}

/// Points at equal distances along a polygon.
std::vector<Vec3> resample(const std::vector<Vec3>& polygon, int parts) {
  std::vector<double> at{0};
  for (std::size_t k = 1; k < polygon.size(); ++k) at.push_back(at.back() + (polygon[k] - polygon[k - 1]).norm());
  std::vector<Vec3> out{polygon.front()};
  std::size_t k = 0;
  for (int n = 1; n < parts; ++n) {
    const double wanted = at.back() * n / parts;
    while (at[k + 1] < wanted) ++k;
    out.emplace_back(polygon[k] + (wanted - at[k]) / (at[k + 1] - at[k]) * (polygon[k + 1] - polygon[k]));
  }
  out.push_back(polygon.back());
  return out;
}

/// The parabola of that length between two points, hanging along `down`.
std::vector<Vec3> hanging_points(const Cable& def, double length, const Vec3& gravity) {
  const double distance = (def.to - def.from).norm();
  const int fine = std::max(8 * def.elements, 512);
  const auto parabola = [&](double sag) {
    std::vector<Vec3> out;
    for (int n = 0; n <= fine; ++n) {
      const double s = static_cast<double>(n) / fine;
      out.emplace_back(def.from + s * (def.to - def.from) + 4 * sag * s * (1 - s) * gravity.normalized());
    }
    return out;
  };
  const auto length_of = [](const std::vector<Vec3>& points) {
    double sum = 0;
    for (std::size_t k = 1; k < points.size(); ++k) sum += (points[k] - points[k - 1]).norm();
    return sum;
  };
  if (length <= distance || gravity.isZero(0)) return resample({def.from, def.to}, def.elements);
  double low = 0, high = length;
  for (int i = 0; i < 60; ++i) {
    const double middle = 0.5 * (low + high);
    (length_of(parabola(middle)) < length ? low : high) = middle;
  }
  return resample(parabola(high), def.elements);
}

/// A cable through those points; the first and last particle belong to who holds them.
void add_cable(const std::string& name, const std::vector<Vec3>& points, const std::vector<double>& masses,
               const std::vector<double>& rest_lengths, double E, double area, double damping,
               const std::optional<LineCoefficients>& drag, const std::array<std::string, 2>& held_by, Scene& scene) {
  ParticleGroup group{.name = name, .positions = points, .masses = masses};
  const int last = static_cast<int>(points.size()) - 1;
  for (const bool at_end : {false, true}) {
    const std::string& on = held_by[at_end ? 1 : 0];
    const int end = at_end ? last : 0;
    if (on == "world")
      group.pinned.push_back(end);
    else if (!on.empty())
      scene.joints.emplace_back(Ball{.name = part(name + "_pin", end), .between = {on, part(name, end)}});
  }
  scene.particles.push_back(std::move(group));
  for (int k = 0; k < last; ++k) {
    const double rest = rest_lengths[static_cast<std::size_t>(k)], E_A = E * area;
    const Between between{part(name, k), part(name, k + 1)};
    scene.forces.emplace_back(Spring{.name = part(name, k),
                                     .between = between,
                                     .stiffness = E_A / rest,
                                     .damping = damping * E_A / rest,
                                     .rest_length = rest,
                                     .slack = true});
    add_line(drag, area, part(name, k), between, {}, scene);
  }
}

void build(const Cable& def, const Place& place, Scene& scene) {
  const double distance = (def.to - def.from).norm(), length = def.length.value_or(distance);
  if (!(distance > 0)) fail(place / "to", "must not be where it begins");
  const std::string name = structure_name(def.name, "cable", place, scene);
  const double rest = length / def.elements, mass = def.density * def.area * rest;
  std::vector<double> masses(static_cast<std::size_t>(def.elements) + 1, mass);
  masses.front() = masses.back() = mass / 2;
  add_cable(name, hanging_points(def, length, scene.gravity), masses,
            std::vector<double>(static_cast<std::size_t>(def.elements), rest), def.youngs_modulus, def.area, def.damping,
            def.drag, {def.start_on, def.end_on}, scene);
}

void build(const Truss& def, const Place& place, Scene& scene) {
  const StructureFrame frame(def.from, def.to, def.up, place);
  const double bay = frame.length / def.bays;
  ParticleGroup group{.name = structure_name(def.name, "truss", place, scene)};
  const int stations = def.bays + 1;
  // Four corners of every station: lower left and right, upper left and right.
  for (int i = 0; i < stations; ++i)
    for (int corner = 0; corner < 4; ++corner)
      group.positions.emplace_back(def.from + i * bay * frame.along + (corner % 2 == 0 ? 0.5 : -0.5) * def.width * frame.side +
                                   (corner < 2 ? 0.0 : def.height) * frame.up);
  group.masses.assign(group.positions.size(), 0);
  // Bars of one length are one set of springs.
  const auto add_bars = [&](int from, int to, int station_step) {
    SpringSet set;
    double length = 0;
    for (int i = 0; i + station_step < stations; ++i) {
      const int a = 4 * i + from, b = 4 * (i + station_step) + to;
      length = (group.positions[static_cast<std::size_t>(a)] - group.positions[static_cast<std::size_t>(b)]).norm();
      for (const int node : {a, b}) group.masses[static_cast<std::size_t>(node)] += 0.5 * def.density * def.area * length;
      set.pairs.push_back({a, b});
      add_line(def.drag, def.area, fmt::format("{}-{}", part(group.name, a), b), {part(group.name, a), part(group.name, b)}, {},
               scene);
    }
    set.stiffness = def.youngs_modulus * def.area / length;
    set.damping = def.damping * set.stiffness;
    group.springs.push_back(std::move(set));
  };
  for (const auto& [from, to] : {std::pair(0, 1), std::pair(2, 3), std::pair(0, 2), std::pair(1, 3), std::pair(0, 3)})
    add_bars(from, to, 0);
  for (const auto& [from, to] : {std::pair(0, 0), std::pair(1, 1), std::pair(2, 2), std::pair(3, 3), std::pair(0, 2),
                                 std::pair(1, 3), std::pair(0, 1), std::pair(2, 3)})
    add_bars(from, to, 1);
  for (int i = 0; i < stations; ++i)
    for (const int node : {4 * i, 4 * i + 1})
      group.masses[static_cast<std::size_t>(node)] += 0.5 * def.floor_mass * bay * (i == 0 || i == stations - 1 ? 0.5 : 1.0);
  group.pinned = {0, 1, 4 * (stations - 1), 4 * (stations - 1) + 1};
  scene.particles.push_back(std::move(group));
}

void build(const SuspensionBridge& def, const Place& place, Scene& scene) {
  const StructureFrame frame(def.from, def.to, def.up, place);
  const std::string name = structure_name(def.name, "bridge", place, scene), deck = name + "_deck";
  const double l = frame.length / def.elements, E = def.youngs_modulus, mass = def.deck_mass * l;
  const double w = def.width, d = def.deck_depth;
  const Chain chain{.frame = frame,
                    .from = def.from,
                    .elements = def.elements,
                    .rigidity = Vec3(shear_modulus(def.shear_modulus, E) * def.torsion_constant, E * def.second_moment,
                                     E * def.second_moment_side),
                    .damping = def.damping,
                    .mass = mass,
                    .inertia = mass / 12 * Vec3(w * w + d * d, l * l + d * d, l * l + w * w),
                    .size = Vec3(l, w, d),
                    .section = def.section};
  chain.build(deck, scene);
  chain.hold(deck, false, "pinned", "world", place, scene);
  chain.hold(deck, true, "rolling", "world", place, scene);
  // The deck's ends do not twist.
  const Vec3 twist(2 * chain.rigidity[0] / l, 0, 0);
  for (const bool at_end : {false, true}) {
    const int element = at_end ? def.elements - 1 : 0;
    add_springs({"world", part(deck, element)}, frame, twist, def.damping, part(deck, at_end ? def.elements : 0), scene);
  }

  // The funicular polygon of half the deck's weight and the cable's own at every hanger, with a horizontal pull such that it sags
  // as wanted; the cable's weight is that of its straight projection.
  const auto count = static_cast<std::size_t>(def.elements);
  const double node_mass = def.cable_density * def.cable_area * l, load = def.gravity * (0.5 * mass + node_mass);
  std::vector<double> dx(count + 1, l), fall(count + 1);
  dx.front() = dx.back() = 0.5 * l;
  double depth = 0, deepest = 0;
  for (std::size_t k = 0; k <= count; ++k) {
    fall[k] = load * (0.5 * def.elements - static_cast<double>(k)) * dx[k];  // times the pull
    depth += fall[k];
    deepest = std::max(deepest, depth);
  }
  const double pull = deepest / def.sag, E_A = E * def.cable_area;
  for (const double sign : {1.0, -1.0}) {
    const std::string cable = name + (sign > 0 ? "_left" : "_right");
    const Vec3 top = def.from + sign * 0.5 * w * frame.side + (def.sag + def.shortest_hanger) * frame.up;
    std::vector<Vec3> points{top};
    std::vector<double> rest, masses(count + 2, node_mass);
    for (std::size_t k = 0; k <= count; ++k) {
      const Vec3 step = dx[k] * frame.along - fall[k] / pull * frame.up;
      const double tension = pull * step.norm() / dx[k];
      points.emplace_back(points.back() + step);
      rest.push_back(step.norm() / (1 + tension / E_A));
    }
    add_cable(cable, points, masses, rest, E, def.cable_area, def.damping, def.cable_drag, {"world", "world"}, scene);
    for (int k = 0; k < def.elements; ++k) {
      const Vec3 at = 0.5 * (chain.node(k) + chain.node(k + 1)) + sign * 0.5 * w * frame.side;
      const Vec3& hook = points[static_cast<std::size_t>(k) + 1];
      const double length = (hook - at).norm(), tension = 0.5 * def.gravity * mass, area = E * def.hanger_area,
                   slack_length = length / (1 + tension / area);
      const Between between{part(cable, k + 1), part(deck, k)};
      const std::string hanger = part(cable + "_hanger", k);
      add_line(def.hanger_drag, def.hanger_area, hanger, between, at, scene);
      scene.forces.emplace_back(Spring{.name = hanger,
                                       .between = between,
                                       .to = at,
                                       .stiffness = area / slack_length,
                                       .damping = def.damping * area / slack_length,
                                       .rest_length = slack_length,
                                       .slack = true});
    }
  }
}

}  // namespace

std::string_view kind_of(const StructureDef& structure) {
  return std::visit([]<class S>(const S&) { return Kind<S>::name; }, structure);
}

void build_structure(const StructureDef& structure, const Place& place, Scene& scene) {
  std::visit(
      [&](const auto& def) {
        visit_fields(def, RangeCheck{place});
        build(def, place, scene);
      },
      structure);
}

void Scene::add(const StructureDef& structure) { build_structure(structure, Place(kind_of(structure)), *this); }

}  // namespace rotule
