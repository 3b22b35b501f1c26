#include "constraint/pool/contact.h"

#include <algorithm>
#include <cmath>

#include "collide/narrow/patch_lever.h"

namespace rotule {

SurfaceLaw combine(const SurfaceLaw& p, const SurfaceLaw& q) {
  SurfaceLaw out;
  out.friction = std::sqrt(p.friction * q.friction);
  out.static_friction = std::sqrt(p.static_friction * q.static_friction);
  out.restitution = std::max(p.restitution, q.restitution);
  out.rolling_friction = std::max(p.rolling_friction, q.rolling_friction);
  out.torsional_friction = std::max(p.torsional_friction, q.torsional_friction);
  if (p.stiffness > 0 && q.stiffness > 0) {
    out.stiffness = p.stiffness * q.stiffness / (p.stiffness + q.stiffness);
    out.damping = out.stiffness * (p.damping / p.stiffness + q.damping / q.stiffness);
  } else if (p.stiffness > 0 || q.stiffness > 0) {
    out.stiffness = std::max(p.stiffness, q.stiffness);
    out.damping = p.stiffness > 0 ? p.damping : q.damping;
  }
  return out;
}

SurfaceLaw surface_between(const Model& model, int a, int b) {
  const Body &A = model.bodies[a], &B = model.bodies[b];
  return surface_between(model, A.surface, A.material, B.surface, B.material);
}

SurfaceLaw surface_between(const Model& model, const SurfaceLaw& p, int material_p, const SurfaceLaw& q, int material_q) {
  SurfaceLaw out = combine(p, q);
  if (model.surface_pairs.empty()) return out;
  const auto [first, second] = std::minmax(material_p, material_q);
  for (const SurfacePair& pair : model.surface_pairs) {
    if (pair.a != first || pair.b != second) continue;
    if (pair.friction) out.friction = out.static_friction = *pair.friction;
    if (pair.static_friction) out.static_friction = *pair.static_friction;
    if (pair.restitution) out.restitution = *pair.restitution;
  }
  return out;
}

void write_given(const Model& model, const Kinematics& bodies, Contact& c) {
  c.given.setZero();
  c.belt.setZero();
  const auto side = [&](int i, const Vec3& on_body, double sign) {
    const BodyLanes<double>& body = bodies[i];
    if (const Vec3& belt = model.bodies[i].surface_velocity; !belt.isZero(0)) {
      const Vec3 v = body.R * belt;
      c.belt += sign * (v - c.normal.dot(v) * c.normal);
    }
    if (!model.bodies[i].kinematic) return;
    const Vec3 r = c.met ? Vec3(body.R * on_body) : Vec3(c.point - body.p);
    const Vec3 v = sign * (body.v + body.omega.cross(r)), dragged = sign * (body.v + body.omega.cross(r + c.drag)),
               omega = sign * body.omega;
    int row = 0;
    c.given[row++] += c.normal.dot(v);
    if (c.slides()) {
      c.given[row++] += c.tangent.dot(dragged);
      c.given[row++] += c.bitangent.dot(dragged);
    }
    if (c.law.torsional_friction > 0) c.given[row++] += c.normal.dot(omega);
    if (c.law.rolling_friction > 0) {
      c.given[row++] += c.tangent.dot(omega);
      c.given[row++] += c.bitangent.dot(omega);
    }
  };
  side(c.a, c.on_a, -1);
  side(c.b, c.on_b, 1);
  if (c.slides()) {
    c.given[1] += c.tangent.dot(c.belt);
    c.given[2] += c.bitangent.dot(c.belt);
  }
}

namespace {

/// A tangent that depends on the normal alone and changes smoothly with it almost everywhere (Duff et al. 2017).
Vec3 tangent_of(const Vec3& n) {
  const double sign = std::copysign(1.0, n.z());
  const double a = -1 / (sign + n.z());
  return {1 + sign * n.x() * n.x() * a, sign * n.x() * n.y() * a, -sign * n.x()};
}

std::uint64_t feature_of(const Manifold& m, std::uint32_t point) {
  // Parts and triangles are few; what matters is that two points of one pair never share a number.
  std::uint64_t out = static_cast<std::uint32_t>(m.part_a);
  for (const int part : {m.part_b, m.triangle_a, m.triangle_b})
    out = out * 0x9e3779b97f4a7c15ull + static_cast<std::uint32_t>(part);
  return out * 0x9e3779b97f4a7c15ull + point;
}

}  // namespace

// At the mean distance of all points of the patch from its middle. Points that are not down yet, or a body that stands on two of
// them, make no patch of all four.
std::array<Vec3, Manifold::capacity> drags(const Manifold& m) {
  std::array<Vec3, Manifold::capacity> out, place;
  out.fill(Vec3::Zero());
  const double low = m.gap();
  double extent = 0;
  for (int i = 0; i < m.count; ++i) {
    place[i] = 0.5 * (m.points[i].on_a + m.points[i].on_b);
    extent = std::max(extent, (place[i] - place[0]).norm());
  }
  const double flat = flat_patch * extent;
  if (m.count < 2 || low > flat) return out;
  const Vec3 tangent = tangent_of(m.normal), bitangent = m.normal.cross(tangent);
  std::array<PatchPoint, Manifold::capacity> points;
  int count = 0;
  double touching = 0;
  const auto is_down = [&](int i) { return m.points[i].gap <= low + flat; };
  for (int i = 0; i < m.count; ++i)
    if (is_down(i)) points[count++] = {tangent.dot(place[i] - place[0]), bitangent.dot(place[i] - place[0])};
  PatchLever patch = patch_lever(points.data(), count);
  if (m.lever > 0 && count == m.count) patch.lever = m.lever;
  const Vec3 center = place[0] + patch.center.x * tangent + patch.center.y * bitangent;
  const auto outwards = [&](int i) {
    const Vec3 from = place[i] - center;
    return Vec3(from - m.normal.dot(from) * m.normal);
  };
  for (int i = 0; i < m.count; ++i)
    if (is_down(i)) touching += outwards(i).norm() / count;
  if (!(touching > 0)) return out;
  // Nearer to the middle, never further out: of corners that nearly coincide the ratio says nothing.
  const double share = std::clamp(patch.lever / touching, 0.0, 1.0) - 1;
  for (int i = 0; i < m.count; ++i)
    if (is_down(i)) out[i] = share * outwards(i);
  return out;
}

void append_contacts(const Manifold& m, const Model& model, const Kinematics& bodies, std::vector<Contact>& out) {
  const BodyLanes<double>&A = bodies[m.body_a], &B = bodies[m.body_b];
  const SurfaceLaw law = surface_between(model, m.body_a, m.body_b);
  const Vec3 tangent = tangent_of(m.normal), bitangent = m.normal.cross(tangent);
  const std::size_t first = out.size();
  for (int i = 0; i < m.count; ++i) {
    const ContactPoint& point = m.points[i];
    Contact& c = out.emplace_back();
    c.a = m.body_a;
    c.b = m.body_b;
    c.feature = feature_of(m, point.feature);
    c.normal = m.normal;
    c.tangent = tangent;
    c.bitangent = bitangent;
    c.point = 0.5 * (point.on_a + point.on_b);
    c.on_a = A.R.transpose() * (point.on_a - A.p);
    c.on_b = B.R.transpose() * (point.on_b - B.p);
    c.gap = point.gap;
    c.law = law;
  }
  if (law.static_friction > 0) {
    const auto drag = drags(m);
    for (int i = 0; i < m.count; ++i) out[first + static_cast<std::size_t>(i)].drag = drag[i];
  }
  if (model.has_kinematic() || model.belt_count > 0)
    for (Contact& c : std::span(out).subspan(first)) write_given(model, bodies, c);
}

double penetration(std::span<const Contact> contacts) {
  double deepest = 0;
  for (const Contact& c : contacts) deepest = std::max(deepest, -c.gap);
  return deepest;
}

double gap_now(const Contact& c, const Kinematics& bodies) {
  const BodyLanes<double>&A = bodies[c.a], &B = bodies[c.b];
  return gap_along<double>(c.normal, A, B, c.on_a, c.on_b);
}

void write_jacobian(const Contact& c, const Kinematics& bodies, const ConstraintBlock& block, ConstraintProblem& problem) {
  const BodyLanes<double>&A = bodies[c.a], &B = bodies[c.b];
  const Vec3 point = touching_point<double>(A, B, c.on_a, c.on_b);
  const auto side = [&](const BodyLanes<double>& body, const Vec3& on_body, double sign, JacobianRows& J) {
    const Vec3 r = c.met ? Vec3(body.R * on_body) : Vec3(point - body.p);
    int row = block.first_row;
    const auto put = [&](const RowSide<double>& share) {
      J.row(row).head<3>() = share.linear;
      J.row(row++).tail<3>() = share.angular;
    };
    const auto linear = [&](const Vec3& d, const Vec3& arm) { put(velocity_along<double>(d, arm, sign)); };
    const auto angular = [&](const Vec3& d) { put(turn_about<double>(d, sign)); };
    linear(c.normal, r);
    if (block.rows == 1) return;
    if (c.slides()) linear(c.tangent, r + c.drag), linear(c.bitangent, r + c.drag);
    if (c.law.torsional_friction > 0) angular(c.normal);
    if (c.law.rolling_friction > 0) angular(c.tangent), angular(c.bitangent);
  };
  if (block.body_a >= 0) side(A, c.on_a, -1, problem.J_a);
  if (block.body_b >= 0) side(B, c.on_b, 1, problem.J_b);
}

void write_laws(const Contact& c, bool cone, const ConstraintBlock& block, ConstraintProblem& problem) {
  const int normal = block.first_row;
  problem.lower[normal] = 0;
  int row = normal + 1;
  const auto group = [&](int count, double mu, bool as_cone) {
    problem.friction.push_back({row, count, normal, as_cone, mu});
    row += count;
  };
  if (c.slides()) group(2, c.friction(), cone);
  if (c.law.torsional_friction > 0) group(1, c.law.torsional_friction, true);
  if (c.law.rolling_friction > 0) group(2, c.law.rolling_friction, true);
}

}  // namespace rotule
