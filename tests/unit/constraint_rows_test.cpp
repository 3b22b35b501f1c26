// Every kind of joint: its value, Jacobian, J-dot u and Hessian against the same geometry written as a function of jets, and
// against differences. Bodies stand at random poses, far from where the joints are closed, so that no term vanishes.
#include <gtest/gtest.h>
#include <rotule/world.h>

#include <random>

#include "constraint/constraint_set.h"
#include "world/world_implementation.h"

namespace rotule {
namespace {

using Function = std::function<Jet(const JetBody&, const JetBody&, const Jet&)>;

/// The frame of a joint in its two bodies' own coordinates, as a user would have to know it.
struct Frames {
  Vec3 r_a, r_b;        // the point, from the origin of each body's frame
  Mat3 axes_a, axes_b;  // directions as columns
  double length;
};

struct Case {
  std::string name;
  JointDef joint;
  std::vector<Function> (*rows)(const Frames&);
};

Function point(const Frames& f, int k) {
  return [=](const JetBody& a, const JetBody& b, const Jet&) { return (a.point(f.r_a) - b.point(f.r_b)).e[k]; };
}
Function slide(const Frames& f, int k) {
  return [=](const JetBody& a, const JetBody& b, const Jet&) {
    return a.direction(f.axes_a.col(k)).dot(a.point(f.r_a) - b.point(f.r_b));
  };
}
Function perpendicular(const Frames& f, int of_a, int of_b) {
  return [=](const JetBody& a, const JetBody& b, const Jet&) {
    return a.direction(f.axes_a.col(of_a)).dot(b.direction(f.axes_b.col(of_b)));
  };
}
Function distance(const Frames& f) {
  return [=](const JetBody& a, const JetBody& b, const Jet&) { return (a.point(f.r_a) - b.point(f.r_b)).norm() - Jet(f.length); };
}

std::vector<Case> cases(const Between& between) {
  const Vec3 at(0.4, -0.3, 0.7), axis = Vec3(1, -2, 0.5).normalized(), across = axis.unitOrthogonal();
  return {
      {"ball", Ball{.between = between, .at = at},
       [](const Frames& f) -> std::vector<Function> {
         return {point(f, 0), point(f, 1), point(f, 2)};
       }},
      {"hinge", Hinge{.between = between, .at = at, .axis = axis},
       [](const Frames& f) -> std::vector<Function> {
         return {point(f, 0), point(f, 1), point(f, 2), perpendicular(f, 2, 0), perpendicular(f, 2, 1)};
       }},
      {"slider", Slider{.between = between, .at = at, .axis = axis},
       [](const Frames& f) -> std::vector<Function> {
         return {slide(f, 0), slide(f, 1), perpendicular(f, 1, 2), perpendicular(f, 2, 0), perpendicular(f, 0, 1)};
       }},
      {"cylindrical", Cylindrical{.between = between, .at = at, .axis = axis},
       [](const Frames& f) -> std::vector<Function> {
         return {slide(f, 0), slide(f, 1), perpendicular(f, 2, 0), perpendicular(f, 2, 1)};
       }},
      {"universal", Universal{.between = between, .at = at, .axis_a = axis, .axis_b = across},
       [](const Frames& f) -> std::vector<Function> {
         return {point(f, 0), point(f, 1), point(f, 2), perpendicular(f, 0, 1)};
       }},
      {"planar", Planar{.between = between, .at = at, .normal = axis},
       [](const Frames& f) -> std::vector<Function> {
         return {slide(f, 2), perpendicular(f, 2, 0), perpendicular(f, 2, 1)};
       }},
      {"weld", Weld{.between = between, .at = at},
       [](const Frames& f) -> std::vector<Function> {
         return {point(f, 0), point(f, 1), point(f, 2), perpendicular(f, 1, 2), perpendicular(f, 2, 0), perpendicular(f, 0, 1)};
       }},
      {"rod", Rod{.between = between, .from = at, .to = at + Vec3(0.3, 0.4, -0.2), .length = 0.8},
       [](const Frames& f) -> std::vector<Function> { return {distance(f)}; }},
      {"point_on_line", PointOnLine{.between = between, .at = at, .axis = axis},
       [](const Frames& f) -> std::vector<Function> {
         return {slide(f, 0), slide(f, 1)};
       }},
      {"locked_axes",
       LockedAxes{.between = between,
                  .at = at,
                  .frame = Quat(1, 2, 3, 4).normalized(),
                  .locked = {false, true, false, true, false, true}},
       [](const Frames& f) -> std::vector<Function> {
         return {slide(f, 1), perpendicular(f, 1, 2), perpendicular(f, 1, 0)};
       }},
  };
}

class Rows : public ::testing::TestWithParam<Between> {
 protected:
  /// Two bodies whose centres of mass are off their frames, and a fixed one that stands askew.
  Scene bodies() {
    Scene scene;
    scene.add({.name = "first",
               .mass = 2.0,
               .center_of_mass = Vec3(0.1, 0.2, -0.15),
               .position = random_vector(),
               .orientation = random_turn(),
               .shape = Box{Vec3(0.3, 0.2, 0.1)}});
    scene.add({.name = "second",
               .mass = 1.0,
               .center_of_mass = Vec3(-0.2, 0.05, 0.1),
               .position = random_vector(),
               .orientation = random_turn(),
               .shape = Box{Vec3(0.2, 0.4, 0.1)}});
    scene.add({.name = "fixed", .fixed = true, .position = random_vector(), .orientation = random_turn(), .shape = Box{}});
    return scene;
  }

  Vec3 random_vector() { return {normal_(random_), normal_(random_), normal_(random_)}; }
  Quat random_turn() { return Quat(normal_(random_), normal_(random_), normal_(random_), normal_(random_)).normalized(); }

  /// Everything that moves, somewhere else at some other speed.
  State random_state(const Model& model, State s) {
    for (int i = 0; i < model.body_count(); ++i) {
      if (!model.movable(i)) continue;
      s.p[i] = random_vector();
      s.theta[i] = random_turn();
      s.v(i) = random_vector();
      s.omega(i) = random_vector();
    }
    return s;
  }

  std::mt19937 random_{11};
  std::normal_distribution<double> normal_;
};

/// A constraint set and what it makes of a state.
struct Evaluated {
  ConstraintSet set;
  Kinematics kinematics;
  ConstraintProblem problem;
  RowValues values;

  explicit Evaluated(const Model& model) {
    std::vector<int> joints(model.joints.size()), local(model.body_count());
    for (std::size_t i = 0; i < joints.size(); ++i) joints[i] = static_cast<int>(i);
    for (std::size_t i = 0; i < local.size(); ++i) local[i] = static_cast<int>(i);
    set = ConstraintSet(model, joints, local);
    problem.blocks = set.blocks();
    problem.resize(model.body_count(), set.rows());
    values.resize(set.rows());
  }
  void at(const Model& model, const State& s) {
    kinematics.update(model, s);
    set.evaluate(kinematics, 0, problem, values);
  }
  /// J as a dense matrix over all bodies; immovable partners have no columns of their own.
  [[nodiscard]] MatX jacobian() const {
    MatX J = MatX::Zero(set.rows(), 6 * problem.bodies());
    for (const ConstraintBlock& block : set.blocks()) {
      if (block.body_a >= 0)
        J.block(block.first_row, 6 * block.body_a, block.rows, 6) += problem.J_a.middleRows(block.first_row, block.rows);
      if (block.body_b >= 0)
        J.block(block.first_row, 6 * block.body_b, block.rows, 6) += problem.J_b.middleRows(block.first_row, block.rows);
    }
    return J;
  }
};

TEST_P(Rows, AreWhatTheirGeometrySays) {
  for (const Case& c : cases(GetParam())) {
    SCOPED_TRACE(c.name + " between " + GetParam()[0] + " and " + GetParam()[1]);
    Scene scene = bodies();
    Scene by_user = scene;
    scene.add(c.joint);
    const World world(scene);
    const Model& model = implementation_of(world).model;
    const Joint& joint = model.joints.front();

    // The same rows as functions, each a constraint of its own.
    const auto frame_origin = [&](int body) -> Vec3 {
      return body == world_body ? Vec3(Vec3::Zero()) : model.bodies[body].center_of_mass;
    };
    const Frames frames{joint.X_A.position + frame_origin(joint.a), joint.X_B.position + frame_origin(joint.b),
                        joint.X_A.orientation.toRotationMatrix(), joint.X_B.orientation.toRotationMatrix(), joint.length};
    for (const Function& function : c.rows(frames)) by_user.add(Constraint{.between = GetParam(), .function = function});
    const World user_world(by_user);

    Evaluated kernels(model), jets(implementation_of(user_world).model);
    ASSERT_EQ(kernels.set.rows(), jets.set.rows());
    const State start = implementation_of(world).state;
    kernels.at(model, start);
    if (joint.length == 0) {
      EXPECT_LT(kernels.values.C.cwiseAbs().maxCoeff(), 1e-14) << "closed where it was described";
    }

    for (int round = 0; round < 5; ++round) {
      const State s = random_state(model, start);
      kernels.at(model, s);
      jets.at(implementation_of(user_world).model, s);
      const MatX J = kernels.jacobian();
      EXPECT_LT((kernels.values.C - jets.values.C).norm(), 1e-13);
      EXPECT_LT((J - jets.jacobian()).norm(), 1e-13);
      EXPECT_LT((kernels.values.gamma - jets.values.gamma).norm(), 1e-11);
      for (int r = 0; r < kernels.set.rows(); ++r) {
        std::vector<double> lambda(kernels.set.rows(), 0.0);
        lambda[r] = 1.7;
        const Mat12 H = kernels.set.hessian(0, kernels.kinematics, 0, lambda);
        const double one = 1.7;
        const Mat12 H_jets = jets.set.hessian(r, jets.kinematics, 0, {&one, 1});
        EXPECT_LT((H - H_jets).norm(), 1e-12) << "Hessian of row " << r;
      }

      // J is the derivative of C in every small motion; J-dot u that of J u along the motion with constant u.
      Evaluated moved(model);
      const auto C_at = [&](const VecX& sigma) -> VecX {
        State there = s;
        displace(s, sigma, there);
        moved.at(model, there);
        return moved.values.C;
      };
      const double h = 1e-5;
      for (int i = 0; i < 6 * model.body_count(); ++i) {
        if (!model.movable(i / 6)) continue;
        const VecX e = VecX::Unit(6 * model.body_count(), i);
        EXPECT_LT(((C_at(h * e) - C_at(-h * e)) / (2 * h) - J.col(i)).norm(), 1e-8) << "column " << i;
      }
      const auto rate_at = [&](double t) -> VecX {
        C_at(t * s.u);
        return moved.jacobian() * s.u;
      };
      EXPECT_LT(((rate_at(h) - rate_at(-h)) / (2 * h) - kernels.values.gamma).norm(), 1e-6);
    }
  }
}

TEST_P(Rows, FramesStandWhereTheJointWasDescribed) {
  for (const Case& c : cases(GetParam())) {
    Scene scene = bodies();
    scene.add(c.joint);
    const World world(scene);
    const auto& w = implementation_of(world);
    const Joint& joint = w.model.joints.front();
    const auto in_world = [&](int body, const Pose& X) {
      if (body == world_body) return X;
      return Pose{w.state.p[body] + w.state.theta[body] * X.position, w.state.theta[body] * X.orientation};
    };
    const Pose A = in_world(joint.a, joint.X_A), B = in_world(joint.b, joint.X_B);
    const Vec3 at(0.4, -0.3, 0.7), axis = Vec3(1, -2, 0.5).normalized();
    EXPECT_LT((A.position - at).norm(), 1e-14) << c.name;
    if (joint.length > 0) {
      EXPECT_EQ(joint.length, 0.8);
      continue;
    }
    EXPECT_LT((B.position - at).norm(), 1e-14) << c.name;
    for (const Pose& X : {A, B}) {
      if (c.name == "universal") {
        EXPECT_LT((X.orientation * Vec3::UnitX() - axis).norm(), 1e-14);
        EXPECT_LT((X.orientation * Vec3::UnitY() - axis.unitOrthogonal()).norm(), 1e-14);
      } else if (c.name != "ball" && c.name != "weld" && c.name != "locked_axes") {
        EXPECT_LT((X.orientation * Vec3::UnitZ() - axis).norm(), 1e-14) << c.name;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Partners, Rows,
                         ::testing::Values(Between{"first", "second"}, Between{"second", "first"}, Between{"world", "second"},
                                           Between{"first", "world"}, Between{"fixed", "second"}, Between{"first", "fixed"}),
                         [](const auto& partners) { return partners.param[0] + "_" + partners.param[1]; });

TEST(UserRows, TimeEntersThroughJets) {
  // C = x - (0.3 t^2 + sin 2t) z: C_t and gamma have all the terms that time makes.
  Scene scene;
  scene.add({.name = "bead", .mass = 1.0, .position = Vec3(0, 0.5, 0), .velocity = Vec3(2, 0, 0), .shape = Box{}});
  scene.add(Constraint{.between = {"world", "bead"}, .function = [](const JetBody&, const JetBody& b, const Jet& t) {
                         return b.position.x() - (Jet(0.3) * t * t + sin(Jet(2.0) * t)) * b.position.z();
                       }});
  const World world(scene);
  const Model& model = implementation_of(world).model;
  State s = implementation_of(world).state;
  s.p[0] = Vec3(0.4, -1, 0.7);
  s.v(0) = Vec3(0.1, 0.2, -0.6);
  Evaluated rows(model);
  const double t = 0.8, f = 0.3 * t * t + std::sin(2 * t), df = 0.6 * t + 2 * std::cos(2 * t), ddf = 0.6 - 4 * std::sin(2 * t);
  rows.kinematics.update(model, s);
  rows.set.evaluate(rows.kinematics, t, rows.problem, rows.values);
  EXPECT_NEAR(rows.values.C[0], 0.4 - f * 0.7, 1e-15);
  EXPECT_NEAR(rows.values.C_t[0], -df * 0.7, 1e-15);
  EXPECT_NEAR(rows.values.gamma[0], -2 * df * -0.6 - ddf * 0.7, 1e-14);
}

}  // namespace
}  // namespace rotule
