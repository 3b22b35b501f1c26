// Queries against brute force and against the definition: rays, casts, overlaps, closest points; and nothing tunnels.
#include <gtest/gtest.h>
#include <rotule/error.h>

#include <thread>

#include "collide/collision_world.h"
#include "collide/oracle.h"
#include "math/rotation.h"

namespace rotule {
namespace {

using oracle::Placed;
using oracle::uniform;

std::vector<Shape> shapes() {
  std::mt19937 random(11);
  ConvexHull hull;
  for (int i = 0; i < 20; ++i) hull.points.push_back(oracle::random_direction(random) * uniform(random, 0.5, 1));
  return {Sphere{0.7}, Capsule{0.4, 1.2}, Box{{1, 1.5, 0.6}}, Cylinder{0.6, 1.1}, Cone{0.7, 1.4}, Ellipsoid{{0.9, 0.5, 0.3}},
          hull};
}

TEST(Ray, HitsTheSurfaceAndNothingBefore) {
  std::mt19937 random(1);
  for (const Shape& shape : shapes()) {
    SCOPED_TRACE(shape.index());
    const CollisionShape body(shape);
    int hits = 0;
    for (int i = 0; i < 2000; ++i) {
      const Placed placed{shape, {3 * oracle::random_direction(random), oracle::random_orientation(random)}};
      const Vec3 origin = placed.pose.position + uniform(random, 0, 4) * oracle::random_direction(random);
      const Vec3 direction = (placed.pose.position + 0.8 * oracle::random_direction(random) - origin) * uniform(random, 0.1, 3);
      RayHit hit;
      const bool found = ray_part(body.parts()[0], Frame(placed.pose), origin, direction, 2, hit);
      const double end = found ? hit.t : 2;
      for (int k = 0; k < 100; ++k)
        ASSERT_GT(oracle::height_above(placed, origin + (end * k / 100) * direction), found && hit.t == 0 ? -2 : -1e-9) << i;
      if (!found) continue;
      ++hits;
      ASSERT_NEAR(hit.normal.norm(), 1, 1e-9);
      ASSERT_LE(hit.normal.dot(direction), 1e-9);
      if (hit.t == 0) {
        ASSERT_LE(oracle::height_above(placed, origin), 1e-9);
        continue;
      }
      const Vec3 at = origin + hit.t * direction;
      ASSERT_NEAR(oracle::height_above(placed, at), 0, 1e-9) << i;
      // The normal is that of the surface: the shape lies below the plane through the hit.
      ASSERT_NEAR(oracle::reach_along(placed, hit.normal) - hit.normal.dot(at), 0, 1e-7) << i;
    }
    EXPECT_GT(hits, 500);
  }
}

TEST(Cast, EndsWhereTheShapesTouch) {
  std::mt19937 random(2);
  const std::vector<Shape> all = shapes();
  constexpr double tolerance = 1e-6;
  int hits = 0;
  for (int i = 0; i < 1500; ++i) {
    const Placed a{all[random() % all.size()], {4 * oracle::random_direction(random), oracle::random_orientation(random)}};
    const Placed b{all[random() % all.size()], {Vec3::Zero(), oracle::random_orientation(random)}};
    const SteadyMotion motion_a{Frame(a.pose), -a.pose.position * 1.5 + oracle::random_direction(random),
                                i % 2 ? Vec3(2 * oracle::random_direction(random)) : Vec3::Zero()};
    const SteadyMotion motion_b{Frame(b.pose), 0.5 * oracle::random_direction(random),
                                i % 2 ? Vec3(oracle::random_direction(random)) : Vec3::Zero()};
    const CollisionShape shape_a(a.shape), shape_b(b.shape);
    const CastHit hit = cast(shape_a, motion_a, shape_b, motion_b, {1, tolerance});
    const auto gap_at = [&](double t) {
      PairMemory memory;
      CollideScratch scratch;
      std::vector<Manifold> out;
      collide(shape_a, motion_a.at(t), shape_b, motion_b.at(t), 100, memory, scratch, out);
      return out.at(0).gap();
    };
    const double end = hit.hit ? hit.t : 1;
    for (int k = 0; k < 30; ++k) ASSERT_GT(gap_at(end * k / 30), 0) << i;
    if (!hit.hit) continue;
    ++hits;
    ASSERT_LE(gap_at(hit.t), 1.01 * tolerance) << i;
    ASSERT_GT(gap_at(hit.t), 0) << i;
  }
  EXPECT_GT(hits, 300);
}

TEST(Cast, NothingTunnels) {
  // Shots of up to 1000 m/s over a frame of 1/60 s at walls of 1 cm: fixed boxes, meshes, and boxes that move and spin.
  std::mt19937 random(3);
  const Box wall{{4, 4, 0.01}};
  ConvexHull corners;
  for (int i = 0; i < 8; ++i)
    corners.points.push_back(0.5 * Vec3(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1).cwiseProduct(wall.size));
  const CollisionShape solid(wall), mesh(hull_mesh(corners));
  const std::vector<Shape> bullets{Sphere{0.02}, Box{{0.03, 0.02, 0.05}}, Capsule{0.01, 0.04}, Cylinder{0.02, 0.03}};
  std::vector<CollisionShape> bullet_shapes(bullets.begin(), bullets.end());
  constexpr double h = 1.0 / 60;
  for (int i = 0; i < 10000; ++i) {
    const CollisionShape& bullet = bullet_shapes[random() % bullets.size()];
    const double speed = uniform(random, 10, 1000);
    const bool moving = i % 3 == 2;
    const SteadyMotion target{Frame(Pose{Vec3::Zero(), oracle::random_orientation(random)}),
                              moving ? Vec3(20 * oracle::random_direction(random)) : Vec3::Zero(),
                              moving ? Vec3(20 * oracle::random_direction(random)) : Vec3::Zero()};
    // Aimed at the wall where it stands at the middle of the frame, from one side to the other.
    const Frame middle = target.at(h / 2);
    const Vec3 aim = middle * Vec3(uniform(random, -1.5, 1.5), uniform(random, -1.5, 1.5), 0);
    const Vec3 across = (middle.R.col(2) + 0.5 * oracle::random_direction(random)).normalized() * (random() % 2 ? 1 : -1);
    const double travel = std::max(speed * h, 1.0);  // slow ones start so that they get through in the frame too
    const Vec3 velocity = across * (travel / h);
    const SteadyMotion shot{Frame(Pose{aim - velocity * (h / 2), oracle::random_orientation(random)}), velocity,
                            Vec3(uniform(random, 0, 100) * oracle::random_direction(random))};
    const CollisionShape& body = i % 3 == 1 ? mesh : solid;
    const CastHit hit = cast(bullet, shot, body, target, {h, 1e-5});
    ASSERT_TRUE(hit.hit) << i;
    ASSERT_LE(hit.t, h);
  }
}

/// Bodies of all kinds at random places, with what is needed to look at them one by one.
struct Crowd {
  std::vector<Placed> placed;
  CollisionWorld world;

  Crowd(int count, unsigned seed) {
    std::mt19937 random(seed);
    const std::vector<Shape> all = shapes();
    std::vector<CollisionShape> made(all.begin(), all.end());
    for (int i = 0; i < count; ++i) {
      const std::size_t kind = random() % all.size();
      const Pose pose{Vec3(uniform(random, -6, 6), uniform(random, -6, 6), uniform(random, -6, 6)),
                      oracle::random_orientation(random)};
      placed.push_back({all[kind], pose});
      world.add(made[kind], pose, i % 4 != 0, {i % 2 ? 1u : 2u, 0xffffffff});
    }
  }
};

TEST(World, QueriesSeeWhatBruteForceSees) {
  const Crowd crowd(200, 4);
  std::mt19937 random(5);
  const QueryFilter odd{{1, 1}};
  int seen = 0;
  for (int i = 0; i < 300; ++i) {
    const Vec3 origin = 9 * oracle::random_direction(random), direction = oracle::random_direction(random) * 3 - origin;
    double first = infinity;
    for (std::size_t b = 1; b < crowd.placed.size(); b += 2) {
      RayHit hit;
      const CollisionShape shape(crowd.placed[b].shape);
      if (ray_part(shape.parts()[0], Frame(crowd.placed[b].pose), origin, direction, 3, hit)) first = std::min(first, hit.t);
    }
    const auto ray = crowd.world.ray(origin, direction, 3, odd);
    ASSERT_EQ(ray.has_value(), std::isfinite(first));
    if (ray) {
      ASSERT_DOUBLE_EQ(ray->hit.t, first);
      ASSERT_EQ(ray->body % 2, 1);
    }

    const Placed probe{Sphere{0.3},
                       {Vec3(uniform(random, -6, 6), uniform(random, -6, 6), uniform(random, -6, 6)), Quat::Identity()}};
    const CollisionShape probe_shape(probe.shape);
    double nearest = infinity;
    std::vector<int> touching;
    for (std::size_t b = 0; b < crowd.placed.size(); ++b) {
      PairMemory memory;
      CollideScratch scratch;
      std::vector<Manifold> out;
      collide(probe_shape, Frame(probe.pose), CollisionShape(crowd.placed[b].shape), Frame(crowd.placed[b].pose), 100, memory,
              scratch, out);
      if (out[0].gap() <= 0) touching.push_back(int(b));
      nearest = std::min(nearest, out[0].gap());
    }
    const auto closest = crowd.world.closest(probe_shape, probe.pose, 2);
    ASSERT_EQ(closest.has_value(), nearest <= 2);
    if (closest) {
      ++seen;
      ASSERT_NEAR(closest->found.gap, nearest, 1e-6);
      ASSERT_NEAR((closest->found.on_b - closest->found.on_a).dot(closest->found.normal), closest->found.gap, 1e-6);
    }
    std::vector<int> overlapping;
    crowd.world.overlap(probe_shape, probe.pose, overlapping);
    ASSERT_EQ(overlapping, touching);

    const Vec3 path = 6 * oracle::random_direction(random);
    double arrival = infinity;
    for (const Placed& b : crowd.placed) {
      const CastHit hit =
          cast(probe_shape, {Frame(probe.pose), path, Vec3::Zero()}, CollisionShape(b.shape), {Frame(b.pose)}, {1, 1e-6 * 0.3});
      if (hit.hit) arrival = std::min(arrival, hit.t);
    }
    const auto swept = crowd.world.shape_cast(probe_shape, probe.pose, path);
    ASSERT_EQ(swept.has_value(), std::isfinite(arrival));
    if (swept) {
      ASSERT_NEAR(swept->hit.t, arrival, 1e-9);
    }
  }
  EXPECT_GT(seen, 100);
}

TEST(World, ContactsAreTheSameOnAnyNumberOfThreads) {
  Crowd one(400, 6), many(400, 6);
  std::mt19937 random(7);
  for (int step = 0; step < 5; ++step) {
    std::vector<Manifold> a, b;
    one.world.find_contacts(0.05, a, 1);
    many.world.find_contacts(0.05, b, 4);
    ASSERT_GT(a.size(), 50u);
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      ASSERT_EQ(std::pair(a[i].body_a, a[i].body_b), std::pair(b[i].body_a, b[i].body_b));
      ASSERT_EQ(a[i].normal, b[i].normal);
      ASSERT_EQ(a[i].count, b[i].count);
      for (int k = 0; k < a[i].count; ++k) ASSERT_EQ(a[i].points[k].on_a, b[i].points[k].on_a);
    }
    for (int i = 1; i < 400; i += 4) {
      Pose& pose = one.placed[i].pose;
      pose.position += 0.2 * oracle::random_direction(random);
      one.world.set_pose(i, pose);
      many.world.set_pose(i, pose);
    }
  }
}

TEST(World, ACopyAnswersForTheTimeItWasMade) {
  CollisionWorld world;
  const int ball = world.add(CollisionShape(Sphere{0.5}), {{0, 0, 0}, Quat::Identity()}, true);
  world.add(CollisionShape(Plane{}), {{0, 0, -3}, Quat::Identity()}, false);
  const CollisionWorld before = world;
  world.set_pose(ball, {{10, 0, 0}, Quat::Identity()});
  EXPECT_NEAR(before.ray({0, 0, 5}, {0, 0, -1}, 100)->hit.t, 4.5, 1e-12);
  EXPECT_NEAR(world.ray({0, 0, 5}, {0, 0, -1}, 100)->hit.t, 8, 1e-12);
  EXPECT_NEAR(world.closest(CollisionShape(Sphere{1}), {{0, 0, 0}, Quat::Identity()}, 10)->found.gap, 2, 1e-12);
}

TEST(World, ManyThreadsAskACopyWhileTheOriginalIsStepped) {
  Crowd crowd(300, 5);
  const CollisionWorld copy = crowd.world;
  struct Answers {
    std::vector<double> distances;
    std::vector<int> bodies;
    bool operator==(const Answers&) const = default;
  };
  const auto ask = [&] {
    std::mt19937 random(31);
    Answers out;
    std::vector<int> inside;
    for (int i = 0; i < 60; ++i) {
      const Vec3 from = 4 * oracle::random_direction(random), to = 4 * oracle::random_direction(random);
      const Pose at{0.5 * from, oracle::random_orientation(random)};
      const CollisionShape shape(i % 2 ? Shape(Box{{0.5, 0.4, 0.3}}) : Shape(Cylinder{0.3, 0.5}));
      if (const auto hit = copy.ray(from, to - from, 1)) out.distances.push_back(hit->hit.t), out.bodies.push_back(hit->body);
      if (const auto hit = copy.shape_cast(shape, at, to)) out.distances.push_back(hit->hit.t), out.bodies.push_back(hit->body);
      if (const auto near = copy.closest(shape, at, 2))
        out.distances.push_back(near->found.gap), out.bodies.push_back(near->body);
      copy.overlap(shape, at, inside);
      out.bodies.insert(out.bodies.end(), inside.begin(), inside.end());
    }
    return out;
  };
  const Answers before = ask();
  ASSERT_GT(before.bodies.size(), 100u);
  std::array<Answers, 3> found;
  std::vector<std::thread> threads;
  for (Answers& answers : found) threads.emplace_back([&] { answers = ask(); });
  std::mt19937 random(32);
  std::vector<Manifold> contacts;
  for (int step = 0; step < 10; ++step) {
    for (int i = 1; i < 300; i += 2) {
      Pose& pose = crowd.placed[i].pose;
      pose.position += 0.2 * oracle::random_direction(random);
      crowd.world.set_pose(i, pose);
    }
    crowd.world.find_contacts(0.05, contacts, 2);
  }
  for (std::thread& thread : threads) thread.join();
  for (const Answers& answers : found) EXPECT_EQ(answers, before);
}

TEST(World, RefusesNumbersThatAreNone) {
  CollisionWorld world;
  const CollisionShape ball(Sphere{0.5});
  EXPECT_THROW(world.add(ball, {{0, std::nan(""), 0}, Quat::Identity()}, true), Error);
  EXPECT_THROW((void)world.ray({0, 0, 0}, {0, 0, 0}, 1), Error);
  EXPECT_THROW((void)world.ray({0, 0, 0}, {0, 0, infinity}, 1), Error);
  EXPECT_THROW((void)world.shape_cast(ball, {}, {0, 0, std::nan("")}), Error);
  EXPECT_THROW((void)world.closest(ball, {}, -1), Error);
}

}  // namespace
}  // namespace rotule
