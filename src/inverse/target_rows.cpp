#include "inverse/target_rows.h"

#include <fmt/format.h>
#include <rotule/error.h>

#include <algorithm>

#include "base/text.h"

namespace rotule {

namespace {

int body_by_name(const Model& model, const std::string& name, bool world) {
  if (world && name == "world") return world_body;
  std::vector<std::string> names;
  for (int i = 0; i < model.body_count(); ++i) {
    if (model.bodies[i].name == name) return i;
    names.push_back(model.bodies[i].name);
  }
  if (world) names.emplace_back("world");
  throw Error(fmt::format("there is no body {}; {}", in_quotes(name), suggestion(name, names)));
}

void require_finite_target(const Vec3& v, const char* what) {
  if (!v.allFinite()) throw Error(fmt::format("{} must be finite numbers", what));
}

/// From the centre of mass, for a point of the body's frame.
Vec3 from_center(const Model& model, int body, const Vec3& point) {
  return body == world_body ? point : Vec3(point - model.bodies[body].center_of_mass);
}

}  // namespace

/// Puts a row of two bodies into its place.
struct TargetRows::Writer {
  ConstraintProblem& problem;
  VecX& errors;
  int row;    // in the problem
  int local;  // among the targets' rows

  void operator()(const Row<double>& r) {
    problem.J_a.row(row) << r.linear_a.transpose(), r.angular_a.transpose();
    problem.J_b.row(row) << r.linear_b.transpose(), r.angular_b.transpose();
    errors[local] = r.C;
    ++row;
    ++local;
  }
};

TargetRows::TargetRows(const Model& model, std::span<const Target> targets) {
  for (int i = 0; i < model.body_count(); ++i) {
    mass_.push_back(model.bodies[i].mass);
    movable_.push_back(model.movable(i) ? 1 : 0);
  }
  for (std::size_t k = 0; k < targets.size(); ++k) {
    Compiled& out = compiled_.emplace_back();
    try {
      compile(model, targets[k], out);
      if (!(out.weight > 0) || !std::isfinite(out.weight))
        throw Error(fmt::format("weight must be greater than 0, is {}; leave the target out instead", out.weight));
    } catch (const Error& error) {
      throw Error(fmt::format("target {}", k + 1), error.what());
    }
    out.first = rows_;
    rows_ += out.rows;
  }
}

void TargetRows::compile(const Model& model, const Target& target, Compiled& out) const {
  using Kind = Compiled::Kind;
  if (const auto* point = std::get_if<PointTarget>(&target)) {
    require_finite_target(point->at, "at");
    require_finite_target(point->to, "to");
    out = {.kind = Kind::point, .a = body_by_name(model, point->body, false), .b = body_by_name(model, point->onto, true)};
    out.r_a = from_center(model, out.a, point->at);
    out.r_b = from_center(model, out.b, point->to);
    out.weight = point->weight;
  } else if (const auto* turn = std::get_if<OrientationTarget>(&target)) {
    if (!(turn->orientation.norm() > 0)) throw Error("orientation must not be zero");
    out = {.kind = Kind::orientation, .a = body_by_name(model, turn->body, false), .b = body_by_name(model, turn->against, true)};
    out.turned = turn->orientation.normalized();
    out.weight = turn->weight;
  } else if (const auto* look = std::get_if<LookTarget>(&target)) {
    require_finite_target(look->from, "from");
    require_finite_target(look->to, "to");
    if (!(look->direction.norm() > 0)) throw Error("direction must not be zero");
    out = {.kind = Kind::look, .a = body_by_name(model, look->body, false), .b = body_by_name(model, look->onto, true)};
    out.r_a = from_center(model, out.a, look->from);
    out.r_b = from_center(model, out.b, look->to);
    out.sight = rotation_between(Vec3::UnitX(), look->direction).toRotationMatrix();
    out.weight = look->weight;
    out.rows = 2;
  } else {
    const auto& center = std::get<CenterOfMassTarget>(target);
    require_finite_target(center.to, "to");
    out = {.kind = Kind::center};
    out.r_b = center.to;
    out.axes = center.axes;
    out.weight = center.weight;
    out.rows = static_cast<int>(std::count(center.axes.begin(), center.axes.end(), true));
    if (out.rows == 0) throw Error("axes asks for no coordinate at all");
    for (const std::string& name : center.bodies) out.bodies.push_back(body_by_name(model, name, false));
    if (center.bodies.empty())
      for (int i = 0; i < model.body_count(); ++i)
        if (model.bodies[i].mass > 0) out.bodies.push_back(i);
    std::sort(out.bodies.begin(), out.bodies.end());
    out.bodies.erase(std::unique(out.bodies.begin(), out.bodies.end()), out.bodies.end());
    for (const int body : out.bodies) out.mass += mass_[body];
    if (!(out.mass > 0)) throw Error("the bodies of the centre of mass have none");
  }
  if (out.kind != Kind::center && out.a == out.b) throw Error("a body cannot be its own target");
}

int TargetRows::append_blocks(std::span<const int> local, int row, ConstraintProblem& problem) {
  const auto place = [&](int body) { return body == world_body ? -1 : local[body]; };
  first_row_ = row;
  auto more_row = static_cast<int>(problem.J_more.rows());
  for (Compiled& target : compiled_) {
    target.block = static_cast<int>(problem.blocks.size());
    ConstraintBlock block{row, target.rows, place(target.a), place(target.b), -1, static_cast<std::int32_t>(problem.more.size())};
    for (const int body : target.bodies) {
      if (place(body) < 0) continue;
      if (block.body_a < 0) {
        block.body_a = place(body);
      } else if (block.body_b < 0) {
        block.body_b = place(body);
      } else {
        problem.more.push_back({place(body), more_row});
        more_row += target.rows;
        ++block.more_count;
      }
    }
    problem.blocks.push_back(block);
    row += target.rows;
  }
  problem.J_more.conservativeResize(more_row, 6);
  return row;
}

void TargetRows::evaluate(const Kinematics& bodies, ConstraintProblem& problem, VecX& errors) const {
  using Kind = Compiled::Kind;
  errors.resize(rows_);
  for (const Compiled& target : compiled_) {
    const BodyLanes<double>&a = bodies[target.a], &b = bodies[target.b];
    Writer write{problem, errors, first_row_ + target.first, target.first};
    const JointPoint<double> point(a, b, target.r_a, target.r_b);
    if (target.kind == Kind::point) {
      for (int k = 0; k < 3; ++k) write(point_row(point, k));
    } else if (target.kind == Kind::orientation) {
      // d(log q)/dt = dexp^-1 (omega_a - q omega_b) for q = R_a (R_b R)^-1.
      const Quat q = Quat(a.R) * (Quat(b.R) * target.turned).conjugate();
      const Vec3 e = log_rotation(q);
      Mat3 J_a;
      for (int k = 0; k < 3; ++k) J_a.col(k) = dexp_inverse(e, Vec3::Unit(k));
      const Mat3 J_b = -J_a * q.normalized().toRotationMatrix();
      for (int k = 0; k < 3; ++k) write({e[k], 0, Vec3::Zero(), J_a.row(k).transpose(), Vec3::Zero(), J_b.row(k).transpose()});
    } else if (target.kind == Kind::look) {
      // Exact where the direction is met, and a rotation by the whole angle anywhere: enough for quadratic convergence.
      const Mat3 sight = a.R * target.sight;
      const double distance = std::max(point.e.norm(), 1e-300);
      const Vec3 line = point.e.norm() > 0 ? Vec3(-point.e / distance) : Vec3(sight.col(0));
      const Vec3 left = log_rotation(rotation_between(sight.col(0), line));
      for (int k = 1; k < 3; ++k) {
        const Vec3 n = sight.col(k), m = point.e.norm() > 0 ? Vec3(n.cross(line) / distance) : Vec3(Vec3::Zero());
        write({n.dot(left), 0, -m, -n - point.rho_a.cross(m), m, point.rho_b.cross(m)});
      }
    } else {
      write_center(target, bodies, problem, errors);
    }
  }
}

void TargetRows::add_stiffness(const Kinematics& bodies, std::span<const int> local, const VecX& errors,
                               LumpedStiffness& K) const {
  for (const Compiled& target : compiled_) {
    if (target.kind != Compiled::Kind::point) continue;
    const Vec3 pull = -target.weight * target.weight * errors.segment<3>(target.first);
    const auto add = [&](int body, const Vec3& r, const Vec3& f) {
      if (body == world_body || local[body] < 0) return;
      K.angular[local[body]].diagonal().array() += std::max(0.0, f.dot(bodies[body].R * r));
    };
    add(target.a, target.r_a, pull);
    add(target.b, target.r_b, -pull);
  }
}

void TargetRows::write_center(const Compiled& target, const Kinematics& bodies, ConstraintProblem& problem, VecX& errors) const {
  Vec3 error = -target.r_b;
  for (const int body : target.bodies) error += mass_[body] / target.mass * bodies[body].p;
  const ConstraintBlock& block = problem.blocks[target.block];
  int r = 0;
  for (int k = 0; k < 3; ++k) {
    if (!target.axes[k]) continue;
    errors[target.first + r] = error[k];
    ++r;
  }
  // The block's bodies, in the order in which they were listed.
  int n = 0;
  for (const int body : target.bodies) {
    const auto put = [&](JacobianRows& J, int first) {
      int row = first;
      for (int k = 0; k < 3; ++k)
        if (target.axes[k]) J.row(row++) << (mass_[body] / target.mass * Vec3::Unit(k)).transpose(), 0, 0, 0;
    };
    if (!movable_[body]) continue;
    if (n == 0)
      put(problem.J_a, block.first_row);
    else if (n == 1)
      put(problem.J_b, block.first_row);
    else
      put(problem.J_more, problem.more[block.first_more + n - 2].first);
    ++n;
  }
}

}  // namespace rotule
