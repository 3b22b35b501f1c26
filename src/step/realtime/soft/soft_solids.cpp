#include "step/realtime/soft/soft_solids.h"

#include <rotule/error.h>

#include <atomic>
#include <cmath>

#include "dynamics/forces/air.h"
#include "dynamics/forces/drag.h"

namespace rotule::realtime {

namespace {

constexpr int least_particles = 512;  // that are worth a thread

}  // namespace

SoftSolids::SoftSolids(const Model& model) : model_(model), touches_(model) {}

void SoftSolids::build(const State& s) {
  built_ = true;
  if (rest_.size() != s.x.size()) rest_ = s.x;
  State rest;
  rest.x = rest_;
  lines_.resize(model_);
  chains_ = Chains(model_, rest);
  elastic_ = ElasticSolids(model_);
  free_ = FreeGroups(model_);
  pairs_ = ParticlePairs(model_, rest_);
}

void SoftSolids::resist(const State& s, double t, double h, const VecX& forces) {
  const Forces& all = model_.forces;
  const bool some = !all.airs.empty() || std::any_of(all.drags.begin(), all.drags.end(),
                                                     [](const DragForce& drag) { return !drag.particles.empty(); });
  resistances_.clear();
  if (!some) return;
  slopes_.assign(static_cast<std::size_t>(model_.particle_count()), Mat3::Zero());
  const int bodies = 2 * model_.body_count();
  for (const DragForce& drag : all.drags)
    visit_dragged(model_, drag, s, t, [&](int triple, const Vec3& v, const Mat3&, int body) {
      if (body >= 0) return;
      const double speed = v.norm();
      Mat3& slope = slopes_[static_cast<std::size_t>(triple - bodies)];
      slope += (drag.viscous + drag.quadratic * speed) * Mat3::Identity();
      if (speed > 0) slope += drag.quadratic / speed * v * v.transpose();
    });
  // A triangle's force goes by the mean of its corners' velocities: as if each corner had its third alone.
  for (const AirForce& air : all.airs)
    for (const std::array<int, 3>& triangle : air.triangles) {
      const Mat3 slope = AirLaw(model_, air, triangle, s, t).by_velocity;
      for (const int corner : triangle) slopes_[static_cast<std::size_t>(corner)] -= slope / 3;
    }
  resistances_.resize(static_cast<std::size_t>(lines_.count));
  for (int i = 0; i < model_.particle_count(); ++i) {
    if (!model_.particles.movable(i)) continue;
    const double share = h * model_.particles.inverse_mass[i];
    const Mat3& C = slopes_[static_cast<std::size_t>(i)];
    const Mat3 B = (Mat3::Identity() + share * C).inverse();
    const Vec3 b = share * (B * (forces.segment<3>(s.first(i)) + C * s.particle_velocity(i)));
    Resistance& r = resistances_[static_cast<std::size_t>(line_of_particle(i))];
    constexpr int at[6][2] = {{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 2}};
    for (int k = 0; k < 6; ++k) r.B[k] = static_cast<float>(B(at[k][0], at[k][1]));
    for (int k = 0; k < 3; ++k) r.b[k] = static_cast<float>(b[k]);
  }
}

void SoftSolids::begin(const State& s, double t, double h, int substeps, const VecX& forces, Stages& stages) {
  if (!any()) return;
  if (!built_) build(s);
  h_ = h;
  part_ = 0;
  parts_ = substeps;
  found_ = false;
  chains_.set_step(model_, h);
  stages.in_parts(static_cast<int>(chains_.blocks.size()), 2,
                  [&](int first, int last, int) { chains_.set_start(s, first, last); });
  elastic_.begin(model_, s, stages);
  resist(s, t, h, forces);
  const bool forced = forces.size() > 0 && resistances_.empty();
  const Vec3 fall = h * model_.gravity;
  for (int i = 0; i < model_.particle_count(); ++i) {
    const auto line = static_cast<std::size_t>(line_of_particle(i));
    Vec3 kick = Vec3::Zero();
    if (model_.particles.movable(i)) {
      kick = fall;
      if (forced) kick += h * model_.particles.inverse_mass[i] * forces.segment<3>(s.first(i));
    }
    const Vec3 v = s.particle_velocity(i);
    for (int k = 0; k < 3; ++k) {
      lines_.moved[line].at[k] = 0;
      lines_.v[line].at[k] = static_cast<float>(v[k]);
      lines_.kick[line].at[k] = static_cast<float>(kick[k]);
    }
  }
}

void SoftSolids::substep(const State& s, double push_speed, Stages& stages, BodyLines& bodies) {
  if (!any()) return;
  const auto h = static_cast<float>(h_);
  const double rest = h_ * (parts_ - part_);
  const bool meets = touches_.any();
  if (meets) {
    if (part_ > 0) touches_.take_back(bodies);
    touches_.read_bodies(bodies);
  }
  if (!found_ && pairs_.any()) pairs_.find(s, lines_, rest);
  if (meets && (!found_ || touches_.outrun(lines_, h))) touches_.find(s, lines_, bodies, rest);
  found_ = true;
  stages.in_parts(lines_.count, least_particles,
                  [&](int first, int last, int) { predict(lines_, resistances_, first, last, h); });
  if (meets) touches_.hold(lines_);
  scratch_.resize(static_cast<std::size_t>(stages.threads()));
  const int colours = static_cast<int>(chains_.colours.size()) - 1;
  for (int k = 0; k < colours; ++k) {
    // To and fro: always the same way round makes cloth creep sideways.
    const int colour = part_ % 2 == 0 ? k : colours - 1 - k, base = chains_.colours[colour];
    stages.in_parts(chains_.colours[colour + 1] - base, 1, [&](int first, int last, int worker) {
      solve_chains(chains_, base + first, base + last, scratch_[static_cast<std::size_t>(worker)], lines_);
    });
  }
  if (elastic_.any()) elastic_.solve(model_, s, h, given_, lines_, stages);
  free_.keep_spin(s, h, lines_);
  if (meets) touches_.bear(lines_, h);
  if (pairs_.any()) pairs_.push(lines_, h, push_speed);
  if (meets) touches_.push(s, lines_, h, push_speed);
  stages.in_parts(lines_.count, least_particles, [&](int first, int last, int) { find_velocities(lines_, first, last, h); });
  if (pairs_.any()) pairs_.settle(lines_, h);
  if (meets) touches_.settle(lines_, bodies, h);
  ++part_;
}

void SoftSolids::book(const BodyLines& bodies, SoftWork& work) {
  if (!any()) return;
  if (pairs_.any()) pairs_.book(lines_, static_cast<float>(h_), work);
  if (touches_.any()) touches_.book(lines_, bodies, static_cast<float>(h_), work);
}

void SoftSolids::finish(State& s, Stages& stages) {
  if (!any()) return;
  std::atomic<bool> finite = true;
  stages.in_parts(model_.particle_count(), least_particles, [&](int first, int last, int) {
    for (int i = first; i < last; ++i) {
      const float* moved = lines_.moved[static_cast<std::size_t>(line_of_particle(i))].at;
      const float* v = lines_.v[static_cast<std::size_t>(line_of_particle(i))].at;
      float sum = 0;
      for (int k = 0; k < 3; ++k) {
        sum += std::abs(moved[k]) + std::abs(v[k]);
        s.x[3 * static_cast<Eigen::Index>(i) + k] += double(moved[k]);
        s.u[s.first(i) + k] = double(v[k]);
      }
      if (!(sum < 1e15F)) finite = false;
    }
  });
  if (finite) return;
  for (int i = 0; i < model_.particle_count(); ++i)
    if (!(s.particle_velocity(i).cwiseAbs().sum() < 1e15) || !s.particle_position(i).allFinite())
      throw Error("particle \"" + model_.particles.name(i) + "\"",
                  "its motion is no longer a number; take a smaller step or another method");
  throw Error("particles", "their motion is no longer a number; take a smaller step or another method");
}

void SoftSolids::add_way(double share, VecX& u) const {
  const Eigen::Index behind = 6 * static_cast<Eigen::Index>(model_.body_count());
  for (int i = 0; i < model_.particle_count(); ++i)
    for (int k = 0; k < 3; ++k)
      u[behind + 3 * i + k] += share * double(lines_.moved[static_cast<std::size_t>(line_of_particle(i))].at[k]);
}

void SoftSolids::add_velocities(const VecX& before, double share, VecX& u) const {
  const Eigen::Index behind = 6 * static_cast<Eigen::Index>(model_.body_count());
  for (int i = 0; i < model_.particle_count(); ++i)
    for (int k = 0; k < 3; ++k) {
      const Eigen::Index at = behind + 3 * i + k;
      u[at] += share * (double(lines_.v[static_cast<std::size_t>(line_of_particle(i))].at[k]) - before[at]);
    }
}

}  // namespace rotule::realtime
