// The motion of every shipped scene, bit for bit, as it was when golden_hashes.txt was last written. Who changes no motion
// changes no hash; who changes one on purpose writes the table anew and says why in the commit:
//   ROTULE_WRITE_GOLDEN=1 build/release/tests/determinism_tests --gtest_filter='*GoldenHashes*'
// The hashes are the same in release and debug builds and for every width of lanes. What they do depend on is the C library: its
// sines, roots and powers have variants with and without fused operations, which differ in the last bit.
#include <gtest/gtest.h>
#include <hwy/targets.h>
#include <rotule/world.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <set>
#include <sstream>

#include "support/source_dir.h"

namespace rotule {
namespace {

std::string golden_file() { return testing::source_dir() + "/tests/determinism/golden_hashes.txt"; }
std::string scenes_folder() { return testing::source_dir() + "/scenes/"; }
bool writes_golden() { return std::getenv("ROTULE_WRITE_GOLDEN") != nullptr; }

std::vector<std::string> golden_lines() {
  std::vector<std::string> lines;
  std::ifstream file(golden_file());
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

/// A line of the table: a scene, steps, the hash of the state after them, and what is changed in its recipe.
struct GoldenRun {
  std::size_t line = 0;
  std::string scene{}, hash{};
  int steps = 0;
  std::vector<std::string> settings{};  // KEY=VALUE

  [[nodiscard]] std::string command() const {
    std::string out = "rotule run " + scene + " --steps " + std::to_string(steps);
    for (const std::string& setting : settings) out += " --set " + setting;
    return out;
  }
  [[nodiscard]] std::string text(const std::string& new_hash) const {
    std::ostringstream out;
    out << std::left << std::setw(22) << scene << std::right << std::setw(7) << steps << "  " << new_hash;
    for (const std::string& setting : settings) out << (&setting == settings.data() ? "  " : " ") << setting;
    return out.str();
  }
  [[nodiscard]] std::string name() const {
    std::string out = scene;
    for (const std::string& setting : settings) out += "_" + setting.substr(setting.find('=') + 1);
    for (char& c : out)
      if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
    return out;
  }
};

void PrintTo(const GoldenRun& run, std::ostream* out) { *out << run.command(); }

std::vector<GoldenRun> golden_runs() {
  std::vector<GoldenRun> runs;
  const std::vector<std::string> lines = golden_lines();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::istringstream words(lines[i].substr(0, lines[i].find('#')));
    GoldenRun run{.line = i};
    if (!(words >> run.scene >> run.steps >> run.hash)) continue;
    for (std::string setting; words >> setting;) run.settings.push_back(setting);
    runs.push_back(run);
  }
  return runs;
}

std::string hash_after(const GoldenRun& run) {
  Scene scene = load_scene(scenes_folder() + run.scene + ".json");
  for (const std::string& setting : run.settings) {
    const std::size_t sign = setting.find('=');
    set(scene.recipe, setting.substr(0, sign), setting.substr(sign + 1));
  }
  World world(scene);
  for (int i = 0; i < run.steps; ++i) world.step();
  std::ostringstream out;
  out << std::hex << std::setw(16) << std::setfill('0') << world.state_hash();
  return out.str();
}

bool same_mathematical_functions() {
#if defined(__x86_64__) && defined(__GLIBC__)
  return __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2");
#else
  return false;
#endif
}

class GoldenHashes : public ::testing::TestWithParam<GoldenRun> {
 protected:
  static void TearDownTestSuite() {
    if (new_hashes.empty()) return;
    std::vector<std::string> lines = golden_lines();
    for (const auto& [run, hash] : new_hashes) lines[run.line] = run.text(hash);
    std::ofstream file(golden_file());
    for (const std::string& line : lines) file << line << "\n";
  }
  static inline std::vector<std::pair<GoldenRun, std::string>> new_hashes;
};

TEST_P(GoldenHashes, TheMotionIsThatOfTheTable) {
  if (!same_mathematical_functions()) GTEST_SKIP() << "written with the functions of glibc on x86-64 with FMA";
  const std::string hash = hash_after(GetParam());
  if (writes_golden()) {
    new_hashes.emplace_back(GetParam(), hash);
    return;
  }
  EXPECT_EQ(hash, GetParam().hash)
      << "The motion of `" << GetParam().command() << "` is no longer what it was.\n"
      << "If it was not meant to change, something that was only rearranged computes something else.\n"
      << "If it was, write the table anew, look at what changed in it, and say in the commit why:\n"
      << "  ROTULE_WRITE_GOLDEN=1 build/release/tests/determinism_tests --gtest_filter='*GoldenHashes*'\n"
      << "  git diff tests/determinism/golden_hashes.txt";
}

INSTANTIATE_TEST_SUITE_P(Scenes, GoldenHashes, ::testing::ValuesIn(golden_runs()),
                         [](const auto& run) { return run.param.name(); });

TEST(GoldenTable, HasEveryShippedSceneWithItsOwnRecipe) {
  std::set<std::string> runs;
  for (const GoldenRun& run : golden_runs())
    if (run.settings.empty()) runs.insert(run.scene);
  for (const auto& entry : std::filesystem::directory_iterator(scenes_folder())) {
    const std::filesystem::path& path = entry.path();
    if (path.extension() != ".json" || path.stem() == "schema") continue;
    EXPECT_TRUE(runs.contains(path.stem().string()))
        << "add a line `" << path.stem().string()
        << " STEPS ?` to tests/determinism/golden_hashes.txt, with steps for about 0.3 s, "
        << "and write its hash as the top of golden_hashes_test.cpp says";
  }
}

TEST(GoldenTable, DoesNotDependOnTheWidthOfLanes) {
  for (const std::string scene : {"brick_wall", "planets"}) {
    const GoldenRun run{.scene = scene, .steps = 3};
    const std::string widest = hash_after(run);
    hwy::SetSupportedTargetsForTest(HWY_SCALAR);
    hwy::GetChosenTarget().DeInit();
    const std::string narrowest = hash_after(run);
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().DeInit();
    EXPECT_EQ(widest, narrowest) << scene;
  }
}

}  // namespace
}  // namespace rotule
