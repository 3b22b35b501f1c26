#include "model/validate_forces.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/text.h"
#include "flow/coefficients.h"
#include "model/elements.h"
#include "model/fluid_sides.h"
#include "model/names.h"
#include "model/particle_surface.h"
#include "model/range_check.h"
#include "model/solids.h"

namespace rotule {
namespace {

void check_place(const Place& at, int place, std::size_t count) {
  if (place < 0 || static_cast<std::size_t>(place) >= count)
    fail(at, fmt::format("must be a place in the group, 0 to {}, is {}", static_cast<long long>(count) - 1, place));
}

void check_group(const ParticleGroup& group, const Place& here) {
  visit_fields(group, RangeCheck{here});
  const std::size_t count = group.positions.size();
  if (count == 0) fail(here / "positions", "must hold at least one particle");
  if (group.velocities.size() > 1 && group.velocities.size() != count)
    fail(here / "velocities",
         fmt::format("must be one for all or one for each of the {} particles, has {}", count, group.velocities.size()));
  if (group.mass && !group.masses.empty()) fail(here / "masses", "give mass or masses, not both");
  if (!group.mass && group.masses.empty() && group.tetrahedra.empty() && group.triangles.empty())
    fail(here / "mass", "missing; give mass, or masses, one for each particle");
  if (!group.masses.empty() && group.masses.size() != count)
    fail(here / "masses", fmt::format("must be one for each of the {} particles, has {}", count, group.masses.size()));
  const Place pins = here / "pinned";
  for (std::size_t n = 0; n < group.pinned.size(); ++n) check_place(pins / n, group.pinned[n], count);

  check_elements(group, here);
  const Place sets = here / "springs";
  for (std::size_t k = 0; k < group.springs.size(); ++k) {
    const SpringSet& set = group.springs[k];
    const Place item = sets / k, pairs = item / "pairs";
    if (!set.rest_lengths.empty() && set.rest_lengths.size() != set.pairs.size())
      fail(item / "rest_lengths",
           fmt::format("must be one for each of the {} pairs, has {}", set.pairs.size(), set.rest_lengths.size()));
    for (std::size_t n = 0; n < set.pairs.size(); ++n) {
      const Place pair = pairs / n;
      for (std::size_t e = 0; e < 2; ++e) check_place(pair / e, set.pairs[n][e], count);
      if (set.pairs[n][0] == set.pairs[n][1]) fail(pair, "must be two different particles");
      if (group.positions[static_cast<std::size_t>(set.pairs[n][0])] ==
          group.positions[static_cast<std::size_t>(set.pairs[n][1])])
        fail(pair, "joins two particles in the same place, where a spring has no direction; move one of them");
    }
  }
}

template <class Force>
void check_ends(const Force& force, const Place& here, const PartnerNames& partners) {
  const Place ends = here / "between";
  for (std::size_t k = 0; k < force.between.size(); ++k) partners.check(ends / k, force.between[k]);
}

/// Angles that ascend within a full turn, and as many coefficients as there are angles, or none.
void check_table(const std::vector<double>& angles, const std::vector<double>& drag, const std::vector<double>& lift,
                 const std::vector<double>& moment, const Place& here) {
  const Place at = here / "angles";
  if (angles.empty()) fail(at, "must hold at least one angle");
  for (std::size_t k = 1; k < angles.size(); ++k)
    if (!(angles[k] > angles[k - 1])) fail(at / k, "must be greater than the one before it");
  constexpr double turn = 2 * std::numbers::pi;
  if (angles.back() - angles.front() > turn + 1e-6)
    fail(at, fmt::format("must span at most a full turn, {:.6g} rad, span {:.6g}; are they in degrees?", turn,
                         angles.back() - angles.front()));
  const std::array<const std::vector<double>*, 3> columns{&drag, &lift, &moment};
  constexpr std::array<std::string_view, 3> keys{"drag", "lift", "moment"};
  for (std::size_t k = 0; k < 3; ++k) {
    const std::vector<double>& column = *columns[k];
    if (!column.empty() && column.size() != angles.size())
      fail(here / keys[k], fmt::format("must be one for each of the {} angles, has {}", angles.size(), column.size()));
    if (!column.empty() && spans_full_turn(angles) && column.front() != column.back())
      fail(here / keys[k], fmt::format("must end as it begins, {:.6g}, since the angles span a full turn; ends with {:.6g}",
                                       column.front(), column.back()));
  }
}

/// The ends of a spring or a line, with a point of each.
template <class Force>
void check_points(const Force& force, const Place& here, const PartnerNames& partners) {
  check_ends(force, here, partners);
  const std::array<const std::optional<Vec3>*, 2> points{&force.from, &force.to};
  constexpr std::array<std::string_view, 2> keys{"from", "to"};
  for (std::size_t k = 0; k < 2; ++k) {
    if (force.between[k] == "world" && !*points[k]) fail(here, fmt::format("missing key \"{}\": a point of the world", keys[k]));
    if (partners.is_particle(force.between[k]) && *points[k])
      fail(here / keys[k], "is not for particles: they have no other point than their own");
  }
  if (force.between[0] == force.between[1]) fail(here / "between", "must name two different ends");
}

void check_details(const LineDrag& force, const Place& here, const PartnerNames& partners) {
  check_points(force, here, partners);
}
void check_details(const Spring& force, const Place& here, const PartnerNames& partners) {
  check_points(force, here, partners);
  if (force.stiffness == 0 && force.damping == 0) fail(here / "stiffness", "give stiffness or damping; this spring does nothing");
}
void check_details(const AngleSpring& force, const Place& here, const PartnerNames& partners) {
  check_ends(force, here, partners);
  const Place ends = here / "between";
  for (std::size_t k = 0; k < 3; ++k) {
    if (force.between[k] == "world") fail(ends / k, "must be a particle or a body");
    if (force.between[k] == force.between[(k + 1) % 3]) fail(ends, "must name three different ones");
  }
}
void check_details(const TorsionSpring& force, const Place& here, const PartnerNames& partners) {
  check_ends(force, here, partners);
  const Place ends = here / "between";
  for (std::size_t k = 0; k < 2; ++k)
    if (partners.is_particle(force.between[k])) fail(ends / k, "is a particle, which does not turn; name a body");
  if (force.between[0] == force.between[1]) fail(ends, "must name two different bodies");
}
void check_details(const Drag& force, const Place& here, const PartnerNames& partners) {
  const Place on = here / "on";
  for (std::size_t k = 0; k < force.on.size(); ++k) {
    if (force.on[k] == "world") fail(on / k, "the world does not move");
    partners.check(on / k, force.on[k], true);
  }
}
void check_details(const Air& force, const Place& here, const PartnerNames& partners) {
  const Place on = here / "on";
  for (std::size_t k = 0; k < force.on.size(); ++k) partners.check_group(on / k, force.on[k]);
}
void check_details(const Pressure& force, const Place& here, const PartnerNames& partners) {
  const Place on = here / "on";
  for (std::size_t k = 0; k < force.on.size(); ++k) partners.check_group(on / k, force.on[k]);
  if (!force.outside && force.exponent != 1) fail(here / "exponent", "is that of a gas; give the pressure outside, too");
  if (force.outside && !(*force.outside + force.pressure > 0))
    fail(here / "pressure", "must leave the gas an absolute pressure above nothing: outside and pressure together");
}
void check_details(const Load& force, const Place& here, const PartnerNames& partners) {
  partners.check(here / "on", force.on);
  if (force.on == "world") fail(here / "on", "must be a body or a particle");
  if (!partners.is_particle(force.on)) return;
  if (force.at) fail(here / "at", "is not for particles: they have no other point than their own");
  if (force.torque != Formula3{}) fail(here / "torque", "is not for particles, which do not turn");
}
void check_body(const std::string& on, const Place& here, const PartnerNames& partners) {
  partners.check(here / "on", on);
  if (on == "world" || partners.is_particle(on)) fail(here / "on", "must be a body");
}
void check_details(const FlowSection& force, const Place& here, const PartnerNames& partners) {
  check_body(force.on, here, partners);
  check_table(force.angles, force.drag, force.lift, force.moment, here);
}
void check_details(const Buoyancy& force, const Place& here, const PartnerNames& partners) {
  check_body(force.on, here, partners);
}
void check_details(const AddedMass& force, const Place& here, const PartnerNames& partners) {
  check_body(force.on, here, partners);
}
void check_details(const CoupledAddedMass& force, const Place& here, const PartnerNames& partners) {
  const Place on = here / "on";
  const std::size_t count = force.on.size();
  if (count < 2) fail(on, fmt::format("must name two bodies or more, names {}; added_mass is for one", count));
  for (std::size_t k = 0; k < count; ++k) {
    partners.check(on / k, force.on[k]);
    if (force.on[k] == "world" || partners.is_particle(force.on[k]))
      fail(on / k, "must be a body; what never moves is a body that is fixed");
    if (std::find(force.on.begin(), force.on.begin() + static_cast<std::ptrdiff_t>(k), force.on[k]) !=
        force.on.begin() + static_cast<std::ptrdiff_t>(k))
      fail(on / k, fmt::format("names {} again", in_quotes(force.on[k])));
  }
  const auto size = static_cast<Eigen::Index>(3 * count);
  for (const auto& [key, matrix] : {std::pair("translation", &force.translation), std::pair("rotation", &force.rotation),
                                    std::pair("coupling", &force.coupling)})
    if (matrix->size() > 0 && (matrix->rows() != size || matrix->cols() != size))
      fail(here / key,
           fmt::format("must be {0} x {0} numbers for {1} bodies, is {2} x {3}", size, count, matrix->rows(), matrix->cols()));
  if (force.translation.size() + force.rotation.size() == 0) fail(here, "needs translation, rotation or both");
  if (!force.at.empty() && force.at.size() != count)
    fail(here / "at", fmt::format("must be one point for each of the {} bodies, has {}", count, force.at.size()));
}
void check_details(const UserForce& force, const Place& here, const PartnerNames& partners) {
  check_ends(force, here, partners);
  const int given = (force.potential ? 1 : 0) + (force.force ? 1 : 0) + (force.values ? 1 : 0);
  if (given != 1) fail(here, fmt::format("must have one of potential, force and values, has {}", given));
  if (force.jacobian && !force.values) fail(here, "jacobian belongs to values; potential and force bring their own");
}
template <class Force>
void check_details(const Force&, const Place&, const PartnerNames&) {}

}  // namespace

PartnerNames::PartnerNames(std::vector<std::string> bodies, std::unordered_map<std::string, std::size_t> groups)
    : names_(std::move(bodies)), bodies_(names_.begin(), names_.end()), counts_(std::move(groups)) {}

PartnerNames::PartnerNames(const Scene& scene) {
  for (const BodyDef& body : scene.bodies) names_.push_back(body.name);
  bodies_.insert(names_.begin(), names_.end());
  for (const ParticleGroup& group : scene.particles) counts_.emplace(group.name, group.positions.size());
  for (const SolidDef& solid : scene.solids) counts_.emplace(name_of(solid), particle_count(solid));
}

void PartnerNames::check(const Place& at, const std::string& name, bool groups) const {
  if (name == "world" || bodies_.contains(name)) return;
  if (const auto found = counts_.find(name); found != counts_.end()) {
    if (groups || found->second == 1) return;
    fail(at, fmt::format("{} is a group of {} particles; name one of them, \"{}/0\" to \"{}/{}\"", in_quotes(name), found->second,
                         name, name, found->second - 1));
  }
  const auto slash = name.rfind('/');
  if (slash != name.npos)
    if (const auto found = counts_.find(name.substr(0, slash)); found != counts_.end()) {
      const auto place = to_integer(std::string_view(name).substr(slash + 1));
      if (place && *place >= 0 && static_cast<std::size_t>(*place) < found->second) return;
      fail(at, fmt::format("{} is not there; the group has particles 0 to {}", in_quotes(name), found->second - 1));
    }
  std::vector<std::string> known{"world"};
  known.insert(known.end(), names_.begin(), names_.end());
  for (const auto& [group, count] : counts_) known.push_back(group);
  fail(at, fmt::format("unknown body or particle {}; {}", in_quotes(name), suggestion(name, known)));
}

void PartnerNames::check_group(const Place& at, const std::string& name) const {
  if (counts_.contains(name)) return;
  std::vector<std::string> known;
  for (const auto& [group, count] : counts_) known.push_back(group);
  fail(at, fmt::format("{} is no group of particles; {}", in_quotes(name), suggestion(name, known)));
}

void validate_particles(const Scene& scene) {
  const Place top;
  std::unordered_map<std::string_view, std::string> taken;
  for (std::size_t i = 0; i < scene.bodies.size(); ++i) taken.emplace(scene.bodies[i].name, fmt::format("/bodies/{}", i));
  const auto check_name = [&](const std::string& name, const Place& here) {
    if (name.empty()) fail(here / "name", "must not be empty");
    if (name == "world" || name.find('/') != name.npos) fail(here / "name", "must not be \"world\" and hold no /");
    if (const auto [at, is_new] = taken.emplace(name, here.str()); !is_new)
      fail(here / "name", fmt::format("{} is already the name of {}; choose another", in_quotes(name), at->second));
  };
  const Place groups = top / "particles";
  for (std::size_t i = 0; i < scene.particles.size(); ++i) {
    const Place here = groups / i;
    check_name(scene.particles[i].name, here);
    check_group(scene.particles[i], here);
    check_particle_contact(scene.particles[i], scene.materials, here);
  }
  const Place solids = top / "solids";
  for (std::size_t i = 0; i < scene.solids.size(); ++i) {
    const Place item = solids / i;
    const Place here = item / kind_of(scene.solids[i]);
    check_name(name_of(scene.solids[i]), here);
    std::visit([&](const auto& solid) { visit_fields(solid, RangeCheck{here}); }, scene.solids[i]);
    validate_solid(scene.solids[i], here);
    if (std::visit([](const auto& solid) { return solid.contact.has_value(); }, scene.solids[i]))
      check_particle_contact(build(scene.solids[i]), scene.materials, here);
  }
}

namespace {

void check_grid(const GridFlow& flow, const Place& here) {
  if (flow.outside != "refuse" && flow.outside != "hold" && flow.outside != "zero")
    fail(here / "outside", fmt::format("must be refuse, hold or zero, is {}", in_quotes(flow.outside)));
  if (!flow.grid) fail(here / "file", "has not been read; give the flow what read_flow makes of it");
  const FlowGrid& grid = *flow.grid;
  const Place file = here / "file";
  std::size_t wanted = grid.times.size();
  for (std::size_t a = 0; a < 3; ++a) {
    const auto k = static_cast<Eigen::Index>(a);
    if (grid.points[a] < 1) fail(file, "has a grid without points");
    if (!std::isfinite(grid.origin[k])) fail(file, "has an origin that is not a number");
    if (grid.points[a] > 1 && !(grid.spacing[k] > 0 && std::isfinite(grid.spacing[k])))
      fail(file, fmt::format("must have a spacing greater than 0 along {}, has {:.6g}", "xyz"[a], grid.spacing[k]));
    wanted *= static_cast<std::size_t>(grid.points[a]);
  }
  if (grid.times.empty() || grid.velocity.size() != wanted)
    fail(file, fmt::format("must have {} velocities, one for each point and moment, has {}", wanted, grid.velocity.size()));
  for (std::size_t n = 0; n < grid.times.size(); ++n)
    if (!std::isfinite(grid.times[n]) || (n > 0 && !(grid.times[n] > grid.times[n - 1])))
      fail(file, fmt::format("must have times that ascend, and the {}th does not", n + 1));
}

void validate_flows(const Scene& scene) {
  const Place top, flows = top / "flows";
  std::unordered_map<std::string, std::size_t> taken;
  int computed = 0;
  for (std::size_t i = 0; i < scene.flows.size(); ++i) {
    const Place item = flows / i, here = item / kind_of(scene.flows[i]);
    std::visit(
        [&]<class Flow>(const Flow& flow) {
          visit_fields(flow, RangeCheck{here});
          if (const auto [at, is_new] = taken.emplace(flow.name, i); !is_new)
            fail(here / "name",
                 fmt::format("{} is already the name of /flows/{}; choose another", in_quotes(flow.name), at->second));
          if constexpr (std::is_same_v<Flow, LogLawFlow>)
            if (!(flow.reference_height > flow.roughness))
              fail(here / "reference_height", fmt::format("must be above the roughness, {:.6g} m", flow.roughness));
          if constexpr (std::is_same_v<Flow, GridFlow>) check_grid(flow, here);
          if constexpr (std::is_same_v<Flow, ComputedFlow>) {
            if (!scene.fluid) fail(here, "is that of the scene's \"fluid\", and there is none; describe one");
            if (++computed > 1) fail(here, "is there already; a scene has one fluid");
          }
          if constexpr (std::is_same_v<Flow, WaveFlow>)
            if (!(flow.direction.cross(flow.up).norm() > 1e-6 * flow.direction.norm() * flow.up.norm()))
              fail(here / "direction", "must not be along up: waves travel over the surface");
        },
        scene.flows[i]);
  }
}

void check_flow_names(const Scene& scene, const std::vector<std::string>& names, const Place& place) {
  std::vector<std::string> known;
  for (const FlowDef& flow : scene.flows) known.push_back(std::visit([](const auto& f) { return f.name; }, flow));
  for (std::size_t k = 0; k < names.size(); ++k)
    if (std::find(known.begin(), known.end(), names[k]) == known.end())
      fail(place / k, fmt::format("unknown flow {}; {}", in_quotes(names[k]), suggestion(names[k], known)));
}

bool feels_computed(const Scene& scene, const std::vector<std::string>& in) {
  return std::any_of(scene.flows.begin(), scene.flows.end(), [&](const FlowDef& flow) {
    const auto* computed = std::get_if<ComputedFlow>(&flow);
    return computed != nullptr && (in.empty() || std::find(in.begin(), in.end(), computed->name) != in.end());
  });
}

}  // namespace

void require_thin(const ForceDef& force, const FluidDef& fluid, const Place& place) {
  double cell = infinity;
  for (int a = 0; a < 3; ++a)
    if (!is_flat(fluid, a)) cell = std::min(cell, (fluid.box[1][a] - fluid.box[0][a]) / fluid.grid[static_cast<std::size_t>(a)]);
  const auto check = [&](const char* key, double thickness, double cells) {
    if (thickness > cells * cell * (1 + 1e-9))
      fail(place / key,
           fmt::format("is {:.4g} m, more than {:.4g} m, {} of the fluid's: what is that thick the fluid goes around as a "
                       "closed shape; or give it larger cells",
                       thickness, cells * cell, cells == 1 ? "a cell" : fmt::format("{} cells", cells)));
  };
  std::visit(
      [&]<class Force>(const Force& of) {
        if constexpr (std::is_same_v<Force, LineDrag>) check("diameter", of.diameter, 1);
        if constexpr (std::is_same_v<Force, FlowSection>) check("width", of.width, 3);  // as wide as the kernel
        if constexpr (requires {
                        of.density;
                        of.in;
                      })
          if (std::abs(of.density - fluid.density) > 1e-9 * fluid.density)
            fail(place / "density", fmt::format("is {:.6g} kg/m^3, and {:.6g} is that of the computed fluid: give it that one",
                                                of.density, fluid.density));
      },
      force);
}

void validate_forces(const Scene& scene) {
  validate_flows(scene);
  if (scene.forces.empty()) return;
  const Place top, forces = top / "forces";
  const PartnerNames partners(scene);
  for (std::size_t i = 0; i < scene.forces.size(); ++i) {
    const Place item = forces / i;
    const Place here = item / kind_of(scene.forces[i]);
    validate(scene.forces[i], partners, here);
    std::visit(
        [&](const auto& force) {
          if constexpr (requires { force.in; }) {
            check_flow_names(scene, force.in, here / "in");
            if (feels_computed(scene, force.in)) require_thin(scene.forces[i], *scene.fluid, here);
          }
        },
        scene.forces[i]);
  }
}

void validate(const ForceDef& def, const PartnerNames& partners, const Place& place) {
  std::visit(
      [&](const auto& force) {
        visit_fields(force, RangeCheck{place});
        check_details(force, place, partners);
      },
      def);
}

}  // namespace rotule
