#pragma once
// The recursions that derivatives are taken of, over any number: doubles in lanes, and duals. recursions.h has those of doubles,
// compiled once.
#include <span>

#include "dynamics/tree/recursions.h"
#include "math/sines.h"

namespace rotule {

// What lanes are asked for, of Eigen's vectors.
template <class T>
ROTULE_LANES3_INLINE Eigen::Matrix<T, 3, 1> cross3(const Eigen::Matrix<T, 3, 1>& a, const Eigen::Matrix<T, 3, 1>& b) {
  return a.cross(b);
}
template <class T>
ROTULE_LANES3_INLINE T dot3(const Eigen::Matrix<T, 3, 1>& a, const Eigen::Matrix<T, 3, 1>& b) {
  return a.dot(b);
}
template <class T>
ROTULE_LANES3_INLINE Eigen::Matrix<T, 3, 1> transposed_times(const Eigen::Matrix<T, 3, 3>& m, const Eigen::Matrix<T, 3, 1>& v) {
  return m.transpose() * v;
}
template <class T>
ROTULE_LANES3_INLINE Eigen::Matrix<T, 3, 1> times(const Eigen::Matrix<T, 3, 3>& m, const T* v) {
  return m * Eigen::Map<const Eigen::Matrix<T, 3, 1>>(v);
}
template <class T>
ROTULE_LANES3_INLINE Eigen::Matrix<T, 3, 1> times(const Eigen::Matrix<T, 3, 3>& m, const Vec3& v) {
  return m * v.cast<T>();
}
template <class T>
ROTULE_LANES3_INLINE Eigen::Matrix<T, 3, 3> times(const Eigen::Matrix<T, 3, 3>& m, const Mat3& by) {
  return m * by.cast<T>();
}
template <class T>
ROTULE_LANES3_INLINE Eigen::Matrix<T, 3, 1> times(const Mat3& m, const Eigen::Matrix<T, 3, 1>& v) {
  return m.cast<T>() * v;
}

/// How numbers come into lanes or duals, and how matrices are taken apart.
template <class T>
struct LinkNumbers {
  using Vector = Vec3T<T>;
  using Matrix = Mat3T<T>;
  static Vector from(const double* v) { return Vec3(v[0], v[1], v[2]).cast<T>(); }
  static Matrix identity() { return Matrix::Identity(); }
  static Matrix of_columns(const Vector& x, const Vector& y, const Vector& z) {
    Matrix out;
    out << x, y, z;
    return out;
  }
  static Vector column(const Matrix& m, int k) { return m.col(k); }
  static Matrix transpose(const Matrix& m) { return m.transpose(); }
  static void store(const Vector& v, T* out) { std::copy_n(v.data(), 3, out); }

  struct Turns {
    T sin[4], cos[4];
  };
  static Turns turns(const T* x) {
    Turns out;
    for (int k = 0; k < 4; ++k) {
      out.sin[k] = sin(x[k]);
      out.cos[k] = cos(x[k]);
    }
    return out;
  }
};
template <>
struct LinkNumbers<double> {
  ROTULE_LANES3_INLINE static Lanes3 from(const double* v) { return Lanes3{v[0], v[1], v[2], 0}; }
  ROTULE_LANES3_INLINE static Matrix3Lanes identity() { return {Lanes3{1, 0, 0, 0}, Lanes3{0, 1, 0, 0}, Lanes3{0, 0, 1, 0}}; }
  ROTULE_LANES3_INLINE static Matrix3Lanes of_columns(const Lanes3& x, const Lanes3& y, const Lanes3& z) { return {x, y, z}; }
  ROTULE_LANES3_INLINE static Lanes3 column(const Matrix3Lanes& m, int k) { return k == 0 ? m.x : k == 1 ? m.y : m.z; }
  ROTULE_LANES3_INLINE static Matrix3Lanes transpose(const Matrix3Lanes& m) { return transposed(m); }
  ROTULE_LANES3_INLINE static void store(const Lanes3& v, double* out) {
    for (int k = 0; k < 3; ++k) out[k] = v[k];
  }
  ROTULE_LANES3_INLINE static SinesCosines turns(const double* x) { return sines_cosines(Lanes3{x[0], x[1], x[2], x[3]}); }
};

template <class T>
void place_links_of(const Tree& tree, const T* q, std::vector<LinkPose<T>>& poses) {
  using Of = LinkNumbers<T>;
  const std::size_t count = tree.links.size();
  poses.resize(count);
  LinkPose<T> ground;
  ground.R = Of::identity();
  // Hinges turn four at a time.
  for (std::size_t first = 0; first < count; first += 4) {
    const std::size_t end = std::min(first + 4, count);
    T angles[4] = {T(0), T(0), T(0), T(0)};
    for (std::size_t i = first; i < end; ++i)
      if (tree.links[i].kind == TreeLink::Kind::hinge) angles[i - first] = q[tree.links[i].position];
    const auto turns = Of::turns(angles);
    for (std::size_t i = first; i < end; ++i) {
      const TreeLink& link = tree.links[i];
      const LinkPose<T>& p = link.parent < 0 ? ground : poses[static_cast<std::size_t>(link.parent)];
      LinkPose<T>& out = poses[i];
      const Mat3T<T> F = times(p.R, link.E);
      const Vec3T<T> x = Of::column(F, 0), y = Of::column(F, 1), z = Of::column(F, 2);
      Vec3T<T> r = times(p.R, link.r);
      switch (link.kind) {
        case TreeLink::Kind::hinge: {
          const T c = turns.cos[i - first], s = turns.sin[i - first];
          out.z = z;
          out.R = Of::of_columns(c * x + s * y, c * y - s * x, z);
          break;
        }
        case TreeLink::Kind::slider:
          out.z = z;
          out.R = F;
          r += q[link.position] * z;
          break;
        case TreeLink::Kind::ball: {
          const T* const e = q + link.position;
          const T two(2), xx = e[0] * e[0], yy = e[1] * e[1], zz = e[2] * e[2], xy = e[0] * e[1], xz = e[0] * e[2],
                          yz = e[1] * e[2], wx = e[3] * e[0], wy = e[3] * e[1], wz = e[3] * e[2];
          // The rotation's columns; backwards, its rows.
          const T sign(link.reversed ? -1.0 : 1.0);
          const T columns[9] = {T(1) - two * (yy + zz), two * (xy + sign * wz), two * (xz - sign * wy),
                                two * (xy - sign * wz), T(1) - two * (xx + zz), two * (yz + sign * wx),
                                two * (xz + sign * wy), two * (yz - sign * wx), T(1) - two * (xx + yy)};
          out.R = Of::of_columns(times(F, columns), times(F, columns + 3), times(F, columns + 6));
          if (link.reversed)
            out.B = -out.R;
          else
            out.B = F;
          break;
        }
        case TreeLink::Kind::weld:
          out.R = F;
          break;
      }
      out.r = r;
      out.o = p.o + r;
      if (link.mass > 0) out.c = times(out.R, link.c);
    }
  }
}

template <class T>
void newton_euler_of(const Tree& tree, const std::vector<LinkPose<T>>& poses, const Vec3& gravity, const T* u, const T* udot,
                     const double* forces, std::vector<LinkMotion<T>>& motions, T* tau) {
  using Of = LinkNumbers<T>;
  motions.resize(tree.links.size());
  LinkMotion<T> ground;
  ground.a = -Of::from(gravity.data());
  for (std::size_t i = 0; i < tree.links.size(); ++i) {
    const TreeLink& link = tree.links[i];
    const LinkMotion<T>& p = link.parent < 0 ? ground : motions[static_cast<std::size_t>(link.parent)];
    const LinkPose<T>& at = poses[i];
    LinkMotion<T>& m = motions[i];
    Vec3T<T> w = p.w, dw = p.dw, a = p.a + cross3(p.dw, at.r) + cross3(p.w, cross3(p.w, at.r));
    const int k = link.velocity;
    switch (link.kind) {
      case TreeLink::Kind::hinge:
      case TreeLink::Kind::ball: {
        const bool hinge = link.kind == TreeLink::Kind::hinge;
        if (udot) dw += hinge ? Vec3T<T>(udot[k] * at.z) : times(at.B, udot + k);
        if (u) {
          const Vec3T<T> turn = hinge ? Vec3T<T>(u[k] * at.z) : times(at.B, u + k);
          dw += cross3(w, turn);
          w += turn;
        }
        break;
      }
      case TreeLink::Kind::slider:
        if (udot) a += udot[k] * at.z;
        if (u) a += cross3(w, Vec3T<T>((T(2) * u[k]) * at.z));
        break;
      case TreeLink::Kind::weld:
        break;
    }
    m.w = w;
    m.dw = dw;
    m.a = a;
    if (link.mass > 0) {
      const Mat3T<T> back = Of::transpose(at.R);
      const Vec3T<T> spin = back * w, change = back * dw;
      Vec3T<T> f = T(link.mass) * (a + cross3(dw, at.c) + cross3(w, cross3(w, at.c)));
      Vec3T<T> n = at.R * Vec3T<T>(times(link.I, change) + cross3(spin, times(link.I, spin)));
      if (forces) {
        f -= Of::from(forces + 6 * static_cast<std::ptrdiff_t>(link.body));
        n -= Of::from(forces + 6 * static_cast<std::ptrdiff_t>(link.body) + 3);
      }
      m.f = f;
      m.n = n + cross3(at.c, f);
    } else {
      m.f = m.n = Of::from(Vec3::Zero().eval().data());
    }
  }
  for (std::size_t i = tree.links.size(); i-- > 0;) {
    const TreeLink& link = tree.links[i];
    const LinkPose<T>& at = poses[i];
    const LinkMotion<T>& m = motions[i];
    if (link.kind == TreeLink::Kind::hinge) tau[link.velocity] = dot3(at.z, m.n);
    if (link.kind == TreeLink::Kind::slider) tau[link.velocity] = dot3(at.z, m.f);
    if (link.kind == TreeLink::Kind::ball) Of::store(transposed_times(at.B, m.n), tau + link.velocity);
    if (link.parent < 0) continue;
    LinkMotion<T>& p = motions[static_cast<std::size_t>(link.parent)];
    p.f += m.f;
    p.n += m.n + cross3(at.r, m.f);
  }
}

}  // namespace rotule
