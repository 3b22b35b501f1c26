#include "step/realtime/soft/body_touches.h"

#include <algorithm>
#include <cmath>

#include "constraint/pool/contact.h"
#include "step/realtime/soft/near_shape.h"

namespace rotule::realtime {

using Eigen::Vector3f;

namespace {

constexpr int chunk = 32;             // points in one box
constexpr double fresh_share = 0.05;  // of a part's half thickness
constexpr double slack_radii = 4;     // that everyone may go astray
constexpr double behind_radii = 4;    // below a triangle, from where one is still brought back
constexpr float rest_share = 0.2F;    // of the rounding: who is nearer, and does not leave, rests
constexpr float least_share = 1e-3F;  // of its inverse mass, that who sticks keeps: floats must tell how far he came
constexpr int most_planes = 12;       // tried along a way

Vector3f load(const std::vector<ParticleLine>& lines, int line) {
  const float* at = lines[static_cast<std::size_t>(line)].at;
  return {at[0], at[1], at[2]};
}

/// How a body that goes carries a point along in a substep.
Vector3f speed_of(const MetBody& met, const Vector3f& lever) {
  if (!met.goes) return Vector3f::Zero();
  return met.v + met.omega.cross(lever);
}
/// How far it has carried it since the step's start.
Vector3f carried(const MetBody& met, const Vector3f& lever) {
  if (!met.goes) return Vector3f::Zero();
  return met.turned_less_one * lever + met.gone;
}
Vector3f turned(const MetBody& met, const Vector3f& d) { return met.goes ? Vector3f(met.turned * d) : d; }

float inverse_mass_along(const MetBody& met, const Vector3f& lever, const Vector3f& d) {
  if (!met.moves) return 0;
  const Vector3f arm = lever.cross(d);
  return met.inverse_mass + arm.dot(met.inverse_inertia * arm);
}

}  // namespace

BodyTouches::BodyTouches(const Model& model) : model_(model) {
  for (int k = 0; k < static_cast<int>(model.particle_surfaces.size()); ++k) {
    const ParticleSurface& surface = model.particle_surfaces[k];
    // What is inside of a block, too: where it is crushed, that must not come out through its skin.
    for (int n = 0; n < surface.count; ++n)
      points_.push_back({.particle = surface.first + n, .surface = k, .radius = static_cast<float>(surface.radius)});
  }
  boxes_.resize(points_.size());
  gather_shapes();
}

void BodyTouches::gather_shapes() {
  shapes_.clear();
  parts_.clear();
  touches_.clear();
  holding_.clear();
  pressing_.clear();
  met_.clear();
  met_place_.assign(static_cast<std::size_t>(model_.body_count()), -1);
  if (points_.empty()) return;
  shapes_.reserve(static_cast<std::size_t>(model_.body_count()));
  for (int i = 0; i < model_.body_count(); ++i) {
    const Body& body = model_.bodies[i];
    const bool met = body.touches && !body.sensor && (body.meets & 1U) != 0;  // particles are of no layer
    if (!met || std::holds_alternative<std::monostate>(body.shape)) continue;
    met_place_[i] = static_cast<int>(met_.size());
    met_.push_back({.body = i});
    for (const CollisionPart& part : shapes_.emplace_back(body.shape).parts()) {
      Part& own = parts_.emplace_back();
      own.body = i;
      own.part = &part;
      if (part.kind == CollisionPart::Kind::plane) {
        own.fresh = infinity;
      } else {
        const Aabb box = bounds(part, Frame());
        own.fresh = fresh_share * 0.5 * (box.high - box.low).minCoeff();
      }
    }
  }
}

Frame BodyTouches::frame_of(const State& s, const MetBody& met) const {
  const Mat3 R = met.goes ? Mat3(met.turn * s.theta[met.body].toRotationMatrix()) : s.theta[met.body].toRotationMatrix();
  return {R, s.p[met.body] + (met.goes ? met.way : Vec3(Vec3::Zero())) - R * model_.bodies[met.body].center_of_mass};
}

void BodyTouches::read_bodies(const BodyLines& bodies) {
  for (MetBody& met : met_) read_body(bodies, met);
}

bool BodyTouches::outrun(const ParticleLines& lines, float h) const {
  for (const Point& point : points_) {
    const int line = line_of_particle(point.particle);
    const Vector3f way = load(lines.moved, line) + h * load(lines.v, line) - point.seen_at;
    if (way.squaredNorm() > point.reach * point.reach) return true;
  }
  for (const Part& part : parts_) {
    const MetBody& met = met_[met_place_[part.body]];
    if (!met.goes) continue;
    const double arm = part.part->reach, turned = std::abs(Eigen::AngleAxisd(met.turn).angle());
    const double way = met.way.norm() + arm * turned + double(h) * (double(met.v.norm()) + arm * double(met.omega.norm()));
    if (way > part.reach) return true;
  }
  return false;
}

void BodyTouches::put_plane(const State& s, const MetBody& met, const Vec3& normal, const Vec3& on, int line, Touch& out) const {
  const Mat3 R = s.theta[met.body].toRotationMatrix();
  const Vec3 lever = R * (on - model_.bodies[met.body].center_of_mass);
  out.normal = (R * normal).cast<float>();
  out.lever = lever.cast<float>();
  out.apart = (s.particle_position(line - 1) - (s.p[met.body] + lever)).cast<float>();
}

void BodyTouches::find(const State& s, const ParticleLines& lines, const BodyLines& bodies, double rest) {
  read_bodies(bodies);
  touches_.clear();
  holding_.clear();
  pressing_.clear();
  const double fall = rest * rest * model_.gravity.norm();
  chunks_.clear();
  for (std::size_t k = 0; k < points_.size(); ++k) {
    Point& point = points_[k];
    const int line = line_of_particle(point.particle);
    point.seen_at = load(lines.moved, line);
    const Vec3 x = s.particle_position(point.particle) + point.seen_at.cast<double>(),
               way = rest * load(lines.v, line).cast<double>();
    const double slack = 0.5 * way.norm() + fall + slack_radii * double(point.radius);
    point.reach = static_cast<float>(way.norm() + slack);
    Aabb& box = boxes_[k];
    box = {x.cwiseMin(x + way), x.cwiseMax(x + way)};
    box = box.grown(slack + double(point.radius));
    if (k % chunk == 0) chunks_.emplace_back();
    chunks_.back().add(box);
  }
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    Part& part = parts_[p];
    const MetBody& met = met_[met_place_[part.body]];
    const bool endless = part.part->kind == CollisionPart::Kind::plane;
    const Frame X = frame_of(s, met);
    part.reach = 0;
    double ahead = 0;
    if (met.goes && !endless) {
      const double arm = part.part->reach, speed = double(met.v.norm()) + arm * double(met.omega.norm());
      ahead = 1.5 * rest * speed + fall + 2 * part.fresh;
      part.reach = met.way.norm() + arm * std::abs(Eigen::AngleAxisd(met.turn).angle()) + ahead;
    } else if (met.goes) {
      // The ground that turns under somebody: how far, depends on where he is.
      part.reach = infinity;
      ahead = rest * double(met.v.norm());
    }
    if (!endless) part.box = bounds(*part.part, X).grown(ahead);
    int of_surface = -1;
    SurfaceLaw law;
    const auto look = [&](std::size_t k) {
      const Point& point = points_[k];
      if (!endless && !boxes_[k].overlaps(part.box)) return;
      const int line = line_of_particle(point.particle);
      if (lines.inverse_mass(line) == 0 && !met.moves) return;
      const Vec3 x = X.to_local(s.particle_position(point.particle) + point.seen_at.cast<double>());
      const double far = double(point.reach) + double(point.radius) + ahead, behind = behind_radii * double(point.radius);
      const auto add = [&](int triangle, double fresh) {
        const NearShape at = near_shape(*part.part, triangle, x, far, behind);
        if (!at.near || at.distance > far) return;
        if (of_surface != point.surface) {
          of_surface = point.surface;
          const ParticleSurface& surface = model_.particle_surfaces[of_surface];
          const Body& body = model_.bodies[part.body];
          law = surface_between(model_, surface.law, surface.material, body.surface, body.material);
        }
        Touch& touch = touches_.emplace_back();
        touch.line = line;
        touch.body = met_place_[part.body];
        touch.part = static_cast<int>(p);
        touch.triangle = triangle;
        touch.radius = point.radius;
        touch.friction = static_cast<float>(law.friction);
        touch.static_friction = static_cast<float>(law.static_friction);
        touch.fresh = at.meets ? static_cast<float>(fresh) : -1;
        put_plane(s, met, at.normal, at.on, line, touch);
        touch.seen = point.seen_at - carried(met, touch.lever);
        // Who rests there, as far as one sees.
        const Vector3f normal = turned(met, touch.normal);
        const float gap = normal.dot(touch.apart + touch.seen) - touch.radius,
                    leaving = normal.dot(load(lines.v, line) - speed_of(met, turned(met, touch.lever)));
        if (at.meets && gap < rest_share * touch.radius && leaving * static_cast<float>(rest) < rest_share * touch.radius) {
          holding_.push_back(static_cast<int>(touches_.size()) - 1);
          const Vector3f slip = load(lines.v, line) - speed_of(met, turned(met, touch.lever));
          touch.sticks = (slip - leaving * normal).norm() * static_cast<float>(rest) < rest_share * touch.radius;
        }
      };
      if (part.part->kind != CollisionPart::Kind::surface) return add(0, part.fresh);
      const Surface& surface = *part.part->surface;
      const Vec3 local = part.part->at_origin ? x : part.part->X_BP.to_local(x);
      const Aabb around = Aabb{local, local}.grown(far);
      surface.tree().overlapping(around, [&](int t) {
        if (!surface.normal(t).isZero(0)) add(t, double(point.radius));
        return true;
      });
    };
    for (std::size_t c = 0; c < chunks_.size(); ++c) {
      if (!endless && !chunks_[c].overlaps(part.box)) continue;
      for (std::size_t k = c * chunk; k < std::min((c + 1) * chunk, points_.size()); ++k) look(k);
    }
  }
}

bool BodyTouches::look_anew(const State& s, const ParticleLines& lines, float h, Touch& touch, double push_speed) const {
  const MetBody& met = met_[touch.body];
  const Part& part = parts_[touch.part];
  const Frame X = frame_of(s, met);
  const Vec3 x = s.particle_position(touch.line - 1);
  const Vec3 from = X.to_local(x + load(lines.begun, touch.line).cast<double>());
  const Vec3 now = x + load(lines.moved, touch.line).cast<double>();
  const Vector3f lever = met.goes ? Vector3f((now - (s.p[met.body] + met.way)).cast<float>()) : Vector3f(Vector3f::Zero());
  const Vec3 to = X.to_local(now - (h * speed_of(met, lever)).cast<double>());
  const Vec3 way = to - from;
  const double length = way.norm(), radius = touch.radius, behind = behind_radii * radius + push_speed * double(h);
  // From plane to plane, each where the way comes to the one before: convex parts lie behind all of them.
  double share = 0;
  NearShape at;
  for (int round = 0; round < most_planes; ++round) {
    const Vec3 place = from + share * way;
    at = near_shape(*part.part, touch.triangle, place, radius + length + 1e-9, behind);
    if (!at.near) return false;
    const double gap = at.normal.dot(place - at.on) - radius, closing = -at.normal.dot(way);
    if (at.meets && gap <= 0.01 * radius) break;
    if (closing <= 0 || gap > (1 - share) * closing) {
      if (at.meets) break;  // this plane parts them all the way
      return false;
    }
    share += std::max(gap, 0.0) / closing;
    // At the plane of a triangle, but beside it: on, until over it.
    if (!at.meets && gap <= 0) share += 0.1;
    share = std::min(share, 1.0);
  }
  if (!at.meets) return false;
  put_plane(s, met, at.normal, at.on, touch.line, touch);
  const Vec3 place = from + share * way;
  // Where on its way along the body that was.
  const Vector3f begun = load(lines.begun, touch.line) - carried(met, touch.lever);
  touch.seen = begun + ((X.R * (place - from))).cast<float>();
  if (touch.fresh < 0) touch.fresh = touch.radius;
  return true;
}

Eigen::Vector3f BodyTouches::arm_of(const MetBody& met, const Touch& touch) {
  return turned(met, touch.lever) + touch.radius * turned(met, touch.normal);
}

void BodyTouches::push_one(const State& s, ParticleLines& lines, float h, double push_speed, Touch& touch) {
  MetBody& met = met_[touch.body];
  float* at = lines.moved[touch.line].at;
  const float w = at[3];
  if (w == 0 && !met.moves) return;
  Vector3f normal, lever, along, gap_at;
  float gap = 0;
  const auto measure = [&] {
    normal = turned(met, touch.normal);
    lever = turned(met, touch.lever);
    along = Vector3f(at[0], at[1], at[2]) - carried(met, touch.lever) - h * speed_of(met, lever);
    gap_at = touch.apart + along;
    gap = normal.dot(gap_at) - touch.radius;
  };
  measure();
  if (gap >= 0 && touch.pressed == 0 && touch.borne <= 0) return;
  if (touch.pressed == 0 && !touch.known) {
    if (touch.fresh < 0 || (along - touch.seen).squaredNorm() > touch.fresh * touch.fresh) {
      if (!look_anew(s, lines, h, touch, push_speed)) return;
      measure();
      if (gap >= 0 && touch.borne <= 0) return;
    }
    touch.known = true;
    const Vector3f begun = load(lines.begun, touch.line) - carried(met, touch.lever);
    touch.depth = normal.dot(touch.apart + begun) - touch.radius;
  }
  if (touch.depth < 0) gap -= std::min(0.0F, touch.depth + static_cast<float>(push_speed) * h);
  const Vector3f arm = lever + gap_at - touch.radius * normal;  // where the particle is, from the centre of mass
  const float pressed = std::max(touch.pressed - gap / (w + inverse_mass_along(met, arm, normal)), 0.0F);
  give((pressed - touch.pressed) * normal, arm, h, at, met);
  touch.pressed = pressed;
}

void BodyTouches::give(const Vector3f& impulse, const Vector3f& arm, float h, float* moved, MetBody& met) {
  for (int k = 0; k < 3; ++k) moved[k] += moved[3] * impulse[k];
  if (!met.moves) return;
  const Vector3f back = impulse * (-1 / h), turning = arm.cross(back);
  met.v += met.inverse_mass * back;
  met.omega += met.inverse_inertia * turning;
  met.push += back.cast<double>();
  met.twist += turning.cast<double>();
}

void BodyTouches::rub(ParticleLines& lines, float h, Touch& touch) {
  MetBody& met = met_[touch.body];
  float* at = lines.moved[touch.line].at;
  const float w = at[3], bound = std::max(touch.pressed + touch.borne, 0.0F);
  touch.rubbed.setZero();
  touch.sticks = false;
  if (bound == 0) return;
  const Vector3f normal = turned(met, touch.normal), arm = arm_of(met, touch);
  Vector3f slid = Vector3f(at[0], at[1], at[2]) - load(lines.begun, touch.line) - h * (speed_of(met, arm) + met.belt);
  slid -= normal.dot(slid) * normal;
  // Of the way in this substep, the share after it came to the plane: what went before slid on nothing.
  const float came = std::max(touch.depth, 0.0F), pushed = touch.pressed * (w + inverse_mass_along(met, arm, normal));
  if (touch.borne <= 0) slid *= pushed / (pushed + came);
  const float length = slid.norm();
  const float most = touch.static_friction * bound;
  touch.sticks = touch.dragged.norm() <= most;
  if (length == 0) return;
  touch.rubbed = slid * (-1 / (w + inverse_mass_along(met, arm, slid / length)));
  const float size = touch.rubbed.norm();
  if (size > most) touch.rubbed *= touch.friction * bound / size;
  // What springs drag it with, and what it slid by itself, are both friction's to hold.
  touch.sticks = size <= most && (touch.rubbed - touch.dragged).norm() <= most;
  give(touch.rubbed, arm, h, at, met);
}

void BodyTouches::hold(ParticleLines& lines) {
  for (MetBody& met : met_) met.holding = 0;
  for (const int k : pressing_) {
    touches_[k].borne = 0;
    touches_[k].dragged.setZero();
  }
  lines.any_held = false;
  for (const int k : holding_) ++met_[touches_[k].body].holding;
  for (const int k : holding_) {
    Touch& touch = touches_[k];
    const MetBody& met = met_[touch.body];
    ParticleLine& held = lines.held[touch.line];
    ParticleLine& moved = lines.moved[touch.line];
    const float w = moved.at[3];
    touch.holds =
        w > 0 && std::all_of(std::begin(held.at), std::end(held.at), [](float x) { return x == 0; });  // the first alone
    if (!touch.holds) continue;
    lines.any_held = true;
    // As many as rest on a body have a share of its inertia each: all that they do together is never more than it bears.
    const auto share = static_cast<float>(met.holding);
    const Vector3f arm = arm_of(met, touch), normal = turned(met, touch.normal);
    if (touch.sticks) {
      const float body = met.moves ? share * (met.inverse_mass + arm.squaredNorm() * met.inverse_inertia.trace()) : 0;
      touch.was = moved;
      moved.at[3] = std::max(w * body / (w + body), least_share * w);
      held.at[3] = 1;  // taken
    } else {
      const float c = w / std::sqrt(w + share * inverse_mass_along(met, arm, normal));
      for (int n = 0; n < 3; ++n) held.at[n] = c * normal[n];
    }
  }
}

void BodyTouches::bear(ParticleLines& lines, float h) {
  for (const int k : holding_) {
    Touch& touch = touches_[k];
    if (!touch.holds) continue;
    MetBody& met = met_[touch.body];
    ParticleLine& held = lines.held[touch.line];
    ParticleLine& moved = lines.moved[touch.line];
    Vector3f borne;
    if (touch.sticks) {
      const float w = touch.was.at[3], shared = moved.at[3];
      for (int n = 0; n < 3; ++n) borne[n] = (moved.at[n] - touch.was.at[n]) * (1 / shared - 1 / w);
      moved.at[3] = w;
    } else {
      borne = held.at[3] / moved.at[3] * Vector3f(held.at[0], held.at[1], held.at[2]);
    }
    held = {};
    const Vector3f normal = turned(met, touch.normal);
    touch.borne = -normal.dot(borne);
    touch.dragged = borne + touch.borne * normal;
    if (!met.moves) continue;
    const Vector3f arm = arm_of(met, touch), impulse = borne / h, turning = arm.cross(impulse);
    met.v += met.inverse_mass * impulse;
    met.omega += met.inverse_inertia * turning;
    met.push += impulse.cast<double>();
    met.twist += turning.cast<double>();
  }
}

void BodyTouches::push(const State& s, ParticleLines& lines, float h, double push_speed) {
  constexpr int rounds = 2;
  for (MetBody& met : met_) {
    const Body& body = model_.bodies[met.body];
    if (!body.surface_velocity.isZero(0)) met.belt = turned(met, (s.theta[met.body] * body.surface_velocity).cast<float>());
  }
  pressing_.clear();
  for (std::size_t k = 0; k < touches_.size(); ++k) {
    Touch& touch = touches_[k];
    touch.pressed = 0;
    touch.known = false;
    push_one(s, lines, h, push_speed, touch);
    if (touch.known || touch.borne != 0) pressing_.push_back(static_cast<int>(k));
  }
  for (int round = 1; round < rounds; ++round)
    for (const int k : pressing_)
      if (touches_[k].known) push_one(s, lines, h, push_speed, touches_[k]);
  for (const int k : pressing_) rub(lines, h, touches_[k]);
  for (const int k : holding_) touches_[k].holds = false;
  holding_.clear();
  for (const int k : pressing_) {
    Touch& touch = touches_[k];
    touch.holds = touch.pressed + touch.borne > 0;
    if (touch.holds) holding_.push_back(k);
  }
}

void BodyTouches::settle(ParticleLines& lines, BodyLines& bodies, float h) {
  touching_ = static_cast<int>(pressing_.size());
  for (const int k : pressing_) {
    Touch& touch = touches_[k];
    if (touch.depth >= 0 || touch.pressed == 0) continue;
    MetBody& met = met_[touch.body];
    const Vector3f normal = turned(met, touch.normal), arm = arm_of(met, touch);
    float* v = lines.v[touch.line].at;
    const float w = lines.inverse_mass(touch.line), leaving = normal.dot(Vector3f(v[0], v[1], v[2]) - speed_of(met, arm));
    if (leaving <= 0) continue;
    const float back = std::min(h * leaving / (w + inverse_mass_along(met, arm, normal)), touch.pressed);
    touch.pressed -= back;
    for (int n = 0; n < 3; ++n) v[n] -= w * back / h * normal[n];
    if (!met.moves) continue;
    const Vector3f impulse = back / h * normal, turning = arm.cross(impulse);
    met.v += met.inverse_mass * impulse;
    met.omega += met.inverse_inertia * turning;
    met.push += impulse.cast<double>();
    met.twist += turning.cast<double>();
  }
  for (const MetBody& met : met_) give_body(met, 1, bodies);
}

void BodyTouches::take_back(BodyLines& bodies) {
  for (MetBody& met : met_) {
    give_body(met, -1, bodies);
    met.push.setZero();
    met.twist.setZero();
  }
}

void BodyTouches::book(const ParticleLines& lines, const BodyLines& bodies, float h, SoftWork& work) {
  for (MetBody& met : met_) find_mean(bodies, met);
  for (const int k : pressing_) {
    const Touch& touch = touches_[k];
    const MetBody& met = met_[touch.body];
    const Vector3f normal = turned(met, touch.normal), arm = arm_of(met, touch);
    Vector3f body = Vector3f::Zero();
    if (met.goes) body = met.mean_v + met.mean_omega.cross(arm);
    const Vector3f mean = 0.5F * (load(lines.first, touch.line) + load(lines.v, touch.line)) - body;
    const float pressed = touch.pressed + touch.borne;
    const Vector3f along = touch.rubbed - touch.dragged;
    work.normal += double(pressed / h) * double(normal.dot(mean));
    work.friction += double(along.dot(mean - met.belt) / h);
    work.led += double(along.dot(met.belt) / h);
    if (met.goes && !met.moves) work.led += double((pressed * normal + along).dot(body) / h);
  }
}

}  // namespace rotule::realtime
