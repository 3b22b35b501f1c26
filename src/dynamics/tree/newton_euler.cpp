#include <algorithm>

#include "dynamics/tree/recursions.h"
#include "math/sines.h"

namespace rotule {

ROTULE_WIDE void place_links(const Tree& tree, const double* q, LinkPoses& poses) {
  const std::size_t count = tree.links.size();
  poses.resize(count);
  LinkPose ground;
  ground.R = {Lanes3{1, 0, 0, 0}, Lanes3{0, 1, 0, 0}, Lanes3{0, 0, 1, 0}};
  // Hinges turn four at a time.
  for (std::size_t first = 0; first < count; first += 4) {
    const std::size_t end = std::min(first + 4, count);
    double angles[4] = {0, 0, 0, 0};
    for (std::size_t i = first; i < end; ++i)
      if (tree.links[i].kind == TreeLink::Kind::hinge) angles[i - first] = q[tree.links[i].position];
    const auto turns = sines_cosines(Lanes3{angles[0], angles[1], angles[2], angles[3]});
    for (std::size_t i = first; i < end; ++i) {
      const TreeLink& link = tree.links[i];
      const LinkPose& p = link.parent < 0 ? ground : poses[static_cast<std::size_t>(link.parent)];
      LinkPose& out = poses[i];
      const Matrix3Lanes F = times(p.R, link.E);
      const Lanes3 x = F.x, y = F.y, z = F.z;
      Lanes3 r = times(p.R, link.r);
      switch (link.kind) {
        case TreeLink::Kind::hinge: {
          const double c = turns.cos[i - first], s = turns.sin[i - first];
          out.z = z;
          out.R = {c * x + s * y, c * y - s * x, z};
          break;
        }
        case TreeLink::Kind::slider:
          out.z = z;
          out.R = F;
          r += q[link.position] * z;
          break;
        case TreeLink::Kind::ball: {
          const double* const e = q + link.position;
          const double two = 2, xx = e[0] * e[0], yy = e[1] * e[1], zz = e[2] * e[2], xy = e[0] * e[1], xz = e[0] * e[2],
                       yz = e[1] * e[2], wx = e[3] * e[0], wy = e[3] * e[1], wz = e[3] * e[2];
          // The rotation's columns; backwards, its rows.
          const double sign = link.reversed ? -1.0 : 1.0;
          const double columns[9] = {1 - two * (yy + zz),    two * (xy + sign * wz), two * (xz - sign * wy),
                                     two * (xy - sign * wz), 1 - two * (xx + zz),    two * (yz + sign * wx),
                                     two * (xz + sign * wy), two * (yz - sign * wx), 1 - two * (xx + yy)};
          out.R = {times(F, columns), times(F, columns + 3), times(F, columns + 6)};
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

ROTULE_WIDE void newton_euler(const Tree& tree, const LinkPoses& poses, const Vec3& gravity, const double* u, const double* udot,
                              const double* forces, LinkMotions& motions, double* tau) {
  motions.resize(tree.links.size());
  LinkMotion ground;
  ground.a = -lanes3(gravity);
  for (std::size_t i = 0; i < tree.links.size(); ++i) {
    const TreeLink& link = tree.links[i];
    const LinkMotion& p = link.parent < 0 ? ground : motions[static_cast<std::size_t>(link.parent)];
    const LinkPose& at = poses[i];
    LinkMotion& m = motions[i];
    Lanes3 w = p.w, dw = p.dw, a = p.a + cross3(p.dw, at.r) + cross3(p.w, cross3(p.w, at.r));
    const int k = link.velocity;
    switch (link.kind) {
      case TreeLink::Kind::hinge:
      case TreeLink::Kind::ball: {
        const bool hinge = link.kind == TreeLink::Kind::hinge;
        if (udot) dw += hinge ? udot[k] * at.z : times(at.B, udot + k);
        if (u) {
          const Lanes3 turn = hinge ? u[k] * at.z : times(at.B, u + k);
          dw += cross3(w, turn);
          w += turn;
        }
        break;
      }
      case TreeLink::Kind::slider:
        if (udot) a += udot[k] * at.z;
        if (u) a += cross3(w, 2 * u[k] * at.z);
        break;
      case TreeLink::Kind::weld:
        break;
    }
    m.w = w;
    m.dw = dw;
    m.a = a;
    if (link.mass > 0) {
      const Matrix3Lanes back = transposed(at.R);
      const Lanes3 spin = back * w, change = back * dw;
      Lanes3 f = link.mass * (a + cross3(dw, at.c) + cross3(w, cross3(w, at.c)));
      Lanes3 n = at.R * (times(link.I, change) + cross3(spin, times(link.I, spin)));
      if (forces) {
        f -= triple(forces + 6 * static_cast<std::ptrdiff_t>(link.body));
        n -= triple(forces + 6 * static_cast<std::ptrdiff_t>(link.body) + 3);
      }
      m.f = f;
      m.n = n + cross3(at.c, f);
    } else {
      m.f = m.n = Lanes3{};
    }
  }
  for (std::size_t i = tree.links.size(); i-- > 0;) {
    const TreeLink& link = tree.links[i];
    const LinkPose& at = poses[i];
    const LinkMotion& m = motions[i];
    if (link.kind == TreeLink::Kind::hinge) tau[link.velocity] = dot3(at.z, m.n);
    if (link.kind == TreeLink::Kind::slider) tau[link.velocity] = dot3(at.z, m.f);
    if (link.rotor > 0 && udot) tau[link.velocity] += link.rotor * udot[link.velocity];
    if (link.kind == TreeLink::Kind::ball) Eigen::Map<Vec3>(tau + link.velocity) = vec3(transposed_times(at.B, m.n));
    if (link.parent < 0) continue;
    LinkMotion& p = motions[static_cast<std::size_t>(link.parent)];
    p.f += m.f;
    p.n += m.n + cross3(at.r, m.f);
  }
}

}  // namespace rotule
