// The same scene file on three settings of the dial: the errors that each says it has (--estimate-error), against a reference
// run.
#include <gtest/gtest.h>
#include <rotule/world.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "support/cli.h"
#include "support/source_dir.h"

namespace rotule {
namespace {

using testing::Cli;
using testing::Result;
using OrderedJson = nlohmann::ordered_json;

struct Ending {
  std::vector<Vec3> positions;
  double energy = 0;
};

Ending ending_of(const Scene& scene, Recipe recipe) {
  World world(scene, recipe);
  const auto steps = static_cast<int>(std::llround(recipe.duration / recipe.dt));
  for (int i = 0; i < steps; ++i) world.step();
  Ending out;
  for (const BodyId body : world.bodies()) out.positions.push_back(world.center_of_mass(body));
  out.energy = world.diagnostics().energy();
  return out;
}

class DialOf : public Cli, public ::testing::WithParamInterface<const char*> {};

TEST_P(DialOf, ErrorsAreAsLargeAsTheyAreSaidToBe) {
  const std::string path = testing::source_dir() + "/tests/data/" + GetParam() + ".json";
  const Scene scene = load_scene(path);
  // The method of the exact setting at a fraction of its step, extrapolated to no step at all.
  Recipe fine = recipe_for(scene, Dial::exact);
  fine.dt = 5e-5;
  Recipe finer = fine;
  finer.dt = 2.5e-5;
  Ending reference = ending_of(scene, finer);
  const Ending before = ending_of(scene, fine);
  for (std::size_t i = 0; i < reference.positions.size(); ++i)
    reference.positions[i] += reference.positions[i] - before.positions[i];
  reference.energy += reference.energy - before.energy;

  double last = infinity;
  for (const Dial dial : {Dial::realtime, Dial::balanced, Dial::exact}) {
    const std::string name(name_of(dial));
    const Result run = rotule("run '" + path + "' --recipe " + name + " --estimate-error --json");
    ASSERT_EQ(run.status, 0) << run.err;
    const OrderedJson said = OrderedJson::parse(run.out)["estimated_error"];
    Recipe recipe = recipe_for(scene, dial);
    const Ending is = ending_of(scene, recipe);
    double position = 0;
    for (std::size_t i = 0; i < is.positions.size(); ++i)
      position = std::max(position, (is.positions[i] - reference.positions[i]).norm());
    const double energy = std::abs(is.energy - reference.energy);
    EXPECT_LT(said["position"].get<double>(), 3 * position) << name;
    EXPECT_GT(said["position"].get<double>(), position / 3) << name;
    EXPECT_LT(said["energy"].get<double>(), 3 * energy) << name;
    EXPECT_GT(said["energy"].get<double>(), energy / 3) << name;
    EXPECT_LT(position, last) << name;
    last = position;
    EXPECT_NE(
        rotule("run '" + path + "' --recipe " + name + " --estimate-error --duration 0.1").out.find("  error         about "),
        std::string::npos);
  }

  // What impulses do not reach is said, and nothing where they do.
  EXPECT_NE(rotule("recipe '" + path + "' --accuracy 1e-9").err.find("reach about 1e-05"), std::string::npos);
  EXPECT_EQ(rotule("recipe '" + path + "' --accuracy 1e-4").err, "");
}

INSTANTIATE_TEST_SUITE_P(Scenes, DialOf, ::testing::Values("dial", "dial_lift"),
                         [](const auto& scene) { return std::string(scene.param); });

}  // namespace
}  // namespace rotule
