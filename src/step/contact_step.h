#pragma once
// One step at velocity level with contacts, motors and limits: all of it with the joints as one mixed complementarity problem per
// island (D3).
//   u* = u + h M^-1 f;   w = A x - b,  b = -(J u*) - bias;   u+ = u* + M^-1 J^T x;   q+ = q moved by h u+.
// A gap phi > 0 lets its normal close by phi within the step (bias phi/h), so that bodies stop at each other's surface and do not
// sink in first. What bounces is solved for once more (Newton's law): the first solution moves it to the surface, the second
// throws it back. Overlaps that are there all the same are taken out by moving the bodies, without giving them speed.
#include <rotule/results.h>

#include "mechanism/jointed_mechanism.h"
#include "step/contact_finder.h"
#include "step/impulse_island.h"

namespace rotule {

class ContactStep {
 public:
  ContactStep(const Model& model, const Recipe& recipe);

  /// Whether this scene and recipe need it: contacts are on, or a joint is driven by more than limits that are events.
  [[nodiscard]] static bool needed(const Model& model, const Recipe& recipe);

  /// The contacts of this very state, if those at hand are of another one.
  void refresh(const State& s, double h);
  /// Somebody moved the bodies by hand.
  void forget() { current_ = false; }

  /// From t to t + h, for the contacts at hand. Leaves them as they were but for their impulses, so that it can be done again.
  void advance(const VelocitySettings& settings, JointedMechanism& mechanism, State& s, double t, double h);
  /// The contacts of the step's end; where new ones overlap, which nobody could see ahead, those are taken apart too. And what is
  /// to be said of the step.
  void finish(JointedMechanism& mechanism, State& s, double t, double h);

  [[nodiscard]] const std::vector<Contact>& contacts() const { return contacts_; }
  [[nodiscard]] double penetration() const;
  /// Newtons per newton second: 1 over the last step.
  [[nodiscard]] double per_second() const { return last_h_ > 0 ? 1 / last_h_ : 0; }
  [[nodiscard]] std::span<const ImpulseIsland> islands() const {
    return {islands_.data(), static_cast<std::size_t>(island_count_)};
  }
  /// J that moving bodies out of each other has added so far, and that bounces have.
  [[nodiscard]] double push_energy() const { return push_energy_; }
  [[nodiscard]] double bounce_energy() const { return bounce_energy_; }
  /// J that the last `advance` added in these ways.
  [[nodiscard]] double added_energy() const { return step_push_ + step_bounce_; }

  template <class Archive>
  void archive(Archive& io) {
    io(current_);
    io(last_h_);
    io(push_energy_);
    io(bounce_energy_);
    io(contacts_);
    io(drives_);
    finder_.archive(io);
  }

 private:
  void look_at_start(const JointedMechanism& mechanism, const State& s, double h, Contact& c) const;
  void prepare(const JointedMechanism& mechanism, double h, ImpulseIsland& island);
  void write_drives(ImpulseIsland& island) const;
  void solve_friction(ImpulseIsland& island);
  void keep_answer(JointedMechanism& mechanism, double h, const ImpulseIsland& island);
  void bounce(const JointedMechanism& mechanism, ImpulseIsland& island, ImpulseIsland& bouncing);
  void push_out_of_each_other(const JointedMechanism& mechanism, const IslandSearch& search, const ImpulseIsland& island,
                              ImpulseIsland& pushed);
  [[nodiscard]] Parts parts(const JointedMechanism& mechanism) const {
    return {mechanism.islands, drives_, contacts_, static_cast<int>(model_.joints.size()), cone_};
  }
  void displace(const JointedMechanism& mechanism, State& s, double h);
  void push_out(const ProjectionSettings& settings, JointedMechanism& mechanism, std::span<const ImpulseIsland> islands,
                const IslandSearch& search, State& s, double t);
  [[nodiscard]] double bias_of(const Contact& contact, double h, double& compliance) const;

  const Model& model_;
  const Recipe& recipe_;
  ContactSettings settings_;
  bool touching_ = true;  // whether contacts are on
  bool cone_ = true;
  ContactFinder finder_;
  Kinematics kinematics_;
  std::vector<Contact> contacts_;
  std::vector<DriveRow> drives_, limits_;
  bool current_ = false;
  double last_h_ = 0;
  std::vector<ImpulseIsland> islands_, late_;     // of the step; of overlaps found at its end
  std::vector<ImpulseIsland> bouncing_, pushed_;  // the same islands, with the problems of bounces and of positions
  int island_count_ = 0;
  IslandSearch search_, late_search_;
  VecX start_, free_, sigma_, bounced_;  // velocities: before; of what nothing holds; of the first solution; after bounces
  VecX move_;
  std::vector<char> touched_;   // bodies on which an impulse acts
  std::vector<double> errors_;  // of each island's positions
  double push_energy_ = 0, bounce_energy_ = 0, step_push_ = 0, step_bounce_ = 0;
};

}  // namespace rotule
