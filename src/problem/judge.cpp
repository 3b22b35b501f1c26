#include "problem/judge.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/gang.h"
#include "problem/blocks_of_bodies.h"
#include "problem/cone.h"
#include "problem/laws.h"
#include "problem/operators.h"

namespace rotule {

namespace {

/// Share of the impulses taken one by one that counts as at stake: squeezed bodies are held to a thousandth of the tolerance.
constexpr double single_share = 1e-3;
/// The same where a matrix is given and bodies are not known, whose common motion rows that stick do not show.
constexpr double single_share_without_bodies = 0.1;
/// Share of the island's largest that counts as at stake everywhere: with a tolerance of 1e-8 this is rounding.
constexpr double largest_share = 1e-6;
/// How much longer than right an answer may be along itself before that counts, beyond what rounding leaves of it.
constexpr double excess_share = 0.1, excess_rounding = 1e-10;

double square_of(double v) { return v * v; }

/// psi of a row with bounds, in the place of its w; an x outside them is wrong by at least that much.
double bounded_psi(double d, double x, double w, double lower, double upper) {
  const double within = std::max(std::min(d * (upper - x), std::max(-w, 0.0)), std::min(d * (x - lower), std::max(w, 0.0)));
  return std::max({within, d * (x - upper), d * (lower - x)});
}

}  // namespace

template <class Visit>
void Judge::for_each_block(Visit&& visit) const {
  share_pieces(gang_, static_cast<int>(problem_->blocks.size()), [&](int first, int end) {
    for (int n = first; n < end; ++n) visit(problem_->blocks[static_cast<std::size_t>(n)]);
  });
}

void Judge::begin(const ConstraintProblem& problem, const BlocksOfBodies* of_bodies, Gang* gang) {
  problem_ = &problem;
  of_bodies_ = of_bodies;
  gang_ = gang;
  const int n = problem.rows();
  for (auto* v : {&d_, &w_, &stake_, &size_}) v->resize(n);
  u_.resize(6 * problem.bodies());
  whole_.resize(problem.bodies());
  single_.resize(problem.bodies());
  if (problem.has_matrix()) {
    const auto& [start, column, value] = problem.matrix;
    for (int r = 0; r < n; ++r) {
      d_[r] = problem.C[r];
      for (int k = start[r]; k < start[r + 1]; ++k)
        if (column[k] == r) d_[r] += value[k];
    }
  } else {
    reach_.resize(n);
    for_each_block([&](const ConstraintBlock& block) {
      for (int r = block.first_row; r < block.first_row + block.rows; ++r) {
        d_[r] = problem.C[r] + diagonal_entry(problem, block, r);
        const auto length = [&](const JacobianRows& J, bool there, int first) {
          return there ? J.row(r).segment<3>(first).norm() : 0.0;
        };
        const bool a = block.body_a >= 0, b = block.body_b >= 0;
        reach_[r] = {length(problem.J_a, a, 0), length(problem.J_a, a, 3), length(problem.J_b, b, 0), length(problem.J_b, b, 3)};
      }
    });
  }
  // One size for all rows under one cone, so that it stays a cone.
  const auto even_out = [&](int first, int count) {
    double sum = 0;
    for (int r = first; r < first + count; ++r) sum += d_[r];
    std::fill_n(d_.begin() + first, count, sum / count);
  };
  double energy = 0;
  walk_laws(
      problem.friction, 0, n,
      [&](int r) {
        if (d_[r] > 0) energy += square_of(alone(r)) / d_[r];
      },
      [&](const FrictionRows& f) {
        if (f.cone) even_out(f.first_row, f.count);
      },
      [&](const FrictionRows& f) {
        even_out(f.normal_row, f.count + 1);
        if (d_[f.normal_row] > 0) energy += square_of(cone_alone(f, 0)) / d_[f.normal_row];
      });
  energy_scale_ = energy > 0 ? std::sqrt(energy) : 1.0;
}

/// |d P(b / d)| of a row with bounds of its own: what it would do alone against its b.
double Judge::alone(int r) const {
  const double b = problem_->b[r];
  return b > 0 ? std::min(b, std::max(0.0, d_[r] * problem_->upper[r]))
               : std::min(-b, std::max(0.0, -d_[r] * problem_->lower[r]));
}

/// The same for `count` rows of friction whose length may be `limit`.
double Judge::friction_alone(int first, int count, double limit) const {
  double squares = 0;
  for (int r = first; r < first + count; ++r) squares += square_of(problem_->b[r]);
  return std::min(std::sqrt(squares), d_[first] * limit);
}

/// The same for a sliding cone and its normal, which has at least the x given.
double Judge::cone_alone(const FrictionRows& f, double x_normal) const {
  const double push = alone(f.normal_row), d = d_[f.normal_row];
  const double normal = std::max(x_normal, d > 0 ? push / d : 0.0);
  return std::hypot(push, friction_alone(f.first_row, f.count, f.mu * normal));
}

/// w_ = A x - b; per row the change of velocity at stake by its bodies (stake_) and the sum of its parts' sizes (size_).
void Judge::velocities(std::span<const double> x) {
  const ConstraintProblem& p = *problem_;
  if (p.has_matrix()) {
    const auto& [start, column, value] = p.matrix;
    for (int r = 0; r < p.rows(); ++r) {
      double sum = p.C[r] * x[r], size = std::abs(sum);
      for (int k = start[r]; k < start[r + 1]; ++k) {
        const double part = value[k] * x[column[k]];
        sum += part;
        size += std::abs(part);
      }
      w_[r] = sum - p.b[r];
      size_[r] = size;
      stake_[r] = std::abs(sum);
    }
    return;
  }
  const auto push = [&](int body, const double* row, const double* x_block, int rows) {
    Vec6 impulse = Eigen::Map<const Vec6>(row) * x_block[0];
    for (int r = 1; r < rows; ++r) impulse += Eigen::Map<const Vec6>(row + 6 * r) * x_block[r];
    const Vec6 step = multiply_inverse_mass(p, body, impulse);
    Eigen::Map<Vec6>(u_.data() + 6 * body) += step;
    single_[body].linear += step.head<3>().norm();
    single_[body].angular += step.tail<3>().norm();
  };
  const auto rest = [&](int body) {
    Eigen::Map<Vec6>(u_.data() + 6 * body).setZero();
    single_[body] = {};
  };
  const auto measure = [&](int body) {
    const Eigen::Map<const Vec6> u(u_.data() + 6 * body);
    whole_[body] = {u.head<3>().norm(), u.tail<3>().norm()};
  };
  if (gang_) {
    share_pieces(gang_, p.bodies(), [&](int first, int end) {
      for (int body = first; body < end; ++body) {
        rest(body);
        for (const BlocksOfBodies::Side& side : of_bodies_->of(body))
          push(body, side.row(p), x.data() + side.first_row, side.rows);
        measure(body);
      }
    });
  } else {
    for (int body = 0; body < p.bodies(); ++body) rest(body);
    for (const ConstraintBlock& block : p.blocks)
      for_each_body(p, block, [&](int body, const JacobianRows& J, int first) {
        push(body, J.data() + 6 * first, x.data() + block.first_row, block.rows);
      });
    for (int body = 0; body < p.bodies(); ++body) measure(body);
  }
  for_each_block([&](const ConstraintBlock& block) {
    for (int r = block.first_row; r < block.first_row + block.rows; ++r) {
      const double soft = p.C[r] * x[r];
      w_[r] = soft + row_velocity(p, block, r, u_) - p.b[r];
      const Reach& reach = reach_[r];
      double stake = std::abs(soft), size = std::abs(soft);
      if (block.body_a >= 0) {
        stake += reach.linear_a * whole_[block.body_a].linear + reach.angular_a * whole_[block.body_a].angular;
        size += reach.linear_a * single_[block.body_a].linear + reach.angular_a * single_[block.body_a].angular;
      }
      if (block.body_b >= 0) {
        stake += reach.linear_b * whole_[block.body_b].linear + reach.angular_b * whole_[block.body_b].angular;
        size += reach.linear_b * single_[block.body_b].linear + reach.angular_b * single_[block.body_b].angular;
      }
      for (int k = block.first_more; k < block.first_more + block.more_count; ++k) {
        const auto J = p.J_more.row(p.more[k].first + r - block.first_row);
        const double linear = J.head<3>().norm(), angular = J.tail<3>().norm();
        const int body = p.more[k].body;
        stake += linear * whole_[body].linear + angular * whole_[body].angular;
        size += linear * single_[body].linear + angular * single_[body].angular;
      }
      stake_[r] = stake;
      size_[r] = size;
    }
  });
}

/// psi in the place of w.
void Judge::psi(std::span<const double> x, std::span<double> w) const {
  const ConstraintProblem& p = *problem_;
  const auto bounded = [&](int r, double lower, double upper) { w[r] = bounded_psi(d_[r], x[r], w[r], lower, upper); };
  walk_laws(
      p.friction, 0, p.rows(), [&](int r) { bounded(r, p.lower[r], p.upper[r]); },
      [&](const FrictionRows& f) {
        const double limit = f.mu * std::max(0.0, x[f.normal_row]);
        if (!f.cone) {
          for (int r = f.first_row; r < f.first_row + f.count; ++r) bounded(r, -limit, limit);
          return;
        }
        const double d = d_[f.first_row];
        double image[6];
        for (int k = 0; k < f.count; ++k) image[k] = d * x[f.first_row + k] - w[f.first_row + k];
        project_on_disk(d * limit, f.count, image);
        for (int k = 0; k < f.count; ++k) w[f.first_row + k] = d * x[f.first_row + k] - image[k];
      },
      [&](const FrictionRows& f) {  // Coulomb's law in De Saxce's form, together with its normal
        const int n = f.normal_row;
        const double d = d_[n];
        double slip = 0, image[6];
        for (int k = 1; k <= f.count; ++k) slip += w[n + k] * w[n + k];
        image[0] = d * x[n] - (w[n] + f.mu * std::sqrt(slip));
        for (int k = 1; k <= f.count; ++k) image[k] = d * x[n + k] - w[n + k];
        project_on_cone(f.mu, f.count, image);
        for (int k = 0; k <= f.count; ++k) w[n + k] = d * x[n + k] - image[k];
      });
}

/// 1 - x . b / x . A x: by how much an answer is too long. Along t x the quadratic is least at t = x . b / x . A x, and no law
/// lets its answer be beyond it: x . w <= 0 row by row, unless bounds leave out zero. Bodies would leave with more energy than
/// they had.
double Judge::excess(std::span<const double> x) const {
  double too_much = 0, length = 0, parts = 0;
  for (std::size_t r = 0; r < x.size(); ++r) {
    if (problem_->lower[r] > 0 || problem_->upper[r] < 0) return 0;
    const double given = x[r] * problem_->b[r], taken = x[r] * w_[r];
    too_much += taken;
    length += taken + given;
    parts += std::abs(given);
  }
  return length > 0 && too_much > excess_share * length + excess_rounding * parts ? std::min(too_much / length, 1.0) : 0;
}

double Judge::judge(std::span<const double> x) {
  const ConstraintProblem& p = *problem_;
  velocities(x);
  const double too_long = excess(x);
  psi(x, w_);
  // What is at stake per law, left in stake_ of its first row; then each against its own, none below the share of the largest.
  double largest = 0;
  const auto gather = [&](int first, int count, double own) {
    double squares = 0, sizes = 0, errors = 0;
    for (int r = first; r < first + count; ++r) {
      squares += stake_[r] * stake_[r];
      sizes += size_[r] * size_[r];
      errors += w_[r] * w_[r];
    }
    stake_[first] = own + std::sqrt(squares);
    size_[first] = std::sqrt(sizes);
    w_[first] = std::sqrt(errors);
    if (d_[first] > 0) largest = std::max(largest, square_of(stake_[first]) / d_[first]);
  };
  const auto row = [&](int r) { gather(r, 1, alone(r)); };
  const auto group = [&](const FrictionRows& f) {
    const double limit = f.mu * std::max(0.0, x[f.normal_row]);
    const int together = f.cone ? f.count : 1;
    for (int r = f.first_row; r < f.first_row + f.count; r += together) gather(r, together, friction_alone(r, together, limit));
  };
  const auto cone = [&](const FrictionRows& f) { gather(f.normal_row, f.count + 1, cone_alone(f, x[f.normal_row])); };
  walk_laws(p.friction, 0, p.rows(), row, group, cone);

  // Impulses one by one count up to the largest that is at stake otherwise: those that grow without end, since equations
  // contradict each other, must not pass for an answer.
  const double share = p.has_matrix() ? single_share_without_bodies : single_share;
  const double floor = largest_share * std::sqrt(largest);
  double worst = too_long;
  rounding_ = 0;
  const auto compare = [&](int first) {
    const double size = std::sqrt(d_[first]);
    const double most = p.has_matrix() ? infinity : std::sqrt(largest) * size;
    const double stake = stake_[first] + std::min(share * size_[first], most) + floor * size;
    if (w_[first] > 0) worst = std::max(worst, w_[first] / stake);
    if (stake > 0) rounding_ = std::max(rounding_, size_[first] / stake);
    if (!(w_[first] < infinity)) worst = infinity;  // no number
  };
  walk_laws(
      p.friction, 0, p.rows(), compare,
      [&](const FrictionRows& f) {
        for (int r = f.first_row; r < (f.cone ? f.first_row + 1 : f.first_row + f.count); ++r) compare(r);
      },
      [&](const FrictionRows& f) { compare(f.normal_row); });
  rounding_ *= std::numeric_limits<double>::epsilon();
  return worst;
}

double Judge::energy_norm(std::span<const double> x, std::span<const double> w) {
  std::copy(w.begin(), w.end(), w_.begin());
  psi(x, w_);
  double sum = 0;
  for (std::size_t r = 0; r < w_.size(); ++r)
    if (d_[r] > 0) sum += w_[r] * w_[r] / d_[r];
  return std::sqrt(sum);
}

}  // namespace rotule
