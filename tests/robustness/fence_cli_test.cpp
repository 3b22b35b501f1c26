// Damaged HDF5 files, by every command that reads them: a line and status 2, or an answer; never a crash, never for ever.
// ROTULE_MUTATIONS says how many files of each kind.
#include <fmt/format.h>

#include <random>

#include "support/cli.h"
#include "support/source_dir.h"

namespace rotule {
namespace {

using testing::Result;
namespace fs = std::filesystem;

class FenceCli : public testing::Cli {
 protected:
  void expect_survived(const std::string& damaged, const std::vector<std::string>& commands, const std::string& what) {
    for (const std::string& command : commands) {
      const Result result = rotule(fmt::format(fmt::runtime(command), damaged), "timeout -k 5 90");
      EXPECT_TRUE(result.status == 0 || result.status == 2) << what << ", " << command << ": status " << result.status << "\n"
                                                            << result.err;
    }
  }
  /// Some bytes of a file changed; most in its first part, where HDF5 keeps what it finds its way by.
  std::string damaged(const std::string& whole, std::mt19937& random) const {
    std::string bytes = whole;
    const int changes = 1 << std::uniform_int_distribution<>(0, 5)(random);
    for (int k = 0; k < changes; ++k) {
      const std::size_t reach = random() % 3 == 0 ? bytes.size() : std::min<std::size_t>(bytes.size(), 8192);
      bytes[random() % reach] = static_cast<char>(random() % 4 == 0 ? 0xff : random());
    }
    if (random() % 10 == 0) bytes.resize(random() % bytes.size());
    return bytes;
  }
  static int mutations() {
    const char* text = std::getenv("ROTULE_MUTATIONS");
    return text != nullptr ? std::max(1, std::atoi(text)) : 12;
  }
};

TEST_F(FenceCli, DamagedFilesOfEveryKind) {
  ASSERT_EQ(rotule("run four_bar --steps 40 --quiet --record ../in/motion.h5 --record-problems ../in/problems.h5").status, 0);
  const fs::path in = cwd().parent_path() / "in";
  struct Kind {
    std::string file;
    std::vector<std::string> commands;
  };
  const Kind kinds[] = {
      {(in / "motion.h5").string(),
       {"export {} --out ../in/a.csv", "report {} --out ../in/a.html", "plot {} --svg ../in/a.svg",
        "run --resume {} --steps 45 --quiet"}},
      {(in / "problems.h5").string(),
       {"solve {} --frame 3 --solver nncg --to 1e-4", "tournament {} --solvers nncg --to 1e-2 --limit 1 --frames 1"}},
      {testing::source_dir() + "/data/fclib/local_problem_test.hdf5", {"solve {} --solver nncg --to 1e-2 --limit 2"}}};
  std::mt19937 random(5);
  for (const Kind& kind : kinds) {
    const std::string whole = testing::content(kind.file);
    for (int k = 0; k < mutations(); ++k) {
      const std::string name = file("damaged.h5", damaged(whole, random));
      const std::string command = kind.commands[static_cast<std::size_t>(k) % kind.commands.size()];
      expect_survived(name, {command}, fmt::format("{} {}", fs::path(kind.file).filename().string(), k));
      for (const auto& entry : fs::directory_iterator(cwd())) fs::remove_all(entry.path());
      fs::remove(in / "damaged.h5.part");
    }
  }
}

}  // namespace
}  // namespace rotule
