#include "fluid/momentum.h"

#include "fluid/boundary.h"

namespace rotule {
namespace {

/// Along the component's own direction, with the pressure's gradient.
void own_direction(double* __restrict out, const double* u, const double* p, std::ptrdiff_t s, int length, double h, double nu) {
  const double advect = 0.25 / h, diffuse = nu / (h * h), gradient = 1 / h;
  for (int i = 0; i < length; ++i) {
    const double above = u[i + s] + u[i], below = u[i] + u[i - s];
    out[i] = advect * (below * below - above * above) + diffuse * (u[i + s] - 2 * u[i] + u[i - s]) - gradient * (p[i] - p[i - s]);
  }
}

/// Carried by component w along its axis of stride t; u's own axis has stride s.
void other_direction(double* __restrict out, const double* u, const double* w, std::ptrdiff_t s, std::ptrdiff_t t, int length,
                     double h, double nu) {
  const double advect = 0.25 / h, diffuse = nu / (h * h);
  for (int i = 0; i < length; ++i) {
    const double above = (w[i + t] + w[i + t - s]) * (u[i] + u[i + t]), below = (w[i] + w[i - s]) * (u[i] + u[i - t]);
    out[i] += advect * (below - above) + diffuse * (u[i + t] - 2 * u[i] + u[i - t]);
  }
}

}  // namespace

void momentum_rates(const GridLayout& layout, const Field3& u, const std::vector<double>& p, double nu, int threads,
                    Field3& rate) {
  for (const int c : layout.axes)
    for_rows(layout, layout.faces(c, false), threads, [&](std::ptrdiff_t start, int length, int) {
      double* out = rate[c].data() + start;
      const double* own = u[c].data() + start;
      own_direction(out, own, p.data() + start, layout.stride[c], length, layout.h[c], nu);
      for (const int d : layout.axes)
        if (d != c) other_direction(out, own, u[d].data() + start, layout.stride[c], layout.stride[d], length, layout.h[d], nu);
    });
  outflow_rates(layout, u, rate);
}

}  // namespace rotule
