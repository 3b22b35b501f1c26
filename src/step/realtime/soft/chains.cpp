#include "step/realtime/soft/chains.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <numeric>

namespace rotule::realtime {

namespace {

constexpr double straight = 0.5;     // cosine of the turn that a chain may take from one spring to the next
constexpr float slack_give = 1e30F;  // of springs without stiffness and damping, 1/kg

struct Chain {
  std::vector<int> nodes, springs;  // springs: + 1, negative where they run back
};

/// Cuts springs into chains.
class Cutter {
 public:
  explicit Cutter(const Model& model) : pool_(model.forces.particle_springs) {
    const int count = pool_.count(), particles = model.particle_count();
    used_.assign(static_cast<std::size_t>(count), 0);
    in_chain_.assign(static_cast<std::size_t>(particles), -1);
    first_.assign(static_cast<std::size_t>(particles) + 1, 0);
    for (int n = 0; n < count; ++n)
      for (const int end : {pool_.i[n], pool_.j[n]}) ++first_[static_cast<std::size_t>(end) + 1];
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    around_.resize(2 * static_cast<std::size_t>(count));
    std::vector<int> next(first_.begin(), first_.end() - 1);
    for (int n = 0; n < count; ++n)
      for (const int end : {pool_.i[n], pool_.j[n]}) around_[static_cast<std::size_t>(next[end]++)] = n;
  }

  std::vector<Chain> cut(const std::vector<Vec3>& x) {
    std::vector<Chain> out;
    for (int n = 0; n < pool_.count(); ++n) {
      if (used_[n] != 0 || pool_.i[n] == pool_.j[n]) continue;
      const int number = static_cast<int>(out.size());
      used_[n] = 1;
      Chain ahead, behind;
      in_chain_[pool_.i[n]] = in_chain_[pool_.j[n]] = number;
      follow(x, n, pool_.j[n], number, ahead);
      follow(x, n, pool_.i[n], number, behind);
      Chain& chain = out.emplace_back();
      chain.nodes.assign(behind.nodes.rbegin(), behind.nodes.rend());
      std::transform(behind.springs.rbegin(), behind.springs.rend(), std::back_inserter(chain.springs), std::negate<>());
      chain.nodes.insert(chain.nodes.end(), {pool_.i[n], pool_.j[n]});
      chain.springs.push_back(n + 1);
      chain.nodes.insert(chain.nodes.end(), ahead.nodes.begin(), ahead.nodes.end());
      chain.springs.insert(chain.springs.end(), ahead.springs.begin(), ahead.springs.end());
    }
    return out;
  }

 private:
  /// From `spring` on beyond its end `node`, always by the straightest spring of the same make, to where nobody of the chain is.
  void follow(const std::vector<Vec3>& x, int spring, int node, int number, Chain& out) {
    while (true) {
      const int from = other_end(spring, node);
      const Vec3 way = (x[node] - x[from]).normalized();
      int best = -1;
      double most = straight;
      for (int k = first_[node]; k < first_[node + 1]; ++k) {
        const int other = around_[k], end = other_end(other, node);
        if (used_[other] != 0 || end == node || in_chain_[end] == number || pool_.stiffness[other] != pool_.stiffness[spring])
          continue;
        const double cosine = way.dot((x[end] - x[node]).normalized());
        if (cosine > most + 1e-9) {
          most = cosine;
          best = other;
        }
      }
      if (best < 0) return;
      used_[best] = 1;
      out.springs.push_back(pool_.i[best] == node ? best + 1 : -(best + 1));
      node = other_end(best, node);
      in_chain_[node] = number;
      out.nodes.push_back(node);
      spring = best;
    }
  }
  [[nodiscard]] int other_end(int spring, int node) const { return pool_.i[spring] == node ? pool_.j[spring] : pool_.i[spring]; }

  const ParticleSprings& pool_;
  std::vector<char> used_;
  std::vector<int> in_chain_, first_, around_;
};

/// A colour each, such that those of one colour have no particle in common that can be moved.
std::vector<int> colour_chains(const Model& model, const std::vector<Chain>& chains, int& count) {
  std::vector<int> out;
  std::vector<std::vector<char>> taken;
  for (const Chain& chain : chains) {
    const auto free = [&](const std::vector<char>& of) {
      return std::none_of(chain.nodes.begin(), chain.nodes.end(), [&](int node) { return of[node] != 0; });
    };
    auto colour = std::find_if(taken.begin(), taken.end(), free);
    if (colour == taken.end())
      colour = taken.insert(colour, std::vector<char>(static_cast<std::size_t>(model.particle_count()), 0));
    // Who is pinned is not moved: any number may hold on to him.
    for (const int node : chain.nodes)
      if (model.particles.movable(node)) (*colour)[node] = 1;
    out.push_back(static_cast<int>(colour - taken.begin()));
  }
  count = static_cast<int>(taken.size());
  return out;
}

}  // namespace

Chains::Chains(const Model& model, const State& s) {
  std::vector<Vec3> x;
  for (int i = 0; i < model.particle_count(); ++i) x.emplace_back(s.particle_position(i));
  const std::vector<Chain> all = Cutter(model).cut(x);
  int count = 0;
  const std::vector<int> colour = colour_chains(model, all, count);
  std::vector<int> order(all.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return colour[a] != colour[b] ? colour[a] < colour[b] : all[a].springs.size() > all[b].springs.size();
  });
  for (std::size_t k = 0; k < order.size();) {
    if (static_cast<int>(colours.size()) <= colour[order[k]]) colours.push_back(static_cast<int>(blocks.size()));
    const int length = static_cast<int>(all[order[k]].springs.size());
    longest = std::max(longest, length);
    const ChainBlock block{static_cast<int>(nodes.size()), static_cast<int>(springs.size()), length};
    nodes.resize(nodes.size() + static_cast<std::size_t>(length) + 1);  // lanes of nobody
    springs.resize(springs.size() + static_cast<std::size_t>(length));
    sources.resize(springs.size() * row_lanes);
    const int own = colour[order[k]];
    for (int lane = 0; lane < row_lanes && k < order.size() && colour[order[k]] == own; ++lane, ++k) {
      const Chain& chain = all[order[k]];
      for (std::size_t j = 0; j < chain.nodes.size(); ++j)
        nodes[static_cast<std::size_t>(block.nodes) + j].lane[lane] = line_of_particle(chain.nodes[j]);
      for (std::size_t j = 0; j < chain.springs.size(); ++j)
        sources[(static_cast<std::size_t>(block.springs) + j) * row_lanes + static_cast<std::size_t>(lane)] = chain.springs[j];
    }
    blocks.push_back(block);
  }
  colours.push_back(static_cast<int>(blocks.size()));
}

void Chains::set_step(const Model& model, double h) {
  if (h == h_) return;
  h_ = h;
  const ParticleSprings& pool = model.forces.particle_springs;
  for (std::size_t k = 0; k < sources.size(); ++k) {
    SpringRow& row = springs[k / row_lanes];
    const std::size_t lane = k % row_lanes;
    row.give.lane[lane] = slack_give;
    if (sources[k] == 0) continue;
    const int n = std::abs(sources[k]) - 1;
    const double firm = h * (h * pool.stiffness[n] + pool.damping[n]);
    row.rest.lane[lane] = static_cast<float>(pool.rest_length[n]);
    if (firm > 1 / double(slack_give)) {
      row.give.lane[lane] = static_cast<float>(1 / firm);
      row.damped.lane[lane] = static_cast<float>(h * pool.damping[n] / firm);
    }
  }
}

void Chains::set_start(const State& s, int first_block, int last_block) {
  const double* x = s.x.data();
  for (int b = first_block; b < last_block; ++b) {
    const ChainBlock& block = blocks[b];
    for (int j = 0; j < block.length; ++j) {
      SpringRow& row = springs[block.springs + j];
      const std::int32_t* from = nodes[block.nodes + j].lane;
      const std::int32_t* to = nodes[block.nodes + j + 1].lane;
      for (int lane = 0; lane < row_lanes; ++lane) {
        if (to[lane] == 0) continue;
        const double* a = x + 3 * static_cast<std::ptrdiff_t>(from[lane] - 1);
        const double* c = x + 3 * static_cast<std::ptrdiff_t>(to[lane] - 1);
        put(row.apart, lane, c[0] - a[0], c[1] - a[1], c[2] - a[2]);
      }
    }
  }
}

}  // namespace rotule::realtime
