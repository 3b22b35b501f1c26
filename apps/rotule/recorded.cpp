#include "recorded.h"

#include <fmt/format.h>
#include <poll.h>
#include <rotule/error.h>
#include <rotule/solve.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>

#include "record/fclib_file.h"
#include "signals.h"
#include "solve/solve.h"

namespace rotule::app {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

Attempt attempt(const ConstraintProblem& problem, const SolverChoice& solver, double goal) {
  constexpr double worth_repeating = 0.5;  // s
  SolverChoice chosen = solver;
  if (goal > 0)
    if (auto* tolerance = chosen.find<double>("tolerance")) *tolerance = goal;
  Workspace workspace;
  SolveReport report;
  VecX x = VecX::Zero(problem.rows());
  const std::span<double> answer(x.data(), static_cast<std::size_t>(x.size()));
  Attempt out{.goal = goal};
  for (int run = 0; run < 2; ++run) {
    const auto start = Clock::now();
    solve(problem, chosen, workspace, answer, report);
    const double took = seconds_since(start);
    out.seconds = run == 0 ? took : std::min(out.seconds, took);
    if (took > worth_repeating) break;
  }
  out.iterations = report.iterations;
  const Residual judged = residual(problem, answer);
  out.residual = judged.scale_free;
  out.natural_map = judged.relative;
  out.sum = judged.sum;
  out.max = judged.max;
  out.reached = goal > 0 ? out.residual <= goal * (1 + 1e-9) : report.converged;
  return out;
}

/// What the child process sends: one of these per goal, or, with `broken`, why it stopped.
struct Message {
  Attempt attempt;
  bool broken = false;
  char reason[200] = {};
};

void work(int pipe, const ConstraintProblem& problem, const SolverChoice& solver, const std::vector<double>& goals) {
  for (const double goal : goals) {
    Message message;
    try {
      message.attempt = attempt(problem, solver, goal);
    } catch (const std::exception& error) {
      message.broken = true;
      fmt::format_to_n(message.reason, sizeof(message.reason) - 1, "{}", error.what());
    }
    if (::write(pipe, &message, sizeof(message)) != sizeof(message) || message.broken) return;
  }
}

}  // namespace

NamedProblem read_named_problem(const std::string& path, std::int64_t frame, int island) {
  NamedProblem out{path, {}};
  if (is_fclib_file(path)) {
    out.problem = read_fclib(path);
  } else {
    const std::vector<std::int64_t> frames = recorded_frames(path);
    if (std::find(frames.begin(), frames.end(), frame) == frames.end())
      throw Error(path, frames.empty() ? "holds no problem; record a scene with joints or contacts"
                                       : fmt::format("frame {} is not there; it has {} of them, from {} to {}", frame,
                                                     frames.size(), frames.front(), frames.back()));
    out.problem = read_problem(path, frame, island).problem;
    out.name = fmt::format("{}:{}:{}", path, frame, island);
  }
  validate(out.problem);
  out.problem.x0.setZero();
  return out;
}

std::vector<NamedProblem> read_some_problems(const std::string& path, int most) {
  std::vector<NamedProblem> out;
  if (is_fclib_file(path)) {
    out.push_back(read_named_problem(path, 0, 0));
    return out;
  }
  const std::vector<std::int64_t> frames = recorded_frames(path);
  const std::size_t count = std::min(frames.size(), static_cast<std::size_t>(most));
  for (std::size_t k = 0; k < count; ++k) {
    const std::int64_t frame = count == 1 ? frames.back() : frames[k * (frames.size() - 1) / (count - 1)];
    NamedProblem largest;
    for (int island = 0; island < recorded_islands(path, frame); ++island) {
      NamedProblem problem = read_named_problem(path, frame, island);
      if (island == 0 || problem.problem.rows() > largest.problem.rows()) largest = std::move(problem);
    }
    if (largest.problem.rows() > 0) out.push_back(std::move(largest));
  }
  if (out.empty()) throw Error(path, "holds no problem; record a scene with joints or contacts");
  return out;
}

Trial measure(const ConstraintProblem& problem, const NamedSolver& solver, const std::vector<double>& goals, double limit) {
  Trial out;
  out.solver = solver.name;
  out.refusal = why_not(problem, solver.settings);
  if (!out.refusal.empty()) return out;
  int ends[2];
  if (::pipe(ends) != 0) throw Error("no pipe to be had");
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child < 0) throw Error("no process to be had");
  if (child == 0) {
    ::close(ends[0]);
    work(ends[1], problem, solver.settings, goals);
    ::_exit(0);
  }
  ::close(ends[1]);
  const auto start = Clock::now();
  while (out.attempts.size() < goals.size()) {
    pollfd ready{ends[0], POLLIN, 0};
    const double left = limit - seconds_since(start);
    const int heard = left <= 0 ? 0 : ::poll(&ready, 1, static_cast<int>(1000 * left) + 1);
    if (signal_received() != 0) break;
    if (heard < 0 && errno == EINTR) continue;
    if (heard == 0) {
      out.out_of_time = true;
      break;
    }
    Message message;
    if (::read(ends[0], &message, sizeof(message)) != sizeof(message)) break;
    if (message.broken) {
      out.refusal = message.reason;
      break;
    }
    out.attempts.push_back(message.attempt);
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ::close(ends[0]);
  Budget::listen();
  return out;
}

std::vector<NamedSolver> solvers_by_name(const std::vector<std::string>& names, const std::vector<std::string>& settings) {
  std::vector<NamedSolver> out;
  const auto add = [&](const std::string& name) {
    NamedSolver named = named_solver(name, Place("--solver"));
    Recipe recipe{.solver = named.settings};
    // A step's bound is not a study's, which has a limit of time; and no step comes after.
    if (recipe.solver.holds<AutoSettings>()) {
      *recipe.solver.find<int>("max_iterations") = 1000000;
      *recipe.solver.find<bool>("rest") = false;
    }
    apply_settings(recipe, settings);
    named.settings = recipe.solver;
    out.push_back(named);
  };
  for (const std::string& name : names) {
    if (name != "all") {
      add(name);
      continue;
    }
    for (const NamedSolver& solver : solver_list())
      if (!solver.preset() && solver.settings.traits().bounds) add(std::string(solver.name));
  }
  return out;
}

std::vector<double> goals_from(const std::vector<double>& given) {
  std::vector<double> out = given;
  for (const double goal : out)
    if (!(goal > 0) || goal > 1) throw Error(fmt::format("--to: must be above 0 and at most 1, is {}", goal));
  std::sort(out.begin(), out.end(), std::greater<>());
  return out;
}

}  // namespace rotule::app
