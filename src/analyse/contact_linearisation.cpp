#include "analyse/contact_linearisation.h"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "linalg/decompositions.h"
#include "math/rotation.h"
#include "model/support.h"
#include "step/contact_finder.h"

namespace rotule {

namespace {

using Row12 = Eigen::Matrix<double, 1, 12>;
using Rows2 = Eigen::Matrix<double, 2, 12>;
using Rows3 = Eigen::Matrix<double, 3, 12>;
using Mat2 = Eigen::Matrix2d;
using Vec2 = Eigen::Vector2d;
using Tangents = Eigen::Matrix<double, 3, 2>;

constexpr double tilt = 1e-4;           // rad: by which a surface's normal is moved to see how it is curved
constexpr double flat_share = 100;      // of the body's size: a larger radius of curvature is none
constexpr double pressed_share = 1e-9;  // of the largest force: what presses less does not press

/// The part of a shape that has the point on its surface, and the point's frame.
const Shape& part_at(const Shape& shape, const Vec3& point, const Vec3& direction, Quat& turned) {
  const auto* compound = std::get_if<Compound>(&shape);
  if (!compound) return shape;
  const CompoundPart* best = nullptr;
  double nearest = infinity;
  for (const CompoundPart& part : compound->parts) {
    const Vec3 d = part.orientation.conjugate() * direction;
    const Vec3 x = part.position + part.orientation * support(part.shape, d);
    if (const double off = std::abs(direction.dot(x - point)); off < nearest) {
      nearest = off;
      best = &part;
    }
  }
  if (!best) return shape;
  turned = turned * best->orientation;
  return best->shape;
}

/// How a surface is curved where it is touched, along two tangents: radii of curvature, and the directions in which it is flat.
struct Curvature {
  Mat2 radii = Mat2::Zero();   // in the other directions
  Mat2 curved = Mat2::Zero();  // projects onto those
  int flat = 2;                // directions in which it is flat: none, `along`, or all
  Vec2 along = Vec2::UnitX();
};

/// By where the support function's point goes as the normal leans: nowhere at a corner, smoothly where it is round, and from end
/// to end of what is flat.
Curvature curvature(const Body& body, const Mat3& R, const Vec3& normal, const Tangents& T, const Vec3& point, double size) {
  Quat turned = Quat::Identity();
  const Shape& shape = part_at(body.shape, R.transpose() * point + body.center_of_mass, R.transpose() * normal, turned);
  if (std::holds_alternative<Plane>(shape) || std::holds_alternative<HeightField>(shape) ||
      std::holds_alternative<TriangleMesh>(shape))
    return {};
  const Mat3 to_world = R * turned.toRotationMatrix();
  // Half of what the point moves by, over the angle; a smaller lean besides decides between points that are equally far.
  const double sine = tilt / std::hypot(1.0, tilt);
  const auto swept = [&](const Vec2& lean, const Vec2& besides) {
    const auto at = [&](const Vec2& by) { return Vec3(to_world * support(shape, to_world.transpose() * (normal + T * by))); };
    return Vec2(T.transpose() * (at(tilt * lean + besides) - at(-tilt * lean + besides)) / (2 * sine));
  };
  constexpr double tie = 1e-3 * tilt;
  const double limit = flat_share * size;
  const Vec2 first = swept(Vec2::UnitX(), tie * Vec2::UnitY()), second = swept(Vec2::UnitY(), tie * Vec2::UnitX());
  const bool jumps = first.norm() > limit, jumps_too = second.norm() > limit;
  const double turn = first.x() * second.y() - first.y() * second.x();
  if (jumps && jumps_too && std::abs(turn) > 1e-3 * first.norm() * second.norm()) return {};
  Curvature out;
  if (!jumps && !jumps_too) {
    out.flat = 0;
    out.curved.setIdentity();
    out.radii << first, second;
    out.radii = 0.5 * (out.radii + out.radii.transpose()).eval();
    return out;
  }
  out.flat = 1;
  out.along = (jumps ? first : second).normalized();
  const Vec2 across(-out.along.y(), out.along.x());
  out.curved = across * across.transpose();
  out.radii = across.dot(swept(across, tie * out.along)) * out.curved;
  return out;
}

/// A touching pair as small motions see it.
struct Geometry {
  Vec3 n, r_a, r_b;
  Tangents T;
  Row12 J_n;        // of the gap
  Rows2 J_t, lean;  // of the touching points along the surfaces; of the normal
  Mat12 H;          // of the gap
  Rows3 point;      // displacement of the place of touch

  Geometry(const Model& model, const Kinematics& kinematics, const Contact& c) : n(c.normal) {
    r_a = c.point - 0.5 * c.gap * n - kinematics[c.a].p;  // each surface's own point: soft ones overlap
    r_b = c.point + 0.5 * c.gap * n - kinematics[c.b].p;
    T << c.tangent, c.bitangent;
    const Curvature a = curvature(model.bodies[c.a], kinematics[c.a].R, n, T, r_a, c.size);
    const Curvature b = curvature(model.bodies[c.b], kinematics[c.b].R, -n, T, r_b, c.size);

    Rows3 relative;
    relative << -Mat3::Identity(), skew(r_a), Mat3::Identity(), -skew(r_b);
    J_n = n.transpose() * relative;
    J_t = T.transpose() * relative;
    Rows2 omega_a = Rows2::Zero(), omega_b = Rows2::Zero();
    omega_a.middleCols<3>(3) = -T.transpose() * skew(n);
    omega_b.middleCols<3>(9) = -T.transpose() * skew(n);
    find_lean(a, b, omega_a, omega_b, c.size);

    // n . d to second order: each point on its own circle.
    const auto bend = [&](const Vec3& r) {
      return Mat3(0.5 * (n * r.transpose() + r * n.transpose()) - n.dot(r) * Mat3::Identity());
    };
    H.setZero();
    H.block<3, 3>(3, 3) = -bend(r_a);
    H.block<3, 3>(9, 9) = bend(r_b);
    const Rows2 off_a = lean - omega_a, off_b = lean - omega_b;
    H += lean.transpose() * J_t + J_t.transpose() * lean - c.gap * lean.transpose() * lean;
    H -= off_a.transpose() * a.radii * off_a + off_b.transpose() * b.radii * off_b;

    // The place of touch goes along a's surface where that is curved, along b's where it is not.
    Rows3 of_a = Rows3::Zero(), of_b = Rows3::Zero();
    of_a.leftCols<6>() << Mat3::Identity(), -skew(r_a);
    of_b.rightCols<6>() << Mat3::Identity(), -skew(r_b);
    const Rows2 along_a = T.transpose() * of_a + a.radii * off_a, along_b = T.transpose() * of_b - b.radii * off_b;
    point = n * (n.transpose() * of_b) + T * (a.curved * along_a + (Mat2::Identity() - a.curved) * along_b);
  }

 private:
  /// Where a side is flat the normal goes with it, a's first: of two flat sides the other has the corners. Else it is where the
  /// gap is greatest.
  void find_lean(const Curvature& a, const Curvature& b, const Rows2& omega_a, const Rows2& omega_b, double size) {
    lean = omega_a;
    if (a.flat == 2) return;
    lean = omega_b;
    if (b.flat == 2 && a.flat == 0) return;
    const Mat2 sum = a.radii + b.radii;
    const Rows2 pull = J_t + a.radii * omega_a + b.radii * omega_b;
    const double least = 1e-9 * size;  // two corners that meet have no normal of their own
    lean.setZero();
    if (a.flat == 0 && b.flat == 0) {
      if (sum.determinant() > least * least) lean = sum.inverse() * pull;
      return;
    }
    const Vec2 u = a.flat == 1 ? a.along : b.along, across(-u.y(), u.x());
    const Row12 pinned = u.transpose() * (a.flat == 1 ? omega_a : omega_b);
    Row12 other = Row12::Zero();
    if (a.flat == 1 && b.flat == 2)
      other = across.transpose() * omega_b;
    else if (const double crossed = across.dot(b.along); a.flat == 1 && b.flat == 1 && std::abs(crossed) > 1e-3)
      other = (b.along.transpose() * omega_b - b.along.dot(u) * pinned) / crossed;
    else if (const double stiff = across.dot(sum * across); stiff > least)
      other = (across.transpose() * pull - across.dot(sum * u) * pinned) / stiff;
    lean = u * pinned + across * other;
  }
};

/// A direction in which a contact acts on its bodies.
struct Direction {
  int contact = 0;
  Row12 J;
  bool normal = false;  // or the tangent of this number
  int number = 0;
};

void push(const Model& model, int body, const Vec6& force, VecX& forces) {
  if (body != world_body && model.movable(body)) forces.segment<6>(6 * body) += force;
}
void push(const Model& model, const Contact& c, const Row12& J, double force, VecX& forces) {
  push(model, c.a, force * J.head<6>().transpose(), forces);
  push(model, c.b, force * J.tail<6>().transpose(), forces);
}
double along(const Model& model, const Contact& c, const Row12& J, const VecX& u) {
  double out = 0;
  if (c.a != world_body && model.movable(c.a)) out += J.head<6>() * u.segment<6>(6 * c.a);
  if (c.b != world_body && model.movable(c.b)) out += J.tail<6>() * u.segment<6>(6 * c.b);
  return out;
}

/// The smallest forces that keep accelerations along the directions at zero.
VecX holding_forces(JointedMechanism& mechanism, std::span<const Contact> contacts, std::span<const Direction> directions,
                    const VecX& udot) {
  const Model& model = mechanism.model;
  const int count = static_cast<int>(directions.size());
  if (count == 0) return VecX(0);
  MatX S(count, count);
  VecX response;
  for (int k = 0; k < count; ++k) {
    response.setZero(model.velocity_count());
    push(model, contacts[directions[k].contact], directions[k].J, 1, response);
    mechanism.respond(response);
    for (int i = 0; i < count; ++i) S(i, k) = along(model, contacts[directions[i].contact], directions[i].J, response);
  }
  VecX b(count);
  for (int i = 0; i < count; ++i) b[i] = -along(model, contacts[directions[i].contact], directions[i].J, udot);
  constexpr double dependent = 1e-9;  // far above rounding, far below any contact that does something of its own
  return least_squares(0.5 * (S + S.transpose()), b, dependent);
}

}  // namespace

std::vector<ContactShare> linearise_contacts(JointedMechanism& mechanism, const State& s, double t,
                                             const LinearisationSettings& settings, VecX& udot, Linearisation& out) {
  const Model& model = mechanism.model;
  Recipe recipe = mechanism.recipe;
  if (std::holds_alternative<NoContactSettings>(recipe.contacts)) recipe.contacts = ConeContactSettings{};
  ContactFinder finder(model, recipe);
  std::vector<Contact> contacts;
  finder.refresh(s, recipe.dt, contacts);
  std::erase_if(contacts, [&](const Contact& c) { return c.law.stiffness > 0 ? c.gap >= 0 : !finder.touching(c); });

  mechanism.kinematics.update(model, s);
  std::vector<Geometry> geometry;
  for (const Contact& c : contacts) geometry.emplace_back(model, mechanism.kinematics, c);

  // What soft surfaces press with is known from how deep they are; the rest follows from the balance of forces. A contact that
  // does not press has no friction either: without those it is done again.
  std::vector<double> normal(contacts.size(), 0);
  std::vector<Vec2> tangential(contacts.size(), Vec2::Zero());
  std::vector<char> presses(contacts.size(), 1);
  std::vector<Direction> directions;
  for (bool changed = true; changed;) {
    changed = false;
    mechanism.contact_forces.setZero(model.velocity_count());
    directions.clear();
    for (int k = 0; k < static_cast<int>(contacts.size()); ++k) {
      if (!presses[k]) continue;
      const Contact& c = contacts[k];
      normal[k] = -c.law.stiffness * c.gap;
      if (c.law.stiffness > 0)
        push(model, c, geometry[k].J_n, normal[k], mechanism.contact_forces);
      else
        directions.push_back({k, geometry[k].J_n, true, 0});
      for (int i = 0; c.slides() && i < 2; ++i) directions.push_back({k, geometry[k].J_t.row(i), false, i});
    }
    mechanism.accelerations(t, s, udot);
    const VecX x = holding_forces(mechanism, contacts, directions, udot);
    for (std::size_t i = 0; i < directions.size(); ++i) {
      const auto& [k, J, across, number] = directions[i];
      (across ? normal[k] : tangential[k][number]) = x[static_cast<Eigen::Index>(i)];
      push(model, contacts[k], J, x[static_cast<Eigen::Index>(i)], mechanism.contact_forces);
    }
    // Who would have to pull lets go, one at a time, the strongest first; then all who bear nothing.
    if (contacts.empty()) break;
    const double largest = *std::max_element(normal.begin(), normal.end());
    const double weakest = *std::min_element(normal.begin(), normal.end());
    const double bearing = pressed_share * std::max(largest, -weakest);
    for (std::size_t k = 0; k < contacts.size(); ++k) {
      if (!presses[k] || normal[k] > bearing || (weakest < -bearing && normal[k] > weakest)) continue;
      presses[k] = 0;
      normal[k] = 0;
      changed = true;
    }
  }
  mechanism.accelerations(t, s, udot);

  std::vector<ContactShare> shares;
  for (std::size_t k = 0; k < contacts.size(); ++k) {
    const Contact& c = contacts[k];
    const Geometry& g = geometry[k];
    if (!presses[k]) {
      ++out.open_contacts;
      continue;
    }
    ++out.pressed_contacts;
    if (c.slides() && tangential[k].norm() > c.law.static_friction * normal[k] * (1 + 1e-6)) ++out.slipping_contacts;
    ContactShare share;
    share.a = c.a;
    share.b = c.b;
    const double stiffness = c.law.stiffness > 0 ? c.law.stiffness : settings.contact_stiffness;
    const double shear = settings.shear_ratio * stiffness;
    share.K = -normal[k] * g.H;
    std::vector<Row12> rows;
    if (stiffness > 0) {
      share.K += stiffness * g.J_n.transpose() * g.J_n;
      share.D += c.law.damping * g.J_n.transpose() * g.J_n;
    } else {
      rows.push_back(g.J_n);
    }
    if (c.slides()) {
      if (shear > 0)
        share.K += shear * g.J_t.transpose() * g.J_t;
      else
        for (int i = 0; i < 2; ++i) rows.emplace_back(g.J_t.row(i));
      // Friction leans with the surface, and acts where they touch.
      share.K += g.J_n.transpose() * (tangential[k].transpose() * g.lean);
      const Mat3 cross = skew(g.T * tangential[k]);
      Rows3 from_a = g.point, from_b = g.point;
      from_a.leftCols<3>() -= Mat3::Identity();
      from_b.middleCols<3>(6) -= Mat3::Identity();
      share.K.middleRows<3>(3) -= cross * from_a;
      share.K.middleRows<3>(9) += cross * from_b;
    }
    const auto turning = [&](const Vec3& axis) {
      Row12 row = Row12::Zero();
      row.segment<3>(3) = -axis.transpose();
      row.segment<3>(9) = axis.transpose();
      rows.push_back(row);
    };
    if (c.law.torsional_friction > 0) turning(g.n);
    if (c.law.rolling_friction > 0)
      for (int i = 0; i < 2; ++i) turning(g.T.col(i));
    share.J.resize(static_cast<Eigen::Index>(rows.size()), 12);
    for (std::size_t i = 0; i < rows.size(); ++i) share.J.row(static_cast<Eigen::Index>(i)) = rows[i];
    shares.push_back(share);
  }
  return shares;
}

}  // namespace rotule
