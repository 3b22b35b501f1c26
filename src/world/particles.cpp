// Particles of a world: names, places, and those that are moved by hand.
#include <fmt/format.h>
#include <rotule/error.h>

#include "base/text.h"
#include "world/world_implementation.h"

namespace rotule {

int World::particles() const { return implementation_->model.particle_count(); }

int World::particle(std::string_view name) const {
  const Particles& particles = implementation_->model.particles;
  if (const int found = particles.find(name); found >= 0) return found;
  std::vector<std::string> known;
  for (const Particles::Group& group : particles.groups)
    known.push_back(group.count == 1 ? group.name : group.name + "/" + std::to_string(group.count - 1));
  throw Error(fmt::format("particle {}", in_quotes(name)), "there is no such particle; " + suggestion(name, known));
}

namespace {
void require_particle(const Model& model, int particle) {
  if (particle < 0 || particle >= model.particle_count())
    throw Error("particle", fmt::format("there is no number {}; there are {}", particle, model.particle_count()));
}
}  // namespace

std::string World::particle_name(int particle) const {
  require_particle(implementation_->model, particle);
  return implementation_->model.particles.name(particle);
}
Vec3 World::particle_position(int particle) const {
  require_particle(implementation_->model, particle);
  return implementation_->state.particle_position(particle);
}
Vec3 World::particle_velocity(int particle) const {
  require_particle(implementation_->model, particle);
  return implementation_->state.particle_velocity(particle);
}
double World::particle_mass(int particle) const {
  require_particle(implementation_->model, particle);
  return implementation_->model.particles.mass[particle];
}
bool World::particle_pinned(int particle) const {
  require_particle(implementation_->model, particle);
  return !implementation_->model.particles.movable(particle);
}
std::span<const double> World::particle_positions() const {
  const VecX& x = implementation_->state.x;
  return {x.data(), static_cast<std::size_t>(x.size())};
}

void World::set_particle(int particle, const Vec3& position, const Vec3& velocity) {
  WorldImplementation& w = *implementation_;
  require_particle(w.model, particle);
  if (!position.allFinite() || !velocity.allFinite()) throw Error("set_particle", "needs a finite position and velocity");
  w.state.x.segment<3>(3 * particle) = position;
  w.state.u.segment<3>(w.state.first(particle)) = velocity;
  w.ready().forget();
}

}  // namespace rotule
