// A problem in FCLIB's reduced form: u = W r + V l + q, 0 = V^T r + R l + s, contacts first, joints as the equations beside them.
#include <fmt/format.h>
#include <rotule/error.h>

#include <string>
#include <vector>

#include "base/spans.h"
#include "problem/delassus.h"
#include "problem/operators.h"
#include "problem/row_sets.h"
#include "record/fclib_file.h"
#include "record/hdf5_file.h"

namespace rotule {
namespace {

/// Rows of a problem in the order of FCLIB: `place` of each, among the contacts' or among the equations'.
struct Order {
  std::vector<std::int32_t> place;
  std::vector<bool> contact;
  std::vector<double> mu;
  int contact_rows = 0, equations = 0, dimension = 0;
};

/// Throws where a law is none of Coulomb's cones over 2 or 3 rows nor an equation: the format has no other.
Order order_of(const ConstraintProblem& problem) {
  Order out;
  out.place.resize(problem.rows());
  out.contact.resize(problem.rows());
  std::vector<BlockSet> sets;
  classify(problem, sets);
  const auto refuse = [](const ConstraintBlock& block, std::string_view what) {
    throw Error(fmt::format("row {} {}, which FCLIB's format cannot say", block.first_row, what));
  };
  for (std::size_t i = 0; i < sets.size(); ++i) {
    const ConstraintBlock& block = problem.blocks[i];
    if (sets[i].kind == RowSet::bounded) refuse(block, "has bounds but no friction (a limit, a motor, a smooth contact)");
    const bool contact = sets[i].kind == RowSet::contact;
    if (contact) {
      const std::span<const FrictionRows> groups = friction_of(problem, sets[i]);
      const bool cone = groups.size() == 1 && groups[0].cone && groups[0].count + 1 == block.rows;
      if (!cone) refuse(block, groups.size() > 1 ? "has torsional or rolling friction" : "has a friction box");
      if (problem.lower[block.first_row] != 0 || problem.upper[block.first_row] < infinity)
        refuse(block, "has other bounds than 0 and infinity");
      if (out.dimension != 0 && out.dimension != block.rows) refuse(block, "has another number of directions than others");
      out.dimension = block.rows;
      out.mu.push_back(groups[0].mu);
    }
    for (int r = block.first_row; r < block.first_row + block.rows; ++r) {
      out.contact[r] = contact;
      out.place[r] = contact ? out.contact_rows++ : out.equations++;
    }
  }
  if (out.contact_rows == 0) throw Error("there is no contact, and FCLIB's problems have some");
  return out;
}

/// A matrix by triplets, as CSparse keeps those that are not compressed.
struct Triplets {
  std::vector<std::int32_t> row, column;
  std::vector<double> value;
  void add(std::int32_t i, std::int32_t j, double v) {
    if (v == 0) return;
    row.push_back(i);
    column.push_back(j);
    value.push_back(v);
  }
  void write(Hdf5File& file, const std::string& group, int rows, int columns) const {
    const auto one = [&](const char* name, std::int32_t number) {
      file.write(group + "/" + name, std::span<const std::int32_t>(&number, 1), {1});
    };
    const auto count = static_cast<std::int32_t>(value.size());
    one("nzmax", count);
    one("m", rows);
    one("n", columns);
    one("nz", count);
    file.write(group + "/p", column, {column.size()});
    file.write(group + "/i", row, {row.size()});
    file.write(group + "/x", value, {value.size()});
  }
};

}  // namespace

void write_fclib(const std::string& path, const std::string& title, const ConstraintProblem& problem, std::span<const double> x) {
  const Order order = order_of(problem);
  Triplets W, V, R;
  const auto entry = [&](int r, int c, double value) {
    if (order.contact[r] && order.contact[c]) W.add(order.place[r], order.place[c], value);
    if (order.contact[r] && !order.contact[c]) V.add(order.place[r], order.place[c], value);
    if (!order.contact[r] && !order.contact[c]) R.add(order.place[r], order.place[c], value);
  };
  Delassus A;
  A.assemble(problem);
  for (int i = 0; i < A.blocks(); ++i)
    for (const Delassus::Entry& block : A.row(i)) {
      const int columns = A.rows(block.column);
      for (int r = 0; r < A.rows(i); ++r)
        for (int c = 0; c < columns; ++c)
          entry(A.first_row(i) + r, A.first_row(block.column) + c, A.values(block)[r * columns + c]);
    }
  VecX velocities(6 * problem.bodies()), w(problem.rows());
  multiply(problem, x, view(velocities), view(w));
  w -= problem.b;
  std::vector<double> q(order.contact_rows), s(order.equations), r(order.contact_rows), u(order.contact_rows), l(order.equations);
  for (int row = 0; row < problem.rows(); ++row) {
    const std::int32_t place = order.place[row];
    (order.contact[row] ? q : s)[place] = -problem.b[row];
    (order.contact[row] ? r : l)[place] = x[row];
    if (order.contact[row]) u[place] = w[row];
  }

  Hdf5File file = Hdf5File::create(path);
  const std::string root = "/fclib_local";
  file.write(root + "/spacedim", std::span<const std::int32_t>(&order.dimension, 1), {1});
  W.write(file, root + "/W", order.contact_rows, order.contact_rows);
  file.write(root + "/vectors/q", q, {q.size()});
  file.write(root + "/vectors/mu", order.mu, {order.mu.size()});
  if (order.equations > 0) {
    V.write(file, root + "/V", order.contact_rows, order.equations);
    R.write(file, root + "/R", order.equations, order.equations);
    file.write(root + "/vectors/s", s, {s.size()});
  }
  file.write(root + "/info/title", {title});
  file.write(root + "/info/description", std::vector<std::string>{"a step of a simulation by rotule"});
  file.write("/solution/r", r, {r.size()});
  file.write("/solution/u", u, {u.size()});
  if (order.equations > 0) file.write("/solution/l", l, {l.size()});
  file.finish();
}

}  // namespace rotule
