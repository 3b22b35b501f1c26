#include "dynamics/forces/immersed.h"

#include <fmt/format.h>
#include <rotule/error.h>

#include <algorithm>

#include "base/text.h"
#include "dynamics/forces/air.h"
#include "dynamics/forces/drag.h"
#include "dynamics/forces/fluid.h"
#include "dynamics/forces/line_drag.h"

namespace rotule {
namespace {

/// Calls visit(end) for the bodies, particles and points of the world that a pool of forces acts on; triangles by their corners.
template <class Visit>
void visit_ends(const Forces& forces, Visit&& visit) {
  const auto body = [&](int i) { visit(ForceEnd{.kind = ForceEnd::Kind::body, .index = i}); };
  const auto particle = [&](int k) { visit(ForceEnd{.kind = ForceEnd::Kind::particle, .index = k}); };
  for (const DragForce& drag : forces.drags) {
    std::for_each(drag.bodies.begin(), drag.bodies.end(), body);
    std::for_each(drag.particles.begin(), drag.particles.end(), particle);
  }
  for (const AirForce& air : forces.airs)
    for (const std::array<int, 3>& triangle : air.triangles) std::for_each(triangle.begin(), triangle.end(), particle);
  for (const SectionForce& section : forces.sections) visit(section.at);
  for (const LineDragForce& line : forces.lines) {
    visit(line.a);
    visit(line.b);
  }
  for (const BuoyancyForce& buoyancy : forces.buoyancies) visit(buoyancy.at);
  for (const AddedMassForce& added : forces.added_masses) std::for_each(added.bodies.begin(), added.bodies.end(), body);
}

/// Gathers what one pool does.
struct Immersion {
  const Model& model;
  const State& s;
  double t;
  ImmersedForces& out;
  ImmersedDamping* damping;

  void on_body(int body, const Vec3& x, const Vec6& value, double grip = 0) const {
    out.f.segment<6>(6 * body) += value;
    const Vec3 F = value.head<3>();
    out.exchanges.push_back({x, F, value.tail<3>() - (x - s.p[body]).cross(F), grip});
  }
  void on_point(const EndPoint& point, const Vec3& F, double grip) const {
    add_force_at(point, F, out.f);
    out.exchanges.push_back({point.x, F, Vec3::Zero(), grip, point.triple < 0});
  }
  void damp(const ForceEnd& end, const EndPoint& point, const Mat3& D) const {
    if (damping == nullptr || end.kind == ForceEnd::Kind::world) return;
    if (end.kind == ForceEnd::Kind::particle) {
      damping->of_particles[static_cast<std::size_t>(end.index)] += D;
      return;
    }
    Eigen::Matrix<double, 3, 6> G;
    G << Mat3::Identity(), -skew(point.rho);
    damping->of_bodies[static_cast<std::size_t>(end.index)] += G.transpose() * D * G;
  }

  void add(const DragForce& drag) const {
    visit_dragged(model, drag, s, t, [&](int triple, const Vec3& v, const Mat3&, int body) {
      const double speed = v.norm(), factor = drag.viscous + drag.quadratic * speed;
      Vec6 value;
      value << -factor * v, body >= 0 ? Vec3(-drag.angular * s.omega(body)) : Vec3(Vec3::Zero());
      Mat6 D = Mat6::Zero();
      D.topLeftCorner<3, 3>() = factor * Mat3::Identity();
      if (speed > 0) D.topLeftCorner<3, 3>() += drag.quadratic / speed * v * v.transpose();
      D.bottomRightCorner<3, 3>() = drag.angular * Mat3::Identity();
      if (body >= 0) {
        on_body(body, s.p[body], value, D.topLeftCorner<3, 3>().norm());
        if (damping) damping->of_bodies[static_cast<std::size_t>(body)] += D;
      } else {
        const int particle = triple - 2 * s.bodies();
        out.f.segment<3>(3 * triple) += value.head<3>();
        out.exchanges.push_back({s.particle_position(particle), value.head<3>(), Vec3::Zero(), D.topLeftCorner<3, 3>().norm()});
        if (damping) damping->of_particles[static_cast<std::size_t>(particle)] += D.topLeftCorner<3, 3>();
      }
    });
  }

  void add(const AirForce& air) const {
    for (const std::array<int, 3>& triangle : air.triangles) {
      const AirLaw law(model, air, triangle, s, t);
      Vec3 middle = Vec3::Zero();
      for (const int corner : triangle) {
        middle += s.particle_position(corner) / 3;
        out.f.segment<3>(s.first(corner)) += law.force / 3;
        if (damping) damping->of_particles[static_cast<std::size_t>(corner)] -= law.by_velocity / 3;
      }
      out.exchanges.push_back({middle, law.force, Vec3::Zero(), law.by_velocity.norm()});
    }
  }

  void add(const LineDragForce& line) const {
    const LineLaw law(model, line, s, t, damping != nullptr);
    for (std::size_t p = 0; p < 2; ++p) {
      on_point(law.points[p], law.force[p], law.by_velocity[p][p].norm());
      damp(p == 0 ? line.a : line.b, law.points[p], -law.by_velocity[p][p]);
    }
  }

  void add(const SectionForce& section) const {
    const FluidForce force = section_force(model, section, s, t, damping != nullptr);
    on_body(force.body, end_point(section.at, s).x, force.value, force.velocity.topLeftCorner<3, 3>().norm());
    if (damping) damping->of_bodies[static_cast<std::size_t>(force.body)] -= force.velocity;
  }

  // What the computed flow adds to these two is with it, less without it.
  template <class Force>
  [[nodiscard]] Force without(Force force) const {
    std::erase_if(force.flows, [&](int k) { return model.flows[static_cast<std::size_t>(k)].computed(); });
    return force;
  }
  void add(const BuoyancyForce& buoyancy) const {
    const int body = buoyancy.at.index;
    const Vec6 more = buoyancy_force(model, buoyancy, s, t, false).value;
    on_body(body, s.p[body], more - buoyancy_force(model, without(buoyancy), s, t, false).value);
  }
  void add(const AddedMassForce& added) const {
    const AddedMassForce given = without(added);
    const auto count = static_cast<int>(added.bodies.size());
    for (int i = 0; i < count; ++i)
      for (int j = 0; j < count; ++j) {
        FluidPush push = added_mass_push(model, added, i, j, s, t, 0, 0);
        if (!given.flows.empty()) {
          const FluidPush less = added_mass_push(model, given, i, j, s, t, 0, 0);
          push.on_body -= less.on_body;
          push.on_axes -= less.on_axes;
        }
        const int body = added.bodies[static_cast<std::size_t>(i)], axes = added.bodies.front();
        Vec6 turn = Vec6::Zero();
        turn.tail<3>() = push.on_axes;
        on_body(body, s.p[body], push.on_body);
        on_body(axes, s.p[axes], turn);
      }
  }

  template <class Force>
  void add_all(const std::vector<Force>& list) const {
    for (const Force& force : list) add(force);
  }
};

std::string name_of_end(const Model& model, const ForceEnd& end) {
  if (end.kind == ForceEnd::Kind::body) return "body " + in_quotes(model.bodies[end.index].name);
  if (end.kind == ForceEnd::Kind::particle) return "particle " + in_quotes(model.particles.name(end.index));
  return "the world's end of a line";
}

}  // namespace

void immersed_forces(const Model& model, const State& s, double t, ImmersedForces& out, ImmersedDamping* damping) {
  out.f.setZero(s.u.size());
  out.exchanges.clear();
  if (damping) {
    damping->of_bodies.assign(static_cast<std::size_t>(s.bodies()), Mat6::Zero());
    damping->of_particles.assign(static_cast<std::size_t>(s.particles()), Mat3::Zero());
  }
  const Forces& forces = model.immersed;
  const Immersion immersion{model, s, t, out, damping};
  immersion.add_all(forces.drags);
  immersion.add_all(forces.airs);
  immersion.add_all(forces.sections);
  immersion.add_all(forces.lines);
  immersion.add_all(forces.buoyancies);
  immersion.add_all(forces.added_masses);
}

double fastest_immersed(const Model& model, const State& s) {
  double out = 0;
  visit_ends(model.immersed, [&](const ForceEnd& end) { out = std::max(out, end_point(end, s).v.norm()); });
  return out;
}

std::string first_immersed(const Model& model, const State& s, const std::function<bool(const Vec3&)>& is_meant) {
  std::string out;
  visit_ends(model.immersed, [&](const ForceEnd& end) {
    if (out.empty() && is_meant(end_point(end, s).x)) out = name_of_end(model, end);
  });
  return out;
}

std::vector<bool> immersed_bodies(const Model& model) {
  std::vector<bool> out(model.bodies.size(), false);
  visit_ends(model.immersed, [&](const ForceEnd& end) {
    if (end.kind == ForceEnd::Kind::body) out[static_cast<std::size_t>(end.index)] = true;
  });
  return out;
}

}  // namespace rotule
