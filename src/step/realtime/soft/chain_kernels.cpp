// Chains of springs in lanes: elimination of blocks from the first spring to the last, substitution back.
#include "step/realtime/soft/chains.h"
#include "step/realtime/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "step/realtime/soft/chain_kernels.cpp"  // NOLINT: how Highway compiles this file once per target
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "step/realtime/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rotule::realtime::HWY_NAMESPACE {
namespace {

constexpr int kept = 9;  // rows per spring: inverse block, right side
/// Across a spring that is slack nothing is stiff; for a float's sake it is taken for so much softer than the spring itself.
constexpr float softest = 1e4F;

struct Node {
  Vector moved;
  Lanes inverse_mass;
};

HWY_INLINE Node fetch_node(const std::vector<ParticleLine>& lines, const std::int32_t* which) {
  const Quad q = fetch([&](int i) { return lines[static_cast<std::size_t>(which[i])].at; });
  return {{q.v[0], q.v[1], q.v[2]}, q.v[3]};
}

HWY_INLINE Symmetric inverse_of(const Symmetric& s) {
  const Lanes a = s.at[3] * s.at[5] - s.at[4] * s.at[4], b = s.at[2] * s.at[4] - s.at[1] * s.at[5],
              c = s.at[1] * s.at[4] - s.at[2] * s.at[3];
  const Lanes inverse = all(1) / (s.at[0] * a + s.at[1] * b + s.at[2] * c);
  return {{a * inverse, b * inverse, c * inverse, (s.at[0] * s.at[5] - s.at[2] * s.at[2]) * inverse,
           (s.at[1] * s.at[2] - s.at[0] * s.at[4]) * inverse, (s.at[0] * s.at[3] - s.at[1] * s.at[1]) * inverse}};
}

/// What moves a node: W p, W = w - c c^T.
template <bool Held>
HWY_INLINE Vector moved_by(const Node& node, const Vector& c, const Vector& p) {
  const Vector free = p * node.inverse_mass;
  if constexpr (Held) return free - c * dot(c, p);
  return free;
}

/// s - W X W for symmetric X.
template <bool Held>
HWY_INLINE Symmetric less_carried(const Symmetric& s, const Symmetric& X, const Node& node, const Vector& c) {
  const Lanes w = node.inverse_mass, square = w * w;
  Symmetric out;
  for (int k = 0; k < 6; ++k) out.at[k] = s.at[k] - square * X.at[k];
  if constexpr (Held) {
    const Vector d = X * c;
    const Vector e = d * w - c * (dot(c, d) * all(0.5F));  // + c e^T + e c^T
    out.at[0] = out.at[0] + all(2) * c.x * e.x;
    out.at[1] = out.at[1] + (c.x * e.y + c.y * e.x);
    out.at[2] = out.at[2] + (c.x * e.z + c.z * e.x);
    out.at[3] = out.at[3] + all(2) * c.y * e.y;
    out.at[4] = out.at[4] + (c.y * e.z + c.z * e.y);
    out.at[5] = out.at[5] + all(2) * c.z * e.z;
  }
  return out;
}

/// across + along d d^T.
HWY_INLINE Symmetric block_of(Lanes across, Lanes along, const Vector& d) {
  const Vector a = d * along;
  return {{across + a.x * d.x, a.x * d.y, a.x * d.z, across + a.y * d.y, a.y * d.z, across + a.z * d.z}};
}

/// `Held`: whether some of the particles rest on bodies.
template <bool Held>
HWY_INLINE void solve_block(const Chains& chains, const ChainBlock& block, int first, Row* scratch, ParticleLines& lines) {
  const WholeRow* nodes = chains.nodes.data() + block.nodes;
  const SpringRow* springs = chains.springs.data() + block.springs;
  const Lanes tiny = all(1e-30F);
  ParticleLine nowhere;
  const auto at = [&](int j, int k) -> Row& { return scratch[j * kept + k]; };
  const Vector nothing{none(), none(), none()};

  Node a = fetch_node(lines.moved, nodes[0].lane + first);
  Vector c = nothing;
  if constexpr (Held) c = fetch_node(lines.held, nodes[0].lane + first).moved;
  Vector begun = fetch_node(lines.begun, nodes[0].lane + first).moved;
  Vector right = nothing;
  Symmetric X{{none(), none(), none(), none(), none(), none()}};
  for (int j = 0; j < block.length; ++j) {
    const SpringRow& spring = springs[j];
    const Node b = fetch_node(lines.moved, nodes[j + 1].lane + first);
    const Vector begun_b = fetch_node(lines.begun, nodes[j + 1].lane + first).moved;
    Vector c_b = nothing;
    if constexpr (Held) c_b = fetch_node(lines.held, nodes[j + 1].lane + first).moved;
    const Vector apart = load(spring.apart, first);
    const Vector e = apart + (b.moved - a.moved), e_begun = apart + (begun_b - begun);
    const Lanes length = root(dot(e, e)), rest = load(spring.rest, first), give = load(spring.give, first),
                damped = load(spring.damped, first);
    const Vector n = e * (all(1) / largest(length, tiny));
    const Lanes before = root(dot(e_begun, e_begun)) - rest, r = length - rest - damped * before;
    const Lanes mass = a.inverse_mass + b.inverse_mass, along = give + mass;
    // Across, as stiff as its pull over its length.
    const Lanes pull = (all(1) - damped) * largest(before, none());
    const Lanes across = mass + least(largest(length, tiny) * give / largest(pull, tiny), all(softest) * along);
    // In units of the spring's own, so that the block's determinant is a float whatever is weighed in.
    const Lanes unit = all(1) / along;
    Symmetric D = block_of(across, along - across, n);
    if constexpr (Held) {
      const Symmetric first_end = block_of(none(), all(1), c), second_end = block_of(none(), all(1), c_b);
      for (int k = 0; k < 6; ++k) D.at[k] = D.at[k] - (first_end.at[k] + second_end.at[k]);
    }
    D = less_carried<Held>(D, X, a, c);
    right = n * r + moved_by<Held>(a, c, X * right);
    for (Lanes& d : D.at) d = d * unit;
    X = inverse_of(D);
    for (int k = 0; k < 6; ++k) {
      X.at[k] = X.at[k] * unit;
      store(X.at[k], at(j, k), first);
    }
    store(right.x, at(j, 6), first);
    store(right.y, at(j, 7), first);
    store(right.z, at(j, 8), first);
    a = b;
    c = c_b;
    begun = begun_b;
  }
  Vector pull = nothing, carried = nothing;  // of the spring behind, on its first node; and by what that is moved
  for (int j = block.length; j >= 0; --j) {
    Vector next = nothing;
    const std::int32_t* which = nodes[j].lane + first;
    const Node node = fetch_node(lines.moved, which);
    Node on{};
    if constexpr (Held) on = fetch_node(lines.held, which);
    if (j > 0) {
      Symmetric inverse;
      for (int k = 0; k < 6; ++k) inverse.at[k] = load(at(j - 1, k), first);
      carried = moved_by<Held>(node, on.moved, pull);
      next = inverse * (Vector{load(at(j - 1, 6), first), load(at(j - 1, 7), first), load(at(j - 1, 8), first)} + carried);
    }
    const Vector p = pull - next, moved = node.moved + moved_by<Held>(node, on.moved, p);
    // Who is pinned, or nobody, may be in several chains of a colour: nothing is written there.
    const unsigned movable = bits_of(hn::Gt(node.inverse_mass, none()));
    const auto into = [&](std::vector<ParticleLine>& column) {
      return [&, movable](int i) { return (movable >> i & 1) != 0 ? column[static_cast<std::size_t>(which[i])].at : nowhere.at; };
    };
    if constexpr (Held) put_back({{on.moved.x, on.moved.y, on.moved.z, on.inverse_mass + dot(on.moved, p)}}, into(lines.held));
    put_back({{moved.x, moved.y, moved.z, node.inverse_mass}}, into(lines.moved));
    pull = next;
  }
}

void solve_chains_in(const Chains& chains, int first_block, int last_block, ChainScratch& scratch, ParticleLines& lines) {
  scratch.rows.resize(static_cast<std::size_t>(chains.longest) * kept);
  for (int b = first_block; b < last_block; ++b)
    for (int first = 0; first < row_lanes; first += width) {
      const ChainBlock& block = chains.blocks[static_cast<std::size_t>(b)];
      if (lines.any_held)
        solve_block<true>(chains, block, first, scratch.rows.data(), lines);
      else
        solve_block<false>(chains, block, first, scratch.rows.data(), lines);
    }
}

}  // namespace
}  // namespace rotule::realtime::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rotule::realtime {

HWY_EXPORT(solve_chains_in);

void solve_chains(const Chains& chains, int first_block, int last_block, ChainScratch& scratch, ParticleLines& lines) {
  HWY_DYNAMIC_DISPATCH(solve_chains_in)(chains, first_block, last_block, scratch, lines);
}

}  // namespace rotule::realtime
#endif
