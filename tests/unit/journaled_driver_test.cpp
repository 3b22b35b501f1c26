// Files written by journal, killed at random moments: what is found afterwards is what was committed, all of it and nothing else.
#include <gtest/gtest.h>
#include <rotule/error.h>
#include <rotule/scene.h>
#include <rotule/world.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <random>

#include "record/growing_table.h"
#include "record/hdf5_file.h"
#include "record/journaled_driver.h"
#include "record/trajectory.h"
#include "support/files.h"

namespace rotule {
namespace {

int kills_from_environment(int usual) {
  const char* text = std::getenv("ROTULE_KILLS");
  return text != nullptr ? std::max(1, std::atoi(text)) : usual;
}

/// Two tables that grow together and a number that is overwritten; `generation` commits, or for ever.
void write_generations(Hdf5File& file, int generations) {
  GrowingTable<double> a(file, "/a", {3}), b(file, "/b", {});
  file.attribute("/", "generation", 0);
  for (int g = 1; g <= generations || generations == 0; ++g) {
    for (int k = 0; k < g % 50; ++k) {
      const double row[3] = {static_cast<double>(g), static_cast<double>(k), 0.5};
      a.append(row, 1);
      b.append(row, 1);
    }
    a.flush(file);
    file.attribute("/", "generation", g);
    b.flush(file);
    file.commit(true);
  }
}

std::size_t rows_after(int generation) {
  std::size_t rows = 0;
  for (int g = 1; g <= generation; ++g) rows += static_cast<std::size_t>(g % 50);
  return rows;
}

TEST(JournaledFile, IsWhatItIsWithout) {
  const testing::Folder folder("journal");
  const std::string path = folder.path / "a.h5";
  {
    Hdf5File file = Hdf5File::create_kept(path);
    write_generations(file, 120);
    EXPECT_EQ(file.kept(), unfinished_name(path));
    file.finish();
  }
  EXPECT_FALSE(std::filesystem::exists(unfinished_name(path)));
  const Hdf5File back = Hdf5File::open(path);
  EXPECT_EQ(back.number_attribute("/", "generation"), 120);
  EXPECT_EQ(back.numbers("/b").size(), rows_after(120));
  EXPECT_EQ(back.numbers("/a").size(), 3 * rows_after(120));
}

// Chunks that are not full are written as they are at every commit, and compressed in the end.
TEST(JournaledFile, CommitsChangeNothingOfARecording) {
  const testing::Folder folder("commits");
  Scene scene;
  scene.add({.name = "bob", .mass = 1.0, .position = {1, 0, 0}});
  scene.add(Rod{.between = {"world", "bob"}, .from = Vec3(0, 0, 0)});
  std::vector<std::vector<double>> positions;
  for (const int every : {1000, 1, 7, 64}) {
    World world(scene);
    const std::string path = folder.path / std::to_string(every);
    TrajectoryWriter writer(path, to_json(scene), scene.recipe, {"bob"}, {world.name(world.joints().front())});
    TrajectoryFrame frame;
    for (int i = 0; i < 150; ++i) {
      world.step(0.01);
      capture(world, frame);
      writer.append(frame);
      if (i % every == 0) writer.checkpoint({world.save().bytes, "{}", {}});
    }
    writer.finish();
    const TrajectoryReader reader(path);
    EXPECT_EQ(reader.frames(), 150u);
    positions.push_back(reader.series("/position"));
    EXPECT_EQ(positions.back(), positions.front()) << every;
  }
}

TEST(JournaledFile, KilledAtAnyMomentHoldsItsLastCommit) {
  const testing::Folder folder("journal");
  const std::string path = folder.path / "a.h5", partial = unfinished_name(path);
  std::mt19937 random(7);
  int latest = 0;
  for (int kill_number = 0; kill_number < kills_from_environment(60); ++kill_number) {
    const pid_t child = ::fork();
    if (child == 0) {
      try {
        Hdf5File file = Hdf5File::create_kept(path);
        file.attribute("/", "generation", -1);
        file.commit(true);
        write_generations(file, 0);
      } catch (...) {
      }
      ::_exit(1);
    }
    const double longest = kill_number % 5 == 0 ? 4e5 : 4e4;  // us
    ::usleep(static_cast<useconds_t>(std::uniform_real_distribution<>(0, longest)(random)));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
    if (!std::filesystem::exists(partial) || std::filesystem::file_size(partial) == 0) continue;
    std::optional<Hdf5File> back;
    try {
      back.emplace(Hdf5File::open(partial));
    } catch (const Error&) {
      // Before the first commit there is nothing that could be read.
      ASSERT_LT(std::filesystem::file_size(partial), 5000u) << "kill " << kill_number;
    }
    if (back) {
      const int generation = static_cast<int>(back->number_attribute("/", "generation"));
      latest = std::max(latest, generation);
      if (generation > 0) {
        const std::vector<double> a = back->numbers("/a"), b = back->numbers("/b");
        ASSERT_EQ(b.size(), rows_after(generation)) << "kill " << kill_number;
        ASSERT_EQ(a.size(), 3 * b.size());
        for (std::size_t i = 0; i < b.size(); ++i) {
          ASSERT_EQ(a[3 * i], b[i]);
          ASSERT_EQ(a[3 * i + 2], 0.5);
        }
      }
      back.reset();
      // It can be gone on with, too.
      if (generation > 0) {
        Hdf5File again = Hdf5File::reopen_kept(path, true);
        GrowingTable<double> b(again, "/b");
        const double more = -1;
        b.append(&more, 1);
        b.flush(again);
        again.commit(true);
        b.close();
        again.finish();
        const std::vector<double> grown = Hdf5File::open(path).numbers("/b");
        ASSERT_EQ(grown.size(), rows_after(generation) + 1);
        ASSERT_EQ(grown.back(), -1);
        std::filesystem::remove(path);
      }
    }
    std::filesystem::remove(partial);
  }
  EXPECT_GT(latest, 0);  // some lived long enough
}

TEST(JournaledFile, AFullDiskLeavesTheLastCommit) {
  const testing::Folder folder("journal");
  const std::string path = folder.path / "a.h5";
  for (const rlim_t most : {20000, 30000, 70000, 100000, 250000}) {
    const pid_t child = ::fork();
    if (child == 0) {
      const rlimit limit{most, most};
      ::setrlimit(RLIMIT_FSIZE, &limit);
      ::signal(SIGXFSZ, SIG_IGN);
      try {
        Hdf5File file = Hdf5File::create_kept(path);
        file.attribute("/", "generation", -1);
        file.commit(true);
        write_generations(file, 0);
      } catch (const Error& error) {
        ::_exit(std::string(error.what()).find("File too large") != std::string::npos ? 0 : 1);
      }
      ::_exit(2);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0) << most;
    if (std::filesystem::exists(unfinished_name(path))) {
      const Hdf5File back = Hdf5File::open(unfinished_name(path));
      const int generation = static_cast<int>(back.number_attribute("/", "generation"));
      if (generation > 0) {
        EXPECT_EQ(back.numbers("/b").size(), rows_after(generation)) << most;
      }
    }
    std::filesystem::remove(unfinished_name(path));
  }
}

TEST(JournaledFile, NobodyWritesOverARunThatWasNotFinished) {
  const testing::Folder folder("journal");
  const std::string path = folder.path / "a.h5";
  {
    Hdf5File file = Hdf5File::create_kept(path);
    EXPECT_THROW(Hdf5File::create_kept(path), Error);  // somebody is at work
    EXPECT_TRUE(is_being_written(unfinished_name(path)));
    write_generations(file, 3);
  }
  EXPECT_FALSE(is_being_written(unfinished_name(path)));
  EXPECT_THROW(Hdf5File::create_kept(path), Error);
  EXPECT_EQ(Hdf5File::open(unfinished_name(path)).number_attribute("/", "generation"), 3);
  EXPECT_THROW(Hdf5File::open(path), Error);
  std::filesystem::remove(unfinished_name(path));
  { Hdf5File::create_kept(path).finish(); }
  EXPECT_TRUE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace rotule
