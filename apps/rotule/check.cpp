// rotule check: the mechanism doctor.
#include <fmt/format.h>
#include <rotule/analyse.h>
#include <rotule/error.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "base/printable.h"
#include "base/text.h"
#include "commands.h"
#include "record/scene_json.h"

namespace rotule::app {
namespace {

std::string_view name_of(Remark::Grade grade) {
  return grade == Remark::Grade::grave ? "grave" : grade == Remark::Grade::warning ? "warning" : "note";
}

/// What there would be if no equation followed from others.
int nominal(const Checkup& c) { return 6 * (c.bodies - c.fixed) + 3 * c.particles - c.rows; }

std::string report(const NamedScene& named, const Checkup& c) {
  const std::string& name = named.name;
  const Recipe& recipe = named.scene.recipe;
  std::string out =
      fmt::format("{}: bodies {} ({} fixed), joints {}, islands {}\n", shown(name), c.bodies, c.fixed, c.joints, c.islands);
  int redundant = 0;
  for (const Redundancy& r : c.redundant) redundant += r.rows;
  const std::string motions =
      fmt::format("6 x {}{}", c.bodies - c.fixed, c.particles ? fmt::format(" + 3 x {}", c.particles) : "");
  out += fmt::format("  degrees of freedom   {} = {} - {}\n", c.degrees_of_freedom, motions, c.rank);
  if (redundant > 0) out += fmt::format("  by counting alone    {} = {} - {} (Gruebler)\n", nominal(c), motions, c.rows);
  out += fmt::format("  equations            {}, {} redundant\n", c.rows, redundant);
  constexpr std::size_t most_named = 12;
  for (const Redundancy& r : std::span(c.redundant).first(std::min(c.redundant.size(), most_named)))
    out += fmt::format("    joint {}: {} of its equations follow from others{}\n", shown(r.joint), r.rows,
                       c.conflicts.empty() ? "; motion is right, forces are not unique" : "");
  if (c.redundant.size() > most_named)
    out += fmt::format("    and so do some of {} other joints (--json lists them)\n", c.redundant.size() - most_named);
  out += fmt::format("  largest mass ratio   {:.4g} across a joint\n", c.largest_mass_ratio);
  for (const Checkup::MassRatio& m : c.mass_ratios)
    out += fmt::format("    joint {}: {} weighs {:.4g} times {}\n", shown(m.joint), shown(m.heavy), m.ratio, shown(m.light));
  out += fmt::format("  recipe               {}, {}, coordinates {}, contacts {}, {}, dt {} s\n", name_of(recipe.integrator),
                     name_of(recipe.formulation), name_of(recipe.coordinates), name_of(recipe.contacts), name_of(recipe.solver),
                     shortest(recipe.dt));
  if (std::isfinite(c.stable_step)) out += fmt::format("  largest stable step  about {:.3g} s\n", c.stable_step);
  if (c.ms_per_step > 0)
    out += fmt::format("  cost                 {:.3g} ms per step; {:.3g} s for the {} s of the run\n", c.ms_per_step,
                       1e-3 * c.ms_per_step * recipe.duration / recipe.dt, shortest(recipe.duration));
  for (const Remark& remark : c.remarks)
    out += fmt::format("  {:<8} {}\n", name_of(remark.grade), shown_message(text_of(remark)));
  if (c.remarks.empty()) out += "  nothing to remark\n";
  if (!named.told.empty()) out += text_of(named.told, named.origin, true);
  return out;
}

Json as_json(const NamedScene& named, const Checkup& c) {
  const std::string& name = named.name;
  const Recipe& recipe = named.scene.recipe;
  Json remarks = Json::array();
  for (const Remark& remark : c.remarks) remarks.push_back(json_of(remark));
  Json redundant = Json::array(), open = Json::array(), conflicts = Json::array(), ratios = Json::array();
  for (const Redundancy& r : c.redundant) redundant.push_back({{"joint", r.joint}, {"rows", r.rows}});
  for (const Checkup::Gap& x : c.open) open.push_back({{"joint", x.joint}, {"error", x.error}});
  for (const Checkup::Gap& x : c.conflicts) conflicts.push_back({{"joint", x.joint}, {"error", x.error}});
  for (const Checkup::MassRatio& m : c.mass_ratios)
    ratios.push_back({{"joint", m.joint}, {"heavy", m.heavy}, {"light", m.light}, {"ratio", m.ratio}});
  Json told = Json::array();
  for (const RobotRemark& r : named.told)
    told.push_back({{"what", r.what}, {"text", r.text}, {"file", r.file}, {"line", r.line}, {"count", r.count}});
  Json out = {{"scene", name},
              {"recipe", Json::parse(to_complete_json(recipe))},
              {"bodies", c.bodies},
              {"fixed", c.fixed},
              {"particles", c.particles},
              {"joints", c.joints},
              {"islands", c.islands},
              {"equations", c.rows},
              {"rank", c.rank},
              {"degrees_of_freedom", c.degrees_of_freedom},
              {"nominal_degrees_of_freedom", nominal(c)},
              {"redundant", std::move(redundant)},
              {"open", std::move(open)},
              {"conflicting", std::move(conflicts)},
              {"mass_ratio", {{"max", c.largest_mass_ratio}, {"joints", std::move(ratios)}}},
              {"point_masses", c.point_masses},
              {"stable_step", std::isfinite(c.stable_step) ? Json(c.stable_step) : Json()},
              {"ms_per_step", c.ms_per_step},
              {"remarks", std::move(remarks)}};
  if (!told.empty()) out["file_remarks"] = std::move(told);
  return out;
}

}  // namespace

std::string text_of(const Remark& remark) {
  std::string out = remark.text;
  if (!remark.flags.empty()) out += "; remedy: " + remark.flags;
  constexpr std::size_t most = 4;
  for (std::size_t i = 0; i < std::min(remark.edits.size(), most); ++i)
    out += fmt::format("{} {} = {}", i == 0 ? "; remedy:" : ",", remark.edits[i].place, remark.edits[i].value);
  if (remark.edits.size() > most) out += fmt::format(" and {} more (--json lists them)", remark.edits.size() - most);
  return out;
}

Json json_of(const Remark& remark) {
  Json out = {{"kind", remark.kind}, {"grade", name_of(remark.grade)}, {"text", remark.text}};
  if (!remark.flags.empty()) out["flags"] = remark.flags;
  for (const Remark::Edit& edit : remark.edits)
    out["edits"].push_back({{"place", edit.place}, {"value", Json::parse(edit.value)}});
  return out;
}

std::string in_one_line(const std::vector<Remark>& remarks, const std::string& scene) {
  const auto count =
      std::count_if(remarks.begin(), remarks.end(), [](const Remark& r) { return r.grade != Remark::Grade::note; });
  if (count == 0) return {};
  return fmt::format("{}: {} (rotule check says all){} {}\n", shown(scene),
                     count == 1 ? "1 remark" : fmt::format("{} remarks", count),
                     count == 1 ? ":" : ", the gravest:", shown_message(text_of(remarks.front())));
}

void check(const CheckOptions& options) {
  NamedScene named = find_scene(options.scene);
  apply_exactness(named.scene, options.exactness);
  apply_settings(named.scene.recipe, options.settings);
  Checkup checkup;
  try {
    checkup = examine(named.scene, true);
  } catch (const Error& error) {
    throw Error(named.origin, error.what());
  }
  print(options.json ? as_json(named, checkup).dump(2) + "\n" : report(named, checkup));
}

}  // namespace rotule::app
