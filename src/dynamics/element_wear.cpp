#include "dynamics/element_wear.h"

#include <cmath>

#include "dynamics/forces/elastic_law.h"
#include "dynamics/forces/elasticity.h"
#include "dynamics/forces/gas.h"
#include "model/surface_volume.h"

namespace rotule {

namespace {

/// Von Mises' equivalent of Kirchhoff stresses, and the flow along it.
template <int Dim>
struct Equivalent {
  using Stretches = typename ElasticLaw<Dim>::Stretches;
  double stress = 0;
  Stretches flow;
  Equivalent(const ElasticModuli& m, const Stretches& s) {
    const Stretches tau = s.cwiseProduct(typename ElasticLaw<Dim>::Derivatives(m, s).first);
    const double mean = tau.sum() / 3;  // a sheet bears nothing across
    double squares = (tau.array() - mean).square().sum();
    if constexpr (Dim == 2) squares += mean * mean;
    stress = std::sqrt(1.5 * squares);
    flow = stress > 0 ? Stretches(1.5 / stress * (tau.array() - mean)) : Stretches(Stretches::Zero());
  }
};

/// Lets the element flow until it bears no more than it can; J per volume that it takes, 0 where it holds.
template <int Dim>
double flow_back(const ElasticModuli& m, const ElementLimit& limit, const typename ElasticLaw<Dim>::Gradient& F,
                 ElementWear& wear) {
  using Law = ElasticLaw<Dim>;
  using Stretches = typename Law::Stretches;
  const typename Law::Frame frame(F);
  if (!(frame.s.minCoeff() > Law::smallest_stretch)) return 0;  // flat or inside out: no logarithms
  const Equivalent<Dim> first(m, frame.s);
  const auto after = [&](double d) { return Stretches(frame.s.array() * (-d * first.flow.array()).exp()); };
  const auto beyond = [&](double d) {
    return Equivalent<Dim>(m, after(d)).stress - limit.yield - limit.hardening * (wear.flowed + d);
  };
  const double at_first = beyond(0);
  if (!(at_first > 1e-12 * limit.yield)) return 0;
  // By what it would be if stress fell evenly, doubled until it is too much; then by halving the doubt and false position.
  double low = 0, high = at_first / (3 * m.mu + limit.hardening), of_low = at_first, of_high = beyond(high);
  for (int tries = 0; of_high > 0; ++tries) {
    if (tries == 60) return 0;
    low = high;
    of_low = of_high;
    high *= 2;
    of_high = beyond(high);
  }
  for (int tries = 0; tries < 100 && high - low > 1e-14 * high && of_low > 1e-13 * limit.yield; ++tries) {
    const double by_line = low + (high - low) * of_low / (of_low - of_high);
    const double d = tries % 3 == 2 ? 0.5 * (low + high) : by_line;
    const double value = beyond(d);
    if (value > 0) {
      low = d;
      of_low = value;
    } else {
      high = d;
      of_high = value;
    }
    if (value == 0) low = d;
  }
  const double d = of_high == 0 ? high : low + (high - low) * of_low / (of_low - of_high);
  const Stretches s = after(d);
  const auto rest = frame.V * s.cwiseQuotient(frame.s).asDiagonal() * frame.V.transpose();
  if constexpr (Dim == 3) {
    wear.rest *= Mat3(rest);
  } else {
    const Mat2 before = wear.rest.topLeftCorner<2, 2>();
    wear.rest.topLeftCorner<2, 2>() = before * Mat2(rest);
  }
  wear.flowed += d;
  return typename Law::Derivatives(m, frame.s).energy - typename Law::Derivatives(m, s).energy;
}

template <int Dim, class Pool>
Eigen::Matrix<double, 3, Dim> edges_of(const Pool& pool, std::size_t n, const State& s) {
  Eigen::Matrix<double, 3, Dim> edges;
  const auto& corners = pool.corners[n];
  for (int k = 0; k < Dim; ++k)
    edges.col(k) = s.particle_position(corners[static_cast<std::size_t>(k) + 1]) - s.particle_position(corners[0]);
  return edges;
}

template <int Dim>
double largest_stretch(const Eigen::Matrix<double, 3, Dim>& F) {
  Eigen::SelfAdjointEigenSolver<Eigen::Matrix<double, Dim, Dim>> eigen;
  eigen.computeDirect(F.transpose() * F, Eigen::EigenvaluesOnly);
  return std::sqrt(eigen.eigenvalues()[Dim - 1]);
}

}  // namespace

Worn wear_out(Model& model, const State& s) {
  Worn out;
  const Elements& elements = model.forces.elements;
  const Elements& was = model.wear.untouched->elements;
  const auto look = [&]<int Dim>(const auto& pool, const auto& first_rest, double size, const ElementLimit& limit,
                                 ElementWear& wear) {
    const std::size_t n = limit.element;
    const Eigen::Matrix<double, 3, Dim> edges = edges_of<Dim>(pool, n, s);
    if (std::isfinite(limit.tear) && largest_stretch<Dim>(edges * first_rest[n]) > limit.tear) {
      wear.torn = 1;
      ++out.torn;
      return;
    }
    if (!std::isfinite(limit.yield)) return;
    if (const double taken = flow_back<Dim>(pool.moduli[n], limit, edges * pool.inverse_rest[n], wear); taken != 0) {
      out.yield += size * taken;
      ++out.flowed;
    }
  };
  for (std::size_t n = 0; n < elements.limits.size(); ++n) {
    const ElementLimit& limit = elements.limits[n];
    ElementWear& wear = model.wear.elements[n];
    if (wear.torn > 0) continue;
    if (limit.solid)
      look.template operator()<3>(elements.tetrahedra, was.tetrahedra.inverse_rest, elements.tetrahedra.volume[limit.element],
                                  limit, wear);
    else
      look.template operator()<2>(elements.membranes, was.membranes.inverse_rest, elements.membranes.area[limit.element], limit,
                                  wear);
  }
  if (out.flowed == 0 && out.torn == 0) return out;
  if (out.torn == 0) {
    apply_wear(model);
    return out;
  }
  const auto pumps = [&] {  // whose work is on no books while they work
    double sum = 0;
    for (const GasForce& gas : model.forces.gases)
      if (!gas.closed) sum += GasLaw(gas, enclosed_volume(gas.triangles, s)).energy;
    return sum;
  };
  const double before = elastic_potential(model, s) + gas_potential(model, s), pumped = pumps();
  apply_wear(model);
  out.pumped = pumps() - pumped;
  out.tearing = before + out.pumped - out.yield - elastic_potential(model, s) - gas_potential(model, s);
  return out;
}

}  // namespace rotule
