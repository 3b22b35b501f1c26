#include <rotule/error.h>
#include <rotule/scene.h>

#include <algorithm>
#include <unordered_set>

#include "model/names.h"
#include "model/scene_fields.h"

namespace rotule {
namespace {

template <class Variant>
std::string& name_in(Variant& item) {
  return std::visit([](auto& i) -> std::string& { return i.name; }, item);
}

template <class Items, class NameOf, class KindOf>
void name_items(Items& items, NameOf name, KindOf kind) {
  std::unordered_set<std::string> taken;
  for (auto& item : items) taken.insert(name(item));
  for (std::size_t i = 0; i < items.size(); ++i)
    if (std::string& own = name(items[i]); own.empty())
      taken.insert(own = free_name(kind(items[i]), i, [&](const std::string& n) { return taken.contains(n); }));
}

}  // namespace

std::string_view kind_of(const JointDef& joint) {
  return std::visit([]<class J>(const J&) { return Kind<J>::name; }, joint);
}
const std::string& name_of(const JointDef& joint) {
  return std::visit([](const auto& j) -> const std::string& { return j.name; }, joint);
}
const Between& between(const JointDef& joint) {
  return std::visit([](const auto& j) -> const Between& { return j.between; }, joint);
}

std::vector<std::string> partners_of(const JointDef& joint) {
  return std::visit(
      [](const auto& j) {
        std::vector<std::string> names(j.between.begin(), j.between.end());
        for (const FurtherPartner& partner : further_partners(j)) names.push_back(partner.name);
        return names;
      },
      joint);
}

std::string_view kind_of(const SolidDef& solid) {
  return std::visit([]<class S>(const S&) { return Kind<S>::name; }, solid);
}
const std::string& name_of(const SolidDef& solid) {
  return std::visit([](const auto& s) -> const std::string& { return s.name; }, solid);
}
std::string_view kind_of(const ForceDef& force) {
  return std::visit([]<class F>(const F&) { return Kind<F>::name; }, force);
}

std::string_view kind_of(const FlowDef& flow) {
  return std::visit([]<class F>(const F&) { return Kind<F>::name; }, flow);
}

void name_partners(const std::vector<std::string>& bodies, Constraint& constraint) {
  if (bodies.empty()) throw Error("constraint", "is over no body; name one or more");
  constraint.law.single = bodies.size() == 1;
  constraint.between = bodies.size() == 1 ? Between{"world", bodies[0]} : Between{bodies[0], bodies[1]};
  constraint.more.clear();
  if (bodies.size() > 2) constraint.more.assign(bodies.begin() + 2, bodies.end());
}

void name_unnamed(Scene& scene) {
  name_items(
      scene.bodies, [](BodyDef& b) -> std::string& { return b.name; }, [](const BodyDef&) { return std::string_view("body"); });
  name_items(
      scene.joints, [](JointDef& j) -> std::string& { return name_in(j); }, [](const JointDef& j) { return kind_of(j); });
  name_items(
      scene.particles, [](ParticleGroup& g) -> std::string& { return g.name; },
      [](const ParticleGroup&) { return std::string_view("particles"); });
  name_items(
      scene.solids, [](SolidDef& s) -> std::string& { return name_in(s); }, [](const SolidDef& s) { return kind_of(s); });
  name_items(
      scene.forces, [](ForceDef& f) -> std::string& { return name_in(f); }, [](const ForceDef& f) { return kind_of(f); });
  name_items(
      scene.flows, [](FlowDef& f) -> std::string& { return name_in(f); }, [](const FlowDef& f) { return kind_of(f); });
  name_items(
      scene.walls, [](Wall& w) -> std::string& { return w.name; }, [](const Wall&) { return std::string_view("wall"); });
}

void Scene::add_particles(ParticleGroup group) {
  particles.push_back(std::move(group));
  name_unnamed(*this);
}
void Scene::add(SolidDef solid) {
  solids.push_back(std::move(solid));
  name_unnamed(*this);
}
void Scene::add(FlowDef flow) {
  flows.push_back(std::move(flow));
  name_unnamed(*this);
}
void Scene::add(ForceDef force) {
  forces.push_back(std::move(force));
  name_unnamed(*this);
}

BodyId Scene::add(BodyDef body) {
  const auto taken = [&](const std::string& n) {
    return std::any_of(bodies.begin(), bodies.end(), [&](const auto& b) { return b.name == n; });
  };
  if (body.name.empty()) body.name = free_name("body", bodies.size(), taken);
  bodies.push_back(std::move(body));
  return {.index = static_cast<std::uint32_t>(bodies.size() - 1), .generation = 0};
}

JointId Scene::add(JointDef joint) {
  const auto taken = [&](const std::string& n) {
    return std::any_of(joints.begin(), joints.end(), [&](const auto& j) { return name_of(j) == n; });
  };
  if (std::string& own = name_in(joint); own.empty()) own = free_name(kind_of(joint), joints.size(), taken);
  joints.push_back(std::move(joint));
  return {.index = static_cast<std::uint32_t>(joints.size() - 1), .generation = 0};
}

}  // namespace rotule
