#include <rotule/rotule.h>

#include <numbers>
#include <string>

#include "peers/engines.h"

namespace peers {

namespace {

rotule::Shape shape_of(const BodyOf& body) {
  rotule::Compound out;
  for (const Part& p : body.parts) {
    rotule::CompoundPart part;
    part.position = p.at.p;
    part.orientation = p.at.q;
    switch (p.kind) {
      case Part::Kind::box:
        part.shape = rotule::Box{.size = 2 * p.half};
        break;
      case Part::Kind::sphere:
        part.shape = rotule::Sphere{.radius = p.radius};
        break;
      case Part::Kind::capsule:  // along z here, along y there
        part.shape = rotule::Capsule{.radius = p.radius, .length = 2 * p.length};
        part.orientation = p.at.q * Turn(Eigen::AngleAxisd(-0.5 * std::numbers::pi, Vec::UnitX()));
        break;
    }
    out.parts.push_back(part);
  }
  const rotule::CompoundPart& only = out.parts.front();
  if (out.parts.size() == 1 && only.position.isZero() && only.orientation.isApprox(Turn::Identity())) return only.shape;
  return out;
}

class RotuleEngine : public Engine {
 public:
  RotuleEngine(const Scene& scene, const RotuleOptions& options) : dt_(scene.dt), world_(make(scene, options)) {
    for (std::size_t i = 0; i < scene.bodies.size(); ++i) ids_.push_back(world_.body("b" + std::to_string(i)));
  }
  void step() override { world_.step(dt_); }
  [[nodiscard]] Pose pose(int body) const override { return {world_.position(ids_[body]), world_.orientation(ids_[body])}; }

 private:
  static rotule::World make(const Scene& from, const RotuleOptions& options) {
    rotule::Scene scene;
    scene.gravity = from.gravity;
    scene.materials.push_back({.name = "all", .friction = from.friction});
    for (std::size_t i = 0; i < from.bodies.size(); ++i) {
      const BodyOf& body = from.bodies[i];
      rotule::BodyDef def;
      def.name = "b" + std::to_string(i);
      def.fixed = body.fixed;
      def.position = body.at.p;
      def.orientation = body.at.q;
      def.shape = shape_of(body);
      def.material = "all";
      def.center_of_mass = Vec::Zero();
      if (!body.fixed) {
        def.mass = body.mass;
        def.inertia = Eigen::Matrix3d(body.inertia.asDiagonal());
      }
      scene.add(def);
    }
    for (const BallJoint& j : from.joints) {
      const BodyOf& b = from.bodies[j.b];
      scene.add(rotule::Ball{.between = {j.a < 0 ? "world" : "b" + std::to_string(j.a), "b" + std::to_string(j.b)},
                             .at = b.at.p + b.at.q * j.in_b});
    }
    rotule::Recipe recipe = options.realtime ? rotule::recipes::fastest() : rotule::recipe_for(scene, rotule::Dial::realtime);
    recipe.dt = from.dt;
    recipe.threads = options.threads;
    if (options.realtime && options.substeps > 0) recipe.stepper = rotule::RealtimeStepperSettings{.substeps = options.substeps};
    return {scene, recipe};
  }

  double dt_;
  rotule::World world_;
  std::vector<rotule::BodyId> ids_;
};

}  // namespace

std::unique_ptr<Engine> make_rotule(const Scene& scene, const RotuleOptions& options) {
  return std::make_unique<RotuleEngine>(scene, options);
}

}  // namespace peers
