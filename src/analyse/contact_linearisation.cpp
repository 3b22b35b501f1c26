#include "analyse/contact_linearisation.h"

#include <rotule/solvers/auto.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "base/spans.h"
#include "math/rotation.h"
#include "model/support.h"
#include "solve/solve.h"
#include "step/contact_finder.h"

namespace rotule {

namespace {

using Vec12 = Eigen::Matrix<double, 12, 1>;
using Row12 = Eigen::Matrix<double, 1, 12>;
using Rows2 = Eigen::Matrix<double, 2, 12>;
using Rows3 = Eigen::Matrix<double, 3, 12>;
using Mat2 = Eigen::Matrix2d;

constexpr double tilt = 1e-4;           // rad: by which a surface's normal is moved to see how it is curved
constexpr double flat_share = 100;      // of the body's size: a larger radius of curvature is none
constexpr double pressed_share = 1e-9;  // of the largest force: what presses less does not press
constexpr double shared_evenly = 1e-9;  // of a row's own answer: compliance by which forces that are not unique are shared

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

/// Radii of curvature of a body's surface where its outward normal is `normal`, along the tangents.
Mat2 curvature_radii(const Body& body, const Mat3& R, const Vec3& normal, const Eigen::Matrix<double, 3, 2>& T,
                     const Vec3& point) {
  Quat turned = Quat::Identity();
  const Shape& shape = part_at(body.shape, R.transpose() * point + body.center_of_mass, R.transpose() * normal, turned);
  if (std::holds_alternative<Plane>(shape) || std::holds_alternative<HeightField>(shape) ||
      std::holds_alternative<TriangleMesh>(shape))
    return Mat2::Constant(infinity);
  const Mat3 to_world = R * turned.toRotationMatrix();
  const auto at = [&](const Vec3& n) { return Vec3(to_world * support(shape, to_world.transpose() * n)); };
  Mat2 W;
  for (int k = 0; k < 2; ++k)
    W.col(k) = T.transpose() * (at(normal + tilt * T.col(k)) - at(normal - tilt * T.col(k))) / (2 * tilt);
  return 0.5 * (W + W.transpose());
}

/// A touching pair as small motions see it.
struct Geometry {
  Vec3 n, r_a, r_b;
  Eigen::Matrix<double, 3, 2> T;
  Rows3 relative;  // displacement of b's touching point less that of a's
  Row12 J_n;
  Rows2 J_t, lean;  // the latter: of the normal
  Mat12 H;          // of the gap
  Rows3 point;      // displacement of the place of touch

  Geometry(const Model& model, const Kinematics& kinematics, const Contact& c) : n(c.normal) {
    const BodyLanes<double>&A = kinematics[c.a], &B = kinematics[c.b];
    r_a = c.point - A.p;
    r_b = c.point - B.p;
    T << c.tangent, c.bitangent;
    const auto radii = [&](int body, const Vec3& normal, const Vec3& r) {
      if (body == world_body) return Mat2(Mat2::Constant(infinity));
      return curvature_radii(model.bodies[body], kinematics[body].R, normal, T, r);
    };
    Mat2 W_a = radii(c.a, n, r_a), W_b = radii(c.b, -n, r_b);

    // Along the directions in which the surfaces are curved most and least.
    const double limit = flat_share * std::max(c.size, 1e-300);
    const auto flat_all = [&](const Mat2& W) { return !(W(0, 0) < limit) && !(W(1, 1) < limit); };
    const Mat2& telling = flat_all(W_a) ? W_b : W_a;
    if (telling.allFinite()) {
      const Mat2 axes = Eigen::SelfAdjointEigenSolver<Mat2>(telling).eigenvectors();
      T = T * axes;
      if (W_a.allFinite()) W_a = axes.transpose() * W_a * axes;
      if (W_b.allFinite()) W_b = axes.transpose() * W_b * axes;
    }
    std::array<bool, 2> flat_a{}, flat_b{};
    for (int k = 0; k < 2; ++k) {
      flat_a[k] = !(W_a(k, k) < limit);
      flat_b[k] = !(W_b(k, k) < limit) && !flat_a[k];  // of two flat sides one has the corners
    }
    const auto bounded = [&](Mat2& W, double flat_limit) {
      for (int k = 0; k < 2; ++k)
        if (!(W(k, k) < flat_limit)) {
          W.row(k).setZero();
          W.col(k).setZero();
        }
    };
    bounded(W_a, limit);
    bounded(W_b, limit);

    relative << -Mat3::Identity(), skew(r_a), Mat3::Identity(), -skew(r_b);
    J_n = n.transpose() * relative;
    J_t = T.transpose() * relative;
    Rows2 omega_a = Rows2::Zero(), omega_b = Rows2::Zero();
    omega_a.middleCols<3>(3) = -T.transpose() * skew(n);
    omega_b.middleCols<3>(9) = -T.transpose() * skew(n);
    find_lean(W_a, W_b, flat_a, flat_b, omega_a, omega_b, c.size);

    // n . d to second order: each point on its own circle.
    const auto bend = [&](const Vec3& r) {
      return Mat3(0.5 * (n * r.transpose() + r * n.transpose()) - n.dot(r) * Mat3::Identity());
    };
    H.setZero();
    H.block<3, 3>(3, 3) = -bend(r_a);
    H.block<3, 3>(9, 9) = bend(r_b);
    const Rows2 off_a = lean - omega_a, off_b = lean - omega_b;
    H += lean.transpose() * J_t + J_t.transpose() * lean - off_a.transpose() * W_a * off_a - off_b.transpose() * W_b * off_b;

    Rows3 of_a = Rows3::Zero(), of_b = Rows3::Zero();
    of_a.leftCols<6>() << Mat3::Identity(), -skew(r_a);
    of_b.rightCols<6>() << Mat3::Identity(), -skew(r_b);
    const Rows2 along_a = T.transpose() * of_a + W_a * off_a, along_b = T.transpose() * of_b - W_b * off_b;
    point = n * (n.transpose() * of_b);
    for (int k = 0; k < 2; ++k) point += T.col(k) * (flat_a[k] ? along_b.row(k) : along_a.row(k));
  }

 private:
  /// Where a side is flat the normal goes with it; elsewhere it is where the gap is greatest.
  void find_lean(const Mat2& W_a, const Mat2& W_b, const std::array<bool, 2>& flat_a, const std::array<bool, 2>& flat_b,
                 const Rows2& omega_a, const Rows2& omega_b, double size) {
    const Mat2 sum = W_a + W_b;
    const Rows2 pull = J_t + W_a * omega_a + W_b * omega_b;
    lean.setZero();
    std::array<bool, 2> known{};
    for (int k = 0; k < 2; ++k) {
      known[k] = flat_a[k] || flat_b[k];
      if (flat_a[k]) lean.row(k) = omega_a.row(k);
      if (flat_b[k]) lean.row(k) = omega_b.row(k);
    }
    const double least = 1e-9 * size;  // two corners that meet have no normal of their own
    if (!known[0] && !known[1]) {
      if (sum.determinant() > least * least) lean = sum.inverse() * pull;
      return;
    }
    for (int k = 0; k < 2; ++k)
      if (!known[k] && sum(k, k) > least) lean.row(k) = (pull.row(k) - sum(k, 1 - k) * lean.row(1 - k)) / sum(k, k);
  }
};

/// A direction in which a contact acts on its bodies.
struct Direction {
  int contact = 0;
  Row12 J;
  bool normal = false;
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

/// Forces that keep accelerations along the directions at zero, normal ones pushing alone.
VecX holding_forces(JointedMechanism& mechanism, std::span<const Contact> contacts, std::span<const Direction> directions,
                    const VecX& udot) {
  const Model& model = mechanism.model;
  const int count = static_cast<int>(directions.size());
  VecX x = VecX::Zero(count);
  if (count == 0) return x;
  MatX S(count, count);
  VecX response;
  for (int k = 0; k < count; ++k) {
    response.setZero(model.velocity_count());
    push(model, contacts[directions[k].contact], directions[k].J, 1, response);
    mechanism.respond(response);
    for (int i = 0; i < count; ++i) S(i, k) = along(model, contacts[directions[i].contact], directions[i].J, response);
  }
  S = 0.5 * (S + S.transpose()).eval();
  ConstraintProblem problem;
  for (int k = 0; k < count; ++k) problem.blocks.push_back({k, 1, -1, -1, k});
  problem.resize(0, count);
  for (int i = 0; i < count; ++i) {
    problem.lower[i] = directions[i].normal ? 0 : -infinity;
    problem.upper[i] = infinity;
    problem.b[i] = -along(model, contacts[directions[i].contact], directions[i].J, udot);
    problem.matrix.start.push_back(i * count);
    for (int k = 0; k < count; ++k) {
      problem.matrix.column.push_back(k);
      problem.matrix.value.push_back(S(i, k) * (i == k ? 1 + shared_evenly : 1));
    }
  }
  problem.matrix.start.push_back(count * count);
  problem.x0.setZero();
  AutoSettings settings;
  settings.tolerance = 1e-12;
  Workspace workspace;
  SolveReport report;
  solve(problem, settings, workspace, view(x), report);
  return x;
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

  // What soft surfaces press with is known from how deep they are; the rest follows from the balance of forces.
  mechanism.contact_forces.setZero(model.velocity_count());
  std::vector<Direction> directions;
  for (int k = 0; k < static_cast<int>(contacts.size()); ++k) {
    const Contact& c = contacts[k];
    if (c.law.stiffness > 0)
      push(model, c, geometry[k].J_n, -c.law.stiffness * c.gap, mechanism.contact_forces);
    else
      directions.push_back({k, geometry[k].J_n, true});
    if (!c.slides()) continue;
    for (int i = 0; i < 2; ++i) directions.push_back({k, geometry[k].J_t.row(i), false});
  }
  mechanism.accelerations(t, s, udot);
  const VecX x = holding_forces(mechanism, contacts, directions, udot);
  std::vector<double> normal(contacts.size(), 0);
  std::vector<Eigen::Vector2d> tangential(contacts.size(), Eigen::Vector2d::Zero());
  std::vector<int> found(contacts.size(), 0);
  for (std::size_t k = 0; k < contacts.size(); ++k)
    if (contacts[k].law.stiffness > 0) normal[k] = -contacts[k].law.stiffness * contacts[k].gap;
  for (std::size_t i = 0; i < directions.size(); ++i) {
    const auto& [k, J, is_normal] = directions[i];
    (is_normal ? normal[k] : tangential[k][found[k]++]) = x[static_cast<Eigen::Index>(i)];
    push(model, contacts[k], J, x[static_cast<Eigen::Index>(i)], mechanism.contact_forces);
  }
  mechanism.accelerations(t, s, udot);

  const double largest = normal.empty() ? 0 : *std::max_element(normal.begin(), normal.end());
  std::vector<ContactShare> shares;
  for (std::size_t k = 0; k < contacts.size(); ++k) {
    const Contact& c = contacts[k];
    const Geometry& g = geometry[k];
    if (!(normal[k] > pressed_share * largest)) {
      ++out.open_contacts;
      continue;
    }
    ++out.pressed_contacts;
    if (c.slides() && tangential[k].norm() > c.law.static_friction * normal[k] * (1 + 1e-6)) ++out.slipping_contacts;
    ContactShare share{.a = c.a, .b = c.b};
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
        for (int i = 0; i < 2; ++i) rows.push_back(g.J_t.row(i));
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
