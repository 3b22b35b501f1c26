#pragma once
// Constraints written as functions over any number of bodies (A2, A14), on numbers that know how they change (rotule/moving.h):
//   on positions    C = 0:    J = dC/dq,  C_t = dC/dt,  gamma = second derivative along the motion,
//   on velocities   w = 0:    J = dw/du,  C_t = w - J u,  gamma = dw/dt at constant velocities; C is zero: they do not drift.
// Parameters s of a function F(q, s, t) are eliminated where it is evaluated. s is where |F| is least (elimination.h: searched
// from its whole range, so that nothing has to be remembered), and with N an orthonormal basis of what is perpendicular to
// dF/ds the rows are N^T F = 0, fewer by as many as there are parameters. As N^T dF/ds = 0,
//   J = N^T dF/dq,   gamma = N^T d2F along (u, ds/dt, 1),   ds/dt = -(dF/ds)^+ (dF/dq u + dF/dt).
// N is that of the moment: on the constraint its own change multiplies F = 0 and dF/dt = 0.
//
// Second derivatives in all directions, which only implicit methods and geometric stiffness ask for, come from a record of how
// numbers were made (record_hessian.h), or, in text, from its steps (tape_rows.h); parameters that follow the bodies are numbers
// that move with them. On velocities they are found by polarisation: H_ij = (Q(e_i + e_j) - Q(e_i) - Q(e_j)) / 2, Q(d) being the
// second derivative along d.
#include "constraint/pool/drive.h"
#include "constraint/pool/evaluation.h"
#include "constraint/pool/pool.h"
#include "constraint/pool/tape_rows.h"

namespace rotule {

/// A row over all partners.
struct FunctionRow {
  double C = 0, C_t = 0, gamma = 0;
  std::array<Vec6, Moving::most_bodies> J;  // NOLINT: of the joint's partners
};

/// The rows at this state; how many there are is known.
void function_rows(const FunctionJoint& joint, std::span<const BodyLanes<double>* const> bodies, double t,
                   std::span<FunctionRow> out);
/// H += sum lambda_r H_r; of rows on velocities, lambda_r dJ_r/dq, and half of what turning does to a torque besides.
void add_function_hessian(const FunctionJoint& joint, std::span<const BodyLanes<double>* const> bodies, double t,
                          std::span<const double> lambda, Eigen::Ref<MatX> H);
FunctionJoint function_joint(const Model& model, int index);
/// Throws Error: what the joint's equations gave is not finite.
[[noreturn]] void no_number(const FunctionJoint& joint);

/// Joints of `fewest` to `count` partners; those that lack are the world.
template <int count, int fewest>
class FunctionPool {
 public:
  static constexpr int partners = count;
  static constexpr bool in_lanes = false, places = false;

  static bool takes(const Joint& joint) {
    const int own = 2 + static_cast<int>(joint.more.size());
    return joint.equations && own >= fewest && own <= count;
  }
  void add(const Model& model, int index) {
    joint_.push_back(index);
    std::array<int, count> numbers;
    numbers.fill(world_body);
    int n = 0;
    for_each_partner(model.joints[index], [&](int partner) { numbers[n++] = partner; });
    bodies_.push_back(numbers);
    function_.push_back(function_joint(model, index));
    first_held_.push_back(held_.size());
  }
  /// Rows of the joint added last that may be in force and out: those of one side, for methods that follow them by accelerations.
  void add_switched(bool switching) {
    const Equations& equations = *function_.back().equations;
    if (switching && equations.one_sided)
      for (int k = 0; k < equations.rows(); ++k) held_.push_back({.drive = k});
    first_held_.back() = held_.size();
  }
  [[nodiscard]] std::span<DrivenAxis> switched(std::size_t i) {
    return {held_.data() + first_held_[i], held_.data() + first_held_[i + 1]};
  }
  [[nodiscard]] std::span<const DrivenAxis> switched(std::size_t i) const {
    return {held_.data() + first_held_[i], held_.data() + first_held_[i + 1]};
  }
  [[nodiscard]] bool one_sided(std::size_t i) const { return function_[i].equations->one_sided; }
  [[nodiscard]] std::size_t size() const { return joint_.size(); }
  [[nodiscard]] int joint(std::size_t i) const { return joint_[i]; }
  [[nodiscard]] std::array<int, count> bodies(std::size_t i) const { return bodies_[i]; }
  [[nodiscard]] static bool same_shape(std::size_t i, std::size_t j) { return i == j; }
  [[nodiscard]] const FunctionJoint& function(std::size_t i) const { return function_[i]; }

  template <class L, class Write>
  void rows(const Partners<L, count>& body, const LaneIndex<L>& at, double t, Write&& write) const
      requires(std::is_same_v<L, double>) {
    const std::size_t i = at[0];
    if (function_[i].equations->plain()) return plain_rows(function_[i], body, switched(i), t, write);
    std::array<FunctionRow, Equations::most> rows;
    const int number = function_[i].equations->rows();
    function_rows(function_[i], body, t, {rows.data(), static_cast<std::size_t>(number)});
    const std::span<const DrivenAxis> held = switched(i);
    for (int r = 0; r < number; ++r) {
      if (!held.empty() && !held[r].in_force) rows[r] = none();
      const FunctionRow& from = rows[r];
      const Row<double> row{
          from.C, from.gamma, from.J[0].head<3>(), from.J[0].tail<3>(), from.J[1].head<3>(), from.J[1].tail<3>(), from.C_t};
      if constexpr (count == 2) {
        write(row);
      } else {
        std::array<RowSide<double>, count - 2> sides;
        for (int k = 2; k < count; ++k) sides[k - 2] = {from.J[k].head<3>(), from.J[k].tail<3>()};
        write(row, sides);
      }
    }
  }
  [[nodiscard]] BlockHessian<count> hessian(std::size_t i, const Partners<double, count>& body, double t,
                                            std::span<const double> lambda) const {
    BlockHessian<count> H = BlockHessian<count>::Zero();
    std::array<double, Equations::most> felt{};
    const std::span<const DrivenAxis> held = switched(i);
    for (std::size_t r = 0; r < lambda.size(); ++r) felt[r] = held.empty() || held[r].in_force ? lambda[r] : 0;
    add_function_hessian(function_[i], body, t, {felt.data(), lambda.size()}, H);
    return H;
  }
  /// A function has no point of its own: torque is reported about the centre of mass.
  [[nodiscard]] static Vec3 lever(std::size_t, const Partners<double, count>&, bool) { return Vec3::Zero(); }
  void renumber(std::span<const int> body, std::span<const int> joint) {
    if (!body.empty())
      for (std::array<int, count>& numbers : bodies_)
        for (int& number : numbers)
          if (number >= 0) number = body[number];
    renumber_all(joint, joint_);
  }

 private:
  /// Equations of positions alone, without parameters: nothing is kept between the function and the row.
  template <class Write>
  static void plain_rows(const FunctionJoint& joint, const Partners<double, count>& body, std::span<const DrivenAxis> held,
                         double t, Write&& write) {
    if (joint.equations->tape) return text_rows(joint, body, held, t, write);
    Evaluation evaluation(joint, body, t);
    evaluation.gradients(Evaluation::Gradient::by_motion);
    int r = 0;
    for (const Moving& C : evaluation()) {
      const bool in_force = held.empty() || held[r++].in_force;
      double sum = C.value + C.by_time + C.second;
      const auto side = [&](int partner) -> RowSide<double> {
        const int b = partner - joint.first;
        if (!in_force || b < 0 || b >= C.bodies) return {Vec3::Zero(), Vec3::Zero()};
        const Moving::Gradient& by = C.by_body[b];
        sum += ((by[0] + by[1]) + (by[2] + by[3])) + (by[4] + by[5]);
        return {Vec3(by[0], by[1], by[2]), Vec3(by[3], by[4], by[5])};
      };
      const RowSide<double> a = side(0), b = side(1);
      Row<double> row{in_force ? C.value : 0,  in_force ? C.second : 0, a.linear, a.angular, b.linear, b.angular,
                      in_force ? C.by_time : 0};
      if constexpr (count == 2) {
        if (!std::isfinite(sum)) no_number(joint);
        write(row);
      } else {
        std::array<RowSide<double>, count - 2> sides;
        for (int k = 2; k < count; ++k) sides[k - 2] = side(k);
        if (!std::isfinite(sum)) no_number(joint);
        write(row, sides);
      }
    }
  }
  template <class Write>
  static void text_rows(const FunctionJoint& joint, const Partners<double, count>& body, std::span<const DrivenAxis> held,
                        double t, Write&& write) {
    TapeRows rows(joint, body, t);
    for (int r = 0; r < joint.equations->rows(); ++r) {
      rows.turn_to(r);
      if (!rows.finite()) no_number(joint);
      const bool in_force = held.empty() || held[r].in_force;
      const auto side = [&](int partner) -> RowSide<double> {
        if (!in_force || partner >= joint.partners) return {Vec3::Zero(), Vec3::Zero()};
        return rows.side(partner);
      };
      const RowSide<double> a = side(0), b = side(1);
      Row<double> row{in_force ? rows.C : 0,  in_force ? rows.gamma : 0, a.linear, a.angular, b.linear, b.angular,
                      in_force ? rows.C_t : 0};
      if constexpr (count == 2) {
        write(row);
      } else {
        std::array<RowSide<double>, count - 2> sides;
        for (int k = 2; k < count; ++k) sides[k - 2] = side(k);
        write(row, sides);
      }
    }
  }
  static FunctionRow none() {
    FunctionRow out;
    for (Vec6& J : out.J) J.setZero();
    return out;
  }
  std::vector<int> joint_;
  std::vector<std::array<int, count>> bodies_;
  std::vector<FunctionJoint> function_;
  std::vector<DrivenAxis> held_;  // of all joints, one after the other
  std::vector<std::size_t> first_held_{0};
};

}  // namespace rotule
