#include "mechanism/jointed_mechanism.h"

#include <rotule/error.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "base/budget.h"
#include "base/shares.h"
#include "base/spans.h"
#include "constraint/joint_coordinates.h"
#include "dynamics/forces/gyroscopic.h"
#include "dynamics/forces/weight.h"
#include "mechanism/implicit_system.h"
#include "mechanism/stage_minimiser.h"
#include "solve/solve.h"

namespace rotule {

JointedMechanism::JointedMechanism(const Model& m, const Recipe& r)
    : model(m), recipe(r), external(VecX::Zero(m.velocity_count())), h(r.dt) {
  find_linkages(m, linkages, now.joints, !by_impulses());
  coupled_ = m.added_mass.groups;
  make_islands(m, linkages, islands);
  share_work();
  drives.find(m, linkages, !by_impulses());
  look_at_loops();
}

void JointedMechanism::share_work() {
  // A linkage that is more than one thread's share of all rows, and whose stages are long enough to be worth a meeting.
  constexpr int least_rows = 600;
  large_.clear();
  small_.clear();
  const int cores = recipe.threads > 0 ? recipe.threads : static_cast<int>(std::thread::hardware_concurrency());
  std::int64_t rows = 0;
  for (const Island& island : islands) rows += island.problem.rows();
  for (int i = 0; i < static_cast<int>(islands.size()); ++i) {
    const std::int64_t own = islands[i].problem.rows();
    (cores > 1 && own >= least_rows && own * cores > rows ? large_ : small_).push_back(i);
  }
  if (!large_.empty() && !gang_) gang_ = std::make_unique<Gang>(recipe.threads);
  if (large_.empty()) {
    gang_.reset();
    small_.clear();
  }
  for (Island& island : islands)
    if (island.gang) island.lend(nullptr);
  for (const int i : large_) islands[i].lend(gang_.get());
}

void JointedMechanism::look_at_loops() {
  if (std::holds_alternative<TreePlacementSettings>(recipe.correction)) placements_ = placement_order(model);
  if (recipe.solver.holds<ArticulatedBodySettings>() && !model.added_mass.groups.empty())
    throw Error("solver articulated_body",
                "knows no fluid that couples bodies (\"" + model.added_mass_name() + "\"); use solver ldlt or schur");
  if (recipe.solver.holds<ArticulatedBodySettings>())
    if (const auto j = loop_closing_joint(model))
      throw Error("solver articulated_body", "joint \"" + model.joints[*j].name + "\" closes a loop; use solver ldlt or schur");
}

void JointedMechanism::model_changed(std::span<const int> body, std::span<const int> joint) {
  for (Linkage& linkage : linkages) renumber(linkage, body, joint);
  const std::vector<int> stood = find_linkages(model, linkages, now.joints, !by_impulses());
  coupled_ = model.added_mass.groups;
  make_islands(model, linkages, islands, stood);
  share_work();
  drives.find(model, linkages, !by_impulses());
  trees.clear();
  trees_settled_ = false;
  forget_shape();
  look_at_loops();
}

void JointedMechanism::look_at_drives() {
  if (drives.outdated(model, linkages)) model_changed({}, {});
}

void JointedMechanism::respond(VecX& forces) {
  divide_by_mass(forces);
  for (Island& island : islands) {
    island.gather(forces, island.local);
    if (island.local.isZero(0)) continue;
    for (const ConstraintBlock& block : island.problem.blocks)
      for (int r = block.first_row; r < block.first_row + block.rows; ++r)
        island.problem.b[r] = -row_velocity(island.problem, block, r, view(island.local));
    island.problem.x0.setZero();
    island.solve(recipe.solver);
    island.apply_impulses();
    island.scatter(forces);
  }
}

void JointedMechanism::forget_shape() {
  for (const int i : large_) islands[i].lend(gang_.get());
  implicit_.reset();
  minimiser_.reset();
  separated_.reset();
  rotors_.clear();
  last_accelerations_.resize(0);
}

JointedMechanism::~JointedMechanism() = default;

void JointedMechanism::count_solves() {
  for (const Island& island : islands) count(island.report, now.report);
}

void JointedMechanism::evaluate(const State& s, double t) {
  kinematics.update(model, s, t, gang_.get());
  for_each_island([&](Island& island, const Linkage&, const JointAnswer&) { island.evaluate(linkages, model, kinematics, t); });
}

namespace {

/// Rows that are at least zero follow from no others, and none from them: "no more than 1" says nothing of "no less than 0".
/// While redundant rows are looked for they are idle, all zero.
class Bounds {
 public:
  void take_out(ConstraintProblem& problem, const std::vector<int>& idle) {
    idle_ = idle;
    blocks_.clear();
    for (const ConstraintBlock& block : problem.blocks)
      if (block.rows > 0 && std::isfinite(problem.lower[block.first_row])) blocks_.push_back(block);
    if (blocks_.empty()) return;
    J_a_ = problem.J_a;
    J_b_ = problem.J_b;
    J_more_ = problem.J_more;
    C_ = problem.C;
    for (const ConstraintBlock& block : blocks_) {
      problem.J_a.middleRows(block.first_row, block.rows).setZero();
      problem.J_b.middleRows(block.first_row, block.rows).setZero();
      for (int k = 0; k < block.more_count; ++k)
        problem.J_more.middleRows(problem.more[block.first_more + k].first, block.rows).setZero();
      problem.C.segment(block.first_row, block.rows).setOnes();
      for (int r = block.first_row; r < block.first_row + block.rows; ++r) idle_.push_back(r);
    }
    std::ranges::sort(idle_);
  }
  [[nodiscard]] std::span<const int> idle() const { return idle_; }
  void put_back(ConstraintProblem& problem) const {
    if (blocks_.empty()) return;
    problem.J_a = J_a_;
    problem.J_b = J_b_;
    problem.J_more = J_more_;
    for (const ConstraintBlock& block : blocks_)
      problem.C.segment(block.first_row, block.rows) = C_.segment(block.first_row, block.rows);
  }

 private:
  std::vector<int> idle_;
  std::vector<ConstraintBlock> blocks_;
  decltype(ConstraintProblem::J_a) J_a_, J_b_, J_more_;
  VecX C_;
};

}  // namespace

void JointedMechanism::begin_step(const State& s, double t) {
  const auto* stabilised = std::get_if<StabilisedAccelerationSettings>(&recipe.formulation);
  const bool loops = std::any_of(linkages.begin(), linkages.end(), [](const Linkage& linkage) { return linkage.has_loops; });
  if (!stabilised && !loops) return;
  kinematics.update(model, s, t, gang_.get());
  for_each_island([&](Island& island, Linkage& linkage, const JointAnswer&) {
    if (!stabilised && !linkage.has_loops) return;
    island.evaluate(linkages, model, kinematics, t);
    if (stabilised) {
      island.gather(s.u, island.u);
      stabilisation_pull(island.values, island.u, stabilised->beta_position, stabilised->beta_velocity, h, island.problem,
                         island.pull);
    }
    if (!linkage.has_loops) return;
    auto& bounds = island.workspace.get<Bounds>();
    bounds.take_out(island.problem, linkage.idle);
    linkage.redundant.set_aside(island.problem, island.workspace, island.largest_error(), bounds.idle());
    bounds.put_back(island.problem);
    linkage.compliance = island.problem.C;
  });
}

void JointedMechanism::sum_forces(double t, const State& s) {
  const StageClock::Scope stage(clock, Stage::forces);
  share_numbers(gang_.get(), forces_, external);
  if (contact_forces.size() == forces_.size()) forces_ += contact_forces;
  add_weight(model, forces_, gang_.get());
  if (!model.motions.empty()) {
    given_state_ = s;
    follow_given_motions(model, t, given_state_);
  }
  const State& at = model.motions.empty() ? s : given_state_;
  add_forces(model, at, t, recipe.threads, force_scratch_, forces_);
  if (drives.any()) drives.add_forces(model, kinematics, at.u, forces_);
}

void JointedMechanism::divide_by_mass(VecX& forces) const { divide_by_mass(forces, forces); }

void JointedMechanism::divide_by_mass(const VecX& forces, VecX& out) const {
  out.resize(forces.size());
  kinematics.divide_by_mass(model, forces, out, gang_.get());
  const int first = 6 * model.body_count();
  for (int k = 0; k < model.particle_count(); ++k)
    out.segment<3>(first + 3 * k) = forces.segment<3>(first + 3 * k) * model.particles.inverse_mass[k];
  const Eigen::Index wakes = forces.size() - first - 3 * static_cast<Eigen::Index>(model.particle_count());
  if (&out != &forces) out.tail(wakes) = forces.tail(wakes);
}

void JointedMechanism::accelerations(double t, const State& s, VecX& udot) {
  Budget::listen();
  ++evaluations;
  kinematics.update(model, s, t, gang_.get());

  // Free accelerations M^-1 f.
  sum_forces(t, s);
  add_gyroscopic(model, kinematics, forces_, gang_.get());
  divide_by_mass(forces_, udot);

  // What the joints add, island by island.
  const StageClock::Scope stage(clock, Stage::solve);
  const auto* penalty = std::get_if<PenaltySettings>(&recipe.formulation);
  for_each_island([&](Island& island, const Linkage&, JointAnswer& answer) {
    island.evaluate(linkages, model, kinematics, t);
    island.gather(s.u, island.u);
    island.gather(udot, island.local);
    if (penalty) {
      penalty_forces(island.values, island.u, penalty->stiffness, penalty->damping, h, island.problem, island.x);
    } else {
      if (held_g_ > 0) {
        island.gather(held_u_, island.u);
        held_rows(island.values, island.u, held_g_, island.problem);
      }
      formulate_acceleration(island.values, island.local, island.pull, island.problem, island.gang);
      leave_room(island.values, 2 / (h * h), island.problem, island.gang);
      share_numbers(island.gang, island.problem.x0, answer.x);
      island.solve(recipe.solver);
      if (keep_problems) island.keep();
    }
    island.apply_impulses();
    island.scatter(udot);
    share_numbers(island.gang, answer.lambda, island.x);
    share_numbers(island.gang, answer.x, island.x);
    answer.known = true;
  });
  for (const BodyMotion& motion : model.motions) udot.segment<6>(6 * motion.body) = kinematics.given_acceleration(motion.body);
  if (!penalty) count_solves();
  share_numbers(gang_.get(), last_accelerations_, udot);
}

void JointedMechanism::hold_joints(const VecX& u_0, double g) {
  if (!std::holds_alternative<AccelerationSettings>(recipe.formulation)) return;
  held_u_ = u_0;
  held_g_ = g;
}

void JointedMechanism::linearise(double t, const State& s) {
  const bool known = last_accelerations_.size() == s.u.size() &&
                     std::all_of(now.joints.begin(), now.joints.end(), [](const JointAnswer& a) { return a.known; });
  if (!known) accelerations(t, s, sigma_);
  evaluate(s, t);
  if (!implicit_) implicit_ = std::make_unique<ImplicitSystem>(model, recipe, linkages, islands, now.joints, drives);
  implicit_->linearise(kinematics, s, t, last_accelerations_, h, held_g_ > 0);
}

void JointedMechanism::solve_implicit(double a, double b, const VecX& r, VecX& out) {
  const StageClock::Scope stage(clock, Stage::solve);
  implicit_->solve(a, b, r, out, now.report);
}

bool JointedMechanism::minimises() const {
  return contact_forces.size() == 0 && !drives.any() && StageMinimiser::fits(model, recipe);
}

StageMinimum JointedMechanism::minimise(double t, const State& base, const VecX& sigma_0, const VecX& u_0, double g,
                                        const StageSettings& settings, State& stage, VecX& A) {
  const StageClock::Scope scope(clock, Stage::solve);
  if (!minimiser_) minimiser_ = std::make_unique<StageMinimiser>(model, recipe);
  const StageMinimum out = minimiser_->minimise(t, base, external, sigma_0, u_0, g, settings, stage, A, now.report);
  evaluations += out.iterations;
  return out;
}

void JointedMechanism::separate(double t, const State& s, double a) {
  const StageClock::Scope stage(clock, Stage::solve);
  evaluate(s, t);
  if (!separated_) separated_ = std::make_unique<ImplicitSystem>(model, recipe, linkages, islands, now.joints, drives, true);
  separated_->linearise(kinematics, s, t, last_accelerations_, h, false);
  separated_->separate(a);
}

void JointedMechanism::solve_separated(double a, const VecX& r, VecX& out) {
  const StageClock::Scope stage(clock, Stage::solve);
  separated_->solve_separated(a, r, out, now.report);
}

void JointedMechanism::solve_separated(std::complex<double> a, const VecXc& r, VecXc& out) {
  const StageClock::Scope stage(clock, Stage::solve);
  separated_->solve_separated(a, r, out, now.report);
}

void JointedMechanism::refresh_forces(double t, const State& s) {
  look_at_drives();
  const bool impulses = by_impulses();
  const bool known = std::all_of(now.joints.begin(), now.joints.end(), [](const JointAnswer& a) { return a.known; });
  if (impulses && known) return evaluate(s, t);

  // Iterative solvers start from their last answer: put it back afterwards, so that asking changes nothing.
  const std::int64_t evaluations_before = evaluations;
  const StepReport report_before = now.report;
  const bool keep_before = std::exchange(keep_problems, false);
  answers_ = now.joints;
  drives.decide(*this, s, t);
  accelerations(t, s, sigma_);
  for (std::size_t i = 0; i < islands.size(); ++i) {
    JointAnswer& answer = now.joints[i];
    const JointAnswer& before = answers_[i];
    if (impulses && before.known) {
      answer = before;
      continue;
    }
    if (std::holds_alternative<PenaltySettings>(recipe.formulation)) {
      answer.residual = 0;  // springs solve nothing
    } else {
      islands[i].judge();
      answer.residual = islands[i].residual;
    }
    answer.x = before.x;
    if (impulses) answer.known = false;  // the step's own still lack
  }
  keep_problems = keep_before;
  evaluations = evaluations_before;
  now.report = report_before;
}

void JointedMechanism::free_velocities(const ImpulseFormulation& formulation, const State& s, double t, double step, VecX& free) {
  // Before the first step nobody knows the constraint forces yet: those of the same pose at rest will do. (Forces of the motion
  // itself may be enormous just after a blow, and would freeze what it set in motion.)
  const auto unknown = [](const JointAnswer& answer) { return !answer.known; };
  if (formulation.geometric_stiffness && std::any_of(now.joints.begin(), now.joints.end(), unknown)) {
    State rest = s;
    rest.u.setZero();
    refresh_forces(t, rest);
  }

  ++evaluations;
  kinematics.update(model, s, gang_.get());

  // M^-1 (M u + h f), with gyroscopic terms implicit.
  sum_forces(t, s);
  for (LinkageTree& tree : trees) tree.take_forces(forces_);
  force_power = 0;
  for (int i = 0; model.has_kinematic() && i < model.body_count(); ++i)
    if (model.kinematic(i)) force_power -= (forces_ - external).segment<6>(6 * i).dot(s.u.segment<6>(6 * i));
  // Those of a fluid are explicit, and so is the rotor's share of a body that has both: its implicit step knows its inertia
  // alone.
  if (model.has_added_mass()) add_gyroscopic(model, kinematics, forces_);
  divide_by_mass(forces_);
  share_numbers(gang_.get(), free, s.u + step * forces_);
  if (model.has_added_mass()) return;
  share_pieces(gang_.get(), model.body_count(), [&](int first, int end) {
    for (int i = first; i < end; ++i)
      if (model.movable(i))
        free.segment<3>(6 * i + 3) +=
            implicit_gyroscopic_step(model.inertia[i], kinematics.bodies[i].R, s.omega(i), step) - s.omega(i);
  });
  place_trees(s);
  for (LinkageTree& tree : trees) tree.project(free);
}

bool JointedMechanism::is_passive() const {
  // Motors bring energy in, springs give back what they hold; limits and friction only ever take.
  const auto brings = [](const Joint::AxisDrive& axis) {
    const Drive& drive = axis.drive;
    return drive.motor_strength > 0 || drive.stiffness > 0 || drive.motor_torque != 0 || drive.motion;
  };
  return external.isZero(0) && model.forces.empty() && !model.has_kinematic() && model.belt_count == 0 &&
         std::none_of(model.joints.begin(), model.joints.end(), [&](const Joint& joint) {
           return joint.function != nullptr ||
                  (joint.equations && (joint.equations->knows_time || joint.equations->velocities)) ||
                  std::any_of(joint.drives.begin(), joint.drives.end(), brings);
         });
}

void JointedMechanism::stiffen(const State& s, double t, std::span<const JointAnswer> found) {
  constexpr double stiffer = 4;
  if (found.empty()) {
    for (JointAnswer& answer : now.joints) answer.known = false;
    refresh_forces(t, s);
    for (JointAnswer& answer : now.joints) answer.known = true;
  } else {
    for (std::size_t i = 0; i < found.size(); ++i) now.joints[i].lambda = stiffer * found[i].lambda;
  }
}

void JointedMechanism::project_velocities(State& s, double t) {
  evaluate(s, t);
  close_velocities(s);
}

void JointedMechanism::close_velocities(State& s) {
  for_each_island([&](Island& island, const Linkage&, const JointAnswer&) { close_velocities(island, s); });
  count_solves();
}

void JointedMechanism::close_velocities(Island& island, State& s) {
  island.gather(s.u, island.local);
  formulate_velocity(island.values, island.local, 0, island.problem, island.gang);
  leave_room(island.values, 1 / h, island.problem, island.gang);
  island.problem.x0.setZero();
  island.solve(recipe.solver);
  island.apply_impulses();
  island.scatter(s.u);
}

double JointedMechanism::furthest() const {
  return share_largest(gang_.get(), std::ssize(kinematics.bodies), [&](std::int64_t first, std::int64_t end) {
    double reach = 0;
    for (std::int64_t i = first; i < end; ++i)
      reach = std::max(reach, kinematics.bodies[static_cast<std::size_t>(i)].p.cwiseAbs().maxCoeff());
    return reach;
  });
}

int JointedMechanism::project(const ProjectionSettings& settings, State& s, double t) {
  if (islands.empty()) return 0;
  const StageClock::Scope stage(clock, Stage::correct);
  sigma_.setZero(s.u.size());
  double before = infinity;
  int iterations = 0;
  for (;; ++iterations) {
    Budget::listen();
    evaluate(s, t);
    double error = 0, reach = 0;
    for (const Island& island : islands) error = std::max(error, island.largest_error());
    reach = furthest();
    // Closed, or as closed as rounding at this distance from the origin allows, or no longer getting better.
    const double rounding = 4 * std::numeric_limits<double>::epsilon() * reach;
    if (!(error > std::max(settings.tolerance, rounding))) break;
    if (iterations == settings.max_iterations || (iterations >= 2 && error > 0.5 * before)) {
      const double usual = std::max(settings.tolerance, ProjectionSettings{}.tolerance);
      now.report.converged = now.report.converged && error < 1e3 * std::max(usual, rounding);
      break;
    }
    before = error;
    for_each_island([&](Island& island, const Linkage&, const JointAnswer&) {
      formulate_position(island.values, island.problem);
      island.problem.x0.setZero();
      island.solve(recipe.solver);
      island.local.setZero();
      island.apply_impulses();
      island.scatter(sigma_);
    });
    count_solves();
    displace(s, sigma_, s);
  }
  close_velocities(s);
  return iterations;
}

void JointedMechanism::correct(State& s, double t) {
  if (const auto* projection = std::get_if<ProjectionSettings>(&recipe.correction))
    project(*projection, s, t);
  else if (std::holds_alternative<TreePlacementSettings>(recipe.correction))
    place(s, t);
}

void JointedMechanism::place(State& s, double t) {
  const StageClock::Scope stage(clock, Stage::correct);
  rotule::place(model, placements_, s);
  project_velocities(s, t);
}

}  // namespace rotule
