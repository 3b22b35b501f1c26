// rotule recipe: how a scene would be run, every field of it, and why.
#include <fmt/format.h>
#include <rotule/error.h>

#include "base/printable.h"
#include "base/text.h"
#include "commands.h"
#include "model/content.h"
#include "model/dial.h"
#include "model/realtime_scope.h"
#include "record/scene_json.h"

namespace rotule::app {
namespace {

/// What of the scene a choice of recipe depends on, a line each.
std::vector<std::string> reasons(const SceneContent& content, const Recipe& recipe) {
  std::vector<std::string> out;
  const bool touching = !std::holds_alternative<NoContactSettings>(recipe.contacts);
  if (content.could_meet)
    out.push_back(fmt::format("{} and {} could meet: contacts are {}", in_quotes(content.pair.first),
                              in_quotes(content.pair.second), touching ? "on" : "off all the same"));
  else if (content.folds)
    out.push_back(fmt::format("{} and {} could meet, as parts of one mechanism: contacts are {}",
                              in_quotes(content.folding_pair.first), in_quotes(content.folding_pair.second),
                              touching ? "on" : "off unless asked for"));
  else
    out.emplace_back("no bodies could meet");
  if (content.needs.switching)
    out.emplace_back("joints have stops, friction or motors of limited strength: impulses, or events located by any method");
  else if (content.needs.drives)
    out.emplace_back("joints are driven, smoothly");
  if (content.frequency > 0) out.push_back(fmt::format("springs oscillate at up to {:.3g} rad/s", content.frequency));
  if (content.decay > 0) out.push_back(fmt::format("dampers act within {:.3g} s and more", 1 / content.decay));
  if (content.spin > 0) out.push_back(fmt::format("the fastest rotation is {:.3g} rad/s", content.spin));
  if (!content.joints) out.emplace_back("there are no joints");
  if (content.particles) out.emplace_back("there are particles");
  return out;
}

}  // namespace

void show_recipe(const RecipeOptions& options) {
  NamedScene named = find_scene(options.scene);
  Recipe recipe;
  SceneContent content;
  try {
    content = content_of(named.scene);
    apply_exactness(named.scene, options.exactness);
    recipe = named.scene.recipe;
  } catch (const Error& error) {
    throw Error(named.origin, error.what());
  }
  apply_settings(recipe, options.settings);
  const Json fields = Json::parse(to_complete_json(recipe));
  const std::string reason = misfit(recipe, content.needs);
  if (options.json) {
    if (!reason.empty()) throw Error(named.origin, fmt::format("{}; {}", reason, remedy_for(recipe, content.needs).flags));
    return print(fields.dump(2) + "\n");
  }
  std::string text = fmt::format("{}: the recipe {}\n", shown(named.name),
                                 options.exactness.accuracy ? fmt::format("for an accuracy of {}", *options.exactness.accuracy)
                                 : options.exactness.dial.empty() ? std::string("of the scene")
                                                                  : options.exactness.dial);
  for (const auto& [key, value] : fields.items())
    text += fmt::format("  {:<16} {}\n", key, value.is_string() ? value.get<std::string>() : value.dump());
  if (options.exactness.dial == name_of(Dial::realtime))
    if (const std::string why = why_not_realtime(named.scene, recipe); !why.empty())
      text += fmt::format("  because          {}\n", why);
  for (const std::string& line : reasons(content, recipe)) text += fmt::format("  because          {}\n", line);
  if (!reason.empty()) text += fmt::format("  refused          {}; {}\n", reason, remedy_for(recipe, content.needs).flags);
  print(text);
}

}  // namespace rotule::app
