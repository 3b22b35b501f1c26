#include "model/structures.h"

#include <fmt/format.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <queue>
#include <utility>
#include <vector>

#include "base/text.h"
#include "model/beam_chain.h"
#include "model/names.h"
#include "model/range_check.h"

namespace rotule {
namespace {

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

/// Straight pieces of a beam's axis, cut into parts of about one length: nodes, and the frame of the piece that each part is on.
struct BeamAxis {
  std::vector<Vec3> nodes;
  std::vector<StructureFrame> frames;
  std::vector<double> lengths;
};

/// How many parts each piece has: one more, time after time, for that with the longest parts.
std::vector<int> share_out(const std::vector<double>& lengths, int parts) {
  std::vector<int> out(lengths.size(), 1);
  using Piece = std::pair<double, std::size_t>;  // the length of its parts; the first of equals comes first
  const auto later = [](const Piece& a, const Piece& b) { return a.first != b.first ? a.first < b.first : a.second > b.second; };
  std::priority_queue<Piece, std::vector<Piece>, decltype(later)> queue(later);
  for (std::size_t k = 0; k < lengths.size(); ++k) queue.emplace(lengths[k], k);
  for (int left = parts - static_cast<int>(lengths.size()); left > 0; --left) {
    const std::size_t k = queue.top().second;
    queue.pop();
    queue.emplace(lengths[k] / ++out[k], k);
  }
  return out;
}

/// The section is carried along the axis without twist: at a corner it turns by the least rotation.
BeamAxis axis_of(const Beam& def, const Place& place) {
  std::vector<Vec3> corners{def.from};
  corners.insert(corners.end(), def.through.begin(), def.through.end());
  corners.push_back(def.to);
  const std::size_t pieces = corners.size() - 1;
  if (static_cast<std::size_t>(def.elements) < pieces)
    fail(place / "elements",
         fmt::format("must be at least {}, one for each straight piece of the axis, is {}", pieces, def.elements));
  const Place list = place / "through";
  if (pieces > 1 && def.through.front() == def.from) fail(list / std::size_t{0}, "must not be where the beam begins");
  std::vector<StructureFrame> frames{StructureFrame(def.from, corners[1], def.up, place)};
  for (std::size_t k = 1; k < pieces; ++k) {
    const Place here = list / (k - 1);
    const Vec3 leg = corners[k + 1] - corners[k];
    if (!(leg.norm() > 0)) fail(here, "must not be where the next point is");
    const Vec3 &before = frames.back().along, along = leg.normalized();
    if (before.dot(along) < -1 + 1e-9) fail(here, "is where the axis turns back along itself");
    const Vec3 up = Quat::FromTwoVectors(before, along) * frames.back().up;
    frames.emplace_back(corners[k], corners[k + 1], up, here);
  }
  std::vector<double> lengths;
  for (const StructureFrame& frame : frames) lengths.push_back(frame.length);
  const std::vector<int> shares = share_out(lengths, def.elements);
  BeamAxis out;
  for (std::size_t k = 0; k < pieces; ++k) {
    const double l = frames[k].length / shares[k];
    for (int n = 0; n < shares[k]; ++n) {
      out.nodes.emplace_back(corners[k] + n * l * frames[k].along);
      out.frames.push_back(frames[k]);
      out.lengths.push_back(l);
    }
  }
  out.nodes.emplace_back(corners[pieces - 1] + shares.back() * out.lengths.back() * frames.back().along);
  return out;
}

void build(const Beam& def, const Place& place, Scene& scene) {
  const BeamAxis axis = axis_of(def, place);
  const std::string name = structure_name(def.name, "beam", place, scene);
  const double G = shear_modulus(def.shear_modulus, def.youngs_modulus), I = def.second_moment,
               I_side = def.second_moment_side.value_or(I), J = def.torsion_constant.value_or(I + I_side);
  Chain chain{.parts = {},
              .nodes = axis.nodes,
              .rigidity = Vec3(G * J, def.youngs_modulus * I, def.youngs_modulus * I_side),
              .damping = def.damping,
              .section = def.section};
  for (std::size_t k = 0; k < axis.frames.size(); ++k) {
    const double l = axis.lengths[k], mass = def.density * def.area * l;
    // What is to the side of the axis turns about it and upright, what is above and below about it and to the side.
    const double share = def.rotary_inertia ? *def.rotary_inertia / (I + I_side) : def.density;
    chain.parts.push_back(
        {.frame = axis.frames[k],
         .length = l,
         .mass = mass,
         .inertia = Vec3(share * l * (I + I_side), mass * l * l / 12 + share * l * I, mass * l * l / 12 + share * l * I_side),
         .mass_offset = def.mass_offset,
         .size = Vec3(l, std::sqrt(12 * I_side / def.area), std::sqrt(12 * I / def.area))});
  }
  chain.build(name, scene);
  const Vec3 span = def.to - def.from;
  if (span.norm() > 0) {
    const Vec3 rolling = def.through.empty() ? axis.frames.front().along : Vec3(span.normalized());
    chain.hold(name, false, def.start, def.start_on, rolling, place / "start", scene);
    chain.hold(name, true, def.end, def.end_on, rolling, place / "end", scene);
    return;
  }
  if (def.start == "rolling") fail(place / "start", "must be free, clamped or pinned where the beam is a ring");
  if (def.end != "free") fail(place / "end", "must be free, as it is by default, where the beam is a ring: it meets its start");
  chain.hold(name, false, def.start, def.start_on, span, place / "start", scene);
  chain.close(name, scene);
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
  Chain chain{.parts = {},
              .nodes = {},
              .rigidity = Vec3(shear_modulus(def.shear_modulus, E) * def.torsion_constant, E * def.second_moment,
                               E * def.second_moment_side),
              .damping = def.damping,
              .section = def.section};
  chain.parts.assign(static_cast<std::size_t>(def.elements),
                     {.frame = frame,
                      .length = l,
                      .mass = mass,
                      .inertia = mass / 12 * Vec3(w * w + d * d, l * l + d * d, l * l + w * w),
                      .mass_offset = 0,
                      .size = Vec3(l, w, d)});
  for (int k = 0; k <= def.elements; ++k) chain.nodes.emplace_back(def.from + k * l * frame.along);
  chain.build(deck, scene);
  chain.hold(deck, false, "pinned", "world", frame.along, place, scene);
  chain.hold(deck, true, "rolling", "world", frame.along, place, scene);
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
      const auto n = static_cast<std::size_t>(k);
      const Vec3 at = 0.5 * (chain.nodes[n] + chain.nodes[n + 1]) + sign * 0.5 * w * frame.side;
      const Vec3& hook = points[n + 1];
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
