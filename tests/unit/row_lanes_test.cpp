// Kernels of rows in lanes of floats against the same kernels in doubles, at random poses: every kind of joint that has them,
// axes of drives and contacts. What differs is rounding.
#include <gtest/gtest.h>
#include <rotule/world.h>

#include <random>

#include "constraint/constraint_set.h"
#include "constraint/pool/contact.h"
#include "constraint/pool/drive.h"
#include "world/world_implementation.h"

namespace rotule {
namespace {

constexpr int lanes = FloatLanes::count;
/// Of floats, in sums of a few dozen products of numbers of the order of 1.
constexpr double float_tolerance = 1e-5;

class RowLanes : public ::testing::Test {
 protected:
  Vec3 vector() { return {normal_(random_), normal_(random_), normal_(random_)}; }
  Quat turn() { return Quat(normal_(random_), normal_(random_), normal_(random_), normal_(random_)).normalized(); }
  BodyLanes<double> body() {
    BodyLanes<double> out;
    out.p = vector();
    out.R = turn().toRotationMatrix();
    out.v = vector();
    out.omega = vector();
    return out;
  }

  std::mt19937 random_{5};
  std::normal_distribution<double> normal_;
};

double lane(const FloatLanes& x, int i) { return static_cast<double>(x.v[i]); }

template <int rows, int columns>
Eigen::Matrix<FloatLanes, rows, columns> in_lanes(const std::array<Eigen::Matrix<double, rows, columns>, lanes>& from) {
  Eigen::Matrix<FloatLanes, rows, columns> out;
  for (int k = 0; k < rows * columns; ++k)
    for (int i = 0; i < lanes; ++i) out(k).v[i] = static_cast<float>(from[i](k));
  return out;
}

BodyLanes<FloatLanes> in_lanes(const std::array<BodyLanes<double>, lanes>& from) {
  const auto part = [&](auto member) {
    std::array<std::decay_t<decltype(from[0].*member)>, lanes> parts;
    for (int i = 0; i < lanes; ++i) parts[i] = from[i].*member;
    return in_lanes(parts);
  };
  BodyLanes<FloatLanes> out;
  out.p = part(&BodyLanes<double>::p);
  out.R = part(&BodyLanes<double>::R);
  out.v = part(&BodyLanes<double>::v);
  out.omega = part(&BodyLanes<double>::omega);
  return out;
}

/// All numbers of the rows that a kernel writes, one after the other.
template <class L>
struct Listed {
  std::vector<L> numbers;
  void add(const Vec3L<L>& v) { numbers.insert(numbers.end(), {v[0], v[1], v[2]}); }
  void operator()(const Row<L>& row) {
    numbers.insert(numbers.end(), {row.C, row.gamma, row.C_t});
    for (const Vec3L<L>* v : {&row.linear_a, &row.angular_a, &row.linear_b, &row.angular_b}) add(*v);
  }
  template <std::size_t count>
  void operator()(const Row<L>& row, const std::array<RowSide<L>, count>& further) {
    (*this)(row);
    for (const RowSide<L>& side : further) add(side.linear), add(side.angular);
  }
};

void expect_lane(const std::vector<FloatLanes>& floats, int i, const std::vector<double>& doubles) {
  ASSERT_EQ(floats.size(), doubles.size());
  double size = 1;
  for (const double x : doubles) size = std::max(size, std::abs(x));
  for (std::size_t k = 0; k < doubles.size(); ++k)
    EXPECT_NEAR(lane(floats[k], i), doubles[k], float_tolerance * size) << "number " << k << " of lane " << i;
}

/// Four joints of each shape between four times three bodies.
Scene scene_of(const std::function<JointDef(const Between&, const std::string&)>& make, std::mt19937& random) {
  Scene scene;
  std::normal_distribution<double> normal;
  const auto vector = [&] { return Vec3(normal(random), normal(random), normal(random)); };
  for (int i = 0; i < lanes; ++i) {
    for (const char* name : {"a", "b", "c"})
      scene.add({.name = name + std::to_string(i), .mass = 1.0, .position = vector(), .shape = Box{}});
    scene.add(make({"a" + std::to_string(i), "b" + std::to_string(i)}, "c" + std::to_string(i)));
  }
  return scene;
}

TEST_F(RowLanes, OfJointsAreThoseOfDoubles) {
  const Vec3 at(0.4, -0.3, 0.7), axis = Vec3(1, -2, 0.5).normalized(), across = axis.unitOrthogonal();
  using Make = std::function<JointDef(const Between&, const std::string&)>;
  const std::vector<Make> kinds = {
      [&](const Between& between, const std::string&) { return Ball{.between = between, .at = at}; },
      [&](const Between& between, const std::string&) { return Hinge{.between = between, .at = at, .axis = axis}; },
      [&](const Between& between, const std::string&) { return Slider{.between = between, .at = at, .axis = axis}; },
      [&](const Between& between, const std::string&) { return Cylindrical{.between = between, .at = at, .axis = axis}; },
      [&](const Between& between, const std::string&) {
        return Universal{.between = between, .at = at, .axis_a = axis, .axis_b = across};
      },
      [&](const Between& between, const std::string&) { return Planar{.between = between, .at = at, .normal = axis}; },
      [&](const Between& between, const std::string&) { return Weld{.between = between, .at = at}; },
      [&](const Between& between, const std::string&) { return PointOnLine{.between = between, .at = at, .axis = axis}; },
      [&](const Between& between, const std::string&) {
        return LockedAxes{.between = between, .at = at, .locked = {false, true, false, true, false, true}};
      },
      [&](const Between& between, const std::string&) { return Rod{.between = between, .from = at, .to = at + across}; },
      [&](const Between& between, const std::string& carrier) {
        return Gear{.between = between, .carrier = carrier, .axis_a = axis, .axis_b = axis, .teeth_a = 3, .teeth_b = 2};
      },
  };
  int walked = 0;
  for (const Make& make : kinds) {
    const World world(scene_of(make, random_));
    const Model& model = implementation_of(world).model;
    SCOPED_TRACE(model.joints.front().name);
    with_pool_of(model.joints.front(), [&]<class P>(std::type_identity<P>) {
      P pool;
      for (int j = 0; j < lanes; ++j) pool.add(model, j);
      ASSERT_TRUE(P::in_lanes);
      for (std::size_t j = 1; j < lanes; ++j) ASSERT_TRUE(pool.same_shape(0, j));
      for (int round = 0; round < 20; ++round) {
        std::array<std::array<BodyLanes<double>, lanes>, P::partners> bodies;
        for (auto& partner : bodies)
          for (auto& one : partner) one = body();
        std::array<BodyLanes<FloatLanes>, P::partners> float_bodies;
        Partners<FloatLanes, P::partners> partners;
        for (std::size_t k = 0; k < bodies.size(); ++k) {
          float_bodies[k] = in_lanes(bodies[k]);
          partners[k] = &float_bodies[k];
        }
        Listed<FloatLanes> floats;
        if constexpr (P::in_lanes) pool.template rows<FloatLanes>(partners, {0, 1, 2, 3}, 0.0, floats);
        for (std::size_t i = 0; i < lanes; ++i) {
          Partners<double, P::partners> own;
          for (std::size_t k = 0; k < bodies.size(); ++k) own[k] = &bodies[k][i];
          Listed<double> doubles;
          pool.template rows<double>(own, {i}, 0.0, doubles);
          // Where two points of a rod nearly meet, or a wheel leans far out of its axis, floats are no test.
          const double most = P::partners > 2 ? 10 : 100;
          if (std::any_of(doubles.numbers.begin(), doubles.numbers.end(), [&](double x) { return std::abs(x) > most; })) continue;
          expect_lane(floats.numbers, static_cast<int>(i), doubles.numbers);
          ++walked;
        }
      }
    });
  }
  EXPECT_GT(walked, 700);
}

TEST_F(RowLanes, OfDrivesAreThoseOfDoubles) {
  for (int round = 0; round < 20; ++round) {
    std::array<BodyLanes<double>, lanes> a, b;
    std::array<Vec3, lanes> r_a, r_b;
    std::array<Mat3, lanes> frame_a, frame_b;
    for (int i = 0; i < lanes; ++i) {
      a[i] = body(), b[i] = body();
      r_a[i] = vector(), r_b[i] = vector();
      frame_a[i] = turn().toRotationMatrix(), frame_b[i] = turn().toRotationMatrix();
    }
    const auto compare = [](const DriveAxis<FloatLanes>& floats, int i, const DriveAxis<double>& doubles) {
      EXPECT_NEAR(lane(floats.q, i), doubles.q, 10 * float_tolerance);
      for (const auto& [p, q] :
           {std::pair(&floats.linear_a, &doubles.linear_a), std::pair(&floats.angular_a, &doubles.angular_a),
            std::pair(&floats.linear_b, &doubles.linear_b), std::pair(&floats.angular_b, &doubles.angular_b)})
        for (int k = 0; k < 3; ++k) EXPECT_NEAR(lane((*p)[k], i), (*q)[k], 10 * float_tolerance);
    };
    for (int k = 0; k < 3; ++k)
      for (const bool second : {false, true}) {
        const auto floats = turning_axis<FloatLanes>(k, second, in_lanes(frame_a), in_lanes(frame_b));
        for (int i = 0; i < lanes; ++i) compare(floats, i, turning_axis<double>(k, second, frame_a[i], frame_b[i]));
      }
    const auto floats =
        sliding_axis<FloatLanes>(in_lanes(frame_a).col(1), in_lanes(a), in_lanes(b), in_lanes(r_a), in_lanes(r_b));
    for (int i = 0; i < lanes; ++i) compare(floats, i, sliding_axis<double>(frame_a[i].col(1), a[i], b[i], r_a[i], r_b[i]));
  }
}

TEST_F(RowLanes, OfContactsAreThoseOfDoubles) {
  for (int round = 0; round < 20; ++round) {
    std::array<BodyLanes<double>, lanes> a, b;
    std::array<Vec3, lanes> on_a, on_b, normal;
    for (int i = 0; i < lanes; ++i) {
      a[i] = body(), b[i] = body();
      on_a[i] = vector(), on_b[i] = vector(), normal[i] = vector().normalized();
    }
    const auto kernel = []<class L>(const BodyLanes<L>& A, const BodyLanes<L>& B, const Vec3L<L>& p, const Vec3L<L>& q,
                                    const Vec3L<L>& n) {
      Listed<L> out;
      const Vec3L<L> point = touching_point<L>(A, B, p, q);
      out.numbers.push_back(gap_along<L>(n, A, B, p, q));
      for (const RowSide<L>& side : {velocity_along<L>(n, point - A.p, L(-1)), velocity_along<L>(n, point - B.p, L(1)),
                                     turn_about<L>(n, L(-1)), turn_about<L>(n, L(1))})
        out.add(side.linear), out.add(side.angular);
      return out.numbers;
    };
    const auto floats = kernel(in_lanes(a), in_lanes(b), in_lanes(on_a), in_lanes(on_b), in_lanes(normal));
    for (int i = 0; i < lanes; ++i) expect_lane(floats, i, kernel(a[i], b[i], on_a[i], on_b[i], normal[i]));
  }
}

TEST(Pools, GiveTheirNumbersAway) {
  // Bodies 0, 1, 2 become 2, 0, 1 and joints 0, 1 become 1, 0: rows read other bodies, blocks name other joints.
  Scene scene;
  for (const char* name : {"a", "b", "c"}) scene.add({.name = name, .mass = 1.0, .shape = Box{}});
  scene.add(Ball{.name = "ball", .between = {"a", "b"}});
  scene.add(Gear{.name = "gear", .between = {"a", "b"}, .carrier = "c"});
  const World world(scene);
  const Model& model = implementation_of(world).model;
  const std::vector<int> joints{0, 1}, local{0, 1, 2}, to_body{2, 0, 1}, to_joint{1, 0};
  ConstraintSet set(model, joints, local);
  set.renumber(to_body, to_joint);
  EXPECT_EQ(set.bodies_of(0), std::pair(2, 0));
  EXPECT_EQ(set.bodies_of(1), std::pair(2, 0));
  EXPECT_EQ(set.blocks()[0].source, 1);
  EXPECT_EQ(set.blocks()[1].source, 0);

  // A gear between a and b on c, all turned by different angles: after renumbering it reads c, a, b.
  State s = implementation_of(world).state;
  const std::vector<double> angles{0.1, 0.2, 0.4};
  for (int i = 0; i < 3; ++i) s.theta[i] = Quat(Eigen::AngleAxisd(angles[i], Vec3::UnitZ()));
  Kinematics kinematics;
  kinematics.update(model, s);
  ConstraintProblem problem;
  problem.blocks = set.blocks();
  problem.more = set.more();
  problem.J_more.setZero(set.more_rows(), 6);
  problem.resize(3, set.rows());
  RowValues values;
  values.resize(set.rows());
  set.evaluate(kinematics, 0, problem, values);
  EXPECT_NEAR(values.C[3], (angles[2] - angles[1]) + (angles[0] - angles[1]), 1e-15);
}

}  // namespace
}  // namespace rotule
