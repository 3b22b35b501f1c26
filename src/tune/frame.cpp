#include "tune/frame.h"

#include <rotule/error.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "linalg/decompositions.h"
#include "problem/delassus.h"
#include "problem/operators.h"

namespace rotule::tune {

ConstraintProblem joined(std::span<const ConstraintProblem> islands) {
  if (islands.empty()) return {};
  ConstraintProblem out;
  int bodies = 0, rows = 0;
  Eigen::Index more_rows = 0;
  for (const ConstraintProblem& island : islands) {
    if (island.has_matrix()) throw Error("islands that give their matrix cannot be joined");
    bodies += island.bodies();
    rows += island.rows();
    more_rows += island.J_more.rows();
  }
  out.resize(bodies, rows);
  out.blocks.clear();
  out.J_more.resize(more_rows, 6);
  out.h = islands.front().h;
  int body = 0, row = 0;
  Eigen::Index more_row = 0;
  for (const ConstraintProblem& island : islands) {
    const int n = island.rows(), first_more = static_cast<int>(out.more.size());
    std::copy(island.inverse_mass.begin(), island.inverse_mass.end(), out.inverse_mass.begin() + body);
    out.coupled = out.coupled || island.coupled;
    for (ConstraintBlock block : island.blocks) {
      block.first_row += row;
      if (block.body_a >= 0) block.body_a += body;
      if (block.body_b >= 0) block.body_b += body;
      block.first_more += first_more;
      out.blocks.push_back(block);
    }
    for (BlockPartner partner : island.more)
      out.more.push_back({.body = partner.body + body, .first = partner.first + static_cast<int>(more_row)});
    out.J_more.middleRows(more_row, island.J_more.rows()) = island.J_more;
    out.J_a.middleRows(row, n) = island.J_a.topRows(n);
    out.J_b.middleRows(row, n) = island.J_b.topRows(n);
    out.b.segment(row, n) = island.b;
    out.C.segment(row, n) = island.C;
    out.lower.segment(row, n) = island.lower;
    out.upper.segment(row, n) = island.upper;
    out.x0.segment(row, n) = island.x0;
    for (FrictionRows f : island.friction) {
      f.first_row += row;
      f.normal_row += row;
      out.friction.push_back(f);
    }
    body += island.bodies();
    row += n;
    more_row += island.J_more.rows();
  }
  return out;
}

void set_friction_law(ConstraintProblem& problem, FrictionLaw law, std::span<const double> answer) {
  if (law == FrictionLaw::as_recorded) return;
  for (FrictionRows& f : problem.friction) {
    f.cone = law == FrictionLaw::cone;
    if (law != FrictionLaw::fixed) continue;
    const double limit = f.mu * std::max(answer[f.normal_row], 0.0);
    for (int r = f.first_row; r < f.first_row + f.count; ++r) {
      problem.lower[r] = -limit;
      problem.upper[r] = limit;
    }
  }
  if (law == FrictionLaw::fixed) problem.friction.clear();
}

int contacts_of(const ConstraintProblem& problem) {
  int count = 0;
  for (const ConstraintBlock& block : problem.blocks)
    count += problem.lower[block.first_row] == 0 && problem.upper[block.first_row] == infinity;
  return count;
}

int joints_of(const ConstraintProblem& problem) {
  int count = 0;
  for (const ConstraintBlock& block : problem.blocks) {
    bool bounded = false;
    for (int r = block.first_row; r < block.first_row + block.rows; ++r)
      bounded = bounded || std::isfinite(problem.lower[r]) || std::isfinite(problem.upper[r]);
    count += !bounded;
  }
  return count;
}

namespace {

/// Eigenvalues that are not zero by rounding, of a part of A that shares no body with the rest.
void add_eigenvalues(const Eigen::MatrixXd& symmetric, std::vector<double>& values) {
  const VecX found = symmetric_eigenvalues(symmetric);
  values.insert(values.end(), found.begin(), found.end());
}

}  // namespace

Conditioning conditioning_of(const ConstraintProblem& problem) {
  Conditioning out{.rows = problem.rows()};
  if (problem.rows() == 0) return out;
  std::vector<double> values;
  const bool plain = !problem.has_matrix() && (problem.C.array() == 0).all();
  if (!plain || problem.rows() <= 6 * problem.bodies()) {
    Delassus A;
    A.assemble(problem);
    Eigen::MatrixXd dense;
    A.to_dense(dense);
    add_eigenvalues(dense, values);
  } else {
    // L^T J^T J L with M^-1 = L L^T has the same eigenvalues apart from zeros.
    const int n = 6 * problem.bodies();
    Eigen::MatrixXd JL = Eigen::MatrixXd::Zero(problem.rows(), n);
    std::vector<Mat6> root(problem.inverse_mass.size());
    for (std::size_t i = 0; i < root.size(); ++i) {
      const SymmetricEigen6 eigen = symmetric_eigen(problem.inverse_mass[i]);
      root[i] = eigen.vectors * eigen.values.cwiseMax(0.0).cwiseSqrt().asDiagonal();
    }
    for (const ConstraintBlock& block : problem.blocks)
      for_each_body(problem, block, [&](int body, const JacobianRows& J, int first) {
        JL.block(block.first_row, 6 * body, block.rows, 6) += J.middleRows(first, block.rows) * root[body];
      });
    Eigen::MatrixXd gram = Eigen::MatrixXd::Zero(n, n);
    gram.selfadjointView<Eigen::Lower>().rankUpdate(JL.transpose());
    add_eigenvalues(gram, values);
  }
  const double largest = *std::max_element(values.begin(), values.end());
  double smallest = largest;
  for (const double value : values)
    if (value > 1e-12 * largest) {
      smallest = std::min(smallest, value);
      ++out.rank;
    }
  out.condition = smallest > 0 ? largest / smallest : 1;
  return out;
}

}  // namespace rotule::tune
