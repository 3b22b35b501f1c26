#include "constraint/pool/tape_rows.h"

#include <rotule/error.h>

#include <numbers>

#include "constraint/hessians.h"

namespace rotule {

namespace {

constexpr int usual_vectors = EquationTape::usual_slots / 3;
constexpr double near_half_a_turn = std::numbers::pi - 0.1;  // rad

/// The equation would go on from the wrong branch, and be closed there by turning bodies as far as it takes.
[[noreturn]] void angle_jumps(const FunctionJoint& joint) {
  throw Error(
      "joint \"" + *joint.name + "\"",
      "an angle of its equation comes to half a turn, where it jumps from pi to -pi and the equation with it; take whole "
      "multiples of angles and wrap() around them, as in \"wrap(2 * b.angle_z - a.angle_z)\", or their sines and cosines");
}

/// Where the tape's vectors stand and how they move, into their slots; what turns with the bodies, into `levers`.
void write_vectors(const FunctionJoint& joint, std::span<const BodyLanes<double>* const> bodies, double t,
                   EquationTape::Slot* slot, Vec3* levers) {
  const EquationTape& tape = *joint.equations->tape;
  EquationTape::Slot* to = slot;
  for (std::size_t v = 0; v < joint.arms.size(); ++v) {
    const EquationTape::Vector& vector = tape.vectors()[v];
    const BodyLanes<double>& body = *bodies[static_cast<std::size_t>(vector.body) + static_cast<std::size_t>(joint.first)];
    const Vec3 rho = body.R * joint.arms[v], swing = body.omega.cross(rho), bend = body.omega.cross(swing);
    levers[v] = rho;
    const bool point = vector.kind == EquationLeaf::Kind::point;
    for (int k = 0; k < 3; ++k, ++to) {
      to->value = point ? body.p[k] + rho[k] : rho[k];
      to->first = point ? body.v[k] + swing[k] : swing[k];
      to->second = bend[k];
    }
  }
  EquationTape::Slot& time = slot[tape.time()];
  time.value = t;
  time.first = 1;
  time.second = 0;
}

Vec3 worth_of(const EquationTape::Slot* slot, int vector) {
  const EquationTape::Slot* const from = slot + 3 * static_cast<std::ptrdiff_t>(vector);
  return {from[0].worth, from[1].worth, from[2].worth};
}

}  // namespace

TapeRows::TapeRows(const FunctionJoint& joint, std::span<const BodyLanes<double>* const> bodies, double t)
    : joint_(joint), tape_(*joint.equations->tape), slots_(tape_.slots()), levers_(static_cast<int>(tape_.vectors().size())) {
  write_vectors(joint, bodies, t, slots_.data(), levers_.data());
  tape_.forward(slots_.data());
  for (const int angle : tape_.jumps())
    if (std::abs(slots_.data()[angle].value) > near_half_a_turn) angle_jumps(joint);
}

void TapeRows::turn_to(int equation) {
  EquationTape::Slot* const slot = slots_.data();
  tape_.back(equation, slot);
  const EquationTape::Slot& result = slot[tape_.result(equation)];
  C = result.value;
  gamma = result.second;
  C_t = tape_.knows_time(equation) ? slot[tape_.time()].worth : 0;
  sum_ = C + gamma + C_t;
  for (int k = 0; k < joint_.partners; ++k) {
    sides_[k].linear.setZero();
    sides_[k].angular.setZero();
  }
  for (const int v : tape_.vectors_of(equation)) {
    const EquationTape::Vector& vector = tape_.vectors()[static_cast<std::size_t>(v)];
    const int partner = vector.body + joint_.first;
    if (joint_.still[static_cast<std::size_t>(partner)]) continue;
    const Vec3 along = worth_of(slot, v);
    RowSide<double>& side = sides_[partner];
    sum_ += along.sum();
    if (vector.kind == EquationLeaf::Kind::point) side.linear += along;
    if (!joint_.body[static_cast<std::size_t>(partner)].turns) continue;
    const Vec3 turned = levers_.data()[v].cross(along);
    sum_ += turned.sum();
    side.angular += turned;
  }
}

void add_tape_hessian(const FunctionJoint& joint, std::span<const BodyLanes<double>* const> bodies, double t,
                      std::span<const double> lambda, std::span<const ParameterMotion> parameters, Eigen::Ref<MatX> H) {
  using Six = EquationTape::Six;
  const EquationTape& tape = *joint.equations->tape;
  const int count = static_cast<int>(tape.vectors().size());
  TapeRoom<EquationTape::Slot, EquationTape::usual_slots> slots(tape.slots());
  TapeRoom<Vec3, usual_vectors> room(count);
  TapeRoom<Six, 2 * EquationTape::usual_slots> directions(2 * tape.slots());
  EquationTape::Slot* const slot = slots.data();
  Vec3* const levers = room.data();
  Six *const along = directions.data(), *const change = along + tape.slots();
  write_vectors(joint, bodies, t, slot, levers);
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    EquationTape::Slot& s = slot[tape.parameter(static_cast<int>(k))];
    s.value = parameters[k].value;
    s.first = s.second = 0;
  }
  tape.forward(slot);
  tape.back(lambda, slot);
  const auto partner_of = [&](int v) { return tape.vectors()[static_cast<std::size_t>(v)].body + joint.first; };
  const auto turns = [&](int partner) { return joint.body[static_cast<std::size_t>(partner)].turns; };
  const auto is_point = [&](int v) { return tape.vectors()[static_cast<std::size_t>(v)].kind == EquationLeaf::Kind::point; };

  for (int p = 0; p < joint.partners; ++p) {
    if (!joint.moves[static_cast<std::size_t>(p)]) continue;
    bool concerned = false;
    for (int v = 0; v < count; ++v) {
      for (int k = 0; k < 3; ++k) along[3 * v + k].fill(0);
      if (partner_of(v) != p) continue;
      concerned = true;
      // A point moves with its body; a rotation phi moves it, or a direction, by phi x lever.
      if (is_point(v))
        for (int k = 0; k < 3; ++k) along[3 * v + k][static_cast<std::size_t>(k)] = 1;
      if (!turns(p)) continue;
      const Vec3& r = levers[v];
      for (int k = 0; k < 3; ++k) {
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        along[3 * v + k][static_cast<std::size_t>(i) + 3] = r[j];
        along[3 * v + k][static_cast<std::size_t>(j) + 3] = -r[i];
      }
    }
    if (!concerned) continue;
    for (int k = 0; k < Moving::most_parameters; ++k) {
      Six& to = along[tape.parameter(k)];
      to.fill(0);
      if (k < static_cast<int>(parameters.size())) Eigen::Map<Vec6>(to.data()) = parameters[k].by_body[p];
    }
    tape.bend(slot, along, change);
    for (std::size_t k = 0; k < parameters.size(); ++k) {
      const Eigen::Map<const Vec6> more(change[tape.parameter(static_cast<int>(k))].data());
      for (int q = joint.first; q < joint.partners; ++q)
        if (joint.moves[static_cast<std::size_t>(q)]) H.block<6, 6>(6 * q, 6 * p) += parameters[k].by_body[q] * more.transpose();
    }
    for (int v = 0; v < count; ++v) {
      const int own = partner_of(v);
      if (!joint.moves[static_cast<std::size_t>(own)]) continue;
      const Vec3& r = levers[v];
      for (int d = 0; d < 6; ++d) {
        const auto lane = static_cast<std::size_t>(d);
        const Vec3 more(change[3 * v][lane], change[3 * v + 1][lane], change[3 * v + 2][lane]);
        if (is_point(v)) H.col(6 * p + d).segment<3>(6 * own) += more;
        if (turns(own)) H.col(6 * p + d).segment<3>(6 * own + 3) += r.cross(more);
      }
      if (own == p && turns(p)) H.block<3, 3>(6 * p + 3, 6 * p + 3) += rotation_hessian(worth_of(slot, v), r);
    }
  }
}

}  // namespace rotule
