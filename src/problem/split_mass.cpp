#include "problem/split_mass.h"

#include <algorithm>

#include "base/spans.h"
#include "linalg/decompositions.h"
#include "problem/operators.h"

namespace rotule {

void SplitMass::find_bodies(const ConstraintProblem& whole) {
  homes_.assign(static_cast<std::size_t>(whole.bodies()), {});
  for (std::size_t g = 0; g < groups.size(); ++g)
    for (std::size_t k = 0; k < groups[g].places.size(); ++k)
      homes_[static_cast<std::size_t>(groups[g].places[k])] = {static_cast<int>(g), static_cast<int>(k)};

  problem_.blocks = whole.blocks;
  problem_.more.clear();
  int more_rows = 0;
  for (ConstraintBlock& block : problem_.blocks) {
    on_.clear();
    for_each_body(whole, block, [&](int body, const JacobianRows&, int) {
      const Home home = homes_[static_cast<std::size_t>(body)];
      if (home.group < 0) {
        on_.push_back(body);
        return;
      }
      const std::vector<int>& places = groups[static_cast<std::size_t>(home.group)].places;
      on_.insert(on_.end(), places.begin(), places.begin() + home.place + 1);
    });
    std::ranges::sort(on_);
    on_.erase(std::unique(on_.begin(), on_.end()), on_.end());
    block.body_a = on_.empty() ? -1 : on_[0];
    block.body_b = on_.size() < 2 ? -1 : on_[1];
    block.first_more = static_cast<std::int32_t>(problem_.more.size());
    block.more_count = std::max(0, static_cast<int>(on_.size()) - 2);
    for (std::size_t k = 2; k < on_.size(); ++k, more_rows += block.rows) problem_.more.push_back({on_[k], more_rows});
  }
  problem_.resize(whole.bodies(), whole.rows());
  problem_.J_more.resize(more_rows, 6);
  structured_ = true;
}

void SplitMass::split_groups() {
  lower_.resize(groups.size());
  own_.resize(groups.size());
  for (std::size_t g = 0; g < groups.size(); ++g) {
    // Elimination from the first body on; what is left of W is that of the bodies behind, as if those before were held.
    MatX W = groups[g].inverse;
    const Eigen::Index size = W.rows();
    lower_[g].setIdentity(size, size);
    own_[g].resize(size, 6);
    for (Eigen::Index k = 0; k < size; k += 6) {
      const Mat6 D = W.block<6, 6>(k, k);
      own_[g].middleRows<6>(k) = D;
      const Eigen::Index rest = size - k - 6;
      if (rest == 0) break;
      const MatX L = W.block(k + 6, k, rest, 6) * inverse_of(D);
      lower_[g].block(k + 6, k, rest, 6) = L;
      W.bottomRightCorner(rest, rest) -= L * W.block(k, k + 6, 6, rest);
    }
  }
}

void SplitMass::write_rows(const ConstraintProblem& whole) {
  problem_.inverse_mass = whole.inverse_mass;
  problem_.coupled = true;
  for (std::size_t g = 0; g < groups.size(); ++g)
    for (std::size_t k = 0; k < groups[g].places.size(); ++k)
      problem_.inverse_mass[static_cast<std::size_t>(groups[g].places[k])] =
          own_[g].middleRows<6>(static_cast<Eigen::Index>(6 * k));
  for (JacobianRows* J : {&problem_.J_a, &problem_.J_b, &problem_.J_more}) J->setZero();
  for (std::size_t n = 0; n < whole.blocks.size(); ++n) {
    const ConstraintBlock &block = whole.blocks[n], &split = problem_.blocks[n];
    const auto add = [&](int body, const auto& rows) {
      if (body == split.body_a) {
        problem_.J_a.middleRows(split.first_row, split.rows) += rows;
      } else if (body == split.body_b) {
        problem_.J_b.middleRows(split.first_row, split.rows) += rows;
      } else {
        const auto first = problem_.more.begin() + split.first_more;
        const auto at = std::lower_bound(first, first + split.more_count, body,
                                         [](const BlockPartner& partner, int other) { return partner.body < other; });
        problem_.J_more.middleRows(at->first, split.rows) += rows;
      }
    };
    for_each_body(whole, block, [&](int body, const JacobianRows& J, int first) {
      const Home home = homes_[static_cast<std::size_t>(body)];
      const JacobianRows own = J.middleRows(first, block.rows);
      if (home.group < 0) {
        add(body, own);
        return;
      }
      const auto g = static_cast<std::size_t>(home.group);
      for (int k = 0; k <= home.place; ++k) {
        const JacobianRows part =
            own * lower_[g].block<6, 6>(static_cast<Eigen::Index>(6) * home.place, static_cast<Eigen::Index>(6) * k);
        add(groups[g].places[static_cast<std::size_t>(k)], part);
      }
    });
  }
  known_ = true;
}

const ConstraintProblem& SplitMass::form(const ConstraintProblem& whole) {
  if (!structured_) find_bodies(whole);
  if (!known_) {
    split_groups();
    write_rows(whole);
  }
  problem_.b = whole.b;
  problem_.C = whole.C;
  problem_.lower = whole.lower;
  problem_.upper = whole.upper;
  problem_.friction = whole.friction;
  problem_.x0 = whole.x0;
  problem_.h = whole.h;
  return problem_;
}

void SplitMass::apply_impulses(std::span<const double> x, VecX& velocities) {
  moved_.setZero(velocities.size());
  rotule::apply_impulses(problem_, x, view(moved_));
  for (std::size_t body = 0; body < homes_.size(); ++body)
    if (homes_[body].group < 0)
      velocities.segment<6>(static_cast<Eigen::Index>(6 * body)) += moved_.segment<6>(static_cast<Eigen::Index>(6 * body));
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const std::vector<int>& places = groups[g].places;
    for (std::size_t i = 0; i < places.size(); ++i)
      for (std::size_t k = 0; k <= i; ++k)
        velocities.segment<6>(6 * static_cast<Eigen::Index>(places[i])) +=
            lower_[g].block<6, 6>(static_cast<Eigen::Index>(6 * i), static_cast<Eigen::Index>(6 * k)) *
            moved_.segment<6>(6 * static_cast<Eigen::Index>(places[k]));
  }
}

}  // namespace rotule
