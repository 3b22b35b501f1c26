// Every solver on every shipped scene: the same motion, and the same forces where they are unique. The dense LDL^T, which knows
// nothing of the mechanism's structure, is what the others are compared with.
#include <gtest/gtest.h>
#include <rotule/error.h>
#include <rotule/solvers/schur.h>
#include <rotule/solvers/sor.h>
#include <rotule/world.h>

#include <algorithm>
#include <string>
#include <vector>

#include "model/solver_list.h"
#include "scenes/builders.h"
#include "step/reference/reference_stepper.h"
#include "world/world_implementation.h"

namespace rotule {
namespace {

struct Choice {
  std::string name;
  SolverChoice settings;
  bool sweeps = false;
};

std::vector<Choice> choices() {
  return {
      {"ldlt", solver_named("ldlt")},
      {"articulated_body", solver_named("articulated_body")},
      {"schur", solver_named("schur")},
      {"schur by conjugate gradients", SchurSettings{.conjugate_gradients = true}},
      {"cg", solver_named("cg")},
      {"sor", SorSettings{.relaxation = 1.8, .tolerance = 1e-11}, true},
      {"gauss_seidel", SorSettings{.relaxation = 1, .tolerance = 1e-11}, true},
  };
}

/// The scene at acceleration level with projection, whatever its own recipe is.
Scene exact(const std::string& name) {
  Scene scene = *scenes::build(name);
  const double dt = std::min(scene.recipe.dt, 1e-3);
  scene.recipe = recipes::exact();
  scene.recipe.dt = dt;
  return scene;
}

/// Scenes whose constraints are equations alone, and whose steps are fixed.
std::vector<std::string> jointed_scenes() {
  std::vector<std::string> names = scenes::names();
  std::erase_if(names, [](const std::string& name) {
    const Scene scene = *scenes::build(name);
    const bool adaptive = std::visit([](const auto& s) { return s.traits.adaptive; }, scene.recipe.integrator);
    return !std::holds_alternative<NoContactSettings>(scene.recipe.contacts) || scene.joints.empty() || adaptive;
  });
  return names;
}

std::vector<std::string> subjects() {
  std::vector<std::string> names = jointed_scenes();
  names.insert(names.end(), {"chain_100", "hanging_chain_1000000"});
  return names;
}

struct SceneAnswer {
  VecX accelerations;
  VecX forces;  // on every joint's second body: force and torque, six numbers
  std::vector<bool> unique;
  bool converged = true;
};

/// Accelerations and joint forces of the state in which `world` is, by another solver.
SceneAnswer solve_with(const World& world, const SolverChoice& solver) {
  const WorldImplementation& w = implementation_of(world);
  Recipe recipe = w.recipe;
  recipe.solver = solver;
  JointedMechanism mechanism(w.model, recipe);
  mechanism.begin_step(w.state, w.time);
  SceneAnswer out;
  mechanism.accelerations(w.time, w.state, out.accelerations);
  out.converged = mechanism.now.report.converged;
  const Ledger ledger(mechanism);
  const int joints = static_cast<int>(w.model.joints.size());
  out.forces.resize(6 * joints);
  for (int j = 0; j < joints; ++j) {
    const JointForce f = ledger.force(mechanism, j);
    out.forces.segment<6>(6 * j) << f.force, f.torque;
    out.unique.push_back(f.unique);
  }
  return out;
}

bool has_loops(const World& world) {
  const auto& linkages = implementation_of(world).stepper->reference()->mechanism.linkages;
  return std::any_of(linkages.begin(), linkages.end(), [](const Linkage& linkage) { return linkage.has_loops; });
}

void compare(const World& world, const std::string& where) {
  const SceneAnswer reference = solve_with(world, solver_named("dense_ldlt"));
  // At rest accelerations are differences of large forces: what a free body would have is the scale then.
  const double scale = std::max(reference.accelerations.cwiseAbs().maxCoeff(), world.gravity().norm());
  const double largest_force = reference.forces.size() ? std::max(reference.forces.cwiseAbs().maxCoeff(), 1e-9) : 1;
  for (const Choice& choice : choices()) {
    const std::string what = choice.name + " on " + where;
    if (choice.name == "articulated_body" && has_loops(world)) {
      EXPECT_THROW(solve_with(world, choice.settings), Error) << what;
      continue;
    }
    const SceneAnswer answer = solve_with(world, choice.settings);
    // Sweeps may fail on what is badly conditioned, but have to say so; nobody else may.
    if (choice.sweeps && !answer.converged) {
      EXPECT_TRUE(where.starts_with("bricard") || where.starts_with("bridge") || where.starts_with("hanging")) << what;
      continue;
    }
    EXPECT_LT((answer.accelerations - reference.accelerations).cwiseAbs().maxCoeff(), 1e-9 * scale) << what;
    for (std::size_t j = 0; j < reference.unique.size(); ++j) {
      EXPECT_EQ(answer.unique[j], reference.unique[j]) << what;
      if (!reference.unique[j]) continue;
      const double off = (answer.forces - reference.forces).segment<6>(6 * static_cast<Eigen::Index>(j)).cwiseAbs().maxCoeff();
      EXPECT_LT(off, 1e-9 * largest_force) << what << " joint " << j;
    }
  }
}

TEST(SolversOnScenes, GiveTheSameAccelerationsAndForces) {
  for (const std::string& name : subjects()) {
    World world(exact(name));
    compare(world, name);
    if (name == "hanging_chain_1000000") continue;  // its waves ask for steps of 1e-5 s
    for (int i = 0; i < 100; ++i) world.step();
    compare(world, name + " after 100 steps");
  }
}

VecX positions_and_velocities(const World& world) {
  const std::vector<BodyId> bodies = world.bodies();
  VecX out(13 * static_cast<Eigen::Index>(bodies.size()));
  for (std::size_t i = 0; i < bodies.size(); ++i)
    out.segment<13>(13 * static_cast<Eigen::Index>(i)) << world.position(bodies[i]), world.orientation(bodies[i]).coeffs(),
        world.velocity(bodies[i]), world.angular_velocity(bodies[i]);
  return out;
}

TEST(SolversOnScenes, GiveTheSameMotionOverManySteps) {
  for (const std::string& name : jointed_scenes()) {
    Scene scene = *scenes::build(name);  // by its own recipe: one of them moves at velocity level
    const auto run = [&](const SolverChoice& solver) {
      Recipe recipe = scene.recipe;
      recipe.solver = solver;
      World world(scene, recipe);
      for (int i = 0; i < 8; ++i) world.step();
      return positions_and_velocities(world);
    };
    const VecX reference = run(solver_named("dense_ldlt"));
    const bool loops = has_loops(World(scene));
    for (const Choice& choice : choices()) {
      if (choice.name == "articulated_body" && loops) continue;
      if (choice.sweeps && (name == "bricard" || name == "bridge_truss" || name.starts_with("hanging"))) continue;
      EXPECT_LT((run(choice.settings) - reference).cwiseAbs().maxCoeff(), 1e-9 * reference.cwiseAbs().maxCoeff())
          << choice.name << " on " << name;
    }
  }
}

TEST(SolversOnScenes, ArticulatedBodySaysWhereALoopIs) {
  for (const std::string& name : scenes::names()) {
    Scene scene = *scenes::build(name);
    if (!has_loops(World(scene))) continue;
    for (const FormulationSettings& formulation :
         {FormulationSettings(AccelerationSettings{}), FormulationSettings(VelocitySettings{})}) {
      Recipe recipe = scene.recipe;
      recipe.integrator = SemiImplicitEulerSettings{};
      recipe.formulation = formulation;
      recipe.solver = solver_named("articulated_body");
      try {
        const World world(scene, recipe);
        ADD_FAILURE() << name << " was taken for a tree";
      } catch (const Error& error) {
        const std::string message = error.what();
        EXPECT_NE(message.find("articulated_body"), std::string::npos) << message;
        EXPECT_NE(message.find("closes a loop"), std::string::npos) << message;
        const bool named = std::any_of(scene.joints.begin(), scene.joints.end(), [&](const JointDef& joint) {
          return std::visit([&](const auto& j) { return message.find('"' + j.name + '"') != std::string::npos; }, joint);
        });
        EXPECT_TRUE(named) << message;
        EXPECT_NE(message.find("ldlt"), std::string::npos) << message;
      }
    }
  }
}

}  // namespace
}  // namespace rotule
