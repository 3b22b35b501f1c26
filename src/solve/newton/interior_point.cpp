#include "solve/newton/interior_point.h"

#include <rotule/error.h>
#include <rotule/solvers/interior_point.h>

#include <algorithm>

#include "base/budget.h"
#include "solve/newton/contact_law.h"
#include "solve/newton/friction_cones.h"
#include "solve/refine.h"
#include "solve/solve.h"
#include "solve/structure.h"

namespace rotule {

namespace {

constexpr double proximal_regularisation = 1e-8;  // proximal, over each row's own entry of A

double determinant(const double* v, int n) {
  double squares = 0;
  for (int k = 1; k < n; ++k) squares += v[k] * v[k];
  const double length = std::sqrt(squares);
  return (v[0] - length) * (v[0] + length);  // keeps digits near the boundary
}

/// The largest t in [0, 1] with v + t d in the cone.
double longest_step(const double* v, const double* d, int n) {
  if (n == 1) return d[0] < 0 ? std::min(1.0, -v[0] / d[0]) : 1.0;
  // |v_t + t d_t| = v_0 + t d_0: a quadratic a t^2 + 2 b t + c with c > 0.
  double a = d[0] * d[0], b = v[0] * d[0];
  for (int k = 1; k < n; ++k) {
    a -= d[k] * d[k];
    b -= v[k] * d[k];
  }
  const double c = determinant(v, n);
  double t = 1;
  if (d[0] < 0) t = std::min(t, -v[0] / d[0]);
  const double root = b * b - a * c;
  if (root > 0 || a < 0) {
    const double s = std::sqrt(std::max(root, 0.0));
    // The smallest positive zero, without cancellation.
    if (b < 0) {
      if (-b + s > 0) t = std::min(t, c / (-b + s));
    } else if (a < 0) {
      t = std::min(t, (b + s) / -a);
    }
  }
  return std::max(t, 0.0);
}

}  // namespace

void InteriorPoint::Scaling::find(const double* X, const double* Y, int n) {
  if (n == 1) {
    eta = std::sqrt(X[0] / Y[0]);
    p[0] = 1;
    lambda[0] = std::sqrt(X[0] * Y[0]);
    return;
  }
  const double x = std::sqrt(std::max(determinant(X, n), 1e-300)), y = std::sqrt(std::max(determinant(Y, n), 1e-300));
  double dot = 0;
  for (int k = 0; k < n; ++k) dot += X[k] / x * Y[k] / y;
  const double gamma = std::sqrt(0.5 * (1 + dot));
  p[0] = (X[0] / x + Y[0] / y) / (2 * gamma);
  for (int k = 1; k < n; ++k) p[k] = (X[k] / x - Y[k] / y) / (2 * gamma);
  eta = std::sqrt(x / y);
  multiply(Y, lambda, n, 1);
}
void InteriorPoint::Scaling::multiply(const double* v, double* out, int n, int power) const {
  const double scale = power > 0 ? eta : 1 / eta, sign = power > 0 ? 1 : -1;
  double dot = 0;
  for (int k = 1; k < n; ++k) dot += p[k] * v[k];
  out[0] = scale * (p[0] * v[0] + sign * dot);
  for (int k = 1; k < n; ++k) out[k] = scale * (v[k] + p[k] * (sign * v[0] + dot / (1 + p[0])));
}
/// Theta^-2 = (2 (J p) (J p)^T - J) / eta^2, one entry.
double InteriorPoint::Scaling::inverse_square(int r, int c, int n) const {
  if (n == 1) return 1 / (eta * eta);
  const double a = r == 0 ? p[0] : -p[r], b = c == 0 ? p[0] : -p[c];
  return (2 * a * b - (r == c ? (r == 0 ? 1.0 : -1.0) : 0.0)) / (eta * eta);
}

void InteriorPoint::find_cones(const ConstraintProblem& problem) {
  classify(problem, sets_);
  cones_.clear();
  pinned_.assign(problem.rows(), 0);
  for (int i = 0; i < static_cast<int>(problem.blocks.size()); ++i) {
    const ConstraintBlock& block = problem.blocks[i];
    const int first = block.first_row, end = first + block.rows;
    const auto bound = [&](int r) {
      if (problem.lower[r] == problem.upper[r]) {
        pinned_[r] = 1;
        return;
      }
      if (problem.lower[r] > -infinity)
        cones_.push_back({.block = i, .first = r, .count = 1, .sign = 1, .offset = problem.lower[r]});
      if (problem.upper[r] < infinity)
        cones_.push_back({.block = i, .first = r, .count = 1, .sign = -1, .offset = problem.upper[r]});
    };
    if (sets_[i].kind == RowSet::bounded)
      for (int r = first; r < end; ++r) bound(r);
    if (sets_[i].kind != RowSet::contact) continue;
    FrictionCone groups[6];
    const int count = cones_of(problem, block, sets_[i], groups);
    bool any = false;
    int r = first + 1;
    for (int j = 0; j < count; ++j) {
      const int begin = first + groups[j].begin, stop = first + groups[j].end;
      for (; r < begin; ++r) bound(r);
      r = stop;
      if (groups[j].mu > 0) {
        cones_.push_back({.block = i, .normal = first, .first = begin, .count = stop - begin, .mu = groups[j].mu});
        any = true;
      } else {
        for (int k = begin; k < stop; ++k) pinned_[k] = 1;
      }
    }
    for (; r < end; ++r) bound(r);
    if (!any) cones_.push_back({.block = i, .first = first, .count = 1, .sign = 1, .offset = 0});
  }
  for (auto* v : {&X_, &Y_, &dX_, &dY_, &g_}) v->assign(stride * cones_.size(), 0.0);
  scalings_.resize(cones_.size());
}

/// B x (without the offset where a derivative is asked for).
void InteriorPoint::cone_of(const Cone& cone, std::span<const double> x, bool derivative, double* out) const {
  if (cone.normal < 0) {
    out[0] = cone.sign * (x[cone.first] - (derivative ? 0.0 : cone.offset));
    return;
  }
  out[0] = cone.mu * x[cone.normal];
  for (int k = 0; k < cone.count; ++k) out[1 + k] = x[cone.first + k];
}

/// T = B^T Theta^-2 B and E = N, block by block.
void InteriorPoint::assemble(const ConstraintProblem& problem) {
  for (int i = 0; i < static_cast<int>(problem.blocks.size()); ++i) {
    const int n = problem.blocks[i].rows, first = problem.blocks[i].first_row;
    double *const T = linear_->T(i), *const E = linear_->E(i);
    std::fill_n(T, n * n, 0.0);
    std::fill_n(E, n * n, 0.0);
    linear_->set_alone(i, false);
    for (int r = 0; r < n; ++r) {
      T[r * n + r] = (pinned_[first + r] ? 1.0 : proximal_regularisation) / rho_[first + r];
      E[r * n + r] = pinned_[first + r] ? 0.0 : 1.0;
    }
  }
  for (std::size_t c = 0; c < cones_.size(); ++c) {
    const Cone& cone = cones_[c];
    const int n = problem.blocks[cone.block].rows, first = problem.blocks[cone.block].first_row, size = cone.size();
    double* const T = linear_->T(cone.block);
    const auto row = [&](int k) { return cone.normal < 0 || k > 0 ? cone.first + std::max(k - 1, 0) - first : 0; };
    const auto weight = [&](int k) { return cone.normal >= 0 && k == 0 ? cone.mu : 1.0; };
    for (int k = 0; k < size; ++k)
      for (int l = 0; l < size; ++l) T[row(k) * n + row(l)] += weight(k) * weight(l) * scalings_[c].inverse_square(k, l, size);
    if (cone.normal < 0) continue;
    // The shift's share of N: mu times the direction of the slip.
    double* const E = linear_->E(cone.block);
    double squares = 0;
    for (int k = 0; k < cone.count; ++k) squares += w_[cone.first + k] * w_[cone.first + k];
    if (squares > 0)
      for (int k = 0; k < cone.count; ++k) E[cone.first - first + k] += cone.mu * w_[cone.first + k] / std::sqrt(squares);
  }
}

/// F = w + shift - sum of B^T (Y + Theta^-2 g), so that the step obeys T dx_ + N A dx_ = -F.
void InteriorPoint::right_hand_side(const ConstraintProblem& problem, std::span<const double> x) {
  for (int r = 0; r < problem.rows(); ++r)
    F_[r] = pinned_[r] ? (x[r] - std::clamp(0.0, problem.lower[r], problem.upper[r])) / rho_[r] : w_[r];
  for (std::size_t c = 0; c < cones_.size(); ++c) {
    const Cone& cone = cones_[c];
    const int size = cone.size();
    double t[stride], v[stride];
    scalings_[c].multiply(g_.data() + stride * c, t, size, -1);
    scalings_[c].multiply(t, v, size, -1);
    for (int k = 0; k < size; ++k) v[k] += Y_[stride * c + k];
    if (cone.normal < 0) {
      F_[cone.first] -= cone.sign * v[0];
      continue;
    }
    double squares = 0;
    for (int k = 0; k < cone.count; ++k) squares += w_[cone.first + k] * w_[cone.first + k];
    F_[cone.normal] += cone.mu * (std::sqrt(squares) - v[0]);
    for (int k = 0; k < cone.count; ++k) F_[cone.first + k] -= v[1 + k];
  }
}

/// dX_ = B dx_, dY_ = Theta^-2 (g - dX_).
void InteriorPoint::steps_of_cones(std::span<const double> step) {
  for (std::size_t c = 0; c < cones_.size(); ++c) {
    const int size = cones_[c].size();
    double rest[stride], t[stride];
    cone_of(cones_[c], step, true, dX_.data() + stride * c);
    for (int k = 0; k < size; ++k) rest[k] = g_[stride * c + k] - dX_[stride * c + k];
    scalings_[c].multiply(rest, t, size, -1);
    scalings_[c].multiply(t, dY_.data() + stride * c, size, -1);
  }
}

double InteriorPoint::judge(const ConstraintProblem& problem, std::span<const double> x) {
  linear_->product(problem, x, w_);
  for (int r = 0; r < problem.rows(); ++r) w_[r] -= problem.b[r];
  return judge_.judge(x);
}

void InteriorPoint::prepare(const ConstraintProblem& problem, BlockSystem& linear) {
  linear_ = &linear;
  find_cones(problem);
  for (auto* v : {&rho_, &w_, &F_, &dx_, &A_dx_, &best_}) v->resize(problem.rows());
  for (std::size_t i = 0; i < problem.blocks.size(); ++i)
    choose_rho(problem, problem.blocks[i], sets_[i], linear_->diagonal(static_cast<int>(i)),
               rho_.data() + problem.blocks[i].first_row);
  judge_.begin(problem);
}

/// Normals as large as the largest velocity would ask of them alone, no friction, bounded rows well inside.
void InteriorPoint::start_in_the_middle(const ConstraintProblem& problem, std::span<double> x) {
  // The largest in units that all rows share, the square root of energy; in each row's own unit it is that over sqrt(rho).
  double largest = 0;
  for (int r = 0; r < problem.rows(); ++r) largest = std::max(largest, std::abs(problem.b[r]) * std::sqrt(rho_[r]));
  if (largest == 0) largest = 1;
  for (int r = 0; r < problem.rows(); ++r) {
    const double lower = problem.lower[r], upper = problem.upper[r], push = largest * std::sqrt(rho_[r]);
    x[r] = lower > -infinity && upper < infinity ? 0.5 * (lower + upper)
           : lower > -infinity                   ? lower + push
           : upper < infinity                    ? upper - push
                                                 : 0.0;
  }
  for (std::size_t c = 0; c < cones_.size(); ++c) {
    const double speed = largest / std::sqrt(rho_[cones_[c].normal >= 0 ? cones_[c].normal : cones_[c].first]);
    cone_of(cones_[c], x, false, X_.data() + stride * c);
    std::fill_n(Y_.data() + stride * c, stride, 0.0);
    Y_[stride * c] = speed / (cones_[c].normal >= 0 ? cones_[c].mu : 1.0);
  }
}

/// dx, dX and dY for the g at hand; returns how far they can be followed within the cones, at most 1.
double InteriorPoint::step(const ConstraintProblem& problem, std::span<const double> x) {
  right_hand_side(problem, x);
  linear_->solve(problem, F_, dx_, A_dx_);
  steps_of_cones(dx_);
  double t = 1;
  for (std::size_t c = 0; c < cones_.size(); ++c) {
    const int size = cones_[c].size();
    t = std::min({t, longest_step(X_.data() + stride * c, dX_.data() + stride * c, size),
                  longest_step(Y_.data() + stride * c, dY_.data() + stride * c, size)});
  }
  return t;
}

/// Mehrotra's corrector: g = Theta (lambda \ (centre e - lambda o lambda - (Theta^-1 dX) o (Theta dY))).
void InteriorPoint::correct(double centre) {
  for (std::size_t c = 0; c < cones_.size(); ++c) {
    const int size = cones_[c].size();
    const Scaling& scaling = scalings_[c];
    const double* const l = scaling.lambda;
    double a[stride], d[stride], v[stride], u[stride];
    scaling.multiply(dX_.data() + stride * c, a, size, -1);
    scaling.multiply(dY_.data() + stride * c, d, size, 1);
    v[0] = centre;
    for (int k = 0; k < size; ++k) v[0] -= l[k] * l[k] + a[k] * d[k];
    for (int k = 1; k < size; ++k) v[k] = -2 * l[0] * l[k] - a[0] * d[k] - d[0] * a[k];
    double dot = 0;
    for (int k = 1; k < size; ++k) dot += l[k] * v[k];
    u[0] = size == 1 ? v[0] / l[0] : (l[0] * v[0] - dot) / std::max(determinant(l, size), 1e-300);
    for (int k = 1; k < size; ++k) u[k] = (v[k] - u[0] * l[k]) / l[0];
    scaling.multiply(u, g_.data() + stride * c, size, 1);
  }
}

int InteriorPoint::run(const ConstraintProblem& problem, double tolerance, int max_iterations, std::span<double> x,
                       double& residual) {
  constexpr int most_idle = 12;
  constexpr double wrong = 0.1;  // a residual with which nothing is right yet
  std::copy(x.begin(), x.end(), best_.begin());
  start_in_the_middle(problem, x);
  judge(problem, x);
  const double count = std::max<double>(1.0, static_cast<double>(cones_.size()));
  int iterations = 0;
  double least = infinity, first_gap = 0, least_gap = infinity;
  for (int idle = 0; residual > tolerance && iterations < max_iterations && idle < most_idle && !Budget::spent(); ++iterations) {
    Budget::count();
    double gap = 0;
    for (std::size_t c = 0; c < cones_.size(); ++c) {
      scalings_[c].find(X_.data() + stride * c, Y_.data() + stride * c, cones_[c].size());
      for (int k = 0; k < cones_[c].size(); ++k) {
        gap += X_[stride * c + k] * Y_[stride * c + k] / count;
        g_[stride * c + k] = -X_[stride * c + k];
      }
    }
    if (iterations == 0) first_gap = gap;
    assemble(problem);
    try {
      const Dispensable factor;  // the best x so far is an answer too
      linear_->factor(problem, rho_);
    } catch (const OutOfTime&) {
      static_cast<void>(Budget::spent());  // said
      break;
    }
    const double affine = step(problem, x);
    double affine_gap = 0;
    for (std::size_t c = 0; c < cones_.size(); ++c)
      for (int k = 0; k < cones_[c].size(); ++k) {
        const std::size_t at = stride * c + k;
        affine_gap += (X_[at] + affine * dX_[at]) * (Y_[at] + affine * dY_[at]) / count;
      }
    const double ratio = gap > 0 ? std::clamp(affine_gap / gap, 0.0, 1.0) : 0.0;
    correct(ratio * ratio * ratio * gap);
    const double longest = step(problem, x);
    const double t = longest >= 1 ? 1.0 : (gap < first_gap ? std::clamp(1 - gap / first_gap, 0.9, 0.999) : 0.9) * longest;
    if (!all_finite(dx_) || !(t > 0)) break;
    for (std::size_t r = 0; r < x.size(); ++r) x[r] += t * dx_[r];
    for (std::size_t c = 0; c < cones_.size(); ++c) {
      cone_of(cones_[c], x, false, X_.data() + stride * c);
      for (int k = 0; k < cones_[c].size(); ++k) Y_[stride * c + k] += t * dY_[stride * c + k];
    }
    const double now = judge(problem, x);
    if (now < residual) {
      residual = now;
      std::copy(x.begin(), x.end(), best_.begin());
    }
    // Where gaps that are to be closed are a millionth of those that stay open, nothing is right before the path is as near.
    idle = now < 0.9 * least || (least > wrong && gap < 0.5 * least_gap) ? 0 : idle + 1;
    least_gap = std::min(least_gap, gap);
    least = std::min(least, now);
  }
  std::copy(best_.begin(), best_.end(), x.begin());
  return iterations;
}

void solve(const ConstraintProblem& problem, const InteriorPointSettings& settings, Workspace& workspace, std::span<double> x,
           SolveReport& report) {
  clear(report, problem.rows());
  if (problem.rows() == 0) return;
  auto& linear = workspace.get<BlockSystem>();
  auto& work = workspace.get<InteriorPoint>();
  linear.prepare(problem);
  work.prepare(problem, linear);
  std::copy_n(problem.x0.data(), x.size(), x.begin());
  report.residual = work.judge(problem, x);
  if (report.residual > settings.tolerance)
    report.iterations = work.run(problem, settings.tolerance, settings.max_iterations, x, report.residual);
  if (!std::isfinite(report.residual))
    throw Error("solver interior_point", "the residual is not finite; check masses, Jacobians and right-hand side");
  report.converged = report.residual <= settings.tolerance;
}

}  // namespace rotule
