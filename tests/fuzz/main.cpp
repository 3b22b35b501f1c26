// rotule_fuzz: tries targets in processes of their own, keeps what broke them, and says how many inputs there were.
//   rotule_fuzz [--seconds S] [--seed N] [--out FOLDER] [TARGET]...     rotule_fuzz --replay TARGET FILE...
#include <fmt/format.h>
#include <rotule/error.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

#include "fuzz.h"
#include "support/source_dir.h"

namespace rotule::fuzz {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

/// What a worker is at, for whoever has to say what killed it.
struct Shared {
  static constexpr std::size_t most = 1 << 21;
  std::atomic<std::uint64_t> executions, size;
  char words[400];  // of a broken promise
  char input[most];
};

/// Whether the target kept its promises; else words say which it broke.
bool try_one(const Target& target, const std::string& input, Shared& shared) {
  shared.size = std::min(input.size(), Shared::most);
  std::memcpy(shared.input, input.data(), shared.size);
  std::string wrong;
  try {
    target.run(input);
  } catch (const Broken& broken) {
    wrong = broken.what();
  } catch (const Error&) {
  } catch (const std::bad_alloc&) {  // said as "out of memory"
  } catch (const std::exception& other) {
    wrong = fmt::format("another exception: {}", other.what());
  }
  ++shared.executions;
  if (wrong.empty()) return true;
  fmt::format_to_n(shared.words, sizeof(shared.words) - 1, "{}", wrong);
  return false;
}

std::vector<std::string> corpus_of(const Target& target) {
  return contents_of(fs::path(testing::source_dir()) / "tests" / "fuzz" / "corpus" / std::string(target.name));
}

[[noreturn]] void work(const Target& target, std::uint64_t seed, bool with_corpus, Shared& shared) {
  std::vector<std::string> seeds = corpus_of(target);
  if (with_corpus)
    for (const std::string& input : seeds)
      if (!try_one(target, input, shared)) ::_exit(3);
  if (target.seeds != nullptr) {
    const std::vector<std::string> more = target.seeds();
    seeds.insert(seeds.end(), more.begin(), more.end());
  }
  Random random(seed);
  for (;;)
    if (!try_one(target, target.make != nullptr ? target.make(random) : mutated(seeds, random), shared)) ::_exit(3);
}

struct Tally {
  std::uint64_t executions = 0;
  double seconds = 0;
  int findings = 0;
};

Tally fuzz(const Target& target, double seconds, std::uint64_t seed, const fs::path& out, Shared& shared) {
  constexpr double longest = 60;  // s for one input
  constexpr int most_findings = 20;
  Tally tally;
  const auto begun = Clock::now();
  const auto since = [](Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); };
  shared.executions = 0;
  for (int round = 0; since(begun) < seconds && tally.findings < most_findings; ++round) {
    shared.words[0] = '\0';
    std::fflush(nullptr);
    const pid_t child = ::fork();
    if (child == 0) work(target, seed + 1000003ULL * static_cast<unsigned>(round), round == 0, shared);
    int status = 0;
    bool ended = false, hung = false;
    auto moved = Clock::now();
    for (std::uint64_t last = shared.executions; since(begun) < seconds;) {
      if (::waitpid(child, &status, WNOHANG) == child) {
        ended = true;
        break;
      }
      ::usleep(20000);
      if (const std::uint64_t now = shared.executions; now != last) {
        last = now;
        moved = Clock::now();
      } else if (since(moved) > longest) {
        hung = true;
        break;
      }
    }
    if (!ended) {
      ::kill(child, SIGKILL);
      ::waitpid(child, &status, 0);
    }
    std::error_code ignored;
    fs::remove_all(fs::temp_directory_path() / fmt::format("rotule_fuzz_{}", child), ignored);
    if (!ended && !hung) break;  // time is up
    ++tally.findings;
    fs::create_directories(out);
    const fs::path file = out / fmt::format("{}-{}-{}", target.name, seed, tally.findings);
    std::ofstream(file, std::ios::binary).write(shared.input, static_cast<std::streamsize>(shared.size.load()));
    const std::string how = hung                      ? fmt::format("hangs for {:.0f} s", longest)
                            : WIFSIGNALED(status)     ? fmt::format("crashes: {}", strsignal(WTERMSIG(status)))
                            : shared.words[0] != '\0' ? std::string(shared.words)
                                                      : fmt::format("ends the process with status {}", WEXITSTATUS(status));
    fmt::print("{}: {}\n  {}\n", target.name, how, file.string());
    std::fflush(stdout);
  }
  tally.executions = shared.executions;
  tally.seconds = since(begun);
  return tally;
}

const Target& target_named(const std::string& name) {
  for (const Target& target : targets())
    if (target.name == name) return target;
  std::string known;
  for (const Target& target : targets()) known += fmt::format("\n  {:<12}  {}", target.name, target.what);
  throw Error(fmt::format("unknown target {}; there are:{}", name, known));
}

int replay(const std::string& name, const std::vector<std::string>& files, Shared& shared) {
  const Target& target = target_named(name);
  int broken = 0;
  for (const std::string& file : files) {
    std::ifstream in(file, std::ios::binary);
    shared.words[0] = '\0';
    const bool kept = try_one(target, {std::istreambuf_iterator<char>(in), {}}, shared);
    fmt::print("{}: {}\n", file, kept ? "all promises kept" : shared.words);
    broken += !kept;
  }
  return broken > 0 ? 1 : 0;
}

int run(const std::vector<std::string>& words) {
  double seconds = 10;
  std::uint64_t seed = 1;
  fs::path out = "out/fuzz";
  std::vector<std::string> names;
  bool replaying = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto value = [&] {
      if (i + 1 >= words.size()) throw Error(words[i], "needs a value");
      return words[++i];
    };
    if (words[i] == "--seconds")
      seconds = std::stod(value());
    else if (words[i] == "--seed")
      seed = std::stoull(value());
    else if (words[i] == "--out")
      out = value();
    else if (words[i] == "--replay")
      replaying = true;
    else
      names.push_back(words[i]);
  }
  void* memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw Error("no memory to share");
  Shared& shared = *new (memory) Shared;
  if (replaying) {
    if (names.empty()) throw Error("--replay", "needs a target and files");
    return replay(names.front(), {names.begin() + 1, names.end()}, shared);
  }
  if (names.empty())
    for (const Target& target : targets()) names.emplace_back(target.name);
  std::uint64_t executions = 0;
  int findings = 0;
  for (const std::string& name : names) {
    const Tally tally = fuzz(target_named(name), seconds, seed, out, shared);
    fmt::print("{:<12}  {:>10} inputs in {:>7.1f} s, {:>8.0f} per second, {} found\n", name, tally.executions, tally.seconds,
               static_cast<double>(tally.executions) / tally.seconds, tally.findings);
    std::fflush(stdout);
    executions += tally.executions;
    findings += tally.findings;
  }
  fmt::print("{:<12}  {:>10} inputs, {} found, seed {}\n", "all", executions, findings, seed);
  return findings > 0 ? 1 : 0;
}

}  // namespace
}  // namespace rotule::fuzz

int main(int count, char** words) {
  try {
    return rotule::fuzz::run({words + 1, words + count});
  } catch (const std::exception& error) {
    fmt::print(stderr, "rotule_fuzz: {}\n", error.what());
    return 2;
  }
}
