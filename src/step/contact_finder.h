#pragma once
// Where the bodies of a state touch: shapes and trees of src/collide kept in step with a Model and its State, contacts carried
// over from the last search by their features.
#include <vector>

#include "collide/collision_world.h"
#include "constraint/pool/contact.h"

namespace rotule {

class ContactFinder {
 public:
  ContactFinder() = default;
  /// Bodies tied by a joint, or of one group, never touch.
  explicit ContactFinder(const Model& model);

  /// All contacts whose gap is at most the margin, or may close within `h`, in an order that the state alone decides. Impulses of
  /// contacts that were in `contacts` before stay with them, turned with their frames.
  void find(const Model& model, const State& s, const Kinematics& bodies, const ContactSettings& settings, double h, int threads,
            std::vector<Contact>& contacts);

  /// What the next search depends on besides the state.
  template <class Archive>
  void archive(Archive& io) {
    BroadPhase::Memory memory = world_.broad_phase().memory();
    io(memory.boxes);
    io(memory.pairs);
    world_.restore(memory);
  }

 private:
  CollisionWorld world_;
  std::vector<int> proxy_of_;  // model body to proxy, or -1
  std::vector<int> body_of_;   // and back
  std::vector<double> reach_;  // of the shape, from the body's centre of mass
  std::vector<Manifold> manifolds_;
  std::vector<Contact> found_, sorted_;
  std::vector<int> order_;
};

}  // namespace rotule
