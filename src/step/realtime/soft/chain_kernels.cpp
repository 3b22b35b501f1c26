// Chains of springs in lanes: elimination from the first spring to the last, substitution back.
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

constexpr int kept = 6;  // rows per spring: direction, off-diagonal, inverse diagonal, right side

struct Node {
  Vector moved;
  Lanes inverse_mass;
};

HWY_INLINE Node fetch_node(const std::vector<Four>& lines, const std::int32_t* which) {
  const Quad q = fetch([&](int i) { return lines[static_cast<std::size_t>(which[i])].at; });
  return {{q.v[0], q.v[1], q.v[2]}, q.v[3]};
}

HWY_INLINE void solve_block(const Chains& chains, const ChainBlock& block, int first, Row* scratch, ParticleLines& lines) {
  const WholeRow* nodes = chains.nodes.data() + block.nodes;
  const SpringRow* springs = chains.springs.data() + block.springs;
  const Lanes tiny = all(1e-30F);
  Four nowhere;
  const auto at = [&](int j, int k) -> Row& { return scratch[j * kept + k]; };

  Node a = fetch_node(lines.moved, nodes[0].lane + first);
  Vector begun = fetch_node(lines.begun, nodes[0].lane + first).moved;
  Vector n_before{none(), none(), none()};
  Lanes off = none(), inverse = none(), right = none();
  for (int j = 0; j < block.length; ++j) {
    const SpringRow& spring = springs[j];
    const Node b = fetch_node(lines.moved, nodes[j + 1].lane + first);
    const Vector begun_b = fetch_node(lines.begun, nodes[j + 1].lane + first).moved;
    const Vector apart = load(spring.apart, first);
    const Vector e = apart + (b.moved - a.moved), e_begun = apart + (begun_b - begun);
    const Lanes length = root(dot(e, e)), rest = load(spring.rest, first);
    const Vector n = e * (all(1) / largest(length, tiny));
    const Lanes stretch = length - rest, before = root(dot(e_begun, e_begun)) - rest;
    // What couples it with the spring before, eliminated.
    off = none() - a.inverse_mass * dot(n_before, n);
    const Lanes share = off * inverse;
    right = stretch - load(spring.damped, first) * before - share * right;
    const Lanes diagonal = load(spring.give, first) + a.inverse_mass + b.inverse_mass - share * off;
    inverse = all(1) / largest(diagonal, tiny);
    store(n.x, at(j, 0), first);
    store(n.y, at(j, 1), first);
    store(n.z, at(j, 2), first);
    store(off, at(j, 3), first);
    store(inverse, at(j, 4), first);
    store(right, at(j, 5), first);
    n_before = n;
    a = b;
    begun = begun_b;
  }
  Vector pull{none(), none(), none()};  // of the spring behind, on its first node
  Lanes tension = none();
  for (int j = block.length; j >= 0; --j) {
    Vector next{none(), none(), none()};
    if (j > 0) {
      const Lanes coupled = j < block.length ? load(at(j, 3), first) * tension : none();
      tension = (load(at(j - 1, 5), first) - coupled) * load(at(j - 1, 4), first);
      next = Vector{load(at(j - 1, 0), first), load(at(j - 1, 1), first), load(at(j - 1, 2), first)} * tension;
    }
    const std::int32_t* which = nodes[j].lane + first;
    const Node node = fetch_node(lines.moved, which);
    const Vector moved = node.moved + (pull - next) * node.inverse_mass;
    // Who is pinned, or nobody, may be in several chains of a colour: nothing is written there.
    const unsigned movable = bits_of(hn::Gt(node.inverse_mass, none()));
    put_back({{moved.x, moved.y, moved.z, node.inverse_mass}}, [&](int i) {
      return (movable >> i & 1) != 0 ? lines.moved[static_cast<std::size_t>(which[i])].at : nowhere.at;
    });
    pull = next;
  }
}

void solve_chains_in(const Chains& chains, int first_block, int last_block, ChainScratch& scratch, ParticleLines& lines) {
  scratch.rows.resize(static_cast<std::size_t>(chains.longest) * kept);
  for (int b = first_block; b < last_block; ++b)
    for (int first = 0; first < row_lanes; first += width)
      solve_block(chains, chains.blocks[static_cast<std::size_t>(b)], first, scratch.rows.data(), lines);
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
