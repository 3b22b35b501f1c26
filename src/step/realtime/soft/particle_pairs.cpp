#include "step/realtime/soft/particle_pairs.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "constraint/pool/contact.h"

namespace rotule::realtime {

namespace {

constexpr double wide_share = 0.9;       // of the mean edge
constexpr float neighbour_share = 1.5F;  // of that: who was nearer at the start is a neighbour
constexpr float most_ways = 6;           // of that in a step, against the mean: who is faster may pass
constexpr float slack_share = 0.15F;     // of that: how far anyone may go astray

Eigen::Vector3f load_way(const std::vector<ParticleLine>& lines, int line) {
  const float* at = lines[static_cast<std::size_t>(line)].at;
  return {at[0], at[1], at[2]};
}

double mean_edge(const ParticleSurface& surface, const VecX& rest) {
  double sum = 0;
  std::size_t count = 0;
  const auto add = [&](int i, int j) {
    sum += (rest.segment<3>(3 * i) - rest.segment<3>(3 * j)).norm();
    ++count;
  };
  for (const std::array<int, 3>& face : surface.faces)
    for (std::size_t e = 0; e < 3; ++e) add(face[e], face[(e + 1) % 3]);
  for (const auto& [i, j] : surface.segments) add(i, j);
  return count > 0 ? sum / static_cast<double>(count) : 0;
}

/// Three numbers of 21 bits.
std::uint64_t pack(int i, int j, int k) {
  constexpr std::uint64_t mask = (1U << 21U) - 1;
  return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(i)) & mask) << 42U |
         (static_cast<std::uint64_t>(static_cast<std::uint32_t>(j)) & mask) << 21U |
         (static_cast<std::uint64_t>(static_cast<std::uint32_t>(k)) & mask);
}
std::size_t bucket_of(std::uint64_t cell, std::size_t mask) {
  cell *= 0x9E3779B97F4A7C15ULL;
  return static_cast<std::size_t>(cell >> 32U) & mask;
}

}  // namespace

ParticlePairs::ParticlePairs(const Model& model, const VecX& rest) : model_(&model) {
  const auto& surfaces = model.particle_surfaces;
  const bool some = std::any_of(surfaces.begin(), surfaces.end(), [](const auto& surface) { return surface.itself; });
  if (!some && surfaces.size() < 2) return;
  const Vec3 origin = rest.segment<3>(3 * static_cast<Eigen::Index>(surfaces.front().first));
  for (int k = 0; k < static_cast<int>(surfaces.size()); ++k) {
    const ParticleSurface& surface = surfaces[k];
    wide_.push_back(static_cast<float>(std::max(2 * surface.radius, wide_share * mean_edge(surface, rest))));
    std::vector<char> outside(static_cast<std::size_t>(surface.count), surface.faces.empty() ? 1 : 0);
    for (const std::array<int, 3>& face : surface.faces)
      for (const int corner : face) outside[static_cast<std::size_t>(corner - surface.first)] = 1;
    for (int n = 0; n < surface.count; ++n)
      if (outside[static_cast<std::size_t>(n)] != 0)
        points_.push_back(
            {surface.first + n, k, (rest.segment<3>(3 * (static_cast<Eigen::Index>(surface.first) + n)) - origin).cast<float>()});
  }
  for (const ParticleSurface& a : surfaces)
    for (const ParticleSurface& b : surfaces) laws_.push_back(surface_between(model, a.law, a.material, b.law, b.material));
  boxes_.resize(points_.size());
}

bool ParticlePairs::are_neighbours(int i, int j) const {
  const Point &p = points_[i], &q = points_[j];
  if (p.surface != q.surface) return false;
  const float near = neighbour_share * wide_[p.surface];
  return (p.rest - q.rest).squaredNorm() < near * near || !model_->particle_surfaces[p.surface].itself;
}

void ParticlePairs::consider(const State& s, int i, int j) {
  const Point &p = points_[std::min(i, j)], &q = points_[std::max(i, j)];
  const int a = line_of_particle(p.particle), b = line_of_particle(q.particle);
  float wide = 0.5F * (wide_[p.surface] + wide_[q.surface]);
  if (p.surface != q.surface) {
    const double thick = model_->particle_surfaces[p.surface].radius + model_->particle_surfaces[q.surface].radius;
    wide = std::min(wide, std::max((p.rest - q.rest).norm(), static_cast<float>(thick)));
  }
  if (!model_->particles.movable(p.particle) && !model_->particles.movable(q.particle)) return;
  Pair& pair = pairs_.emplace_back();
  pair.a = a;
  pair.b = b;
  pair.apart = (s.particle_position(p.particle) - s.particle_position(q.particle)).cast<float>();
  pair.wide = wide;
  const SurfaceLaw& law = laws_[static_cast<std::size_t>(p.surface) * wide_.size() + static_cast<std::size_t>(q.surface)];
  pair.friction = static_cast<float>(law.friction);
  pair.static_friction = static_cast<float>(law.static_friction);
}

void ParticlePairs::find(const State& s, const ParticleLines& lines, double rest) {
  pairs_.clear();
  pressing_.clear();
  if (points_.empty()) return;
  // All as seen by who moves with the mean of them.
  Vec3 origin = Vec3::Zero(), mean = Vec3::Zero();
  for (const Point& point : points_) {
    origin += s.particle_position(point.particle);
    mean += load_way(lines.v, line_of_particle(point.particle)).cast<double>();
  }
  origin /= static_cast<double>(points_.size());
  mean /= static_cast<double>(points_.size());
  const auto h = static_cast<float>(rest);
  double extent = 0;
  for (std::size_t k = 0; k < points_.size(); ++k) {
    const int line = line_of_particle(points_[k].particle);
    const Eigen::Vector3f x = (s.particle_position(points_[k].particle) - origin).cast<float>() + load_way(lines.moved, line),
                          free = h * (load_way(lines.v, line) - mean.cast<float>());
    const float wide = wide_[points_[k].surface], length = free.norm();
    const Eigen::Vector3f way = free * std::min(1.0F, most_ways * wide / std::max(length, 1e-30F));
    const float slack = 0.25F * way.norm() + slack_share * wide;
    const Eigen::Vector3f room = Eigen::Vector3f::Constant(0.5F * wide + slack);
    boxes_[k] = {x.cwiseMin(x + way) - room, x.cwiseMax(x + way) + room};
    extent += double((boxes_[k].high - boxes_[k].low).maxCoeff());
  }
  const float cell = static_cast<float>(1.3 * extent / static_cast<double>(points_.size())), inverse = 1 / cell;
  const auto cell_of = [&](const Eigen::Vector3f& x) -> Eigen::Vector3i {
    return (x * inverse).array().floor().cwiseMax(-1e6F).cwiseMin(1e6F).matrix().cast<int>();
  };
  entries_.clear();
  for (std::size_t k = 0; k < points_.size(); ++k) {
    const Eigen::Vector3i low = cell_of(boxes_[k].low), high = cell_of(boxes_[k].high);
    for (int i = low[0]; i <= high[0]; ++i)
      for (int j = low[1]; j <= high[1]; ++j)
        for (int l = low[2]; l <= high[2]; ++l) entries_.push_back({pack(i, j, l), static_cast<int>(k)});
  }
  const std::size_t buckets = std::bit_ceil(2 * entries_.size()), mask = buckets - 1;
  starts_.assign(buckets + 1, 0);
  for (const Entry& entry : entries_) ++starts_[bucket_of(entry.cell, mask) + 1];
  for (std::size_t b = 0; b < buckets; ++b) starts_[b + 1] += starts_[b];
  sorted_.resize(entries_.size());
  for (const Entry& entry : entries_) sorted_[static_cast<std::size_t>(starts_[bucket_of(entry.cell, mask)]++)] = entry;
  int first = 0;
  for (std::size_t b = 0; b < buckets; ++b) {
    const int last = starts_[b];
    for (int m = first; m < last; ++m)
      for (int n = m + 1; n < last; ++n) {
        if (sorted_[m].cell != sorted_[n].cell) continue;
        const int i = sorted_[m].point, j = sorted_[n].point;
        const Box &p = boxes_[i], &q = boxes_[j];
        if (p.low[0] > q.high[0] || q.low[0] > p.high[0] || p.low[1] > q.high[1] || q.low[1] > p.high[1] ||
            p.low[2] > q.high[2] || q.low[2] > p.high[2])
          continue;
        if (are_neighbours(i, j)) continue;
        // Of the cells that both are in, the one with the smallest corner of what they share.
        const Eigen::Vector3i own = cell_of(p.low.cwiseMax(q.low));
        if (pack(own[0], own[1], own[2]) == sorted_[m].cell) consider(s, i, j);
      }
    first = last;
  }
}

void ParticlePairs::push(ParticleLines& lines, float h, double push_speed) {
  pressing_.clear();
  for (std::size_t k = 0; k < pairs_.size(); ++k) {
    Pair& pair = pairs_[k];
    float* a = lines.moved[pair.a].at;
    float* b = lines.moved[pair.b].at;
    const Eigen::Vector3f begun = pair.apart + (load_way(lines.begun, pair.a) - load_way(lines.begun, pair.b)),
                          now = pair.apart + (load_way(lines.moved, pair.a) - load_way(lines.moved, pair.b));
    const float square = begun.squaredNorm(), wide = pair.wide, along = begun.dot(now);
    // Parted by a plane through the second ball, all the way.
    if (along >= 0 && along * along >= wide * wide * square && square >= wide * wide) continue;
    float target = wide, after = 1;  // the share of the way after they met
    const Eigen::Vector3f way = now - begun;
    pair.overlaps = square < wide * wide;
    if (!pair.overlaps) {
      const float A = way.squaredNorm(), B = begun.dot(way), C = square - wide * wide, root = B * B - A * C;
      if (B >= 0 || root < 0) continue;
      const float share = C / (-B + std::sqrt(root));
      if (share > 1) continue;
      pair.normal = (begun + share * way) / wide;
      after = 1 - share;
    } else {
      const float distance = std::sqrt(square);
      pair.normal = distance > 0 ? Eigen::Vector3f(begun / distance) : Eigen::Vector3f(Eigen::Vector3f::UnitZ());
      target = std::min(wide, distance + static_cast<float>(push_speed) * h);
    }
    const float gap = pair.normal.dot(now) - target, w = a[3] + b[3];
    if (gap >= 0) continue;
    pair.pressed = -gap / w;
    // Friction, against what they slid in this substep.
    const Eigen::Vector3f slid = after * (way - pair.normal.dot(way) * pair.normal);
    pair.rubbed = -slid / w;
    const float size = pair.rubbed.norm();
    if (size > pair.static_friction * pair.pressed) pair.rubbed *= pair.friction * pair.pressed / size;
    const Eigen::Vector3f impulse = pair.pressed * pair.normal + pair.rubbed;
    for (int n = 0; n < 3; ++n) {
      a[n] += a[3] * impulse[n];
      b[n] -= b[3] * impulse[n];
    }
    pair.before = load_way(lines.first, pair.a) - load_way(lines.first, pair.b);
    pressing_.push_back(static_cast<int>(k));
  }
}

void ParticlePairs::settle(ParticleLines& lines, float h) {
  for (const int k : pressing_) {
    Pair& pair = pairs_[k];
    if (pair.overlaps) {
      const float wa = lines.inverse_mass(pair.a), wb = lines.inverse_mass(pair.b);
      const float leaving = pair.normal.dot(load_way(lines.v, pair.a) - load_way(lines.v, pair.b));
      const float back = std::min(h * leaving / (wa + wb), pair.pressed);
      if (back > 0) {
        pair.pressed -= back;
        for (int n = 0; n < 3; ++n) {
          lines.v[pair.a].at[n] -= wa * back / h * pair.normal[n];
          lines.v[pair.b].at[n] += wb * back / h * pair.normal[n];
        }
      }
    }
  }
}

void ParticlePairs::book(const ParticleLines& lines, float h, SoftWork& work) const {
  for (const int k : pressing_) {
    const Pair& pair = pairs_[k];
    const Eigen::Vector3f mean = 0.5F * (pair.before + (load_way(lines.v, pair.a) - load_way(lines.v, pair.b)));
    work.normal += double(pair.pressed * pair.normal.dot(mean) / h);
    work.friction += double(pair.rubbed.dot(mean) / h);
  }
}

}  // namespace rotule::realtime
