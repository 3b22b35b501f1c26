#pragma once
// What is behind rotule::World: the model, its state, and the stepper that moves it.
#include <rotule/world.h>

#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "base/slots.h"
#include "step/ledger.h"
#include "step/reference_stepper.h"

namespace rotule {

struct QueryCache;

struct WorldImplementation {
  Model model;
  State state;
  Recipe recipe;
  std::vector<Material> materials;
  double time = 0;
  std::int64_t steps = 0;
  std::unordered_map<std::string, int> body_of_name;
  Slots<BodyId> body_slots{"body"};
  Slots<JointId> joint_slots{"joint"};
  VecX external;  // forces that a user set, laid out as u
  bool keep_problems = false;
  int unconverged_steps = 0;
  int late_steps = 0;  // in which shocks could not be located
  int halved_steps = 0;
  std::vector<std::string> start_warnings;

  /// The stepper and its ledger, made anew after bodies or joints came or went.
  struct Engine {
    Engine(const Model& model, const Recipe& recipe) : stepper(model, recipe), ledger(stepper.mechanism) {}
    ReferenceStepper stepper;
    Ledger ledger;
  };
  std::optional<Engine> engine;
  Engine& ready();
  void changed();

  /// A mechanism beside the engine's, for questions about accelerations: whatever the recipe, it solves for them exactly.
  struct Judge {
    Judge(const Model& model, const Recipe& r) : recipe(r), mechanism(model, recipe) {}
    Recipe recipe;
    JointedMechanism mechanism;
    VecX udot;
  };
  std::unique_ptr<Judge> judge;

  /// Grows wherever bodies move, come or go: what queries compare their tree with.
  std::uint64_t revision = 0;
  std::once_flag queries_made;
  std::shared_ptr<QueryCache> queries;  // made at the first query (queries.cpp)

  // What an engine that was replaced had counted already.
  double shock_energy_before = 0;
  std::int64_t evaluations_before = 0;

  /// Makes room in the state for so many bodies.
  void resize_state(int bodies);
  void add_body(const BodyDef& def, const std::string& place);
  void add_joint(const JointDef& def, const std::string& place);
  [[nodiscard]] ForceEnd find_end(const std::string& name) const;
  [[nodiscard]] int find_body(std::string_view name) const;
  void impulse(int body, const Vec3& impulse, const Vec3& at);
  void look_at_start();
};

/// For the tools of this library (recorder, doctor, viewer): users never see it.
inline WorldImplementation& implementation_of(const World& world) { return *world.implementation_; }

}  // namespace rotule
