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

/// The equations at one value of the parameters, and their derivatives by the first, by `step` of it.
class Look {
 public:
  Look(const Equations& equations, double step) : equations_(equations), step_(step) {}
  void operator()(std::span<const MovingBody> bodies, double t, const std::array<double, Moving::most_parameters>& at) {
    for (std::size_t k = 0; k < s_.size(); ++k) s_[k] = Moving(at[k]);
    s_[0].first = step_;
    equations_.function.evaluate(bodies, t, {s_.data(), equations_.parameters.size()},
                                 {values_.data(), static_cast<std::size_t>(equations_.function.equations)});
  }
  [[nodiscard]] double derivative(Eigen::Index equation, std::size_t order) const {
    const Moving& value = values_[static_cast<std::size_t>(equation)];
    return order == 0 ? value.value : order == 1 ? value.first : value.second;
  }

 private:
  const Equations& equations_;
  double step_;
  std::array<Moving, Moving::most_parameters> s_;
  std::array<Moving, Equations::most> values_;
};

}  // namespace

ParameterGrid::ParameterGrid(const Equations& equations) : parameters_(equations.parameters) {
  constexpr int side = 16;
  static_assert(side * side <= Equations::most_samples);
  if (dimensions() == 1)
    places_[0] = std::min(equations.samples, Equations::most_samples);
  else
    places_ = {side, side};
}

void ParameterTable::between(const Shares& shares, int place, int next, Quintics& out) const {
  for (int k = 0; k < equations(); ++k) {
    const Vec3 from = at_place(shares, k, place), to = at_place(shares, k, next);
    std::array<double, 6>& c = out[static_cast<std::size_t>(k)];
    c[0] = from[0];
    c[1] = from[1];
    c[2] = 0.5 * from[2];
    // What is left at the next place of value, slope and half the bend.
    const double A = to[0] - c[0] - c[1] - c[2], B = to[1] - c[1] - 2 * c[2], C = 0.5 * to[2] - c[2];
    c[3] = 10 * A - 4 * B + C;
    c[4] = -15 * A + 7 * B - 2 * C;
    c[5] = 6 * A - 3 * B + C;
  }
}

std::shared_ptr<const ParameterTable> parameter_table(const Equations& equations, std::span<const MovingBody> bodies) {
  const ParameterGrid grid(equations);
  const Eigen::Index count = equations.function.equations, places = grid.size();
  const std::size_t orders = grid.dimensions() == 1 ? 3 : 1;
  // Of one pose: a row per equation, and in it values, first and second derivatives at all places.
  MatX base, values, D((poses - 1) * count, static_cast<Eigen::Index>(orders) * places);
  std::mt19937 random(11);  // NOLINT(cert-msc51-cpp): the same every time
  const auto draw = [&] { return static_cast<double>(random() % 2001) / 1000 - 1; };
  std::vector<MovingBody> displaced(bodies.begin(), bodies.end());
  for (MovingBody& body : displaced) body.by_motion = body.by_velocity = false;
  Look look(equations, grid.step(0));
  const auto look_everywhere = [&](double t, MatX& out) {
    out.resize(count, D.cols());
    for (int place = 0; place < places; ++place) {
      look(displaced, t, {grid.at(0, place), grid.dimensions() > 1 ? grid.at(1, place) : 0});
      for (Eigen::Index k = 0; k < count; ++k)
        for (std::size_t order = 0; order < orders; ++order)
          out(k, static_cast<Eigen::Index>(order) * places + place) = look.derivative(k, order);
    }
    return out.allFinite();
  };
  double largest = 0, t = 0;
  MatX halfway(count, grid.dimensions() == 1 ? grid.steps(0) : 0);  // of the last pose, between the places
  try {
    if (!look_everywhere(t, base)) return nullptr;
    largest = base.leftCols(places).cwiseAbs().maxCoeff();
    const std::vector<MovingBody> start = displaced;
    for (int pose = 1; pose < poses; ++pose) {
      for (std::size_t b = 0; b < displaced.size(); ++b) {
        if (!bodies[b].by_motion) continue;
        displaced[b].p = start[b].p + largest * Vec3(draw(), draw(), draw());
        if (start[b].turns) displaced[b].R = Quat(2, draw(), draw(), draw()).normalized().toRotationMatrix() * start[b].R;
      }
      t = longest_time * draw();
      if (!look_everywhere(t, values)) return nullptr;
      largest = std::max(largest, values.leftCols(places).cwiseAbs().maxCoeff());
      D.middleRows((pose - 1) * count, count) = values - base;
    }
    for (Eigen::Index place = 0; place < halfway.cols(); ++place) {
      look(displaced, t, {grid.at(0, static_cast<int>(place)) + 0.5 * grid.step(0), 0});
      for (Eigen::Index k = 0; k < count; ++k) halfway(k, place) = look.derivative(k, 0);
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
      if (const double here = D.row(i).head(places).cwiseAbs().maxCoeff(&j); here > pivot) pivot = here, row = i, column = j;
    }
    if (!(pivot > no_term * largest)) break;
    if (std::ssize(pivots) == ParameterTable::most_terms) return nullptr;
    pivots.push_back(row);
    out.at.push_back(static_cast<int>(column));
    D.row(row) /= D(row, column);
    for (Eigen::Index i = 0; i < D.rows(); ++i)
      if (i != row && D(i, column) != 0) D.row(i) -= VecX(D.row(row) * D(i, column)).transpose();
  }
  out.base = base.leftCols(places).transpose();
  out.weights.resize(places, static_cast<Eigen::Index>(pivots.size()));
  for (std::size_t m = 0; m < pivots.size(); ++m)
    out.weights.col(static_cast<Eigen::Index>(m)) = D.row(pivots[m]).head(places).transpose();
  if (halfway.cols() == 0) return std::make_shared<const ParameterTable>(std::move(out));

  out.courses.resize(places, 3 * (count + out.terms()));
  const auto write_courses = [&](Eigen::Index column, const auto& row) {
    for (Eigen::Index order = 0; order < 3; ++order)
      out.courses.col(3 * column + order) = row.segment(order * places, places).transpose();
  };
  for (Eigen::Index k = 0; k < count; ++k) write_courses(k, base.row(k));
  for (int m = 0; m < out.terms(); ++m) write_courses(count + m, D.row(pivots[static_cast<std::size_t>(m)]));
  ParameterTable::Shares shares;
  for (int m = 0; m < out.terms(); ++m)
    for (Eigen::Index k = 0; k < count; ++k)
      shares(k, m) = values(k, out.at[static_cast<std::size_t>(m)]) - base(k, out.at[static_cast<std::size_t>(m)]);
  out.misses = 0;
  ParameterTable::Quintics course;
  for (Eigen::Index place = 0; place < halfway.cols(); ++place) {
    out.between(shares, static_cast<int>(place), grid.neighbour(static_cast<int>(place), 1, 0), course);
    for (Eigen::Index k = 0; k < count; ++k) {
      const std::array<double, 6>& c = course[static_cast<std::size_t>(k)];
      double there = 0;
      for (std::size_t power = 6; power-- > 0;) there = 0.5 * there + c[power];
      out.misses = std::max(out.misses, std::abs(there - halfway(k, place)));
    }
  }
  return std::make_shared<const ParameterTable>(std::move(out));
}

}  // namespace rotule
