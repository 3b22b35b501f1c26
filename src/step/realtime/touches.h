#pragma once
// Who touches whom, from step to step. Bodies are looked at part by part (a compound is several proxies), each with a fat box; a
// part that leaves its box gets a new one, and only then are pairs looked for. A pair is then in one of two ways:
//   apart     it costs one comparison per step, of how far its bodies have wandered with what its gap allows;
//   touching  it has a place among the contacts (contact_slots.h), and is collided again once its bodies have moved against each
//             other by more than its tolerance.
// Distances that decide are shares of the smaller part's size, and of the pair's own relative motion.
#include <span>
#include <vector>

#include "collide/broad/dynamic_tree.h"
#include "collide/narrow/collide.h"
#include "constraint/pool/contact.h"
#include "step/realtime/kernels.h"
#include "step/realtime/pair_table.h"

namespace rotule::realtime {

class Touches {
 public:
  Touches(const Model& model, const ContactSettings& settings) : model_(model), settings_(settings) {}

  /// Of the model, with this number.
  void add_body(int body, BodyLines& bodies);
  /// The model has it no longer; those behind it have moved up.
  void remove_body(int body);
  /// Joints came or went: bodies that one ties do not touch.
  void joints_changed();

  /// Contacts for a step of h from here.
  void find(const State& s, BodyLines& bodies, double h);

  /// All points, in the order of bodies and parts, as they stand in this state; impulses are those of a step of so many substeps.
  void list(const State& s, int substeps, std::vector<Contact>& out);

  /// Points of all manifolds.
  [[nodiscard]] int points() const { return points_; }
  /// Of the smallest part that moves, m; 0 where none does.
  [[nodiscard]] double smallest() const;
  [[nodiscard]] std::size_t pairs() const { return pairs_.size() - free_pairs_.size(); }
  [[nodiscard]] bool bouncy() const { return bouncy_; }
  /// Manifolds, and how many have begun since this was asked last.
  [[nodiscard]] int manifolds() const { return static_cast<int>(touches_.size() - free_touches_.size()); }
  int take_begun() { return std::exchange(begun_, 0); }
  /// The bodies of a manifold, by its number in the slots.
  [[nodiscard]] std::pair<int, int> bodies_of(int touch) const {
    const Pair& pair = pairs_[touches_[touch].pair];
    return {proxies_[pair.a].body, proxies_[pair.b].body};
  }
  /// Bodies of manifolds that pressed, and went, since somebody emptied this.
  std::vector<std::pair<int, int>> ended;

  ContactSlots slots;

  template <class Archive>
  void archive(Archive& io);

 private:
  struct Proxy {
    int body = -1, number = 0;  // whose, and which part of it
    CollisionPart part;
    double size = 0;      // half the diagonal of its box; infinite for half-spaces and surfaces
    double arm = 0;       // how far turning by one radian carries its core
    double rounding = 0;  // of its surface
    int leaf = -1;
    bool moves = false, endless = false;
  };
  struct Pair {
    int a = -1, b = -1;      // proxies: what is fixed first, else by number
    int apart = -1;          // place among those, or -1
    int touch = -1;          // the first of its manifolds, or -1
    float axis[3] = {};      // that parted them last, in A's frame; zero: none known
    std::uint32_t seen = 0;  // the last search that collided them
  };
  /// One manifold's hold on its slot.
  struct Touch {
    int pair = -1, next = -1;
    SlotPlace slot;
  };
  struct Apart {
    int pair, line_a, line_b;
    std::uint32_t until;
  };
  /// What a slot has of a manifold that is written anew.
  struct Before {
    int count = 0;
    Vec3 anchor[4], slide = Vec3::Zero();
    float impulse[4], spin = 0, pressed = 0;
    std::uint32_t feature[4];
  };

  void look_for_pairs();
  void meet(int p, int q);
  [[nodiscard]] bool may_touch(const Proxy& p, const Proxy& q) const;
  void collide_pair(int number, const State& s, const BodyLines& bodies, double h);
  void part(Pair& pair, int number, double gap, const BodyLines& bodies);
  void drop(int number);
  void release(int touch);
  void write(int touch, const Manifold& m, double margin, const BodyLines& bodies);
  template <int N>
  void take_down(const SlotFamily<N>& family, const SlotPlace& at, Before& out) const;
  template <int N>
  void write_lane(SlotFamily<N>& family, const SlotPlace& at, const Manifold& m, double margin, const Before* before,
                  const BodyLines& bodies, const Pair& pair);
  SlotPlace take(int touch, int family, const Pair& pair);
  void give_back(const SlotPlace& slot, const Pair& pair);
  void leave_apart(Pair& pair);
  [[nodiscard]] const Frame& frame(int proxy, const State& s);
  [[nodiscard]] double parted_gap(const Pair& pair, const State& s);
  [[nodiscard]] Aabb box(int proxy) const;
  DynamicTree& tree(const Proxy& p) { return p.moves ? moving_ : fixed_; }
  int free_proxy();
  void restore();

  const Model& model_;
  ContactSettings settings_;
  std::vector<CollisionShape> shapes_;  // by body
  std::vector<Proxy> proxies_;
  ProxyBoxes boxes_;
  DynamicTree moving_, fixed_;
  std::vector<int> endless_;
  std::vector<std::pair<int, int>> tied_;  // bodies, the smaller number first, sorted
  PairTable known_;
  std::vector<Pair> pairs_;
  std::vector<Touch> touches_;
  std::vector<int> free_pairs_, free_touches_, free_proxies_;
  std::vector<Apart> apart_;
  std::vector<Frame> frames_;
  std::vector<std::uint32_t> framed_;  // the search for which each of them was made
  std::uint32_t search_ = 0;
  std::vector<int> left_, moved_, used_up_, fresh_, order_;
  std::vector<Manifold> found_;
  CollideScratch scratch_;
  bool bouncy_ = false;
  int points_ = 0, begun_ = 0;
};

}  // namespace rotule::realtime
