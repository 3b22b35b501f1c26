#pragma once
// Two wheels that turn about axes fixed in a carrier, by their teeth: with theta the angle of each wheel about its axis, as the
// carrier sees it,
//   C = wrap(n_b theta_b + n_a theta_a) / n_b     (n_a < 0: one wheel lies inside the other),
// one row over three bodies, the carrier's share being minus that of the wheels. Since n_a and n_b are whole, a full turn of a
// wheel changes the sum by whole turns: wrapped to (-pi, pi] it is smooth, and nobody has to count turns.
//
// The angle about an axis z from the directions x_c, y_c of the carrier to x, y of the wheel, all carried by their bodies:
//   theta = atan2(s, c),   s = x . y_c - y . x_c,   c = x . x_c + y . y_c,
// both sums of products d . d_c as in rows.h. It stays regular while the wheel leans less than half a turn from its axis.
#include <rotule/joints.h>

#include <numbers>

#include "constraint/pool/pool.h"

namespace rotule {

/// The angle of one wheel: its value, its gradient by the wheel's rotation (the carrier's is the opposite), and J-dot u.
template <class L>
struct WheelAngle {
  L theta, gamma;
  Vec3L<L> n;

  /// Frames as columns x, y, z in world axes.
  WheelAngle(const BodyLanes<L>& wheel, const BodyLanes<L>& carrier, const Mat3L<L>& frame, const Mat3L<L>& frame_c) {
    const auto product = [&](int of_wheel, int of_carrier) {
      return align_row<L>(wheel, carrier, frame.col(of_wheel), frame_c.col(of_carrier));
    };
    const Row<L> xy = product(0, 1), yx = product(1, 0), xx = product(0, 0), yy = product(1, 1);
    const L s = xy.C - yx.C, c = xx.C + yy.C, squares = s * s + c * c;
    const Vec3L<L> n_s = xy.angular_a - yx.angular_a, n_c = xx.angular_a + yy.angular_a;
    const Vec3L<L> spin = wheel.omega - carrier.omega;
    const L s_dot = n_s.dot(spin), c_dot = n_c.dot(spin);
    theta = angle_of(s, c);
    n = (n_s * c - n_c * s) / squares;
    gamma = (c * (xy.gamma - yx.gamma) - s * (xx.gamma + yy.gamma)) / squares -
            L(2) * n.dot(spin) * (s * s_dot + c * c_dot) / squares;
  }
};

class GearPool {
 public:
  static constexpr int partners = 3;
  static constexpr bool in_lanes = true, places = false;

  static bool takes(const Joint& joint) { return std::holds_alternative<Gear>(*joint.definition); }
  void add(const Model& model, int index) {
    const Joint& joint = model.joints[index];
    const Gear& gear = std::get<Gear>(*joint.definition);
    joint_.push_back(index);
    a_.push_back(joint.a);
    b_.push_back(joint.b);
    carrier_.push_back(joint.more[0]);
    frame_a_.push_back(joint.X_A.orientation.toRotationMatrix());
    frame_b_.push_back(joint.X_B.orientation.toRotationMatrix());
    frame_ca_.push_back(joint.X_more[0].orientation.toRotationMatrix());
    frame_cb_.push_back(joint.X_more[1].orientation.toRotationMatrix());
    teeth_a_.push_back(gear.internal ? -gear.teeth_a : gear.teeth_a);
    teeth_b_.push_back(gear.teeth_b);
  }
  [[nodiscard]] std::size_t size() const { return joint_.size(); }
  [[nodiscard]] int joint(std::size_t i) const { return joint_[i]; }
  [[nodiscard]] std::array<int, 3> bodies(std::size_t i) const { return {a_[i], b_[i], carrier_[i]}; }
  [[nodiscard]] static bool same_shape(std::size_t, std::size_t) { return true; }

  template <class L, class Write>
  void rows(const Partners<L, 3>& body, const LaneIndex<L>& at, double, Write&& write) const {
    const BodyLanes<L>&a = *body[0], &b = *body[1], &c = *body[2];
    const WheelAngle<L> of_a(a, c, a.R * gather<L>(frame_a_, at), c.R * gather<L>(frame_ca_, at));
    const WheelAngle<L> of_b(b, c, b.R * gather<L>(frame_b_, at), c.R * gather<L>(frame_cb_, at));
    const L teeth_a = gather<L>(teeth_a_, at), teeth_b = gather<L>(teeth_b_, at), ratio = teeth_a / teeth_b;
    const L turn = L(2 * std::numbers::pi_v<typename LaneTraits<L>::Scalar>);
    const L sum = teeth_b * of_b.theta + teeth_a * of_a.theta;
    const L C = (sum - turn * nearest_whole(sum / turn)) / teeth_b;
    const Vec3L<L> none = Vec3L<L>::Zero(), n_a = of_a.n * ratio;
    write(Row<L>{C, of_b.gamma + ratio * of_a.gamma, none, n_a, none, of_b.n}, std::array{RowSide<L>{none, -(n_a + of_b.n)}});
  }

  [[nodiscard]] BlockHessian<3> hessian(std::size_t i, const Partners<double, 3>& body, double,
                                        std::span<const double> lambda) const;
  /// Wheels are turned, not pushed.
  [[nodiscard]] static Vec3 lever(std::size_t, const Partners<double, 3>&, bool) { return Vec3::Zero(); }
  void renumber(std::span<const int> body, std::span<const int> joint) {
    for (auto* partners_of : {&a_, &b_, &carrier_}) renumber_all(body, *partners_of);
    renumber_all(joint, joint_);
  }

 private:
  std::vector<int> joint_, a_, b_, carrier_;
  std::vector<Mat3> frame_a_, frame_b_, frame_ca_, frame_cb_;  // z is the axis; of the wheels, and of the carrier for each
  std::vector<double> teeth_a_, teeth_b_;
};

/// Second derivatives of one wheel's angle, in the small motions of wheel and carrier.
inline Mat12 wheel_hessian(double factor, const Mat3& frame, const Mat3& frame_c) {
  const auto dot = [&](int p, int q) { return frame.col(p).dot(frame_c.col(q)); };
  const auto cross = [&](int p, int q) -> Vec3 { return frame.col(p).cross(frame_c.col(q)); };
  const double s = dot(0, 1) - dot(1, 0), c = dot(0, 0) + dot(1, 1), squares = s * s + c * c;
  const double by_s = factor * c / squares, by_c = -factor * s / squares;
  Mat12 H = Mat12::Zero();
  add_align_hessian(by_s, frame.col(0), frame_c.col(1), H);
  add_align_hessian(-by_s, frame.col(1), frame_c.col(0), H);
  add_align_hessian(by_c, frame.col(0), frame_c.col(0), H);
  add_align_hessian(by_c, frame.col(1), frame_c.col(1), H);
  const Vec3 n_s = cross(0, 1) - cross(1, 0), n_c = cross(0, 0) + cross(1, 1);
  const double twice = 2 * s * c / (squares * squares), mixed = (s * s - c * c) / (squares * squares);
  const Mat3 bent = factor * (twice * (n_c * n_c.transpose() - n_s * n_s.transpose()) +
                              mixed * (n_s * n_c.transpose() + n_c * n_s.transpose()));
  for (const int row : {3, 9})
    for (const int column : {3, 9}) H.block<3, 3>(row, column) += row == column ? bent : Mat3(-bent);
  return H;
}

inline BlockHessian<3> GearPool::hessian(std::size_t i, const Partners<double, 3>& body, double,
                                         std::span<const double> lambda) const {
  BlockHessian<3> H = BlockHessian<3>::Zero();
  const auto add = [&](int wheel, double factor, const Mat3& frame, const Mat3& frame_c) {
    const Mat12 of_pair = wheel_hessian(factor, body[wheel]->R * frame, body[2]->R * frame_c);
    const std::array<int, 2> first{6 * wheel, 12};
    for (int row = 0; row < 2; ++row)
      for (int column = 0; column < 2; ++column)
        H.block<6, 6>(first[row], first[column]) += of_pair.block<6, 6>(6 * row, 6 * column);
  };
  add(0, lambda[0] * teeth_a_[i] / teeth_b_[i], frame_a_[i], frame_ca_[i]);
  add(1, lambda[0], frame_b_[i], frame_cb_[i]);
  return H;
}

}  // namespace rotule
