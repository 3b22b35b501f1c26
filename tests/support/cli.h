#pragma once
// The program as a user calls it: in a folder of its own, with what it says and what it leaves.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace rotule::testing {

namespace fs = std::filesystem;

struct Result {
  int status = -1;
  std::string out, err;
};

inline std::string content(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// An empty folder to run in, and a folder beside it for what the test itself needs.
class Cli : public ::testing::Test {
 protected:
  // Tests of one name in two suites, and suites of two trees, run side by side.
  Cli() : base_(fs::temp_directory_path() / ("rotule_cli_" + std::to_string(::getpid()))) {
    fs::remove_all(base_);
    fs::create_directories(base_ / "cwd");
    fs::create_directories(base_ / "in");
  }
  ~Cli() override { fs::remove_all(base_); }

  Result rotule(const std::string& arguments, const std::string& before = "") {
    const std::string command = "cd '" + cwd().string() + "' && " + before + " '" ROTULE_PROGRAM "' " + arguments + " >'" +
                                (base_ / "out").string() + "' 2>'" + (base_ / "err").string() + "' </dev/null";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, content(base_ / "out"), content(base_ / "err")};
  }
  /// A file beside the working folder, by its path from there.
  std::string file(const std::string& name, const std::string& text) {
    std::ofstream(base_ / "in" / name) << text;
    return "../in/" + name;
  }
  [[nodiscard]] fs::path cwd() const { return base_ / "cwd"; }
  [[nodiscard]] std::ptrdiff_t files() const { return std::distance(fs::directory_iterator(cwd()), {}); }

  void expect_refusal(const Result& result, const std::string& expected, const std::string& what) const {
    EXPECT_EQ(result.status, 2) << what << "\n" << result.err;
    EXPECT_EQ(result.out, "") << what;
    EXPECT_EQ(result.err.rfind("rotule: ", 0), 0u) << what << "\n" << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << what << "\n" << result.err;
    EXPECT_NE(result.err.find(expected), std::string::npos) << what << "\n" << result.err << "  expected: " << expected;
    EXPECT_EQ(files(), 0) << what << " left something behind";
  }

 private:
  fs::path base_;
};

}  // namespace rotule::testing
