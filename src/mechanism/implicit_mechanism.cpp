// The part of implicit systems that bodies and joints are in (implicit_system.h): one unsymmetric matrix, by blocks.
#include <rotule/error.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "constraint/formulation/formulations.h"
#include "dynamics/forces/added_mass.h"
#include "mechanism/implicit_system.h"

namespace rotule {

template <class Visit>
void ImplicitSystem::with_row_change(const Island& island, int n, int row, Visit&& visit) const {
  const ConstraintBlock& block = island.problem.blocks[n];
  std::array<double, 6> unit{};
  unit[row - block.first_row] = 1;
  const auto change_of = [&]<std::size_t count>(const auto& H, const std::array<int, count>& owner) {
    using Vector = Eigen::Matrix<double, 6 * static_cast<int>(count), 1>;
    Vector velocity = Vector::Zero(), acceleration = velocity, turned = velocity;
    std::size_t side = 0;
    for_each_body(island.problem, block, [&](int body, const JacobianRows& J, int first) {
      while (owner[side] < 0) ++side;
      const auto at = static_cast<Eigen::Index>(6 * side++);
      velocity.template segment<6>(at) = island.slots[body].read(s_.u);
      acceleration.template segment<6>(at) = island.slots[body].read(udot_);
      // World axes against the chart's.
      const Vec3 rate = held_ ? velocity.template segment<3>(at + 3) : acceleration.template segment<3>(at + 3);
      turned.template segment<3>(at + 3) = 0.5 * Vec3(J.row(first + row - block.first_row).template tail<3>()).cross(rate);
    });
    // Of constraints on velocities H is dJ/dq, which need not be symmetric.
    const auto by_row = H.transpose().eval();
    const auto even = (0.5 * (H + by_row)).eval();
    if (held_)
      visit(Vector(b_ / a_ * (by_row * velocity + turned)), owner);
    else
      visit(Vector(2 * a_ * even * velocity + b_ * (by_row * acceleration + turned)), owner);
  };
  constraints_of(island).with_hessian(n, *kinematics_, t_, {unit.data(), static_cast<std::size_t>(block.rows)}, change_of);
}

namespace {

/// What a row is multiplied by so that the numbers in its block are of one size.
double row_scale(const Island& island, int row) { return island.problem.C[row] > 0 ? 1 / RedundantRows::slack : 1.0; }

}  // namespace

template <class Visit>
int ImplicitSystem::visit_mechanism(Visit&& visit) const {
  const Block3Matrix& S = mechanism_.S;
  for (int i = 0; i < S.rows(); ++i) {
    std::int64_t n = S.first(i);
    for (const int j : S.columns(i)) {
      const double* block = S.block(n++);
      for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c) visit(3 * i + r, 3 * j + c, block[3 * r + c]);
    }
  }
  int row = 3 * S.rows();
  const auto* penalty = std::get_if<PenaltySettings>(&recipe_.formulation);
  for (const Island& island : islands_)
    for (std::size_t n = 0; n < island.problem.blocks.size(); ++n) {
      const ConstraintBlock& block = island.problem.blocks[n];
      const int first_row = row;
      for (int r = block.first_row; r < block.first_row + block.rows; ++r, ++row) {
        const double scale = row_scale(island, r);
        double spring = 0;  // of a penalty joint: the row says that mu is what it exerts
        if (penalty) {
          const auto [k, d] = penalty_row(island.problem, block, r, penalty->stiffness, penalty->damping, h_);
          spring = b_ * k + a_ * d;
        }
        // `change` gives how the row's own acceleration changes with velocity and configuration, partner by partner.
        const auto visit_partners = [&](auto&& change) {
          for_each_body(island.problem, block, [&](int body, const JacobianRows& J, int first) {
            const int column = 3 * mechanism_.place[island.slots[body].first / 3];
            const double* const beside = change();
            const int k = first + r - block.first_row;
            for (int c = 0; c < (island.slots[body].turns ? 6 : 3); ++c) {
              visit(row, column + c, penalty ? spring * J(k, c) : scale * (J(k, c) + beside[c]));
              visit(column + c, row, -J(k, c));
            }
          });
        };
        if (penalty) {
          static constexpr std::array<double, 6> none{};
          visit_partners([] { return none.data(); });
        } else {
          with_row_change(island, static_cast<int>(n), r, [&](const auto& change, const auto& owner) {
            std::size_t side = 0;
            visit_partners([&] {
              while (owner[side] < 0) ++side;
              return change.data() + 6 * side++;
            });
          });
        }
        const double compliance = penalty ? 1.0 : scale * island.problem.C[r];
        for (int c = 0; c < block.rows; ++c) visit(row, first_row + c, row == first_row + c ? compliance : 0.0);
      }
    }
  return row;
}

void ImplicitSystem::analyse_mechanism() {
  visit_mechanism([&](int row, int column, double) { pattern_.entries.push_back({row, column}); });

  // Nodes in the order of their rows.
  const int bodies = 2 * model_.body_count();
  for (std::size_t n = 0; n < mechanism_.triple.size(); ++n) {
    const bool turns = mechanism_.triple[n] < bodies;
    pattern_.node_sizes.push_back(turns ? 6 : 3);
    if (turns) ++n;
  }
  const std::size_t partners = pattern_.node_sizes.size();
  for (const Island& island : islands_)
    for (const ConstraintBlock& block : island.problem.blocks) pattern_.node_sizes.push_back(block.rows);
  rhs_.resize(pattern_.size());
  solution_.resize(pattern_.size());

  // A joint's own block is empty until its partners are eliminated: it waits for them. Each pivot is then one of J S^-1 J'^T.
  const Graph graph = pattern_.graph();
  std::vector<int> when(pattern_.node_sizes.size());
  minimum_degree(graph, order_);
  for (std::size_t k = 0; k < order_.size(); ++k) when[order_[k]] = static_cast<int>(k);
  for (std::size_t joint = partners; joint < when.size(); ++joint)
    for (const int partner : graph.of(static_cast<int>(joint))) when[joint] = std::max(when[joint], when[partner]);
  std::stable_sort(order_.begin(), order_.end(), [&](int i, int j) {
    return std::pair(when[i], i >= static_cast<int>(partners)) < std::pair(when[j], j >= static_cast<int>(partners));
  });
}

void ImplicitSystem::write_mechanism(std::vector<double>& values) {
  std::size_t next = 0;
  values.resize(pattern_.entries.size());
  visit_mechanism([&](int, int, double value) { values[next++] = value; });
}

void ImplicitSystem::factor_mechanism() {
  if (mechanism_.S.rows() == 0) return;
  if (pattern_.entries.empty()) analyse_mechanism();
  if (!solver_.analysed()) solver_.analyse(pattern_, order_);
  write_mechanism(solver_.values());
  solver_.factor(pattern_);
}

void ImplicitSystem::solve_mechanism(const VecX& r, VecX& out, bool rows) {
  const Block3Matrix& S = mechanism_.S;
  if (S.rows() == 0) return;
  rhs_.setZero();
  if (model_.has_added_mass()) {
    of_fluid_.setZero(r.size());
    add_added_momentum(model_, motion_of(*kinematics_), r, 1, of_fluid_);
  }
  for (int n = 0; n < S.rows(); ++n) {
    const int triple = mechanism_.triple[n], bodies = model_.body_count();
    const Vec3 x = r.segment<3>(3 * triple);
    if (triple >= 2 * bodies + model_.particle_count()) {
      rhs_.segment<3>(3 * n) = x;  // a wake
    } else if (triple >= 2 * bodies) {
      rhs_.segment<3>(3 * n) = model_.particles.mass[triple - 2 * bodies] * x;
    } else if (triple % 2 == 0) {
      rhs_.segment<3>(3 * n) = model_.bodies[triple / 2].mass * x;
    } else {
      const Mat3& R = kinematics_->bodies[triple / 2].R;
      rhs_.segment<3>(3 * n) = R * (model_.inertia[triple / 2] * (R.transpose() * x));
    }
    if (model_.has_added_mass() && triple < 2 * bodies) rhs_.segment<3>(3 * n) += of_fluid_.segment<3>(3 * triple);
  }
  if (rows && !std::holds_alternative<PenaltySettings>(recipe_.formulation)) {
    int row = 3 * S.rows();
    for (const Island& island : islands_)
      for (const ConstraintBlock& block : island.problem.blocks)
        for (int k = block.first_row; k < block.first_row + block.rows; ++k, ++row) {
          for_each_body(island.problem, block, [&](int body, const JacobianRows& J, int first) {
            rhs_[row] += J.row(first + k - block.first_row).dot(island.slots[body].read(r));
          });
          rhs_[row] *= row_scale(island, k);
        }
  }
  solver_.solve(pattern_, rhs_, solution_, "implicit step");
  for (int n = 0; n < S.rows(); ++n) out.segment<3>(3 * mechanism_.triple[n]) = solution_.segment<3>(3 * n);
}

void ImplicitSystem::separate(double a) {
  if (mechanism_.S.rows() == 0) return;
  const auto write = [&](double a_now, double b_now, std::vector<double>& values) {
    assemble_motions(a_now, b_now);
    if (pattern_.entries.empty()) analyse_mechanism();
    write_mechanism(values);
  };
  write(0, 0, parts_[0]);
  write(a, 0, parts_[1]);
  write(0, a * a, parts_[2]);
  for (std::size_t n = 0; n < parts_[0].size(); ++n) {
    parts_[1][n] = (parts_[1][n] - parts_[0][n]) / a;
    parts_[2][n] = (parts_[2][n] - parts_[0][n]) / (a * a);
  }
  assembled_ = real_.made = complex_.made = false;
}

template <class Scalar, class Vector>
void ImplicitSystem::solve_separated(Separated<Scalar>& by, Scalar a, const Vector& r, Vector& out, StepReport& report) {
  out.setZero(r.size());
  ++report.solves;
  if (mechanism_.S.rows() == 0) return;
  if (!by.solver.analysed()) by.solver.analyse(pattern_, order_);
  if (!by.made || by.a != a) {
    by.a = a;
    by.made = true;
    std::vector<Scalar>& values = by.solver.values();
    const Scalar b = a * a;
    for (std::size_t n = 0; n < values.size(); ++n) values[n] = parts_[0][n] + a * parts_[1][n] + b * parts_[2][n];
    by.solver.factor(pattern_);
  }
  // M r and J r by the parts' own M and J.
  by.rhs.setZero(pattern_.size());
  const int motions = 3 * mechanism_.S.rows();
  for (std::size_t n = 0; n < pattern_.entries.size(); ++n) {
    const auto& [row, column, place] = pattern_.entries[n];
    if (column < motions) by.rhs[row] += parts_[0][n] * r[3 * mechanism_.triple[column / 3] + column % 3];
  }
  by.solver.solve(pattern_, by.rhs, by.solution, "implicit step");
  for (int n = 0; n < mechanism_.S.rows(); ++n)
    out.template segment<3>(3 * mechanism_.triple[n]) = by.solution.template segment<3>(3 * n);
}

void ImplicitSystem::solve_separated(double a, const VecX& r, VecX& out, StepReport& report) {
  solve_separated(real_, a, r, out, report);
}

void ImplicitSystem::solve_separated(std::complex<double> a, const VecXc& r, VecXc& out, StepReport& report) {
  solve_separated(complex_, a, r, out, report);
}

}  // namespace rotule
