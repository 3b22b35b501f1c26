#include "mechanism/touching/touching_mechanism.h"

#include <rotule/error.h>

#include <algorithm>
#include <cmath>

#include "dynamics/forces/weight.h"
#include "linalg/decompositions.h"
#include "model/content.h"

namespace rotule {

namespace {

/// Rows that are combinations of others up to this share of their size are.
constexpr double dependent_rows = 1e-10;
constexpr double touching_gap = 1e-9;  // of the smaller body's size

}  // namespace

TouchingMechanism::TouchingMechanism(JointedMechanism& mechanism)
    : mechanism_(mechanism), rules_(mechanism.model, mechanism.recipe) {
  shapes_changed();
}

void TouchingMechanism::shapes_changed() {
  const Model& model = mechanism_.model;
  if (!model.walls.empty())
    throw Error("walls", "do not go with contacts by accelerations; make them fixed bodies of shape plane");
  if (needs_of(model).switching)
    throw Error("joints",
                "their stops, friction and motors of limited strength do not go with contacts by accelerations; set "
                "formulation to velocity and integrator to semi_implicit_euler");
  world_ = CollisionWorld();
  proxy_of_.assign(static_cast<std::size_t>(model.body_count()), -1);
  body_of_.clear();
  reach_.assign(static_cast<std::size_t>(model.body_count()), 0);
  for (int i = 0; i < model.body_count(); ++i) {
    const Body& body = model.bodies[i];
    if (!body.touches || std::holds_alternative<std::monostate>(body.shape)) continue;
    if (body.surface.stiffness > 0)
      throw Error("body \"" + body.name + "\"",
                  "its surface is soft, which contacts by accelerations are not; take the stiffness away, or set formulation to "
                  "velocity and integrator to semi_implicit_euler");
    const CollisionShape shape(body.shape);
    reach_[i] = shape.reach() + body.center_of_mass.norm();
    proxy_of_[i] = world_.add(shape, Pose{}, !body.fixed);
    body_of_.push_back(i);
  }
  for (const Joint& joint : model.joints) {
    const auto proxy = [&](int partner) { return partner == world_body || model.is_particle(partner) ? -1 : proxy_of_[partner]; };
    if (proxy(joint.a) >= 0 && proxy(joint.b) >= 0) world_.exclude(proxy(joint.a), proxy(joint.b));
  }
}

void TouchingMechanism::find(const State& s, double margin, std::vector<Touch>& out, double ahead) {
  const Model& model = mechanism_.model;
  for (const int i : body_of_)
    world_.set_pose(proxy_of_[i], body_frame(model, s, i), model.movable(i) ? Vec3(ahead * s.v(i)) : Vec3::Zero());
  world_.find_contacts(margin, manifolds_);
  out.clear();
  for (Manifold& m : manifolds_) {
    m.body_a = body_of_[m.body_a];
    m.body_b = body_of_[m.body_b];
    if (!model.movable(m.body_a) && !model.movable(m.body_b)) continue;
    if (!model.may_meet(m.body_a, m.body_b) || model.bodies[m.body_a].sensor || model.bodies[m.body_b].sensor) continue;
    const double size = std::min(reach_[m.body_a], reach_[m.body_b]);
    const auto drag = drags(m);
    for (int k = 0; k < m.count; ++k) {
      Touch touch = make_touch(m, k, drag[k], model, mechanism_.kinematics, world_.shape(proxy_of_[m.body_a]),
                               world_.shape(proxy_of_[m.body_b]), size);
      // Points of a rim are one point, wherever the narrow phase looked for it.
      if (std::any_of(out.begin(), out.end(), [&](const Touch& other) { return same_place(touch, other); })) continue;
      out.push_back(touch);
    }
  }
}

void TouchingMechanism::evaluate_touches(bool with_gamma) {
  const Model& model = mechanism_.model;
  for (Touch& touch : touches_) {
    evaluate(touch, mechanism_.kinematics, with_gamma);
    fastest_rate = std::max(fastest_rate, touch.rate);
    touch.inverse_mass = 0;
    const auto share = [&](int body, const TouchRows& J) {
      if (!model.movable(body)) return;
      const Vec3 linear = J.row(0).head<3>(), angular = J.row(0).tail<3>();
      if (model.has_added_mass()) {
        touch.inverse_mass += J.row(0).dot(J.row(0) * mechanism_.kinematics.inverse_mass[body]);
        return;
      }
      touch.inverse_mass +=
          model.inverse_mass[body] * linear.squaredNorm() + angular.dot(mechanism_.kinematics.inverse_inertia[body] * angular);
    };
    share(touch.a, touch.J_a);
    share(touch.b, touch.J_b);
  }
}

void TouchingMechanism::add_force(const Touch& touch, const Vec6& x, VecX& forces) const {
  const Model& model = mechanism_.model;
  if (model.movable(touch.a)) forces.segment<6>(6 * touch.a) += touch.J_a.transpose() * x;
  if (model.movable(touch.b)) forces.segment<6>(6 * touch.b) += touch.J_b.transpose() * x;
}

double TouchingMechanism::along(const Touch& touch, int row, const VecX& u) const {
  double out = 0;
  if (mechanism_.model.movable(touch.a)) out += touch.J_a.row(row).dot(u.segment<6>(6 * touch.a));
  if (mechanism_.model.movable(touch.b)) out += touch.J_b.row(row).dot(u.segment<6>(6 * touch.b));
  return out;
}

void TouchingMechanism::list_rows(bool sticking) {
  rows_.clear();
  for (int k = 0; k < static_cast<int>(touches_.size()); ++k) {
    rows_.push_back({k, 0});
    for (int g = 0; sticking && g < touches_[k].groups; ++g) {
      const TouchFriction& f = touches_[k].friction[g];
      if (!f.sticking) continue;
      for (int r = 0; r < f.count; ++r) rows_.push_back({k, f.first + r});
    }
  }
}

void TouchingMechanism::respond_to_rows(bool slipping) {
  if (responses_.size() < rows_.size()) responses_.resize(rows_.size());
  const auto count = static_cast<Eigen::Index>(rows_.size());
  matrix_.resize(count, count);
  unit_.resize(count);
  for (std::size_t k = 0; k < rows_.size(); ++k) {
    const Touch& touch = touches_[rows_[k].touch];
    Vec6 x = Vec6::Unit(rows_[k].row);
    if (slipping && rows_[k].row == 0)
      for (int g = 0; g < touch.groups; ++g) {
        const TouchFriction& f = touch.friction[g];
        if (!f.sticking)
          x.segment(f.first, f.count) = -f.mu_slip * f.slip_direction(touch.velocity(f), negligible_speed_).head(f.count);
      }
    responses_[k].setZero(mechanism_.model.velocity_count());
    add_force(touch, x, responses_[k]);
    mechanism_.respond(responses_[k]);
    for (Eigen::Index i = 0; i < count; ++i)
      matrix_(i, static_cast<Eigen::Index>(k)) = along(touches_[rows_[i].touch], rows_[i].row, responses_[k]);
  }
  // Rows differ in their units: each is measured by what it answers to itself, normals by the mass that they feel.
  for (Eigen::Index i = 0; i < count; ++i) {
    const double own = rows_[i].row == 0 ? touches_[rows_[i].touch].inverse_mass : matrix_(i, i);
    unit_[i] = own > 0 ? 1 / std::sqrt(own) : 0;
  }
}

void TouchingMechanism::solve_rows() {
  const MatX scaled = unit_.asDiagonal() * matrix_ * unit_.asDiagonal();
  answer_ = unit_.cwiseProduct(least_squares(scaled, unit_.cwiseProduct(rhs_), dependent_rows));
}

void TouchingMechanism::solve_forces(VecX& udot) {
  list_rows(true);
  respond_to_rows(true);
  rhs_.resize(static_cast<Eigen::Index>(rows_.size()));
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Touch& touch = touches_[rows_[i].touch];
    rhs_[static_cast<Eigen::Index>(i)] = -(along(touch, rows_[i].row, udot) + touch.gamma[rows_[i].row]);
  }
  solve_rows();
  for (Touch& touch : touches_) touch.x.setZero();
  for (std::size_t k = 0; k < rows_.size(); ++k) {
    udot += answer_[static_cast<Eigen::Index>(k)] * responses_[k];
    touches_[rows_[k].touch].x[rows_[k].row] = answer_[static_cast<Eigen::Index>(k)];
  }
  for (Touch& touch : touches_)
    for (int g = 0; g < touch.groups; ++g) {
      const TouchFriction& f = touch.friction[g];
      if (!f.sticking)
        touch.x.segment(f.first, f.count) =
            -f.mu_slip * touch.x[0] * f.slip_direction(touch.velocity(f), negligible_speed_).head(f.count);
    }
}

void TouchingMechanism::accelerations(double t, const State& s, VecX& udot) {
  mechanism_.contact_forces.setZero(0);
  mechanism_.accelerations(t, s, udot);
  if (touches_.empty()) return;
  evaluate_touches(true);
  solve_forces(udot);
}

void TouchingMechanism::flow(double t, const State& s, const VecX& udot, Flow& out) {
  mechanism_.flow(t, s, udot, out);
  for (const Touch& touch : touches_)
    for (int g = 0; g < touch.groups; ++g)
      out[Agent::contact_friction] += touch.force(touch.friction[g]).dot(touch.velocity(touch.friction[g]));
}

void TouchingMechanism::flow_anew(double t, const State& s, Flow& out) {
  const JointedMechanism::Untraced untraced(mechanism_);
  accelerations(t, s, free_);
  flow(t, s, free_, out);
}

void TouchingMechanism::settle(State& s, double t) {
  const auto* projection = std::get_if<ProjectionSettings>(&mechanism_.recipe.correction);
  require_finite(mechanism_.model, s);
  if (!projection) return;
  if (course_)
    course_->settle(s, t);
  else
    mechanism_.correct(s, t);
  if (touches_.empty()) return;
  // Gaps, by the smallest mass-weighted moves.
  double before = infinity;
  for (int round = 0;; ++round) {
    mechanism_.evaluate(s, t);
    evaluate_touches(false);
    double largest = 0, allowed = projection->tolerance;
    for (const Touch& touch : touches_) {
      largest = std::max(largest, std::abs(touch.place.gap));
      allowed = std::max(allowed, 1e-15 * (touch.size + s.p[touch.b].cwiseAbs().maxCoeff() + s.p[touch.a].cwiseAbs().maxCoeff()));
    }
    if (largest <= allowed || round == projection->max_iterations || (round > 1 && largest > 0.5 * before)) break;
    before = largest;
    list_rows(false);
    respond_to_rows(false);
    rhs_.resize(static_cast<Eigen::Index>(rows_.size()));
    for (std::size_t i = 0; i < rows_.size(); ++i) rhs_[static_cast<Eigen::Index>(i)] = -touches_[rows_[i].touch].place.gap;
    solve_rows();
    scratch_.setZero(s.u.size());
    for (std::size_t k = 0; k < rows_.size(); ++k) scratch_ += answer_[static_cast<Eigen::Index>(k)] * responses_[k];
    const double height = weight_potential(mechanism_.model, s);
    displace(s, scratch_, s);
    if (largest > touching_gap) mechanism_.now.push_energy += std::max(0.0, weight_potential(mechanism_.model, s) - height);
    if (!mechanism_.islands.empty()) mechanism_.correct(s, t);
  }
  close_velocities(s, t);
}

void TouchingMechanism::close_velocities(State& s, double t) {
  if (touches_.empty() || !std::holds_alternative<ProjectionSettings>(mechanism_.recipe.correction)) return;
  mechanism_.evaluate(s, t);
  evaluate_touches(false);
  list_rows(true);
  respond_to_rows(false);
  rhs_.resize(static_cast<Eigen::Index>(rows_.size()));
  for (std::size_t i = 0; i < rows_.size(); ++i)
    rhs_[static_cast<Eigen::Index>(i)] = -along(touches_[rows_[i].touch], rows_[i].row, s.u);
  solve_rows();
  for (std::size_t k = 0; k < rows_.size(); ++k) s.u += answer_[static_cast<Eigen::Index>(k)] * responses_[k];
}

void TouchingMechanism::finish(const State& s, double t, std::vector<Contact>& into) {
  accelerations(t, s, scratch_);
  mechanism_.contact_forces.setZero(mechanism_.model.velocity_count());
  for (const Touch& touch : touches_) add_force(touch, touch.x, mechanism_.contact_forces);
  // Each touch to the nearest contact of its pair that has not got one yet.
  for (Contact& c : into) c.x.setZero();
  std::vector<char> taken(into.size(), 0);
  for (const Touch& touch : touches_) {
    const Vec3 point = 0.5 * (touch.place.on_a + touch.place.on_b);
    std::size_t nearest = into.size();
    for (std::size_t k = 0; k < into.size(); ++k) {
      const bool same = into[k].a == touch.a && into[k].b == touch.b && into[k].rows() == touch.rows && !taken[k];
      if (same && (nearest == into.size() || (into[k].point - point).norm() < (into[nearest].point - point).norm())) nearest = k;
    }
    if (nearest == into.size()) continue;
    taken[nearest] = 1;
    Contact& c = into[nearest];
    c.x = touch.x;
    if (!c.slides()) continue;
    const Vec3 friction = touch.x[1] * touch.tangent + touch.x[2] * touch.bitangent;
    c.x[1] = friction.dot(c.tangent);
    c.x[2] = friction.dot(c.bitangent);
  }
}

}  // namespace rotule
