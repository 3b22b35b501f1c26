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
  return std::make_unique<SimTK::RungeKuttaFeldbergIntegrator>(system);
}

}  // namespace

struct SimbodyPeer::Implementation {
  SimTK::MultibodySystem system;
  SimTK::SimbodyMatterSubsystem matter{system};
  SimTK::State start;
  std::vector<SimTK::MobilizedBodyIndex> index;
};

SimbodyPeer::~SimbodyPeer() = default;

SimbodyPeer::SimbodyPeer(const std::vector<PeerBody>& bodies) : implementation_(std::make_unique<Implementation>()) {
  using SimTK::MobilizedBody;
  Implementation& s = *implementation_;
  // Body frames at the centres of mass with the bodies' own axes; joint frames parallel to them.
  const auto station = [](const PeerBody& body, const std::array<double, 3>& at) {
    return SimTK::Transform(~rotation(body) * (convert(at) - convert(body.center_of_mass)));
  };
  for (const PeerBody& body : bodies) {
    const auto& I = body.inertia;
    const SimTK::Body::Rigid rigid(
        SimTK::MassProperties(body.mass, SimTK::Vec3(0), SimTK::Inertia(I[0][0], I[1][1], I[2][2], I[0][1], I[0][2], I[1][2])));
    if (body.parent < 0) {
      s.index.push_back(
          MobilizedBody::Free(s.matter.Ground(), SimTK::Transform(), rigid, SimTK::Transform()).getMobilizedBodyIndex());
    } else {
      MobilizedBody& parent = s.matter.updMobilizedBody(s.index[body.parent]);
      s.index.push_back(MobilizedBody::Ball(parent, station(bodies[body.parent], body.joint), rigid, station(body, body.joint))
                            .getMobilizedBodyIndex());
    }
  }

  s.start = s.system.realizeTopology();
  s.system.realizeModel(s.start);
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const PeerBody& body = bodies[i];
    const MobilizedBody& mobod = s.matter.getMobilizedBody(s.index[i]);
    const SimTK::Vec3 omega = convert(body.angular_velocity);
    if (body.parent < 0) {
      mobod.setQToFitTransform(s.start, SimTK::Transform(rotation(body), convert(body.center_of_mass)));
      mobod.setUToFitVelocity(s.start, SimTK::SpatialVec(omega, convert(body.velocity)));
    } else {
      const SimTK::Rotation to_parent(~rotation(bodies[body.parent]));
      mobod.setQToFitRotation(s.start, to_parent * rotation(body));
      mobod.setUToFitAngularVelocity(s.start, to_parent * (omega - convert(bodies[body.parent].angular_velocity)));
    }
  }
}

std::vector<std::string> SimbodyPeer::methods() { return {"RK-Merson", "RK3", "RK-Fehlberg"}; }

SimbodyPeer::Run SimbodyPeer::run(const std::string& method, double accuracy, int steps, double duration,
                                  const std::function<void(const std::function<void()>&)>& timed) {
  Implementation& s = *implementation_;
  const std::unique_ptr<SimTK::Integrator> integrator = make(method, s.system);
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
  const SimTK::Vec3 p = s.matter.getMobilizedBody(s.index.front()).getBodyOriginLocation(end);
  return {s.system.calcEnergy(end) / before - 1, {p[0], p[1], p[2]}};
}

}  // namespace rotule::bench
