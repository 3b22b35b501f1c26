#pragma once
// Where the bodies of a state touch: shapes and trees of src/collide kept in step with a Model and its State, contacts carried
// over from the last search by their features.
#include <vector>

#include "collide/collision_world.h"
#include "constraint/pool/contact.h"

namespace rotule {

class ContactFinder {
 public:
  /// Bodies tied by a joint, or of one group, never touch. Where the recipe has no contacts, none are ever found.
  ContactFinder(const Model& model, const Recipe& recipe);

  /// The contacts of this very state, if those at hand are of another one.
  void refresh(const State& s, double h, std::vector<Contact>& contacts);
  /// Somebody moved the bodies.
  void forget() { current_ = false; }

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
  [[nodiscard]] int proxy(int partner) const;

  const Model& model_;
  const Recipe& recipe_;
  bool wanted_;           // whether contacts are on
  bool current_ = false;  // whether those at hand are of the present state
  Kinematics kinematics_;
  CollisionWorld world_;
  std::vector<int> proxy_of_;  // body to proxy, or -1
  std::vector<int> body_of_;   // and back; -1 where the proxy is free
  std::vector<double> reach_;  // of each body's shape, from its centre of mass
  std::vector<Manifold> manifolds_;
  std::vector<Contact> found_, sorted_;
  std::vector<int> order_;
  BroadPhase::Memory memory_;  // on its way into or out of an archive
};

/// What the recipe says of contacts, whichever law of friction holds.
ContactSettings contact_settings(const Recipe& recipe);

}  // namespace rotule
