#include <btBulletDynamicsCommon.h>

#include <cmath>
#include <vector>

#include "peers/engines.h"

namespace peers {

namespace {

btVector3 bt(const Vec& v) { return {btScalar(v.x()), btScalar(v.y()), btScalar(v.z())}; }
btTransform bt(const Pose& at) {
  return btTransform(btQuaternion(btScalar(at.q.x()), btScalar(at.q.y()), btScalar(at.q.z()), btScalar(at.q.w())), bt(at.p));
}

class BulletEngine : public Engine {
 public:
  explicit BulletEngine(const Scene& scene)
      : dt_(scene.dt), dispatcher_(&configuration_), world_(&dispatcher_, &broadphase_, &solver_, &configuration_) {
    world_.setGravity(bt(scene.gravity));
    for (const BodyOf& body : scene.bodies) add(body, scene.friction);
    for (const BallJoint& j : scene.joints) {
      if (j.a < 0) {
        constraints_.push_back(std::make_unique<btPoint2PointConstraint>(*bodies_[j.b], bt(j.in_b)));
      } else {
        constraints_.push_back(std::make_unique<btPoint2PointConstraint>(*bodies_[j.a], *bodies_[j.b], bt(j.in_a), bt(j.in_b)));
      }
      world_.addConstraint(constraints_.back().get(), true);
    }
  }
  ~BulletEngine() override {
    for (auto& constraint : constraints_) world_.removeConstraint(constraint.get());
    for (auto& body : bodies_) world_.removeRigidBody(body.get());
  }
  void step() override { world_.stepSimulation(btScalar(dt_), 1, btScalar(dt_)); }
  [[nodiscard]] Pose pose(int body) const override {
    const btTransform& at = bodies_[body]->getWorldTransform();
    const btQuaternion q = at.getRotation();
    return {{at.getOrigin().x(), at.getOrigin().y(), at.getOrigin().z()}, Turn(q.w(), q.x(), q.y(), q.z())};
  }

 private:
  btCollisionShape* shape_of(const Part& p) {
    std::unique_ptr<btCollisionShape> shape;
    if (p.kind == Part::Kind::box) shape = std::make_unique<btBoxShape>(bt(p.half));
    if (p.kind == Part::Kind::sphere) shape = std::make_unique<btSphereShape>(btScalar(p.radius));
    if (p.kind == Part::Kind::capsule) shape = std::make_unique<btCapsuleShape>(btScalar(p.radius), btScalar(2 * p.length));
    shapes_.push_back(std::move(shape));
    return shapes_.back().get();
  }
  void add(const BodyOf& body, double friction) {
    btCollisionShape* shape = nullptr;
    if (body.parts.size() == 1 && body.parts[0].at.p.isZero() && body.parts[0].at.q.isApprox(Turn::Identity())) {
      shape = shape_of(body.parts[0]);
    } else {
      auto compound = std::make_unique<btCompoundShape>();
      for (const Part& p : body.parts) compound->addChildShape(bt(p.at), shape_of(p));
      shape = compound.get();
      shapes_.push_back(std::move(compound));
    }
    btRigidBody::btRigidBodyConstructionInfo info(body.fixed ? 0 : btScalar(body.mass), nullptr, shape,
                                                  body.fixed ? btVector3(0, 0, 0) : bt(body.inertia));
    info.m_startWorldTransform = bt(body.at);
    info.m_friction = btScalar(std::sqrt(friction));  // it multiplies the two
    bodies_.push_back(std::make_unique<btRigidBody>(info));
    bodies_.back()->setActivationState(DISABLE_DEACTIVATION);
    world_.addRigidBody(bodies_.back().get());
  }

  double dt_;
  btDefaultCollisionConfiguration configuration_;
  btCollisionDispatcher dispatcher_;
  btDbvtBroadphase broadphase_;
  btSequentialImpulseConstraintSolver solver_;
  btDiscreteDynamicsWorld world_;
  std::vector<std::unique_ptr<btCollisionShape>> shapes_;
  std::vector<std::unique_ptr<btRigidBody>> bodies_;
  std::vector<std::unique_ptr<btTypedConstraint>> constraints_;
};

}  // namespace

std::unique_ptr<Engine> make_bullet(const Scene& scene) { return std::make_unique<BulletEngine>(scene); }

}  // namespace peers
