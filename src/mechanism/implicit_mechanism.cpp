// The part of implicit systems that bodies and joints are in (implicit_system.h): one unsymmetric matrix, by blocks.
#include <rotule/error.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "constraint/formulation/formulations.h"
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
    if (held_)
      visit(Vector(b_ / a_ * (H * velocity + turned)), owner);
    else
      visit(Vector(2 * a_ * H * velocity + b_ * (H * acceleration + turned)), owner);
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
        // `change` gives how the row's own acceleration changes with velocity and configuration, partner by partner.
        const auto visit_partners = [&](auto&& change) {
          for_each_body(island.problem, block, [&](int body, const JacobianRows& J, int first) {
            const int column = 3 * mechanism_.place[island.slots[body].first / 3];
            const double* const beside = change();
            const int k = first + r - block.first_row;
            for (int c = 0; c < (island.slots[body].turns ? 6 : 3); ++c) {
              visit(row, column + c, scale * (J(k, c) + beside[c]));
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
        double compliance = scale * island.problem.C[r];
        if (penalty) {
          const auto [k, d] = penalty_row(island.problem, block, r, penalty->stiffness, penalty->damping, h_);
          compliance = 1 / (b_ * k + a_ * d);
        }
        for (int c = 0; c < block.rows; ++c) visit(row, first_row + c, row == first_row + c ? compliance : 0.0);
      }
    }
  return row;
}

void ImplicitSystem::analyse_mechanism() {
  const int size = visit_mechanism([&](int row, int column, double value) { entries_.push_back({row, column, 0, value}); });
  rhs_.resize(size);
  solution_.resize(size);
  remainder_.resize(size);

  // Nodes in the order of their rows.
  std::vector<int> node_of(static_cast<std::size_t>(size)), first_row;
  const auto add = [&](int rows) {
    const auto row = first_row.empty() ? 0 : static_cast<std::size_t>(first_row.back() + node_sizes_.back());
    std::fill_n(node_of.begin() + static_cast<std::ptrdiff_t>(row), rows, static_cast<int>(node_sizes_.size()));
    first_row.push_back(static_cast<int>(row));
    node_sizes_.push_back(rows);
  };
  const int bodies = 2 * model_.body_count();
  for (std::size_t n = 0; n < mechanism_.triple.size(); ++n) {
    const bool turns = mechanism_.triple[n] < bodies;
    add(turns ? 6 : 3);
    if (turns) ++n;
  }
  const std::size_t partners = node_sizes_.size();
  for (const Island& island : islands_)
    for (const ConstraintBlock& block : island.problem.blocks) add(block.rows);

  std::vector<std::vector<int>> neighbours(node_sizes_.size());
  for (const Entry& e : entries_)
    if (node_of[e.row] != node_of[e.column]) neighbours[node_of[e.row]].push_back(node_of[e.column]);
  Graph graph;
  graph.start.push_back(0);
  for (std::vector<int>& list : neighbours) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    graph.neighbours.insert(graph.neighbours.end(), list.begin(), list.end());
    graph.start.push_back(static_cast<int>(graph.neighbours.size()));
  }

  // A joint's own block is empty until its partners are eliminated: it waits for them. Each pivot is then one of J S^-1 J'^T.
  std::vector<int> order, when(node_sizes_.size());
  minimum_degree(graph, order);
  for (std::size_t k = 0; k < order.size(); ++k) when[order[k]] = static_cast<int>(k);
  for (std::size_t joint = partners; joint < node_sizes_.size(); ++joint)
    for (const int partner : neighbours[joint]) when[joint] = std::max(when[joint], when[partner]);
  std::stable_sort(order.begin(), order.end(), [&](int i, int j) {
    return std::pair(when[i], i >= static_cast<int>(partners)) < std::pair(when[j], j >= static_cast<int>(partners));
  });
  lu_.analyse(node_sizes_, graph, order);
  for (Entry& e : entries_) {
    const int i = node_of[e.row], j = node_of[e.column];
    e.place = (i == j ? lu_.offset(i) : lu_.offset(i, j)) + (e.row - first_row[i]) * node_sizes_[j] + e.column - first_row[j];
  }
}

void ImplicitSystem::factor_mechanism() {
  if (mechanism_.S.rows() == 0) return;
  pivoted_ = false;
  if (entries_.empty()) {
    analyse_mechanism();
  } else {
    std::size_t next = 0;
    visit_mechanism([&](int, int, double value) { entries_[next++].value = value; });
  }
  std::vector<double>& values = lu_.values();
  std::fill(values.begin(), values.end(), 0.0);
  for (const Entry& e : entries_) values[static_cast<std::size_t>(e.place)] += e.value;
  lu_.factor();
}

bool ImplicitSystem::solve_by_blocks() {
  constexpr double small = 1e-10;
  constexpr int most_refinements = 2;
  solution_.setZero();
  for (int refinement = 0;; ++refinement) {
    // What the equations lack, and how large the numbers in them are.
    remainder_ = rhs_;
    double size = 0;
    for (const Entry& e : entries_) {
      const double term = e.value * solution_[e.column];
      remainder_[e.row] -= term;
      size = std::max(size, std::abs(term));
    }
    const double left = remainder_.cwiseAbs().maxCoeff();
    if (!std::isfinite(left)) return false;
    if (refinement > 0 && left <= small * std::max(size, rhs_.cwiseAbs().maxCoeff())) return true;
    if (left == 0) return true;
    if (refinement > most_refinements) return false;
    lu_.solve(remainder_.data());
    solution_ += remainder_;
  }
}

void ImplicitSystem::solve_with_pivots() {
  if (!pivoted_) {
    constexpr Eigen::Index most = 5000;
    if (rhs_.size() > most)
      throw Error("implicit step",
                  "its matrix is nearly singular; take a smaller step, or look for redundant joints (rotule check)");
    MatX matrix = MatX::Zero(rhs_.size(), rhs_.size());
    for (const Entry& e : entries_) matrix(e.row, e.column) += e.value;
    dense_.compute(matrix);
    pivoted_ = true;
  }
  solution_ = dense_.solve(rhs_);
  if (!solution_.allFinite())
    throw Error("implicit step", "its matrix is singular; take a smaller step, or look for redundant joints (rotule check)");
}

void ImplicitSystem::solve_mechanism(const VecX& r, VecX& out) {
  const Block3Matrix& S = mechanism_.S;
  if (S.rows() == 0) return;
  rhs_.setZero();
  for (int n = 0; n < S.rows(); ++n) {
    const int triple = mechanism_.triple[n], bodies = model_.body_count();
    const Vec3 x = r.segment<3>(3 * triple);
    if (triple >= 2 * bodies) {
      rhs_.segment<3>(3 * n) = model_.particles.mass[triple - 2 * bodies] * x;
    } else if (triple % 2 == 0) {
      rhs_.segment<3>(3 * n) = model_.bodies[triple / 2].mass * x;
    } else {
      const Mat3& R = kinematics_->bodies[triple / 2].R;
      rhs_.segment<3>(3 * n) = R * (model_.inertia[triple / 2] * (R.transpose() * x));
    }
  }
  if (!std::holds_alternative<PenaltySettings>(recipe_.formulation)) {
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
  if (pivoted_ || !solve_by_blocks()) solve_with_pivots();
  for (int n = 0; n < S.rows(); ++n) out.segment<3>(3 * mechanism_.triple[n]) = solution_.segment<3>(3 * n);
}

}  // namespace rotule
