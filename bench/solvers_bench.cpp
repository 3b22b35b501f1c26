// Solvers of bilateral systems: the block-sparse LDL^T against Eigen's and CHOLMOD's, and all solvers on chains.
//
// factor_solve: numeric factorisation and solve of a matrix already in each library's own format, symbolic part reused.
// whole_solve: ours with the assembly of A from J and M included (theirs would have to add theirs).
#include <benchmark/benchmark.h>
#include <malloc.h>

#include <Eigen/SparseCholesky>
#include <Eigen/SparseCore>

#ifdef ROTULE_BENCH_CHOLMOD
#include <rotule/solvers/articulated_body.h>
#include <rotule/solvers/cg.h>
#include <rotule/solvers/dense_ldlt.h>
#include <rotule/solvers/ldlt.h>
#include <rotule/solvers/schur.h>
#include <rotule/solvers/sor.h>
#include <suitesparse/cholmod.h>
#endif

#include "linalg/block_ldlt.h"
#include "linalg/ordering.h"
#include "solve/solve.h"
#include "support/problem_builders.h"

namespace {

using namespace rotule;
using Sparse = Eigen::SparseMatrix<double>;

ConstraintProblem mannequin() {
  testing::ProblemBuilder builder;
  testing::add_mannequin(builder);
  return builder.problem();
}

ConstraintProblem chain(int links) {
  testing::ProblemBuilder builder;
  testing::add_chain(builder, links);
  return builder.problem();
}

/// What is compared on: 0 is the mannequin, n a chain of n links.
ConstraintProblem subject(std::int64_t n) { return n == 0 ? mannequin() : chain(static_cast<int>(n)); }

/// The lower triangle of A = J M^-1 J^T + C.
Sparse lower_triangle(const ConstraintProblem& p) {
  std::vector<Eigen::Triplet<double>> J_entries, W_entries, C_entries;
  for (const ConstraintBlock& block : p.blocks)
    for (int r = block.first_row; r < block.first_row + block.rows; ++r)
      for (int c = 0; c < 6; ++c) {
        if (block.body_a >= 0) J_entries.emplace_back(r, 6 * block.body_a + c, p.J_a(r, c));
        if (block.body_b >= 0) J_entries.emplace_back(r, 6 * block.body_b + c, p.J_b(r, c));
      }
  for (int body = 0; body < p.bodies(); ++body)
    for (int i = 0; i < 36; ++i) W_entries.emplace_back(6 * body + i % 6, 6 * body + i / 6, p.inverse_mass[body](i));
  Sparse J(p.rows(), 6 * p.bodies()), W(6 * p.bodies(), 6 * p.bodies());
  J.setFromTriplets(J_entries.begin(), J_entries.end());
  W.setFromTriplets(W_entries.begin(), W_entries.end());
  Sparse A = J * W * Sparse(J.transpose());
  for (int r = 0; r < p.rows(); ++r) A.coeffRef(r, r) += p.C[r];
  Sparse lower = A.triangularView<Eigen::Lower>();
  lower.makeCompressed();
  return lower;
}

double residual_of(const Sparse& lower, const VecX& x, const VecX& b) {
  return (lower.selfadjointView<Eigen::Lower>() * x - b).norm() / b.norm();
}

void check(benchmark::State& state, double residual) {
  state.counters["residual"] = residual;
  if (!(residual < 1e-10)) state.SkipWithError("the answer is wrong");
}

void factor_solve_ldlt(benchmark::State& state) {
  const ConstraintProblem p = subject(state.range(0));
  const Sparse A = lower_triangle(p);
  const int n = static_cast<int>(p.blocks.size());
  std::vector<GraphEdge> edges;
  std::vector<BlockLdlt::Node> nodes;
  for (const ConstraintBlock& block : p.blocks) {
    edges.push_back({block.body_a, block.body_b});
    nodes.push_back({.first_row = block.first_row, .size = block.rows});
  }
  Graph adjacency;
  adjacency.start = {0};
  const Graph joints = incident_edges(edges, p.bodies());
  for (int i = 0; i < n; ++i) {
    for (const int body : {edges[i].a, edges[i].b})
      if (body >= 0)
        for (const int j : joints.of(body))
          if (j != i) adjacency.neighbours.push_back(j);
    adjacency.start.push_back(static_cast<int>(adjacency.neighbours.size()));
  }
  std::vector<int> order;
  leaves_first(edges, p.bodies(), order);
  BlockLdlt factor;
  factor.analyse(nodes, adjacency, order);
  const auto fill = [&](int offset, int row_node, int col_node) {
    for (int r = 0; r < nodes[row_node].size; ++r)
      for (int c = 0; c < nodes[col_node].size; ++c) {
        const int i = nodes[row_node].first_row + r, j = nodes[col_node].first_row + c;
        factor.values()[offset + r * nodes[col_node].size + c] = A.coeff(std::max(i, j), std::min(i, j));
      }
  };
  for (int i = 0; i < n; ++i) {
    fill(factor.offset(i), i, i);
    for (const int j : adjacency.of(i))
      if (factor.position(j) > factor.position(i)) fill(factor.offset(j, i), j, i);
  }
  const std::vector<double> values = factor.values();
  std::vector<std::int32_t> redundant;
  VecX x(p.rows());
  for (auto _ : state) {
    std::copy(values.begin(), values.end(), factor.values().begin());
    factor.factor(1e-12, redundant);
    x = p.b;
    factor.solve(x.data());
    benchmark::DoNotOptimize(x.data());
    benchmark::ClobberMemory();
  }
  check(state, residual_of(A, x, p.b));
}

void whole_solve_ldlt(benchmark::State& state) {
  const ConstraintProblem p = subject(state.range(0));
  Workspace workspace;
  SolveReport report;
  VecX x(p.rows());
  for (auto _ : state) {
    solve(p, LdltSettings{}, workspace, {x.data(), static_cast<std::size_t>(x.size())}, report);
    benchmark::DoNotOptimize(x.data());
    benchmark::ClobberMemory();
  }
  check(state, residual_of(lower_triangle(p), x, p.b));
}

void factor_solve_eigen(benchmark::State& state) {
  const ConstraintProblem p = subject(state.range(0));
  const Sparse A = lower_triangle(p);
  Eigen::SimplicialLDLT<Sparse, Eigen::Lower> ldlt;
  ldlt.analyzePattern(A);
  VecX x(p.rows());
  for (auto _ : state) {
    ldlt.factorize(A);
    x = ldlt.solve(p.b);
    benchmark::DoNotOptimize(x.data());
    benchmark::ClobberMemory();
  }
  check(state, residual_of(A, x, p.b));
}

BENCHMARK(factor_solve_ldlt)->Arg(0)->Arg(1000)->ArgName("chain");
BENCHMARK(whole_solve_ldlt)->Arg(0)->Arg(1000)->ArgName("chain");
BENCHMARK(factor_solve_eigen)->Arg(0)->Arg(1000)->ArgName("chain");

#ifdef ROTULE_BENCH_CHOLMOD
void factor_solve_cholmod(benchmark::State& state, int supernodal) {
  const ConstraintProblem p = subject(state.range(0));
  Sparse A = lower_triangle(p);
  cholmod_common common;
  cholmod_start(&common);
  common.supernodal = supernodal;
  cholmod_sparse matrix{};
  matrix.nrow = matrix.ncol = static_cast<std::size_t>(A.rows());
  matrix.nzmax = static_cast<std::size_t>(A.nonZeros());
  matrix.p = A.outerIndexPtr();
  matrix.i = A.innerIndexPtr();
  matrix.x = A.valuePtr();
  matrix.stype = -1;
  matrix.itype = CHOLMOD_INT;
  matrix.xtype = CHOLMOD_REAL;
  matrix.dtype = CHOLMOD_DOUBLE;
  matrix.sorted = matrix.packed = 1;
  VecX b = p.b;
  cholmod_dense right{};
  right.nrow = right.nzmax = right.d = static_cast<std::size_t>(b.size());
  right.ncol = 1;
  right.x = b.data();
  right.xtype = CHOLMOD_REAL;
  right.dtype = CHOLMOD_DOUBLE;
  cholmod_factor* factor = cholmod_analyze(&matrix, &common);
  cholmod_dense *x = nullptr, *y = nullptr, *e = nullptr;
  for (auto _ : state) {
    cholmod_factorize(&matrix, factor, &common);
    cholmod_solve2(CHOLMOD_A, factor, &right, nullptr, &x, nullptr, &y, &e, &common);
    benchmark::ClobberMemory();
  }
  check(state, residual_of(A, Eigen::Map<const VecX>(static_cast<double*>(x->x), b.size()), b));
  cholmod_free_dense(&x, &common);
  cholmod_free_dense(&y, &common);
  cholmod_free_dense(&e, &common);
  cholmod_free_factor(&factor, &common);
  cholmod_finish(&common);
}
BENCHMARK_CAPTURE(factor_solve_cholmod, simplicial, CHOLMOD_SIMPLICIAL)->Arg(0)->Arg(1000)->ArgName("chain");
BENCHMARK_CAPTURE(factor_solve_cholmod, supernodal, CHOLMOD_SUPERNODAL)->Arg(0)->Arg(1000)->ArgName("chain");
#endif

std::size_t bytes_in_use() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

/// Time and memory per link of a chain; memory is that of the problem, the factor and the workspace.
template <class Settings, Settings settings = Settings{}>
void chains(benchmark::State& state) {
  const int links = static_cast<int>(state.range(0));
  const std::size_t before = bytes_in_use();
  const ConstraintProblem p = chain(links);
  Workspace workspace;
  SolveReport report;
  std::vector<double> x(p.rows());
  solve(p, settings, workspace, x, report);
  const std::size_t bytes = bytes_in_use() - before;
  for (auto _ : state) {
    solve(p, settings, workspace, x, report);
    benchmark::ClobberMemory();
  }
  state.counters["time_per_link"] =
      benchmark::Counter(links, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
  state.counters["bytes_per_link"] = static_cast<double>(bytes) / links;
  state.counters["residual"] = residual(p, x).relative;
  state.counters["iterations"] = report.iterations;
}
BENCHMARK(chains<LdltSettings>)->RangeMultiplier(10)->Range(100, 100000)->Unit(benchmark::kMicrosecond);
BENCHMARK(chains<ArticulatedBodySettings>)->RangeMultiplier(10)->Range(100, 100000)->Unit(benchmark::kMicrosecond);
BENCHMARK(chains<SchurSettings>)->RangeMultiplier(10)->Range(100, 100000)->Unit(benchmark::kMicrosecond);
BENCHMARK(chains<DenseLdltSettings>)->Arg(100)->Unit(benchmark::kMicrosecond);
BENCHMARK(chains<CgSettings>)->Arg(100)->Unit(benchmark::kMicrosecond);
BENCHMARK(chains<SorSettings>)->Arg(100)->Unit(benchmark::kMicrosecond);
BENCHMARK_TEMPLATE(chains, SorSettings, gauss_seidel)->Arg(100)->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
