#include "record/fclib_file.h"

#include <fmt/format.h>
#include <rotule/error.h>

#include <Eigen/LU>
#include <Eigen/SparseCholesky>
#include <algorithm>

#include "base/spans.h"
#include "linalg/decompositions.h"
#include "problem/operators.h"
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

/// The numbers of a file besides its matrices.
struct Friction {
  int dimension = 3;  // rows per contact: 2 or 3, or 5 with rolling
  VecX mu, mu_r;      // per contact; mu_r is a length, and empty without rolling
};

Friction read_friction(const Hdf5File& file, const std::string& root, Eigen::Index rows) {
  const bool rolling = root.ends_with("_rolling");
  const std::vector<std::int32_t> dimension = file.integers(root + "/spacedim");
  if (dimension.size() != 1 || (rolling ? dimension[0] != 5 : dimension[0] != 2 && dimension[0] != 3))
    throw Error(file.path(), fmt::format("{}/spacedim must be {}", root, rolling ? "5" : "2 or 3"));
  Friction out;
  out.dimension = dimension[0];
  if (rows % out.dimension != 0) throw Error(file.path(), root + " must have one row per component of each contact");
  out.mu = read_vector(file, root + "/vectors/mu", rows / out.dimension);
  if (rolling) out.mu_r = read_vector(file, root + "/vectors/mu_r", rows / out.dimension);
  return out;
}

/// All but A and b: one block per contact, with a cone over its tangential rows and another over its rolling ones; then the
/// `equations` beside them, a block each.
void write_contacts(ConstraintProblem& p, const Friction& friction, int equations, int bodies) {
  const auto contacts = static_cast<int>(friction.mu.size());
  const int dimension = friction.dimension, rows = dimension * contacts;
  p.resize(bodies, rows + equations);
  for (int c = 0; c < contacts; ++c) {
    const int row = dimension * c;
    p.blocks.push_back({row, dimension, -1, -1, c});
    p.lower[row] = 0;
    p.friction.push_back({row + 1, std::min(dimension - 1, 2), row, true, friction.mu[c]});
    if (friction.mu_r.size() > 0) p.friction.push_back({row + 3, 2, row, true, friction.mu_r[c]});
  }
  for (int k = 0; k < equations; ++k) p.blocks.push_back({rows + k, 1, -1, -1, contacts + k});
}

void set_matrix(ConstraintProblem& p, const Sparse& W) {
  const Eigen::SparseMatrix<double, Eigen::RowMajor> by_rows = W;
  p.J_a.resize(0, 6);
  p.J_b.resize(0, 6);
  p.matrix.start.assign(by_rows.outerIndexPtr(), by_rows.outerIndexPtr() + by_rows.rows() + 1);
  p.matrix.column.assign(by_rows.innerIndexPtr(), by_rows.innerIndexPtr() + by_rows.nonZeros());
  p.matrix.value.assign(by_rows.valuePtr(), by_rows.valuePtr() + by_rows.nonZeros());
}

/// The bodies and Jacobians behind M and the columns of H, if there are any: M of 6 x 6 blocks, each constraint between two
/// bodies at most.
bool read_bodies(ConstraintProblem& p, const Sparse& M, const Sparse& H) {
  constexpr int size = 6;
  if (M.rows() % size != 0) return false;
  std::vector<Mat6> masses(M.rows() / size, Mat6::Zero());
  for (int k = 0; k < M.outerSize(); ++k)
    for (Sparse::InnerIterator it(M, k); it; ++it) {
      if (it.row() / size != it.col() / size) return false;
      masses[it.row() / size](it.row() % size, it.col() % size) = it.value();
    }
  p.J_a.setZero();
  p.J_b.setZero();
  for (ConstraintBlock& block : p.blocks) {
    for (int column = block.first_row; column < block.first_row + block.rows; ++column)
      for (Sparse::InnerIterator it(H, column); it; ++it) {
        const int body = static_cast<int>(it.row()) / size;
        if (block.body_a < 0) block.body_a = body;
        if (block.body_a != body && block.body_b < 0) block.body_b = body;
        if (block.body_a != body && block.body_b != body) return false;
        (block.body_a == body ? p.J_a : p.J_b)(column, it.row() % size) = it.value();
      }
    if (block.body_a < 0) return false;
  }
  p.inverse_mass.clear();
  for (const Mat6& mass : masses) {
    const Mat6 W = inverse_of(mass);
    p.inverse_mass.emplace_back(0.5 * (W + W.transpose()));
    p.coupled = p.coupled || !W.topRightCorner<3, 3>().isZero(0) || !W.bottomLeftCorner<3, 3>().isZero(0);
  }
  return true;
}

/// [top_left, top_right; top_right^T, bottom_right].
Sparse bordered(const Sparse& top_left, const Sparse& top_right, const Sparse& bottom_right) {
  const auto m = static_cast<int>(top_left.rows()), n = static_cast<int>(bottom_right.rows());
  std::vector<Eigen::Triplet<double>> entries;
  const auto add = [&](const Sparse& part, int row, int column, bool transposed) {
    for (int k = 0; k < part.outerSize(); ++k)
      for (Sparse::InnerIterator it(part, k); it; ++it)
        entries.emplace_back(row + static_cast<int>(transposed ? it.col() : it.row()),
                             column + static_cast<int>(transposed ? it.row() : it.col()), it.value());
  };
  add(top_left, 0, 0, false);
  add(top_right, 0, m, false);
  add(top_right, m, 0, true);
  add(bottom_right, m, m, false);
  Sparse out(m + n, m + n);
  out.setFromTriplets(entries.begin(), entries.end());
  return out;
}

/// u = W r + V lambda + q, 0 = V^T r + R lambda + s.
void read_local(const Hdf5File& file, ConstraintProblem& p) {
  const std::string root = "/fclib_local";
  const Sparse W = read_matrix(file, root + "/W");
  if (W.rows() != W.cols()) throw Error(file.path(), root + "/W must be square");
  const Friction friction = read_friction(file, root, W.rows());
  const VecX q = read_vector(file, root + "/vectors/q", W.rows());
  if (!file.contains(root + "/V")) {
    write_contacts(p, friction, 0, 0);
    p.b = -q;
    return set_matrix(p, W);
  }
  const Sparse V = read_matrix(file, root + "/V"), R = read_matrix(file, root + "/R");
  if (R.rows() != R.cols() || V.rows() != W.rows() || V.cols() != R.rows())
    throw Error(file.path(), root + ": R must be square, and V must have the rows of W and the columns of R");
  write_contacts(p, friction, static_cast<int>(R.rows()), 0);
  p.b << -q, -read_vector(file, root + "/vectors/s", R.rows());
  set_matrix(p, bordered(W, V, R));
}

/// M v = H r + G lambda + f, u = H^T v + w, 0 = G^T v + b.
struct Global {
  Sparse M, HG;  // H and G side by side
  VecX f, wb;    // likewise w and b
  Eigen::Index contact_rows = 0;
  Friction friction;
  Eigen::SimplicialLDLT<Sparse> factor;  // of M
};

void read_global(const Hdf5File& file, const std::string& root, Global& out) {
  out.M = read_matrix(file, root + "/M");
  const Sparse H = read_matrix(file, root + "/H");
  const bool has_equations = file.contains(root + "/G");
  const Sparse G = has_equations ? read_matrix(file, root + "/G") : Sparse(H.rows(), 0);
  if (out.M.rows() != out.M.cols() || H.rows() != out.M.rows() || G.rows() != out.M.rows())
    throw Error(file.path(), root + ": M must be square, and H and G must have its rows");
  out.contact_rows = H.cols();
  out.friction = read_friction(file, root, H.cols());
  out.f = read_vector(file, root + "/vectors/f", out.M.rows());
  out.wb.resize(H.cols() + G.cols());
  out.wb.head(H.cols()) = read_vector(file, root + "/vectors/w", H.cols());
  if (has_equations) out.wb.tail(G.cols()) = read_vector(file, root + "/vectors/b", G.cols());
  std::vector<Eigen::Triplet<double>> entries;
  for (const auto& [part, first] : {std::pair(&H, Eigen::Index{0}), std::pair(&G, H.cols())})
    for (int k = 0; k < part->outerSize(); ++k)
      for (Sparse::InnerIterator it(*part, k); it; ++it)
        entries.emplace_back(static_cast<int>(it.row()), static_cast<int>(first + it.col()), it.value());
  out.HG.resize(H.rows(), H.cols() + G.cols());
  out.HG.setFromTriplets(entries.begin(), entries.end());
  out.factor.compute(out.M);
  if (out.factor.info() != Eigen::Success) throw Error(file.path(), root + "/M must be positive definite");
}

void form_problem(const Global& global, ConstraintProblem& p) {
  write_contacts(p, global.friction, static_cast<int>(global.HG.cols() - global.contact_rows),
                 static_cast<int>(global.M.rows()) / 6);
  p.b = -(global.HG.transpose() * global.factor.solve(global.f) + global.wb);
  if (read_bodies(p, global.M, global.HG)) return;
  p.inverse_mass.clear();
  for (ConstraintBlock& block : p.blocks) block.body_a = block.body_b = -1;
  const Sparse W = global.HG.transpose() * global.factor.solve(global.HG);
  set_matrix(p, W);
}

/// The group that holds the problem; empty where there is none.
std::string root_of(const Hdf5File& file) {
  for (const char* root : {"/fclib_local", "/fclib_global", "/fclib_global_rolling"})
    if (file.contains(root)) return root;
  return {};
}

}  // namespace

bool is_fclib_file(const std::string& path) { return !root_of(Hdf5File::open(path)).empty(); }

ConstraintProblem read_fclib(const std::string& path) {
  const Hdf5File file = Hdf5File::open(path);
  const std::string root = root_of(file);
  if (root.empty()) throw Error(path, "has none of /fclib_local, /fclib_global and /fclib_global_rolling");
  ConstraintProblem out;
  if (root == "/fclib_local") {
    read_local(file, out);
  } else {
    Global global;
    read_global(file, root, global);
    form_problem(global, out);
  }
  try {
    validate(out);
  } catch (const Error& error) {
    throw Error(path, error.what());
  }
  return out;
}

void write_fclib_solution(const std::string& from, const std::string& to, const ConstraintProblem& problem,
                          std::span<const double> x) {
  const Hdf5File file = Hdf5File::open(from);
  const std::string root = root_of(file);
  Hdf5File out = Hdf5File::create(to);
  for (const std::string& name : file.names("/"))
    if (name != "solution") out.copy(file, "/" + name);

  // w = A x - b is u on the contacts, and nothing on the equations beside them.
  VecX velocities(6 * problem.bodies()), u(problem.rows());
  multiply(problem, x, view(velocities), view(u));
  u -= problem.b;
  Hdf5Size contact_rows = 0;
  for (const ConstraintBlock& block : problem.blocks)
    if (problem.lower[block.first_row] == 0) contact_rows += static_cast<Hdf5Size>(block.rows);
  const Hdf5Size equations = x.size() - contact_rows;
  out.write("/solution/r", x.first(contact_rows), {contact_rows});
  out.write("/solution/u", std::span<const double>(u.data(), contact_rows), {contact_rows});
  if (equations > 0) out.write("/solution/l", x.subspan(contact_rows), {equations});
  if (root != "/fclib_local") {
    Global global;
    read_global(file, root, global);
    const VecX v = global.factor.solve(global.HG * Eigen::Map<const VecX>(x.data(), problem.rows()) + global.f);
    out.write("/solution/v", view(v), {static_cast<Hdf5Size>(v.size())});
  }
  out.finish();
}

}  // namespace rotule
