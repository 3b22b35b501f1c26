// Bodies, joints and forces that come and go between steps.
#include <fmt/format.h>
#include <rotule/error.h>

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/text.h"
#include "model/content.h"
#include "model/names.h"
#include "model/validate.h"
#include "model/validate_forces.h"
#include "world/fluid_coupling.h"
#include "world/world_implementation.h"

namespace rotule {

BodyId World::add(const BodyDef& def) {
  WorldImplementation& w = *implementation_;
  BodyDef named = def;
  const auto taken = [&](const std::string& name) { return w.body_of_name.contains(name); };
  if (named.name.empty()) named.name = free_name("body", w.model.bodies.size(), taken);
  if (taken(named.name)) throw Error("body", fmt::format("the name {} is taken", in_quotes(named.name)));
  validate(named, w.materials, Place("body " + in_quotes(named.name)));
  JointNeeds needs = needs_of(w.model);
  needs.kinematic = needs.kinematic || (named.immovable() && !named.fixed);
  needs.belts = needs.belts || !named.surface_velocity.isZero(0);
  check_combination(w.recipe, needs);
  w.add_body(named, "body " + in_quotes(named.name));
  follow_given_motions(w.model, w.time, w.state);
  std::string refusal;
  try {
    w.take_in_meshes(w.model.body_count() - 1);
  } catch (const Error& error) {
    refusal = error.what();
  }
  try {
    if (w.stepper) w.stepper->body_added();
  } catch (const Error& error) {  // it is nothing for this stepper: as if nothing had been asked
    w.recipe_changed();
    refusal = error.what();
  }
  w.model_changed();
  const BodyId id = w.body_slots.id(w.body_slots.count() - 1);
  if (!refusal.empty()) {
    remove(id);
    throw Error("body", refusal);
  }
  return id;
}

JointId World::add(const JointDef& def) {
  WorldImplementation& w = *implementation_;
  const std::string place = fmt::format("joint {}", in_quotes(name_of(def)));
  const auto taken = [&](const std::string& name) {
    return std::any_of(w.model.joints.begin(), w.model.joints.end(), [&](const Joint& joint) { return joint.name == name; });
  };
  if (!name_of(def).empty() && taken(name_of(def)))
    throw Error("joint", fmt::format("the name {} is taken", in_quotes(name_of(def))));
  validate(
      def,
      [&](const std::string& name) -> std::optional<JointPartner> {
        if (w.model.particles.find(name) >= 0) return JointPartner{.particle = true};
        const auto found = w.body_of_name.find(name);
        return found == w.body_of_name.end() ? std::nullopt : std::optional(JointPartner{w.model.bodies[found->second].fixed});
      },
      Place(place));
  w.add_joint(def, place);
  if (std::string& own = w.model.joints.back().name; own.empty()) own = free_name(kind_of(def), w.model.joints.size() - 1, taken);
  try {
    if (w.stepper) w.stepper->joint_added();
    w.model_changed();
  } catch (const Error&) {  // it does not fit the recipe: as if nothing had been asked
    w.recipe_changed();
    w.model.remove_joint(static_cast<int>(w.model.joints.size()) - 1);
    w.joint_slots.erase(w.joint_slots.count() - 1);
    w.model_changed();
    throw;
  }
  return w.joint_slots.id(w.joint_slots.count() - 1);
}

ForceId World::add(const ForceDef& def) {
  WorldImplementation& w = *implementation_;
  const std::string place = fmt::format("force {}", kind_of(def));
  std::vector<std::string> bodies;
  for (const Body& body : w.model.bodies) bodies.push_back(body.name);
  std::unordered_map<std::string, std::size_t> groups;
  for (const Particles::Group& group : w.model.particles.groups) groups.emplace(group.name, group.count);
  validate(def, PartnerNames(std::move(bodies), std::move(groups)), Place(place));
  const int number = w.add_force(def, place);
  if (w.model.immersed.contains(number)) try {
      require_thin(def, w.fluid->grid().def(), Place(place));
    } catch (const Error&) {
      for (Forces* pools : {&w.model.forces, &w.model.immersed}) pools->remove(number);
      throw;
    }
  w.sections_changed();
  if (w.stepper) w.stepper->forces_changed();
  w.model_changed();
  return {static_cast<std::uint32_t>(number), 0};
}

void World::remove(ForceId force) {
  WorldImplementation& w = *implementation_;
  if (!contains(force)) throw Error(fmt::format("force id {}", force.index), "is stale, or was never given out by this world");
  for (Forces* pools : {&w.model.forces, &w.model.immersed}) pools->remove(static_cast<int>(force.index));
  w.model.settle_added_mass();
  w.sections_changed();
  if (w.stepper) w.stepper->forces_changed();
  w.model_changed();
}

bool World::contains(ForceId force) const {
  if (!force.valid()) return false;
  const Model& model = implementation_->model;
  return model.forces.contains(static_cast<int>(force.index)) || model.immersed.contains(static_cast<int>(force.index));
}

void World::remove(BodyId body) {
  WorldImplementation& w = *implementation_;
  const int i = w.body_slots.place(body);
  if (w.fluid) throw Error("remove", "bodies cannot be removed from a world with a fluid yet");
  for (int j = w.joint_slots.count() - 1; j >= 0; --j)
    if (has_partner(w.model.joints[j], i)) w.remove_joint(j);
  const std::string name = w.model.bodies[i].name;
  w.model.remove_body(i);
  w.state.p.erase(w.state.p.begin() + i);
  w.state.theta.erase(w.state.theta.begin() + i);
  for (VecX* v : {&w.state.u, &w.external}) {
    const Eigen::Index behind = v->size() - 6 * (i + 1);
    const VecX tail = v->tail(behind);
    v->segment(6 * i, behind) = tail;
    v->conservativeResize(v->size() - 6);
  }
  w.sections_changed();
  w.body_slots.erase(i);
  w.body_of_name.erase(name);
  for (auto& [other, place] : w.body_of_name) place -= place > i;
  if (w.stepper) w.stepper->body_removed(i);
  w.model_changed();
}

void WorldImplementation::remove_joint(int j) {
  const Joint joint = std::move(model.joints[j]);
  model.remove_joint(j);
  joint_slots.erase(j);
  std::erase_if(motors, [j](const MotorSetting& motor) { return motor.joint == j; });
  for (MotorSetting& motor : motors) motor.joint -= motor.joint > j;
  if (stepper) stepper->joint_removed(j, joint);
}

int WorldImplementation::add_force(const ForceDef& def, const std::string& place) {
  rotule::add_force(def, force_count, place, model, state, [this](const std::string& name) { return find_end(name); });
  return force_count++;
}

void World::remove(JointId joint) {
  WorldImplementation& w = *implementation_;
  w.remove_joint(w.joint_slots.place(joint));
  w.model_changed();
}

}  // namespace rotule
