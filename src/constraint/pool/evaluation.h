#pragma once
// One evaluation of a constraint written as a function: bodies where they are, the time, the parameters, and what comes out.
#include <memory>
#include <span>
#include <vector>

#include "dynamics/kinematics.h"
#include "model/equations.h"

namespace rotule {

/// One joint of a pool of functions. Bodies are given by the joint's partners.
struct FunctionJoint {
  std::shared_ptr<const Equations> equations;
  std::array<MovingBody, Moving::most_bodies> body;  // what does not change of them
  std::array<bool, Moving::most_bodies> moves{};     // whether it can be moved
  std::array<bool, Moving::most_bodies> still{};     // whether it never moves at all
  int partners = 0, first = 0;                       // q[0] is the partner `first`
  std::shared_ptr<const std::string> name;
  std::vector<Vec3> arms;  // of a tape's vectors, in body axes, from the centre of mass where they are points

  /// Partners of the joint's pool, of which it has no more than these.
  [[nodiscard]] int wide() const { return partners > 4 ? Moving::most_bodies : partners; }
};

/// A parameter that has been eliminated: what it is, and how it goes with the small motions of each partner.
struct ParameterMotion {
  double value = 0;
  std::array<Vec6, Moving::most_bodies> by_body;  // NOLINT: of the joint's partners, behind `first`
};

/// One function with all that it is given.
class Evaluation {
 public:
  Evaluation(const FunctionJoint& joint, std::span<const BodyLanes<double>* const> bodies, double t) : joint_(joint), t_(t) {
    t_.of_time = true;
    t_.first = 1;
    for (int k = 0; k < joint.partners; ++k) {
      const MovingBody& known = joint.body[static_cast<std::size_t>(k)];
      const BodyLanes<double>& now = *bodies[k];
      std::construct_at(&body_[k], MovingBody{.p = now.p,
                                              .offset = known.offset,
                                              .R = now.R,
                                              .v = now.v,
                                              .omega = now.omega,
                                              .dp = now.v,
                                              .turn = now.omega,
                                              .index = known.index,
                                              .turns = known.turns});
    }
    const Equations& equations = *joint.equations;
    for (std::size_t k = 0; k < equations.parameters.size(); ++k)
      std::construct_at(&s_[k], 0.5 * (equations.parameters[k].from + equations.parameters[k].to));
    for (int k = 0; k < equations.function.equations; ++k) std::construct_at(&out_[k]);
  }

  Evaluation(const Evaluation&) = delete;
  Evaluation& operator=(const Evaluation&) = delete;
  ~Evaluation() { std::destroy_n(&body_[0], joint_.partners); }

  enum class Gradient { none, by_motion, by_velocity };
  void gradients(Gradient gradient) {
    for (int k = joint_.first; k < joint_.partners; ++k) {
      body_[k].by_motion = gradient == Gradient::by_motion && !joint_.still[k];
      body_[k].by_velocity = gradient == Gradient::by_velocity && !joint_.still[k];
    }
    t_.by_time = gradient == Gradient::none ? 0 : 1;
  }
  /// From now on numbers write down how they were made, in place of gradients.
  void keep(MovingRecord& record) {
    for (int k = joint_.first; k < joint_.partners; ++k) {
      body_[k].by_motion = joint_.moves[k];
      body_[k].record = &record;
    }
  }
  /// Differentiates along the motion that bodies have, or, for `rate` 0, along none yet.
  void along_motion(double rate = 1) {
    for (int k = 0; k < joint_.partners; ++k) {
      body_[k].dp = rate * body_[k].v;
      body_[k].turn = rate * body_[k].omega;
    }
    t_.first = rate;
  }
  void direction(int partner, int k, double by) {
    if (k < 3)
      body_[partner].dp[k] = by;
    else
      body_[partner].turn[k - 3] = by;
  }
  void velocity(int partner, int k, double to) {
    if (k < 3)
      body_[partner].v[k] = to;
    else
      body_[partner].omega[k - 3] = to;
  }
  void stand_still() {
    for (int k = 0; k < joint_.partners; ++k) body_[k].v = body_[k].omega = Vec3::Zero();
  }
  [[nodiscard]] Moving& parameter(int k) { return s_[k]; }

  std::span<const Moving> operator()() {
    const Equations& equations = *joint_.equations;
    const auto count = static_cast<std::size_t>(joint_.partners - joint_.first);
    equations.function.evaluate({&body_[joint_.first], count}, t_, {&s_[0], equations.parameters.size()},
                                {&out_[0], static_cast<std::size_t>(equations.function.equations)});
    return {&out_[0], static_cast<std::size_t>(equations.function.equations)};
  }

 private:
  const FunctionJoint& joint_;
  // As many as there are partners, parameters and equations: the others are not made.
  union {
    MovingBody body_[Moving::most_bodies];  // NOLINT(cppcoreguidelines-avoid-c-arrays,modernize-avoid-c-arrays)
  };
  union {
    Moving s_[Moving::most_parameters];  // NOLINT(cppcoreguidelines-avoid-c-arrays,modernize-avoid-c-arrays)
  };
  union {
    Moving out_[Equations::most];  // NOLINT(cppcoreguidelines-avoid-c-arrays,modernize-avoid-c-arrays)
  };
  Moving t_;
};

}  // namespace rotule
