#include "constraint/formulation/contact_formulation.h"

#include <algorithm>
#include <cmath>

#include "base/spans.h"
#include "problem/operators.h"

namespace rotule {

namespace {

/// What is taken off the right-hand side of the normal; sets its compliance.
double normal_bias(const Contact& c, const ContactRules& rules, double h, double& compliance) {
  if (c.law.stiffness > 0) {  // x = -h (k (phi + h w) + d w): a spring and a damper, taken at the step's end
    const double k = c.law.stiffness, d = c.law.damping;
    compliance = 1 / (h * (h * k + d));
    return c.gap * k / (h * k + d);
  }
  compliance = 0;
  // What rounding and closing leave of a gap, 1e-12 m or so, is none: it would differ from step to step, and what rests there
  // would be solved anew each time.
  constexpr double touching_share = 1e-3;
  if (c.gap > touching_share * rules.slop(c.size)) return c.gap / h;
  if (c.gap > 0) return 0;
  if (rules.projected) return 0;
  return rules.settings.baumgarte * std::min(c.gap + rules.slop(c.size), 0.0) / h;
}

/// b = -(J u) with what is given of it, x0 = the last answer.
void hold(const Contact& c, const ConstraintBlock& block, const VecX& u, ConstraintProblem& problem) {
  for (int r = 0; r < block.rows; ++r) {
    problem.b[block.first_row + r] = -row_velocity(problem, block, block.first_row + r, view(u)) - c.given[r];
    problem.x0[block.first_row + r] = c.x[r];
  }
}

}  // namespace

ContactRules::ContactRules(const Model& model, const Recipe& recipe)
    : projected(std::holds_alternative<ProjectionSettings>(recipe.correction)), gravity(model.gravity.norm()), dt(recipe.dt) {
  if (const auto* cone = std::get_if<ConeContactSettings>(&recipe.contacts)) settings = *cone;
  if (const auto* box = std::get_if<BoxContactSettings>(&recipe.contacts)) settings = *box;
}

void look_at_start(const ContactRules& rules, const Kinematics& bodies, const VecX& u, const VecX& free, double h, Contact& c) {
  const auto relative = [&](const VecX& velocities) -> Vec3 {
    const auto velocity = [&](int i, const Vec3& on_body) -> Vec3 {
      const Vec3 omega = velocities.segment<3>(6 * i + 3);
      return Vec3(velocities.segment<3>(6 * i)) + omega.cross(c.met ? Vec3(bodies[i].R * on_body) : Vec3(c.point - bodies[i].p));
    };
    return velocity(c.b, c.on_b) - velocity(c.a, c.on_a);
  };
  const Vec3 now = relative(u);
  const double along = now.dot(c.normal);
  c.sliding = (now - along * c.normal + c.belt).norm() > rules.stick_speed(c.size);
  c.closing = -along;
  if (c.gap > 0 && c.closing > 0) {  // weight makes it faster until it arrives
    const double gain = (along - relative(free).dot(c.normal)) / h;
    c.closing = std::sqrt(std::max(0.0, c.closing * c.closing + 2 * gain * c.gap));
  }
}

void formulate_velocity(const Contact& c, const ContactRules& rules, double h, const ConstraintBlock& block, const VecX& u,
                        ConstraintProblem& problem) {
  hold(c, block, u, problem);
  problem.b[block.first_row] -= normal_bias(c, rules, h, problem.C[block.first_row]);
}

bool bounces(const Contact& c, const ContactRules& rules) {
  return c.law.restitution > 0 && c.law.stiffness == 0 && c.x[0] > 0 && c.closing > rules.restitution_speed(c.size);
}

bool arrives(const Contact& c, const ContactRules& rules, double h) {
  return c.law.stiffness == 0 && c.x[0] > 0 && c.gap > h * rules.restitution_speed(c.size);
}

void formulate_blow(const Contact& c, double speed, const ConstraintBlock& block, const VecX& u, ConstraintProblem& problem) {
  hold(c, block, u, problem);
  problem.b[block.first_row] += speed;
}

void formulate_position(const Contact& c, const Kinematics& bodies, const ConstraintBlock& block, ConstraintProblem& problem) {
  problem.b[block.first_row] = -gap_now(c, bodies);
}

void formulate_velocity(const DriveRow& drive, const ConstraintBlock& block, const VecX& u, ConstraintProblem& problem) {
  problem.b[block.first_row] = -row_velocity(problem, block, block.first_row, view(u)) - drive.bias;
  problem.x0[block.first_row] = drive.x;
}

void formulate_position(const DriveRow& drive, const ConstraintBlock& block, ConstraintProblem& problem) {
  problem.b[block.first_row] = drive.overshoot;
}

}  // namespace rotule
