#pragma once
// Where the bodies of a state touch, and where they come to touch on their way: shapes and trees of src/collide kept in step with
// a Model and its State, contacts carried over from the last search by their features.
//
// A contact seen ahead of time has the normal of the pose from which it is seen, which is right only where the bodies hardly
// move until they touch. So three distances tell what happens to a pair, all small shares of the smaller body's size:
//   touching   up to `touch`: it is a contact, whatever moves how fast;
//   ahead      up to `ahead`, and moving by no more than that in the step: a contact too, which lets the gap close and no more;
//   on the way whatever moves further: swept along its path; where that touches, the contact is that of the pose in which it
//              does (`sweep`, `add_meeting`), and where it does not there is none.
// What bounces is never a contact ahead of time: it must arrive first.
#include <vector>

#include "collide/collision_world.h"
#include "constraint/formulation/contact_formulation.h"
#include "mechanism/linkage.h"
#include "step/touch_log.h"

namespace rotule {

/// How a body goes through a step: its centre of mass along p + s v + s^2/2 a, turning steadily.
struct Passage {
  Vec3 v = Vec3::Zero(), a = Vec3::Zero(), omega = Vec3::Zero();
};

/// Two bodies that come to touch within the step.
struct Meeting {
  int a = -1, b = -1;
  double time = 0;       // s, from the start of the passage
  bool bounces = false;  // whether it is a rigid blow that throws them back
  bool pressed = false;  // whether they touch already, and turning presses other points of them into each other
  Frame X_a, X_b;        // the bodies' frames then
};

class ContactFinder {
 public:
  /// Bodies tied by a joint, or of one group, never touch. Where the recipe has no contacts, none are ever found.
  ContactFinder(const Model& model, const Recipe& recipe);

  /// The contacts of this very state, if those at hand are of another one.
  void refresh(const State& s, double h, std::vector<Contact>& contacts, Gang* gang = nullptr);
  /// Somebody moved the bodies.
  void forget() { current_ = false; }

  /// All pairs that come to touch within `h`, bodies going from this state as `passages` say, earliest first. Pairs of two convex
  /// bodies that are among the contacts already count where those contacts do not hold them apart until the end.
  void sweep(const State& s, std::span<const Passage> passages, double h, std::span<const Contact> contacts,
             std::vector<Meeting>& out);
  /// Contacts of the pose in which two bodies meet, with the gaps that their points have in this state, put in order among the
  /// others.
  void add_meeting(const Meeting& meeting, const State& s, std::vector<Contact>& contacts);

  /// Pairs with a sensor that overlapped in the last search.
  [[nodiscard]] std::span<const TouchPair> sensed() const { return sensed_; }

  /// Whether the surfaces touch, for all that matters.
  [[nodiscard]] bool touching(const Contact& c) const { return c.gap <= touch(c.a, c.b); }
  /// Whether they are further inside each other than tolerances explain. What lifts them out is of the step that let them in,
  /// which may have the energy for it; a step that finds them at rest has none.
  [[nodiscard]] bool overlaps(const Contact& c) const { return c.law.stiffness == 0 && -c.gap > rules_.slop(c.size); }
  /// The longest part of a step in which no body that a joint holds, with something near enough to be hit, turns so far that its
  /// path is no longer near to straight.
  double straight_part(const State& s, std::span<const Linkage> linkages, double h);

  // What came and went between steps; contacts of all others keep their impulses.
  void body_added();
  void body_removed(int body, std::vector<Contact>& contacts);
  void joint_added(const Joint& joint);
  /// Once the model has it no longer.
  void joint_removed(const Joint& joint);

  /// What the next search depends on besides the state.
  template <class Archive>
  void archive(Archive& io) {
    io(current_);
    // Proxies have numbers that depend on who came and went before.
    numbers_ = proxy_of_;
    io(numbers_);
    if constexpr (!Archive::writes)
      if (numbers_ != proxy_of_) arrange(numbers_);
    if constexpr (Archive::writes) world_.broad_phase().write(memory_);
    io(memory_.boxes);
    io(memory_.pairs);
    if constexpr (!Archive::writes) world_.restore(memory_);
  }

 private:
  /// All contacts whose gap is at most the margin, or may close within `h`, in an order that the state alone decides. Impulses of
  /// contacts that were in `contacts` before stay with them, turned with their frames.
  void find(const State& s, double h, std::vector<Contact>& contacts);
  void add_proxy(int body);
  /// Gives all bodies these proxies.
  void arrange(const std::vector<int>& proxy_of);
  [[nodiscard]] int proxy(int partner) const;
  [[nodiscard]] double size(int a, int b) const { return std::min(reach_[a], reach_[b]); }
  void choose_margin();
  [[nodiscard]] double touch(int a, int b) const;
  [[nodiscard]] double ahead(int a, int b) const;
  /// Whether the pair is among these contacts, which are in order.
  static bool among(std::span<const Contact> contacts, int a, int b);
  /// How far points of two bodies may move relative to each other.
  [[nodiscard]] double way(std::span<const Passage> passages, int a, int b, double h) const;
  /// How far turning by an angle carries points of a body.
  [[nodiscard]] double swing(int body, double angle) const;
  [[nodiscard]] bool may_touch(int a, int b) const;
  /// Whether the contact counts though it does not touch yet.
  [[nodiscard]] bool counts_ahead(const Contact& c, double least_gap, double h) const;

  const Model& model_;
  const Recipe& recipe_;
  ContactRules rules_;
  double margin_ = 0;     // as given, or of the smallest body that moves
  bool wanted_;           // whether contacts are on
  bool current_ = false;  // whether those at hand are of the present state
  Kinematics kinematics_;
  CollisionWorld world_;
  std::vector<int> proxy_of_;  // body to proxy, or -1
  std::vector<int> body_of_;   // and back; -1 where the proxy is free
  std::vector<double> reach_;  // of each body's shape, from its centre of mass
  std::vector<double> arm_;    // likewise, without a rounding, which turning does not move
  std::vector<Manifold> manifolds_;
  std::vector<SteadyMotion> motions_;  // by proxy
  std::vector<BodyMeeting> met_;
  std::vector<char> near_;  // bodies that have something near
  std::vector<Contact> found_, sorted_;
  std::vector<TouchPair> sensed_;
  std::vector<int> order_, numbers_;
  BroadPhase::Memory memory_;  // on its way into or out of an archive
};

}  // namespace rotule
