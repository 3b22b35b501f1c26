#include "model/function_kinds.h"

#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "base/text.h"
#include "model/constraint_text.h"
#include "model/equation_tape.h"
#include "model/implicit_surface.h"
#include "model/spline.h"

namespace rotule {

namespace {

/// Body, in its own frame, of a point and a direction of the world as the scene has them.
class BodyView {
 public:
  BodyView(const JointSite& site, int partner) : frame_(body_frame_of(site, partner)) {}
  [[nodiscard]] Vec3 point(const Vec3& at) const { return frame_.orientation.conjugate() * (at - frame_.position); }
  [[nodiscard]] Vec3 direction(const Vec3& d) const { return frame_.orientation.conjugate() * d; }
  [[nodiscard]] Mat3 axes(const Quat& axes) const { return (frame_.orientation.conjugate() * axes).toRotationMatrix(); }

 private:
  static Pose body_frame_of(const JointSite& site, int partner) {
    if (partner != world_body && site.model.is_particle(partner)) return {site.centre(partner), Quat::Identity()};
    return body_frame(site.model, site.state, partner);
  }
  Pose frame_;
};

/// The angle about the frames' z from the carrier's x, y to the wheel's, as gears have it (constraint/pool/gear.h).
Moving angle_about(const MovingBody& wheel, const MovingBody& carrier, const Mat3& frame, const Mat3& frame_c) {
  const CarriedVec3 x = wheel.direction(frame.col(0)), y = wheel.direction(frame.col(1));
  const CarriedVec3 x_c = carrier.direction(frame_c.col(0)), y_c = carrier.direction(frame_c.col(1));
  return atan2(x.dot(y_c) - y.dot(x_c), x.dot(x_c) + y.dot(y_c));
}

template <class Function>
Equations equations_of(int count, Function&& function) {
  Equations out;
  out.function.equations = count;
  out.function.evaluate = std::forward<Function>(function);
  return out;
}

void finish(Equations equations, const JointSite& site, Joint& joint) {
  joint.equations = compile_equations(std::move(equations), site.model, site.state, joint, site.place);
}

using Parameters = std::span<const Moving>;
using Out = std::span<Moving>;

}  // namespace

void check_details(const Constraint& constraint, const Place& place) {
  const int ways = (constraint.function ? 1 : 0) + (constraint.law ? 1 : 0) + (constraint.equation.lines.empty() ? 0 : 1);
  if (ways == 0) fail(place / "function", "must be given");
  if (ways > 1) fail(place / "function", "is given in more than one way; leave all but one out");
  if (constraint.at_least && constraint.at_most) fail(place / "at_most", "goes with at_least as a constraint of its own");
  for (const auto& [key, bound] : {std::pair("at_least", constraint.at_least), std::pair("at_most", constraint.at_most)})
    if (bound && !std::isfinite(*bound)) fail(place / key, "must be a finite number");
  if (constraint.restitution > 0 && !constraint.at_least && !constraint.at_most)
    fail(place / "restitution", "is of constraints with at_least or at_most");
  if (2 + constraint.more.size() > Moving::most_bodies)
    fail(place / "more", fmt::format("a constraint can be over at most {} bodies", Moving::most_bodies));
  if (constraint.function &&
      (!constraint.more.empty() || constraint.at_least || constraint.at_most || !constraint.parameters.empty()))
    fail(place / "function", "of jets is one equation of two bodies; use Scene::add_constraint");
  for (std::size_t k = 0; k < constraint.parameters.size(); ++k) {
    const ConstraintParameter& parameter = constraint.parameters[k];
    const Place list = place / "parameters";
    if (!(parameter.from < parameter.to) || !std::isfinite(parameter.to - parameter.from))
      fail(list / k, fmt::format("must have from < to, has {} and {}", parameter.from, parameter.to));
  }
  if (!constraint.equation.lines.empty()) check_text(constraint, place);
}

void compile(const Constraint& constraint, const JointSite& site, Joint& joint) {
  // The user speaks of the body's frame; the engine's coordinates start at the centre of mass.
  const auto turns = [&](int partner) { return partner != world_body && !site.model.is_particle(partner); };
  if (turns(joint.a)) joint.X_A.position = -site.model.bodies[joint.a].center_of_mass;
  if (turns(joint.b)) joint.X_B.position = -site.model.bodies[joint.b].center_of_mass;
  if (constraint.function) {
    joint.function = constraint.function;
    return;
  }
  Equations equations;
  equations.parameters = constraint.parameters;
  equations.restitution = constraint.restitution;
  equations.one_sided = constraint.at_least || constraint.at_most;
  if (!constraint.law) {
    equations.tape = compile_text(constraint);
    equations.function.equations = equations.tape->equations();
    equations.function.evaluate = [tape = equations.tape](MovingBodies q, const Moving& t, Parameters s, Out out) {
      tape->evaluate(q, t, s, out);
    };
  } else if (equations.one_sided) {
    const double bound = constraint.at_least ? *constraint.at_least : *constraint.at_most, sign = constraint.at_least ? 1 : -1;
    equations.function = constraint.law;
    equations.function.evaluate = [inner = constraint.law.evaluate, bound, sign](MovingBodies q, const Moving& t, Parameters s,
                                                                                 Out out) {
      inner(q, t, s, out);
      for (Moving& C : out) C = sign * (C - bound);
    };
  } else {
    equations.function = constraint.law;
  }
  finish(std::move(equations), site, joint);
}

void compile(const RackAndPinion& def, const JointSite& site, Joint& joint) {
  const BodyView pinion(site, joint.a), rack(site, joint.b), carrier(site, joint.more[0]);
  const Quat axes = frame_along(def.axis);
  const Mat3 frame = pinion.axes(axes), frame_c = carrier.axes(axes);
  const Vec3 at = rack.point(site.centre(joint.b)), start = carrier.point(site.centre(joint.b));
  const Vec3 along = carrier.direction(def.direction.normalized());
  const double radius = def.radius;
  finish(equations_of(1,
                      [=](MovingBodies q, const Moving&, Parameters, Out out) {
                        const Moving travel = q[2].direction(along).dot(q[1].point(at) - q[2].point(start));
                        // Travel counts the turns.
                        out[0] = radius * wrap(travel / radius - angle_about(q[0], q[2], frame, frame_c));
                      }),
         site, joint);
}

void compile(const Screw& def, const JointSite& site, Joint& joint) {
  const BodyView a(site, joint.a), b(site, joint.b);
  const Quat axes = frame_along(def.axis);
  const Mat3 frame_a = a.axes(axes), frame_b = b.axes(axes);
  const Vec3 r_a = a.point(def.at), r_b = b.point(def.at);
  const double per_radian = def.pitch / (2 * std::numbers::pi);
  finish(equations_of(5,
                      [=](MovingBodies q, const Moving&, Parameters, Out out) {
                        const CarriedVec3 e = q[1].point(r_b) - q[0].point(r_a), z = q[0].direction(frame_a.col(2));
                        for (int k = 0; k < 2; ++k) {
                          out[k] = q[0].direction(frame_a.col(k)).dot(e);
                          out[2 + k] = z.dot(q[1].direction(frame_b.col(k)));
                        }
                        out[4] = per_radian * wrap(z.dot(e) / per_radian - angle_about(q[1], q[0], frame_b, frame_a));
                      }),
         site, joint);
}

void compile(const Pulley& def, const JointSite& site, Joint& joint) {
  const Vec3 from = def.from.value_or(site.centre(joint.a)), to = def.to.value_or(site.centre(joint.b));
  for (const auto& [end, over, key] : {std::tuple(&from, &def.over_a, "over_a"), std::tuple(&to, &def.over_b, "over_b")})
    if (*end == *over) throw Error(site.place + "/" + key, "is where the rope ends; give a point that it runs over");
  const Vec3 r_a = BodyView(site, joint.a).point(from), r_b = BodyView(site, joint.b).point(to);
  const BodyView carrier(site, joint.more[0]);
  const Vec3 over_a = carrier.point(def.over_a), over_b = carrier.point(def.over_b);
  const double ratio = def.ratio, length = (from - def.over_a).norm() + ratio * (to - def.over_b).norm();
  Equations equations = equations_of(1, [=, slack = def.slack](MovingBodies q, const Moving&, Parameters, Out out) {
    const Moving sum = (q[0].point(r_a) - q[2].point(over_a)).norm() + ratio * (q[1].point(r_b) - q[2].point(over_b)).norm();
    out[0] = slack ? length - sum : sum - length;
  });
  equations.one_sided = def.slack;
  equations.restitution = def.restitution;
  finish(std::move(equations), site, joint);
}

void compile(const Differential& def, const JointSite& site, Joint& joint) {
  const Quat axes = frame_along(def.axis);
  const Mat3 frame_a = BodyView(site, joint.a).axes(axes), frame_b = BodyView(site, joint.b).axes(axes),
             frame_h = BodyView(site, joint.more[0]).axes(axes), frame_c = BodyView(site, joint.more[1]).axes(axes);
  finish(equations_of(1,
                      [=](MovingBodies q, const Moving&, Parameters, Out out) {
                        const Moving wheels =
                            angle_about(q[0], q[3], frame_a, frame_c) + angle_about(q[1], q[3], frame_b, frame_c);
                        out[0] = wrap(wheels - 2 * angle_about(q[2], q[3], frame_h, frame_c));
                      }),
         site, joint);
}

void check_details(const Rail& rail, const Place& place) {
  if (rail.points.size() < 3) fail(place / "points", fmt::format("must be at least 3, are {}", rail.points.size()));
  check_distinct(rail.points, rail.closed, place / "points");
}

void compile(const Rail& def, const JointSite& site, Joint& joint) {
  const BodyView a(site, joint.a), b(site, joint.b);
  std::vector<Vec3> points;
  for (const Vec3& point : def.points) points.push_back(a.point(point));
  const auto curve = std::make_shared<const Spline>(points, def.closed);
  const Vec3 r_b = b.point(def.point.value_or(site.centre(joint.b)));
  Equations equations = equations_of(3, [=](MovingBodies q, const Moving&, Parameters s, Out out) {
    const CarriedVec3 e = q[1].point(r_b) - q[0].point();
    const MovingVec3 on_curve = curve->at(s[0]);
    for (int k = 0; k < 3; ++k)
      out[static_cast<std::size_t>(k)] = q[0].direction(Vec3::Unit(k)).dot(e) - on_curve.e[static_cast<std::size_t>(k)];
  });
  equations.parameters = {{"s", 0, curve->length(), def.closed}};
  equations.samples = curve->samples();
  finish(std::move(equations), site, joint);
}

void check_details(const Cam& cam, const Place& place) {
  if (cam.profile.size() < 4) fail(place / "profile", fmt::format("must be at least 4 points, are {}", cam.profile.size()));
  check_distinct(cam.profile, true, place / "profile");
}

void compile(const Cam& def, const JointSite& site, Joint& joint) {
  const BodyView a(site, joint.a), b(site, joint.b);
  // In the plane of the cam: x and y of a frame whose z is the axis.
  const Mat3 frame = a.axes(frame_along(def.axis));
  std::vector<Vec3> points;
  for (const Vec3& point : def.profile) {
    const Vec3 seen = frame.transpose() * a.point(point);
    points.emplace_back(seen.x(), seen.y(), 0);
  }
  const auto edge = std::make_shared<const Spline>(points, true);
  const Vec3 r_b = b.point(def.point.value_or(site.centre(joint.b)));
  const double roller = def.roller;
  Equations equations = equations_of(2, [=](MovingBodies q, const Moving&, Parameters s, Out out) {
    const CarriedVec3 e = q[1].point(r_b) - q[0].point();
    MovingVec3 on_edge = edge->at(s[0]);
    if (roller > 0) {
      const MovingVec3 along = edge->slope(s[0]);
      const Moving scale = roller / along.norm();
      on_edge = on_edge + scale * MovingVec3(along.y(), -along.x(), Moving(0.0));
    }
    out[0] = q[0].direction(frame.col(0)).dot(e) - on_edge.x();
    out[1] = q[0].direction(frame.col(1)).dot(e) - on_edge.y();
  });
  equations.parameters = {{"s", 0, edge->length(), true}};
  equations.samples = edge->samples();
  finish(std::move(equations), site, joint);
}

void compile(const ConstantVelocity& def, const JointSite& site, Joint& joint) {
  const BodyView a(site, joint.a), b(site, joint.b);
  const Quat axes = frame_along(def.axis);
  const Mat3 frame_a = a.axes(axes), frame_b = b.axes(axes);
  const Vec3 r_a = a.point(def.at), r_b = b.point(def.at);
  finish(equations_of(4,
                      [=](MovingBodies q, const Moving&, Parameters, Out out) {
                        const MovingVec3 e = q[0].point(r_a) - q[1].point(r_b);
                        std::copy(e.e.begin(), e.e.end(), out.begin());
                        // The rotation from one shaft to the other has no part about them: R_xy = R_yx.
                        out[3] = q[0].direction(frame_a.col(0)).dot(q[1].direction(frame_b.col(1))) -
                                 q[0].direction(frame_a.col(1)).dot(q[1].direction(frame_b.col(0)));
                      }),
         site, joint);
}

namespace {

/// A surface that the first body carries, and how its coordinates, the world's as the scene has them, follow from the bodies.
struct CarriedSurface {
  CarriedSurface(const std::string& text, const JointSite& site, const BodyView& carrier) : origin(carrier.point(Vec3::Zero())) {
    try {
      surface = std::make_shared<const ImplicitSurface>(text);
    } catch (const Error& error) {
      throw Error(site.place + "/surface", error.what());
    }
    for (int k = 0; k < 3; ++k) axes[static_cast<std::size_t>(k)] = carrier.direction(Vec3::Unit(k));
  }
  /// The side of a point of the scene.
  [[nodiscard]] double side(const Vec3& where, const JointSite& site) const {
    const MovingVec3 at(where);
    const ImplicitSurface::Value value = surface->at(at);
    if (!std::isfinite(value.F.value) || value.F.value == 0 || !(value.gradient.norm().value > 0))
      throw Error(site.place + "/surface", "has no side where the centre of what rolls stands; move one of them");
    return value.F.value < 0 ? -1 : 1;
  }
  /// A direction of the world in coordinates of the surface, and of a point; and back.
  [[nodiscard]] MovingVec3 seen(const MovingBody& a, const MovingVec3& d) const {
    return {a.direction(axes[0]).dot(d), a.direction(axes[1]).dot(d), a.direction(axes[2]).dot(d)};
  }
  [[nodiscard]] MovingVec3 seen_point(const MovingBody& a, const MovingVec3& x) const { return seen(a, x - a.point(origin)); }
  [[nodiscard]] MovingVec3 in_world(const MovingBody& a, const MovingVec3& d) const {
    return d.x() * a.direction(axes[0]) + d.y() * a.direction(axes[1]) + d.z() * a.direction(axes[2]);
  }
  /// A direction that the surface carries, in the world.
  [[nodiscard]] MovingVec3 carried(const MovingBody& a, const Vec3& d) const {
    return a.direction(d.x() * axes[0] + d.y() * axes[1] + d.z() * axes[2]);
  }

  std::shared_ptr<const ImplicitSurface> surface;
  Vec3 origin;               // of its coordinates, in the carrier's frame
  std::array<Vec3, 3> axes;  // likewise
};

void roll_on_surface(const Rolling& def, const JointSite& site, Joint& joint) {
  const BodyView ground(site, joint.a), wheel(site, joint.b);
  const CarriedSurface carried(def.surface, site, ground);
  const Vec3 centre = def.center.value_or(site.centre(joint.b)), center = wheel.point(centre);
  const double side = carried.side(centre, site), radius = def.radius;
  const Mat3 disc = wheel.axes(frame_along(def.axis.value_or(Vec3::UnitZ())));
  const bool ball = !def.axis.has_value();
  const auto touch_of = [=](const MovingVec3& seen, const MovingBody& a, const MovingBody& b) {
    if (ball) return carried.surface->touch_of_ball(seen, radius, side);
    return carried.surface->touch_of_disc(seen, carried.seen(a, b.direction(disc.col(0))),
                                          carried.seen(a, b.direction(disc.col(1))), radius, side);
  };
  const auto touch_named = [=, name = joint.name](const MovingVec3& seen, const MovingBody& a, const MovingBody& b) {
    try {
      return touch_of(seen, a, b);
    } catch (const Error& error) {
      throw Error("joint \"" + name + "\"", error.what());
    }
  };
  finish(equations_of(3,
                      [=](MovingBodies q, const Moving&, Parameters, Out out) {
                        const MovingVec3 c = q[1].point(center), seen = carried.seen_point(q[0], c);
                        const ImplicitSurface::Touch touch = touch_named(seen, q[0], q[1]);
                        out[0] = touch.gap;
                        const MovingVec3 point = c + carried.in_world(q[0], touch.point - seen);
                        const MovingVec3 slip = q[1].velocity_at(point) - q[0].velocity_at(point);
                        // Tangents of the moment: where nothing slips their own change multiplies zero.
                        const Mat3 tangents = frame_along(touch.normal.value()).toRotationMatrix();
                        for (int k = 0; k < 2; ++k)
                          out[static_cast<std::size_t>(k) + 1] = carried.carried(q[0], tangents.col(k)).dot(slip);
                      }),
         site, joint);
}

/// Fields of a plane mean nothing beside a surface.
void check_surface(const std::string& surface, const Vec3& normal, const Place& place) {
  if (!surface.empty() && normal != Vec3::UnitZ()) fail(place / "normal", "is of a plane; leave it out beside a surface");
}

}  // namespace

void check_details(const Rolling& rolling, const Place& place) {
  check_surface(rolling.surface, rolling.normal, place);
  if (!rolling.surface.empty() && !rolling.at.isZero(0)) fail(place / "at", "is of a plane; leave it out beside a surface");
}

void compile(const Rolling& def, const JointSite& site, Joint& joint) {
  if (!def.surface.empty()) return roll_on_surface(def, site, joint);
  const BodyView ground(site, joint.a), wheel(site, joint.b);
  const Mat3 frame = ground.axes(frame_along(def.normal));
  const Vec3 at = ground.point(def.at), center = wheel.point(def.center.value_or(site.centre(joint.b)));
  const bool disc = def.axis.has_value();
  const Vec3 axis = disc ? wheel.direction(def.axis->normalized()) : Vec3(Vec3::Zero());
  if (disc && std::abs(def.axis->normalized().dot(def.normal.normalized())) > 1 - 1e-9)
    throw Error(site.place + "/axis", "is along the normal: the disc lies flat, and has no lowest point");
  const double radius = def.radius;
  finish(equations_of(3,
                      [=](MovingBodies q, const Moving&, Parameters, Out out) {
                        const MovingVec3 n = q[0].direction(frame.col(2)), c = q[1].point(center);
                        MovingVec3 lowest = c - radius * n;
                        if (disc) {
                          // Down in the disc's plane: n less its part along the axis, of length one.
                          const MovingVec3 a = q[1].direction(axis), down = (n.dot(a)) * a - n;
                          lowest = c + (radius / down.norm()) * down;
                        }
                        out[0] = n.dot(lowest - q[0].point(at));
                        const MovingVec3 slip = q[1].velocity_at(lowest) - q[0].velocity_at(lowest);
                        out[1] = q[0].direction(frame.col(0)).dot(slip);
                        out[2] = q[0].direction(frame.col(1)).dot(slip);
                      }),
         site, joint);
}

void check_details(const KnifeEdge& edge, const Place& place) {
  check_surface(edge.surface, edge.normal, place);
  if (edge.surface.empty() && std::abs(edge.blade.normalized().dot(edge.normal.normalized())) > 1 - 1e-9)
    fail(place / "blade", "must not be along the normal");
}

void compile(const KnifeEdge& def, const JointSite& site, Joint& joint) {
  const BodyView ground(site, joint.a), body(site, joint.b);
  const Vec3 normal = ground.direction(def.normal.normalized());
  const Vec3 blade = body.direction(def.blade.normalized()), at = body.point(def.at);
  if (!def.surface.empty()) {
    const CarriedSurface carried(def.surface, site, ground);
    const Vec3 normal_there = carried.surface->normal(MovingVec3(def.at), 1).value();
    if (!normal_there.allFinite()) throw Error(site.place + "/surface", "has no normal where the blade stands");
    if (std::abs(def.blade.normalized().dot(normal_there)) > 1 - 1e-9)
      throw Error(site.place + "/blade", "must not be along the normal");
    return finish(equations_of(1,
                               [=](MovingBodies q, const Moving&, Parameters, Out out) {
                                 const MovingVec3 x = q[1].point(at);
                                 const MovingVec3 n =
                                     carried.in_world(q[0], carried.surface->normal(carried.seen_point(q[0], x), 1));
                                 const MovingVec3 side = n.cross(q[1].direction(blade));
                                 out[0] = side.dot(q[1].velocity(at) - q[0].velocity_at(x)) / side.norm();
                               }),
                  site, joint);
  }
  finish(equations_of(1,
                      [=](MovingBodies q, const Moving&, Parameters, Out out) {
                        const MovingVec3 side = q[0].direction(normal).cross(q[1].direction(blade));
                        out[0] = side.dot(q[1].velocity(at) - q[0].velocity_at(q[1].point(at))) / side.norm();
                      }),
         site, joint);
}

void check_details(const ConeLimit& limit, const Place& place) {
  if (limit.angle > 3.1) fail(place / "angle", "must be at most 3.1");
}

void compile(const ConeLimit& def, const JointSite& site, Joint& joint) {
  const Vec3 middle = BodyView(site, joint.a).direction(def.center.value_or(def.axis).normalized());
  const Vec3 axis = BodyView(site, joint.b).direction(def.axis.normalized());
  // Of angles near the edge it is what is left of them; smooth where the axis is in the middle.
  const double cosine = std::cos(def.angle), sine = std::sin(def.angle);
  Equations equations = equations_of(1, [=](MovingBodies q, const Moving&, Parameters, Out out) {
    out[0] = (q[0].direction(middle).dot(q[1].direction(axis)) - cosine) / sine;
  });
  equations.one_sided = true;
  equations.restitution = def.restitution;
  finish(std::move(equations), site, joint);
}

void add_needs(const JointDef& joint, JointNeeds& needs) {
  bool one_sided = false;
  if (const auto* constraint = std::get_if<Constraint>(&joint)) {
    one_sided = constraint->at_least || constraint->at_most;
    needs.rates = needs.rates || on_velocities(*constraint);
  }
  if (const auto* pulley = std::get_if<Pulley>(&joint)) one_sided = pulley->slack;
  one_sided = one_sided || std::holds_alternative<ConeLimit>(joint);
  needs.rates = needs.rates || std::holds_alternative<Rolling>(joint) || std::holds_alternative<KnifeEdge>(joint);
  needs.drives = needs.drives || one_sided;
  needs.switching = needs.switching || one_sided;
}

}  // namespace rotule
