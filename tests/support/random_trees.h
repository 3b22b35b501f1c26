#pragma once
// Trees of random bodies under joints of all kinds with a frame, in random order of partners; and chains, as robots have.
#include <rotule/scene.h>

#include <numbers>
#include <random>
#include <string>

namespace rotule::testing {

class RandomTrees {
 public:
  explicit RandomTrees(unsigned seed) : random_(seed) {}

  double number(double low, double high) { return std::uniform_real_distribution<double>(low, high)(random_); }
  int whole(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  Vec3 vector(double size) { return {number(-size, size), number(-size, size), number(-size, size)}; }
  Quat rotation() {
    Quat q(number(-1, 1), number(-1, 1), number(-1, 1), number(-1, 1));
    return q.norm() > 0.1 ? q.normalized() : Quat::Identity();
  }

  /// `floating`: whether some trees are tied to nothing. `springs`: whether free axes have springs and dampers.
  Scene tree(int bodies, bool floating, bool springs) {
    Scene scene;
    scene.gravity = vector(9.81);
    std::vector<Vec3> places;
    for (int i = 0; i < bodies; ++i) {
      const std::string name = "b" + std::to_string(i);
      const int parent = i == 0 ? -1 : whole(-1, i - 1);
      const Vec3 from = parent < 0 ? Vec3(Vec3::Zero()) : places[parent];
      places.push_back(from + vector(0.7));
      scene.add({.name = name,
                 .mass = number(0.3, 3),
                 .position = places.back(),
                 .orientation = rotation(),
                 .velocity = vector(1),
                 .angular_velocity = vector(2),
                 .shape = Box{Vec3(number(0.1, 0.5), number(0.1, 0.5), number(0.1, 0.5))}});
      if (parent < 0 && floating) continue;
      const std::string other = parent < 0 ? "world" : "b" + std::to_string(parent);
      const Vec3 at = 0.5 * (from + places.back()) + vector(0.2);
      Between between{other, name};
      if (whole(0, 1) == 1) std::swap(between[0], between[1]);
      add_joint(scene, "j" + std::to_string(i), between, at, springs);
    }
    return scene;
  }

  /// So many hinges one after the other, axes across each other, from the world or free.
  Scene hinges(int links, bool floating) {
    Scene scene;
    std::string before = "world";
    for (int k = 0; k < links; ++k) {
      const std::string name = "link" + std::to_string(k);
      scene.add({.name = name, .mass = 1, .position = {0.3 * k + 0.15, 0, 0}, .shape = Box{Vec3(0.3, 0.05, 0.05)}});
      if (k > 0 || !floating)
        scene.add(Hinge{.name = "axis" + std::to_string(k),
                        .between = {before, name},
                        .at = {0.3 * k, 0, 0},
                        .axis = k % 2 == 0 ? Vec3(0, 1, 0) : Vec3(0, 0.6, 0.8)});
      before = name;
    }
    return scene;
  }

 private:
  void add_joint(Scene& scene, const std::string& name, const Between& between, const Vec3& at, bool springs) {
    const auto drive = [&](double rest) {
      return springs ? Drive{.stiffness = number(1, 20), .damping = number(0, 0.5), .rest = rest} : Drive{};
    };
    const Vec3 axis = rotation() * Vec3::UnitX();
    const Vec3 across = axis.unitOrthogonal();
    switch (whole(0, 7)) {
      case 0:
        scene.add(Ball{.name = name, .between = between, .at = at});
        break;
      case 1:
        scene.add(Hinge{.name = name, .between = between, .at = at, .axis = axis, .drive = drive(0.3), .start = number(-2, 2)});
        break;
      case 2:
        scene.add(Slider{.name = name, .between = between, .at = at, .axis = axis, .drive = drive(0.1)});
        break;
      case 3:
        scene.add(Cylindrical{.name = name,
                              .between = between,
                              .at = at,
                              .axis = axis,
                              .drives = springs ? std::vector<AxisDrive>{{"z", drive(0)}} : std::vector<AxisDrive>{}});
        break;
      case 4:
        scene.add(Universal{.name = name, .between = between, .at = at, .axis_a = axis, .axis_b = across});
        break;
      case 5:
        scene.add(Planar{.name = name, .between = between, .at = at, .normal = axis});
        break;
      case 6:
        scene.add(Weld{.name = name, .between = between, .at = at});
        break;
      default: {
        // Some axes, at least one locked; of travels that nothing holds back there is one at most.
        std::array<bool, 6> locked{true, true, true, true, true, true};
        locked[whole(0, 2)] = whole(0, 1) == 0;
        for (int k = 3; k < 6; ++k) locked[k] = whole(0, 1) == 0;
        scene.add(LockedAxes{.name = name, .between = between, .at = at, .frame = rotation(), .locked = locked});
      }
    }
  }

  std::mt19937 random_;
};

}  // namespace rotule::testing
