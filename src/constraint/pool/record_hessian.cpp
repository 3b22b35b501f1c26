#include "constraint/pool/record_hessian.h"

#include "constraint/hessians.h"

namespace rotule {

namespace {

using Six = std::array<double, 6>;

/// A record, and what its slots are worth to the sum; kept by each thread, so that nothing allocates once it is long enough.
struct Workplace {
  MovingRecord record;
  std::vector<double> worth;
  std::vector<Six> along, change;  // along six motions of a partner: of the slots, and of what they are worth
};

std::size_t at(int slot) { return static_cast<std::size_t>(slot); }

std::span<const CarriedPart> parts_of(const MovingRecord& record, const MovingRecord::Vector& vector) {
  return {record.parts.data() + vector.part, static_cast<std::size_t>(vector.parts)};
}

/// What all slots are worth, from what the results are.
void walk_back(Workplace& w) {
  for (std::size_t s = w.record.steps.size(); s-- > 0;) {
    const MovingRecord::Step& step = w.record.steps[s];
    if (step.a >= 0) w.worth[at(step.a)] += step.by_a * w.worth[s];
    if (step.b >= 0) w.worth[at(step.b)] += step.by_b * w.worth[s];
  }
}

/// How the slots change along the six motions of a body; whether any does.
bool walk_along(int body, Workplace& w) {
  const MovingRecord& record = w.record;
  bool concerned = false;
  w.along.assign(record.steps.size(), Six{});
  for (const MovingRecord::Vector& vector : record.vectors)
    for (const CarriedPart& part : parts_of(record, vector)) {
      if (part.body != body) continue;
      concerned = true;
      for (std::size_t k = 0; k < 3; ++k) {
        const std::size_t i = (k + 1) % 3, j = (k + 2) % 3;
        Six& own = w.along[at(vector.slot) + k];
        own[k] += part.move;
        own[i + 3] += part.lever[static_cast<Eigen::Index>(j)];
        own[j + 3] -= part.lever[static_cast<Eigen::Index>(i)];
      }
    }
  if (!concerned) return false;
  for (std::size_t s = 0; s < record.steps.size(); ++s) {
    const MovingRecord::Step& step = record.steps[s];
    if (step.a < 0) continue;
    for (std::size_t d = 0; d < 6; ++d) w.along[s][d] = step.by_a * w.along[at(step.a)][d];
    if (step.b < 0) continue;
    for (std::size_t d = 0; d < 6; ++d) w.along[s][d] += step.by_b * w.along[at(step.b)][d];
  }
  return true;
}

/// How what the slots are worth changes along these motions.
void walk_back_along(Workplace& w) {
  w.change.assign(w.record.steps.size(), Six{});
  for (std::size_t s = w.record.steps.size(); s-- > 0;) {
    const MovingRecord::Step& step = w.record.steps[s];
    if (step.a < 0) continue;
    const double worth = w.worth[s], aa = worth * step.by_aa, ab = worth * step.by_ab, bb = worth * step.by_bb;
    const Six own = w.change[s];
    Six& to = w.change[at(step.a)];
    const Six& a = w.along[at(step.a)];
    for (std::size_t d = 0; d < 6; ++d) to[d] += step.by_a * own[d] + aa * a[d];
    if (step.b < 0) continue;
    Six& other = w.change[at(step.b)];
    const Six& b = w.along[at(step.b)];
    for (std::size_t d = 0; d < 6; ++d) {
      to[d] += ab * b[d];
      other[d] += step.by_b * own[d] + ab * a[d] + bb * b[d];
    }
  }
}

}  // namespace

void add_record_hessian(const FunctionJoint& joint, std::span<const BodyLanes<double>* const> bodies, double t,
                        std::span<const double> lambda, Eigen::Ref<MatX> H) {
  static thread_local Workplace w;
  w.record.clear();
  Evaluation evaluation(joint, bodies, t);
  evaluation.along_motion(0);
  evaluation.keep(w.record);
  const std::span<const Moving> C = evaluation();
  w.worth.assign(w.record.steps.size(), 0);
  for (std::size_t r = 0; r < lambda.size(); ++r)
    if (C[r].record) w.worth[at(C[r].slot)] += lambda[r];
  walk_back(w);

  // What turns with a body, turns in a curve.
  for (const MovingRecord::Vector& vector : w.record.vectors) {
    const double* const worth = w.worth.data() + vector.slot;
    for (const CarriedPart& part : parts_of(w.record, vector)) {
      const Eigen::Index turn = 6 * (part.body + joint.first) + 3;
      H.block<3, 3>(turn, turn) += rotation_hessian(Vec3(worth[0], worth[1], worth[2]), part.lever);
    }
  }
  if (!w.record.curved) return;
  for (int p = joint.first; p < joint.partners; ++p) {
    if (!joint.moves[static_cast<std::size_t>(p)] || !walk_along(p - joint.first, w)) continue;
    walk_back_along(w);
    for (const MovingRecord::Vector& vector : w.record.vectors) {
      const Six* const change = w.change.data() + vector.slot;
      for (const CarriedPart& part : parts_of(w.record, vector)) {
        const Eigen::Index own = 6 * (part.body + joint.first);
        for (std::size_t d = 0; d < 6; ++d) {
          const Vec3 more(change[0][d], change[1][d], change[2][d]);
          auto column = H.col(6 * p + static_cast<int>(d));
          column.segment<3>(own) += part.move * more;
          column.segment<3>(own + 3) += part.lever.cross(more);
        }
      }
    }
  }
}

}  // namespace rotule
