#pragma once
// The joints of one island, one pool per kind of row (pool/pools.h), as blocks of a constraint problem: pools one after the
// other, and within a pool joint by joint. Nothing here knows what a kind does, nor how rows will be solved.
#include <rotule/problem.h>

#include <span>
#include <tuple>
#include <vector>

#include "constraint/pool/pools.h"

namespace rotule {

/// What the state makes of each row beside its Jacobian.
struct RowValues {
  VecX C;      // constraint error
  VecX C_t;    // its explicit rate: what time drives, and what partners do that move without being moved
  VecX gamma;  // J-dot u and what time and those partners' accelerations add to it

  /// All zero.
  void resize(int rows) {
    for (VecX* v : {&C, &C_t, &gamma}) v->setZero(rows);
  }
};

class ConstraintSet {
 public:
  ConstraintSet() = default;
  /// The joints given by index; `local` maps a body of the model to its place in the island, or -1 where it cannot move.
  /// `switching`: whether axes that a drive may hold have rows, to be put in force and out (mechanism/drive_laws.h).
  ConstraintSet(const Model& model, std::span<const int> joints, std::span<const int> local, bool switching = false);

  [[nodiscard]] const std::vector<ConstraintBlock>& blocks() const { return blocks_; }
  [[nodiscard]] int rows() const { return rows_; }
  /// Driven axes of a block, whose rows are its last ones. Joints with frames come first among the pools.
  [[nodiscard]] std::span<DrivenAxis> driven(int block) {
    auto& pool = std::get<0>(pools_);
    return static_cast<std::size_t>(block) < pool.size() ? pool.driven(static_cast<std::size_t>(block)) : std::span<DrivenAxis>();
  }
  [[nodiscard]] std::span<const DrivenAxis> driven(int block) const {
    const auto& pool = std::get<0>(pools_);
    return static_cast<std::size_t>(block) < pool.size() ? pool.driven(static_cast<std::size_t>(block))
                                                         : std::span<const DrivenAxis>();
  }
  /// Whether the block's rows are at least zero, in place of zero.
  [[nodiscard]] bool one_sided(int block) const;
  /// Whether that is a bound on their multipliers, and not a matter of events.
  [[nodiscard]] bool bounded(int block) const { return one_sided(block) && switched(block).empty(); }
  /// Rows of such a block that may be in force and out, for methods that follow them by accelerations; all of them or none.
  [[nodiscard]] std::span<DrivenAxis> switched(int block);
  [[nodiscard]] std::span<const DrivenAxis> switched(int block) const;
  /// The k-th row of such a block by itself, in force or not, and its partners by their numbers.
  [[nodiscard]] FunctionRow row_of(int block, int k, const Kinematics& bodies, double t) const;
  [[nodiscard]] std::vector<int> partner_numbers(int block) const;
  /// The bodies beyond two of all blocks, as the problem lists them, and the rows of J_more that they need.
  [[nodiscard]] const std::vector<BlockPartner>& more() const { return more_; }
  [[nodiscard]] int more_rows() const { return more_rows_; }

  /// J, C, C_t and gamma of all rows at this state and time, from `first_row` of the problem and the values on, and from
  /// `first_more_row` of J_more on.
  void evaluate(const Kinematics& bodies, double t, ConstraintProblem& problem, RowValues& values, int first_row = 0,
                int first_more_row = 0, Gang* gang = nullptr) const;
  /// sum lambda_r H_r of one block; where it has more than two partners, the part of the first two.
  [[nodiscard]] Mat12 hessian(int block, const Kinematics& bodies, double t, std::span<const double> lambda) const;
  /// All of it: calls visit(H, owner) with six rows and columns per partner, and the partners' places in the island (-1 where one
  /// cannot move).
  template <class Visit>
  void with_hessian(int block, const Kinematics& bodies, double t, std::span<const double> lambda, Visit&& visit) const {
    with_pool(block, [&]<class P>(const P& pool, std::size_t i) {
      std::array<int, P::partners> owner{blocks_[block].body_a, blocks_[block].body_b};
      for (int k = 2; k < P::partners; ++k) owner[k] = further_[first_further_[block] + k - 2].body;
      visit(pool.hessian(i, partners_of(pool, i, bodies), t, lambda), owner);
    });
  }
  /// The joint's point as its second body carries it, from that body's centre of mass, in world axes (of the first body for
  /// `second` false).
  [[nodiscard]] Vec3 lever(int block, const Kinematics& bodies, bool second) const;
  /// The block's first two partners, by their numbers.
  [[nodiscard]] std::pair<int, int> bodies_of(int block) const;

  /// For partners and joints that have got other numbers: old number to new one, none where all stay. Places in the island stay.
  void renumber(std::span<const int> body, std::span<const int> joint);

 private:
  /// Calls visit(pool, index in the pool) for the block.
  template <class Visit>
  void with_pool(int block, Visit&& visit) const {
    auto i = static_cast<std::size_t>(block);
    const auto here = [&](const auto& pool) {
      if (i < pool.size()) {
        visit(pool, i);
        return true;
      }
      i -= pool.size();
      return false;
    };
    std::apply([&](const auto&... pool) { static_cast<void>((here(pool) || ...)); }, pools_);
  }
  template <class P>
  static Partners<double, P::partners> partners_of(const P& pool, std::size_t i, const Kinematics& bodies) {
    const std::array<int, P::partners> numbers = pool.bodies(i);
    Partners<double, P::partners> out;
    for (std::size_t k = 0; k < out.size(); ++k) out[k] = &bodies[numbers[k]];
    return out;
  }

  void evaluate_blocks(int first, int end, const Kinematics& bodies, double t, ConstraintProblem& problem, RowValues& values,
                       int first_row, int first_more_row) const;

  Pools pools_;
  std::vector<ConstraintBlock> blocks_;
  std::vector<BlockPartner> more_;
  std::vector<BlockPartner> further_;  // partners beyond two, those that cannot move (body -1) among them
  std::vector<int> first_further_;     // per block, in further_
  int rows_ = 0, more_rows_ = 0;
  bool given_ = false;  // whether a partner may be kinematic
};

}  // namespace rotule
