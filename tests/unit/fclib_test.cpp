// Files that others wrote: what their authors call a solution must be one by our judge, and the two forms of a problem must
// agree.
#include <gtest/gtest.h>
#include <rotule/error.h>
#include <rotule/solve.h>
#include <rotule/solvers/prox_newton.h>

#include <fstream>

#include "linalg/decompositions.h"
#include "problem/delassus.h"
#include "problem/operators.h"
#include "record/fclib_file.h"
#include "record/hdf5_file.h"
#include "support/files.h"
#include "support/impulses.h"
#include "support/source_dir.h"

namespace rotule {
namespace {

using testing::span;

const std::string fclib_folder = testing::source_dir() + "/data/fclib/";

TEST(Fclib, HasTheContactsThatItsAuthorsCounted) {
  const struct {
    const char* file;
    std::size_t contacts;
    bool bodies;
  } files[] = {{"local_problem_test.hdf5", 48, false},
               {"Capsules-i125-1213.hdf5", 286, false},
               {"Spheres-i099-356-679.hdf5", 356, true},
               {"LMGC_100_PR_PerioBox-i00361-60-03000.hdf5", 60, false}};
  for (const auto& [file, contacts, bodies] : files) {
    const ConstraintProblem p = read_fclib(fclib_folder + file);
    EXPECT_EQ(p.blocks.size(), contacts) << file;
    EXPECT_EQ(p.friction.size(), contacts) << file;
    EXPECT_EQ(p.has_matrix(), !bodies) << file;
  }
}

TEST(Fclib, TheMatrixFormedByBlocksIsTheOperator) {
  for (const char* file : {"Spheres-i099-356-679.hdf5", "LMGC_100_PR_PerioBox-i00361-60-03000.hdf5"}) {
    const ConstraintProblem p = read_fclib(fclib_folder + file);
    Delassus A;
    A.assemble(p);
    const VecX x = VecX::Random(p.rows());
    VecX u(6 * p.bodies()), y(p.rows()), z(p.rows());
    multiply(p, span(x), {u.data(), static_cast<std::size_t>(u.size())}, {y.data(), static_cast<std::size_t>(y.size())});
    A.multiply(span(x), {z.data(), static_cast<std::size_t>(z.size())});
    EXPECT_LT((y - z).norm(), 1e-13 * y.norm()) << file;
    MatX dense;
    A.to_dense(dense);
    EXPECT_LT((dense * x - y).norm(), 1e-13 * y.norm()) << file;
    EXPECT_LT((dense - dense.transpose()).norm(), 1e-2 * dense.norm()) << file;
  }
}

TEST(Fclib, FilesCutShortAreRefused) {
  std::ifstream in(fclib_folder + "local_problem_test.hdf5", std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(in)), {});
  const testing::Folder scratch("fclib");
  for (const double part : {0.0, 0.1, 0.5, 0.9}) {
    const std::string path = scratch.path / "cut.hdf5";
    std::ofstream(path, std::ios::binary) << whole.substr(0, static_cast<std::size_t>(part * static_cast<double>(whole.size())));
    EXPECT_THROW(read_fclib(path), Error) << part;
  }
  EXPECT_THROW(read_fclib(scratch.path / "absent.hdf5"), Error);
}

/// A problem in FCLIB's global form, made up at random: bodies of full 6 x 6 inertias, or one matrix over all of them.
struct MadeUp {
  MatX M, H, G;
  VecX f, w, b, mu, mu_r;
  int dimension = 3;
};

MadeUp make_up(int bodies, int contacts, int equations, bool rolling, bool by_bodies, unsigned seed) {
  std::srand(seed);
  MadeUp p;
  p.dimension = rolling ? 5 : 3;
  const int n = 6 * bodies, rows = p.dimension * contacts;
  p.M.setZero(n, n);
  for (int i = 0; i < bodies; ++i) {
    const MatX A = MatX::Random(6, 6);
    p.M.block(6 * i, 6 * i, 6, 6) = A * A.transpose() + MatX::Identity(6, 6);
  }
  if (!by_bodies) {
    const MatX A = MatX::Random(n, n);
    p.M += 0.1 * A * A.transpose();
  }
  // Each constraint between two bodies that follow each other, or one and the ground.
  const auto between = [&](int k, int first, int count, MatX& J) {
    const int a = k % bodies;
    J.block(6 * a, first, 6, count).setRandom();
    if (k % 3 != 0) J.block(6 * ((a + 1) % bodies), first, 6, count).setRandom();
  };
  p.H.setZero(n, rows);
  p.G.setZero(n, equations);
  for (int k = 0; k < contacts; ++k) between(k, p.dimension * k, p.dimension, p.H);
  for (int k = 0; k < equations; ++k) between(k + 1, k, 1, p.G);
  p.f = 3 * VecX::Random(n);
  p.w = VecX::Random(rows);
  p.b = VecX::Random(equations);
  p.mu = VecX::Constant(contacts, 0.4) + 0.3 * VecX::Random(contacts);
  p.mu_r = VecX::Constant(contacts, 0.2) + 0.1 * VecX::Random(contacts);
  return p;
}

void write(Hdf5File& file, const std::string& group, const MatX& A) {
  std::vector<std::int32_t> p, i;
  std::vector<double> x;
  for (int r = 0; r < A.rows(); ++r)
    for (int c = 0; c < A.cols(); ++c)
      if (A(r, c) != 0) {
        i.push_back(r);
        p.push_back(c);
        x.push_back(A(r, c));
      }
  const std::pair<const char*, std::int32_t> sizes[] = {{"m", static_cast<std::int32_t>(A.rows())},
                                                        {"n", static_cast<std::int32_t>(A.cols())},
                                                        {"nz", static_cast<std::int32_t>(x.size())},
                                                        {"nzmax", static_cast<std::int32_t>(x.size())}};
  for (const auto& [name, value] : sizes) file.write(group + "/" + name, std::span(&value, 1), {1});
  file.write(group + "/p", p, {p.size()});
  file.write(group + "/i", i, {i.size()});
  file.write(group + "/x", x, {x.size()});
}

void write(const std::string& path, const MadeUp& made) {
  Hdf5File file = Hdf5File::create(path);
  const std::string root = made.dimension == 5 ? "/fclib_global_rolling" : "/fclib_global";
  const std::int32_t dimension = made.dimension;
  file.write(root + "/spacedim", std::span(&dimension, 1), {1});
  write(file, root + "/M", made.M);
  write(file, root + "/H", made.H);
  if (made.G.cols() > 0) write(file, root + "/G", made.G);
  const auto vector = [&](const char* name, const VecX& v) {
    if (v.size() > 0) file.write(root + "/vectors/" + name, span(v), {static_cast<Hdf5Size>(v.size())});
  };
  vector("f", made.f);
  vector("w", made.w);
  vector("b", made.b);
  vector("mu", made.mu);
  if (made.dimension == 5) vector("mu_r", made.mu_r);
  file.finish();
}

/// The laws themselves, by dense algebra on what the file says: contact, friction and rolling against the motion.
void expect_solution(const MadeUp& made, const VecX& v, const VecX& u, const VecX& r, const VecX& l) {
  constexpr double near = 1e-7;
  EXPECT_LT((made.M * v - made.H * r - made.G * l - made.f).norm(), near);
  EXPECT_LT((made.H.transpose() * v + made.w - u).norm(), near);
  EXPECT_LT((made.G.transpose() * v + made.b).norm(), near);
  for (int c = 0; c < made.mu.size(); ++c) {
    const int row = made.dimension * c;
    EXPECT_GT(r[row], -near);
    EXPECT_GT(u[row], -near);
    EXPECT_LT(std::abs(r[row] * u[row]), near);
    for (const auto& [first, mu] : {std::pair(1, made.mu[c]), std::pair(3, made.mu_r[c])}) {
      if (first >= made.dimension) continue;
      const Eigen::Vector2d force = r.segment<2>(row + first), speed = u.segment<2>(row + first);
      EXPECT_LT(force.norm(), mu * r[row] + near);
      EXPECT_LT((speed.norm() * force + mu * r[row] * speed).norm(), near) << "where it slides or rolls, against it";
    }
  }
}

TEST(Fclib, GlobalFormsWithEquationsAndRollingAreReadSolvedAndWritten) {
  const testing::Folder scratch("fclib_global");
  unsigned seed = 1;
  int pressed = 0;
  for (const bool rolling : {false, true})
    for (const bool by_bodies : {false, true})
      for (const int equations : {0, 4}) {
        SCOPED_TRACE(::testing::Message() << "rolling " << rolling << ", bodies " << by_bodies << ", equations " << equations);
        const MadeUp made = make_up(5, 6, equations, rolling, by_bodies, seed++);
        const std::string path = scratch.path / "made_up.hdf5", answer = scratch.path / "answer.hdf5";
        write(path, made);
        ASSERT_TRUE(is_fclib_file(path));
        const ConstraintProblem p = read_fclib(path);
        EXPECT_EQ(p.rows(), made.H.cols() + equations);
        EXPECT_EQ(p.has_matrix(), !by_bodies);
        EXPECT_EQ(p.friction.size(), rolling ? 12u : 6u);
        VecX x = VecX::Zero(p.rows());
        const SolveReport report =
            solve(p, ProxNewtonSettings{.tolerance = 1e-11}, {x.data(), static_cast<std::size_t>(x.size())});
        EXPECT_TRUE(report.converged) << report.residual;
        write_fclib_solution(path, answer, p, span(x));
        const Hdf5File file = Hdf5File::open(answer);
        const auto read = [&](const char* name) {
          const std::vector<double> values = file.numbers(std::string("/solution/") + name);
          return VecX(Eigen::Map<const VecX>(values.data(), static_cast<Eigen::Index>(values.size())));
        };
        const VecX r = read("r");
        expect_solution(made, read("v"), read("u"), r, equations > 0 ? read("l") : VecX(0));
        for (Eigen::Index row = 0; row < r.size(); row += made.dimension) pressed += r[row] > 1e-3;
        EXPECT_LT(residual(read_fclib(answer), span(x)).relative, 1e-10) << "the problem is in the answer's file too";
      }
  EXPECT_GT(pressed, 16) << "most contacts touch";
}

TEST(Fclib, TheMixedReducedFormIsTheGlobalOne) {
  const testing::Folder scratch("fclib_mixed");
  const MadeUp made = make_up(4, 5, 3, false, false, 99);
  const std::string global = scratch.path / "global.hdf5", local = scratch.path / "local.hdf5";
  write(global, made);
  const MatX inverse = inverse_of(made.M);
  {
    Hdf5File file = Hdf5File::create(local);
    const std::int32_t dimension = 3;
    file.write("/fclib_local/spacedim", std::span(&dimension, 1), {1});
    write(file, "/fclib_local/W", made.H.transpose() * inverse * made.H);
    write(file, "/fclib_local/V", made.H.transpose() * inverse * made.G);
    write(file, "/fclib_local/R", made.G.transpose() * inverse * made.G);
    const VecX q = made.H.transpose() * inverse * made.f + made.w, s = made.G.transpose() * inverse * made.f + made.b;
    file.write("/fclib_local/vectors/q", span(q), {static_cast<Hdf5Size>(q.size())});
    file.write("/fclib_local/vectors/s", span(s), {static_cast<Hdf5Size>(s.size())});
    file.write("/fclib_local/vectors/mu", span(made.mu), {static_cast<Hdf5Size>(made.mu.size())});
    file.finish();
  }
  const ConstraintProblem a = read_fclib(global), b = read_fclib(local);
  const VecX x = VecX::Random(a.rows());
  VecX none(0), y(a.rows()), z(b.rows());
  multiply(a, span(x), {none.data(), 0}, {y.data(), static_cast<std::size_t>(y.size())});
  multiply(b, span(x), {none.data(), 0}, {z.data(), static_cast<std::size_t>(z.size())});
  EXPECT_LT((y - z).norm(), 1e-12 * y.norm());
  EXPECT_LT((a.b - b.b).norm(), 1e-12 * a.b.norm());
}

}  // namespace
}  // namespace rotule
