#include "mechanism/implicit_system.h"

#include <rotule/error.h>

#include <algorithm>
#include <numeric>

#include "constraint/formulation/formulations.h"
#include "dynamics/forces/added_mass.h"
#include "dynamics/forces/elasticity.h"
#include "dynamics/forces/fluid.h"
#include "dynamics/forces/force_set.h"
#include "dynamics/forces/springs.h"
#include "mechanism/gas_ranks.h"

namespace rotule {

namespace {

/// Bodies, then particles, then wakes, tied together by whatever couples them.
class Ties {
 public:
  explicit Ties(const Model& model)
      : model_(model), parent_(static_cast<std::size_t>(model.body_count() + model.particle_count() + model.forces.wakes)) {
    std::iota(parent_.begin(), parent_.end(), 0);
  }
  [[nodiscard]] int node(const ForceEnd& end) const {
    if (end.kind == ForceEnd::Kind::body) return model_.movable(end.index) ? end.index : -1;
    if (end.kind == ForceEnd::Kind::particle) return particle(end.index);
    return -1;
  }
  [[nodiscard]] int wake(int k) const { return model_.body_count() + model_.particle_count() + k; }
  [[nodiscard]] int particle(int k) const { return model_.particles.movable(k) ? model_.body_count() + k : -1; }
  int root(int i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void tie(int i, int j) {
    if (i < 0 || j < 0) return;
    const int a = root(i), b = root(j);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  const Model& model_;
  std::vector<int> parent_;
};

/// Calls visit(node, node) for every pair that forces other than springs between particles couple.
template <class Visitor>
void visit_couplings(const Model& model, const Ties& ties, Visitor&& visit) {
  const Forces& f = model.forces;
  for (const auto& spring : f.springs) visit(ties.node(spring.a), ties.node(spring.b));
  for (const auto& line : f.lines) visit(ties.node(line.a), ties.node(line.b));
  for (const auto& spring : f.torsions) visit(ties.node(spring.a), ties.node(spring.b));
  for (const auto& user : f.users) visit(ties.node(user.a), ties.node(user.b));
  for (const auto& angle : f.angles)
    for (int k = 0; k < 3; ++k) visit(ties.node(angle.ends[k]), ties.node(angle.ends[(k + 1) % 3]));
  visit_element_pairs(f.elements, [&](int i, int j) { visit(ties.particle(i), ties.particle(j)); });
  for (const std::vector<int>& group : model.added_mass.groups)
    for (const int i : group)
      for (const int j : group)
        if (i < j) visit(i, j);
  for (const SectionForce& section : f.sections)
    if (section.wake != no_wake) visit(ties.node(section.at), ties.wake(section.wake));
  for (const AirForce& air : f.airs)
    for (const std::array<int, 3>& triangle : air.triangles)
      for (std::size_t k = 0; k < 3; ++k) visit(ties.particle(triangle[k]), ties.particle(triangle[(k + 1) % 3]));
  for (const GasForce& gas : f.gases)
    for (const std::array<int, 3>& triangle : gas.triangles)
      for (std::size_t k = 0; k < 3; ++k) visit(ties.particle(triangle[k]), ties.particle(triangle[(k + 1) % 3]));
  const int count = model.body_count() + model.particle_count();
  if (!f.gravitations.empty() && count <= most_gravitating_derivatives)
    for (int i = 0; i < count; ++i)
      for (int j = 0; j < i; ++j) {
        const auto node = [&](int n) {
          return n < model.body_count() ? (model.movable(n) ? n : -1) : ties.particle(n - model.body_count());
        };
        visit(node(i), node(j));
      }
}

}  // namespace

void require_linear_solver(const Recipe& recipe) {
  if (std::holds_alternative<LocalGlobalSettings>(recipe.implicit_solver))
    throw Error("recipe/implicit_solver",
                "\"local_global\" finds stages of particles alone, which touch nothing, by implicit_euler, implicit_midpoint, "
                "trapezoid, bdf2 or sdirk; --set implicit_solver=automatic does the rest");
}

ImplicitSystem::ImplicitSystem(const Model& model, const Recipe& recipe, const std::vector<Linkage>& linkages,
                               const std::vector<Island>& islands, const std::vector<JointAnswer>& answers,
                               const DriveLaws& drives, bool together)
    : model_(model), recipe_(recipe), linkages_(linkages), islands_(islands), answers_(answers), drives_(drives) {
  require_linear_solver(recipe);
  std::visit([&](const auto& settings) { positive_ = settings.positive; }, recipe.implicit_solver);
  positive_ = positive_ && !together;  // LU does not mind
  split(together);
}

void ImplicitSystem::split(bool together) {
  const int bodies = model_.body_count(), count = bodies + model_.particle_count(), wakes = model_.forces.wakes;
  Ties ties(model_);
  const ParticleSprings& springs = model_.forces.particle_springs;
  for (int n = 0; n < springs.count(); ++n) ties.tie(ties.particle(springs.i[n]), ties.particle(springs.j[n]));
  visit_couplings(model_, ties, [&](int i, int j) { ties.tie(i, j); });

  // Whatever hangs together with a body, a joint, or a force that may be unsymmetric, belongs to the mechanism.
  std::vector<char> unsymmetric(static_cast<std::size_t>(count + wakes), 0);
  for (int i = 0; i < bodies; ++i)
    if (model_.movable(i)) unsymmetric[ties.root(i)] = 1;
  for (const UserForceEntry& user : model_.forces.users)
    for (const ForceEnd* end : {&user.a, &user.b})
      if (const int node = ties.node(*end); node >= 0) unsymmetric[ties.root(node)] = 1;
  for (const int particle : model_.joined) unsymmetric[ties.root(bodies + particle)] = 1;
  if (together || (!model_.forces.gravitations.empty() && count <= most_gravitating_derivatives))
    std::fill(unsymmetric.begin(), unsymmetric.end(), 1);

  const auto triples = static_cast<std::size_t>(model_.velocity_count() / 3);
  for (Share* share : {&mechanism_, &particles_}) share->place.assign(triples, -1);
  const auto put = [](Share& share, int triple) {
    share.place[triple] = static_cast<int>(share.triple.size());
    share.triple.push_back(triple);
  };
  for (int i = 0; i < bodies; ++i)
    if (model_.movable(i))
      for (int half = 0; half < 2; ++half) put(mechanism_, 2 * i + half);
  for (int k = 0; k < model_.particle_count(); ++k)
    if (const int node = ties.particle(k); node >= 0) put(unsymmetric[ties.root(node)] ? mechanism_ : particles_, 2 * bodies + k);
  for (int k = 0; k < wakes; ++k) put(mechanism_, bodies + ties.wake(k));

  // Patterns.
  std::vector<std::array<int, 2>> pairs;
  const auto triples_of_node = [&](int node, std::array<int, 2>& out) {
    if (node >= bodies) {
      out[0] = bodies + node;
      return 1;
    }
    out = {2 * node, 2 * node + 1};
    return 2;
  };
  const auto node_of = [&](const Island& island, int body) {
    const VelocitySlot& slot = island.slots[body];
    return slot.turns ? island.bodies[body] : bodies + (slot.first - 6 * bodies) / 3;
  };
  const auto couple = [&](int i, int j) {
    std::array<int, 2> of_i{}, of_j{};
    if (i < 0 || j < 0) return;
    const int n = triples_of_node(i, of_i), m = triples_of_node(j, of_j);
    for (int p = 0; p < n; ++p)
      for (int q = 0; q < m; ++q) pairs.push_back({of_i[p], of_j[q]});
  };
  for (int i = 0; i < bodies; ++i)
    if (model_.movable(i)) couple(i, i);
  for (int n = 0; n < springs.count(); ++n) couple(ties.particle(springs.i[n]), ties.particle(springs.j[n]));
  visit_couplings(model_, ties, couple);
  for (const Island& island : islands_)
    for (const ConstraintBlock& block : island.problem.blocks)
      for_each_body(island.problem, block, [&](int i, const JacobianRows&, int) {
        for_each_body(island.problem, block, [&](int j, const JacobianRows&, int) {
          if (i != j) couple(node_of(island, i), node_of(island, j));
        });
      });
  add_pattern(mechanism_, pairs);
  add_pattern(particles_, pairs);

  spring_blocks_.resize(static_cast<std::size_t>(springs.count()));
  for (int n = 0; n < springs.count(); ++n) {
    const int i = 2 * bodies + springs.i[n], j = 2 * bodies + springs.j[n];
    const Share& share = particles_.place[i] >= 0 || particles_.place[j] >= 0 ? particles_ : mechanism_;
    const bool both = share.place[i] >= 0 && share.place[j] >= 0;
    spring_blocks_[n] = {both ? share.S.find(share.place[i], share.place[j]) : -1,
                         both ? share.S.find(share.place[j], share.place[i]) : -1};
  }
}

void ImplicitSystem::add_pattern(Share& share, const std::vector<std::array<int, 2>>& pairs) const {
  std::vector<std::array<int, 2>> own;
  for (const auto& [i, j] : pairs)
    if (share.place[i] >= 0 && share.place[j] >= 0 && i != j) own.push_back({share.place[i], share.place[j]});
  share.S.analyse(static_cast<int>(share.triple.size()), own);
}

void ImplicitSystem::linearise(const Kinematics& kinematics, const State& s, double t, const VecX& udot, double h, bool held) {
  kinematics_ = &kinematics;
  held_ = held;
  s_ = s;
  t_ = t;
  h_ = h;
  udot_ = udot;
  assembled_ = false;
}

bool ImplicitSystem::uses_gradients() const {
  if (const auto* automatic = std::get_if<AutomaticImplicitSettings>(&recipe_.implicit_solver))
    return particles_.S.rows() > automatic->direct_limit;
  return std::holds_alternative<ImplicitCgSettings>(recipe_.implicit_solver);
}

void ImplicitSystem::assemble_bodies(double a, double b) {
  Block3Matrix& S = mechanism_.S;
  const auto add = [&](int row, int column, const Mat3& block) {
    const int i = mechanism_.place[row], j = mechanism_.place[column];
    if (i >= 0 && j >= 0) S.add(S.find(i, j), block);
  };
  for (int i = 0; i < model_.body_count(); ++i) {
    if (!model_.movable(i)) continue;
    const BodyLanes<double>& body = kinematics_->bodies[i];
    const Mat3 I = body.R * model_.inertia[i] * body.R.transpose();
    const Vec3 L = I * body.omega, alpha = udot_.segment<3>(6 * i + 3), torque = I * alpha;
    // Gyroscopic torque -omega x I omega: by omega, and by the rotation that turns I.
    const Mat3 by_omega = skew(L) - skew(body.omega) * I;
    const Mat3 by_turn = skew(body.omega) * (skew(L) - I * skew(body.omega));
    add(2 * i, 2 * i, model_.bodies[i].mass * Mat3::Identity());
    add(2 * i + 1, 2 * i + 1, I - a * by_omega - b * (by_turn + skew(torque) - I * skew(alpha)));
  }
  // Likewise of the fluid: M_a u' less its gyroscopic force.
  visit_added_derivatives(model_, *kinematics_, udot_, a, b, [&](int body, int by, const Mat6& part) {
    for (int p = 0; p < 2; ++p)
      for (int q = 0; q < 2; ++q) add(2 * body + p, 2 * by + q, Mat3(part.block<3, 3>(3 * p, 3 * q)));
  });
  // Constraint forces, lambda held: they turn with their bodies.
  for (const Island& island : islands_)
    for (std::size_t n = 0; n < island.problem.blocks.size(); ++n) {
      const ConstraintBlock& block = island.problem.blocks[n];
      const auto rows = static_cast<std::size_t>(block.rows);
      const VecX& forces = answers_[island.linkages.front()].lambda;
      const auto lambda = forces.segment(block.first_row, block.rows);
      const auto add_block = [&]<std::size_t count>(auto H, const std::array<int, count>& owner) {
        std::size_t side = 0;
        for_each_body(island.problem, block, [&](int, const JacobianRows& J, int first) {
          while (owner[side] < 0) ++side;
          const Vec6 on_body = J.middleRows(first, block.rows).transpose() * lambda;
          H.template block<3, 3>(6 * side + 3, 6 * side + 3) -= 0.5 * skew(on_body.tail<3>());
          ++side;
        });
        // Groups of three variables: translation and rotation of a, then of b. The world has none, particles no rotation.
        constexpr int groups = 2 * static_cast<int>(count);
        const auto triple = [&](int group) {
          const int body = owner[group / 2];
          if (body < 0 || (group % 2 == 1 && !island.slots[body].turns)) return -1;
          return island.slots[body].first / 3 + group % 2;
        };
        for (int p = 0; p < groups; ++p)
          for (int q = 0; q < groups; ++q)
            if (triple(p) >= 0 && triple(q) >= 0) add(triple(p), triple(q), -b * H.template block<3, 3>(3 * p, 3 * q));
      };
      constraints_of(island).with_hessian(static_cast<int>(n), *kinematics_, t_, {forces.data() + block.first_row, rows},
                                          add_block);
    }
}

void ImplicitSystem::assemble_springs(double a, double b) {
  const ParticleSprings& pool = model_.forces.particle_springs;
  const int bodies = model_.body_count();
  for (int n = 0; n < pool.count(); ++n) {
    const int i = pool.i[n], j = pool.j[n];
    const int row = 2 * bodies + i, column = 2 * bodies + j;
    Share& share = particles_.place[row] >= 0 || particles_.place[column] >= 0 ? particles_ : mechanism_;
    Mat3 A = SpringLaw{pool.stiffness[n], pool.damping[n], pool.rest_length[n]}.derivative(
        s_.particle_position(i) - s_.particle_position(j), s_.particle_velocity(i) - s_.particle_velocity(j), a, b, positive_);
    if (!positive_) A = 0.5 * (A + A.transpose()).eval();
    if (share.place[row] >= 0) share.S.add(share.S.diagonal(share.place[row]), -A);
    if (share.place[column] >= 0) share.S.add(share.S.diagonal(share.place[column]), -A);
    if (spring_blocks_[n][0] < 0) continue;
    share.S.add(spring_blocks_[n][0], A);
    share.S.add(spring_blocks_[n][1], A);
  }
}

void ImplicitSystem::assemble_motions(double a, double b) {
  a_ = a;
  b_ = b;
  for (Share* share : {&mechanism_, &particles_}) share->S.set_zero();
  const int bodies = model_.body_count();
  for (int k = 0; k < model_.particle_count(); ++k)
    for (Share* share : {&mechanism_, &particles_})
      if (const int at = share->place[2 * bodies + k]; at >= 0)
        share->S.add(share->S.diagonal(at), model_.particles.mass[k] * Mat3::Identity());
  for (int k = 0; k < model_.forces.wakes; ++k)
    mechanism_.S.add(mechanism_.S.diagonal(mechanism_.place[wake_triple(s_, k)]), Mat3::Identity());
  assemble_bodies(a, b);
  assemble_springs(a, b);
  auto sink = [&](int row, int column, const Mat3& block) {
    for (Share* share : {&mechanism_, &particles_}) {
      const int i = share->place[row], j = share->place[column];
      if (i < 0 || j < 0) continue;
      if (share == &mechanism_) {
        share->S.add(share->S.find(i, j), -block);
      } else if (i == j) {
        share->S.add(share->S.diagonal(i), -0.5 * (block + block.transpose()));
      } else {  // the symmetric part: half here, half of the transpose on the other side
        share->S.add(share->S.find(i, j), -0.5 * block);
        share->S.add(share->S.find(j, i), -0.5 * block.transpose());
      }
    }
  };
  add_force_derivatives(model_, s_, t_, a, b, positive_, sink);
  drives_.add_derivatives(model_, *kinematics_, s_.u, a, b, sink);
}

void ImplicitSystem::assemble(double a, double b) {
  assemble_motions(a, b);
  assembled_ = true;
  factor_mechanism();
  factor_particles();
  if (model_.forces.gases.empty()) return;
  // Gases couple all of their surface: beside the sparse matrix, with nothing on the right of joints.
  const Eigen::Index bodies = 2 * static_cast<Eigen::Index>(model_.body_count());
  std::vector<RankOne> parts;
  gas_ranks(
      model_, s_, b, model_.velocity_count() / 3,
      [&](int k) { return model_.particles.movable(k) ? bodies + k : Eigen::Index{-1}; }, parts);
  gases_.prepare(parts, [&](const VecX& g, VecX& x) {
    VecX r = g;
    for (int k = 0; k < model_.particle_count(); ++k) r.segment<3>(s_.first(k)) *= model_.particles.inverse_mass[k];
    x.setZero(g.size());
    StepReport ignored;
    solve_mechanism(r, x, false);
    solve_particles(r, x, ignored);
  });
}

void ImplicitSystem::factor_particles() {
  const Block3Matrix& S = particles_.S;
  if (S.rows() == 0) return;
  if (uses_gradients()) {
    gradients_.prepare(S, recipe_.threads);
    return;
  }
  ldlt_.factor(S);
}

void ImplicitSystem::solve_particles(const VecX& r, VecX& out, StepReport& report) {
  const Block3Matrix& S = particles_.S;
  if (S.rows() == 0) return;
  particle_rhs_.resize(3 * S.rows());
  const int first = 2 * model_.body_count();
  for (int n = 0; n < S.rows(); ++n) {
    const int triple = particles_.triple[n];
    particle_rhs_.segment<3>(3 * n) = model_.particles.mass[triple - first] * r.segment<3>(3 * triple);
  }
  if (uses_gradients()) {
    double tolerance = 1e-8;
    int max_iterations = 10000;
    std::visit(
        [&](const auto& settings) {
          if constexpr (requires { settings.tolerance; }) {
            tolerance = settings.tolerance;
            max_iterations = settings.max_iterations;
          }
        },
        recipe_.implicit_solver);
    const ConjugateGradientsReport done =
        gradients_.solve(S, particle_rhs_, tolerance, max_iterations, recipe_.threads, particle_solution_);
    report.iterations += done.iterations;
    report.converged = report.converged && done.converged;
  } else {
    particle_solution_ = particle_rhs_;
    ldlt_.solve(particle_solution_);
  }
  for (int n = 0; n < S.rows(); ++n) out.segment<3>(3 * particles_.triple[n]) = particle_solution_.segment<3>(3 * n);
}

void ImplicitSystem::solve(double a, double b, const VecX& r, VecX& out, StepReport& report) {
  if (!assembled_ || a != a_ || b != b_) assemble(a, b);
  out.setZero(r.size());
  solve_mechanism(r, out);
  solve_particles(r, out, report);
  gases_.correct(out);
  for (const BodyMotion& motion : model_.motions) out.segment<6>(6 * motion.body) = r.segment<6>(6 * motion.body);
  ++report.solves;
}

}  // namespace rotule
