#pragma once
// What is behind rotule::World: the model, its state, and the stepper that moves it.
#include <rotule/world.h>

#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "base/budget.h"
#include "base/slots.h"
#include "model/model.h"
#include "step/stepper.h"
#include "step/totals.h"

namespace rotule {

struct QueryCache;
class FluidCoupling;

/// What a motor was told while the world runs; no byte of a snapshot is left to chance.
struct MotorSetting {
  std::int32_t joint = -1, axis = 0;
  std::int64_t kind = 0;                  // place in MotorTarget
  std::array<double, 3> values{0, 0, 0};  // its fields
};

/// All of a world that a snapshot's bytes take for granted: bodies, joints and forces, with their names and ids.
struct WorldShape {
  Model model;
  std::vector<Material> materials;
  std::unordered_map<std::string, int> body_of_name;
  Slots<BodyId> body_slots{"body"};
  Slots<JointId> joint_slots{"joint"};
  int force_count = 0;
};

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
  int force_count = 0;                      // that were ever added: a force's id is its number among them
  VecX external;                            // forces that a user set, laid out as u
  std::vector<MotorSetting> motors;         // sorted by joint and axis
  std::vector<ContactEvent> events;         // of the last step
  std::vector<BrokenJoint> broken;          // likewise
  StepReport report_of_breaking;            // of the last step in which joints broke or elements wore
  int broken_joints = 0;                    // so far
  std::shared_ptr<const WorldShape> shape;  // of the model as it is; made when a snapshot wants it
  bool keep_problems = false;
  bool keep_books = false;
  int unconverged_steps = 0;
  int late_steps = 0;  // in which shocks could not be located
  int halved_steps = 0;
  int repeated_steps = 0;
  int gaining_steps = 0, open_steps = 0;    // whose last attempt still gained energy; still left joints open
  double most_gained = 0, most_open = 0;    // J; m, rad
  int held_steps = 0;                       // after which joints held bodies in each other
  double most_held = 0;                     // m
  int slowed_steps = 0;                     // in which bodies were slowed that had gained energy from nobody
  double energy_taken = 0, most_taken = 0;  // J, in all and in one step
  int stopped_steps = 0;                    // in which what joints tie together was stopped on its way
  double stopping_energy = 0;               // J, in all
  int cut_steps = 0;                        // that the budget ended
  double worst_cut = 0;                     // the largest relative residual of those
  std::vector<std::string> start_warnings;
  std::vector<std::string> mesh_remarks;  // which moving meshes were cut into convex parts

  /// Made when first asked for, and anew after the recipe changed.
  std::optional<Stepper> stepper;
  Stepper& ready();
  void recipe_changed();
  /// What an interrupted step goes back to: all that a snapshot has; and back.
  void remember();
  void go_back();
  /// The same without the fluid, for whoever tries a step of the bodies more than once.
  void remember_bodies(std::vector<std::uint8_t>& bytes);
  void recall_bodies(const std::vector<std::uint8_t>& bytes);
  Bell bell;
  BudgetTime budget_time = BudgetTime::clock;  // of steps by one thread
  std::vector<std::uint8_t> before_step;
  /// Bodies, joints or forces came or went: the stepper has been told, others begin anew.
  void model_changed();

  /// A mechanism beside the stepper's, for questions about accelerations: whatever the recipe, it solves for them exactly
  /// (equilibrium.cpp).
  struct Judge;
  std::shared_ptr<Judge> judge;

  /// Grows wherever bodies move, come or go: what queries compare their tree with.
  std::uint64_t revision = 0;
  std::once_flag queries_made;
  std::shared_ptr<QueryCache> queries;  // made at the first query (queries.cpp)

  /// The fluid around the bodies, where there is one (fluid_step.cpp).
  std::shared_ptr<FluidCoupling> fluid;

  // What a stepper that was replaced had come to.
  StepTotals totals_before;
  std::int64_t evaluations_before = 0;

  /// Makes room in the state for so many bodies.
  void resize_state(int bodies);
  /// Sections came or went: room in the state for the wakes of those that remember theirs, which stay with them.
  void sections_changed();
  void add_body(const BodyDef& def, const std::string& place);
  void add_joint(const JointDef& def, const std::string& place);
  /// Returns its number.
  int add_force(const ForceDef& def, const std::string& place);
  void remove_joint(int joint);
  /// Puts what motors were told over what the scene says of their axes.
  void apply_motors();
  /// The free axis of that name, or the only one there is. Throws Error.
  [[nodiscard]] int find_axis(int joint, std::string_view axis) const;
  void take_events();
  /// The world has this shape from now on; its state is still to come.
  void install(const std::shared_ptr<const WorldShape>& other);
  const std::shared_ptr<const WorldShape>& present_shape();
  [[nodiscard]] ForceEnd find_end(const std::string& name) const;
  [[nodiscard]] int find_body(std::string_view name) const;
  /// Where contacts are on: moving meshes from this body on become convex parts.
  void take_in_meshes(int first);
  /// Contacts as users see them, into memory that is kept.
  void find_contacts(std::vector<ContactResult>& out);
  /// Lets elements flow and tear, now that a step has ended; the report, with what did (world/wear.cpp).
  const StepReport& wear_elements(const StepReport& report);
  void impulse(int body, const Vec3& impulse, const Vec3& at);
  void look_at_start();
};

/// Bodies may be others now, under the same ids.
void forget_queries(WorldImplementation& world);

/// For the tools of this library (recorder, doctor, viewer): users never see it.
inline WorldImplementation& implementation_of(const World& world) { return *world.implementation_; }

}  // namespace rotule
