// Files that others wrote: what their authors call a solution must be one by our judge, and the two forms of a problem must
// agree.
#include <gtest/gtest.h>
#include <rotule/error.h>

#include <fstream>

#include "problem/delassus.h"
#include "problem/operators.h"
#include "record/fclib_file.h"
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

}  // namespace
}  // namespace rotule
