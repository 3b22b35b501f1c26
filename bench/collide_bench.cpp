// Collision against Bullet (pairs, a pile, its tree) and FCL (distances), in one run on the same poses. Pairs per second are
// items_per_second. Bullet and FCL are compared with where they were found when the benchmarks were configured.
#include <benchmark/benchmark.h>

#include <cmath>
#include <deque>
#include <memory>
#include <random>

#include "collide/collision_world.h"
#include "collide/narrow/separation.h"
#include "model/convex_hull.h"

#ifdef ROTULE_BENCH_BULLET
#include <BulletCollision/CollisionDispatch/btCollisionDispatcher.h>
#include <BulletCollision/CollisionDispatch/btDefaultCollisionConfiguration.h>
#include <BulletCollision/CollisionDispatch/btManifoldResult.h>
#include <btBulletCollisionCommon.h>
#endif
#ifdef ROTULE_BENCH_FCL
#include <fcl/fcl.h>
#endif

namespace {

using namespace rotule;

constexpr int poses = 1024;
constexpr double margin = 0;  // as Bullet's box pairs: no points before they touch

enum Kind { sphere, capsule, box, cylinder, hull32, kinds };
const char* const names[] = {"sphere", "capsule", "box", "cylinder", "hull32"};

Vec3 direction(std::mt19937& random) {
  std::normal_distribution<double> normal;
  return Vec3(normal(random), normal(random), normal(random)).normalized();
}

ConvexHull ball_points() {
  std::mt19937 random(1);
  ConvexHull out;
  for (int i = 0; i < 32; ++i) out.points.push_back(0.5 * direction(random));
  return out;
}

Shape shape_of(int kind) {
  switch (kind) {
    case sphere:
      return Sphere{0.5};
    case capsule:
      return Capsule{0.3, 0.8};
    case box:
      return Box{{1, 0.8, 0.6}};
    case cylinder:
      return Cylinder{0.4, 0.9};
    default:
      return ball_points();
  }
}

/// Neighbours in a heap: half of the pairs touch lightly, half are just apart; B moves by a millimetre and a milliradian between
/// visits, to and fro.
struct Poses {
  std::vector<Pose> a, b, moved_b;

  Poses(int kind_a, int kind_b, double gap_low, double gap_high) {
    std::mt19937 random(7);
    std::uniform_real_distribution<double> gap(gap_low, gap_high);
    const CollisionShape shape_a(shape_of(kind_a)), shape_b(shape_of(kind_b));
    std::normal_distribution<double> normal;
    for (int i = 0; i < poses; ++i) {
      Pose at{Vec3::Zero(), Quat(normal(random), normal(random), normal(random), normal(random)).normalized()};
      Pose to{2 * direction(random), Quat(normal(random), normal(random), normal(random), normal(random)).normalized()};
      PairMemory memory;
      const Separation s =
          separation(shape_a.parts()[0].convex, shape_b.parts()[0].convex, relative(Frame(at), Frame(to)), infinity, memory);
      to.position += at.orientation * s.normal * (gap(random) - s.gap);
      a.push_back(at);
      b.push_back(to);
      moved_b.push_back({to.position + 1e-3 * direction(random),
                         (Quat(Eigen::AngleAxisd(1e-3, direction(random))) * to.orientation).normalized()});
    }
  }
};

void RotulePair(benchmark::State& state) {
  const int kind_a = int(state.range(0)), kind_b = int(state.range(1));
  state.SetLabel(std::string(names[kind_a]) + "-" + names[kind_b]);
  const Poses p(kind_a, kind_b, -0.02, 0.02);
  const CollisionShape a(shape_of(kind_a)), b(shape_of(kind_b));
  std::vector<Frame> frames_a, frames_b;
  std::array<std::vector<Frame>, 2> visits;
  for (int i = 0; i < poses; ++i) {
    frames_a.emplace_back(p.a[i]), frames_b.emplace_back(p.b[i]);
    visits[0].emplace_back(p.moved_b[i]), visits[1].emplace_back(p.b[i]);
  }
  std::vector<PairMemory> memory(poses);
  CollideScratch scratch;
  std::vector<Manifold> out;
  long points = 0;
  std::size_t visit = 0;
  for (auto _ : state) {
    points = 0;
    const std::vector<Frame>& now = visits[visit++ % 2];
    for (int i = 0; i < poses; ++i) {
      frames_b[i] = now[i];
      out.clear();
      collide(a, frames_a[i], b, frames_b[i], margin, memory[i], scratch, out);
      for (const Manifold& m : out) points += m.count;
    }
    benchmark::DoNotOptimize(points);
  }
  state.SetItemsProcessed(state.iterations() * poses);
  state.counters["points"] = double(points) / poses;
}

void RotuleDistance(benchmark::State& state) {
  const int kind_a = int(state.range(0)), kind_b = int(state.range(1));
  state.SetLabel(std::string(names[kind_a]) + "-" + names[kind_b]);
  const Poses p(kind_a, kind_b, 0.05, 1);
  const CollisionShape a(shape_of(kind_a)), b(shape_of(kind_b));
  std::vector<Frame> frames_a, frames_b;
  for (int i = 0; i < poses; ++i) frames_a.emplace_back(p.a[i]), frames_b.emplace_back(p.b[i]);
  for (auto _ : state) {
    double sum = 0;
    for (int i = 0; i < poses; ++i) {
      PairMemory memory;
      sum += separation_in_world(a.parts()[0].convex, frames_a[i], b.parts()[0].convex, frames_b[i], infinity, memory).gap;
    }
    benchmark::DoNotOptimize(sum);
  }
  state.SetItemsProcessed(state.iterations() * poses);
}

/// A pile of boxes: a block of columns that stand in each other a little, which shake by a millimetre.
std::vector<Pose> pile(int count) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> shake(-1e-3, 1e-3);
  const int side = int(std::ceil(std::cbrt(double(count))));
  std::vector<Pose> out;
  for (int i = 0; i < count; ++i)
    out.push_back({Vec3(i % side * 0.999 + shake(random), i / side % side * 0.999 + shake(random),
                        i / (side * side) * 0.999 + shake(random)),
                   Quat(Eigen::AngleAxisd(shake(random), direction(random)))});
  return out;
}

void RotulePile(benchmark::State& state) {
  const std::vector<Pose> start = pile(int(state.range(0)));
  CollisionWorld world(0.02);
  const CollisionShape cube(Box{});
  for (const Pose& pose : start) world.add(cube, pose, true);
  std::vector<Manifold> out;
  int step = 0;
  for (auto _ : state) {
    const double shift = 1e-4 * (++step % 10);
    for (std::size_t i = 0; i < start.size(); ++i)
      world.set_pose(int(i), {start[i].position + Vec3(shift, 0, 0), start[i].orientation});
    world.find_contacts(margin, out);
    benchmark::DoNotOptimize(out.data());
  }
  state.counters["manifolds"] = double(out.size());
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

/// Cubes spread out, each with a few neighbours; a tenth of them moves by its own size per step.
std::vector<Vec3> spread(int count) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> at(0, std::cbrt(double(count)) * 2);
  std::vector<Vec3> out;
  for (int i = 0; i < count; ++i) out.emplace_back(at(random), at(random), at(random));
  return out;
}

void RotuleTree(benchmark::State& state) {
  const std::vector<Vec3> start = spread(int(state.range(0)));
  BroadPhase broad(0.05);
  const auto box_at = [&](std::size_t i, const Vec3& move) { return Aabb{start[i] + move, start[i] + move + Vec3::Ones()}; };
  for (std::size_t i = 0; i < start.size(); ++i) broad.add(int(i), box_at(i, Vec3::Zero()), true);
  broad.update();
  int step = 0;
  for (auto _ : state) {
    ++step;
    for (std::size_t i = std::size_t(step % 10); i < start.size(); i += 10)
      broad.move(int(i), box_at(i, Vec3(step % 2, step % 3, 0)));
    benchmark::DoNotOptimize(broad.update().data());
  }
  state.counters["pairs"] = double(broad.pairs().size());
  state.SetItemsProcessed(state.iterations() * state.range(0) / 10);
}

void RotuleAtRest(benchmark::State& state) {
  const std::vector<Vec3> start = spread(int(state.range(0)));
  BroadPhase broad(0.05);
  for (std::size_t i = 0; i < start.size(); ++i) broad.add(int(i), {start[i], start[i] + Vec3::Ones()}, true);
  broad.update();
  for (auto _ : state) benchmark::DoNotOptimize(broad.update().data());
}

void RotuleTreeRays(benchmark::State& state) {
  const std::vector<Vec3> start = spread(int(state.range(0)));
  BroadPhase broad(0.05);
  for (std::size_t i = 0; i < start.size(); ++i) broad.add(int(i), {start[i], start[i] + Vec3::Ones()}, true);
  std::mt19937 random(9);
  const double size = std::cbrt(double(state.range(0))) * 2;
  long seen = 0;
  for (auto _ : state) {
    const Vec3 from = 0.5 * Vec3::Constant(size) + size * direction(random), d = 2 * size * direction(random);
    broad.along_ray(from, d, Vec3::Zero(), 1, [&](int, double t) {
      ++seen;
      return t;
    });
  }
  benchmark::DoNotOptimize(seen);
  state.SetItemsProcessed(state.iterations());
}

TriangleMesh bumpy_ball() {
  const int rows = 708, columns = 708;
  TriangleMesh mesh;
  for (int r = 0; r <= rows; ++r)
    for (int c = 0; c < columns; ++c) {
      const double theta = M_PI * r / rows, phi = 2 * M_PI * c / columns;
      const double radius = 1 + 0.1 * std::sin(7 * phi) * std::sin(9 * theta) + 0.01 * std::sin(90 * phi) * std::sin(80 * theta);
      mesh.vertices.emplace_back(radius * std::sin(theta) * std::cos(phi), radius * std::sin(theta) * std::sin(phi),
                                 radius * std::cos(theta));
    }
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c) {
      const int a = r * columns + c, b = r * columns + (c + 1) % columns;
      mesh.triangles.push_back({a, a + columns, b + columns});
      mesh.triangles.push_back({a, b + columns, b});
    }
  return mesh;
}

/// Hills of several sizes on a square from -1 to 1.
TriangleMesh terrain() {
  const int side = 708;
  TriangleMesh mesh;
  for (int r = 0; r <= side; ++r)
    for (int c = 0; c <= side; ++c) {
      const double x = 2.0 * c / side - 1, y = 2.0 * r / side - 1;
      mesh.vertices.emplace_back(
          x, y, 0.1 * std::sin(5 * x + 3 * y) + 0.03 * std::sin(23 * x - 17 * y) + 0.004 * std::sin(131 * x + 97 * y));
    }
  for (int r = 0; r < side; ++r)
    for (int c = 0; c < side; ++c) {
      const int a = r * (side + 1) + c, b = a + side + 1;
      mesh.triangles.push_back({a, a + 1, b + 1});
      mesh.triangles.push_back({a, b + 1, b});
    }
  return mesh;
}

/// Meshes of 1,000,000 triangles. 0: a bumpy ball, rays from all around towards its inside; 1: the same from one eye, row by row;
/// 2: terrain, rays from random places above to random places on it.
void RotuleMeshRays(benchmark::State& state) {
  const auto scene = state.range(0);
  state.SetLabel(scene == 0 ? "ball, random" : (scene == 1 ? "ball, coherent" : "terrain, random"));
  const Surface surface(scene < 2 ? bumpy_ball() : terrain());
  std::mt19937 random(2);
  std::uniform_real_distribution<double> u(-1, 1);
  std::vector<std::pair<Vec3, Vec3>> rays;
  for (int i = 0; i < 100000; ++i) {
    if (scene == 0) {
      const Vec3 origin = 3 * direction(random);
      rays.emplace_back(origin, 0.9 * direction(random) - origin);
    } else if (scene == 1) {
      const Vec3 origin(3, 0, 0);
      rays.emplace_back(origin, Vec3(-3, (i % 316 - 158) / 200.0, (i / 316 - 158) / 200.0));
    } else {
      const Vec3 origin(u(random), u(random), 0.15 + 0.5 * std::abs(u(random)));
      rays.emplace_back(origin, Vec3(u(random), u(random), -0.1) - origin);
    }
  }
  long hits = 0;
  std::size_t i = 0;
  for (auto _ : state) {
    double t = 10;
    hits += surface.ray(rays[i].first, rays[i].second, t) >= 0;
    if (++i == rays.size()) i = 0;
  }
  state.counters["triangles"] = double(surface.count());
  state.counters["hit_share"] = double(hits) / double(state.iterations());
  state.counters["tree_MB"] = double(surface.tree().nodes().size_bytes()) / 1e6;
  state.SetItemsProcessed(state.iterations());
}

#ifdef ROTULE_BENCH_BULLET
btTransform transform(const Pose& p) {
  return btTransform(btQuaternion(btScalar(p.orientation.x()), btScalar(p.orientation.y()), btScalar(p.orientation.z()),
                                  btScalar(p.orientation.w())),
                     btVector3(btScalar(p.position.x()), btScalar(p.position.y()), btScalar(p.position.z())));
}

std::unique_ptr<btConvexShape> bullet_shape(int kind) {
  switch (kind) {
    case sphere:
      return std::make_unique<btSphereShape>(btScalar(0.5));
    case capsule:
      return std::make_unique<btCapsuleShapeZ>(btScalar(0.3), btScalar(0.8));
    case box:
      return std::make_unique<btBoxShape>(btVector3(btScalar(0.5), btScalar(0.4), btScalar(0.3)));
    case cylinder:
      return std::make_unique<btCylinderShapeZ>(btVector3(btScalar(0.4), btScalar(0.4), btScalar(0.45)));
    default: {
      auto hull = std::make_unique<btConvexHullShape>();
      for (const Vec3& v : ball_points().points)
        hull->addPoint(btVector3(btScalar(v.x()), btScalar(v.y()), btScalar(v.z())), false);
      hull->recalcLocalAabb();
      return hull;
    }
  }
}

/// Bullet as its worlds use it: a persistent manifold and algorithm per pair, refreshed at each visit.
void BulletPair(benchmark::State& state) {
  const int kind_a = int(state.range(0)), kind_b = int(state.range(1));
  state.SetLabel(std::string(names[kind_a]) + "-" + names[kind_b]);
  const Poses p(kind_a, kind_b, -0.02, 0.02);
  btDefaultCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher(&configuration);
  btDispatcherInfo info;
  const auto shape_a = bullet_shape(kind_a), shape_b = bullet_shape(kind_b);
  std::vector<std::unique_ptr<btCollisionObject>> objects;
  struct Pair {
    Pair(const btCollisionObject* one, const btCollisionObject* two)
        : a(nullptr, one->getCollisionShape(), one, one->getWorldTransform(), -1, -1),
          b(nullptr, two->getCollisionShape(), two, two->getWorldTransform(), -1, -1) {}
    btCollisionObjectWrapper a, b;
    btCollisionAlgorithm* algorithm = nullptr;
  };
  std::deque<Pair> pairs;
  for (int i = 0; i < poses; ++i) {
    for (int k = 0; k < 2; ++k) {
      objects.push_back(std::make_unique<btCollisionObject>());
      objects.back()->setCollisionShape(k ? shape_b.get() : shape_a.get());
      objects.back()->setWorldTransform(transform(k ? p.b[i] : p.a[i]));
      objects.back()->setContactProcessingThreshold(btScalar(0.02));
    }
  }
  for (int i = 0; i < poses; ++i) {
    pairs.emplace_back(objects[2 * i].get(), objects[2 * i + 1].get());
    pairs.back().algorithm = dispatcher.findAlgorithm(&pairs.back().a, &pairs.back().b, nullptr, BT_CONTACT_POINT_ALGORITHMS);
  }
  std::array<std::vector<btTransform>, 2> visits;
  for (int i = 0; i < poses; ++i) visits[0].push_back(transform(p.moved_b[i])), visits[1].push_back(transform(p.b[i]));
  std::size_t visit = 0;
  for (auto _ : state) {
    const std::vector<btTransform>& now = visits[visit++ % 2];
    for (int i = 0; i < poses; ++i) {
      Pair& pair = pairs[i];
      objects[2 * i + 1]->setWorldTransform(now[i]);
      btManifoldResult result(&pair.a, &pair.b);
      pair.algorithm->processCollision(&pair.a, &pair.b, info, &result);
    }
  }
  long points = 0;
  for (int i = 0; i < dispatcher.getNumManifolds(); ++i) points += dispatcher.getManifoldByIndexInternal(i)->getNumContacts();
  for (Pair& pair : pairs) {
    pair.algorithm->~btCollisionAlgorithm();
    dispatcher.freeCollisionAlgorithm(pair.algorithm);
  }
  state.SetItemsProcessed(state.iterations() * poses);
  state.counters["points"] = double(points) / poses;
}

void BulletPile(benchmark::State& state) {
  const std::vector<Pose> start = pile(int(state.range(0)));
  btDefaultCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher(&configuration);
  btDbvtBroadphase broad;
  btCollisionWorld world(&dispatcher, &broad, &configuration);
  btBoxShape cube(btVector3(0.5, 0.5, 0.5));
  std::vector<std::unique_ptr<btCollisionObject>> objects;
  for (const Pose& pose : start) {
    objects.push_back(std::make_unique<btCollisionObject>());
    objects.back()->setCollisionShape(&cube);
    objects.back()->setWorldTransform(transform(pose));
    objects.back()->setContactProcessingThreshold(btScalar(0.02));
    objects.back()->setCollisionFlags(0);
    world.addCollisionObject(objects.back().get());
  }
  int step = 0;
  for (auto _ : state) {
    const double shift = 1e-4 * (++step % 10);
    for (std::size_t i = 0; i < start.size(); ++i)
      objects[i]->setWorldTransform(transform({start[i].position + Vec3(shift, 0, 0), start[i].orientation}));
    world.performDiscreteCollisionDetection();
  }
  int manifolds = 0;
  for (int i = 0; i < dispatcher.getNumManifolds(); ++i)
    manifolds += dispatcher.getManifoldByIndexInternal(i)->getNumContacts() > 0;
  state.counters["manifolds"] = manifolds;
  state.SetItemsProcessed(state.iterations() * state.range(0));
  for (const auto& object : objects) world.removeCollisionObject(object.get());
}

void BulletTree(benchmark::State& state) {
  const std::vector<Vec3> start = spread(int(state.range(0)));
  btDefaultCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher(&configuration);
  btDbvtBroadphase broad;
  std::vector<btBroadphaseProxy*> proxies;
  const auto low = [&](std::size_t i, const Vec3& m) {
    const Vec3 v = start[i] + m;
    return btVector3(btScalar(v.x()), btScalar(v.y()), btScalar(v.z()));
  };
  for (std::size_t i = 0; i < start.size(); ++i)
    proxies.push_back(broad.createProxy(low(i, Vec3::Zero()), low(i, Vec3::Ones()), 0, nullptr, 1, -1, &dispatcher));
  broad.calculateOverlappingPairs(&dispatcher);
  int step = 0;
  for (auto _ : state) {
    ++step;
    const Vec3 move(step % 2, step % 3, 0);
    for (std::size_t i = std::size_t(step % 10); i < start.size(); i += 10)
      broad.setAabb(proxies[i], low(i, move), low(i, move + Vec3::Ones()), &dispatcher);
    broad.calculateOverlappingPairs(&dispatcher);
  }
  state.counters["pairs"] = broad.getOverlappingPairCache()->getNumOverlappingPairs();
  state.SetItemsProcessed(state.iterations() * state.range(0) / 10);
}
#endif

#ifdef ROTULE_BENCH_FCL
std::shared_ptr<fcl::CollisionGeometryd> fcl_shape(int kind) {
  switch (kind) {
    case sphere:
      return std::make_shared<fcl::Sphered>(0.5);
    case capsule:
      return std::make_shared<fcl::Capsuled>(0.3, 0.8);
    case box:
      return std::make_shared<fcl::Boxd>(1, 0.8, 0.6);
    case cylinder:
      return std::make_shared<fcl::Cylinderd>(0.4, 0.9);
    default: {
      const TriangleMesh mesh = hull_mesh(ball_points());
      auto faces = std::make_shared<std::vector<int>>();
      for (const auto& t : mesh.triangles) {
        faces->push_back(3);
        faces->insert(faces->end(), t.begin(), t.end());
      }
      return std::make_shared<fcl::Convexd>(std::make_shared<std::vector<Vec3>>(mesh.vertices), int(mesh.triangles.size()),
                                            faces);
    }
  }
}

void FclDistance(benchmark::State& state) {
  const int kind_a = int(state.range(0)), kind_b = int(state.range(1));
  state.SetLabel(std::string(names[kind_a]) + "-" + names[kind_b]);
  const Poses p(kind_a, kind_b, 0.05, 1);
  const auto a = fcl_shape(kind_a), b = fcl_shape(kind_b);
  const auto at = [](const Pose& pose) {
    fcl::Transform3d X = fcl::Transform3d::Identity();
    X.linear() = pose.orientation.toRotationMatrix();
    X.translation() = pose.position;
    return X;
  };
  std::vector<fcl::Transform3d> frames_a, frames_b;
  for (int i = 0; i < poses; ++i) frames_a.push_back(at(p.a[i])), frames_b.push_back(at(p.b[i]));
  for (auto _ : state) {
    double sum = 0;
    for (int i = 0; i < poses; ++i) {
      fcl::DistanceRequestd request(true);
      fcl::DistanceResultd result;
      sum += fcl::distance(a.get(), frames_a[i], b.get(), frames_b[i], request, result);
    }
    benchmark::DoNotOptimize(sum);
  }
  state.SetItemsProcessed(state.iterations() * poses);
}
#endif

void all_pairs(benchmark::internal::Benchmark* b) {
  for (int i = 0; i < kinds; ++i)
    for (int j = i; j < kinds; ++j) b->Args({i, j});
}

BENCHMARK(RotulePair)->Apply(all_pairs);
#ifdef ROTULE_BENCH_BULLET
BENCHMARK(BulletPair)->Apply(all_pairs);
#endif
BENCHMARK(RotuleDistance)->Apply(all_pairs);
#ifdef ROTULE_BENCH_FCL
BENCHMARK(FclDistance)->Apply(all_pairs);
#endif
BENCHMARK(RotulePile)->Arg(5000)->Unit(benchmark::kMillisecond);
#ifdef ROTULE_BENCH_BULLET
BENCHMARK(BulletPile)->Arg(5000)->Unit(benchmark::kMillisecond);
#endif
BENCHMARK(RotuleTree)->RangeMultiplier(10)->Range(1000, 1000000)->Unit(benchmark::kMillisecond);
#ifdef ROTULE_BENCH_BULLET
BENCHMARK(BulletTree)->RangeMultiplier(10)->Range(1000, 1000000)->Unit(benchmark::kMillisecond);
#endif
BENCHMARK(RotuleAtRest)->Arg(100000);
BENCHMARK(RotuleTreeRays)->RangeMultiplier(10)->Range(1000, 1000000);
BENCHMARK(RotuleMeshRays)->DenseRange(0, 2);

}  // namespace

BENCHMARK_MAIN();
