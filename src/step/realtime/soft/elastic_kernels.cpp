// Elastic elements in lanes: where they are, what they exert, and how that changes with their corners.
#include "step/realtime/soft/elastic_rows.h"
#include "step/realtime/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "step/realtime/soft/elastic_kernels.cpp"  // NOLINT: how Highway compiles this file once per target
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "step/realtime/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rotule::realtime::HWY_NAMESPACE {
namespace {

constexpr float tiny = 1e-30F;
constexpr float smallest_stretch = 1e-6F;  // where sums of stretches stand in denominators
constexpr int jacobi_rounds = 4;           // after which three directions are found to a float's rounding

template <int Dim>
struct Square {
  Lanes at[Dim][Dim];
};

HWY_INLINE Vector fetch_triple(const std::vector<ParticleLine>& lines, const std::int32_t* which) {
  const Quad q = fetch([&](int i) { return lines[static_cast<std::size_t>(which[i])].at; });
  return {q.v[0], q.v[1], q.v[2]};
}

/// Lanes have no particle in common, but nobody, who gets nothing.
HWY_INLINE void add_triple(const Vector& more, std::vector<ParticleLine>& lines, const std::int32_t* which) {
  const auto at = [&](int i) { return lines[static_cast<std::size_t>(which[i])].at; };
  const Quad q = fetch(at);
  put_back({{q.v[0] + more.x, q.v[1] + more.y, q.v[2] + more.z, q.v[3]}}, at);
}

/// Turns the p-th and q-th direction into each other until C_pq is zero.
template <int Dim>
HWY_INLINE void turn_out(Square<Dim>& C, Square<Dim>& V, int p, int q) {
  const Lanes c = C.at[p][q] + C.at[p][q], d = C.at[q][q] - C.at[p][p];
  const Lanes t = hn::CopySign(all(1), d) * c / largest(hn::Abs(d) + root(d * d + c * c), all(tiny));
  const Lanes cosine = all(1) / root(all(1) + t * t), sine = t * cosine;
  C.at[p][p] = C.at[p][p] - t * C.at[p][q];
  C.at[q][q] = C.at[q][q] + t * C.at[p][q];
  C.at[p][q] = C.at[q][p] = none();
  for (int r = 0; r < Dim; ++r) {
    if (r != p && r != q) {
      const Lanes rp = C.at[r][p], rq = C.at[r][q];
      C.at[r][p] = C.at[p][r] = cosine * rp - sine * rq;
      C.at[r][q] = C.at[q][r] = sine * rp + cosine * rq;
    }
    const Lanes vp = V.at[r][p], vq = V.at[r][q];
    V.at[r][p] = cosine * vp - sine * vq;
    V.at[r][q] = sine * vp + cosine * vq;
  }
}

/// C = V diag V^T for symmetric C, which becomes diagonal (C. G. J. Jacobi 1846).
template <int Dim>
HWY_INLINE Square<Dim> directions_of(Square<Dim>& C) {
  Square<Dim> V;
  for (int i = 0; i < Dim; ++i)
    for (int j = 0; j < Dim; ++j) V.at[i][j] = all(i == j ? 1 : 0);
  for (int round = 0; round < (Dim == 3 ? jacobi_rounds : 1); ++round)
    for (int p = 0; p < Dim; ++p)
      for (int q = p + 1; q < Dim; ++q) turn_out<Dim>(C, V, p, q);
  return V;
}

/// What of it is positive.
template <int Dim>
HWY_INLINE Square<Dim> positive_part(Square<Dim> A) {
  const Square<Dim> V = directions_of<Dim>(A);
  Square<Dim> out;
  for (int i = 0; i < Dim; ++i)
    for (int j = 0; j < Dim; ++j) {
      out.at[i][j] = none();
      for (int k = 0; k < Dim; ++k) out.at[i][j] = out.at[i][j] + V.at[i][k] * largest(A.at[k][k], none()) * V.at[j][k];
    }
  return out;
}

HWY_INLINE Vector normalised(const Vector& v) { return v * (all(1) / root(largest(dot(v, v), all(tiny)))); }
HWY_INLINE Vector choose(Mask m, const Vector& yes, const Vector& no) {
  return {choose(m, yes.x, no.x), choose(m, yes.y, no.y), choose(m, yes.z, no.z)};
}
/// Some direction across n.
HWY_INLINE Vector across(const Vector& n) {
  const Mask steep = hn::Gt(hn::Abs(n.x), all(0.6F));
  return normalised(cross(n, {choose(steep, none(), all(1)), choose(steep, all(1), none()), none()}));
}

/// F by rotations and stretches; the smallest stretch of a solid is negative where it is inside out.
template <int Dim>
struct Stretched {
  Vector U[3];
  Square<Dim> V;
  Lanes s[Dim];
};

/// V stays a rotation.
template <int Dim>
HWY_INLINE void put_larger_first(Vector (&b)[Dim], Square<Dim>& V, int p, int q) {
  const Mask less = hn::Lt(dot(b[p], b[p]), dot(b[q], b[q]));
  const Vector first = choose(less, b[q], b[p]);
  b[q] = choose(less, b[p] * all(-1), b[q]);
  b[p] = first;
  for (int r = 0; r < Dim; ++r) {
    const Lanes vp = V.at[r][p], vq = V.at[r][q];
    V.at[r][p] = choose(less, vq, vp);
    V.at[r][q] = choose(less, none() - vp, vq);
  }
}

template <int Dim>
HWY_INLINE Stretched<Dim> stretches_of(const Vector (&F)[Dim]) {
  Stretched<Dim> out;
  Square<Dim> C;
  for (int i = 0; i < Dim; ++i)
    for (int j = 0; j < Dim; ++j) C.at[i][j] = dot(F[i], F[j]);
  out.V = directions_of<Dim>(C);
  Vector b[Dim];
  for (int j = 0; j < Dim; ++j) {
    b[j] = F[0] * out.V.at[0][j];
    for (int i = 1; i < Dim; ++i) b[j] = b[j] + F[i] * out.V.at[i][j];
  }
  put_larger_first<Dim>(b, out.V, 0, 1);
  if constexpr (Dim == 3) {
    put_larger_first<Dim>(b, out.V, 1, 2);
    put_larger_first<Dim>(b, out.V, 0, 1);
  }
  const Lanes square = dot(b[0], b[0]);
  out.U[0] = choose(hn::Gt(square, all(tiny)), normalised(b[0]), Vector{all(1), none(), none()});
  const Vector rest = b[1] - out.U[0] * dot(out.U[0], b[1]);
  out.U[1] = choose(hn::Gt(dot(rest, rest), all(1e-12F) * square), normalised(rest), across(out.U[0]));
  out.U[2] = cross(out.U[0], out.U[1]);
  for (int j = 0; j < Dim; ++j) out.s[j] = dot(out.U[j], b[j]);
  return out;
}

/// Derivatives of the energy per volume by stretches, as ElasticLaw::Derivatives has them.
template <int Dim>
struct Law {
  static constexpr int pairs = ElementRow<Dim>::pairs;
  Lanes first[Dim];
  Square<Dim> second;
  Lanes a[pairs], b[pairs];
};
constexpr int pair_first[3] = {0, 1, 2}, pair_second[3] = {1, 2, 0};

HWY_INLINE Lanes away_from_zero(Lanes x) { return choose(hn::Gt(hn::Abs(x), all(smallest_stretch)), x, all(smallest_stretch)); }

template <int Dim>
HWY_INLINE Law<Dim> neo_hookean(const Lanes (&s)[Dim], Lanes mu, Lanes lambda) {
  Law<Dim> out;
  Lanes J = s[0];
  for (int i = 1; i < Dim; ++i) J = J * s[i];
  const Lanes bulk = lambda + mu, c = bulk * (J - all(1)) - mu;
  Lanes others[Dim];
  for (int i = 0; i < Dim; ++i) others[i] = Dim == 3 ? s[(i + 1) % Dim] * s[(i + 2) % Dim] : s[(i + 1) % Dim];
  for (int i = 0; i < Dim; ++i) {
    out.first[i] = mu * s[i] + c * others[i];
    for (int j = 0; j < Dim; ++j) out.second.at[i][j] = bulk * others[i] * others[j];
    out.second.at[i][i] = out.second.at[i][i] + mu;
  }
  for (int k = 0; k < Law<Dim>::pairs; ++k) {
    const int i = pair_first[k], j = pair_second[k];
    const Lanes third = Dim == 3 ? c * s[(3 - i - j) % Dim] : c;
    out.second.at[i][j] = out.second.at[i][j] + third;
    out.second.at[j][i] = out.second.at[i][j];
    out.a[k] = mu - third;
    out.b[k] = mu + third;
  }
  return out;
}

template <int Dim>
HWY_INLINE Law<Dim> corotated(const Lanes (&s)[Dim], Lanes mu, Lanes lambda) {
  Law<Dim> out;
  Lanes dilation = s[0] - all(1);
  for (int i = 1; i < Dim; ++i) dilation = dilation + (s[i] - all(1));
  const Lanes twice = mu + mu;
  for (int i = 0; i < Dim; ++i) {
    out.first[i] = twice * (s[i] - all(1)) + lambda * dilation;
    for (int j = 0; j < Dim; ++j) out.second.at[i][j] = i == j ? lambda + twice : lambda;
  }
  for (int k = 0; k < Law<Dim>::pairs; ++k) {
    const int i = pair_first[k], j = pair_second[k];
    out.a[k] = twice;
    out.b[k] = (out.first[i] + out.first[j]) / away_from_zero(s[i] + s[j]);
  }
  return out;
}

template <int Dim>
HWY_INLINE Law<Dim> law_of(const ElementRow<Dim>& row, int first, bool any_corotated, const Lanes (&s)[Dim]) {
  const Lanes mu = load(row.mu, first), lambda = load(row.lambda, first);
  Law<Dim> out = neo_hookean<Dim>(s, mu, lambda);
  if (!any_corotated) return out;
  const Law<Dim> other = corotated<Dim>(s, mu, lambda);
  const Mask which = hn::Gt(load(row.corotated, first), none());
  for (int i = 0; i < Dim; ++i) {
    out.first[i] = choose(which, other.first[i], out.first[i]);
    for (int j = 0; j < Dim; ++j) out.second.at[i][j] = choose(which, other.second.at[i][j], out.second.at[i][j]);
  }
  for (int k = 0; k < Law<Dim>::pairs; ++k) {
    out.a[k] = choose(which, other.a[k], out.a[k]);
    out.b[k] = choose(which, other.b[k], out.b[k]);
  }
  return out;
}

/// -U Q g_k to the corners, and its opposite to the first.
template <int Dim>
HWY_INLINE void add_forces(const ElementRow<Dim>& row, int first, const Vector (&U)[3], const Lanes (&Q)[3][Dim],
                           const Lanes (&g)[Dim][Dim], float sign, std::vector<ParticleLine>& to) {
  Vector sum{none(), none(), none()};
  for (int k = 0; k < Dim; ++k) {
    Lanes local[3];
    for (int i = 0; i < 3; ++i) {
      local[i] = Q[i][0] * g[k][0];
      for (int j = 1; j < Dim; ++j) local[i] = local[i] + Q[i][j] * g[k][j];
    }
    const Vector f = (U[0] * local[0] + U[1] * local[1] + U[2] * local[2]) * all(sign);
    add_triple(f, to, row.corners[k + 1].lane + first);
    sum = sum - f;
  }
  add_triple(sum, to, row.corners[0].lane + first);
}

template <int Dim>
HWY_INLINE void linearise_elements(std::vector<ElementRow<Dim>>& all_rows, ElasticRows& rows, float h) {
  constexpr int pairs = ElementRow<Dim>::pairs;
  for (ElementRow<Dim>& row : all_rows)
    for (int first = 0; first < row_lanes; first += width) {
      // Columns of F, now and as the substep began.
      Vector F[Dim], F0[Dim];
      Lanes inverse[Dim][Dim];
      for (int i = 0; i < Dim; ++i)
        for (int j = 0; j < Dim; ++j) inverse[i][j] = load(row.inverse_rest[i * Dim + j], first);
      {
        const Vector x = fetch_triple(rows.moved, row.corners[0].lane + first),
                     x0 = fetch_triple(rows.begun, row.corners[0].lane + first);
        for (int j = 0; j < Dim; ++j) F[j] = F0[j] = {none(), none(), none()};
        for (int k = 0; k < Dim; ++k) {
          const Vector edge = load(row.edges[k], first);
          const Vector e = edge + (fetch_triple(rows.moved, row.corners[k + 1].lane + first) - x),
                       e0 = edge + (fetch_triple(rows.begun, row.corners[k + 1].lane + first) - x0);
          for (int j = 0; j < Dim; ++j) {
            F[j] = F[j] + e * inverse[k][j];
            F0[j] = F0[j] + e0 * inverse[k][j];
          }
        }
      }
      const Stretched<Dim> now = stretches_of<Dim>(F);
      const auto& s = now.s;
      const Law<Dim> law = law_of<Dim>(row, first, rows.corotated, s);
      // Gradients of shape functions along V.
      Lanes g[Dim][Dim];
      for (int k = 0; k < Dim; ++k)
        for (int j = 0; j < Dim; ++j) {
          g[k][j] = inverse[k][0] * now.V.at[0][j];
          for (int i = 1; i < Dim; ++i) g[k][j] = g[k][j] + inverse[k][i] * now.V.at[i][j];
          store(g[k][j], row.gradients[k * Dim + j], first);
        }
      for (int k = 0; k < 3; ++k) store(now.U[k], row.axes[k], first);
      const Lanes size = load(row.size, first) * all(h * h), slow = load(row.viscosity, first) * all(1 / h);
      const Lanes slow_mu = slow * load(row.mu, first), slow_lambda = slow * load(row.lambda, first);
      // The change of Green's strain within the substep so far.
      Lanes strain[Dim][Dim], trace = none();
      Vector along[Dim];  // U^T F_0 V, its columns before U^T
      for (int j = 0; j < Dim; ++j) {
        along[j] = F0[0] * now.V.at[0][j];
        for (int i = 1; i < Dim; ++i) along[j] = along[j] + F0[i] * now.V.at[i][j];
      }
      for (int i = 0; i < Dim; ++i) {
        for (int j = 0; j < Dim; ++j) strain[i][j] = all(-0.5F) * dot(along[i], along[j]);
        strain[i][i] = strain[i][i] + all(0.5F) * s[i] * s[i];
        trace = trace + strain[i][i];
      }
      Lanes Q[3][Dim];
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < Dim; ++j) {
          if (i >= Dim) {
            Q[i][j] = none();
            continue;
          }
          Lanes stress = all(2) * slow_mu * strain[i][j];
          if (i == j) stress = stress + slow_lambda * trace;
          Q[i][j] = s[i < Dim ? i : 0] * stress;
          if (i == j) Q[i][j] = Q[i][j] + law.first[i < Dim ? i : 0];
          Q[i][j] = Q[i][j] * size;
        }
      add_forces<Dim>(row, first, now.U, Q, g, -1, rows.left);
      const Square<Dim> second = positive_part<Dim>(law.second);
      for (int i = 0; i < Dim; ++i)
        store(size * (second.at[i][i] + (slow_mu + slow_mu + slow_lambda) * s[i] * s[i]), row.second[i], first);
      for (int k = 0; k < pairs; ++k) {
        const int i = pair_first[k], j = pair_second[k];
        const Lanes both = s[i] * s[j], a = largest(law.a[k], none()), b = largest(law.b[k], none());
        store(size * (second.at[i][j] + slow_lambda * both), row.second[Dim + k], first);
        const Lanes half_sum = all(0.5F) * (a + b);
        store(size * (half_sum + slow_mu * s[i] * s[i]), row.own[2 * k], first);
        store(size * (half_sum + slow_mu * s[j] * s[j]), row.own[2 * k + 1], first);
        store(size * (all(0.5F) * (a - b) + slow_mu * both), row.other[k], first);
      }
      if constexpr (Dim == 2)
        for (int j = 0; j < Dim; ++j) store(size * largest(law.first[j] / away_from_zero(s[j]), none()), row.across[j], first);
    }
}

template <int Dim>
HWY_INLINE void resist_elements(const std::vector<ElementRow<Dim>>& all_rows, ElasticRows& rows) {
  for (const ElementRow<Dim>& row : all_rows)
    for (int first = 0; first < row_lanes; first += width) {
      const Vector U[3] = {load(row.axes[0], first), load(row.axes[1], first), load(row.axes[2], first)};
      Lanes g[Dim][Dim], G[3][Dim], Q[3][Dim];
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < Dim; ++j) G[i][j] = none();
      const Vector d0 = fetch_triple(rows.way, row.corners[0].lane + first);
      for (int k = 0; k < Dim; ++k) {
        const Vector d = fetch_triple(rows.way, row.corners[k + 1].lane + first) - d0;
        const Lanes local[3] = {dot(U[0], d), dot(U[1], d), dot(U[2], d)};
        for (int j = 0; j < Dim; ++j) {
          g[k][j] = load(row.gradients[k * Dim + j], first);
          for (int i = 0; i < 3; ++i) G[i][j] = G[i][j] + local[i] * g[k][j];
        }
      }
      for (int i = 0; i < Dim; ++i) Q[i][i] = load(row.second[i], first) * G[i][i];
      for (int k = 0; k < ElementRow<Dim>::pairs; ++k) {
        const int i = pair_first[k], j = pair_second[k];
        const Lanes second = load(row.second[Dim + k], first), other = load(row.other[k], first);
        Q[i][i] = Q[i][i] + second * G[j][j];
        Q[j][j] = Q[j][j] + second * G[i][i];
        Q[i][j] = load(row.own[2 * k], first) * G[i][j] + other * G[j][i];
        Q[j][i] = load(row.own[2 * k + 1], first) * G[j][i] + other * G[i][j];
      }
      if constexpr (Dim == 2)
        for (int j = 0; j < Dim; ++j) Q[2][j] = load(row.across[j], first) * G[2][j];
      add_forces<Dim>(row, first, U, Q, g, 1, rows.resisted);
    }
}

/// The angle of (x, y), to 3e-8 (M. Abramowitz, I. A. Stegun, 4.4.49).
HWY_INLINE Lanes angle_of(Lanes y, Lanes x) {
  const Lanes up = hn::Abs(y), right = hn::Abs(x);
  const Mask steep = hn::Gt(up, right);
  const Lanes t = least(up, right) / largest(largest(up, right), all(tiny)), z = t * t;
  Lanes sum = all(0.0028662257F);
  for (const float c :
       {-0.0161657367F, 0.0429096138F, -0.0752896400F, 0.1065626393F, -0.1420889944F, 0.1999355085F, -0.3333314528F, 1.0F})
    sum = sum * z + all(c);
  Lanes angle = sum * t;
  angle = choose(steep, all(1.57079632679F) - angle, angle);
  angle = choose(hn::Lt(x, none()), all(3.14159265359F) - angle, angle);
  return hn::CopySign(angle, y);
}

/// What each edge's four corners are among the six of a triangle that bends: ends, what lies opposite on this side and on that.
constexpr int bend_ends[3][2] = {{1, 2}, {2, 0}, {0, 1}};

struct Hinge {
  Vector gradient[4];
};
HWY_INLINE Hinge hinge_of(const BendRow& row, int k, int first) {
  Hinge out;
  out.gradient[2] = load(row.near[k], first);
  out.gradient[3] = load(row.far[k], first);
  const Lanes near_foot = load(row.near_foot[k], first), far_foot = load(row.far_foot[k], first);
  out.gradient[0] = out.gradient[2] * (near_foot - all(1)) + out.gradient[3] * (far_foot - all(1));
  out.gradient[1] = (out.gradient[2] * near_foot + out.gradient[3] * far_foot) * all(-1);
  return out;
}

/// Adds `sign` times the gradients times these torques to the corners.
HWY_INLINE void add_torques(const BendRow& row, int first, const Hinge (&hinges)[3], const Lanes (&torque)[3], float sign,
                            std::vector<ParticleLine>& to) {
  Vector f[6];
  for (Vector& v : f) v = {none(), none(), none()};
  for (int k = 0; k < 3; ++k) {
    const Lanes t = torque[k] * all(sign);
    f[bend_ends[k][0]] = f[bend_ends[k][0]] + hinges[k].gradient[0] * t;
    f[bend_ends[k][1]] = f[bend_ends[k][1]] + hinges[k].gradient[1] * t;
    f[k] = f[k] + hinges[k].gradient[2] * t;
    f[3 + k] = hinges[k].gradient[3] * t;
  }
  for (int c = 0; c < 6; ++c) add_triple(f[c], to, row.corners[c].lane + first);
}

HWY_INLINE void times_stiffness(const Row (&C)[6], int first, const Lanes (&a)[3], Lanes (&out)[3]) {
  const Lanes c01 = load(C[1], first), c02 = load(C[2], first), c12 = load(C[4], first);
  out[0] = load(C[0], first) * a[0] + c01 * a[1] + c02 * a[2];
  out[1] = c01 * a[0] + load(C[3], first) * a[1] + c12 * a[2];
  out[2] = c02 * a[0] + c12 * a[1] + load(C[5], first) * a[2];
}

/// How far the angles change by ways of the corners.
HWY_INLINE void turned_by(const BendRow& row, int first, const Hinge (&hinges)[3], const std::vector<ParticleLine>& ways,
                          const std::vector<ParticleLine>* less, Lanes (&out)[3]) {
  Vector d[6];
  for (int c = 0; c < 6; ++c) {
    d[c] = fetch_triple(ways, row.corners[c].lane + first);
    if (less != nullptr) d[c] = d[c] - fetch_triple(*less, row.corners[c].lane + first);
  }
  for (int k = 0; k < 3; ++k)
    out[k] = dot(hinges[k].gradient[0], d[bend_ends[k][0]]) + dot(hinges[k].gradient[1], d[bend_ends[k][1]]) +
             dot(hinges[k].gradient[2], d[k]) + dot(hinges[k].gradient[3], d[3 + k]);
}

HWY_INLINE void linearise_bends(ElasticRows& rows, float h) {
  for (BendRow& row : rows.bends)
    for (int first = 0; first < row_lanes; first += width) {
      Vector x[6];
      const Vector x0 = fetch_triple(rows.moved, row.corners[0].lane + first);
      x[0] = {none(), none(), none()};
      for (int c = 1; c < 6; ++c)
        x[c] = load(row.edges[c - 1], first) + (fetch_triple(rows.moved, row.corners[c].lane + first) - x0);
      Lanes angles[3];
      for (int k = 0; k < 3; ++k) {
        const Vector base = x[bend_ends[k][0]], e = x[bend_ends[k][1]] - base, near = x[k] - base, far = x[3 + k] - base;
        const Vector n1 = cross(e, near), n2 = cross(far, e);
        const Lanes square = dot(e, e), length = root(square), over = all(1) / largest(square, all(tiny));
        angles[k] = angle_of(dot(cross(n1, n2), e) / largest(length, all(tiny)), dot(n1, n2)) - load(row.rest[k], first);
        const Lanes none_left = all(tiny);
        store(n1 * ((none() - length) / largest(dot(n1, n1), none_left)), row.near[k], first);
        store(n2 * ((none() - length) / largest(dot(n2, n2), none_left)), row.far[k], first);
        store(dot(near, e) * over, row.near_foot[k], first);
        store(dot(far, e) * over, row.far_foot[k], first);
      }
      const Hinge hinges[3] = {hinge_of(row, 0, first), hinge_of(row, 1, first), hinge_of(row, 2, first)};
      const Lanes slow = load(row.viscosity, first) * all(1 / h);
      Lanes turned[3], torque[3];
      turned_by(row, first, hinges, rows.moved, &rows.begun, turned);
      for (int k = 0; k < 3; ++k) angles[k] = (angles[k] + slow * turned[k]) * all(h * h);
      times_stiffness(row.stiffness, first, angles, torque);
      for (int k = 0; k < 6; ++k) store(load(row.stiffness[k], first) * (all(1) + slow) * all(h * h), row.firm[k], first);
      add_torques(row, first, hinges, torque, -1, rows.left);
    }
}

HWY_INLINE void resist_bends(ElasticRows& rows) {
  for (const BendRow& row : rows.bends)
    for (int first = 0; first < row_lanes; first += width) {
      const Hinge hinges[3] = {hinge_of(row, 0, first), hinge_of(row, 1, first), hinge_of(row, 2, first)};
      Lanes turned[3], torque[3];
      turned_by(row, first, hinges, rows.way, nullptr, turned);
      times_stiffness(row.firm, first, turned, torque);
      add_torques(row, first, hinges, torque, 1, rows.resisted);
    }
}

void linearise_in(ElasticRows& rows, float h) {
  linearise_elements<3>(rows.solids, rows, h);
  linearise_elements<2>(rows.sheets, rows, h);
  linearise_bends(rows, h);
}

void resist_in(ElasticRows& rows) {
  resist_elements<3>(rows.solids, rows);
  resist_elements<2>(rows.sheets, rows);
  resist_bends(rows);
}

}  // namespace
}  // namespace rotule::realtime::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rotule::realtime {

HWY_EXPORT(linearise_in);
HWY_EXPORT(resist_in);

void linearise(ElasticRows& rows, float h) { HWY_DYNAMIC_DISPATCH(linearise_in)(rows, h); }
void resist(ElasticRows& rows) { HWY_DYNAMIC_DISPATCH(resist_in)(rows); }

}  // namespace rotule::realtime
#endif
