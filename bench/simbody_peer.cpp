#include "simbody_peer.h"

#include <Simbody.h>

namespace rotule::bench {

namespace {

SimTK::Vec3 convert(const std::array<double, 3>& v) { return {v[0], v[1], v[2]}; }
SimTK::Rotation rotation(const PeerBody& body) {
  const auto& q = body.orientation;
  return SimTK::Rotation(SimTK::Quaternion(q[0], q[1], q[2], q[3]));
}

std::unique_ptr<SimTK::Integrator> make(const std::string& method, const SimTK::System& system) {
  if (method == "RK-Merson") return std::make_unique<SimTK::RungeKuttaMersonIntegrator>(system);
  if (method == "RK3") return std::make_unique<SimTK::RungeKutta3Integrator>(system);
  if (method == "RK2") return std::make_unique<SimTK::RungeKutta2Integrator>(system);
  if (method == "Verlet") return std::make_unique<SimTK::VerletIntegrator>(system);
  if (method == "SemiExplicitEuler2") return std::make_unique<SimTK::SemiExplicitEuler2Integrator>(system);
  if (method == "CPodes-Adams") return std::make_unique<SimTK::CPodesIntegrator>(system, SimTK::CPodes::Adams);
  if (method == "CPodes-BDF") return std::make_unique<SimTK::CPodesIntegrator>(system, SimTK::CPodes::BDF);
  return std::make_unique<SimTK::RungeKuttaFeldbergIntegrator>(system);
}

}  // namespace

struct SimbodyPeer::Implementation {
  SimTK::MultibodySystem system;
  SimTK::SimbodyMatterSubsystem matter{system};
  SimTK::GeneralForceSubsystem forces{system};
  SimTK::State start;
  std::vector<SimTK::MobilizedBodyIndex> index;
};

SimbodyPeer::~SimbodyPeer() = default;

SimbodyPeer::SimbodyPeer(const std::vector<PeerBody>& bodies, const std::array<double, 3>& gravity)
    : implementation_(std::make_unique<Implementation>()) {
  using SimTK::MobilizedBody;
  using SimTK::Transform;
  Implementation& s = *implementation_;
  const SimTK::Vec3 g = convert(gravity);
  if (g.norm() > 0) SimTK::Force::UniformGravity(s.forces, s.matter, g);
  // Body frames at the centres of mass with the bodies' own axes. Joint frames: in world axes at the start, z along a hinge.
  const auto to_world = [&](const PeerBody& body) {
    if (body.kind != PeerBody::Joint::hinge) return SimTK::Rotation();
    return SimTK::Rotation(SimTK::UnitVec3(convert(body.axis)), SimTK::ZAxis);
  };
  const auto station = [](const PeerBody& body, const PeerBody& joint, const SimTK::Rotation& axes) {
    return Transform(~rotation(body) * axes, ~rotation(body) * (convert(joint.joint) - convert(body.center_of_mass)));
  };
  for (const PeerBody& body : bodies) {
    const auto& I = body.inertia;
    const SimTK::Body::Rigid rigid(
        SimTK::MassProperties(body.mass, SimTK::Vec3(0), SimTK::Inertia(I[0][0], I[1][1], I[2][2], I[0][1], I[0][2], I[1][2])));
    MobilizedBody& parent = body.parent < 0 ? s.matter.updGround() : s.matter.updMobilizedBody(s.index[body.parent]);
    const SimTK::Rotation axes = to_world(body);
    const Transform on_parent = body.parent < 0 ? Transform(axes, convert(body.joint)) : station(bodies[body.parent], body, axes);
    const Transform on_body = station(body, body, axes);
    switch (body.kind) {
      case PeerBody::Joint::free:
        s.index.push_back(MobilizedBody::Free(parent, Transform(), rigid, Transform()).getMobilizedBodyIndex());
        break;
      case PeerBody::Joint::ball:
        s.index.push_back(MobilizedBody::Ball(parent, on_parent, rigid, on_body).getMobilizedBodyIndex());
        break;
      case PeerBody::Joint::hinge:
        s.index.push_back(MobilizedBody::Pin(parent, on_parent, rigid, on_body).getMobilizedBodyIndex());
        break;
    }
  }

  // Joint frames coincide at the start, so that only velocities (and a free body's place) are to be set.
  s.start = s.system.realizeTopology();
  s.system.realizeModel(s.start);
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const PeerBody& body = bodies[i];
    const MobilizedBody& mobod = s.matter.getMobilizedBody(s.index[i]);
    const SimTK::Vec3 omega = convert(body.angular_velocity);
    if (body.kind == PeerBody::Joint::free) {
      mobod.setQToFitTransform(s.start, Transform(rotation(body), convert(body.center_of_mass)));
      mobod.setUToFitVelocity(s.start, SimTK::SpatialVec(omega, convert(body.velocity)));
    } else {
      const SimTK::Vec3 parents = body.parent < 0 ? SimTK::Vec3(0) : convert(bodies[body.parent].angular_velocity);
      mobod.setUToFitAngularVelocity(s.start, ~to_world(body) * (omega - parents));
    }
  }
}

std::vector<std::string> SimbodyPeer::methods() {
  return {"RK-Merson", "RK-Fehlberg", "RK3", "RK2", "Verlet", "SemiExplicitEuler2", "CPodes-Adams", "CPodes-BDF"};
}

bool SimbodyPeer::has_fixed_steps(const std::string& method) { return method.rfind("CPodes", 0) != 0; }

SimbodyPeer::Run SimbodyPeer::run(const std::string& method, double accuracy, int steps, double duration,
                                  const std::function<void(const std::function<void()>&)>& timed) {
  Implementation& s = *implementation_;
  const std::unique_ptr<SimTK::Integrator> integrator = make(method, s.system);
  integrator->setFinalTime(duration);
  if (steps > 0)
    integrator->setFixedStepSize(duration / steps);
  else
    integrator->setAccuracy(accuracy);
  integrator->initialize(s.start);
  s.system.realize(integrator->getState(), SimTK::Stage::Velocity);
  const double before = s.system.calcEnergy(integrator->getState());
  timed([&] {
    while (integrator->getTime() < duration) integrator->stepTo(duration);  // the first call may do nothing but begin
  });
  const SimTK::State& end = integrator->getState();
  s.system.realize(end, SimTK::Stage::Velocity);
  Run out;
  out.energy_error = s.system.calcEnergy(end) / before - 1;
  for (const SimTK::MobilizedBodyIndex i : s.index) {
    const SimTK::Vec3 p = s.matter.getMobilizedBody(i).getBodyOriginLocation(end);
    out.centers.push_back({p[0], p[1], p[2]});
  }
  return out;
}

}  // namespace rotule::bench
