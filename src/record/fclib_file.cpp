#include "record/fclib_file.h"

#include <fmt/format.h>
#include <rotule/error.h>

#include <Eigen/LU>
#include <Eigen/SparseCholesky>
#include <algorithm>

#include "record/hdf5_file.h"

namespace rotule {
namespace {

using Sparse = Eigen::SparseMatrix<double>;

VecX read_vector(const Hdf5File& file, const std::string& name, Eigen::Index size) {
  const std::vector<double> values = file.numbers(name);
  if (static_cast<Eigen::Index>(values.size()) != size)
    throw Error(file.path(), fmt::format("{} must have {} numbers, has {}", name, size, values.size()));
  return Eigen::Map<const VecX>(values.data(), size);
}

/// A matrix in the storage of CSparse: nz >= 0 triplets, -1 compressed columns, -2 compressed rows.
Sparse read_matrix(const Hdf5File& file, const std::string& group) {
  const auto number = [&](const char* name) {
    const std::vector<std::int32_t> values = file.integers(group + "/" + name);
    if (values.size() != 1) throw Error(file.path(), fmt::format("{}/{} must be one number", group, name));
    return values[0];
  };
  const int rows = number("m"), columns = number("n"), nz = number("nz");
  const std::vector<std::int32_t> p = file.integers(group + "/p"), i = file.integers(group + "/i");
  const std::vector<double> x = file.numbers(group + "/x");
  const auto require = [&](bool ok, const char* what) {
    if (!ok) throw Error(file.path(), fmt::format("{}: {}", group, what));
  };
  require(rows >= 0 && columns >= 0, "sizes must not be negative");
  require(nz >= -2, "nz must be a count, -1 or -2");
  std::vector<Eigen::Triplet<double>> entries;
  const auto add = [&](int row, int column, double value) {
    require(row >= 0 && row < rows && column >= 0 && column < columns, "an index is out of range");
    require(std::isfinite(value), "a value is not finite");
    entries.emplace_back(row, column, value);
  };
  if (nz >= 0) {
    const auto count = static_cast<std::size_t>(nz);
    require(p.size() >= count && i.size() >= count && x.size() >= count, "there are fewer entries than nz says");
    for (std::size_t k = 0; k < count; ++k) add(i[k], p[k], x[k]);
  } else {
    const int lines = nz == -1 ? columns : rows;
    require(static_cast<int>(p.size()) == lines + 1, "p must have one number per line and one more");
    for (int line = 0; line < lines; ++line) {
      require(p[line] >= 0 && p[line] <= p[line + 1] && static_cast<std::size_t>(p[line + 1]) <= std::min(i.size(), x.size()),
              "p must not fall, nor exceed the entries");
      for (int k = p[line]; k < p[line + 1]; ++k) nz == -1 ? add(i[k], line, x[k]) : add(line, i[k], x[k]);
    }
  }
  Sparse out(rows, columns);
  out.setFromTriplets(entries.begin(), entries.end());
  return out;
}

/// All but A and b: one block per contact, with a cone over its tangential rows.
void write_contacts(ConstraintProblem& p, const VecX& mu, int dimension, int bodies) {
  const auto contacts = static_cast<int>(mu.size());
  p.resize(bodies, dimension * contacts);
  for (int c = 0; c < contacts; ++c) {
    const int row = dimension * c;
    p.blocks.push_back({row, dimension, -1, -1, c});
    p.lower[row] = 0;
    if (dimension > 1) p.friction.push_back({row + 1, dimension - 1, row, true, mu[c]});
  }
}

void set_matrix(ConstraintProblem& p, const Sparse& W) {
  const Eigen::SparseMatrix<double, Eigen::RowMajor> by_rows = W;
  p.J_a.resize(0, 6);
  p.J_b.resize(0, 6);
  p.matrix.start.assign(by_rows.outerIndexPtr(), by_rows.outerIndexPtr() + by_rows.rows() + 1);
  p.matrix.column.assign(by_rows.innerIndexPtr(), by_rows.innerIndexPtr() + by_rows.nonZeros());
  p.matrix.value.assign(by_rows.valuePtr(), by_rows.valuePtr() + by_rows.nonZeros());
}

/// The bodies and Jacobians behind M and H, if there are any: M of 6 x 6 blocks, each contact between two bodies at most.
bool read_bodies(ConstraintProblem& p, const Sparse& M, const Sparse& H, int dimension) {
  constexpr int size = 6;
  if (M.rows() % size != 0) return false;
  std::vector<Mat6> masses(M.rows() / size, Mat6::Zero());
  for (int k = 0; k < M.outerSize(); ++k)
    for (Sparse::InnerIterator it(M, k); it; ++it) {
      if (it.row() / size != it.col() / size) return false;
      masses[it.row() / size](it.row() % size, it.col() % size) = it.value();
    }
  for (int column = 0; column < H.cols(); ++column)
    for (Sparse::InnerIterator it(H, column); it; ++it) {
      ConstraintBlock& block = p.blocks[column / dimension];
      const int body = static_cast<int>(it.row()) / size;
      if (block.body_a != body && block.body_b != body) {
        if (block.body_a < 0)
          block.body_a = body;
        else if (block.body_b < 0)
          block.body_b = body;
        else
          return false;
      }
    }
  if (std::any_of(p.blocks.begin(), p.blocks.end(), [](const ConstraintBlock& block) { return block.body_a < 0; })) return false;
  p.J_a.setZero();
  p.J_b.setZero();
  for (int column = 0; column < H.cols(); ++column)
    for (Sparse::InnerIterator it(H, column); it; ++it) {
      const bool a = p.blocks[column / dimension].body_a == static_cast<int>(it.row()) / size;
      (a ? p.J_a : p.J_b)(column, it.row() % size) = it.value();
    }
  p.inverse_mass.clear();
  for (const Mat6& mass : masses) {
    const Mat6 W = mass.inverse();
    p.inverse_mass.push_back(0.5 * (W + W.transpose()));
    p.coupled = p.coupled || !W.topRightCorner<3, 3>().isZero(0) || !W.bottomLeftCorner<3, 3>().isZero(0);
  }
  return true;
}

void read_local(const Hdf5File& file, int dimension, ConstraintProblem& p) {
  const Sparse W = read_matrix(file, "/fclib_local/W");
  if (W.rows() != W.cols() || W.rows() % dimension != 0)
    throw Error(file.path(), "/fclib_local/W must be square, with one row per component of each contact");
  write_contacts(p, read_vector(file, "/fclib_local/vectors/mu", W.rows() / dimension), dimension, 0);
  p.b = -read_vector(file, "/fclib_local/vectors/q", W.rows());
  set_matrix(p, W);
}

void read_global(const Hdf5File& file, int dimension, ConstraintProblem& p) {
  if (file.contains("/fclib_global/G"))
    throw Error(file.path(), "/fclib_global/G: equations beside the contacts are not read; give the problem in its reduced form");
  const Sparse M = read_matrix(file, "/fclib_global/M"), H = read_matrix(file, "/fclib_global/H");
  if (M.rows() != M.cols() || H.rows() != M.rows() || H.cols() % dimension != 0)
    throw Error(file.path(),
                "/fclib_global: M must be square, and H must have its rows and one column per component of each contact");
  const VecX f = read_vector(file, "/fclib_global/vectors/f", M.rows());
  const VecX w = read_vector(file, "/fclib_global/vectors/w", H.cols());
  Eigen::SimplicialLDLT<Sparse> factor(M);
  if (factor.info() != Eigen::Success) throw Error(file.path(), "/fclib_global/M must be positive definite");
  write_contacts(p, read_vector(file, "/fclib_global/vectors/mu", H.cols() / dimension), dimension,
                 static_cast<int>(M.rows()) / 6);
  p.b = -(H.transpose() * factor.solve(f) + w);
  if (read_bodies(p, M, H, dimension)) return;
  p.inverse_mass.clear();
  for (ConstraintBlock& block : p.blocks) block.body_a = block.body_b = -1;
  const Sparse W = H.transpose() * factor.solve(H);
  set_matrix(p, W);
}

}  // namespace

bool is_fclib_file(const std::string& path) {
  const Hdf5File file = Hdf5File::open(path);
  return file.contains("/fclib_local") || file.contains("/fclib_global");
}

ConstraintProblem read_fclib(const std::string& path) {
  const Hdf5File file = Hdf5File::open(path);
  const bool local = file.contains("/fclib_local");
  if (!local && !file.contains("/fclib_global")) throw Error(path, "has neither /fclib_local nor /fclib_global");
  const std::string root = local ? "/fclib_local" : "/fclib_global";
  const std::vector<std::int32_t> dimension = file.integers(root + "/spacedim");
  if (dimension.size() != 1 || (dimension[0] != 2 && dimension[0] != 3)) throw Error(path, root + "/spacedim must be 2 or 3");
  ConstraintProblem out;
  local ? read_local(file, dimension[0], out) : read_global(file, dimension[0], out);
  try {
    validate(out);
  } catch (const Error& error) {
    throw Error(path, error.what());
  }
  return out;
}

}  // namespace rotule
