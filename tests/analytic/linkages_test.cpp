// Linkages and structures: kinematics in closed form, statics by hand, mobility by theory.
#include <gtest/gtest.h>
#include <rotule/analyse.h>
#include <rotule/world.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "linalg/decompositions.h"
#include "scenes/builders.h"
#include "support/runs.h"

namespace rotule {
namespace {

using std::numbers::pi;

/// The angle, from x towards z, by which a body has turned about -y since its start.
double turned(const World& world, std::string_view body, const Quat& start) {
  const Quat q = world.orientation(body) * start.conjugate();
  return -2 * std::atan2(q.y(), q.w());
}

int redundant_rows(const World& world) {
  int rows = 0;
  for (const Redundancy& r : world.redundancies()) rows += r.rows;
  return rows;
}

TEST(SliderCrank, PistonFollowsTheClosedForm) {
  const double r = 0.2, l = 0.5;
  World world(scenes::slider_crank());
  const Quat start = world.orientation("crank");
  double worst = 0, worst_velocity = 0, least = 10, most = 0;
  run_for(world, 2, [&] {
    const double t = pi / 4 + turned(world, "crank", start), reach = std::sqrt(l * l - std::pow(r * std::sin(t), 2));
    const double rate = -world.angular_velocity("crank").y();
    worst = std::max(worst, std::abs(world.position("piston").x() - (r * std::cos(t) + reach)));
    worst_velocity = std::max(worst_velocity, std::abs(world.velocity("piston").x() +
                                                       rate * (r * std::sin(t) + r * r * std::sin(t) * std::cos(t) / reach)));
    least = std::min(least, world.position("piston").x());
    most = std::max(most, world.position("piston").x());
  });
  EXPECT_LT(worst, 1e-12);
  EXPECT_LT(worst_velocity, 1e-10);
  EXPECT_NEAR(most - least, 2 * r, 1e-3);  // full turns
  EXPECT_EQ(redundant_rows(world), 3);
}

TEST(FourBar, ObeysFreudensteinsEquation) {
  // K1 cos(p) - K2 cos(t) + K3 = cos(t - p), K1 = d/a, K2 = d/c, K3 = (a^2 - b^2 + c^2 + d^2)/(2ac); t crank, p rocker.
  const double a = 0.3, b = 0.9, c = 0.7, d = 1;
  World world(scenes::four_bar());
  const Quat crank = world.orientation("crank"), rocker = world.orientation("rocker");
  const Vec3 pin = Vec3(std::cos(pi / 3), 0, std::sin(pi / 3)) * a;
  // Where the rocker starts: the triangle over the diagonal from crank pin to rocker pivot.
  const Vec3 diagonal = pin - Vec3(d, 0, 0);
  const double inner = std::acos((c * c + diagonal.squaredNorm() - b * b) / (2 * c * diagonal.norm()));
  const double p0 = std::atan2(diagonal.z(), diagonal.x()) - inner;
  const double energy = world.diagnostics().energy();
  double worst = 0, furthest = 0;
  run_for(world, 3, [&] {
    const double t = pi / 3 + turned(world, "crank", crank), p = p0 + turned(world, "rocker", rocker);
    worst = std::max(worst, std::abs(d / a * std::cos(p) - d / c * std::cos(t) + (a * a - b * b + c * c + d * d) / (2 * a * c) -
                                     std::cos(t - p)));
    furthest = std::max(furthest, world.position("crank").x());
  });
  EXPECT_LT(worst, 1e-11);
  EXPECT_NEAR(furthest, a / 2, 1e-3);  // the crank comes by the x axis
  EXPECT_NEAR(world.diagnostics().energy(), energy, 1e-6);
  EXPECT_EQ(redundant_rows(world), 3);
}

TEST(SixBarLoop, MovesWithOneDegreeOfFreedom) {
  World world(scenes::six_bar_loop());
  const double energy = world.diagnostics().energy();
  run_for(world, 2);
  EXPECT_EQ(redundant_rows(world), 6);  // 7 hinges x 5 = 35 rows, 5 bodies x 6 = 30 velocities, one of them free
  EXPECT_NEAR(world.diagnostics().energy(), energy, 1e-5);
  EXPECT_LT(world.diagnostics().joint_error.position, 1e-12);
}

TEST(Bricard, TurnsThoughItCountsAsRigid) {
  // 6 hinges x 5 rows for 5 moving bars x 6: none free by counting, one in truth, hence one redundant row.
  World world(scenes::bricard());
  const double energy = world.diagnostics().energy();
  double fastest = 0, worst = 0, asymmetry = 0;
  run_for(world, 2, [&] {
    fastest = std::max(fastest, world.diagnostics().kinetic_energy);
    worst = std::max(worst, world.diagnostics().joint_error.position);
    // Bars 3 and 5 see bar 1 as they see each other: the threefold symmetry keeps.
    const Vec3 a = world.position("bar_1"), b = world.position("bar_3"), c = world.position("bar_5");
    asymmetry = std::max({asymmetry, std::abs((a - b).norm() - (b - c).norm()), std::abs((a - b).norm() - (c - a).norm())});
  });
  EXPECT_GT(fastest, 10);
  EXPECT_LT(worst, 1e-10);
  EXPECT_LT(asymmetry, 1e-8);
  EXPECT_NEAR(world.diagnostics().energy(), energy, 1e-6);
  EXPECT_EQ(redundant_rows(world), 1);
}

/// Andrews' squeezing mechanism: seven bodies in a plane, a spring and a constant torque (data, and the solution that the test
/// below compares with: Hairer and Wanner, Solving Ordinary Differential Equations II, section VII.7, and the Test Set for IVP
/// Solvers). Angles are beta, Theta, gamma, Phi, delta, Omega, epsilon.
struct Squeezer {
  static constexpr double d = 0.028, da = 0.0115, e = 0.02, ea = 0.01421, rr = 0.007, ra = 0.00092, ss = 0.035, sa = 0.01874,
                          sb = 0.01043, sc = 0.018, sd = 0.02, ta = 0.02308, tb = 0.00916, u = 0.04, ua = 0.01228, ub = 0.00449,
                          zf = 0.02, zt = 0.04, fa = 0.01421;
  Vec3 A = Vec3(-0.06934, -0.00227, 0), B = Vec3(-0.03635, 0.03273, 0), C = Vec3(0.014, 0.072, 0);
  Vec3 crank, D, E, G, H;
  std::array<Vec3, 7> center;

  explicit Squeezer(const std::array<double, 7>& y) {
    const auto along = [](double angle) { return Vec3(std::cos(angle), std::sin(angle), 0); };
    const auto across = [](double angle) { return Vec3(std::sin(angle), -std::cos(angle), 0); };
    const auto [beta, Theta, gamma, Phi, delta, Omega, epsilon] = y;
    crank = rr * along(beta);
    E = crank - d * along(beta + Theta);
    D = B + sd * along(gamma) + sc * across(gamma);
    G = A + zt * along(delta);
    H = A + u * across(epsilon);
    center = {ra * along(beta),
              crank - da * along(beta + Theta),
              B + sa * across(gamma) + sb * along(gamma),
              G + (e - ea) * across(Phi + delta),
              A + ta * along(delta) + tb * across(delta),
              H + (zf - fa) * along(Omega + epsilon),
              A + ua * across(epsilon) + ub * along(epsilon)};
  }
};

TEST(AndrewsSqueezer, ArrivesWhereItsPublishedSolutionDoes) {
  const Squeezer start({-0.0617138900142764496, 0, 0.455279819163070380, 0.222668390165885885, 0.487364979543842550,
                        -0.222668390165885885, 1.23054744454982120});
  const Squeezer end({15.81077119629904, -15.75637105984298, 0.04082224013073101, -0.5347301163226948, 0.5244099658805304,
                      0.5347301163226948, 1.048080741042263});
  const std::array<double, 7> mass = {0.04325, 0.00365, 0.02373, 0.00706, 0.0705, 0.00706, 0.05498},
                              inertia = {2.194e-6, 4.41e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5};
  // As published, and elsewhere, ten times as large, lying across space: lengths by 10, the torque and the spring by 100 and 1.
  const Quat turned(0.3, -0.5, 0.7, 0.4);
  for (const bool elsewhere : {false, true}) {
    SCOPED_TRACE(elsewhere ? "elsewhere" : "as published");
    const double size = elsewhere ? 10 : 1;
    const Quat q = elsewhere ? turned.normalized() : Quat::Identity();
    const auto at = [&](const Vec3& p) { return Vec3(q * (size * p) + (elsewhere ? Vec3(1, -2, 3) : Vec3::Zero().eval())); };
    Scene scene;
    scene.gravity.setZero();
    const auto name = [](std::size_t k) { return "K" + std::to_string(k + 1); };
    for (std::size_t k = 0; k < mass.size(); ++k)
      scene.add({.name = name(k),
                 .mass = mass[k],
                 .inertia = Mat3(size * size * inertia[k] * Mat3::Identity()),
                 .position = at(start.center[k])});
    const auto pin = [&](const std::string& a, const std::string& b, const Vec3& p, Drive drive = {}) {
      scene.add(Hinge{.between = {a, b}, .at = at(p), .axis = q * Vec3::UnitZ(), .drive = std::move(drive)});
    };
    pin("world", "K1", Vec3::Zero(), {.motor_torque = size * size * 0.033});
    pin("K1", "K2", start.crank);
    pin("world", "K3", start.B);
    pin("world", "K5", start.A);
    pin("world", "K7", start.A);
    pin("K5", "K4", start.G);
    pin("K7", "K6", start.H);
    for (const char* other : {"K3", "K4", "K6"}) pin("K2", other, start.E);
    scene.add(Spring{
        .between = {"world", "K3"}, .from = at(start.C), .to = at(start.D), .stiffness = 4530, .rest_length = size * 0.07785});
    Recipe recipe = recipes::exact();
    recipe.dt = 1e-3;
    recipe.integrator = DormandPrince8Settings{};
    World world(scene, recipe);
    EXPECT_EQ(redundant_rows(world), 9);
    run_for(world, 0.03);
    for (std::size_t k = 0; k < mass.size(); ++k)
      EXPECT_LT((world.position(name(k)) - at(end.center[k])).norm(), 1e-10 * size) << name(k);
    EXPECT_LT((world.angular_velocity("K1") - q * Vec3(0, 0, 1139.920302151208)).norm(), 1e-6);
  }
}

/// Four hinges in space, links a and b by turns, twists alpha and beta: they move where a / sin alpha = b / sin beta, with
/// tan(theta_1 / 2) tan(theta_2 / 2) = sin((beta + alpha) / 2) / sin((beta - alpha) / 2).
struct Bennett {
  double alpha = 40 * pi / 180, beta = 75 * pi / 180, a = 1, b = a * std::sin(beta) / std::sin(alpha);
  double product = std::sin((beta + alpha) / 2) / std::sin((beta - alpha) / 2);
  double theta_1 = 110 * pi / 180, theta_2 = 2 * std::atan(product / std::tan(theta_1 / 2));

  [[nodiscard]] Scene scene() const {
    Scene scene;
    std::vector<Vec3> at, axis;
    Vec3 p = Vec3::Zero();
    Mat3 R = Mat3::Identity();
    for (int i = 0; i < 4; ++i) {
      at.push_back(p);
      axis.emplace_back(R.col(2));
      const double theta = i % 2 ? theta_2 : theta_1, sign = i < 2 ? 1 : -1;
      R = R * Eigen::AngleAxisd(sign * theta, Vec3::UnitZ());
      p += (i % 2 ? b : a) * R.col(0);
      R = R * Eigen::AngleAxisd(i % 2 ? beta : alpha, Vec3::UnitX());
    }
    EXPECT_LT(p.norm(), 1e-14);
    const std::array<std::string, 4> names = {"world", "one", "two", "three"};
    for (int i = 1; i < 4; ++i)
      scene.add({.name = names[i],
                 .mass = 1,
                 .inertia = Mat3(Vec3(0.1, 0.12, 0.09).asDiagonal()),
                 .position = 0.5 * (at[i] + at[(i + 1) % 4])});
    for (int i = 0; i < 4; ++i)
      scene.add(
          Hinge{.name = "hinge" + std::to_string(i), .between = {names[(i + 3) % 4], names[i]}, .at = at[i], .axis = axis[i]});
    return scene;
  }
};

TEST(Bennett, TurnsAsItsLinksAndTwistsSay) {
  const Bennett linkage;
  World world(linkage.scene(), recipes::exact());
  EXPECT_EQ(redundant_rows(world), 3);  // 20 rows for 18 motions, of which one is left
  const double energy = world.diagnostics().energy();
  double worst = 0, off = 0, widest = 0;
  run_for(world, 1, [&] {
    worst = std::max(worst, world.diagnostics().joint_error.position);
    // theta is the turn of a link against the one before it.
    const double turn_1 = world.joint_position(world.joint("hinge0")), turn_2 = world.joint_position(world.joint("hinge1"));
    const double now = std::tan((linkage.theta_1 + turn_1) / 2) * std::tan((linkage.theta_2 + turn_2) / 2);
    off = std::max(off, std::abs(now / linkage.product - 1));
    widest = std::max(widest, std::abs(turn_1));
  });
  EXPECT_GT(widest, 0.3);
  EXPECT_LT(worst, 1e-10);
  EXPECT_LT(off, 1e-7);
  EXPECT_NEAR(world.diagnostics().energy(), energy, 1e-8);

  // RATTLE too, which has to drop the same three equations.
  for (const char* method : {"rattle", "rattle4", "rattle6"}) {
    Recipe recipe = recipes::exact();
    set(recipe, "integrator", method);
    World other(linkage.scene(), recipe);
    double fastest = 0;
    worst = off = 0;
    run_for(other, 3, [&] {
      worst = std::max(worst, other.diagnostics().joint_error.position);
      fastest = std::max(fastest, other.diagnostics().kinetic_energy);
      const double turn_1 = other.joint_position(other.joint("hinge0")), turn_2 = other.joint_position(other.joint("hinge1"));
      const double now = std::tan((linkage.theta_1 + turn_1) / 2) * std::tan((linkage.theta_2 + turn_2) / 2);
      off = std::max(off, std::abs(now / linkage.product - 1));
    });
    EXPECT_LT(worst, 1e-10) << method;
    EXPECT_LT(off, 1e-7) << method;
    EXPECT_NEAR(other.diagnostics().energy(), energy, 1e-7 * fastest) << method;
  }
}

/// Two legs of three parallel hinges each, at right angles: 30 rows for 30 motions, and yet the platform falls, straight.
Scene sarrus() {
  Scene scene;
  scene.add({.name = "platform", .mass = 1, .inertia = Mat3(Vec3(0.1, 0.1, 0.1).asDiagonal()), .position = Vec3(0, 0, 1.2)});
  for (const bool along_x : {true, false}) {
    const std::string name = along_x ? "x" : "y";
    const Vec3 out = along_x ? Vec3(1, 0, 0) : Vec3(0, 1, 0), axis = along_x ? Vec3(0, 1, 0) : Vec3(1, 0, 0);
    const std::array<Vec3, 3> at = {0.5 * out, 1.1 * out + Vec3(0, 0, 0.6), 0.5 * out + Vec3(0, 0, 1.2)};
    const std::array<std::string, 4> parts = {"world", name + "0", name + "1", "platform"};
    for (int k = 0; k < 2; ++k)
      scene.add({.name = parts[k + 1],
                 .mass = 1,
                 .inertia = Mat3(Vec3(0.1, 0.1, 0.1).asDiagonal()),
                 .position = 0.5 * (at[k] + at[k + 1])});
    for (int k = 0; k < 3; ++k)
      scene.add(
          Hinge{.name = name + "_hinge" + std::to_string(k), .between = {parts[k], parts[k + 1]}, .at = at[k], .axis = axis});
  }
  return scene;
}

TEST(Sarrus, RisesStraight) {
  World world(sarrus(), recipes::exact());
  EXPECT_EQ(redundant_rows(world), 1);
  const double energy = world.diagnostics().energy();
  double aside = 0, tilt = 0;
  run_for(world, 0.2, [&] {
    aside = std::max(aside, world.position("platform").head<2>().norm());
    tilt = std::max(tilt, world.orientation("platform").vec().norm());
  });
  EXPECT_LT(world.position("platform").z(), 1.15);
  EXPECT_LT(aside, 1e-11);
  EXPECT_LT(tilt, 1e-11);
  EXPECT_NEAR(world.diagnostics().energy(), energy, 1e-9);
}

/// The rows that the doctor calls redundant, joint by joint, are as many as a full decomposition of J finds, and all that follows
/// from other rows is in the joints it names: null vectors z, z^T J = 0, restricted to the rows of those joints, stay
/// independent.
void expect_examined(const Scene& scene, int nominal, const std::vector<std::pair<std::string, int>>& named) {
  const Checkup checkup = examine(scene);
  const int movable = 6 * (checkup.bodies - checkup.fixed);
  EXPECT_EQ(movable - checkup.rows, nominal);
  EXPECT_EQ(checkup.degrees_of_freedom, 1);
  std::vector<std::pair<std::string, int>> found;
  int redundant = 0;
  for (const Redundancy& r : checkup.redundant) {
    found.emplace_back(r.joint, r.rows);
    redundant += r.rows;
  }
  EXPECT_EQ(found, named);
  EXPECT_TRUE(checkup.conflicts.empty());

  const World world(scene, recipes::exact());
  const MatX J = linearise(world).J;
  ASSERT_EQ(J.rows(), checkup.rows);
  const SymmetricEigen squares = symmetric_eigen(MatX(J * J.transpose()));
  const Eigen::Index dependent = (squares.values.array() < 1e-12 * squares.values.maxCoeff()).count();
  EXPECT_EQ(checkup.rank, J.rows() - dependent);
  EXPECT_EQ(redundant, dependent);
  const MatX null = squares.vectors.leftCols(dependent);
  MatX of_named(0, null.cols());
  for (const auto& of : named) {
    const auto number = std::find_if(scene.joints.begin(), scene.joints.end(),
                                     [&](const JointDef& j) { return std::get<Hinge>(j).name == of.first; }) -
                        scene.joints.begin();
    MatX more(of_named.rows() + 5, null.cols());
    more << of_named, null.middleRows(5 * number, 5);  // all are hinges
    of_named = more;
  }
  EXPECT_GT(symmetric_eigen(MatX(of_named.transpose() * of_named)).values[0], 1e-6);
}

TEST(Doctor, NamesTheRowsThatOverconstrainedLinkagesHaveTooMany) {
  expect_examined(Bennett().scene(), -2, {{"hinge2", 1}, {"hinge3", 2}});
  expect_examined(scenes::bricard(), 0, {{"hinge_4", 1}});
  expect_examined(sarrus(), 0, {{"x_hinge2", 1}});
}

/// A crank about z and a rocker about x, joined by a coupler with a ball at each end, the crank driven.
struct Rssr {
  static constexpr double d = 0.6, h = 0.5, crank = 0.2, rocker = 0.5, start = 0.5, speed = 3;

  static Vec3 pin(double theta) { return crank * Vec3(std::cos(theta), std::sin(theta), 0); }
  static Vec3 end(double phi) { return {d, rocker * std::cos(phi), h + rocker * std::sin(phi)}; }
  /// |pin - end|^2 = 0.9 is K + a cos(phi) + b sin(phi) = 0, which two angles solve.
  static double rocker_angle(double theta, double branch) {
    const Vec3 A = pin(theta);
    const double K = (A.x() - d) * (A.x() - d) + A.y() * A.y() + rocker * rocker + h * h - 0.9;
    const double a = -2 * A.y() * rocker, b = 2 * h * rocker;
    return std::atan2(b, a) + branch * std::acos(-K / std::hypot(a, b));
  }
  static Scene scene(double branch) {
    const Vec3 A = pin(start), B = end(rocker_angle(start, branch));
    const auto bar = [](const char* name, const Vec3& from, const Vec3& to) {
      return BodyDef{.name = name, .mass = 1, .inertia = Mat3(0.02 * Mat3::Identity()), .position = 0.5 * (from + to)};
    };
    Scene out;
    out.add(bar("crank", Vec3::Zero(), A));
    out.add(bar("coupler", A, B));
    out.add(bar("rocker", Vec3(d, 0, h), B));
    out.add(Hinge{.name = "in", .between = {"world", "crank"}, .drive = {.motion = GivenMotion{.speed = speed}}});
    out.add(Ball{.between = {"crank", "coupler"}, .at = A});
    out.add(Ball{.between = {"coupler", "rocker"}, .at = B});
    out.add(Hinge{.between = {"world", "rocker"}, .at = {d, 0, h}, .axis = {1, 0, 0}});
    return out;
  }
};

TEST(Rssr, FollowsItsClosedForm) {
  for (const double branch : {1.0, -1.0}) {
    Recipe recipe = recipes::exact();
    recipe.integrator = DormandPrince8Settings{};
    World world(Rssr::scene(branch), recipe);
    double worst = 0;
    for (int i = 1; i <= 210; ++i) {
      world.step(1e-2);
      const double phi = Rssr::rocker_angle(Rssr::start + Rssr::speed * 1e-2 * i, branch);
      worst = std::max(worst, (world.position("rocker") - 0.5 * (Rssr::end(phi) + Vec3(Rssr::d, 0, Rssr::h))).norm());
    }
    EXPECT_LT(worst, 1e-12) << branch;  // one full turn of the crank
  }
  EXPECT_EQ(examine(Rssr::scene(1)).degrees_of_freedom, 2);  // the coupler may turn about itself
}

/// Peaucellier and Lipkin's cell: two long arms about the origin, a rhombus between their ends, and a crank through the origin.
struct Peaucellier {
  static constexpr double arm = 0.9, side = 0.4, crank = 0.4;
  Vec3 inner, upper, lower, outer;

  explicit Peaucellier(double theta) : inner(crank * Vec3(1 + std::cos(theta), std::sin(theta), 0)) {
    const double r = inner.norm(), open = std::acos((arm * arm + r * r - side * side) / (2 * arm * r));
    const double middle = std::atan2(inner.y(), inner.x());
    upper = arm * Vec3(std::cos(middle + open), std::sin(middle + open), 0);
    lower = arm * Vec3(std::cos(middle - open), std::sin(middle - open), 0);
    outer = (arm * arm - side * side) / (r * r) * inner;
  }
  [[nodiscard]] Scene scene(const GivenMotion& motion) const {
    Scene out;
    const Vec3 origin = Vec3::Zero(), pivot(crank, 0, 0);
    const auto bar = [&](const char* name, const Vec3& from, const Vec3& to) {
      out.add({.name = name,
               .mass = 1,
               .inertia = Mat3(0.02 * Mat3::Identity()),
               .position = 0.5 * (from + to),
               .shape = Sphere{0.01}});
    };
    bar("crank", pivot, inner);
    bar("upper arm", origin, upper);
    bar("lower arm", origin, lower);
    bar("upper in", upper, inner);
    bar("lower in", lower, inner);
    bar("upper out", upper, outer);
    bar("lower out", lower, outer);
    const auto pin = [&](const char* a, const char* b, const Vec3& at, const Drive& drive = {}) {
      out.add(Hinge{.name = std::string(a) + " on " + b, .between = {a, b}, .at = at, .drive = drive});
    };
    pin("world", "crank", pivot, {.motion = motion});
    pin("world", "upper arm", origin);
    pin("world", "lower arm", origin);
    pin("upper arm", "upper in", upper);
    pin("upper arm", "upper out", upper);
    pin("lower arm", "lower in", lower);
    pin("lower arm", "lower out", lower);
    pin("crank", "upper in", inner);
    pin("crank", "lower in", inner);
    pin("upper out", "lower out", outer);
    return out;
  }
};

TEST(Peaucellier, DrawsAStraightLine) {
  const Scene scene = Peaucellier(0.8).scene({.amplitude = 0.7, .frequency = 2});
  const Checkup checkup = examine(scene);
  EXPECT_EQ(checkup.degrees_of_freedom, 1);
  EXPECT_EQ(6 * checkup.bodies - checkup.rows, -8);
  Recipe recipe = recipes::exact();
  recipe.integrator = DormandPrince8Settings{};
  World world(scene, recipe);
  double off_line = 0, off_place = 0;
  for (int i = 1; i <= 300; ++i) {
    world.step(1e-2);
    const Peaucellier now(0.8 + 0.7 * std::sin(0.02 * i));
    const Vec3 arm = 0.5 * (Peaucellier(0.8).outer - Peaucellier(0.8).upper);
    const Vec3 tip = world.position("upper out") + world.orientation("upper out") * arm;
    off_line = std::max(off_line, std::abs(tip.x() - (0.9 * 0.9 - 0.4 * 0.4) / 0.8));
    off_place = std::max(off_place, (tip - now.outer).norm());
  }
  EXPECT_LT(off_line, 1e-12);
  EXPECT_LT(off_place, 1e-12);
}

std::string remark_of(const Scene& scene, std::string_view kind) {
  for (const Remark& remark : examine(scene).remarks)
    if (remark.kind == kind) return remark.text;
  return {};
}

TEST(Doctor, NamesMotionsThatAMechanismCannotFollowAtOnce) {
  const auto driven = [](double crank, double rocker) {
    Scene out = scenes::four_bar();
    for (JointDef& joint : out.joints) {
      auto& hinge = std::get<Hinge>(joint);
      if (hinge.name == "crank_pivot" && crank != 0) hinge.drive.motion = GivenMotion{.speed = crank};
      if (hinge.name == "rocker_pivot" && rocker != 0) hinge.drive.motion = GivenMotion{.speed = rocker};
    }
    return out;
  };
  EXPECT_EQ(remark_of(driven(-3, 0), "motions_in_conflict"), "");
  const std::string both = remark_of(driven(-3, -3), "motions_in_conflict");
  for (const char* word : {"\"crank_pivot\"", "\"rocker_pivot\"", "are 2", "follow 1"})
    EXPECT_NE(both.find(word), std::string::npos) << both;

  // Equations of the time are motions too; two that agree are one too many.
  const auto wheel = [](double hinge, const char* text) {
    Scene out;
    out.add({.name = "wheel", .mass = 1, .shape = Box{}});
    out.add(Hinge{.name = "axle", .between = {"world", "wheel"}, .drive = {.motion = GivenMotion{.speed = hinge}}});
    out.add(Constraint{.name = "lead", .between = {"world", "wheel"}, .equation = text});
    return out;
  };
  EXPECT_NE(remark_of(wheel(2, "wrap(wheel.angle_z - 3*t)"), "motions_in_conflict"), "");
  EXPECT_NE(remark_of(wheel(2, "wrap(wheel.angle_z - 2*t)"), "motions_too_many"), "");
}

TEST(BridgeTruss, StandsStillOnReactionsOfStatics) {
  const Scene scene = scenes::bridge_truss();
  World world(scene);
  double weight = 0;
  Vec3 moment = Vec3::Zero();  // of the weights about the origin, below the middle
  for (const BodyId body : world.bodies()) {
    weight += 9.81 * world.mass(body);
    moment += world.center_of_mass(body).cross(Vec3(0, 0, -9.81 * world.mass(body)));
  }
  const Vec3 before = world.position("weight");
  run_for(world, 0.05);
  EXPECT_LT((world.position("weight") - before).norm(), 1e-12);
  EXPECT_LT(world.diagnostics().kinetic_energy, 1e-20);

  // Supports pinned more than enough share their pushes in many ways, but their sum and their moment are what the weights ask
  // for.
  Vec3 sum = Vec3::Zero();
  for (const char* node : {"bottom0l", "bottom0r", "bottom4l", "bottom4r"}) {
    const JointForce force = world.joint_force(std::string("support_") + node);
    const Vec3 at((node[6] == '0' ? -4 : 4), (node[7] == 'l' ? 1 : -1), 0);
    sum += force.force;
    moment += at.cross(force.force);
  }
  EXPECT_NEAR(sum.z(), weight, 1e-8 * weight);
  EXPECT_LT(sum.head<2>().norm(), 1e-8 * weight);
  EXPECT_LT(moment.norm(), 1e-8 * weight);

  // The hook carries the hung weight, whatever the bars do.
  EXPECT_NEAR(world.joint_force("hook").force.z(), 2000 * 9.81, 1e-8 * weight);

  // 36 nodal freedoms against 45 bars that span them, and two bars between pinned nodes: 11 rows too many.
  EXPECT_EQ(redundant_rows(world), 11);
}

}  // namespace
}  // namespace rotule
