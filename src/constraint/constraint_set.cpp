#include "constraint/constraint_set.h"

#include <algorithm>
#include <utility>

namespace rotule {

namespace {

struct RowWriter {
  ConstraintProblem& problem;
  RowValues& values;
  int row;
  int first_more_row;
  const BlockPartner* further = nullptr;  // of the block at hand, where it has more than two partners
  int block_row = 0;                      // its first row
  // Partners that move without being moved: their share of the rates is known. -1 where there is none.
  const Kinematics* bodies = nullptr;
  std::array<int, Moving::most_bodies> given = [] {
    std::array<int, Moving::most_bodies> none;
    none.fill(-1);
    return none;
  }();

  void add_given(int partner, const RowSide<double>& side) {
    if (partner < 0) return;
    Vec6 J;
    J << side.linear, side.angular;
    values.C_t[row] += J.dot(bodies->velocity(partner));
    values.gamma[row] += J.dot(bodies->given_acceleration(partner));
  }
  /// Always in line: a row that is handed over by memory costs as much again as making it.
  [[gnu::always_inline]] void operator()(const Row<double>& r) {
    double* J_a = problem.J_a.data() + 6 * row;
    double* J_b = problem.J_b.data() + 6 * row;
    for (int k = 0; k < 3; ++k) {
      J_a[k] = r.linear_a[k];
      J_a[k + 3] = r.angular_a[k];
      J_b[k] = r.linear_b[k];
      J_b[k + 3] = r.angular_b[k];
    }
    values.C[row] = r.C;
    values.C_t[row] = r.C_t;
    values.gamma[row] = r.gamma;
    if (given[0] >= 0) add_given(given[0], {r.linear_a, r.angular_a});
    if (given[1] >= 0) add_given(given[1], {r.linear_b, r.angular_b});
    ++row;
  }
  template <std::size_t count>
  void operator()(const Row<double>& r, const std::array<RowSide<double>, count>& sides) {
    for (std::size_t k = 0; k < count; ++k)
      if (further[k].body >= 0)
        problem.J_more.row(first_more_row + further[k].first + row - block_row) << sides[k].linear.transpose(),
            sides[k].angular.transpose();
    static_assert(count + 2 <= Moving::most_bodies);
    (*this)(r);
    --row;
    for (std::size_t k = 0; k < count; ++k) add_given(given[k + 2], sides[k]);
    ++row;
  }
};

}  // namespace

ConstraintSet::ConstraintSet(const Model& model, std::span<const int> joints, std::span<const int> local, bool switching) {
  const auto place = [&](int body) { return model.movable(body) ? local[body] : -1; };
  const auto add_block = [&](int index, int driven, int partners) {
    const Joint& joint = model.joints[index];
    for_each_partner(joint, [&](int partner) { given_ = given_ || model.kinematic(partner); });
    ConstraintBlock block{
        rows_, joint.rows() + driven, place(joint.a), place(joint.b), index, static_cast<std::int32_t>(more_.size()), 0};
    first_further_.push_back(static_cast<int>(further_.size()));
    for (const int partner : joint.more) {
      const int body = place(partner);
      further_.push_back({body, more_rows_});
      if (body < 0) continue;
      more_.push_back({body, more_rows_});
      more_rows_ += block.rows;
      ++block.more_count;
    }
    for (int k = 2 + static_cast<int>(joint.more.size()); k < partners; ++k) further_.push_back({-1, more_rows_});
    blocks_.push_back(block);
    rows_ += block.rows;
  };
  const auto fill = [&]<class P>(P& pool) {
    for (const int index : joints) {
      if (!P::takes(model.joints[index])) continue;
      pool.add(model, index);
      int driven = 0;
      if constexpr (requires { pool.add_driven(switching); }) {
        pool.add_driven(switching);
        driven = static_cast<int>(pool.driven(pool.size() - 1).size());
      }
      if constexpr (requires { pool.add_switched(switching); }) pool.add_switched(switching);
      add_block(index, driven, P::partners);
    }
  };
  std::apply([&](auto&... pool) { (fill(pool), ...); }, pools_);
}

void ConstraintSet::evaluate(const Kinematics& bodies, double t, ConstraintProblem& problem, RowValues& values, int first_row,
                             int first_more_row, Gang* gang) const {
  share_pieces(gang, static_cast<int>(blocks_.size()),
               [&](int first, int end) { evaluate_blocks(first, end, bodies, t, problem, values, first_row, first_more_row); });
}

void ConstraintSet::evaluate_blocks(int first, int end, const Kinematics& bodies, double t, ConstraintProblem& problem,
                                    RowValues& values, int first_row, int first_more_row) const {
  if (first == end) return;
  RowWriter write{problem, values, first_row + blocks_[first].first_row, first_more_row};
  write.bodies = &bodies;
  std::size_t block = 0;
  const auto walk = [&]<class P>(const P& pool) {
    const auto here = [&](int number) {
      return std::min(pool.size(), static_cast<std::size_t>(number) - std::min<std::size_t>(number, block));
    };
    for (std::size_t i = here(first); i < here(end); ++i) {
      if constexpr (P::partners > 2) {
        write.further = further_.data() + first_further_[block + i];
        write.block_row = write.row;
      }
      if (given_) {
        const std::array<int, P::partners> numbers = pool.bodies(i);
        const ConstraintBlock& own = blocks_[block + i];
        write.given[0] = own.body_a < 0 ? numbers[0] : -1;
        write.given[1] = own.body_b < 0 ? numbers[1] : -1;
        for (int k = 2; k < P::partners; ++k) write.given[k] = write.further[k - 2].body < 0 ? numbers[k] : -1;
      }
      pool.template rows<double>(partners_of(pool, i, bodies), {i}, t, write);
    }
    block += pool.size();
  };
  std::apply([&](const auto&... pool) { (walk(pool), ...); }, pools_);
}

Mat12 ConstraintSet::hessian(int block, const Kinematics& bodies, double t, std::span<const double> lambda) const {
  Mat12 out;
  with_hessian(block, bodies, t, lambda, [&](const auto& H, const auto&) { out = H.template topLeftCorner<12, 12>(); });
  return out;
}

Vec3 ConstraintSet::lever(int block, const Kinematics& bodies, bool second) const {
  Vec3 out = Vec3::Zero();
  with_pool(block, [&](const auto& pool, std::size_t i) { out = pool.lever(i, partners_of(pool, i, bodies), second); });
  return out;
}

std::pair<int, int> ConstraintSet::bodies_of(int block) const {
  std::pair<int, int> out;
  with_pool(block, [&](const auto& pool, std::size_t i) { out = {pool.bodies(i)[0], pool.bodies(i)[1]}; });
  return out;
}

bool ConstraintSet::one_sided(int block) const {
  bool out = false;
  with_pool(block, [&](const auto& pool, std::size_t i) {
    if constexpr (requires { pool.one_sided(i); }) out = pool.one_sided(i);
  });
  return out;
}

std::span<const DrivenAxis> ConstraintSet::switched(int block) const {
  std::span<const DrivenAxis> out;
  with_pool(block, [&](const auto& pool, std::size_t i) {
    if constexpr (requires { pool.switched(i); }) out = pool.switched(i);
  });
  return out;
}

std::span<DrivenAxis> ConstraintSet::switched(int block) {
  const std::span<const DrivenAxis> found = std::as_const(*this).switched(block);
  return {const_cast<DrivenAxis*>(found.data()), found.size()};  // NOLINT(cppcoreguidelines-pro-type-const-cast): it is its own
}

FunctionRow ConstraintSet::row_of(int block, int k, const Kinematics& bodies, double t) const {
  std::array<FunctionRow, Equations::most> rows;
  with_pool(block, [&](const auto& pool, std::size_t i) {
    if constexpr (requires { pool.function(i); })
      function_rows(pool.function(i), partners_of(pool, i, bodies), t,
                    {rows.data(), static_cast<std::size_t>(pool.function(i).equations->rows())});
  });
  return rows[static_cast<std::size_t>(k)];
}

std::vector<int> ConstraintSet::partner_numbers(int block) const {
  std::vector<int> out;
  with_pool(block, [&](const auto& pool, std::size_t i) {
    for (const int number : pool.bodies(i)) out.push_back(number);
  });
  return out;
}

void ConstraintSet::renumber(std::span<const int> body, std::span<const int> joint) {
  std::apply([&](auto&... pool) { (pool.renumber(body, joint), ...); }, pools_);
  if (!joint.empty())
    for (ConstraintBlock& block : blocks_) block.source = joint[block.source];
}

}  // namespace rotule
