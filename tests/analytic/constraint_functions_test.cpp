// Constraints written as functions over any number of bodies (A2, A14): their derivatives against hand-written joints and against
// differences, twenty of them and more, at random states.
#include <gtest/gtest.h>
#include <rotule/error.h>
#include <rotule/world.h>

#include <cmath>
#include <random>

#include "constraint/constraint_set.h"
#include "model/parameter_table.h"
#include "problem/operators.h"
#include "support/allocation_counter.h"
#include "support/constants.h"
#include "support/runs.h"
#include "world/world_implementation.h"

namespace rotule {
namespace {

/// All joints of a scene, evaluated anywhere.
class Probe {
 public:
  explicit Probe(const Scene& scene) : world_(scene, recipes::exact()), model(implementation_of(world_).model) {
    std::vector<int> joints(model.joints.size()), local(model.partner_count());
    for (std::size_t i = 0; i < joints.size(); ++i) joints[i] = static_cast<int>(i);
    for (std::size_t i = 0; i < local.size(); ++i) local[i] = static_cast<int>(i);
    set = ConstraintSet(model, joints, local);
    problem.blocks = set.blocks();
    problem.more = set.more();
    problem.J_more.setZero(set.more_rows(), 6);
    problem.resize(model.body_count(), set.rows());
    values.resize(set.rows());
  }
  MatX at(const State& s, double t = 0) {
    kinematics.update(model, s);
    set.evaluate(kinematics, t, problem, values);
    MatX J = MatX::Zero(set.rows(), 6 * model.body_count());
    for (const ConstraintBlock& block : set.blocks())
      for_each_body(problem, block, [&](int body, const JacobianRows& rows, int first) {
        J.block(block.first_row, 6 * body, block.rows, 6) += rows.middleRows(first, block.rows);
      });
    return J;
  }
  MatX hessian(int block, double t, const std::vector<double>& lambda) {
    MatX out = MatX::Zero(6 * model.body_count(), 6 * model.body_count());
    set.with_hessian(block, kinematics, t, lambda, [&](const auto& H, const auto& owner) {
      for (std::size_t p = 0; p < owner.size(); ++p)
        for (std::size_t q = 0; q < owner.size(); ++q)
          if (owner[p] >= 0 && owner[q] >= 0) out.block<6, 6>(6 * owner[p], 6 * owner[q]) += H.template block<6, 6>(6 * p, 6 * q);
    });
    return out;
  }
  [[nodiscard]] const State& start() const { return implementation_of(world_).state; }

 private:
  World world_;

 public:
  const Model& model;
  ConstraintSet set;
  Kinematics kinematics;
  ConstraintProblem problem;
  RowValues values;
};

class Random {
 public:
  Vec3 vector() { return {normal_(engine_), normal_(engine_), normal_(engine_)}; }
  State state(const Model& model, State s) {
    for (int i = 0; i < model.body_count(); ++i) {
      s.p[i] = vector();
      const Vec3 turn = 0.4 * vector();
      s.theta[i] = Quat(Eigen::AngleAxisd(turn.norm(), turn.normalized()));
      s.v(i) = vector();
      s.omega(i) = vector();
    }
    return s;
  }

 private:
  std::mt19937 engine_{5};
  std::normal_distribution<double> normal_;
};

Scene three_bodies() {
  Scene scene;
  int k = 0;
  for (const char* name : {"a", "b", "c"}) {
    ++k;
    scene.add({.name = name,
               .mass = 1.0 * k,
               .center_of_mass = Vec3(0.1 * k, -0.05, 0.07),
               .position = Vec3(0.4 * k, 1.0, 0.3),
               .shape = Box{Vec3(0.3, 0.2, 0.1)}});
  }
  return scene;
}

/// Against differences at a random state; rows on velocities are those whose value is in C_t + J u.
void expect_derivatives(const Scene& scene, const std::string& name, bool on_velocities) {
  SCOPED_TRACE(name);
  Probe probe(scene);
  Random random;
  double worst_J = 0, worst_time = 0, worst_gamma = 0, worst_H = 0;
  const int rows = probe.set.rows();
  for (int round = 0; round < 8; ++round) {
    const State s = random.state(probe.model, probe.start());
    const double t = 0.3 + 0.2 * round, h = 1e-5;
    const MatX J = probe.at(s, t);
    const RowValues here = probe.values;
    const auto size = static_cast<Eigen::Index>(s.u.size());
    const auto moved = [&](const VecX& sigma) {
      State there = s;
      displace(s, sigma, there);
      return there;
    };
    const auto rate = [&](const State& at, double time) -> VecX {
      const MatX there = probe.at(at, time);
      return there * at.u + probe.values.C_t;
    };
    if (on_velocities) {
      EXPECT_EQ(here.C.norm(), 0.0);
      const VecX w = J * s.u + here.C_t;
      for (Eigen::Index i = 0; i < size; ++i) {
        State faster = s;
        faster.u[i] += 1;
        worst_J = std::max(worst_J, (rate(faster, t) - w - J.col(i)).norm());
      }
    } else {
      const auto C_at = [&](const State& at, double time) -> VecX {
        probe.at(at, time);
        return probe.values.C;
      };
      for (Eigen::Index i = 0; i < size; ++i) {
        const VecX e = VecX::Unit(size, i);
        worst_J = std::max(worst_J, ((C_at(moved(h * e), t) - C_at(moved(-h * e), t)) / (2 * h) - J.col(i)).norm());
      }
      worst_time = std::max(worst_time, ((C_at(s, t + h) - C_at(s, t - h)) / (2 * h) - here.C_t).norm());
    }
    const VecX gamma = (rate(moved(h * s.u), t + h) - rate(moved(-h * s.u), t - h)) / (2 * h);
    worst_gamma = std::max(worst_gamma, (gamma - here.gamma).norm() / (1 + gamma.norm()));
    // The Hessian by differences of J along each motion; rotations do not commute: half of what they do to a torque.
    std::vector<double> lambda;
    VecX weights(rows);
    for (int r = 0; r < rows; ++r) lambda.push_back(weights[r] = 1.0 + 0.3 * r);
    probe.at(s, t);
    MatX H = probe.hessian(0, t, lambda);
    const VecX force = J.transpose() * weights;
    for (int body = 0; body < probe.model.body_count(); ++body)
      H.block<3, 3>(6 * body + 3, 6 * body + 3) -= 0.5 * skew(force.segment<3>(6 * body + 3));
    for (Eigen::Index i = 0; i < size; ++i) {
      const VecX e = VecX::Unit(size, i);
      const VecX after = probe.at(moved(h * e), t).transpose() * weights,
                 before = probe.at(moved(-h * e), t).transpose() * weights;
      worst_H = std::max(worst_H, ((after - before) / (2 * h) - H.col(i)).norm() / (1 + H.norm()));
    }
  }
  EXPECT_LT(worst_J, on_velocities ? 1e-12 : 1e-6);
  EXPECT_LT(worst_time, 1e-6);
  EXPECT_LT(worst_gamma, 1e-6);
  EXPECT_LT(worst_H, 1e-6);
}

template <class Function>
void expect_derivatives_of(const std::vector<std::string>& over, const std::string& name, Function function,
                           bool on_velocities = false, Constraint how = {}) {
  Scene scene = three_bodies();
  scene.add_constraint(over, function, std::move(how));
  expect_derivatives(scene, name, on_velocities);
}

const Vec3 tip(0.3, -0.2, 0.5);

TEST(ConstraintFunctions, OfPositionsHaveTheDerivativesOfTheirValues) {
  expect_derivatives_of({"a"}, "x = cos y", [](auto q, auto) { return q[0].x() - cos(q[0].y()); });
  expect_derivatives_of({"a"}, "torus", [](auto q, auto) {
    const auto p = q[0].point(tip);
    const auto ring = sqrt(p.x() * p.x() + p.y() * p.y()) - 2.0;
    return ring * ring + p.z() * p.z() - 0.25;
  });
  expect_derivatives_of({"a"}, "helicoid", [](auto q, auto) { return sin(q[0].z()) * q[0].x() - cos(q[0].z()) * q[0].y(); });
  expect_derivatives_of({"a"}, "driven in time",
                        [](auto q, auto t) { return q[0].point(tip).z() - 0.3 * sin(2.0 * t) * q[0].x(); });
  expect_derivatives_of({"a", "b", "c"}, "area of a triangle", [](auto q, auto) {
    return (q[1].point(tip) - q[0].point()).cross(q[2].point() - q[0].point(tip)).squared_norm() - 1.0;
  });
  expect_derivatives_of({"a", "b", "c"}, "middle",
                        [](auto q, auto) { return q[0].point(tip) + q[1].point() - 2.0 * q[2].point(tip); });
  expect_derivatives_of({"a", "b"}, "rod", [](auto q, auto) { return (q[0].point(tip) - q[1].point(-tip)).norm() - 1.2; });
  expect_derivatives_of({"a", "b"}, "angle between axes",
                        [](auto q, auto) { return acos(0.6 * q[0].direction(Vec3::UnitX()).dot(q[1].direction(tip))) - 1.0; });
  expect_derivatives_of({"b", "a"}, "turn of one by the other", [](auto q, auto) {
    const auto x = q[0].direction(Vec3::UnitX());
    return wrap(3.0 * atan2(x.y(), x.x())) - q[1].x();
  });
  expect_derivatives_of({"a"}, "sphere that grows", [](auto q, auto t) { return q[0].point(tip).norm() - exp(0.1 * t); });
  expect_derivatives_of({"a", "world", "c"}, "over the world", [](auto q, auto) {
    return (q[0].point() - q[1].point(tip)).norm() + (q[2].point() - q[1].point()).norm() - 3.0;
  });
  expect_derivatives_of({"a"}, "quadric", [](auto q, auto) {
    const auto p = q[0].point();
    return pow(p.x(), 2) + 0.5 * p.y() * p.z() - tanh(p.z()) + 1.0;
  });
  expect_derivatives_of({"a", "b"}, "largest of two",
                        [](auto q, auto) { return max(q[0].x(), q[1].z() - 0.2) - min(q[0].y(), q[1].y()); });
  expect_derivatives_of({"a"}, "three at once", [](auto q, auto t) {
    return std::array{q[0].x() - t, q[0].direction(Vec3::UnitZ()).x(), log(1.0 + q[0].z() * q[0].z()) / (2.0 + sin(q[0].y()))};
  });
  expect_derivatives_of({"c", "a", "b"}, "product",
                        [](auto q, auto) { return q[0].x() * q[1].y() * q[2].z() / (1.0 + q[1].x() * q[1].x()); });
  expect_derivatives_of({"a"}, "lemniscate of two points", [](auto q, auto) {
    const MovingVec3 p = q[0].point();
    return (p - Vec3(1, 0, 0)).norm() * (p + Vec3(1, 0, 0)).norm() - 1.5;
  });
}

TEST(ConstraintFunctions, AsTextHaveTheDerivativesOfTheirValues) {
  const auto expect = [](std::vector<std::string> lines, bool on_velocities = false) {
    Scene scene = three_bodies();
    Constraint constraint{.between = {"a", "b"}, .more = {"c"}, .points = {{"p", "a", tip}, {"q", "b", -tip}, {"r", "c", tip}}};
    constraint.equation.lines = std::move(lines);
    const std::string name = constraint.equation.lines[0];
    scene.add(std::move(constraint));
    expect_derivatives(scene, name, on_velocities);
  };
  expect({"a.x - cos(a.y)"});
  expect({"(sqrt(p.x^2 + p.y^2) - 2)^2 + p.z^2 - 0.25"});
  expect({"sqrt((p.x - q.x)^2 + (p.y - q.y)^2 + (p.z - q.z)^2) - 0.7"});
  expect({"p.z - 0.3 * sin(2 * t) * a.x", "exp(0.1 * t) - sqrt(r.x^2 + r.y^2 + r.z^2)"});
  expect({"p.x * q.y * r.z / (1 + q.x^2) - 3 / (2 + p.y^2)"});
  expect({"acos(0.5 * a.axis_x.y) + asin(0.5 * b.axis_z.x) - atan(p.x * q.y)", "a.axis_x.y * b.axis_y.z - c.axis_z.x"});
  expect({"a.angle_z - 2 * b.angle_z + 0.3 * c.angle_x", "wrap(3 * a.angle_y) + p.x"});
  expect(
      {"(2 + sin(p.x))^(1 + 0.1 * q.y) - 1", "p.x^3 - q.y^1 + r.z^4 - 2", "tan(0.3 * a.axis_y.x) + tanh(q.z) + log(2 + p.x^2)"});
  expect({"atan2(p.y, 4 + q.x^2) + abs(r.z) - max(p.x, q.y - 0.2) * min(p.y, q.z)"});
  expect({"p.x * p.x - p.x / (3 + p.y^2)", "-(p.x - q.x) * (p.x - q.x)"});
  expect({"a.vx - a.y * b.wz", "p.vy * a.axis_x.x - sin(t) * q.vz"}, true);
}

TEST(ConstraintFunctions, OfVelocitiesHaveTheDerivativesOfTheirValues) {
  expect_derivatives_of(
      {"a"}, "blade", [](auto q, auto) { return q[0].direction(Vec3::UnitY()).dot(q[0].velocity(tip)); }, true);
  expect_derivatives_of(
      {"a", "b"}, "pursuit", [](auto q, auto) { return (q[1].point() - q[0].point()).cross(q[0].velocity()).y(); }, true);
  expect_derivatives_of(
      {"a"}, "given rate", [](auto q, auto t) { return q[0].velocity().x() - sin(t) * q[0].y(); }, true);
  expect_derivatives_of(
      {"a", "b"}, "point of touch",
      [](auto q, auto) {
        const auto where = 0.5 * (q[0].point(tip) + q[1].point());
        return q[0].velocity_at(where) - q[1].velocity_at(where);
      },
      true);
  expect_derivatives_of(
      {"a", "b", "c"}, "spins",
      [](auto q, auto) {
        return q[0].spin().dot(q[2].direction(Vec3::UnitZ())) - 2.0 * q[1].spin().z() + q[2].x() * q[2].spin().x();
      },
      true);
}

TEST(ConstraintFunctions, AreWhatHandWrittenJointsAre) {
  // The same rod, ball, hinge and gear twice, at random states: to rounding.
  const auto compare = [](const Scene& by_hand, const Scene& by_function, const std::string& name) {
    SCOPED_TRACE(name);
    Probe hand(by_hand), function(by_function);
    ASSERT_EQ(hand.set.rows(), function.set.rows());
    Random random;
    for (int round = 0; round < 10; ++round) {
      const State s = random.state(hand.model, hand.start());
      const MatX J = hand.at(s), K = function.at(s);
      EXPECT_LT((J - K).cwiseAbs().maxCoeff(), 1e-13 * (1 + J.cwiseAbs().maxCoeff()));
      EXPECT_LT((hand.values.C - function.values.C).cwiseAbs().maxCoeff(), 1e-13);
      EXPECT_LT((hand.values.gamma - function.values.gamma).cwiseAbs().maxCoeff(),
                1e-13 * (10 + hand.values.gamma.cwiseAbs().maxCoeff()));
      std::vector<double> lambda;
      for (int r = 0; r < hand.set.rows(); ++r) lambda.push_back(0.7 - 0.4 * r);
      const MatX H = hand.hessian(0, 0, lambda), G = function.hessian(0, 0, lambda);
      EXPECT_LT((H - G).cwiseAbs().maxCoeff(), 1e-12 * (1 + H.cwiseAbs().maxCoeff()));
    }
  };
  const Vec3 at(0.7, 0.8, 0.1), to(0.2, 1.1, 0.4);
  const Vec3 a0(0.4, 1.0, 0.3), b0(0.8, 1.0, 0.3);  // where the frames stand
  {
    Scene hand = three_bodies(), function = three_bodies();
    hand.add(Rod{.between = {"a", "b"}, .from = at, .to = to});
    function.add_constraint({"a", "b"},
                            [=](auto q, auto) { return (q[0].point(at - a0) - q[1].point(to - b0)).norm() - (at - to).norm(); });
    compare(hand, function, "rod");
    Scene text = three_bodies();
    text.add(Constraint{.between = {"a", "b"},
                        .equation = "sqrt((p.x - q.x)^2 + (p.y - q.y)^2 + (p.z - q.z)^2) - length",
                        .points = {{"p", "a", at - a0}, {"q", "b", to - b0}},
                        .constants = {{"length", (at - to).norm()}}});
    compare(hand, text, "rod as text");
  }
  {
    Scene hand = three_bodies(), function = three_bodies();
    hand.add(Ball{.between = {"a", "b"}, .at = at});
    function.add_constraint({"a", "b"}, [=](auto q, auto) { return q[0].point(at - a0) - q[1].point(at - b0); });
    compare(hand, function, "ball");
  }
  {
    Scene hand = three_bodies(), function = three_bodies();
    hand.add(Hinge{.between = {"a", "b"}, .at = at});
    function.add_constraint({"a", "b"}, [=](auto q, auto) {
      const auto e = q[0].point(at - a0) - q[1].point(at - b0);
      const auto z = q[0].direction(Vec3::UnitZ());
      return std::array{e.x(), e.y(), e.z(), z.dot(q[1].direction(Vec3::UnitX())), z.dot(q[1].direction(Vec3::UnitY()))};
    });
    compare(hand, function, "hinge");
    Scene text = three_bodies();
    text.add(Constraint{.between = {"a", "b"},
                        .equation = {"p.x - q.x", "p.y - q.y", "p.z - q.z",
                                     "a.axis_z.x * b.axis_x.x + a.axis_z.y * b.axis_x.y + a.axis_z.z * b.axis_x.z",
                                     "a.axis_z.x * b.axis_y.x + a.axis_z.y * b.axis_y.y + a.axis_z.z * b.axis_y.z"},
                        .points = {{"p", "a", at - a0}, {"q", "b", at - b0}}});
    compare(hand, text, "hinge as text");
  }
  {
    Scene hand = three_bodies(), function = three_bodies();
    hand.add(Gear{.between = {"a", "b"}, .carrier = "c", .teeth_a = 3, .teeth_b = 2});
    function.add_constraint({"a", "b", "c"}, [](auto q, auto) {
      const auto angle = [&](const MovingBody& wheel) {
        const auto x = wheel.direction(Vec3::UnitX()), y = wheel.direction(Vec3::UnitY());
        const auto xc = q[2].direction(Vec3::UnitX()), yc = q[2].direction(Vec3::UnitY());
        return atan2(x.dot(yc) - y.dot(xc), x.dot(xc) + y.dot(yc));
      };
      return wrap(2.0 * angle(q[1]) + 3.0 * angle(q[0])) / 2.0;
    });
    compare(hand, function, "gear");
  }
}

TEST(ConstraintFunctions, ParametersAreEliminated) {
  // A bead on a helix, the place along it being the function's own: the speed law of a straight fall along a slope, and the same
  // motion as the curve's own equation of one variable gives.
  const double r = 0.5, pitch = 0.2, length = std::hypot(r, pitch);
  Scene scene;
  scene.add({.name = "bead", .mass = 0.7, .position = Vec3(r, 0, 0)});
  scene.add_constraint(
      {"bead"}, [=](auto q, auto, auto s) { return q[0].point() - MovingVec3(r * cos(s[0]), r * sin(s[0]), pitch * s[0]); },
      {.name = "helix", .parameters = {{.name = "s", .from = -40, .to = 40}}});
  Recipe recipe = recipes::exact();
  recipe.dt = 1e-2;
  World world(scene, recipe);
  double worst = 0;
  for (int i = 1; i <= 250; ++i) {
    world.step(4e-3);
    const double t = 4e-3 * i, s = -0.5 * testing::g * pitch / (length * length) * t * t;
    worst = std::max(worst, (world.position("bead") - Vec3(r * std::cos(s), r * std::sin(s), pitch * s)).norm());
  }
  EXPECT_LT(worst, 1e-8);

  // Two parameters: a bead on a sphere that is given by two angles is a spherical pendulum.
  Scene sphere;
  sphere.add({.name = "bead", .mass = 1, .position = Vec3(1, 0, 0), .velocity = Vec3(0, 1, 0.5)});
  Scene rod = sphere;
  sphere.add_constraint(
      {"bead"},
      [](auto q, auto, auto s) { return q[0].point() - MovingVec3(cos(s[0]) * cos(s[1]), sin(s[0]) * cos(s[1]), sin(s[1])); },
      {.parameters = {{.name = "longitude", .from = 0, .to = 2 * std::numbers::pi, .periodic = true},
                      {.name = "latitude", .from = -1.5, .to = 1.5}}});
  rod.add(Rod{.between = {"world", "bead"}, .from = Vec3(0, 0, 0)});
  World on_sphere(sphere, recipe), on_rod(rod, recipe);
  for (int i = 0; i < 50; ++i) {
    on_sphere.step(5e-3);
    on_rod.step(5e-3);
    EXPECT_LT((on_sphere.position("bead") - on_rod.position("bead")).norm(), 1e-9);
  }
}

/// Second derivatives in all directions are along the motion what J-dot u says there.
void expect_bends(Probe& probe, const State& s, double t) {
  probe.at(s, t);
  for (int r = 0; r < probe.set.rows(); ++r) {
    std::vector<double> lambda(static_cast<std::size_t>(probe.set.rows()), 0);
    lambda[static_cast<std::size_t>(r)] = 1;
    const MatX H = probe.hessian(0, t, lambda);
    const double gamma = probe.values.gamma[r];
    EXPECT_NEAR(s.u.dot(H * s.u), gamma, 1e-10 * (1 + std::abs(gamma)));
    EXPECT_LT((H - H.transpose()).norm(), 1e-10 * (1 + H.norm()));
  }
}

TEST(ConstraintFunctions, WithAParameterHaveTheDerivativesOfTheirValuesOnTheCurve) {
  // A point of a body on a helix: rows are those of the two directions across the curve, which differences of the value itself
  // must give at places of the curve; and J̇u along motions that stay on it.
  const double r = 0.5, pitch = 0.2;
  Scene scene = three_bodies();
  scene.add_constraint(
      {"a"}, [=](auto q, auto, auto s) { return q[0].point(tip) - MovingVec3(r * cos(s[0]), r * sin(s[0]), pitch * s[0]); },
      {.name = "helix", .parameters = {{.name = "s", .from = -20, .to = 20}}});
  Scene as_text = three_bodies();
  as_text.add(Constraint{.between = {"world", "a"},
                         .parameters = {{.name = "s", .from = -20, .to = 20}},
                         .equation = {"p.x - 0.5 * cos(s)", "p.y - 0.5 * sin(s)", "p.z - 0.2 * s"},
                         .points = {{"p", "a", tip}}});
  Probe probe(scene), text(as_text);
  ASSERT_EQ(probe.set.rows(), 2);
  Random random;
  const Vec3 arm_in_body = tip - Vec3(0.1, -0.05, 0.07);  // from the centre of mass
  for (int round = 0; round < 8; ++round) {
    State s = random.state(probe.model, probe.start());
    const double place = -3.1 + 0.9 * round;
    const Vec3 tangent(-r * std::sin(place), r * std::cos(place), pitch);
    const Vec3 arm = s.theta[0] * arm_in_body;
    s.p[0] = Vec3(r * std::cos(place), r * std::sin(place), pitch * place) - arm;
    s.v(0) = 0.7 * tangent - Vec3(s.omega(0)).cross(arm);
    const MatX J = probe.at(s);
    const RowValues here = probe.values;
    EXPECT_LT(here.C.norm(), 1e-12);
    EXPECT_LT((J * s.u).norm(), 1e-11);  // along the curve
    const MatX across = J.leftCols<3>();
    EXPECT_LT((across * across.transpose() - MatX::Identity(2, 2)).norm(), 1e-11);
    EXPECT_LT((across * tangent).norm(), 1e-11);
    constexpr double h = 1e-5;
    const auto moved = [&](const VecX& sigma) {
      State there = s;
      displace(s, sigma, there);
      return there;
    };
    for (Eigen::Index i = 0; i < s.u.size(); ++i) {
      const VecX e = VecX::Unit(s.u.size(), i);
      probe.at(moved(h * e));
      const VecX after = probe.values.C;
      probe.at(moved(-h * e));
      EXPECT_LT(((after - probe.values.C) / (2 * h) - J.col(i)).norm(), 1e-6);
    }
    const VecX after = probe.at(moved(h * s.u)) * s.u, before = probe.at(moved(-h * s.u)) * s.u;
    EXPECT_LT(((after - before) / (2 * h) - here.gamma).norm(), 1e-6 * (1 + here.gamma.norm()));
    expect_bends(probe, s, 0);
    expect_bends(text, s, 0);
  }
}

TEST(ConstraintFunctions, ParametersAreFoundFromFewPlacesAsFromAll) {
  // A wire bent as a trefoil that one body carries, with a point of another on it. Few places tell |F| at all of them where F is
  // a sum of products; cubed misfits added, which change nothing on the wire, it is none. After 20 s the wire has another shape,
  // which no trial before the run can know.
  const auto wire = [](const auto& s, double size) {
    return std::array{size * (sin(s) + 2.0 * sin(2.0 * s)), size * (cos(s) - 2.0 * cos(2.0 * s)), -size * sin(3.0 * s)};
  };
  const auto on_wire = [wire](auto q, auto t, auto s) {
    const auto at = wire(s[0], t.value > 20 ? 0.8 : 0.5);
    MovingVec3 e = q[1].point(tip) - q[0].point();
    for (int k = 0; k < 3; ++k) e = e - at[k] * q[0].direction(Vec3::Unit(k));
    return e;
  };
  const ConstraintParameter place{.name = "s", .from = 0, .to = 2 * std::numbers::pi, .periodic = true};
  Scene sums = three_bodies(), cubes = sums;
  sums.add_constraint({"a", "b"}, on_wire, {.parameters = {place}});
  cubes.add_constraint({"a", "b"},
                       [on_wire](auto q, auto t, auto s) {
                         const MovingVec3 e = on_wire(q, t, s);
                         return (1.0 + e.squared_norm()) * e;
                       },
                       {.parameters = {place}});
  Probe few(sums), all(cubes);
  const auto table = [](const Probe& probe) { return probe.model.joints.back().equations->table; };
  ASSERT_TRUE(table(few) != nullptr);
  EXPECT_LE(table(few)->at.size(), 4u);
  EXPECT_TRUE(table(all) == nullptr);
  Random random;
  for (const double t : {0.0, 30.0})
    for (int round = 0; round < 40; ++round) {
      State s = random.state(few.model, few.start());
      const auto at = wire(Moving(0.157 * round), t > 20 ? 0.8 : 0.5);
      const auto arm = [&](int body, const Vec3& r) { return Vec3(s.theta[body] * (r - few.model.bodies[body].center_of_mass)); };
      s.p[1] = s.p[0] + arm(0, Vec3::Zero()) + s.theta[0] * Vec3(at[0].value, at[1].value, at[2].value) - arm(1, tip);
      const MatX J = few.at(s, t), other = all.at(s, t);
      EXPECT_LT(few.values.C.norm(), 1e-12) << t << " " << round;
      expect_bends(few, s, t);
      // Across the wire there are many bases: what all of them have is J^T J.
      EXPECT_LT((J.transpose() * J - other.transpose() * other).norm(), 1e-9 * (J.transpose() * J).norm()) << t << " " << round;
    }
}

TEST(ConstraintFunctions, WhereACurveCrossesItselfTheMotionGoesOn) {
  // An eight, x = sin s, y = sin 2 s / 2, in zero gravity: the speed is kept, and every lobe is run through.
  Scene scene;
  scene.gravity = Vec3::Zero();
  scene.add({.name = "bead", .mass = 1, .position = Vec3(1, 0, 0), .velocity = Vec3(0, 1, 0)});
  scene.add_constraint(
      {"bead"}, [](auto q, auto, auto s) { return q[0].point() - MovingVec3(sin(s[0]), 0.5 * sin(2.0 * s[0]), Moving(0.0)); },
      {.parameters = {{.name = "s", .from = 0, .to = 2 * std::numbers::pi, .periodic = true}}});
  Recipe recipe = recipes::exact();
  World world(scene, recipe);
  double left = 0, right = 0, worst = 0;
  for (int i = 0; i < 800; ++i) {
    world.step(1e-2);
    left = std::min(left, world.position("bead").x());
    right = std::max(right, world.position("bead").x());
    worst = std::max(worst, std::abs(world.velocity("bead").norm() - 1));
  }
  EXPECT_LT(left, -0.999);
  EXPECT_GT(right, 0.999);
  EXPECT_LT(worst, 1e-6);
}

TEST(ConstraintFunctions, OfOneSideHoldByImpulsesAndByEvents) {
  // A ball dropped into the bowl z >= (x^2 + y^2) / 2 beside its middle bounces, and never passes below.
  const auto drop = [](const Recipe& recipe, double restitution) {
    Scene scene;
    scene.add({.name = "ball", .mass = 1, .position = Vec3(0, 0, 1)});
    scene.add_constraint({"ball"}, [](auto q, auto) { return q[0].z() - 0.5 * (q[0].x() * q[0].x() + q[0].y() * q[0].y()); },
                         {.name = "bowl", .at_least = 0, .restitution = restitution});
    return World(scene, recipe);
  };
  Recipe exact = recipes::exact();
  exact.dt = 1e-2;
  World world = drop(exact, 0.5);
  // Dropped from 1 m onto the lowest point, it comes back to a quarter of the height.
  const double fall = std::sqrt(2 / testing::g);
  double highest = 0, lowest = 1;
  for (int i = 0; i < 80; ++i) {
    world.step(1e-2);
    lowest = std::min(lowest, world.position("ball").z());
    if (world.time() > fall) highest = std::max(highest, world.position("ball").z());
  }
  EXPECT_GT(lowest, -1e-9);
  EXPECT_NEAR(highest, 0.25, 1e-3);

  World resting = drop(exact, 0.0);
  for (int i = 0; i < 100; ++i) resting.step(1e-2);
  EXPECT_NEAR(resting.position("ball").z(), 0, 1e-9);
  EXPECT_NEAR(resting.joint_force("bowl").force.z(), testing::g, 1e-6);

  World quick = drop(recipes::realtime(), 0.0);
  double deepest = 0;
  for (int i = 0; i < 120; ++i) {
    quick.step(1.0 / 60);
    deepest = std::min(deepest, quick.position("ball").z());
  }
  EXPECT_GT(deepest, -1e-6);
  EXPECT_NEAR(quick.position("ball").z(), 0, 1e-6);
}

TEST(ConstraintFunctions, WhatBeginsBeyondABoundIsDrawnBackToItAndSaidToBeOpen) {
  for (const char* integrator : {"rk4", "dormand_prince_8", "gauss6", "semi_implicit_euler"}) {
    SCOPED_TRACE(integrator);
    Scene scene;
    scene.gravity = Vec3(0, 0, -testing::g);
    scene.add({.name = "ball", .mass = 2, .position = Vec3(1, 0, 0), .shape = Sphere{0.1}, .contacts = false});
    scene.add_constraint({"ball"}, [](auto q, auto) { return q[0].x(); }, {.name = "wall", .at_least = 1.5});
    scene.add({.name = "flap", .mass = 1, .position = Vec3(0.5, 3, 0), .shape = Box{Vec3(1, 0.1, 0.1)}, .contacts = false});
    scene.add(Hinge{.name = "pin", .between = {"world", "flap"}, .at = Vec3(0, 3, 0), .drive = {.upper = -0.4}});
    const bool impulses = std::string(integrator) == "semi_implicit_euler";
    Recipe recipe = impulses ? recipes::balanced() : recipes::exact();
    if (!impulses) set(recipe, "integrator", integrator);
    World world(scene, recipe);
    EXPECT_NEAR(world.diagnostics().joint_error.position, 0.5, 1e-12);
    ASSERT_FALSE(world.warnings().empty());
    EXPECT_NE(world.warnings()[0].find("wall"), std::string::npos) << world.warnings()[0];
    for (int i = 0; i < 20; ++i) world.step(0.005);
    EXPECT_NEAR(world.position("ball").x(), 1.5, 1e-9);
    EXPECT_LT(world.velocity("ball").head<2>().norm(), 1e-9);
    if (!impulses) {  // which throw it back by a velocity
      EXPECT_NEAR(world.joint_position(world.joint("pin")), -0.4, 1e-9);
      EXPECT_LT(world.angular_velocity("flap").norm(), 1e-9);
    }
    EXPECT_LT(world.diagnostics().joint_error.position, 1e-9);
  }
}

TEST(ConstraintFunctions, AllocateNothingInAStep) {
  Scene scene;
  scene.add({.name = "bead", .mass = 1, .position = Vec3(0.5, 0, 0.125)});
  scene.add_constraint({"bead"}, [](auto q, auto) { return q[0].z() - 0.5 * (q[0].x() * q[0].x() + q[0].y() * q[0].y()); });
  Recipe recipe = recipes::exact();
  World world(scene, recipe);
  for (int i = 0; i < 5; ++i) world.step(1e-3);
  const std::int64_t before = testing::allocations();
  for (int i = 0; i < 20; ++i) world.step(1e-3);
  EXPECT_EQ(testing::allocations(), before);
}

TEST(ConstraintFunctions, RefuseWhatTheyCannotBe) {
  const auto message = [](auto function, Constraint how = {}) {
    Scene scene;
    scene.add({.name = "bead", .mass = 1, .position = Vec3(1, 0, 0)});
    scene.add_constraint({"bead"}, function, std::move(how));
    try {
      World(scene, recipes::exact());
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(message([](auto q, auto) { return q[0].velocity().squared_norm() - 1.0; }).find("not linear in velocities"),
            std::string::npos);
  EXPECT_NE(message([](auto q, auto) { return 1.0 / q[0].y(); }).find("finite"), std::string::npos);
  EXPECT_NE(message([](auto q, auto, auto s) { return q[0].x() - s[0]; }, {.parameters = {{"s", -1, 1}}}).find("take away"),
            std::string::npos);
  EXPECT_EQ(message([](auto q, auto) { return q[0].x() - 1.0; }), "");
  // What cancels is no constraint; what only stands still here (y^2 at y = 0) would hold nothing.
  EXPECT_NE(message([](auto q, auto) { return q[0].x() - q[0].x(); }).find("none of its bodies"), std::string::npos);
  EXPECT_NE(message([](auto q, auto) { return q[0].y() * q[0].y(); }).find("does not change to first order"), std::string::npos);
}

}  // namespace
}  // namespace rotule
