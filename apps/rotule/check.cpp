// rotule check: the mechanism doctor.
#include <fmt/format.h>
#include <rotule/analyse.h>
#include <rotule/error.h>

#include "commands.h"

namespace rotule::app {
namespace {

std::string report(const std::string& name, const Checkup& c) {
  std::string out =
      fmt::format("{}: bodies {} ({} fixed), joints {}, islands {}\n", name, c.bodies, c.fixed, c.joints, c.islands);
  int redundant = 0;
  for (const Redundancy& r : c.redundant) redundant += r.rows;
  out += fmt::format("  degrees of freedom   {} = 6 x {}{} - {}\n", c.degrees_of_freedom, c.bodies - c.fixed,
                     c.particles ? fmt::format(" + 3 x {}", c.particles) : "", c.rank);
  out += fmt::format("  equations            {}, {} redundant\n", c.rows, redundant);
  for (const Redundancy& r : c.redundant)
    out += fmt::format("    joint {}: {} of its equations follow from others{}\n", r.joint, r.rows,
                       c.conflicts.empty() ? "; motion is right, forces are not unique" : "");
  for (const Checkup::Gap& x : c.open)
    out += fmt::format("  open                 joint {} starts {:.3g} m or rad open; the first step will close it\n", x.joint,
                       x.error);
  for (const Checkup::Gap& x : c.conflicts)
    out += fmt::format("  conflict             joint {} cannot be closed: {:.3g} m or rad stay open\n", x.joint, x.error);
  out += fmt::format("  largest mass ratio   {:.4g} across a joint\n", c.largest_mass_ratio);
  for (const Checkup::MassRatio& m : c.mass_ratios)
    out += fmt::format("    joint {}: {} weighs {:.4g} times {}; use a direct solver\n", m.joint, m.heavy, m.ratio, m.light);
  for (const std::string& body : c.point_masses)
    out += fmt::format("  point mass           {}: without extent, its rotation means nothing\n", body);
  for (const std::string& remark : c.remarks) out += fmt::format("  units                {}\n", remark);
  if (c.redundant.empty() && c.open.empty() && c.conflicts.empty() && c.mass_ratios.empty() && c.point_masses.empty() &&
      c.remarks.empty())
    out += "  nothing to remark\n";
  return out;
}

Json as_json(const std::string& name, const Checkup& c) {
  Json redundant = Json::array(), open = Json::array(), conflicts = Json::array(), ratios = Json::array();
  for (const Redundancy& r : c.redundant) redundant.push_back({{"joint", r.joint}, {"rows", r.rows}});
  for (const Checkup::Gap& x : c.open) open.push_back({{"joint", x.joint}, {"error", x.error}});
  for (const Checkup::Gap& x : c.conflicts) conflicts.push_back({{"joint", x.joint}, {"error", x.error}});
  for (const Checkup::MassRatio& m : c.mass_ratios)
    ratios.push_back({{"joint", m.joint}, {"heavy", m.heavy}, {"light", m.light}, {"ratio", m.ratio}});
  return {{"scene", name},
          {"bodies", c.bodies},
          {"fixed", c.fixed},
          {"particles", c.particles},
          {"joints", c.joints},
          {"islands", c.islands},
          {"equations", c.rows},
          {"rank", c.rank},
          {"degrees_of_freedom", c.degrees_of_freedom},
          {"redundant", std::move(redundant)},
          {"open", std::move(open)},
          {"conflicting", std::move(conflicts)},
          {"mass_ratio", {{"max", c.largest_mass_ratio}, {"joints", std::move(ratios)}}},
          {"point_masses", c.point_masses},
          {"units", c.remarks}};
}

}  // namespace

void check(const CheckOptions& options) {
  const NamedScene named = find_scene(options.scene);
  Checkup checkup;
  try {
    checkup = examine(named.scene);
  } catch (const Error& error) {
    throw Error(named.origin, error.what());
  }
  print(options.json ? as_json(named.name, checkup).dump(2) + "\n" : report(named.name, checkup));
}

}  // namespace rotule::app
