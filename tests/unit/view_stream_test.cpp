// The viewer's stream: what comes out is what went in, to half a quantum, and it is short.
#include "record/view_stream.h"

#include <gtest/gtest.h>
#include <rotule/error.h>
#include <rotule/world.h>

#include <random>

namespace rotule {
namespace {

struct StreamMoment {
  std::vector<double> positions, orientations;
};

/// Boxes thrown in all directions, tumbling, with `fixed` of them nailed down.
Scene tumbling(int count, int fixed) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> any(-1, 1);
  const auto vector = [&](double size) { return Vec3(size * any(random), size * any(random), size * any(random)); };
  Scene scene;
  for (int i = 0; i < count; ++i) {
    BodyDef body{.fixed = i < fixed, .position = vector(20), .shape = Box{Vec3(0.1, 0.2, 0.4)}};
    body.orientation = Quat(any(random), any(random), any(random), any(random)).normalized();
    if (!body.fixed) {
      body.mass = 1;
      body.velocity = vector(5);
      body.angular_velocity = vector(8);
    }
    scene.add(std::move(body));
  }
  scene.recipe.dt = 1.0 / 60;
  scene.recipe.correction = NoCorrectionSettings{};
  return scene;
}

StreamMoment moment_of(const World& world) {
  StreamMoment out;
  for (const BodyId body : world.bodies()) {
    const Vec3 p = world.position(body);
    const Quat q = world.orientation(body);
    out.positions.insert(out.positions.end(), {p.x(), p.y(), p.z()});
    out.orientations.insert(out.orientations.end(), {q.w(), q.x(), q.y(), q.z()});
  }
  return out;
}

/// Largest distances of what was decoded from what was meant; the sign of a quaternion is free.
void expect_same(const StreamMoment& meant, const ViewFrame& got, const ViewQuanta& quanta) {
  const std::size_t count = meant.positions.size() / 3;
  ASSERT_EQ(got.bodies.size(), 7 * count);
  double position = 0, quaternion = 0;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t k = 0; k < 3; ++k)
      position = std::max(position, std::abs(quanta.position * got.bodies[7 * i + k] - meant.positions[3 * i + k]));
    double plus = 0, minus = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      const double q = quanta.quaternion * got.bodies[7 * i + 3 + k];
      plus = std::max(plus, std::abs(q - meant.orientations[4 * i + k]));
      minus = std::max(minus, std::abs(q + meant.orientations[4 * i + k]));
    }
    quaternion = std::max(quaternion, std::min(plus, minus));
  }
  EXPECT_LE(position, 0.5 * quanta.position * (1 + 1e-9));
  EXPECT_LE(quaternion, 0.5 * quanta.quaternion * (1 + 1e-9));
}

TEST(ViewStream, MovingAndFixedBodiesComeBackToHalfAQuantum) {
  World world(tumbling(60, 20));
  ViewEncoder encoder;
  ViewDecoder decoder;
  const ViewQuanta quanta;
  for (int k = 0; k < 100; ++k) {
    const StreamMoment meant = moment_of(world);
    ViewFrame sent, got;
    sent.time = world.time();
    sent.step = static_cast<std::uint32_t>(world.steps());
    sent.numbers = {1.5 * k, -0.0};
    sent.set_bodies(meant.positions, meant.orientations, quanta);
    decoder.decode(encoder.encode(sent, 0, k == 50), got);
    EXPECT_EQ(decoder.number(), static_cast<std::uint32_t>(k));
    EXPECT_EQ(got.time, sent.time);
    EXPECT_EQ(got.step, sent.step);
    EXPECT_EQ(got.numbers, sent.numbers);
    expect_same(meant, got, quanta);
    world.step();
  }
}

TEST(ViewStream, BodiesThatComeInBeginAnewWithAKeyFrame) {
  World world(tumbling(5, 1));
  ViewEncoder encoder;
  ViewDecoder decoder;
  const ViewQuanta quanta;
  ViewFrame sent, got;
  for (int k = 0; k < 12; ++k) {
    if (k == 6) {
      world.add(BodyDef{.name = "late", .mass = 1, .position = {1, 2, 3}, .velocity = {0, 3, 0}, .shape = Sphere{}});
      ++sent.generation;
    }
    const StreamMoment meant = moment_of(world);
    sent.set_bodies(meant.positions, meant.orientations, quanta);
    const auto bytes = encoder.encode(sent, 0);
    EXPECT_EQ(bytes[0], k == 0 || k == 6 ? 1 : 2) << "frame " << k;
    decoder.decode(bytes, got);
    EXPECT_EQ(got.generation, sent.generation);
    expect_same(meant, got, quanta);
    world.step();
  }
}

TEST(ViewStream, ParticlesAndPartsComeBackAsTheyWere) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> any(-3, 3);
  ViewEncoder encoder;
  ViewDecoder decoder;
  ViewFrame sent, got;
  std::vector<double> at(300);
  for (double& x : at) x = any(random);
  sent.parts = view_contacts | view_forces | view_velocities | view_islands | view_loads;
  for (int k = 0; k < 20; ++k) {
    for (double& x : at) x += 0.01 * any(random);
    sent.set_particles(at, {});
    sent.contacts.assign(10 * static_cast<std::size_t>(k), 0.25f);
    sent.forces = {1, 2, 3, 4, 5, static_cast<float>(k)};
    sent.velocities = {0.5f, 0, 0};
    sent.islands = {0xffff, 3};
    sent.loads = {0.0f, 19.62f};
    decoder.decode(encoder.encode(sent, view_contacts | view_islands | view_loads), got);
    EXPECT_EQ(got.particles, sent.particles);
    for (std::size_t i = 0; i < at.size(); ++i) EXPECT_NEAR(1e-4 * got.particles[i], at[i], 0.5e-4 * (1 + 1e-9));
    EXPECT_EQ(got.parts, static_cast<unsigned>(view_contacts | view_islands | view_loads));
    EXPECT_EQ(got.contacts, sent.contacts);
    EXPECT_EQ(got.islands, sent.islands);
    EXPECT_EQ(got.loads, sent.loads);
    EXPECT_TRUE(got.forces.empty());
  }
}

TEST(ViewStream, WhatRestsCostsNothingPerBody) {
  ViewFrame frame;
  frame.set_bodies(std::vector<double>(30000, 1.25), std::vector<double>(40000, 0.5), {});
  ViewEncoder encoder;
  encoder.encode(frame, 0);
  encoder.encode(frame, 0);
  EXPECT_LT(encoder.encode(frame, 0).size(), 64u);
}

// Ten thousand bodies in free fall, each tumbling at up to 14 rad/s, 60 frames a second: less than 6 MB for every second.
TEST(ViewStream, TenThousandTumblingBodiesTakeLessThanSixMegabytesPerSecond) {
  World world(tumbling(10000, 0));
  ViewEncoder encoder;
  ViewDecoder decoder;
  ViewFrame sent, got;
  std::size_t bytes = 0;
  for (int k = 0; k < 61; ++k) {
    const StreamMoment meant = moment_of(world);
    sent.set_bodies(meant.positions, meant.orientations, {});
    const auto encoded = encoder.encode(sent, 0);
    if (k > 0) bytes += encoded.size();
    decoder.decode(encoded, got);
    if (k % 20 == 0) expect_same(meant, got, {});
    world.step();
  }
  RecordProperty("bytes_per_second", static_cast<int>(bytes));
  EXPECT_LT(bytes, 6'000'000u);
}

TEST(ViewStream, NumbersBeyondTheRangeSaturateAndComeBackInto) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  ViewEncoder encoder;
  ViewDecoder decoder;
  ViewFrame sent, got;
  for (const double x : {0.0, 1e300, -1e300, nan, infinity, -infinity, 1e4, -1e4, 0.0}) {
    sent.set_bodies(std::vector<double>{x, -x, 1}, std::vector<double>{1, nan, 0, 0}, {});
    decoder.decode(encoder.encode(sent, 0), got);
    EXPECT_EQ(got.bodies, sent.bodies);
    const double shown = x != x ? 0 : std::clamp(x, -1e-4 * (1 << 28), 1e-4 * (1 << 28));
    EXPECT_NEAR(1e-4 * got.bodies[0], shown, 1e-4);
  }
}

// Whatever the bytes are, the decoder either takes them or throws; it reads nothing that is not there.
TEST(ViewStream, BrokenFramesAreRefused) {
  ViewFrame sent;
  sent.set_bodies(std::vector<double>{1, 2, 3, 4, 5, 6}, std::vector<double>{1, 0, 0, 0, 0.5, 0.5, 0.5, 0.5}, {});
  sent.parts = view_contacts;
  sent.contacts.assign(20, 1);
  ViewEncoder encoder;
  const auto bytes = encoder.encode(sent, ~0u);
  const std::vector<std::uint8_t> whole(bytes.begin(), bytes.end());
  ViewFrame got;
  EXPECT_NO_THROW(ViewDecoder().decode(whole, got));
  const auto second = encoder.encode(sent, ~0u);
  EXPECT_THROW(ViewDecoder().decode(second, got), Error) << "a delta without what it refers to";
  int refused = 0;
  for (std::size_t size = 0; size < whole.size(); ++size) try {
      ViewDecoder().decode(std::span(whole).first(size), got);
    } catch (const Error&) {
      ++refused;
    }
  // Only where a section ends may a frame end.
  EXPECT_GE(refused, static_cast<int>(whole.size()) - 4);
  std::mt19937 random(11);
  for (int k = 0; k < 20000; ++k) {
    std::vector<std::uint8_t> broken = whole;
    for (auto n = random() % 4 + 1; n > 0; --n) broken[random() % broken.size()] = static_cast<std::uint8_t>(random());
    try {
      ViewDecoder().decode(broken, got);
    } catch (const Error&) {
    }
  }
}

}  // namespace
}  // namespace rotule
