#pragma once
// Springs between particles as chains: a group's springs are cut into lines of them, one behind the other, as straight as they
// go: rows and columns and diagonals of a cloth. The springs of one chain are solved at once, directly. With n_j the direction
// from node j to j + 1, w the inverse masses, C_j = l_j - rest, C0_j the same at the substep's start, k and d stiffness and
// damping, the pulls over a substep of h, p_j = h^2 force, are those of implicit springs, along n_j and, as springs under tension
// are stiff across by T/l, T = k C0_j or none, across it:
//   n_j . p_j = k h^2 C_j' + d h (C_j' - C0_j),   C_j' = C_j + n_j . (dx_{j+1} - dx_j),   dx_j = w_j (p_j - p_{j-1}),
//   (1 - n_j n_j^T) (p_j - h^2 T/l (dx_{j+1} - dx_j)) = 0,
// tridiagonal in blocks of three, by elimination (C. Deul et al., "Direct position-based solver for stiff rods", 2018, has such a
// system for rods). Across, a taut spring that knew its direction alone would swing up where h^2 T/(m l) is more than a third.
// One spring after the other, a pull would go from particle to particle, and a hanging cloth of n rows would stretch by n^2 g
// h^2, however stiff its springs are; so it stretches as they say, however many they are.
//
// Chains of one colour have no particle in common: it does not matter who takes which, nor when. Sixteen of them are a block.
#include <cstdint>
#include <vector>

#include "step/realtime/rows.h"
#include "step/realtime/soft/particle_lines.h"

namespace rotule::realtime {

/// The springs of sixteen chains, in the places of them that are one behind the other.
struct SpringRow {
  Rows3 apart;  // m, from one end to the other at the step's start
  Row rest;     // m
  Row give;     // 1/kg: 1/(k h^2 + d h)
  Row damped;   // d h/(k h^2 + d h)
};

struct ChainBlock {
  int nodes = 0;    // its first row of nodes; one more than springs
  int springs = 0;  // its first row of springs
  int length = 0;   // springs of the longest
};

struct Chains {
  std::vector<WholeRow> nodes;  // lines of particles
  std::vector<SpringRow> springs;
  std::vector<std::int32_t>
      sources;  // per spring row and lane: the spring's number in the model, + 1, negative where it runs back; 0: none
  std::vector<ChainBlock> blocks;
  std::vector<int> colours;  // first block of each, and one more
  int longest = 0;

  /// Cuts the model's springs.
  Chains(const Model& model, const State& s);
  Chains() = default;
  /// Stiffnesses for substeps of h.
  void set_step(const Model& model, double h);
  /// Distances at the start of a step, of springs in these blocks.
  void set_start(const State& s, int first_block, int last_block);

 private:
  double h_ = 0;
};

/// What is known of a spring between elimination and substitution.
struct ChainScratch {
  std::vector<Row> rows;
};

/// Solves the chains of these blocks, which have one colour, and moves their particles.
void solve_chains(const Chains& chains, int first_block, int last_block, ChainScratch& scratch, ParticleLines& lines);

}  // namespace rotule::realtime
