#include "mechanism/soft/soft_collider.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/budget.h"
#include "collide/narrow/separation.h"
#include "constraint/pool/contact.h"
#include "mechanism/soft/soft_distance.h"
#include "mechanism/soft/soft_limits.h"

namespace rotule {

SoftCollider::SoftCollider(const Model& model) : model_(model) {
  shapes_.reserve(static_cast<std::size_t>(model.body_count()));
  for (int i = 0; i < model.body_count(); ++i) {
    const Body& body = model.bodies[i];
    const bool met = body.touches && !body.sensor && (body.meets & 1U) != 0;  // particles are of no layer
    if (!met || std::holds_alternative<std::monostate>(body.shape)) continue;
    const CollisionShape& shape = shapes_.emplace_back(body.shape);
    for (const CollisionPart& part : shape.parts()) parts_.push_back({i, &part, part.reach + body.center_of_mass.norm()});
  }
  near_.assign(static_cast<std::size_t>(model.particle_count()), infinity);
  for (int k = 0; k < static_cast<int>(model.particle_surfaces.size()); ++k) {
    const ParticleSurface& surface = model.particle_surfaces[k];
    std::vector<char> outside(static_cast<std::size_t>(surface.count), surface.faces.empty() ? 1 : 0);
    std::vector<char> alone = outside;
    std::map<std::array<int, 2>, int> edges;
    for (const std::array<int, 3>& face : surface.faces) {
      faces_.push_back({face, 3, k});
      for (std::size_t e = 0; e < 3; ++e) {
        outside[static_cast<std::size_t>(face[e] - surface.first)] = 1;
        const auto [a, b] = std::minmax(face[e], face[(e + 1) % 3]);
        edges.emplace(std::array{a, b}, 0);
      }
    }
    for (const auto& [a, b] : surface.segments) {
      lines_.push_back({{a, b, b}, 2, k});
      edges.emplace(std::array{std::min(a, b), std::max(a, b)}, 0);
      for (const int end : {a, b}) alone[static_cast<std::size_t>(end - surface.first)] = 0;
    }
    for (int n = 0; n < surface.count; ++n) {
      const Element point{{surface.first + n, surface.first + n, surface.first + n}, 1, k};
      if (outside[static_cast<std::size_t>(n)]) points_.push_back(point);
      if (alone[static_cast<std::size_t>(n)]) edges_.push_back(point);
    }
    for (const auto& [ends, unused] : edges) edges_.push_back({{ends[0], ends[1], ends[1]}, 2, k});
    pairs_ = pairs_ || surface.itself;
  }
  pairs_ = pairs_ || model.particle_surfaces.size() > 1;
}

SoftCollider::Corners SoftCollider::corners_of(const Element& e, const Way& way) const {
  Corners out;
  out.count = e.count;
  for (int k = 0; k < 3; ++k) {
    out.x[k] = way.start.particle_position(e.corners[k]);
    out.v[k] =
        model_.particles.movable(e.corners[k]) ? Vec3(way.u.segment<3>(way.start.first(e.corners[k]))) : Vec3(Vec3::Zero());
  }
  return out;
}

Aabb SoftCollider::box_of(const Element& e, const Way& way) const {
  Aabb box;
  const Corners c = corners_of(e, way);
  for (int k = 0; k < e.count; ++k) {
    box.add(c.x[k]);
    box.add(c.at(k, way.h));
  }
  return box.grown(2 * radius(e));
}

void SoftCollider::stop(const Element& e, double share, VecX* stops) const {
  if (stops == nullptr) return;
  for (int k = 0; k < e.count; ++k) (*stops)[e.corners[k]] = std::min((*stops)[e.corners[k]], share);
}

bool SoftCollider::is_held(const SoftPair& pair) const { return std::binary_search(held_.begin(), held_.end(), pair); }

Vec3 SoftCollider::velocity_of(int body, const Way& way) const {
  return model_.movable(body) || model_.kinematic(body) ? Vec3(way.u.segment<3>(6 * body)) : Vec3(Vec3::Zero());
}

Frame SoftCollider::frame_of(int body, const Way& way, double share) const {
  const State& s = way.start;
  Mat3 R = s.theta[body].toRotationMatrix();
  Vec3 p = s.p[body];
  if (model_.movable(body) || model_.kinematic(body)) {
    const Vec3 turned = share * way.h * way.u.segment<3>(6 * body + 3);
    if (!turned.isZero(0)) R = exp_rotation(turned).toRotationMatrix() * R;
    p += share * way.h * way.u.segment<3>(6 * body);
  }
  return {R, p - R * model_.bodies[body].center_of_mass};
}

Aabb SoftCollider::box_of(const Part& part, const Way& way) const {
  const bool moves = model_.movable(part.body) || model_.kinematic(part.body);
  Aabb first = bounds(*part.part, frame_of(part.body, way, 0));
  if (!moves) return first;
  // Turning carries points off the straight line by less than their distance times the angle.
  const double angle = way.h * way.u.segment<3>(6 * part.body + 3).norm();
  return merged(first, bounds(*part.part, frame_of(part.body, way, 1))).grown(std::min(angle, 2.0) * part.reach);
}

SoftCollider::Nearest SoftCollider::nearest_to(const Corners& c, double time, const Convex& other, const Frame& X, double reach) {
  std::array<Vec3, 3> x;
  for (int k = 0; k < 3; ++k) x[k] = c.at(k, time);
  // All near to the first corner, so that nothing is lost far from the origin.
  const Vec3 origin = x[0];
  for (Vec3& corner : x) corner -= origin;
  const Convex own = c.count == 1 ? Convex::sphere(0) : Convex::triangle(x.data());
  PairMemory memory;
  const Frame place(Mat3::Identity(), origin);
  const Separation s = separation_in_world(own, place, other, X, reach, memory);
  Nearest out;
  out.near = s.near;
  out.distance = s.gap;
  out.normal = -s.normal;
  if (!s.near) return out;
  out.on_body = s.on_b;
  const Vec3 on = s.on_a - origin;
  if (c.count == 1) out.weights = {1, 0, 0};
  if (c.count == 2) {
    const auto w = nearest_on_segment(on, x[0], x[1]);
    out.weights = {w[0], w[1], 0};
  }
  if (c.count == 3) out.weights = nearest_on_triangle(on, x[0], x[1], x[2]);
  return out;
}

template <class Visit>
void SoftCollider::each_convex(const Part& part, const Aabb& box, const Way& way, const Visit& visit) const {
  if (part.part->kind == CollisionPart::Kind::convex) {
    visit(part.part->convex, 0);
    return;
  }
  // The box as the surface sees it: seen from a body that moves, it moves besides.
  const Frame X = placed(*part.part, frame_of(part.body, way, 0));
  const Vec3 half = X.R.transpose().cwiseAbs() * (0.5 * (box.high - box.low)), middle = X.to_local(box.center());
  double besides = 0;
  if (model_.movable(part.body) || model_.kinematic(part.body))
    besides = way.h * (way.u.segment<3>(6 * part.body).norm() + part.reach * way.u.segment<3>(6 * part.body + 3).norm());
  const Aabb local = Aabb{middle - half, middle + half}.grown(besides);
  part.part->surface->tree().overlapping(local, [&](int t) {
    if (!part.part->surface->normal(t).isZero(0)) visit(Convex::triangle(part.part->surface->corners(t).data()), t);
    return true;
  });
}

bool SoftCollider::is_legal(const Part& part, int triangle, const Nearest& at, const Frame& X) const {
  if (part.part->kind != CollisionPart::Kind::surface) return true;
  return part.part->surface->legal(triangle, X.to_local(at.on_body), X.R.transpose() * at.normal);
}

double SoftCollider::friction_of(const SoftContact& c, const SurfaceLaw& law, const Way& way) const {
  if (law.static_friction == law.friction) return law.friction;
  const State& s = way.start;
  Vec3 slip = -c.given;
  for (int k = 0; k < c.count; ++k) slip += c.weights[k] * s.particle_velocity(c.particles[k]);
  if (c.body >= 0 && model_.movable(c.body)) slip -= s.v(c.body) + s.omega(c.body).cross(c.lever);
  slip -= c.normal().dot(slip) * c.normal();
  return way.h * slip.norm() > slip_share * c.radius ? law.friction : law.static_friction;
}

void SoftCollider::put(const Element& e, const Part& part, const Nearest& at, double share, const Way& way,
                       std::vector<SoftContact>& out) const {
  const State& s = way.start;
  const Body& body = model_.bodies[part.body];
  SoftContact& c = out.emplace_back();
  Vec3 from = Vec3::Zero();
  for (int k = 0; k < e.count; ++k) {
    if (at.weights[k] == 0) continue;
    c.particles[c.count] = e.corners[k];
    c.weights[c.count++] = at.weights[k];
    from += at.weights[k] * s.particle_position(e.corners[k]);
  }
  const Frame X = frame_of(part.body, way, 0);
  const Vec3 point = X * frame_of(part.body, way, share).to_local(at.on_body);
  c.body = part.body;
  c.lever = point - s.p[part.body];
  c.frame = frame_about(at.normal);
  c.radius = radius(e);
  c.gap = at.normal.dot(from - point) - c.radius;
  if (model_.kinematic(part.body)) c.given = s.v(part.body) + s.omega(part.body).cross(c.lever);
  if (!body.surface_velocity.isZero(0)) {
    const Vec3 belt = X.R * body.surface_velocity;
    c.given += belt - at.normal.dot(belt) * at.normal;
  }
  const ParticleSurface& surface = model_.particle_surfaces[e.surface];
  c.friction = friction_of(c, surface_between(model_, surface.law, surface.material, body.surface, body.material), way);
}

void SoftCollider::find_on_plane(const Part& part, const Way& way, std::vector<SoftContact>& out) const {
  const Frame X = placed(*part.part, frame_of(part.body, way, 0));
  const Vec3 n = X.R.col(2), v = velocity_of(part.body, way);
  for (const Element& e : points_) {
    const Corners c = corners_of(e, way);
    const double distance = n.dot(c.x[0] - X.p);
    // Seen from anywhere, a half-space has the same normal.
    const double closing = way.h * (n.dot(v - c.v[0]) + way.h * model_.gravity.norm());
    if (distance > 2 * radius(e) + std::max(closing, 0.0)) continue;
    Nearest at{.distance = distance, .normal = n, .weights = {1, 0, 0}};
    at.on_body = c.x[0] - distance * n;
    put(e, part, at, 0, way, out);
  }
}

int SoftCollider::sweep_plane(const Part& part, const Way& way, std::vector<SoftContact>& out, VecX* stops) const {
  const Frame X = placed(*part.part, frame_of(part.body, way, 0)), end = placed(*part.part, frame_of(part.body, way, 1));
  int met = 0;
  for (const Element& e : points_) {
    const Corners c = corners_of(e, way);
    const double before = X.R.col(2).dot(c.x[0] - X.p), after = end.R.col(2).dot(c.at(0, way.h) - end.p);
    if (after > deep_share * radius(e) || before <= after) continue;
    ++met;
    const double share = std::clamp((before - deep_share * radius(e)) / (before - after), 0.0, 1.0);
    stop(e, share, stops);
    Nearest at{.distance = after, .normal = end.R.col(2), .weights = {1, 0, 0}};
    at.on_body = c.at(0, way.h) - after * end.R.col(2);
    put(e, part, at, 1, way, out);
  }
  return met;
}

void SoftCollider::find_on(const Part& part, int number, const Way& way, std::vector<SoftContact>& out) {
  const Aabb around = box_of(part, way);
  const Frame X = placed(*part.part, frame_of(part.body, way, 0));
  for (const Element& e : points_) near_[static_cast<std::size_t>(e.corners[0])] = infinity;
  int place = 0;
  const auto look = [&](const Element& e) {
    const int own = place++;
    const Aabb box = box_of(e, way);
    if (!box.overlaps(around)) return;
    const Corners corners = corners_of(e, way);
    double least = infinity;
    for (int k = 0; k < e.count; ++k) least = std::min(least, near_[static_cast<std::size_t>(e.corners[k])]);
    each_convex(part, box, way, [&](const Convex& convex, int triangle) {
      const Nearest at = nearest_to(corners, 0, convex, X, 2 * radius(e));
      if (!at.near || at.distance > 2 * radius(e)) return;
      held_.push_back({own, number, triangle});
      if (!is_legal(part, triangle, at, X)) return;
      // A triangle is of use where it is nearer than its corners.
      if (e.count == 1)
        near_[static_cast<std::size_t>(e.corners[0])] = std::min(near_[static_cast<std::size_t>(e.corners[0])], at.distance);
      else if (at.distance > least - nearer_share * radius(e))
        return;
      put(e, part, at, 0, way, out);
    });
  };
  for (const std::vector<Element>* all : {&points_, &lines_, &faces_}) std::for_each(all->begin(), all->end(), look);
}

int SoftCollider::sweep_on(const Part& part, int number, const Way& way, std::vector<SoftContact>& out, VecX* stops) {
  const Aabb around = box_of(part, way);
  const Vec3 v = velocity_of(part.body, way);
  const bool turns = model_.movable(part.body) || model_.kinematic(part.body);
  const double spin = turns ? way.u.segment<3>(6 * part.body + 3).norm() : 0;
  int met = 0, place = 0;
  const auto look = [&](const Element& e) {
    const int own = place++;
    const Aabb box = box_of(e, way);
    if (!box.overlaps(around)) return;
    const Corners corners = corners_of(e, way);
    double fastest = 0;
    for (int k = 0; k < e.count; ++k) fastest = std::max(fastest, (corners.v[k] - v).norm());
    const double most = way.h * (fastest + spin * part.reach);
    each_convex(part, box, way, [&](const Convex& convex, int triangle) {
      const bool held = is_held({own, number, triangle});
      double target = (held ? deep_share : 1.0) * radius(e), share = 0;
      for (int round = 0;; ++round) {
        const Frame X = placed(*part.part, frame_of(part.body, way, share));
        const Nearest at = nearest_to(corners, share * way.h, convex, X, target + most);
        if (!at.near) return;
        // Who begins deeper than that has a contact that takes him out.
        if (round == 0 && held) target = std::min(target, 0.5 * at.distance);
        if (target <= 0) return;
        const double close = (1 + sweep_share) * target;
        double closing = spin * part.reach;
        for (int k = 0; k < e.count; ++k) closing = std::max(closing, at.normal.dot(v - corners.v[k]) + spin * part.reach);
        if (at.distance <= close || round == most_advances) {
          // Parting, or beside an inner edge of a surface, it is nothing to be met.
          if (closing <= 0 || !is_legal(part, triangle, at, X)) return;
          ++met;
          met_.push_back({own, number, triangle});
          stop(e, share, stops);
          put(e, part, at, share, way, out);
          return;
        }
        if (closing <= 0) return;
        share += (at.distance - target) / (closing * way.h);
        if (share > 1) return;
      }
    });
  };
  for (const std::vector<Element>* all : {&points_, &lines_, &faces_}) std::for_each(all->begin(), all->end(), look);
  return met;
}

void SoftCollider::find(const Way& way, std::vector<SoftContact>& out) {
  out.clear();
  held_.clear();
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    Budget::listen();
    if (parts_[p].part->kind == CollisionPart::Kind::plane)
      find_on_plane(parts_[p], way, out);
    else
      find_on(parts_[p], static_cast<int>(p), way, out);
  }
  if (pairs_) find_pairs(way, out);
  std::sort(held_.begin(), held_.end());
}

int SoftCollider::sweep(const Way& way, std::vector<SoftContact>& out, VecX* stops) {
  if (stops != nullptr) stops->setOnes(model_.particle_count());
  int met = 0;
  met_.clear();
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    Budget::listen();
    met += parts_[p].part->kind == CollisionPart::Kind::plane ? sweep_plane(parts_[p], way, out, stops)
                                                              : sweep_on(parts_[p], static_cast<int>(p), way, out, stops);
  }
  if (pairs_) met += sweep_pairs(way, out, stops);
  if (stops == nullptr) {
    held_.insert(held_.end(), met_.begin(), met_.end());
    std::sort(held_.begin(), held_.end());
  }
  return met;
}

}  // namespace rotule
