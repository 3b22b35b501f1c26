#include "record/recorded_motion.h"

#include <fmt/format.h>
#include <rotule/error.h>
#include <rotule/world.h>

#include <algorithm>
#include <cmath>

#include "model/names.h"
#include "model/solid_surface.h"

namespace rotule {

namespace {

/// What a damaged file may hold and no program could draw.
void require_motion(const TrajectoryFrame& frame, const std::string& origin, std::size_t number) {
  const auto refuse = [&](std::string_view what) {
    throw Error(origin, fmt::format("{} of frame {} is not a motion; record it again", what, number));
  };
  for (const QuantityKey key : {QuantityKey("position"), QuantityKey("orientation"), QuantityKey("velocity"),
                                QuantityKey("particle_position"), QuantityKey("particle_velocity")})
    if (!std::all_of(frame[key].begin(), frame[key].end(), [](double x) { return std::isfinite(x); }))
      refuse(quantity(key).dataset);
  const std::vector<double>& orientation = frame["orientation"];
  for (std::size_t i = 0; i + 3 < orientation.size(); i += 4)
    if (!(std::abs(Eigen::Map<const Eigen::Vector4d>(&orientation[i]).norm() - 1) < 1e-3)) refuse("/orientation");
}

}  // namespace

RecordedMotion RecordedMotion::of_scene(const Scene& scene, const std::string& origin) {
  RecordedMotion out;
  out.scene = scene;
  out.origin = origin;
  name_unnamed(out.scene);
  try {
    const World world(out.scene);
    capture(world, out.start_);
    for (const BodyId body : world.bodies()) out.bodies.push_back(world.name(body));
    for (const JointId joint : world.joints()) out.joints.push_back(world.name(joint));
    for (int k = 0; k < world.particles(); ++k) out.particles.push_back(world.particle_name(k));
  } catch (const Error& error) {
    throw Error(origin, error.what());
  }
  out.times = out.start_["time"];
  return out;
}

RecordedMotion RecordedMotion::of_recording(const std::string& path) {
  auto recording = std::make_shared<TrajectoryReader>(path);
  if (recording->frames() == 0) throw Error(path, "has no frames");
  RecordedMotion out = of_scene(parse_scene(recording->scene(), path), path);
  if (out.bodies != recording->body_names() || out.joints != recording->joint_names() ||
      out.particles.size() != recording->particles())
    throw Error(path, "the scene inside is not that of its bodies, joints and particles");
  out.times = recording->series("/time");
  if (out.times.size() != recording->frames() ||
      !std::all_of(out.times.begin(), out.times.end(), [](double t) { return std::isfinite(t); }) ||
      !std::is_sorted(out.times.begin(), out.times.end()))
    throw Error(path, "/time is not a course of time");
  out.recording_ = std::move(recording);
  return out;
}

std::vector<std::size_t> RecordedMotion::moments(double rate) const {
  std::vector<std::size_t> out;
  if (rate <= 0) {
    for (std::size_t i = 0; i < times.size(); ++i) out.push_back(i);
    return out;
  }
  // The frame nearest to each picture's time; where frames are rarer than pictures, each frame once.
  double next = times.front();
  for (std::size_t i = 0; i < times.size(); ++i) {
    const double until_next = i + 1 < times.size() ? (times[i] + times[i + 1]) / 2 : times[i];
    if (until_next < next && i + 1 < times.size()) continue;
    out.push_back(i);
    next = std::max(next + 1 / rate, times.front() + std::floor((times[i] - times.front()) * rate + 1.5) / rate);
  }
  return out;
}

void RecordedMotion::visit(const std::vector<std::size_t>& wanted,
                           const std::function<void(const TrajectoryFrame&)>& look) const {
  if (!recording_) {
    for (std::size_t i = 0; i < wanted.size(); ++i) look(start_);
    return;
  }
  constexpr std::size_t piece = 64;  // frames, as the file's chunks
  for (std::size_t next = 0; next < wanted.size();) {
    const std::size_t first = wanted[next] / piece * piece, count = std::min(piece, times.size() - first);
    const std::vector<TrajectoryFrame> frames = recording_->frames(first, count);
    for (; next < wanted.size() && wanted[next] < first + count; ++next) {
      const TrajectoryFrame& frame = frames[wanted[next] - first];
      require_motion(frame, origin, wanted[next]);
      look(frame);
    }
  }
}

double RecordedMotion::extent(const std::vector<std::size_t>& wanted) const {
  Vec3 low = Vec3::Constant(infinity), high = -low;
  visit(wanted, [&](const TrajectoryFrame& frame) {
    for (const std::vector<double>* points : {&frame["position"], &frame["particle_position"]})
      for (std::size_t i = 0; i + 2 < points->size(); i += 3) {
        const Eigen::Map<const Vec3> p(points->data() + i);
        if (!p.allFinite()) continue;
        low = low.cwiseMin(p);
        high = high.cwiseMax(p);
      }
  });
  return low.x() <= high.x() ? std::max(1.0, (high - low).maxCoeff()) : 1.0;
}

ParticleMesh particle_mesh(const Scene& scene) {
  ParticleMesh out;
  int first = 0;
  const auto add = [&](const ParticleGroup& group) {
    for (const TriangleSet& set : group.triangles)
      for (const auto& [a, b, c] : set.triangles) out.triangles.push_back({first + a, first + b, first + c});
    for (const SpringSet& set : group.springs)
      for (const auto& [a, b] : set.pairs) out.springs.push_back({first + a, first + b});
  };
  for (const ParticleGroup& group : scene.particles) {
    add(group);
    first += static_cast<int>(group.positions.size());
  }
  for (const SolidDef& solid : scene.solids) {
    const ParticleGroup group = build(solid);
    if (const auto* cloth = std::get_if<Cloth>(&solid)) {
      for (int row = 0; row + 1 < cloth->rows; ++row)
        for (int column = 0; column + 1 < cloth->columns; ++column) {
          const int a = first + row * cloth->columns + column, b = a + 1, c = a + cloth->columns, d = c + 1;
          out.triangles.push_back({a, b, d});
          out.triangles.push_back({a, d, c});
        }
    } else {
      add(group);
      if (!group.tetrahedra.empty())
        for (const auto& [a, b, c] : surface_triangles(solid)) out.triangles.push_back({first + a, first + b, first + c});
    }
    first += static_cast<int>(group.positions.size());
  }
  return out;
}

}  // namespace rotule
