// What stands, stands: towers, walls and arches keep their places. After a second in which they settle, no body goes further than
// a micrometre from where it was, nor turns by more than a millionth, however long it lasts.
//
// ROTULE_REST_SECONDS: how long (5; what is promised is 600), of the scenes in ROTULE_REST_SCENES (all). It prints what it sees.
#include <gtest/gtest.h>
#include <rotule/world.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace rotule {
namespace {

TEST(Rest, TowersWallsAndArchesDoNotCreep) {
  const char* seconds = std::getenv("ROTULE_REST_SECONDS");
  const char* wanted = std::getenv("ROTULE_REST_SCENES");
  const double end = seconds != nullptr ? std::atof(seconds) : 5;
  for (const char* name : {"brick_wall", "tower_50", "masonry_arch", "heavy_on_light", "card_house"}) {
    if (wanted != nullptr && (std::string(",") + wanted + ",").find(std::string(",") + name + ",") == std::string::npos) continue;
    SCOPED_TRACE(name);
    World world(load_scene(std::string(ROTULE_SCENES_FOLDER) + "/" + name + ".json"));
    const double dt = world.recipe().dt;
    const auto settling = std::lround(1 / dt), steps = std::lround(end / dt);
    for (int i = 0; i < settling; ++i) world.step();
    struct Place {
      BodyId body;
      Vec3 position;
      Quat orientation;
    };
    std::vector<Place> places;
    for (const BodyId body : world.bodies()) places.push_back({body, world.position(body), world.orientation(body)});
    double creep = 0, turn = 0, halfway = 0;
    int unconverged = 0;
    for (int i = 0; i < steps; ++i) {
      unconverged += !world.step().converged;
      if (i % 100 != 0 && i + 1 != steps) continue;
      for (const Place& at : places) {
        creep = std::max(creep, (world.position(at.body) - at.position).norm());
        turn = std::max(turn, world.orientation(at.body).angularDistance(at.orientation));
      }
      if (2 * i < steps) halfway = creep;
    }
    if (seconds != nullptr)
      std::printf("%-15s %7ld steps of %.4g s: furthest %.2g m (%.2g m by half time), %.2g rad; %d not converged\n", name, steps,
                  dt, creep, halfway, turn, unconverged);
    EXPECT_LT(creep, 1e-6);
    EXPECT_LT(turn, 1e-6);
  }
}

}  // namespace
}  // namespace rotule
