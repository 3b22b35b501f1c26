// Contact problems from files, by Siconos (its nonlinear Gauss-Seidel and its nonsmooth Newton within a proximal point) and by
// ours, in one process and by one measure of error, |x - P(x - w)| / |q|. For each goal: times, and the geometric mean of
// (fastest of Siconos's that got there) / (fastest of ours), ours with the patterns of its factors known from a first solve, as
// in a simulation, and from nothing. Recordings (rotule run --record-problems) take the place of the built-in problems: the
// largest island of five steps of each.
//   siconos_bench [FILE.h5...] [--json] [--benchmark_out=FILE]
#include <FrictionContactProblem.h>
#include <Friction_cst.h>
#include <NonSmoothDrivers.h>
#include <NumericsMatrix.h>
#include <SolverOptions.h>
#include <SparseBlockMatrix.h>
#include <fc3d_Solvers.h>
#include <rotule/solvers/block_gauss_seidel.h>
#include <rotule/solvers/interior_point.h>
#include <rotule/solvers/nncg.h>
#include <rotule/solvers/prox_newton.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "problem/delassus.h"
#include "record/fclib_file.h"
#include "record/problem_file.h"
#include "report.h"
#include "solve/solve.h"
#include "support/contact_problems.h"

namespace {

using namespace rotule;

struct Named {
  std::string name;
  ConstraintProblem problem;
};

struct Result {
  std::string name;
  double seconds = 0;
  double first_seconds = 0;  // from nothing
  double residual = infinity;
  bool reached = false;
};

/// Of five steps of a recording, the largest island each, where it is all contacts with cones: what Siconos's solvers take.
void add_recorded(const std::string& path, std::vector<Named>& out) {
  const std::vector<std::int64_t> frames = recorded_frames(path);
  const std::size_t count = std::min<std::size_t>(5, frames.size());
  for (std::size_t k = 1; k <= count; ++k) {
    const std::int64_t frame = frames[k * frames.size() / count - 1];
    Named largest;
    for (int island = 0; island < recorded_islands(path, frame); ++island) {
      ConstraintProblem p = read_problem(path, frame, island).problem;
      p.x0.setZero();
      const bool cones = std::all_of(p.blocks.begin(), p.blocks.end(), [](const ConstraintBlock& b) { return b.rows == 3; }) &&
                         p.friction.size() == p.blocks.size();
      if (cones && p.rows() > largest.problem.rows())
        largest = {fmt::format("{} {}", std::filesystem::path(path).stem().string(), frame), std::move(p)};
    }
    if (largest.problem.rows() > 0) out.push_back(std::move(largest));
  }
}

std::vector<Named> problems(const std::vector<std::string>& recordings) {
  std::vector<Named> out;
  for (const std::string& path : recordings) add_recorded(path, out);
  if (!recordings.empty()) return out;
  for (const char* file :
       {"local_problem_test", "LMGC_100_PR_PerioBox-i00361-60-03000", "Capsules-i125-1213", "Spheres-i099-356-679"})
    out.push_back({file, read_fclib(std::string(ROTULE_SOURCE_DIR "/data/fclib/") + file + ".hdf5")});
  out.push_back({"stack of 10 boxes", testing::box_stack(10)});
  out.push_back({"pile of 100 spheres", testing::sphere_pile(100)});
  out.push_back({"wall of 6 x 5 bricks", testing::brick_wall(6, 5)});
  return out;
}

/// The matrix of a problem in Siconos's own block format, which its Gauss-Seidel is fastest with.
class SiconosProblem {
 public:
  explicit SiconosProblem(const ConstraintProblem& p) {
    Delassus A;
    A.assemble(p);
    std::size_t entries = 0;
    for (int i = 0; i < A.blocks(); ++i) entries += 9 * A.row(i).size();
    matrix_ = NM_create(NM_SPARSE, p.rows(), p.rows());
    NM_triplet_alloc(matrix_, static_cast<CS_INT>(entries));
    for (int i = 0; i < A.blocks(); ++i)
      for (const Delassus::Entry& entry : A.row(i))
        for (int r = 0; r < 3; ++r)
          for (int c = 0; c < 3; ++c) NM_entry(matrix_, 3 * i + r, 3 * entry.column + c, A.values(entry)[3 * r + c]);
    blocks_ = NM_create(NM_SPARSE_BLOCK, p.rows(), p.rows());
    SBM_from_csparse(3, NM_csc(matrix_), blocks_->matrix1);
    q_ = -p.b;
    mu_.resize(p.friction.size());
    for (std::size_t i = 0; i < mu_.size(); ++i) mu_[i] = p.friction[i].mu;
  }

  /// Siconos may stop on a cheaper estimate of the error: then it is asked for more, and only the run that got there counts.
  Result reach(int solver, const char* name, const ConstraintProblem& p, double goal, int max_iterations) {
    Result out = solve(solver, name, p, goal, goal, max_iterations);
    for (const double factor : {0.3, 0.1}) {
      if (out.reached || out.seconds > 1) break;
      out = solve(solver, name, p, factor * goal, goal, max_iterations);
    }
    return out;
  }

 private:
  Result solve(int solver, const char* name, const ConstraintProblem& p, double tolerance, double goal, int max_iterations);
  NumericsMatrix *matrix_ = nullptr, *blocks_ = nullptr;
  VecX q_;
  std::vector<double> mu_;
};

Result SiconosProblem::solve(int solver, const char* name, const ConstraintProblem& p, double tolerance, double goal,
                             int max_iterations) {
  FrictionContactProblem* problem = frictionContactProblem_new();
  problem->dimension = 3;
  problem->numberOfContacts = static_cast<int>(mu_.size());
  problem->M = solver == SICONOS_FRICTION_3D_NSGS ? blocks_ : matrix_;
  problem->q = q_.data();
  problem->mu = mu_.data();
  Result out{name, infinity, infinity, infinity, false};
  for (int run = 0; run < 2; ++run) {
    SolverOptions* options = solver_options_create(solver);
    options->dparam[SICONOS_DPARAM_TOL] = tolerance;
    options->iparam[SICONOS_IPARAM_MAX_ITER] = max_iterations;
    VecX x = VecX::Zero(p.rows()), u = VecX::Zero(p.rows());
    const double start = bench::cpu_seconds();
    fc3d_driver(problem, x.data(), u.data(), options);
    const double took = bench::cpu_seconds() - start;
    solver_options_delete(options);
    if (x.allFinite()) out.residual = residual(p, {x.data(), static_cast<std::size_t>(x.size())}).relative;
    out.seconds = out.first_seconds = std::min(out.seconds, took);
    if (took > 1) break;
  }
  out.reached = out.residual <= 1.1 * goal;
  free(problem);
  return out;
}

template <class Settings>
Result solve_ours(const ConstraintProblem& p, double goal) {
  Settings settings;
  settings.tolerance = goal;
  Workspace workspace;
  SolveReport report;
  VecX x(p.rows());
  const std::span<double> answer(x.data(), static_cast<std::size_t>(x.size()));
  Result out{std::string(Settings::name), infinity, infinity, infinity, false};
  for (int run = 0; run < 2; ++run) {  // the first one finds patterns too; Siconos's problem is built beforehand as well
    const double start = bench::cpu_seconds();
    solve(p, settings, workspace, answer, report);
    const double took = bench::cpu_seconds() - start;
    if (run == 0) out.first_seconds = took;
    out.seconds = std::min(out.seconds, took);
    if (took > 1) break;
  }
  out.residual = residual(p, answer).relative;
  out.reached = out.residual <= 1.1 * goal;
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> recordings;
  // For rotule tournament --others: Siconos as a contestant.
  constexpr std::string_view csv_flag = "--csv=";
  std::string csv_file, csv = "problem,rows,solver,goal,reached,residual,iterations,seconds\n";
  std::vector<char*> others;
  for (int i = 0; i < argc; ++i)
    if (i > 0 && std::string_view(argv[i]).starts_with(csv_flag))
      csv_file = argv[i] + csv_flag.size();
    else if (i > 0 && std::string_view(argv[i]).ends_with(".h5"))
      recordings.emplace_back(argv[i]);
    else
      others.push_back(argv[i]);
  const bench::Options options = bench::parse(static_cast<int>(others.size()), others.data());
  std::string rows, summary;
  const std::vector<Named> all = problems(recordings);
  for (const double goal : {1e-4, 1e-8}) {
    double logarithms = 0, first_logarithms = 0;
    int counted = 0, ours_only = 0, theirs_only = 0;
    for (const auto& [name, p] : all) {
      SiconosProblem theirs(p);
      const Result peers[] = {theirs.reach(SICONOS_FRICTION_3D_NSGS, "siconos nsgs", p, goal, 5000),
                              theirs.reach(SICONOS_FRICTION_3D_PROX, "siconos prox nsn", p, goal, 100)};
      const Result ours[] = {solve_ours<BlockGaussSeidelSettings>(p, goal), solve_ours<NncgSettings>(p, goal),
                             solve_ours<ProxNewtonSettings>(p, goal), solve_ours<InteriorPointSettings>(p, goal)};
      double best_peer = infinity, best_ours = infinity, best_first = infinity;
      const auto look = [&, name = name](const Result& r, double& best) {
        if (r.reached) best = std::min(best, r.seconds);
        if (!options.json)
          fmt::print("{:.0e}  {:<42} {:<20} {:>11.3f} ms  {:.2e}{}\n", goal, name, r.name, 1e3 * r.seconds, r.residual,
                     r.reached ? "" : "  not reached");
        rows += fmt::format("{}\n  {{\"goal\": {}, \"problem\": \"{}\", \"solver\": \"{}\", \"seconds\": {}, \"reached\": {}}}",
                            rows.empty() ? "" : ",", goal, name, r.name, r.seconds, r.reached);
      };
      for (const Result& r : peers) {
        look(r, best_peer);
        csv += fmt::format("{},{},{},{},{},{},,{}\n", name, p.rows(), r.name, goal, r.reached ? 1 : 0, r.residual, r.seconds);
      }
      for (const Result& r : ours) {
        look(r, best_ours);
        if (r.reached) best_first = std::min(best_first, r.first_seconds);
      }
      if (best_ours < infinity && best_peer < infinity) {
        logarithms += std::log(best_peer / best_ours);
        first_logarithms += std::log(best_peer / best_first);
        ++counted;
      } else {
        ours_only += best_ours < infinity ? 1 : 0;
        theirs_only += best_peer < infinity ? 1 : 0;
      }
    }
    const double mean = counted > 0 ? std::exp(logarithms / counted) : 0;
    const double first_mean = counted > 0 ? std::exp(first_logarithms / counted) : 0;
    if (!options.json)
      fmt::print(
          "{:.0e}: geometric mean over {} of {} problems: ours {:.1f} times faster ({:.1f} from nothing); {} that only ours "
          "reached, {} that only Siconos did\n",
          goal, counted, all.size(), mean, first_mean, ours_only, theirs_only);
    summary += fmt::format("{}\"ratio_{:.0e}\": {}, \"ratio_from_nothing_{:.0e}\": {}", summary.empty() ? "" : ", ", goal, mean,
                           goal, first_mean);
  }
  if (!csv_file.empty()) std::ofstream(csv_file) << csv;
  bench::publish(options, fmt::format("{{\"machine\": \"{}\", {}, \"rows\": [{}\n]}}", bench::machine(), summary, rows));
}
