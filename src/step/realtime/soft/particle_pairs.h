#pragma once
// Particles against particles: cloth on itself and on other cloth. Each is a ball there, nine tenths as wide as its group's edges
// are long, or as the group is thick: balls in a square lattice, so wide, let no ball like them through. Pairs whose places at
// the start are nearer than one and a half times that are neighbours, and none; pairs of two groups that began nearer stay so.
// Found once per step in a grid over the ways ahead, against the mean motion of all; in a substep two balls that meet on their
// way are held apart along the line on which they met, with friction.
#include <cstdint>
#include <vector>

#include "model/model.h"
#include "step/realtime/soft/body_touches.h"

namespace rotule::realtime {

class ParticlePairs {
 public:
  ParticlePairs() = default;
  /// `rest`: where particles were at the start, three coordinates each.
  ParticlePairs(const Model& model, const VecX& rest);

  [[nodiscard]] bool any() const { return !points_.empty(); }
  /// Who may meet in what is left of a step, `rest`, at the start of a substep.
  void find(const State& s, const ParticleLines& lines, double rest);
  void push(ParticleLines& lines, float h, double push_speed);
  void settle(ParticleLines& lines, float h);
  void book(const ParticleLines& lines, float h, SoftWork& work) const;
  [[nodiscard]] int touching() const { return static_cast<int>(pressing_.size()); }

 private:
  struct Point {
    int particle = -1, surface = -1;
    Eigen::Vector3f rest;  // from the first of all
  };
  struct Pair {
    int a = 0, b = 0;       // lines
    Eigen::Vector3f apart;  // from b to a at the step's start
    float wide = 0, friction = 0, static_friction = 0;
    // Of the substep.
    Eigen::Vector3f normal, before, rubbed;
    float pressed = 0;
    bool overlaps = false;
  };
  struct Box {
    Eigen::Vector3f low, high;
  };
  struct Entry {
    std::uint64_t cell;
    int point;
  };
  [[nodiscard]] bool are_neighbours(int i, int j) const;
  void consider(const State& s, int i, int j);

  const Model* model_ = nullptr;
  std::vector<float> wide_;       // per surface: of its balls
  std::vector<SurfaceLaw> laws_;  // of pairs of surfaces
  std::vector<Point> points_;
  std::vector<Box> boxes_;
  std::vector<Entry> entries_, sorted_;
  std::vector<int> starts_;
  std::vector<Pair> pairs_;
  std::vector<int> pressing_;
};

}  // namespace rotule::realtime
