// What a mechanism whose linkages go by coordinates does in steps by impulses.
#include <algorithm>

#include "mechanism/jointed_mechanism.h"

namespace rotule {

namespace {

constexpr double opened_by_hand = 1e-9;  // m, rad, m/s, rad/s: what makes a state one that somebody else has moved

}  // namespace

void JointedMechanism::want_trees(bool wanted) {
  wants_trees_ = wanted;
  trees_settled_ = false;
  trees.clear();
}

void JointedMechanism::begin_trees(State& s, double t) {
  if (!wants_trees_ || trees_settled_) return;
  if (trees.size() != linkages.size() || !std::ranges::all_of(trees, [&](const LinkageTree& tree) { return tree.stands(s); }))
    trees = find_trees(model, s, linkages);
  trees_settled_ = true;
  LinkageTree::Opening open;
  for (LinkageTree& tree : trees) {
    const LinkageTree::Opening own = tree.opening(model, s);
    open.position = std::max(open.position, own.position);
    open.velocity = std::max(open.velocity, own.velocity);
  }
  if (open.position > opened_by_hand)
    project(ProjectionSettings{}, s, t);
  else if (open.velocity > opened_by_hand)
    project_velocities(s, t);
}

void JointedMechanism::place_trees(const State& s) {
  for (LinkageTree& tree : trees) tree.place(model, s);
}

void JointedMechanism::move(const VecX& motion, const VecX& velocities, State& s) {
  for (LinkageTree& tree : trees) tree.take(model, s, motion, velocities);
  displace(s, motion, s);
  if (&velocities != &s.u) s.u = velocities;
  for (LinkageTree& tree : trees) tree.move(s);
}

}  // namespace rotule
