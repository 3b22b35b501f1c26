#include "constraint/pool/record_hessian.h"

#include "constraint/hessians.h"

namespace rotule {

namespace {

/// A record, and what its slots are worth to the sum; kept by each thread, so that nothing allocates once it is long enough.
struct Workplace {
  MovingRecord record;
  std::vector<double> worth;
  std::vector<Vec3> pull;           // what the vectors are worth
  std::vector<Vec6> along, change;  // along six motions of a partner: of the slots, and of what they are worth
  const FunctionJoint* joint = nullptr;
  std::span<const ParameterMotion> parameters;
  int first_parameter = 0;  // its slot; those of others follow
};

std::size_t at(int slot) { return static_cast<std::size_t>(slot); }

std::span<const CarriedPart> parts_of(const MovingRecord& record, const MovingRecord::Vector& vector) {
  return {record.parts.data() + vector.part, at(vector.parts)};
}
const MovingRecord::Vector& vector_of(const MovingRecord& record, int number) { return record.vectors[at(number)]; }

/// How the component of a vector along d changes by the small motions of the part's body.
Vec6 gradient(const CarriedPart& part, const Vec3& d) {
  Vec6 out;
  out << part.move * d, part.lever.cross(d);
  return out;
}

/// visit(slot, body, gradient) for all slots that steps begin with: what moves them; the gradient is worked out where it is asked
/// for.
template <class Visit>
void for_each_beginning(const Workplace& w, Visit&& visit) {
  const MovingRecord& record = w.record;
  const auto along = [&](int slot, const MovingRecord::Vector& vector, const Vec3& d) {
    for (const CarriedPart& part : parts_of(record, vector)) visit(slot, part.body, [&] { return gradient(part, d); });
  };
  for (const MovingRecord::Vector& vector : record.vectors)
    if (vector.slot >= 0)
      for (int k = 0; k < 3; ++k) along(vector.slot + k, vector, Vec3::Unit(k));
  for (const MovingRecord::Product& product : record.products) {
    const MovingRecord::Vector &a = vector_of(record, product.a), &b = vector_of(record, product.b);
    along(product.slot, a, b.now);
    along(product.slot, b, a.now);
  }
  for (std::size_t k = 0; k < w.parameters.size(); ++k)
    for (int p = w.joint->first; p < w.joint->partners; ++p)
      if (w.joint->moves[at(p)])
        visit(w.first_parameter + static_cast<int>(k), p - w.joint->first, [&] { return w.parameters[k].by_body[at(p)]; });
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
  bool concerned = false;
  w.along.assign(w.record.steps.size(), Vec6::Zero());
  for_each_beginning(w, [&](int slot, int mover, auto&& gradient) {
    if (mover != body) return;
    concerned = true;
    w.along[at(slot)] += gradient();
  });
  if (!concerned) return false;
  for (std::size_t s = 0; s < w.record.steps.size(); ++s) {
    const MovingRecord::Step& step = w.record.steps[s];
    if (step.a >= 0) w.along[s] = step.by_a * w.along[at(step.a)];
    if (step.b >= 0) w.along[s] += step.by_b * w.along[at(step.b)];
  }
  return true;
}

/// How what the slots are worth changes along these motions.
void walk_back_along(Workplace& w) {
  w.change.assign(w.record.steps.size(), Vec6::Zero());
  for (std::size_t s = w.record.steps.size(); s-- > 0;) {
    const MovingRecord::Step& step = w.record.steps[s];
    if (step.a < 0) continue;
    const double worth = w.worth[s];
    const Vec6 own = w.change[s];
    w.change[at(step.a)] += step.by_a * own + (worth * step.by_aa) * w.along[at(step.a)];
    if (step.b < 0) continue;
    w.change[at(step.a)] += (worth * step.by_ab) * w.along[at(step.b)];
    w.change[at(step.b)] +=
        step.by_b * own + (worth * step.by_ab) * w.along[at(step.a)] + (worth * step.by_bb) * w.along[at(step.b)];
  }
}

/// What all vectors are worth, from what their components and products are.
void find_pulls(Workplace& w) {
  w.pull.clear();
  for (const MovingRecord::Vector& vector : w.record.vectors)
    w.pull.push_back(vector.slot < 0 ? Vec3(Vec3::Zero()) : Vec3(Eigen::Map<const Vec3>(w.worth.data() + vector.slot)));
  for (const MovingRecord::Product& product : w.record.products) {
    const double worth = w.worth[at(product.slot)];
    w.pull[at(product.a)] += worth * vector_of(w.record, product.b).now;
    w.pull[at(product.b)] += worth * vector_of(w.record, product.a).now;
  }
}

/// What turns with a body, turns in a curve.
void add_turning(const Workplace& w, int first, Eigen::Ref<MatX> H) {
  for (std::size_t v = 0; v < w.pull.size(); ++v)
    for (const CarriedPart& part : parts_of(w.record, w.record.vectors[v])) {
      const Eigen::Index turn = 6 * (part.body + first) + 3;
      H.block<3, 3>(turn, turn) += rotation_hessian(w.pull[v], part.lever);
    }
}

/// Both vectors of a product move at once.
void add_product(const MovingRecord& record, const MovingRecord::Product& product, double worth, int first, Eigen::Ref<MatX> H) {
  for (const CarriedPart& p : parts_of(record, vector_of(record, product.a)))
    for (const CarriedPart& q : parts_of(record, vector_of(record, product.b))) {
      const Eigen::Index i = 6 * (p.body + first), j = 6 * (q.body + first);
      const auto add = [&](Eigen::Index down, Eigen::Index right, const Mat3& block) {
        H.block<3, 3>(i + down, j + right) += block;
        H.block<3, 3>(j + right, i + down) += block.transpose();
      };
      Mat3 turns = -worth * q.lever * p.lever.transpose();
      turns.diagonal().array() += worth * p.lever.dot(q.lever);
      add(3, 3, turns);
      if (p.move != 0 && q.move != 0) add(0, 0, worth * p.move * q.move * Mat3::Identity());
      if (p.move != 0) add(0, 3, -worth * p.move * skew(q.lever));
      if (q.move != 0) add(3, 0, worth * q.move * skew(p.lever));
    }
}

}  // namespace

void add_record_hessian(const FunctionJoint& joint, std::span<const BodyLanes<double>* const> bodies, double t,
                        std::span<const double> lambda, std::span<const ParameterMotion> parameters, Eigen::Ref<MatX> H) {
  static thread_local Workplace w;
  w.record.clear();
  w.joint = &joint;
  w.parameters = parameters;
  Evaluation evaluation(joint, bodies, t);
  evaluation.along_motion(0);
  evaluation.keep(w.record);
  w.first_parameter = static_cast<int>(w.record.steps.size());
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    Moving& s = evaluation.parameter(static_cast<int>(k));
    s.value = parameters[k].value;
    s.record = &w.record;
    s.slot = w.record.add({});
  }
  const std::span<const Moving> C = evaluation();
  w.worth.assign(w.record.steps.size(), 0);
  for (std::size_t r = 0; r < lambda.size(); ++r)
    if (C[r].record) w.worth[at(C[r].slot)] += lambda[r];
  walk_back(w);

  find_pulls(w);
  add_turning(w, joint.first, H);
  for (const MovingRecord::Product& product : w.record.products)
    add_product(w.record, product, w.worth[at(product.slot)], joint.first, H);
  if (!w.record.curved) return;
  for (int p = joint.first; p < joint.partners; ++p) {
    if (!joint.moves[at(p)] || !walk_along(p - joint.first, w)) continue;
    walk_back_along(w);
    for_each_beginning(w, [&](int slot, int mover, auto&& gradient) {
      const Vec6& change = w.change[at(slot)];
      if (!change.isZero(0)) H.block<6, 6>(6 * (mover + joint.first), 6 * p) += gradient() * change.transpose();
    });
  }
}

}  // namespace rotule
