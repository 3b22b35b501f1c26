// Block-sparse LDL^T of A = J M^-1 J^T + C (A10), see sparse_system.h.
//
// Rows whose pivot vanishes are redundant: set aside and listed. Refinement runs only where a row was set aside, a pivot lost
// half its digits or a body is a node (a light one that carries heavy ones loses digits there); report.residual is computed only
// then (it costs a product with A) and is 0 otherwise.
#include <rotule/error.h>
#include <rotule/solvers/ldlt.h>

#include <algorithm>

#include "base/shares.h"
#include "solve/direct/sparse_system.h"
#include "solve/solve.h"

namespace rotule {

namespace {

/// Below this ratio of a pivot to its diagonal entry, half the digits are gone: refinement brings them back.
constexpr double suspicious_ratio = 1e-7;

}  // namespace

void solve(const ConstraintProblem& problem, const LdltSettings& settings, Workspace& workspace, std::span<double> x,
           SolveReport& report) {
  auto& system = workspace.get<SparseSystem>();
  Gang* const gang = workspace.get<Helpers>().gang;
  const int threads = gang ? gang->threads() : 1;
  if (!system.matches(problem, problem.blocks, threads)) system.analyse(problem, problem.blocks, threads);
  clear(report, problem.rows());

  system.assemble(problem, gang);
  const BlockLdlt::Outcome outcome = system.factor.factor(settings.pivot_tolerance, report.redundant_rows, gang);
  report.smallest_pivot = outcome.smallest_ratio;
  const auto rows = static_cast<std::int64_t>(x.size());
  share_evenly(gang, rows, [&](std::int64_t first, std::int64_t end) {
    std::copy(problem.b.data() + first, problem.b.data() + end, x.begin() + first);
  });
  system.solve(x, gang);
  if (!share_all(gang, rows, [&](std::int64_t first, std::int64_t end) {
        return all_finite(x.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(end - first)));
      }))
    throw Error("solver ldlt", "the answer is not finite: the motion has blown up; take a smaller step");

  if (outcome.redundant > 0 || outcome.smallest_ratio < suspicious_ratio || system.has_hubs())
    refine(
        problem, settings.max_refinements, [&](std::span<double> r) { system.solve(r, gang); }, x, system.refinement, report);
  std::ranges::sort(report.redundant_rows);
}

}  // namespace rotule
