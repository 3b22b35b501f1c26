#include "linalg/entry_solver.h"

#include <rotule/error.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace rotule {

int EntryPattern::size() const { return std::accumulate(node_sizes.begin(), node_sizes.end(), 0); }

std::vector<int> EntryPattern::first_rows() const {
  std::vector<int> first{0};
  for (const int size : node_sizes) first.push_back(first.back() + size);
  return first;
}

Graph EntryPattern::graph() const {
  std::vector<int> node_of;
  for (std::size_t n = 0; n < node_sizes.size(); ++n) node_of.insert(node_of.end(), node_sizes[n], static_cast<int>(n));
  std::vector<std::vector<int>> neighbours(node_sizes.size());
  for (const Entry& e : entries)
    if (node_of[e.row] != node_of[e.column]) neighbours[node_of[e.row]].push_back(node_of[e.column]);
  Graph graph;
  graph.start.push_back(0);
  for (std::vector<int>& list : neighbours) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    graph.neighbours.insert(graph.neighbours.end(), list.begin(), list.end());
    graph.start.push_back(static_cast<int>(graph.neighbours.size()));
  }
  return graph;
}

template <class Scalar>
void EntrySolver<Scalar>::analyse(EntryPattern& pattern, std::span<const int> order) {
  lu_.analyse(pattern.node_sizes, pattern.graph(), order);
  values_.assign(pattern.entries.size(), Scalar(0));
  const std::vector<int> first_row = pattern.first_rows();
  std::vector<int> node_of;
  for (std::size_t n = 0; n < pattern.node_sizes.size(); ++n)
    node_of.insert(node_of.end(), pattern.node_sizes[n], static_cast<int>(n));
  for (EntryPattern::Entry& e : pattern.entries) {
    const int i = node_of[e.row], j = node_of[e.column];
    e.place =
        (i == j ? lu_.offset(i) : lu_.offset(i, j)) + (e.row - first_row[i]) * pattern.node_sizes[j] + e.column - first_row[j];
  }
}

template <class Scalar>
void EntrySolver<Scalar>::factor(const EntryPattern& pattern) {
  pivoted_ = false;
  std::vector<Scalar>& values = lu_.values();
  std::fill(values.begin(), values.end(), Scalar(0));
  for (std::size_t n = 0; n < values_.size(); ++n) values[static_cast<std::size_t>(pattern.entries[n].place)] += values_[n];
  lu_.factor();
}

template <class Scalar>
bool EntrySolver<Scalar>::solve_by_blocks(const EntryPattern& pattern, const Vector& rhs, Vector& solution) {
  constexpr double small = 1e-10;
  constexpr int most_refinements = 2;
  solution.setZero(rhs.size());
  for (int refinement = 0;; ++refinement) {
    // What the equations lack, and how large the numbers in them are.
    remainder_ = rhs;
    double size = 0;
    for (std::size_t n = 0; n < values_.size(); ++n) {
      const EntryPattern::Entry& e = pattern.entries[n];
      const Scalar term = values_[n] * solution[e.column];
      remainder_[e.row] -= term;
      size = std::max(size, std::abs(term));
    }
    const double left = remainder_.cwiseAbs().maxCoeff();
    if (!std::isfinite(left)) return false;
    if (refinement > 0 && left <= small * std::max(size, rhs.cwiseAbs().maxCoeff())) return true;
    if (left == 0) return true;
    if (refinement > most_refinements) return false;
    lu_.solve(remainder_.data());
    solution += remainder_;
  }
}

template <class Scalar>
void EntrySolver<Scalar>::solve_with_pivots(const EntryPattern& pattern, const Vector& rhs, Vector& solution,
                                            std::string_view whose) {
  if (!pivoted_) {
    constexpr Eigen::Index most = 5000;
    if (rhs.size() > most)
      throw Error(std::string(whose),
                  "its matrix is nearly singular; take a smaller step, or look for redundant joints (rotule check)");
    using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;
    Matrix matrix = Matrix::Zero(rhs.size(), rhs.size());
    for (std::size_t n = 0; n < values_.size(); ++n) matrix(pattern.entries[n].row, pattern.entries[n].column) += values_[n];
    dense_.compute(matrix);
    pivoted_ = true;
  }
  solution = dense_.solve(rhs);
  if (!solution.allFinite())
    throw Error(std::string(whose), "its matrix is singular; take a smaller step, or look for redundant joints (rotule check)");
}

template <class Scalar>
void EntrySolver<Scalar>::solve(const EntryPattern& pattern, const Vector& rhs, Vector& solution, std::string_view whose) {
  if (pivoted_ || !solve_by_blocks(pattern, rhs, solution)) solve_with_pivots(pattern, rhs, solution, whose);
}

template class EntrySolver<double>;
template class EntrySolver<std::complex<double>>;

}  // namespace rotule
