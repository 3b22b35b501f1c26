#include "mechanism/local_global.h"

#include <algorithm>
#include <array>
#include <map>

#include "model/wear.h"

namespace rotule {

LocalGlobal::LocalGlobal(const Model& model, const std::vector<int>& place, int rows)
    : rows_(rows), mass_(static_cast<std::size_t>(rows)), one_(rows) {
  std::map<std::array<int, 2>, std::array<double, 2>> sums;
  for (int n = 0; n < rows; ++n) sums[{n, n}] = {0, 0};
  for (std::size_t k = 0; k < place.size(); ++k)
    if (place[k] >= 0) mass_[static_cast<std::size_t>(place[k])] = model.particles.mass[k];
  const auto add = [&](int i, int j, double stiff, double lossy) {
    if (i < 0 || j < 0) return;
    auto& [k, d] = sums[{std::max(i, j), std::min(i, j)}];
    k += stiff;
    d += lossy;
  };
  const auto of = [&](int particle) { return particle < 0 ? -1 : place[static_cast<std::size_t>(particle)]; };
  const auto tie = [&](int a, int b, double stiff, double lossy) {
    add(of(a), of(a), stiff, lossy);
    add(of(b), of(b), stiff, lossy);
    add(of(a), of(b), -stiff, -lossy);
  };
  const Forces& forces = model.forces;
  const ParticleSprings& springs = forces.particle_springs;
  for (int n = 0; n < springs.count(); ++n) tie(springs.i[n], springs.j[n], springs.stiffness[n], springs.damping[n]);
  const auto held = [](const ForceEnd& end) { return end.kind == ForceEnd::Kind::particle ? end.index : -1; };
  for (const SpringForce& spring : forces.springs) tie(held(spring.a), held(spring.b), spring.stiffness, spring.damping);
  for (const PlaneForce& plane : forces.planes)
    for (int n = 0; n < rows; ++n) add(n, n, plane.stiffness, plane.damping);
  // As they were before anything flowed: the factor must not depend on when it is made.
  const Elements& elements = model.wear.untouched ? model.wear.untouched->elements : forces.elements;
  const auto fill = [&](const auto& corners, const auto& inverse_rest, double size, const ElasticModuli& m) {
    const auto Dim = inverse_rest.rows();
    const double stiff = size * (2 * m.mu + m.lambda);
    const auto gradient = [&](std::size_t p) {
      return p == 0 ? Eigen::VectorXd(-inverse_rest.colwise().sum().transpose())
                    : Eigen::VectorXd(inverse_rest.row(static_cast<Eigen::Index>(p) - 1).transpose());
    };
    for (std::size_t p = 0; p <= static_cast<std::size_t>(Dim); ++p)
      for (std::size_t q = 0; q <= p; ++q) {
        const double value = stiff * gradient(p).dot(gradient(q));
        add(of(corners[p]), of(corners[q]), value, m.viscosity * value);
      }
  };
  for (std::size_t n = 0; n < elements.tetrahedra.count(); ++n)
    fill(elements.tetrahedra.corners[n], elements.tetrahedra.inverse_rest[n], elements.tetrahedra.volume[n],
         elements.tetrahedra.moduli[n]);
  for (std::size_t n = 0; n < elements.membranes.count(); ++n)
    fill(elements.membranes.corners[n], elements.membranes.inverse_rest[n], elements.membranes.area[n],
         elements.membranes.moduli[n]);

  Graph graph;
  std::vector<std::vector<int>> neighbours(static_cast<std::size_t>(rows));
  for (const auto& [pair, value] : sums)
    if (pair[0] != pair[1]) {
      neighbours[static_cast<std::size_t>(pair[0])].push_back(pair[1]);
      neighbours[static_cast<std::size_t>(pair[1])].push_back(pair[0]);
    }
  std::vector<BlockLdlt::Node> nodes;
  graph.start.push_back(0);
  for (int n = 0; n < rows; ++n) {
    std::vector<int>& own = neighbours[static_cast<std::size_t>(n)];
    std::sort(own.begin(), own.end());
    graph.neighbours.insert(graph.neighbours.end(), own.begin(), own.end());
    graph.start.push_back(static_cast<int>(graph.neighbours.size()));
    nodes.push_back({n, 1, false});
  }
  std::vector<int> order;
  minimum_degree(graph, order);
  ldlt_.analyse(nodes, graph, order);
  for (const auto& [pair, value] : sums) {
    const auto [i, j] = pair;
    const bool later = ldlt_.position(i) >= ldlt_.position(j);
    pairs_.push_back({i, j, value[0], value[1], i == j ? ldlt_.offset(i) : ldlt_.offset(later ? i : j, later ? j : i)});
  }
}

void LocalGlobal::prepare(double g) {
  if (g == g_) return;
  g_ = g;
  std::vector<double>& values = ldlt_.values();
  std::fill(values.begin(), values.end(), 0.0);
  for (const Pair& pair : pairs_)
    values[static_cast<std::size_t>(pair.offset)] =
        g * g * pair.stiff + g * pair.lossy + (pair.i == pair.j ? mass_[static_cast<std::size_t>(pair.i)] : 0.0);
  ignored_.clear();
  ldlt_.factor(1e-14, ignored_);
}

void LocalGlobal::begin() { learnt_.clear(); }

void LocalGlobal::solve(VecX& x) {
  for (Eigen::Index axis = 0; axis < 3; ++axis) {
    for (Eigen::Index n = 0; n < rows_; ++n) one_[n] = x[3 * n + axis];
    ldlt_.solve(one_.data());
    for (Eigen::Index n = 0; n < rows_; ++n) x[3 * n + axis] = one_[n];
  }
}

void LocalGlobal::direction(const VecX& r, VecX& d) {
  d = r;
  shares_.resize(learnt_.size());
  for (std::size_t k = learnt_.size(); k-- > 0;) {
    shares_[k] = learnt_[k].share * learnt_[k].step.dot(d);
    d -= shares_[k] * learnt_[k].change;
  }
  solve(d);
  for (std::size_t k = 0; k < learnt_.size(); ++k)
    d += (shares_[k] - learnt_[k].share * learnt_[k].change.dot(d)) * learnt_[k].step;
}

void LocalGlobal::learn(const VecX& by, const VecX& change_of_r, int memory) {
  const double curvature = -by.dot(change_of_r);
  if (memory == 0 || !(curvature > 1e-12 * by.norm() * change_of_r.norm())) return;
  learnt_.push_back({by, -change_of_r, 1 / curvature});
  if (learnt_.size() > static_cast<std::size_t>(memory)) learnt_.pop_front();
}

}  // namespace rotule
