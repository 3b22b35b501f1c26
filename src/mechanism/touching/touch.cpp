#include "mechanism/touching/touch.h"

#include <algorithm>
#include <cmath>

namespace rotule {

namespace {

struct FrameInMotion {
  Frame X;  // axes from the centre of mass
  Vec3 v, omega;

  explicit FrameInMotion(const BodyLanes<double>& body) : X(body.R, body.p), v(body.v), omega(body.omega) {}
  /// Where it is a little later, or earlier.
  [[nodiscard]] Frame after(double e) const { return {exp_rotation(e * omega).toRotationMatrix() * X.R, X.p + e * v}; }
  [[nodiscard]] Vec6 motion() const {
    Vec6 u;
    u << v, omega;
    return u;
  }
};

/// Frame and rows with the bodies in these poses.
void write_rows(Touch& touch, const Frame& A, const Frame& B) {
  touch.place = touch_place(touch.features, A, B);
  const Vec3& n = touch.place.normal;
  touch.tangent = rotation_between(touch.start_normal, n) * touch.start_tangent;
  touch.bitangent = n.cross(touch.tangent);
  const Vec3 point = 0.5 * (touch.place.on_a + touch.place.on_b), drag = (touch.drag_on_a ? A : B).R * touch.drag;
  const Vec3 aside = drag - n.dot(drag) * n;
  const auto side = [&](const Vec3& center, double sign, TouchRows& J) {
    const Vec3 r = point - center;
    int row = 0;
    const auto put = [&](const RowSide<double>& share) { J.row(row++) << share.linear.transpose(), share.angular.transpose(); };
    put(velocity_along<double>(n, r, sign));
    if (touch.law.static_friction > 0) {
      put(velocity_along<double>(touch.tangent, r + aside, sign));
      put(velocity_along<double>(touch.bitangent, r + aside, sign));
    }
    if (touch.law.torsional_friction > 0) put(turn_about<double>(n, sign));
    if (touch.law.rolling_friction > 0) {
      put(turn_about<double>(touch.tangent, sign));
      put(turn_about<double>(touch.bitangent, sign));
    }
  };
  side(A.p, -1, touch.J_a);
  side(B.p, 1, touch.J_b);
}

}  // namespace

Touch make_touch(const Manifold& m, int point, const Vec3& drag, const Model& model, const Kinematics& kinematics,
                 const CollisionShape& a, const CollisionShape& b, double size) {
  Touch touch;
  touch.a = m.body_a;
  touch.b = m.body_b;
  touch.part_a = m.part_a;
  touch.part_b = m.part_b;
  touch.size = size;
  const Frame A(kinematics[touch.a].R, kinematics[touch.a].p), B(kinematics[touch.b].R, kinematics[touch.b].p);
  touch.features =
      features_at(m, point, a, A, -model.bodies[touch.a].center_of_mass, b, B, -model.bodies[touch.b].center_of_mass);
  touch.law = surface_between(model, touch.a, touch.b);
  touch.start_normal = m.normal;
  touch.start_tangent = any_normal_to(m.normal);
  // A rim that rolls touches at one point, however flat it lies. Else the patch goes with the body of which the point is.
  const auto is = [&](Feature::Kind kind) { return touch.features.a.kind == kind || touch.features.b.kind == kind; };
  if (!is(Feature::Kind::circle)) {
    touch.drag_on_a = touch.features.a.kind == Feature::Kind::point;
    touch.drag = (touch.drag_on_a ? A : B).R.transpose() * drag;
  }
  const auto add = [&](int count, double stick, double slip) {
    touch.friction[touch.groups++] = {touch.rows, count, stick, slip};
    touch.rows += count;
  };
  const SurfaceLaw& law = touch.law;
  if (law.static_friction > 0) add(2, law.static_friction, std::min(law.friction, law.static_friction));
  if (law.torsional_friction > 0) add(1, law.torsional_friction, law.torsional_friction);
  if (law.rolling_friction > 0) add(2, law.rolling_friction, law.rolling_friction);
  return touch;
}

void evaluate(Touch& touch, const Kinematics& kinematics, bool with_gamma) {
  const FrameInMotion A(kinematics[touch.a]), B(kinematics[touch.b]);
  const Vec6 u_a = A.motion(), u_b = B.motion();
  const auto velocities = [&](const Touch& at) -> Vec6 { return at.J_a * u_a + at.J_b * u_b; };
  touch.J_a.setZero();
  touch.J_b.setZero();
  if (with_gamma) {
    // Central differences of fourth order over a few thousandths of what the rows change by in a unit of time: both what they
    // leave out and what rounding adds is about 1e-13 of the velocities times that rate.
    touch.gamma.setZero();
    double& rate = touch.rate;
    rate = std::max(A.omega.norm(), B.omega.norm()) + (B.v - A.v).norm() / touch.size;
    if (rate > 0) {
      Touch near = touch;
      const auto at = [&](double time) {
        near.features = touch.features;
        write_rows(near, A.after(time), B.after(time));
        return velocities(near);
      };
      // The point may run over a body much faster than the body turns: round the rim of a disc that is nearly flat.
      const double first_look = 1e-5 / rate;
      const auto arm = [&](const FrameInMotion& body) -> Vec3 { return body.after(first_look).to_local(near.place.on_b); };
      at(first_look);
      const Vec3 later_a = arm(A), later_b = arm(B);
      write_rows(touch, A.X, B.X);
      const Vec3 now_a = A.X.to_local(touch.place.on_b), now_b = B.X.to_local(touch.place.on_b);
      rate = std::max(rate, std::max((later_a - now_a).norm(), (later_b - now_b).norm()) / (first_look * touch.size));
      const double e = 2e-3 / rate;
      touch.gamma = (8 * (at(e) - at(-e)) - (at(2 * e) - at(-2 * e))) / (12 * e);
    }
  }
  write_rows(touch, A.X, B.X);
  touch.w = velocities(touch);
}

}  // namespace rotule
