#pragma once
// Where contacts live. A manifold keeps its place, a lane of a block of sixteen, for as long as its bodies touch: impulses and
// anchors stay where they are, nothing is stored, sorted or matched from step to step. Blocks of one colour have no moving body
// in common, so that the lanes of a block, and the blocks of a colour, may be solved at once; a body's colours are the bits of a
// mask, and a new manifold takes the first that both its bodies have free. Manifolds of one point and those of up to four have
// blocks and colours of their own.
//
// Normal and anchors stay fixed in the world from the time at which they were collided: turned with the bodies, tall stacks sway
// and fall.
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "step/realtime/body_lines.h"

namespace rotule::realtime {

/// What the sweeps read and write. The rows of J M^(-1/2) have as their linear part the normal over sqrt(m), the same for all
/// points: only angular parts are stored.
template <int N>
struct HotBlock {
  static constexpr int points = N;
  WholeRow a, b;  // lines of bodies
  Rows3 normal;
  Row mass_a, mass_b;  // 1/sqrt(m)
  struct Point {
    Rows3 turn_a, turn_b;  // I^(-1/2) (r x n), with a's sign
    Row share;             // 1 / (J M^-1 J^T)
    Row impulse, gap;
  };
  Point point[N];
  // Friction of the patch as a whole: two tangents at its middle, and spinning about the normal.
  Rows3 tangent, slide_a1, slide_b1, slide_a2, slide_b2;
  Row k11, k12, k22;  // inverse of the 2 x 2 block
  Row slide_1, slide_2;
  Rows3 spin_a, spin_b;
  Row spin_share, spin;
  Row lever[N];  // of each point's normal force against spinning
  Row start[N];  // gaps at the start of the step
  Row friction, torsion;
};

/// What is read once per step.
template <int N>
struct ColdBlock {
  struct Point {
    Rows3 anchor;  // from A's centre of mass to the point, when it was collided
    Row there;     // 1 where there is a point
    Row gap;       // when it was collided
    Row closing;   // m/s, along the normal, at the start of the step
    WholeRow feature;
  };
  Point point[N];
  Rows3 between;             // from A's centre of mass to B's, when they were collided
  Row turn_a[4], turn_b[4];  // the bodies' orientations then
  Row tolerance;             // motion after which they are collided again
  Row arm;                   // of B's part: what turning counts for in that
  Row flat_a, flat_b;        // 1 where turning changes the contact at all: balls' does not
  Row round_a, round_b;      // rounding radii, which do not turn with the bodies
  Row patch;                 // lever of the whole patch, or 0
  Row inverse_margin;
  Row static_friction, sliding_friction, restitution;
  Row pressed;     // 1 where it had an impulse at the end of the last step
  WholeRow touch;  // whose it is; -1: nobody's
};

/// What few scenes have: belts, and friction against rolling. Beside the other blocks, in scenes with one of them.
struct ExtraBlock {
  Row belt_1, belt_2;  // m/s: of the belt on B against that on A, along the tangents
  Row rolling;         // m: the lever at which the normal force resists rolling
  Row roll_1, roll_2;  // N m s, about the tangents
};

/// A place for one manifold.
struct SlotPlace {
  std::int32_t index = -1;
  std::int16_t family = -1, colour = -1;
};

inline constexpr int colour_count = 64;
/// Bodies with more neighbours than colours: their manifolds go one by one, each alone in its block.
inline constexpr int crowded = colour_count - 1;
/// In a SlotPlace: the manifold sleeps, among those that nobody sweeps, all of which have the colour 0.
inline constexpr std::int16_t resting_colour = -2;

template <int N>
class SlotFamily {
 public:
  struct Colour {
    std::vector<HotBlock<N>> hot;
    std::vector<ColdBlock<N>> cold;
    std::vector<ExtraBlock> extras;  // as many, or none
    int count = 0;                   // manifolds
    int stride = 1;

    /// Lanes in use of a block, from the first on.
    [[nodiscard]] int lanes(int block) const {
      return stride > 1 ? 1 : (count - block * row_lanes < row_lanes ? count - block * row_lanes : row_lanes);
    }
  };

  SlotFamily() { colours[crowded].stride = row_lanes; }

  void resize(int lines) { taken_.resize(lines, 0); }
  /// From now on there are extras.
  void add_extras() {
    extras_ = true;
    for (Colour& colour : colours) colour.extras.resize(colour.hot.size(), ExtraBlock{});
  }
  [[nodiscard]] bool has_extras() const { return extras_; }

  /// `moves`: whether the bodies do; fixed ones may be in as many manifolds of a colour as there are. Returns colour and index.
  std::pair<int, int> take(int touch, int a, int b, bool a_moves, bool b_moves) {
    const std::uint64_t busy = (a_moves ? taken_[a] : 0) | (b_moves ? taken_[b] : 0) | (std::uint64_t(1) << crowded);
    const int free = ~busy == 0 ? crowded : std::countr_zero(~busy);
    if (free != crowded) {
      if (a_moves) taken_[a] |= std::uint64_t(1) << free;
      if (b_moves) taken_[b] |= std::uint64_t(1) << free;
    }
    Colour& colour = colours[free];
    const int index = next_lane(colour);
    colour.hot[index / row_lanes].a.lane[index % row_lanes] = a;
    colour.hot[index / row_lanes].b.lane[index % row_lanes] = b;
    colour.cold[index / row_lanes].touch.lane[index % row_lanes] = touch;
    return {free, index};
  }

  /// The last of the colour moves into the place that becomes free: returns whose manifold that is, or -1.
  int give_back(int colour_number, int index, bool a_moves, bool b_moves) {
    Colour& colour = colours[colour_number];
    HotBlock<N>& hot = colour.hot[index / row_lanes];
    if (colour_number != crowded) {
      const std::uint64_t bit = std::uint64_t(1) << colour_number;
      if (a_moves) taken_[hot.a.lane[index % row_lanes]] &= ~bit;
      if (b_moves) taken_[hot.b.lane[index % row_lanes]] &= ~bit;
    }
    const int last = colour.stride * --colour.count;
    int moved = -1;
    if (last != index) {
      copy_lane(colour.hot[last / row_lanes], last % row_lanes, hot, index % row_lanes);
      copy_lane(colour.cold[last / row_lanes], last % row_lanes, colour.cold[index / row_lanes], index % row_lanes);
      if (extras_)
        copy_lane(colour.extras[last / row_lanes], last % row_lanes, colour.extras[index / row_lanes], index % row_lanes);
      moved = colour.cold[index / row_lanes].touch.lane[index % row_lanes];
    }
    clear(colour, last);
    if (last % row_lanes == 0) {
      colour.hot.pop_back();
      colour.cold.pop_back();
      if (extras_) colour.extras.pop_back();
      if (colour.hot.capacity() > 2 * colour.hot.size() + 8) make_room(colour);
    }
    return moved;
  }

  /// At the end of a colour, whatever its bodies: a copy of a lane of another. For contacts that nobody sweeps.
  int append(int colour_number, const Colour& from, int from_index) {
    Colour& colour = colours[colour_number];
    const int index = next_lane(colour);
    copy(from, from_index, colour, index);
    return index;
  }
  /// One lane over another.
  static void copy(const Colour& from, int from_index, Colour& to, int to_index) {
    copy_lane(from.hot[from_index / row_lanes], from_index % row_lanes, to.hot[to_index / row_lanes], to_index % row_lanes);
    copy_lane(from.cold[from_index / row_lanes], from_index % row_lanes, to.cold[to_index / row_lanes], to_index % row_lanes);
    if (!from.extras.empty())
      copy_lane(from.extras[from_index / row_lanes], from_index % row_lanes, to.extras[to_index / row_lanes],
                to_index % row_lanes);
  }

  [[nodiscard]] std::vector<std::uint64_t>& taken() { return taken_; }
  [[nodiscard]] const std::vector<std::uint64_t>& taken() const { return taken_; }

  std::array<Colour, colour_count> colours;

 private:
  /// Blocks are most of a pile's memory: a quarter is kept in reserve, and what has long been empty given back.
  static void make_room(Colour& colour) {
    const auto move = [&](auto& blocks) {
      std::remove_reference_t<decltype(blocks)> roomier;
      roomier.reserve(blocks.size() + blocks.size() / 4 + 1);
      roomier.assign(blocks.begin(), blocks.end());
      blocks.swap(roomier);
    };
    move(colour.hot);
    move(colour.cold);
  }
  /// At the end of a colour, in a new block where the last is full.
  int next_lane(Colour& colour) {
    const int index = colour.stride * colour.count++;
    if (index / row_lanes < static_cast<int>(colour.hot.size())) return index;
    if (colour.hot.size() == colour.hot.capacity()) make_room(colour);
    colour.hot.emplace_back();
    colour.cold.emplace_back();
    if (extras_) colour.extras.push_back({});
    for (int lane = 0; lane < row_lanes; ++lane) clear(colour, index / row_lanes * row_lanes + lane);
    return index;
  }
  template <class Block>
  static void copy_lane(const Block& from, int from_lane, Block& to, int to_lane) {
    static_assert(sizeof(Block) % sizeof(Row) == 0);
    for (std::size_t row = 0; row < sizeof(Block) / sizeof(Row); ++row)
      std::memcpy(reinterpret_cast<char*>(&to) + row * sizeof(Row) + sizeof(float) * to_lane,
                  reinterpret_cast<const char*>(&from) + row * sizeof(Row) + sizeof(float) * from_lane, sizeof(float));
  }
  /// A lane that does nothing: of nobody's bodies, without a point, and never moved too far.
  static void clear(Colour& colour, int index) {
    HotBlock<N>& hot = colour.hot[index / row_lanes];
    ColdBlock<N>& cold = colour.cold[index / row_lanes];
    const int lane = index % row_lanes;
    for (std::size_t row = 0; row < sizeof hot / sizeof(Row); ++row)
      std::memset(reinterpret_cast<char*>(&hot) + row * sizeof(Row) + sizeof(float) * lane, 0, sizeof(float));
    for (std::size_t row = 0; row < sizeof cold / sizeof(Row); ++row)
      std::memset(reinterpret_cast<char*>(&cold) + row * sizeof(Row) + sizeof(float) * lane, 0, sizeof(float));
    hot.a.lane[lane] = hot.b.lane[lane] = nobody;
    hot.normal.z.lane[lane] = hot.tangent.x.lane[lane] = 1;
    cold.turn_a[3].lane[lane] = cold.turn_b[3].lane[lane] = 1;
    cold.tolerance.lane[lane] = 1e9F;
    cold.touch.lane[lane] = -1;
    if (colour.extras.empty()) return;
    ExtraBlock& extra = colour.extras[index / row_lanes];
    for (Row* row : {&extra.belt_1, &extra.belt_2, &extra.rolling, &extra.roll_1, &extra.roll_2}) row->lane[lane] = 0;
  }

  std::vector<std::uint64_t> taken_;  // per line, which colours it is in
  bool extras_ = false;
};

/// All manifolds there are.
struct ContactSlots {
  SlotFamily<1> single;
  SlotFamily<4> patches;

  /// f(family) for the one of that number.
  template <class F>
  decltype(auto) visit(int family, F&& f) {
    return family == 0 ? f(single) : f(patches);
  }
  template <class F>
  void for_each(F&& f) {
    f(single);
    f(patches);
  }
  template <class F>
  void for_each(F&& f) const {
    f(single);
    f(patches);
  }
};

}  // namespace rotule::realtime
