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
#include "collide/queries/cast.h"
#include "constraint/pool/contact.h"
#include "step/realtime/kernels.h"
#include "step/realtime/pair_table.h"
#include "step/realtime/part_forms.h"
#include "step/realtime/sleepers.h"
#include "step/realtime/stages.h"

namespace rotule::realtime {

/// m: gaps beyond this are not told apart.
inline constexpr double most_budget = 60;

/// Of the two in ContactSlots.
inline int family_of(const Manifold& m) { return m.count == 1 ? 0 : 1; }

class Touches {
 public:
  Touches(const Model& model, const ContactSettings& settings) : model_(model), settings_(settings) {}

  /// Of the model, with this number.
  void add_body(int body, BodyLines& bodies);
  /// The model has it no longer; those behind it have moved up.
  void remove_body(int body);
  /// Joints came or went: bodies that one ties do not touch.
  void joints_changed();

  /// Contacts for a step of h from here; `anew`: whether somebody else changed the state since the last one; `changed`: bodies
  /// that alone were.
  void find(const State& s, BodyLines& bodies, double h, bool anew, std::span<const int> changed, Stages& stages);
  /// After bodies came or went, or sleep or wake: which boxes a step goes through.
  void list_rows(const BodyLines& bodies);

  /// Bodies that hang together fall asleep, their manifolds with them; masses are those of sleepers already.
  void put_to_sleep(std::span<const int> bodies, std::span<const int> touches);
  /// Pairs that are apart, both being asleep or fixed.
  void forget_idle_pairs(const BodyLines& lines);
  /// And wake, all of the island; whoever empties `woken` gives them their masses back.
  void wake(int island);
  /// Those that lie on a body, or hang together with it.
  void wake_around(int body);
  /// Bodies that woke, and pairs that press among them, since somebody emptied these.
  std::vector<int> woken;
  std::vector<std::pair<int, int>> woken_pairs;
  /// Whether two of which one sleeps press on each other.
  [[nodiscard]] bool press_asleep(int a, int b) const;
  /// Whether a manifold, of those that are awake or not, presses.
  [[nodiscard]] bool presses(int touch) const;
  Sleepers sleepers;

  /// As it goes on by its velocities.
  [[nodiscard]] SteadyMotion steady(int body, const State& s) const;
  /// Where a body that goes this way for a step of h first meets something that does not move, or is led.
  struct Meeting {
    double share = 1;                                   // of the step; 1: it meets nothing
    Vec3 normal = Vec3::UnitZ(), point = Vec3::Zero();  // from the body to what it meets, then; in the world
    int other = -1;                                     // the body that it meets
  };
  [[nodiscard]] Meeting first_meeting(int body, const SteadyMotion& motion, const State& s, double h) const;

  /// Pairs of bodies of which one is a sensor, that overlap in this state: appends each once or more often.
  void sense(const State& s, const BodyLines& bodies, std::vector<std::pair<int, int>>& out);

  /// All points, in the order of bodies and parts, as they stand in this state; impulses are those of a step of so many substeps.
  void list(const State& s, int substeps, std::vector<Contact>& out);

  /// Points of all manifolds.
  [[nodiscard]] int points() const { return points_; }
  /// Of the smallest part that moves, m; 0 where none does.
  [[nodiscard]] double smallest() const;
  [[nodiscard]] std::size_t pairs() const { return pairs_.size() - free_pairs_.size(); }
  [[nodiscard]] bool bouncy() const { return bouncy_; }
  /// Manifolds, and how many have begun since this was asked last.
  [[nodiscard]] int manifolds() const { return static_cast<int>(touches_.size() - free_touches_.size()) - resting_count_; }
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
    const PartForm* form = nullptr;
    int body = -1, number = 0;  // whose, and which part of it
    int leaf = -1;
    int next = -1;  // of the same body
    bool moves = false;
    bool led = false;     // of a kinematic body
    bool sensor = false;  // tells who overlaps it, and touches nobody
  };
  struct Pair {
    int a = -1, b = -1;      // proxies: what is fixed first, else by number
    int place = -1;          // among those that are apart, or where one is a sensor among those; or -1
    int touch = -1;          // the first of its manifolds, or -1
    float axis[3] = {};      // that parted them last, in A's frame; zero: none known
    std::uint32_t seen = 0;  // the last search that collided them
  };
  /// A pair with a sensor: how far both had wandered when it was looked at last, and up to which they need not be again; whether
  /// they overlapped.
  struct Sensing {
    int pair;
    std::uint32_t looked, until;
    std::int32_t overlap;
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
    Vec3 roll = Vec3::Zero();
    float impulse[4], spin = 0, pressed = 0;
    std::uint32_t feature[4];
  };

  /// What a look at a pair found out.
  struct Look {
    enum class Outcome : std::uint8_t { forgotten, apart, touching };
    int pair = -1;
    Outcome outcome = Outcome::forgotten;
    double gap = 0;                        // apart: what may be used up
    double margin = 0;                     // touching
    int worker = 0, first = 0, count = 0;  // manifolds, on that worker's desk
    int points = 0;                        // more than before, of those that were written into their slots
    bool settled = false;                  // nothing is left to be done in order
  };
  /// One thread's memory.
  struct Desk {
    CollideScratch scratch;
    std::vector<Manifold> found, manifolds;
    std::vector<int> goes_on;  // per manifold, the touch whose it is; -1: it begins
  };
  /// A manifold that goes into a slot of its own.
  struct Writing {
    int touch, look, manifold;
    int before;  // what its last slot had, or -1
  };

  const std::vector<int>& rows_with(std::span<const int> bodies);
  void look_for_pairs(Stages& stages);
  template <class Meet>
  void look_around(int proxy, const Meet& meet) const;
  void look_around(int proxy) {
    look_around(proxy, [&](int p, int q) { meet(p, q); });
  }
  [[nodiscard]] bool is_new(int p, int q) const;
  void sort_fresh();
  /// Those that were come upon in this search, and whom these come upon.
  void wake_found(const State& s, const BodyLines& bodies, double h, Stages& stages);
  void look_around_woken(std::size_t from);
  void lay_down(int touch);
  void take_up(int touch);
  /// f(hot block, cold block, extras or null, lane) of a manifold, awake or not.
  template <class F>
  decltype(auto) at_slot(const SlotPlace& at, F&& f) const;
  void meet(int p, int q);
  [[nodiscard]] bool may_touch(const Proxy& p, const Proxy& q) const;
  /// These pairs, each once: looked at by many threads, settled by one, in their order (collide_touches.cpp).
  void collide(std::span<const int> numbers, const State& s, const BodyLines& bodies, double h, Stages& stages);
  void look_at(Look& look, Desk& desk, const State& s, const BodyLines& bodies, double h);
  int take_match(Pair& pair, const Manifold& m, int of);
  void settle_own(Look& look, const Desk& desk, const BodyLines& bodies);
  void settle(const Look& look, int number, const BodyLines& bodies);
  void part(Pair& pair, int number, double gap, const BodyLines& bodies);
  /// When it has to be looked at again.
  void set_budget(const Pair& pair, double gap, const BodyLines& bodies);
  void drop(int number);
  void release(int touch);
  /// Into the slot that it has, whose last manifold it follows; how many points there are more.
  int write_again(int touch, const Manifold& m, double margin, const BodyLines& bodies);
  template <int N>
  void take_down(const SlotFamily<N>& family, const SlotPlace& at, Before& out) const;
  /// `begins`: the slot has nothing of the pair yet.
  template <int N>
  void write_lane(SlotFamily<N>& family, const SlotPlace& at, const Manifold& m, double margin, const Before* before, bool begins,
                  const BodyLines& bodies, const Pair& pair);
  /// Of bodies and surfaces, not of where they are.
  template <int N>
  void write_pair(SlotFamily<N>& family, const SlotPlace& at, double margin, const Pair& pair);
  SlotPlace take(int touch, int family, const Pair& pair);
  void give_back(const SlotPlace& slot, const Pair& pair);
  void leave_apart(Pair& pair);
  void leave_sensing(Pair& pair);
  [[nodiscard]] bool senses(const Pair& pair) const { return proxies_[pair.a].sensor || proxies_[pair.b].sensor; }
  [[nodiscard]] static Manifold manifold_of(const CastHit& hit, const SteadyMotion& a, const SteadyMotion& b);
  void look_at_sensor(Sensing& sensing, const State& s, const BodyLines& bodies);
  [[nodiscard]] Frame frame_of(const Proxy& proxy, const State& s) const;
  [[nodiscard]] double parted_gap(const Pair& pair, const Frame& A, const Frame& B) const;
  [[nodiscard]] Aabb box(int proxy) const;
  DynamicTree& tree(const Proxy& p) { return p.moves ? moving_ : fixed_; }
  int free_proxy();
  void restore();
  /// Whether what was read of a snapshot hangs together (fits.cpp), and parts of that.
  [[nodiscard]] bool fits() const;
  [[nodiscard]] bool pairs_fit() const;
  [[nodiscard]] bool slots_fit() const;
  [[nodiscard]] bool touches_fit() const;
  [[nodiscard]] bool colours_fit() const;
  [[nodiscard]] bool sleepers_rest() const;

  const Model& model_;
  ContactSettings settings_;
  FormStore store_;
  std::vector<std::shared_ptr<const BodyForm>> forms_;  // by body
  std::vector<Proxy> proxies_;
  std::vector<int> first_proxy_;  // by body; -1: it has none
  ProxyBoxes boxes_;
  DynamicTree moving_, fixed_;
  std::vector<int> endless_;
  std::vector<std::pair<int, int>> tied_;  // bodies, the smaller number first, sorted
  PairTable known_;
  std::vector<Pair> pairs_;
  std::vector<Touch> touches_;
  std::vector<int> free_pairs_, free_touches_, free_proxies_;
  std::vector<Apart> apart_;
  std::vector<Sensing> sensing_;
  std::uint32_t search_ = 0;
  std::vector<int> left_, moved_, used_up_, fresh_, order_;
  std::vector<std::vector<std::pair<int, int>>> neighbours_;
  std::vector<std::pair<int, int>> met_;
  std::vector<Look> looks_;
  std::vector<Desk> desks_ = std::vector<Desk>(1);  // by worker
  std::vector<Writing> writings_;
  std::vector<Before> befores_;
  ContactSlots resting_;  // manifolds that sleep
  int resting_count_ = 0;
  std::vector<int> rows_, every_row_;  // of boxes: those with a body in them that moves
  std::vector<int> rows_at_hand_;      // and those of bodies that were changed besides
  std::vector<int> come_upon_;         // islands that sleep, and are touched
  bool bouncy_ = false;
  int points_ = 0, begun_ = 0;
};

template <class Meet>
void Touches::look_around(int p, const Meet& meet) const {
  const Aabb where = box(p);
  const auto visit = [&](int q) {
    if (q != p) meet(p, q);
    return true;
  };
  moving_.overlapping(where, visit);
  if (proxies_[p].moves || proxies_[p].led) {
    fixed_.overlapping(where, visit);
    for (const int q : endless_) meet(p, q);
  }
}

template <class F>
decltype(auto) Touches::at_slot(const SlotPlace& at, F&& f) const {
  const ContactSlots& all = at.colour == resting_colour ? resting_ : slots;
  const auto visit = [&](const auto& family) -> decltype(auto) {
    const auto& colour = family.colours[at.colour == resting_colour ? 0 : at.colour];
    const ExtraBlock* const extra = colour.extras.empty() ? nullptr : &colour.extras[at.index / row_lanes];
    return f(colour.hot[at.index / row_lanes], colour.cold[at.index / row_lanes], extra, at.index % row_lanes);
  };
  return at.family == 0 ? visit(all.single) : visit(all.patches);
}

}  // namespace rotule::realtime
