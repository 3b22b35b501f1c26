#include "fluid/kernel.h"

#include <algorithm>
#include <cmath>

#include "fluid/books.h"

namespace rotule {

bool GridKernel::covers(const Vec3& x) const {
  constexpr double rounding = 1e-9;  // cells
  for (const int a : layout_.axes) {
    const double at = (x[a] - layout_.lower[a]) / layout_.h[a];
    if (!std::isfinite(at) || (!layout_.periodic(a) && !(at >= -rounding && at <= layout_.n[a] + rounding))) return false;
  }
  return true;
}

GridKernel::Reach GridKernel::reach(int component, int axis, double x) const {
  Reach out;
  if (layout_.flat[axis]) {
    out.weight[0] = 1;
    return out;
  }
  const bool own = axis == component, periodic = layout_.periodic(axis);
  const int n = layout_.n[axis];
  const double h = layout_.h[axis], s = (x - layout_.lower[axis]) / h - (own ? 0.0 : 0.5);
  int middle = static_cast<int>(std::floor(s + 0.5));
  if (!periodic) middle = std::clamp(middle, 0, own ? n : n - 1);
  const double r = s - middle;
  out.weight = {0.5 * (0.5 - r) * (0.5 - r), 0.75 - r * r, 0.5 * (0.5 + r) * (0.5 + r)};
  out.slope = {(r - 0.5) / h, -2 * r / h, (r + 0.5) / h};
  for (int k = 0; k < 3; ++k) {
    const int at = middle - 1 + k;
    out.index[k] = (periodic ? ((at % n) + n) % n : at) * layout_.stride[axis];
    out.place[k] = layout_.lower[axis] + (at + (own ? 0.0 : 0.5)) * h;
  }
  if (periodic) return out;
  const auto move = [&](int from, int to, double times) {
    out.weight[to] += times * out.weight[from];
    out.slope[to] += times * out.slope[from];
    out.weight[from] = out.slope[from] = 0;
    out.index[from] = out.index[to];
  };
  for (int k = 0; k < 3; ++k) {
    const int at = middle - 1 + k;
    const bool high = 2 * at >= n;
    const FluidSide& side = layout_.sides[2 * static_cast<std::size_t>(axis) + (high ? 1 : 0)];
    const int beyond = own ? (high ? at - n : -at) : (high ? at - n + 1 : -at);  // 1: the first ghost
    if (beyond < 0 || (beyond == 0 && !own)) continue;
    const int image = high ? 2 * (n - (own ? 0 : 1)) + (own ? 0 : 1) - at : -at - (own ? 0 : 1), to = image - (middle - 1);
    if (own && side.kind == FluidBoundary::outflow) {
      if (beyond == 0)
        out.inside[k] = false;  // it moves, but books end before it
      else
        move(k, high ? k - 1 : k + 1, 1);
    } else if (own || side.kind == FluidBoundary::no_slip || side.kind == FluidBoundary::inflow) {
      out.held += (beyond == 0 ? 1 : 2) * out.weight[k];
      out.given = side.velocity[component];
      if (beyond == 0)
        out.weight[k] = out.slope[k] = 0;
      else
        move(k, to, -1);
    } else {
      move(k, to, 1);
    }
  }
  return out;
}

GridKernel::Reaches GridKernel::reaches(int component, const Vec3& x) const {
  return {reach(component, 0, x[0]), reach(component, 1, x[1]), reach(component, 2, x[2])};
}

double GridKernel::of_walls(const Reaches& reach) {
  double out = 0;
  for (const Reach& r : reach) out = r.held * r.given + (1 - r.held) * out;
  return out;
}

template <class F>
void GridKernel::visit(const Reaches& reach, const F& f) const {
  const auto counts = [&](int axis, int k) { return reach[axis].weight[k] != 0 || reach[axis].slope[k] != 0; };
  Cell k{};
  for (k[2] = 0; k[2] < 3; ++k[2]) {
    if (!counts(2, k[2])) continue;
    for (k[1] = 0; k[1] < 3; ++k[1]) {
      if (!counts(1, k[1])) continue;
      for (k[0] = 0; k[0] < 3; ++k[0])
        if (counts(0, k[0])) f(layout_.origin + reach[0].index[k[0]] + reach[1].index[k[1]] + reach[2].index[k[2]], k);
    }
  }
}

namespace {

template <class Reaches>
double weight_of(const Reaches& reach, const Cell& k) {
  return reach[0].weight[k[0]] * reach[1].weight[k[1]] * reach[2].weight[k[2]];
}

}  // namespace

Vec3 GridKernel::velocity(const Field3& u, const Vec3& x) const {
  Vec3 out = Vec3::Zero();
  for (const int c : layout_.axes) {
    const Reaches reach = reaches(c, x);
    double sum = of_walls(reach);
    visit(reach, [&](std::ptrdiff_t i, const Cell& k) { sum += weight_of(reach, k) * u[c][i]; });
    out[c] = sum;
  }
  return out;
}

Vec3 GridKernel::acceleration(const Field3& u, const std::vector<double>& p, double nu, const Vec3& x) const {
  Vec3 out = Vec3::Zero();
  for (const int c : layout_.axes) {
    const Reaches reach = reaches(c, x);
    visit(reach, [&](std::ptrdiff_t i, const Cell& k) {
      double here = -(p[i] - p[i - layout_.stride[c]]) / layout_.h[c];
      for (const int d : layout_.axes) {
        const std::ptrdiff_t t = layout_.stride[d];
        here += nu * (u[c][i + t] - 2 * u[c][i] + u[c][i - t]) / (layout_.h[d] * layout_.h[d]);
      }
      out[c] += weight_of(reach, k) * here;
    });
  }
  return out;
}

void GridKernel::push(Field3& u, const Vec3& x, const Vec3& impulse, const Vec3& couple, std::vector<PushedFace>& before,
                      Deposit& sum) const {
  const double mass = density_ * layout_.cell_volume;
  for (const int c : layout_.axes) {
    const Reaches reach = reaches(c, x);
    const int j = (c + 1) % 3, l = (c + 2) % 3;  // curl (M w) along c: d_j (M_l w) - d_l (M_j w), d by the face = -d by x
    double given = 0;
    visit(reach, [&](std::ptrdiff_t i, const Cell& k) {
      const auto sloped = [&](int a) {
        double out = reach[a].slope[k[a]];
        for (int b = 0; b < 3; ++b)
          if (b != a) out *= reach[b].weight[k[b]];
        return layout_.flat[a] ? 0.0 : out;
      };
      const double weight = weight_of(reach, k);
      const double push = weight * impulse[c] - 0.5 * (sloped(j) * couple[l] - sloped(l) * couple[j]), change = push / mass;
      before.push_back({c, i, u[c][i]});
      const double work = push * (u[c][i] + 0.5 * change);
      u[c][i] += change;
      if (!reach[c].inside[k[c]]) {
        sum.of_sides += weight * impulse[c] * u[c][i];
        return;
      }
      const Vec3 place = arm(layout_, {reach[0].place[k[0]], reach[1].place[k[1]], reach[2].place[k[2]]});
      given += push;
      sum.angular_momentum += push * place.cross(Vec3(Vec3::Unit(c)));
      sum.energy += work;
    });
    sum.momentum[c] += given;
    sum.of_sides += impulse[c] * of_walls(reach);
  }
}

}  // namespace rotule
