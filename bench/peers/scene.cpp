#include "peers/scene.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace peers {

namespace {

using Json = nlohmann::json;

Vec vector(const Json& j) { return {j[0].get<double>(), j[1].get<double>(), j[2].get<double>()}; }
Pose pose(const Json& j) {
  const Json& q = j["q"];
  return {vector(j["p"]), Turn(double(q[0]), double(q[1]), double(q[2]), double(q[3])).normalized()};
}

Part part(const Json& j) {
  Part out;
  out.at = pose(j);
  if (j.contains("box")) {
    out.half = vector(j["box"]);
  } else if (j.contains("sphere")) {
    out.kind = Part::Kind::sphere;
    out.radius = j["sphere"];
  } else {
    out.kind = Part::Kind::capsule;
    out.radius = j["capsule"][0];
    out.length = j["capsule"][1];
  }
  return out;
}

/// A part where it is in the world.
struct Placed {
  int body;
  const Part* part;
  Vec centre, end_0, end_1;
  Eigen::Matrix3d axes;
  double reach;
};

Placed placed(int body, const Part& part, const Pose& at) {
  Placed out;
  out.body = body;
  out.part = &part;
  out.centre = at.p + at.q * part.at.p;
  out.axes = (at.q * part.at.q).toRotationMatrix();
  out.end_0 = out.centre - part.length * out.axes.col(1);
  out.end_1 = out.centre + part.length * out.axes.col(1);
  out.reach = part.kind == Part::Kind::box ? part.half.norm() : part.radius + part.length;
  return out;
}

/// By the fifteen separating axes.
double depth_of_boxes(const Placed& a, const Placed& b) {
  const Vec d = b.centre - a.centre;
  double least = std::numeric_limits<double>::infinity();
  const auto extent = [](const Placed& x, const Vec& n) { return x.part->half.dot((x.axes.transpose() * n).cwiseAbs()); };
  const auto parts_them = [&](Vec n) {
    const double length = n.norm();
    if (length < 1e-4) return false;
    n /= length;
    least = std::min(least, extent(a, n) + extent(b, n) - std::abs(d.dot(n)));
    return least <= 0;
  };
  for (int i = 0; i < 3; ++i)
    if (parts_them(a.axes.col(i)) || parts_them(b.axes.col(i))) return 0;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      if (parts_them(a.axes.col(i).cross(b.axes.col(j)))) return 0;
  return least;
}

double distance_of_segments(const Placed& a, const Placed& b) {
  const Vec d1 = a.end_1 - a.end_0, d2 = b.end_1 - b.end_0, r = a.end_0 - b.end_0;
  const double aa = d1.squaredNorm(), ee = d2.squaredNorm(), f = d2.dot(r), tiny = 1e-14;
  double s = 0, t = 0;
  if (aa <= tiny && ee <= tiny) return r.norm();
  if (aa <= tiny) {
    t = std::clamp(f / ee, 0.0, 1.0);
  } else if (ee <= tiny) {
    s = std::clamp(-d1.dot(r) / aa, 0.0, 1.0);
  } else {
    const double c = d1.dot(r), m = d1.dot(d2), det = aa * ee - m * m;
    s = det > tiny ? std::clamp((m * f - c * ee) / det, 0.0, 1.0) : 0;
    t = (m * s + f) / ee;
    if (t < 0 || t > 1) {
      t = std::clamp(t, 0.0, 1.0);
      s = std::clamp((m * t - c) / aa, 0.0, 1.0);
    }
  }
  return (a.end_0 + s * d1 - b.end_0 - t * d2).norm();
}

/// Signed: negative inside.
double distance_to_box(const Vec& x, const Placed& box) {
  const Vec q = (box.axes.transpose() * (x - box.centre)).cwiseAbs() - box.part->half;
  return q.cwiseMax(0).norm() + std::min(0.0, q.maxCoeff());
}

double depth(const Placed& a, const Placed& b) {
  const bool box_a = a.part->kind == Part::Kind::box, box_b = b.part->kind == Part::Kind::box;
  if (box_a && box_b) return depth_of_boxes(a, b);
  if (!box_a && !box_b) return a.part->radius + b.part->radius - distance_of_segments(a, b);
  const Placed &box = box_a ? a : b, &round = box_a ? b : a;
  return round.part->radius - std::min(distance_to_box(round.end_0, box), distance_to_box(round.end_1, box));
}

}  // namespace

Scene read_scene(const std::string& file) {
  std::ifstream in(file);
  if (!in) throw std::runtime_error(file + ": cannot be read");
  const Json j = Json::parse(in);
  Scene out;
  out.name = j["name"];
  out.gravity = vector(j["gravity"]);
  out.friction = j["friction"];
  out.dt = j["dt"];
  out.steps = j["steps"];
  for (const Json& b : j["bodies"]) {
    BodyOf& body = out.bodies.emplace_back();
    body.fixed = b["static"];
    body.at = pose(b);
    body.mass = b["mass"];
    body.inertia = vector(b["inertia"]);
    for (const Json& s : b["shapes"]) body.parts.push_back(part(s));
  }
  for (const Json& ball : j["ball_joints"]) out.joints.push_back({ball["a"], ball["b"], vector(ball["la"]), vector(ball["lb"])});
  return out;
}

double widest_joint(const Scene& scene, const std::vector<Pose>& now) {
  double widest = 0;
  for (const BallJoint& j : scene.joints) {
    const Vec a = j.a < 0 ? j.in_a : Vec(now[j.a].p + now[j.a].q * j.in_a), b = now[j.b].p + now[j.b].q * j.in_b;
    widest = std::max(widest, (a - b).norm());
  }
  return widest;
}

Quality quality_of(const Scene& scene, const std::vector<Pose>& now) {
  Quality out;
  std::vector<Placed> moving, fixed;
  for (int i = 0; i < int(scene.bodies.size()); ++i) {
    const BodyOf& body = scene.bodies[i];
    if (!now[i].p.allFinite() || !now[i].q.coeffs().allFinite()) {
      out.finite = false;
      return out;
    }
    if (!body.fixed) out.moved = std::max(out.moved, (now[i].p - body.at.p).norm());
    for (const Part& p : body.parts) (body.fixed ? fixed : moving).push_back(placed(i, p, now[i]));
  }
  std::map<std::pair<int, int>, double> pairs;
  std::map<std::pair<int, int>, bool> tied;
  for (const BallJoint& j : scene.joints) tied[std::minmax(j.a, j.b)] = true;
  const auto look = [&](const Placed& a, const Placed& b) {
    const std::pair<int, int> key = std::minmax(a.body, b.body);
    if (a.body == b.body || tied.contains(key)) return;
    if (const double d = depth(a, b); d > 1e-6) {
      double& deepest = pairs[key];
      deepest = std::max(deepest, d);
    }
  };
  for (const Placed& a : moving)
    for (const Placed& b : fixed) look(a, b);
  std::sort(moving.begin(), moving.end(),
            [](const Placed& a, const Placed& b) { return a.centre.x() - a.reach < b.centre.x() - b.reach; });
  for (std::size_t i = 0; i < moving.size(); ++i)
    for (std::size_t k = i + 1;
         k < moving.size() && moving[k].centre.x() - moving[k].reach < moving[i].centre.x() + moving[i].reach; ++k)
      if ((moving[i].centre - moving[k].centre).norm() < moving[i].reach + moving[k].reach) look(moving[i], moving[k]);
  for (const auto& [key, d] : pairs) {
    out.deepest = std::max(out.deepest, d);
    out.mean_depth += d / double(pairs.size());
  }
  out.joint_gap = widest_joint(scene, now);
  return out;
}

}  // namespace peers
