#include "model/parameter_table.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <random>

namespace rotule {

namespace {

constexpr int poses = 10;            // drawn by lot, the first one apart
constexpr double no_term = 1e-11;    // of the largest value: what is left where no term is missing
constexpr double longest_time = 10;  // s: within which times are drawn

/// Values of all equations at all places of the grid, one column per place; false where they are no numbers.
bool look(const Equations& equations, const ParameterGrid& grid, std::span<const MovingBody> bodies, double t, MatX& out) {
  const int count = equations.function.equations;
  std::array<Moving, Moving::most_parameters> s;
  std::array<Moving, Equations::most> values;
  out.resize(count, grid.size());
  for (int place = 0; place < grid.size(); ++place) {
    for (int k = 0; k < grid.dimensions(); ++k) s[static_cast<std::size_t>(k)] = Moving(grid.at(k, place));
    equations.function.evaluate(bodies, t, {s.data(), equations.parameters.size()},
                                {values.data(), static_cast<std::size_t>(count)});
    for (int k = 0; k < count; ++k) out(k, place) = values[static_cast<std::size_t>(k)].value;
  }
  return out.allFinite();
}

}  // namespace

ParameterGrid::ParameterGrid(const Equations& equations) : parameters_(equations.parameters) {
  constexpr int side = 16;
  static_assert(side * side <= Equations::most_samples);
  if (dimensions() == 1)
    places_[0] = std::min(equations.samples, Equations::most_samples);
  else
    places_ = {side, side};
}

std::shared_ptr<const ParameterTable> parameter_table(const Equations& equations, std::span<const MovingBody> bodies) {
  const ParameterGrid grid(equations);
  const Eigen::Index count = equations.function.equations;
  MatX base, values, D((poses - 1) * count, grid.size());
  std::mt19937 random(11);  // NOLINT(cert-msc51-cpp): the same every time
  const auto draw = [&] { return static_cast<double>(random() % 2001) / 1000 - 1; };
  double largest = 0;
  try {
    std::vector<MovingBody> displaced(bodies.begin(), bodies.end());
    for (MovingBody& body : displaced) body.by_motion = body.by_velocity = false;
    if (!look(equations, grid, displaced, 0, base)) return nullptr;
    largest = base.cwiseAbs().maxCoeff();
    const std::vector<MovingBody> start = displaced;
    for (int pose = 1; pose < poses; ++pose) {
      for (std::size_t b = 0; b < displaced.size(); ++b) {
        if (!bodies[b].by_motion) continue;
        displaced[b].p = start[b].p + largest * Vec3(draw(), draw(), draw());
        if (start[b].turns) displaced[b].R = Quat(2, draw(), draw(), draw()).normalized().toRotationMatrix() * start[b].R;
      }
      if (!look(equations, grid, displaced, longest_time * draw(), values)) return nullptr;
      largest = std::max(largest, values.cwiseAbs().maxCoeff());
      D.middleRows((pose - 1) * count, count) = values - base;
    }
  } catch (const std::exception&) {  // a function need not know poses in which nobody will see it
    return nullptr;
  }

  // Rows that were pivots become the weights: one where their own place is, zero at those of the others.
  ParameterTable out;
  std::vector<Eigen::Index> pivots;
  for (;;) {
    Eigen::Index row = -1, column = -1;
    double pivot = 0;
    for (Eigen::Index i = 0; i < D.rows(); ++i) {
      if (std::find(pivots.begin(), pivots.end(), i) != pivots.end()) continue;
      Eigen::Index j = 0;
      if (const double here = D.row(i).cwiseAbs().maxCoeff(&j); here > pivot) pivot = here, row = i, column = j;
    }
    if (!(pivot > no_term * largest)) break;
    if (std::ssize(pivots) == ParameterTable::most_terms) return nullptr;
    pivots.push_back(row);
    out.at.push_back(static_cast<int>(column));
    D.row(row) /= D(row, column);
    for (Eigen::Index i = 0; i < D.rows(); ++i)
      if (i != row && D(i, column) != 0) D.row(i) -= VecX(D.row(row) * D(i, column)).transpose();
  }
  out.base = base.transpose();
  out.weights.resize(grid.size(), static_cast<Eigen::Index>(pivots.size()));
  for (std::size_t m = 0; m < pivots.size(); ++m) out.weights.col(static_cast<Eigen::Index>(m)) = D.row(pivots[m]).transpose();
  return std::make_shared<const ParameterTable>(std::move(out));
}

}  // namespace rotule
