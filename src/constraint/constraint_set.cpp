#include "constraint/constraint_set.h"

#include "constraint/user_constraint.h"

namespace rotule {

namespace {

/// Which frame axes must stay perpendicular so that the locked rotations cannot happen. Two locked: the free axis of a against
/// the two others of b, which stays regular however far the joint turns. One or three: cyclic pairs.
int align_axes(const Joint& joint, std::array<LockedAxesPool::AxisPair, 3>& pairs) {
  const auto locked = [&](int k) { return joint.locked[3 + k]; };
  const int count = locked(0) + locked(1) + locked(2);
  int n = 0;
  for (std::int8_t k = 0; k < 3; ++k) {
    const auto i = static_cast<std::int8_t>((k + 1) % 3), j = static_cast<std::int8_t>((k + 2) % 3);
    if (count == 2) {
      if (!locked(k)) {
        pairs[n++] = {k, i};
        pairs[n++] = {k, j};
      }
    } else if (locked(k)) {
      pairs[n++] = {i, j};
    }
  }
  return n;
}

struct RowWriter {
  ConstraintProblem& problem;
  RowValues& values;
  int row;

  void operator()(const Row<double>& r) {
    double* J_a = problem.J_a.data() + 6 * row;
    double* J_b = problem.J_b.data() + 6 * row;
    for (int k = 0; k < 3; ++k) {
      J_a[k] = r.linear_a[k];
      J_a[k + 3] = r.angular_a[k];
      J_b[k] = r.linear_b[k];
      J_b[k + 3] = r.angular_b[k];
    }
    values.C[row] = r.C;
    values.gamma[row] = r.gamma;
    ++row;
  }
};

bool is_point(const std::array<bool, 3>& slides) { return slides[0] && slides[1] && slides[2]; }

}  // namespace

ConstraintSet::ConstraintSet(const Model& model, std::span<const int> joints, std::span<const int> local) {
  const auto add_block = [&](int index) {
    const Joint& joint = model.joints[index];
    const auto place = [&](int body) { return model.movable(body) ? local[body] : -1; };
    blocks_.push_back({rows_, joint.rows(), place(joint.a), place(joint.b), index});
    rows_ += joint.rows();
  };
  const auto add_ends = [&](auto& pool, int index) {
    pool.joint.push_back(index);
    pool.a.push_back(model.joints[index].a);
    pool.b.push_back(model.joints[index].b);
  };
  for (const int index : joints) {
    const Joint& joint = model.joints[index];
    if (joint.kind != Joint::Kind::locked_axes) continue;
    add_block(index);
    add_ends(locked_, index);
    locked_.r_a.push_back(joint.X_A.position);
    locked_.r_b.push_back(joint.X_B.position);
    locked_.axes_a.push_back(joint.X_A.orientation.toRotationMatrix());
    locked_.axes_b.push_back(joint.X_B.orientation.toRotationMatrix());
    locked_.slides.push_back({joint.locked[0], joint.locked[1], joint.locked[2]});
    locked_.aligned.emplace_back();
    locked_.aligned_count.push_back(static_cast<std::int8_t>(align_axes(joint, locked_.aligned.back())));
  }
  for (const int index : joints) {
    const Joint& joint = model.joints[index];
    if (joint.kind != Joint::Kind::rod) continue;
    add_block(index);
    add_ends(rods_, index);
    rods_.r_a.push_back(joint.X_A.position);
    rods_.r_b.push_back(joint.X_B.position);
    rods_.length.push_back(joint.length);
  }
  for (const int index : joints) {
    const Joint& joint = model.joints[index];
    if (joint.kind != Joint::Kind::user) continue;
    add_block(index);
    add_ends(users_, index);
    users_.frame_a.push_back(joint.X_A.position);
    users_.frame_b.push_back(joint.X_B.position);
    users_.turns_a.push_back(!model.is_particle(joint.a));
    users_.turns_b.push_back(!model.is_particle(joint.b));
    users_.function.push_back(joint.function);
  }
}

Jet ConstraintSet::evaluate_user_constraint(std::size_t i, const Kinematics& bodies, double t) const {
  return evaluate_user(users_.function[i], {bodies[users_.a[i]], users_.frame_a[i], users_.turns_a[i] != 0},
                       {bodies[users_.b[i]], users_.frame_b[i], users_.turns_b[i] != 0}, t);
}

void ConstraintSet::evaluate(const Kinematics& bodies, double t, ConstraintProblem& problem, RowValues& values,
                             int first_row) const {
  RowWriter write{problem, values, first_row};
  values.C_t.segment(first_row, rows_).setZero();
  for (std::size_t i = 0; i < locked_.joint.size(); ++i) {
    const BodyLanes<double>&a = bodies[locked_.a[i]], &b = bodies[locked_.b[i]];
    const JointPoint<double> point(a, b, locked_.r_a[i], locked_.r_b[i]);
    if (is_point(locked_.slides[i])) {
      for (int k = 0; k < 3; ++k) write(point_row(point, k));
    } else {
      for (int k = 0; k < 3; ++k)
        if (locked_.slides[i][k]) write(slide_row<double>(point, a, a.R * locked_.axes_a[i].col(k)));
    }
    for (int n = 0; n < locked_.aligned_count[i]; ++n) {
      const auto [of_a, of_b] = locked_.aligned[i][n];
      write(align_row<double>(a, b, a.R * locked_.axes_a[i].col(of_a), b.R * locked_.axes_b[i].col(of_b)));
    }
  }
  for (std::size_t i = 0; i < rods_.joint.size(); ++i) {
    const BodyLanes<double>&a = bodies[rods_.a[i]], &b = bodies[rods_.b[i]];
    write(distance_row(JointPoint<double>(a, b, rods_.r_a[i], rods_.r_b[i]), rods_.length[i]));
  }
  for (std::size_t i = 0; i < users_.joint.size(); ++i) {
    const BodyLanes<double>&a = bodies[users_.a[i]], &b = bodies[users_.b[i]];
    const Jet C = evaluate_user_constraint(i, bodies, t);
    values.C_t[write.row] = C.gradient[12];
    write(user_row(C, a, b));
  }
}

Mat12 ConstraintSet::hessian(int block, const Kinematics& bodies, double t, std::span<const double> lambda) const {
  Mat12 H = Mat12::Zero();
  auto i = static_cast<std::size_t>(block);
  if (i < locked_.joint.size()) {
    const BodyLanes<double>&a = bodies[locked_.a[i]], &b = bodies[locked_.b[i]];
    const JointPoint<double> point(a, b, locked_.r_a[i], locked_.r_b[i]);
    int r = 0;
    if (is_point(locked_.slides[i])) {
      add_point_hessian(Vec3(lambda[0], lambda[1], lambda[2]), point.rho_a, point.rho_b, H);
      r = 3;
    } else {
      for (int k = 0; k < 3; ++k)
        if (locked_.slides[i][k])
          add_slide_hessian(lambda[r++], a.R * locked_.axes_a[i].col(k), point.e - point.rho_a, point.rho_b, H);
    }
    for (int n = 0; n < locked_.aligned_count[i]; ++n) {
      const auto [of_a, of_b] = locked_.aligned[i][n];
      add_align_hessian(lambda[r++], a.R * locked_.axes_a[i].col(of_a), b.R * locked_.axes_b[i].col(of_b), H);
    }
    return H;
  }
  i -= locked_.joint.size();
  if (i < rods_.joint.size()) {
    const JointPoint<double> point(bodies[rods_.a[i]], bodies[rods_.b[i]], rods_.r_a[i], rods_.r_b[i]);
    add_distance_hessian(lambda[0], point.e, point.rho_a, point.rho_b, H);
    return H;
  }
  i -= rods_.joint.size();
  const Jet C = evaluate_user_constraint(i, bodies, t);
  for (int row = 0; row < 12; ++row)
    for (int column = 0; column < 12; ++column) H(row, column) = lambda[0] * C.hessian[Jet::pair(row, column)];
  return H;
}

Vec3 ConstraintSet::lever(int block, const Kinematics& bodies, bool second) const {
  auto i = static_cast<std::size_t>(block);
  const auto turned = [&](const auto& pool) -> Vec3 {
    return second ? Vec3(bodies[pool.b[i]].R * pool.r_b[i]) : Vec3(bodies[pool.a[i]].R * pool.r_a[i]);
  };
  if (i < locked_.joint.size()) return turned(locked_);
  i -= locked_.joint.size();
  if (i < rods_.joint.size()) return turned(rods_);
  return Vec3::Zero();  // a user's constraint has no point of its own: torque is reported about the centre of mass
}

void ConstraintSet::renumber(std::span<const int> body, std::span<const int> joint) {
  const auto renumber_pool = [&](auto& pool) {
    if (!body.empty())
      for (std::vector<int>* ends : {&pool.a, &pool.b})
        for (int& end : *ends)
          if (end != world_body) end = body[end];
    if (!joint.empty())
      for (int& number : pool.joint) number = joint[number];
  };
  renumber_pool(locked_);
  renumber_pool(rods_);
  renumber_pool(users_);
  if (!joint.empty())
    for (ConstraintBlock& block : blocks_) block.source = joint[block.source];
}

std::pair<int, int> ConstraintSet::bodies_of(int block) const {
  auto i = static_cast<std::size_t>(block);
  if (i < locked_.joint.size()) return {locked_.a[i], locked_.b[i]};
  i -= locked_.joint.size();
  if (i < rods_.joint.size()) return {rods_.a[i], rods_.b[i]};
  i -= rods_.joint.size();
  return {users_.a[i], users_.b[i]};
}

}  // namespace rotule
