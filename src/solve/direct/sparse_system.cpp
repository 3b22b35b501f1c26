#include "solve/direct/sparse_system.h"

#include <algorithm>

#include "linalg/ordering.h"
#include "problem/operators.h"

namespace rotule {

namespace {

/// A body with more joints than this becomes a node of its own.
constexpr int most_joints_in_a_clique = 24;

inline bool is_isotropic(const Mat6& W) {
  return W(0, 0) == W(1, 1) && W(0, 0) == W(2, 2) && W(1, 0) == 0 && W(2, 0) == 0 && W(2, 1) == 0;
}

inline bool is_ball(const double* J) {
  return (J[0] == 1 || J[0] == -1) && J[7] == J[0] && J[14] == J[0] && J[1] == 0 && J[2] == 0 && J[6] == 0 && J[8] == 0 &&
         J[12] == 0 && J[13] == 0;
}

/// t = J W for one side of a block.
template <int S, BodyKind kind>
inline void multiply_rows(const double* J, const double* W, double* t, int size) {
  const int s = S ? S : size;
  for (int i = 0; i < s; ++i, J += 6, t += 6) {
    if constexpr (kind == BodyKind::coupled) {
      for (int c = 0; c < 6; ++c) {
        double sum = J[0] * W[c];
        for (int k = 1; k < 6; ++k) sum += J[k] * W[6 * k + c];
        t[c] = sum;
      }
    } else {
      for (int c = 0; c < 3; ++c) {
        if constexpr (kind == BodyKind::uncoupled) t[c] = J[0] * W[c] + J[1] * W[6 + c] + J[2] * W[12 + c];
        if constexpr (kind == BodyKind::isotropic) t[c] = J[c] * W[0];
        t[3 + c] = J[3] * W[21 + c] + J[4] * W[27 + c] + J[5] * W[33 + c];
      }
    }
  }
}

/// A += J t^T, or its lower triangle. Summed in a local block: the compiler cannot know that writing A leaves J alone.
/// Between balls the linear part is `linear` times the identity.
template <int S, BodyKind kind, bool square>
inline void add_product(double* A, const double* J, const double* t, double linear, int row_count, int col_count) {
  const int rows = S ? S : row_count, cols = S ? S : col_count;
  double sum[S ? S * S : 36];
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < (square ? r + 1 : cols); ++c) {
      const double* const p = J + 6 * r;
      const double* const q = t + 6 * c;
      const double angular = p[3] * q[3] + p[4] * q[4] + p[5] * q[5];
      if constexpr (kind == BodyKind::balls)
        sum[r * cols + c] = r == c ? linear + angular : angular;
      else
        sum[r * cols + c] = (p[0] * q[0] + p[1] * q[1] + p[2] * q[2]) + angular;
    }
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < (square ? r + 1 : cols); ++c) A[r * cols + c] += sum[r * cols + c];
}

/// Which bodies become nodes, and which joints hang from one of them alone, without touching the ground or another.
struct Hubs {
  std::vector<char> is_hub;  // per body
  std::vector<char> hangs;   // per joint
  std::vector<int> bodies;
};

Hubs find_hubs(std::span<const GraphEdge> edges, const Graph& joints, std::span<const Mobility> mobility,
               std::span<const char> loose) {
  const int bodies = joints.size(), n = static_cast<int>(edges.size());
  Hubs hubs;
  hubs.is_hub.assign(bodies, 0);
  hubs.hangs.assign(n, 0);
  for (int body = 0; body < bodies; ++body)
    if (static_cast<int>(joints.of(body).size()) > most_joints_in_a_clique) hubs.bodies.push_back(body);

  // What is left without them falls into parts; a hub from which too few joints hang is given up, and the parts found again.
  constexpr int none = -1, several = -2;
  std::vector<int> part(bodies), holder(bodies);
  std::vector<int> stack;
  for (bool changed = true; changed && !hubs.bodies.empty();) {
    std::fill(hubs.is_hub.begin(), hubs.is_hub.end(), char{0});
    for (const int hub : hubs.bodies) hubs.is_hub[hub] = 1;
    std::fill(part.begin(), part.end(), -1);
    std::fill(holder.begin(), holder.end(), none);
    for (int root = 0; root < bodies; ++root) {
      if (hubs.is_hub[root] || part[root] >= 0) continue;
      stack.assign(1, root);
      part[root] = root;
      while (!stack.empty()) {
        const int body = stack.back();
        stack.pop_back();
        if (mobility[body] != Mobility::full) holder[root] = several;
        for (const int e : joints.of(body)) {
          if (loose[e]) continue;
          const int other = edges[e].a == body ? edges[e].b : edges[e].a;
          if (other < 0)
            holder[root] = several;
          else if (hubs.is_hub[other])
            holder[root] = holder[root] == none || holder[root] == other ? other : several;
          else if (part[other] < 0) {
            part[other] = root;
            stack.push_back(other);
          }
        }
      }
    }
    for (int e = 0; e < n; ++e) {
      const int a = edges[e].a, b = edges[e].b;
      const int inner = a >= 0 && !hubs.is_hub[a] ? a : b >= 0 && !hubs.is_hub[b] ? b : -1;
      hubs.hangs[e] = loose[e] || (inner >= 0 && holder[part[inner]] >= 0);
    }
    changed = std::erase_if(hubs.bodies, [&](int hub) {
                const auto around = joints.of(hub);
                return std::ranges::count_if(around, [&](int e) { return hubs.hangs[e]; }) <= most_joints_in_a_clique;
              }) > 0;
  }
  if (hubs.bodies.empty()) {
    std::fill(hubs.is_hub.begin(), hubs.is_hub.end(), char{0});
    std::fill(hubs.hangs.begin(), hubs.hangs.end(), char{0});
  }
  return hubs;
}

/// Joints adjacent where they share a body.
Graph shared_bodies(std::span<const GraphEdge> edges, const Graph& joints) {
  Graph adjacency;
  adjacency.start.assign(1, 0);
  std::vector<int> mark(edges.size(), -1);
  for (int i = 0; i < static_cast<int>(edges.size()); ++i) {
    mark[i] = i;
    for (const int body : {edges[i].a, edges[i].b})
      if (body >= 0)
        for (const int j : joints.of(body))
          if (mark[j] != i) {
            mark[j] = i;
            adjacency.neighbours.push_back(j);
          }
    adjacency.start.push_back(static_cast<int>(adjacency.neighbours.size()));
  }
  return adjacency;
}

/// Appends the chosen joints in a good order of their own.
void append_order(std::span<const GraphEdge> edges, int bodies, std::span<const int> chosen, std::vector<int>& order) {
  std::vector<GraphEdge> part;
  for (const int i : chosen) part.push_back(edges[i]);
  std::vector<int> inside;
  if (!leaves_first(part, bodies, inside)) minimum_degree(shared_bodies(part, incident_edges(part, bodies)), inside);
  for (const int i : inside) order.push_back(chosen[i]);
}

}  // namespace

bool SparseSystem::is_loose(const ConstraintProblem& problem, const ConstraintBlock& block) {
  constexpr double far_above = 1e9;
  for (int r = block.first_row; r < block.first_row + block.rows; ++r)
    if (!(problem.C[r] > far_above * diagonal_entry(problem, block, r))) return false;
  return true;
}

/// The general case: blocks over any number of bodies, as nodes that are adjacent where they share one.
void SparseSystem::analyse_further(const ConstraintProblem& problem, std::span<const ConstraintBlock> blocks) {
  const int n = static_cast<int>(blocks.size());
  std::vector<std::vector<Side>> around(problem.bodies());
  std::vector<BlockLdlt::Node> nodes(n);
  for (int i = 0; i < n; ++i) {
    const ConstraintBlock& block = blocks[i];
    nodes[i] = {.first_row = block.first_row, .size = block.rows};
    for_each_body(problem, block, [&](int body, const JacobianRows& J, int first) {
      around[body].push_back({i, &J == &problem.J_more ? -1 - first : 2 * first + (&J == &problem.J_b)});
    });
  }
  Graph adjacency;
  adjacency.start.assign(1, 0);
  std::vector<int> mark(n, -1), order;
  for (int i = 0; i < n; ++i) {
    mark[i] = i;
    for_each_body(problem, blocks[i], [&](int body, const JacobianRows&, int) {
      for (const Side& other : around[body])
        if (mark[other.block] != i) {
          mark[other.block] = i;
          adjacency.neighbours.push_back(other.block);
        }
    });
    adjacency.start.push_back(static_cast<int>(adjacency.neighbours.size()));
  }
  adjacency.neighbours.reserve(1);  // never a null pointer, which the ordering refuses
  minimum_degree(adjacency, order);
  factor.analyse(nodes, adjacency, order, threads_);

  mobility_.clear();
  loose_.clear();
  hub_program_.clear();
  hub_scratch_.clear();
  std::vector<std::pair<int, std::vector<Side>>> bodies;
  for (int body = 0; body < problem.bodies(); ++body)
    if (!around[body].empty()) bodies.emplace_back(body, std::move(around[body]));
  write_program(blocks, bodies);
  refinement.resize(problem);
  rows_ = problem.rows();
  structure_.keep(problem, blocks);
}

void SparseSystem::write_program(std::span<const ConstraintBlock> blocks,
                                 std::span<const std::pair<int, std::vector<Side>>> bodies) {
  // All joints of a body wait for each other in turn: those before the trunk are in one branch.
  const int parts = factor.parts(), trunk = parts - 1;
  std::vector<std::vector<std::int32_t>> programs(parts);
  std::vector<Side> sides;
  for (const auto& [body, all] : bodies) {
    sides = all;
    std::ranges::sort(sides, {}, [&](const Side& side) { return factor.position(side.block); });
    for (std::size_t from = 0; from < sides.size();) {
      const int part = factor.part_of(sides[from].block);
      std::size_t to = sides.size();
      if (part != trunk)
        for (to = from; to < sides.size() && factor.part_of(sides[to].block) == part;) ++to;
      std::vector<std::int32_t>& program = programs[part];
      program.push_back(body);
      program.push_back(static_cast<std::int32_t>(sides.size() - from));
      program.push_back(static_cast<std::int32_t>(to - from));
      for (std::size_t i = from; i < sides.size(); ++i) {
        program.push_back(sides[i].code);
        program.push_back(blocks[sides[i].block].rows);
      }
      for (std::size_t i = from; i < to; ++i)
        for (std::size_t j = i; j < sides.size(); ++j)
          program.push_back(i == j ? factor.offset(sides[i].block) : factor.offset(sides[j].block, sides[i].block));
      from = to;
    }
  }
  program_.clear();
  program_start_.clear();
  for (const std::vector<std::int32_t>& program : programs) {
    program_start_.push_back(program_.size());
    program_.insert(program_.end(), program.begin(), program.end());
  }
  program_start_.push_back(program_.size());
  program_.shrink_to_fit();
}

void SparseSystem::analyse(const ConstraintProblem& problem, std::span<const ConstraintBlock> blocks, int threads) {
  threads_ = threads;
  if (std::ranges::any_of(blocks, [](const ConstraintBlock& block) { return block.more_count > 0; }))
    return analyse_further(problem, blocks);
  const int n = static_cast<int>(blocks.size());
  std::vector<GraphEdge> edges(n);
  std::vector<BlockLdlt::Node> nodes(n);
  for (int i = 0; i < n; ++i) {
    const ConstraintBlock& block = blocks[i];
    edges[i] = {block.body_a, block.body_b};
    nodes[i] = {.first_row = block.first_row, .size = block.rows};
  }
  Graph joints = incident_edges(edges, problem.bodies());

  // Masses matter to the structure only where some body has many joints: if it never moves, they have nothing to do with each
  // other.
  mobility_.clear();
  loose_.clear();
  for (int body = 0; body < problem.bodies() && mobility_.empty(); ++body)
    if (static_cast<int>(joints.of(body).size()) > most_joints_in_a_clique)
      for (const Mat6& W : problem.inverse_mass) mobility_.push_back(mobility_of(W));
  if (!mobility_.empty()) {
    for (const ConstraintBlock& block : blocks) loose_.push_back(is_loose(problem, block));
    for (GraphEdge& e : edges) {
      if (e.a >= 0 && mobility_[e.a] == Mobility::none) e.a = -1;
      if (e.b >= 0 && mobility_[e.b] == Mobility::none) e.b = -1;
    }
    joints = incident_edges(edges, problem.bodies());
  }
  const Hubs hubs = find_hubs(edges, joints, mobility_, loose_);
  const int hub_count = static_cast<int>(hubs.bodies.size());
  for (int k = 0; k < hub_count; ++k) nodes.push_back({.first_row = problem.rows() + 6 * k, .size = 6, .negative = true});

  // Two blocks are adjacent in A_0 where they share a body that is no hub; a hub's node is adjacent to its joints.
  std::vector<GraphEdge> inner = edges;
  for (GraphEdge& e : inner) {
    if (e.a >= 0 && hubs.is_hub[e.a]) e.a = -1;
    if (e.b >= 0 && hubs.is_hub[e.b]) e.b = -1;
  }
  const Graph among_joints = shared_bodies(inner, incident_edges(inner, problem.bodies()));
  std::vector<int> hub_node(problem.bodies(), -1);
  for (int k = 0; k < hub_count; ++k) hub_node[hubs.bodies[k]] = n + k;
  Graph adjacency;
  adjacency.start.assign(1, 0);
  const auto close_list = [&] { adjacency.start.push_back(static_cast<int>(adjacency.neighbours.size())); };
  for (int i = 0; i < n; ++i) {
    const auto near = among_joints.of(i);
    adjacency.neighbours.insert(adjacency.neighbours.end(), near.begin(), near.end());
    for (const int body : {edges[i].a, edges[i].b})
      if (body >= 0 && hub_node[body] >= 0) adjacency.neighbours.push_back(hub_node[body]);
    close_list();
  }
  for (const int hub : hubs.bodies) {
    const auto around = joints.of(hub);
    adjacency.neighbours.insert(adjacency.neighbours.end(), around.begin(), around.end());
    close_list();
  }

  // What hangs from hubs, as if they were the ground; the hubs; the rest, as if there were none.
  std::vector<int> order, hanging, rest;
  for (int i = 0; i < n; ++i) (hubs.hangs[i] ? hanging : rest).push_back(i);
  append_order(inner, problem.bodies(), hanging, order);
  for (int k = 0; k < hub_count; ++k) order.push_back(n + k);
  append_order(edges, problem.bodies(), rest, order);
  factor.analyse(nodes, adjacency, order, hub_count > 0 ? 1 : threads);

  hub_program_.clear();
  for (int k = 0; k < hub_count; ++k) {
    const auto around = joints.of(hubs.bodies[k]);
    hub_program_.push_back(hubs.bodies[k]);
    hub_program_.push_back(factor.offset(n + k));
    hub_program_.push_back(static_cast<std::int32_t>(around.size()));
    for (const int i : around) {
      const bool before = factor.position(i) < factor.position(n + k);
      hub_program_.push_back(2 * nodes[i].first_row + (edges[i].b == hubs.bodies[k]));
      hub_program_.push_back(before ? nodes[i].size : -nodes[i].size);
      hub_program_.push_back(before ? factor.offset(n + k, i) : factor.offset(i, n + k));
    }
  }
  hub_scratch_.resize(hub_count > 0 ? problem.rows() + 6 * hub_count : 0);

  // The assembly visits bodies in the order in which their first joints are eliminated, for locality.
  std::vector<char> visited(hubs.is_hub);
  std::vector<std::pair<int, std::vector<Side>>> bodies;
  for (const int first : order) {
    if (first >= n) continue;
    for (const int body : {edges[first].a, edges[first].b}) {
      if (body < 0 || visited[body]) continue;
      visited[body] = 1;
      std::vector<Side>& sides = bodies.emplace_back(body, std::vector<Side>()).second;
      for (const int i : joints.of(body)) sides.push_back({i, 2 * nodes[i].first_row + (edges[i].b == body)});
    }
  }
  write_program(blocks, bodies);
  refinement.resize(problem);
  rows_ = problem.rows();
  structure_.keep(problem, blocks);
}

void SparseSystem::assemble_hubs(const ConstraintProblem& problem) {
  double* const values = factor.values().data();
  for (std::size_t at = 0; at < hub_program_.size();) {
    const Mat6& W = problem.inverse_mass[hub_program_[at]];
    double* const D = values + hub_program_[at + 1];
    for (int r = 0; r < 6; ++r)
      for (int c = 0; c <= r; ++c) D[6 * r + c] = -W(r, c);
    const int count = hub_program_[at + 2];
    at += 3;
    for (int i = 0; i < count; ++i, at += 3) {
      // The block under the joint's column is (J W)^T; the one under the hub's is J W.
      const bool before = hub_program_[at + 1] > 0;
      const int s = before ? hub_program_[at + 1] : -hub_program_[at + 1];
      double t[36];
      multiply_rows<0, BodyKind::coupled>(side(problem, hub_program_[at]), W.data(), t, s);
      double* const A = values + hub_program_[at + 2];
      for (int r = 0; r < s; ++r)
        for (int c = 0; c < 6; ++c) A[before ? c * s + r : 6 * r + c] = t[6 * r + c];
    }
  }
}

void SparseSystem::solve(std::span<double> x, Gang* gang) {
  if (hub_scratch_.empty()) return factor.solve(x.data(), gang);
  std::copy(x.begin(), x.end(), hub_scratch_.begin());
  std::fill(hub_scratch_.begin() + static_cast<std::ptrdiff_t>(x.size()), hub_scratch_.end(), 0.0);
  factor.solve(hub_scratch_.data());
  std::copy_n(hub_scratch_.begin(), x.size(), x.begin());
}

void SparseSystem::assemble(const ConstraintProblem& problem, Gang* gang) {
  const std::span<const double> compliance(problem.C.data(), static_cast<std::size_t>(problem.C.size()));
  share_out(gang, factor.parts(), [&](int part, int) {
    const std::span<double> values = factor.values_of(part);
    std::fill(values.begin(), values.end(), 0.0);
    switch (factor.uniform_size()) {
      case 3:
        assemble_bodies<3>(problem, part);
        break;
      case 5:
        assemble_bodies<5>(problem, part);
        break;
      case 6:
        assemble_bodies<6>(problem, part);
        break;
      default:
        assemble_bodies<0>(problem, part);
        break;
    }
    factor.add_to_diagonal(part, compliance);
  });
  assemble_hubs(problem);
}

template <int S, BodyKind kind>
const std::int32_t* SparseSystem::assemble_body(const ConstraintProblem& problem, const std::int32_t* at) {
  double* const values = factor.values().data();
  const double* const W = problem.inverse_mass[at[0]].data();
  const int count = at[1], here = at[2];
  const std::int32_t* const sides = at + 3;
  const std::int32_t* target = sides + 2 * count;
  for (int i = 0; i < here; ++i) {
    const int s = S ? S : sides[2 * i + 1];
    const double* const J_i = side(problem, sides[2 * i]);
    double t[6 * (S ? S : 6)];
    multiply_rows<S, kind>(J_i, W, t, s);
    add_product<S, kind, true>(values + *target++, J_i, t, W[0], s, s);
    for (int j = i + 1; j < count; ++j) {
      const double* const J_j = side(problem, sides[2 * j]);
      add_product<S, kind, false>(values + *target++, J_j, t, J_j[0] * J_i[0] * W[0], sides[2 * j + 1], s);
    }
  }
  return target;
}

template <int S>
BodyKind SparseSystem::kind_of(const ConstraintProblem& problem, const std::int32_t* at) {
  if (problem.coupled) return BodyKind::coupled;
  if (!is_isotropic(problem.inverse_mass[at[0]])) return BodyKind::uncoupled;
  if (S != 3) return BodyKind::isotropic;
  for (int i = 0; i < at[1]; ++i)
    if (!is_ball(side(problem, at[3 + 2 * i]))) return BodyKind::isotropic;
  return BodyKind::balls;
}

template <int S>
void SparseSystem::assemble_bodies(const ConstraintProblem& problem, int part) {
  const std::int32_t* at = program_.data() + program_start_[part];
  const std::int32_t* const end = program_.data() + program_start_[part + 1];
  while (at != end) switch (kind_of<S>(problem, at)) {
      case BodyKind::coupled:
        at = assemble_body<S, BodyKind::coupled>(problem, at);
        break;
      case BodyKind::uncoupled:
        at = assemble_body<S, BodyKind::uncoupled>(problem, at);
        break;
      case BodyKind::isotropic:
        at = assemble_body<S, BodyKind::isotropic>(problem, at);
        break;
      case BodyKind::balls:
        at = assemble_body<S, BodyKind::balls>(problem, at);
        break;
    }
}

}  // namespace rotule
