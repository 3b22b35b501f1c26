#include "dynamics/forces/gravitation.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "dynamics/forces/gravitation.cpp"  // NOLINT: how Highway compiles this file once per target
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "base/parallel.h"

HWY_BEFORE_NAMESPACE();
namespace rotule::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

/// Two vectors of targets against all sources, from target `first` on.
void field_on(Attractors& a, int first, double softening_squared) {
  const hn::ScalableTag<double> d;
  const auto lanes = hn::Lanes(d);
  const auto zero = hn::Zero(d), soft = hn::Set(d, softening_squared);
  const auto i = static_cast<std::size_t>(first);
  const auto x0 = hn::LoadU(d, &a.x[i]), x1 = hn::LoadU(d, &a.x[i + lanes]);
  const auto y0 = hn::LoadU(d, &a.y[i]), y1 = hn::LoadU(d, &a.y[i + lanes]);
  const auto z0 = hn::LoadU(d, &a.z[i]), z1 = hn::LoadU(d, &a.z[i + lanes]);
  auto gx0 = zero, gx1 = zero, gy0 = zero, gy1 = zero, gz0 = zero, gz1 = zero;
  for (std::size_t j = 0; j < static_cast<std::size_t>(a.count); ++j) {
    const auto xj = hn::Set(d, a.x[j]), yj = hn::Set(d, a.y[j]), zj = hn::Set(d, a.z[j]), mj = hn::Set(d, a.mass[j]);
    const auto dx0 = hn::Sub(xj, x0), dy0 = hn::Sub(yj, y0), dz0 = hn::Sub(zj, z0);
    const auto dx1 = hn::Sub(xj, x1), dy1 = hn::Sub(yj, y1), dz1 = hn::Sub(zj, z1);
    const auto r0 = hn::Add(hn::Add(hn::Mul(dx0, dx0), hn::Mul(dy0, dy0)), hn::Add(hn::Mul(dz0, dz0), soft));
    const auto r1 = hn::Add(hn::Add(hn::Mul(dx1, dx1), hn::Mul(dy1, dy1)), hn::Add(hn::Mul(dz1, dz1), soft));
    auto w0 = hn::Div(mj, hn::Mul(r0, hn::Sqrt(r0))), w1 = hn::Div(mj, hn::Mul(r1, hn::Sqrt(r1)));
    w0 = hn::IfThenZeroElse(hn::Eq(r0, zero), w0);
    w1 = hn::IfThenZeroElse(hn::Eq(r1, zero), w1);
    gx0 = hn::Add(gx0, hn::Mul(w0, dx0));
    gy0 = hn::Add(gy0, hn::Mul(w0, dy0));
    gz0 = hn::Add(gz0, hn::Mul(w0, dz0));
    gx1 = hn::Add(gx1, hn::Mul(w1, dx1));
    gy1 = hn::Add(gy1, hn::Mul(w1, dy1));
    gz1 = hn::Add(gz1, hn::Mul(w1, dz1));
  }
  hn::StoreU(gx0, d, &a.gx[i]);
  hn::StoreU(gx1, d, &a.gx[i + lanes]);
  hn::StoreU(gy0, d, &a.gy[i]);
  hn::StoreU(gy1, d, &a.gy[i + lanes]);
  hn::StoreU(gz0, d, &a.gz[i]);
  hn::StoreU(gz1, d, &a.gz[i + lanes]);
}

void potential_on(Attractors& a, int first, double softening_squared) {
  const hn::ScalableTag<double> d;
  const auto zero = hn::Zero(d), soft = hn::Set(d, softening_squared);
  const auto i = static_cast<std::size_t>(first);
  const auto x = hn::LoadU(d, &a.x[i]), y = hn::LoadU(d, &a.y[i]), z = hn::LoadU(d, &a.z[i]);
  auto sum = zero;
  for (std::size_t j = 0; j < static_cast<std::size_t>(a.count); ++j) {
    const auto dx = hn::Sub(hn::Set(d, a.x[j]), x), dy = hn::Sub(hn::Set(d, a.y[j]), y), dz = hn::Sub(hn::Set(d, a.z[j]), z);
    const auto r = hn::Add(hn::Add(hn::Mul(dx, dx), hn::Mul(dy, dy)), hn::Add(hn::Mul(dz, dz), soft));
    sum = hn::Add(sum, hn::IfThenZeroElse(hn::Eq(r, zero), hn::Div(hn::Set(d, a.mass[j]), hn::Sqrt(r))));
  }
  hn::StoreU(sum, d, &a.potential[i]);
}

template <class Kernel>
void for_all_targets(const Attractors& a, int step, int threads, Kernel&& kernel) {
  constexpr int batch = 128;  // targets per round, a multiple of two vectors of any machine
  parallel_for((a.count + batch - 1) / batch, threads, [&](int round) {
    for (int i = round * batch; i < std::min(a.count, (round + 1) * batch); i += step) kernel(i);
  });
}

void fields(Attractors& a, double softening, int threads) {
  const int step = 2 * static_cast<int>(hn::Lanes(hn::ScalableTag<double>()));
  for_all_targets(a, step, threads, [&](int i) { field_on(a, i, softening * softening); });
}

void potentials(Attractors& a, double softening, int threads) {
  const int step = static_cast<int>(hn::Lanes(hn::ScalableTag<double>()));
  for_all_targets(a, step, threads, [&](int i) { potential_on(a, i, softening * softening); });
}

}  // namespace
}  // namespace rotule::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rotule {

HWY_EXPORT(fields);
HWY_EXPORT(potentials);

void Attractors::resize(int n) {
  constexpr std::size_t padding = 64;  // two vectors of the widest machine that there is
  count = n;
  const std::size_t size = static_cast<std::size_t>(n) + padding;
  for (auto* v : {&x, &y, &z, &mass, &gx, &gy, &gz, &potential}) v->resize(size, 0.0);
}

void attract(Attractors& a, double constant, double softening, int threads) {
  HWY_DYNAMIC_DISPATCH(fields)(a, softening, threads);
  for (int i = 0; i < a.count; ++i) {
    a.gx[i] *= constant;
    a.gy[i] *= constant;
    a.gz[i] *= constant;
  }
}

void attract_potential(Attractors& a, double constant, double softening, int threads) {
  HWY_DYNAMIC_DISPATCH(potentials)(a, softening, threads);
  for (int i = 0; i < a.count; ++i) {
    if (softening > 0) a.potential[i] -= a.mass[i] / softening;  // its own
    a.potential[i] *= -constant;
  }
}

namespace {

void gather(const Model& model, const State& s, Attractors& a) {
  const int bodies = s.bodies();
  a.resize(bodies + s.particles());
  const auto put = [&](int i, const Vec3& p, double mass) {
    a.x[i] = p.x();
    a.y[i] = p.y();
    a.z[i] = p.z();
    a.mass[i] = mass;
  };
  for (int i = 0; i < bodies; ++i) put(i, s.p[i], model.bodies[i].attracting_mass);
  for (int k = 0; k < s.particles(); ++k) put(bodies + k, s.particle_position(k), model.particles.mass[k]);
}

}  // namespace

void add_gravitation(const Model& model, const State& s, int threads, Attractors& a, VecX& f) {
  for (const Gravitation& law : model.forces.gravitations) {
    gather(model, s, a);
    attract(a, law.constant, law.softening, threads);
    for (int i = 0; i < a.count; ++i)
      f.segment<3>(i < s.bodies() ? 6 * i : s.first(i - s.bodies())) += a.mass[i] * Vec3(a.gx[i], a.gy[i], a.gz[i]);
  }
}

double gravitation_potential(const Model& model, const State& s, int threads, Attractors& a) {
  double twice = 0;
  for (const Gravitation& law : model.forces.gravitations) {
    gather(model, s, a);
    attract_potential(a, law.constant, law.softening, threads);
    for (int i = 0; i < a.count; ++i) twice += a.mass[i] * a.potential[i];
  }
  return 0.5 * twice;
}

}  // namespace rotule
#endif
