#pragma once
// One walk over the laws of rows, for all who treat them one by one: a row with bounds of its own (or none), or a group of
// friction, whose size its normal gives. The first group of a contact with Coulomb's cone right behind its normal is the sliding
// cone; some treat it together with the normal, others the normal as a row before it.
#include <rotule/problem.h>

#include <span>

namespace rotule {

/// Whether the group is the cone right behind its normal: Coulomb's law of sliding. Torsion and rolling are disks or boxes.
inline bool is_sliding_cone(const FrictionRows& f) { return f.cone && f.first_row == f.normal_row + 1; }

/// Rows from `first` up to `end`, and the groups of friction among them, in order: row(r) for those with bounds of their own,
/// group(f) for the others. A sliding cone's normal counts as a row.
template <class Row, class Group>
void walk_laws(std::span<const FrictionRows> friction, int first, int end, Row&& row, Group&& group) {
  for (const FrictionRows& f : friction) {
    for (; first < f.first_row; ++first) row(first);
    group(f);
    first = f.first_row + f.count;
  }
  for (; first < end; ++first) row(first);
}

/// The same, but cone(f) takes a sliding cone and its normal together.
template <class Row, class Group, class Cone>
void walk_laws(std::span<const FrictionRows> friction, int first, int end, Row&& row, Group&& group, Cone&& cone) {
  for (const FrictionRows& f : friction) {
    const bool sliding = is_sliding_cone(f);
    for (; first < (sliding ? f.normal_row : f.first_row); ++first) row(first);
    if (sliding)
      cone(f);
    else
      group(f);
    first = f.first_row + f.count;
  }
  for (; first < end; ++first) row(first);
}

/// The groups of one block after another, for those who go through all blocks in order.
class FrictionCursor {
 public:
  explicit FrictionCursor(const ConstraintProblem& problem) : all_(problem.friction) {}
  std::span<const FrictionRows> next(const ConstraintBlock& block) {
    std::size_t count = 0;
    while (count < all_.size() && all_[count].normal_row == block.first_row) ++count;
    const std::span<const FrictionRows> groups = all_.first(count);
    all_ = all_.subspan(count);
    return groups;
  }

 private:
  std::span<const FrictionRows> all_;
};

}  // namespace rotule
