#include "mechanism/soft/soft_motion.h"

#include <rotule/error.h>

#include <algorithm>

#include "base/budget.h"

namespace rotule {

namespace {

constexpr int most_meetings = 8;                 // rounds of meeting somebody on the way
constexpr int most_stops = 20, hasty_stops = 4;  // the latter where time is up
constexpr double before_stop = 0.9;              // of the way to where somebody stands

[[noreturn]] void refuse(const std::string& what, const std::string& remedy) {
  throw Error("particles that touch", "do not know " + what + " yet; " + remedy);
}

}  // namespace

bool SoftMotion::wanted(const Model& model, const Recipe& recipe) {
  if (model.particle_surfaces.empty() || std::holds_alternative<NoContactSettings>(recipe.contacts) ||
      !std::holds_alternative<VelocitySettings>(recipe.formulation))
    return false;
  const std::string otherwise = "or take \"contact\" away from all groups of particles";
  if (!model.joined.empty())
    refuse("joints that hold particles (\"" + model.particles.name(model.joined.front()) + "\")",
           "pin the particle, tie it by a stiff spring, " + otherwise);
  if (!model.forces.gravitations.empty()) refuse("gravitation", "take it out, " + otherwise);
  if (!model.forces.users.empty()) refuse("forces that a user wrote", "take them out, " + otherwise);
  if (model.has_added_mass()) refuse("added mass", "take it out, " + otherwise);
  if (model.forces.wakes > 0) refuse("wakes of unsteady sections", "leave \"unsteady\" out, " + otherwise);
  for (const AngleSpringForce& angle : model.forces.angles) {
    int particles = 0, bodies = 0;
    for (const ForceEnd& end : angle.ends) {
      particles += end.kind == ForceEnd::Kind::particle;
      bodies += end.kind == ForceEnd::Kind::body && model.movable(end.index);
    }
    if (particles > 0 && bodies > 0) refuse("angle springs between particles and bodies", "use springs, " + otherwise);
  }
  return true;
}

SoftMotion::SoftMotion(const Model& model, const Recipe& recipe) : model_(model), collider_(model), stage_(model, recipe) {
  for (const ParticleSurface& surface : model.particle_surfaces) finest_ = std::min(finest_, surface.radius);
}

void SoftMotion::begin(const State& start, double h, const VecX& free) {
  collider_.find({start, free, h}, contacts_);
  guess_ = start.u;
}

void SoftMotion::solve(double t, const State& start, double h, const VecX& external, const VecX& free, VecX& U, VecX& push,
                       StepReport& report) {
  U = guess_;
  for (int round = 1;; ++round) {
    const SoftStage::Report solved = stage_.solve(t, start, h, external, free, contacts_, U, push, report);
    guess_ = U;
    const std::size_t known = contacts_.size();
    const int met = collider_.sweep({start, U, h}, contacts_);
    if (met > 0 && round < most_meetings && !Budget::spent()) continue;
    contacts_.resize(known);
    report.residual = std::max(report.residual, solved.residual);
    report.converged = report.converged && solved.converged;
    if (met == 0) return;
    break;
  }
  // Groups of which somebody still meets somebody stop before he does, and those who meet them then.
  report.converged = false;
  const int bodies = start.bodies();
  const int rounds = Budget::spent() ? hasty_stops : most_stops;
  for (int round = 0; round < rounds; ++round) {
    const std::size_t known = contacts_.size();
    const int met = collider_.sweep({start, U, h}, contacts_, &stops_);
    contacts_.resize(known);
    if (met == 0) return;
    const bool last = round + 1 == rounds;
    // All of a group together: along the straight line to where it was, its energy does not grow.
    for (const ParticleSurface& surface : model_.particle_surfaces) {
      const double share = stops_.segment(surface.first, surface.count).minCoeff();
      if (share < 1) U.segment(6 * bodies + 3 * surface.first, 3 * surface.count) *= last ? 0 : before_stop * share;
    }
  }
}

int SoftMotion::touching() const {
  return static_cast<int>(std::count_if(contacts_.begin(), contacts_.end(), [](const SoftContact& c) { return c.x[0] > 0; }));
}

}  // namespace rotule
