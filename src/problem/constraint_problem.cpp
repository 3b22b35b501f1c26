#include <rotule/error.h>
#include <rotule/problem.h>

#include <algorithm>
#include <cmath>

#include "base/spans.h"
#include "problem/blocks_of_bodies.h"
#include "problem/cone.h"
#include "problem/laws.h"
#include "problem/operators.h"

namespace rotule {

void ConstraintProblem::resize(int body_count, int row_count) {
  inverse_mass.resize(body_count);
  J_a.resize(row_count, 6);
  J_b.resize(row_count, 6);
  b.resize(row_count);
  C.setZero(row_count);
  lower.setConstant(row_count, -infinity);
  upper.setConstant(row_count, infinity);
  x0.setZero(row_count);
}

double further_row_velocity(const ConstraintProblem& problem, const ConstraintBlock& block, int row, std::span<const double> u) {
  double out = 0;
  for (int k = block.first_more; k < block.first_more + block.more_count; ++k) {
    const BlockPartner& partner = problem.more[k];
    out += problem.J_more.row(partner.first + row - block.first_row)
               .dot(Eigen::Map<const Eigen::Matrix<double, 1, 6>>(u.data() + 6 * partner.body));
  }
  return out;
}

namespace {

/// J^T x of one block and body.
inline Vec6 transposed_product(const double* row, const double* x, int rows) {
  Vec6 impulse = Eigen::Map<const Vec6>(row) * x[0];
  for (int r = 1; r < rows; ++r) impulse += Eigen::Map<const Vec6>(row + 6 * r) * x[r];
  return impulse;
}

}  // namespace

void apply_impulses(const ConstraintProblem& problem, std::span<const double> x, std::span<double> velocities) {
  if (problem.has_matrix()) return;
  for (const ConstraintBlock& block : problem.blocks)
    for_each_body(problem, block, [&](int body, const JacobianRows& J, int first) {
      Eigen::Map<Vec6>(velocities.data() + 6 * body) +=
          multiply_inverse_mass(problem, body, transposed_product(J.data() + 6 * first, x.data() + block.first_row, block.rows));
    });
}

void BlocksOfBodies::find(const ConstraintProblem& problem) {
  if (!start_.empty() && structure_.matches(problem)) return;
  structure_.keep(problem);
  start_.assign(problem.bodies() + 1, 0);
  for (const ConstraintBlock& block : problem.blocks)
    for_each_body(problem, block, [&](int body, const JacobianRows&, int) { ++start_[body + 1]; });
  for (int body = 0; body < problem.bodies(); ++body) start_[body + 1] += start_[body];
  sides_.resize(start_.back());
  std::vector<int> next(start_.begin(), start_.end() - 1);
  for (const ConstraintBlock& block : problem.blocks)
    for_each_body(problem, block, [&](int body, const JacobianRows& J, int first) {
      sides_[next[body]++] = {&J == &problem.J_a   ? &ConstraintProblem::J_a
                              : &J == &problem.J_b ? &ConstraintProblem::J_b
                                                   : &ConstraintProblem::J_more,
                              first, block.first_row, block.rows};
    });
}

void BlocksOfBodies::apply_impulses(const ConstraintProblem& problem, std::span<const double> x, std::span<double> velocities,
                                    Gang* gang) const {
  share_pieces(gang, problem.bodies(), [&](int from, int to) {
    for (int body = from; body < to; ++body)
      for (const Side& side : of(body))
        Eigen::Map<Vec6>(velocities.data() + 6 * body) +=
            multiply_inverse_mass(problem, body, transposed_product(side.row(problem), x.data() + side.first_row, side.rows));
  });
}

void multiply(const ConstraintProblem& problem, std::span<const double> x, std::span<double> velocities, std::span<double> y) {
  if (problem.has_matrix()) {
    const auto& [start, column, value] = problem.matrix;
    for (int r = 0; r < problem.rows(); ++r) {
      y[r] = problem.C[r] * x[r];
      for (int k = start[r]; k < start[r + 1]; ++k) y[r] += value[k] * x[column[k]];
    }
    return;
  }
  std::fill(velocities.begin(), velocities.end(), 0.0);
  apply_impulses(problem, x, velocities);
  for (const ConstraintBlock& block : problem.blocks)
    for (int r = block.first_row; r < block.first_row + block.rows; ++r)
      y[r] = problem.C[r] * x[r] + row_velocity(problem, block, r, velocities);
}

Residual residual(const ConstraintProblem& problem, std::span<const double> x) {
  ResidualScratch scratch;
  return residual(problem, x, scratch);
}

Residual residual(const ConstraintProblem& problem, std::span<const double> x, ResidualScratch& scratch) {
  VecX& psi = scratch.psi;
  scratch.velocities.resize(6 * problem.bodies());
  psi.resize(problem.rows());
  multiply(problem, x, view(scratch.velocities), view(psi));
  psi -= problem.b;  // w so far
  natural_residual(problem, x, view(psi));

  Residual out;
  out.sum = psi.lpNorm<1>();
  out.max = problem.rows() ? psi.lpNorm<Eigen::Infinity>() : 0.0;
  const double scale = problem.b.norm();
  out.relative = psi.norm() / (scale > 0 ? scale : 1.0);
  scratch.judge.begin(problem);
  out.scale_free = scratch.judge.judge(x);
  return out;
}

void natural_residual(const ConstraintProblem& problem, std::span<const double> x, std::span<double> w) {
  const auto bounded = [&](int r, double lower, double upper) {
    // D4 speaks of x within its bounds; an x outside them is wrong by at least that much.
    const double within = std::max(std::min(upper - x[r], std::max(-w[r], 0.0)), std::min(x[r] - lower, std::max(w[r], 0.0)));
    w[r] = std::max({within, x[r] - upper, lower - x[r]});
  };
  const auto own_bounds = [&](int r) { bounded(r, problem.lower[r], problem.upper[r]); };
  const auto friction = [&](const FrictionRows& f) {
    const double limit = f.mu * std::max(0.0, x[f.normal_row]);
    if (!f.cone) {
      for (int r = f.first_row; r < f.first_row + f.count; ++r) bounded(r, -limit, limit);
      return;
    }
    double image[6];  // a disk whose radius the normal gives
    for (int k = 0; k < f.count; ++k) image[k] = x[f.first_row + k] - w[f.first_row + k];
    project_on_disk(limit, f.count, image);
    for (int k = 0; k < f.count; ++k) w[f.first_row + k] = x[f.first_row + k] - image[k];
  };
  const auto cone = [&](const FrictionRows& f) {  // judged together with its normal
    const int n = f.normal_row;
    double slip = 0, image[6];
    for (int k = 1; k <= f.count; ++k) slip += w[n + k] * w[n + k];
    image[0] = x[n] - (w[n] + f.mu * std::sqrt(slip));
    for (int k = 1; k <= f.count; ++k) image[k] = x[n + k] - w[n + k];
    project_on_cone(f.mu, f.count, image);
    for (int k = 0; k <= f.count; ++k) w[n + k] = x[n + k] - image[k];
  };
  walk_laws(problem.friction, 0, problem.rows(), own_bounds, friction, cone);
}

void validate(const ConstraintProblem& problem) {
  const int rows = problem.rows();
  const auto require = [](bool ok, const char* what) {
    if (!ok) throw Error("constraint problem", what);
  };
  if (problem.has_matrix()) {
    const auto& [start, column, value] = problem.matrix;
    require(static_cast<int>(start.size()) == rows + 1 && start.front() == 0 && std::is_sorted(start.begin(), start.end()),
            "the matrix must have as many rows as b");
    require(static_cast<std::size_t>(start.back()) == column.size() && column.size() == value.size(),
            "the matrix must have a column for every value");
    require(std::all_of(column.begin(), column.end(), [&](int c) { return c >= 0 && c < rows; }),
            "the matrix names a column that is not there");
    require(std::all_of(value.begin(), value.end(), [](double v) { return std::isfinite(v); }), "the matrix must be finite");
    require(problem.bodies() == 0, "a problem has a matrix or bodies, not both");
  } else {
    require(problem.J_a.rows() == rows && problem.J_b.rows() == rows, "J must have as many rows as b");
  }
  require(problem.C.size() == rows && problem.lower.size() == rows && problem.upper.size() == rows && problem.x0.size() == rows,
          "C, lower, upper and x0 must be as long as b");
  int next_row = 0;
  std::int32_t next_more = 0, next_more_row = 0;
  std::vector<std::int32_t> of_block;
  for (const ConstraintBlock& block : problem.blocks) {
    require(block.first_row == next_row, "blocks must follow each other without gaps");
    require(block.rows >= 1 && block.rows <= 6, "a block must have 1 to 6 rows");
    require(block.body_a < problem.bodies() && block.body_b < problem.bodies(), "a block names a body that is not there");
    if (problem.has_matrix()) {
      require(block.body_a == -1 && block.body_b == -1 && block.more_count == 0, "a problem with a matrix has no bodies");
    } else {
      require(block.body_a >= 0 || block.body_b >= 0 || block.more_count > 0, "a block must act on a body");
      require(block.body_a != block.body_b || block.body_a < 0, "a block must not tie a body to itself");
    }
    require(block.more_count >= 0, "a block cannot have fewer than no further bodies");
    if (block.more_count > 0) {
      require(block.first_more == next_more && block.more_count <= static_cast<int>(problem.more.size()) - next_more,
              "further bodies must be listed in the order of their blocks");
      of_block.assign({block.body_a, block.body_b});
      for (; next_more < block.first_more + block.more_count; ++next_more, next_more_row += block.rows) {
        const auto [body, first] = problem.more[next_more];
        require(body >= 0 && body < problem.bodies(), "a block names a body that is not there");
        require(first == next_more_row && first + block.rows <= problem.J_more.rows(),
                "J_more must have the rows of every further body, one after the other");
        require(std::find(of_block.begin(), of_block.end(), body) == of_block.end(), "a block must not tie a body to itself");
        of_block.push_back(body);
      }
    }
    next_row += block.rows;
  }
  require(next_row == rows, "blocks must cover all rows");
  require(next_more == static_cast<int>(problem.more.size()) && next_more_row == problem.J_more.rows(),
          "every further body must belong to a block");
  require(problem.b.allFinite() && problem.C.allFinite(), "b and C must be finite");
  require(rows == 0 || problem.C.minCoeff() >= 0, "compliance must not be negative");
  for (int i = 0; i < rows; ++i) require(problem.lower[i] <= problem.upper[i], "a lower bound must not exceed the upper one");
  int next_friction = 0;
  auto block = problem.blocks.begin();
  for (const FrictionRows& f : problem.friction) {
    require(f.count >= 1 && f.first_row >= next_friction && f.first_row <= rows - f.count,
            "friction names a row that is not there");
    while (block->first_row + block->rows <= f.first_row) ++block;
    require(
        f.normal_row == block->first_row && f.first_row > f.normal_row && f.first_row + f.count <= block->first_row + block->rows,
        "friction must lie in the block that its normal row begins");
    require(std::isfinite(f.mu) && f.mu >= 0, "a friction coefficient must not be negative");
    require(problem.lower[f.normal_row] == 0 && problem.upper[f.normal_row] == infinity,
            "a normal row must have bounds 0 and infinity");
    next_friction = f.first_row + f.count;
  }
}

}  // namespace rotule
