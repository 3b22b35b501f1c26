// The viewer's promise: at its default settings no step of a shipped scene takes longer than 33 ms, so that 30 pictures a second
// and an answer to every hand are possible. Seconds of each scene come from ROTULE_VIEW_SECONDS (default 0.1; the promise is of
// 20), names from ROTULE_VIEW_SCENES (default: all). A table says the worst step of each, of the clock and of this thread's
// processor time; the latter is judged, as others may use the machine too.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rotule/error.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <set>
#include <string>

#include "apps/rotule/view/live.h"

namespace rotule::app {
namespace {

double processor_ms() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

std::set<std::string> shipped() {
  std::set<std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator(ROTULE_SCENES_FOLDER))
    if (entry.path().extension() == ".json" && entry.path().stem() != "schema") out.insert(entry.path().stem());
  return out;
}

TEST(ViewPace, NoStepOfAShippedSceneTakesLongerThanAPicture) {
  const char* given_seconds = std::getenv("ROTULE_VIEW_SECONDS");
  const char* given_names = std::getenv("ROTULE_VIEW_SCENES");
  if (given_seconds == nullptr) GTEST_SKIP() << "measures time: ROTULE_VIEW_SECONDS=20, on an idle machine";
  const double seconds = std::stod(given_seconds);
  const std::string wanted = given_names != nullptr ? fmt::format(",{},", given_names) : "";
  constexpr double most_ms = 33;
  fmt::print("{:<22} {:>7} {:>10} {:>10} {:>8} {:>10} {:>10}\n", "scene", "steps", "worst, ms", "of clock", "cut", "residual",
             "slower");
  for (const std::string& name : shipped()) {
    if (!wanted.empty() && wanted.find("," + name + ",") == wanted.npos) continue;
    Scene scene = load_scene(std::string(ROTULE_SCENES_FOLDER) + "/" + name + ".json");
    scene.recipe = recipe_of(scene);
    scene.dial.reset();
    watch_in_real_time(scene);  // as `rotule view` does
    keep_to_the_clock(scene.recipe);
    Live live(name, scene, 1);
    // Scenes whose steps are days: as many steps as a second of theirs would have pictures.
    const double end = seconds * live.pace();
    double worst = 0, worst_clock = 0, all = 0, residual = 0;
    int steps = 0, cut = 0;
    std::string why;
    try {
      for (; live.world().time() < end; ++steps) {
        const double before = processor_ms();
        const auto begun = std::chrono::steady_clock::now();
        live.step();
        const double clock = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begun).count();
        worst_clock = std::max(worst_clock, clock);
        worst = std::max(worst, processor_ms() - before);
        all += processor_ms() - before;
        const Live::Cuts cuts = live.take_cuts();
        cut += cuts.steps;
        residual = std::max(residual, cuts.residual);
      }
    } catch (const Error& error) {
      why = error.what();
    }
    fmt::print("{:<22} {:>7} {:>10.2f} {:>10.2f} {:>8} {:>10.2g} {:>10.3g}\n", name, steps, worst, worst_clock, cut, residual,
               1e-3 * all / seconds);
    EXPECT_TRUE(why.empty()) << name << ": " << why;
    EXPECT_LT(worst, most_ms) << name;
  }
}

}  // namespace
}  // namespace rotule::app
