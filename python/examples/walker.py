"""A walker that stands: a foot on the ground, a leg, a trunk, motors at ankle and hip. Its gains come from a linear model of itself
(LQR); then it is pushed, and keeps its balance while the foot is held by nothing but contact and friction."""
import numpy as np

import rotule


def build(foot_fixed):
    scene = rotule.Scene(name="walker")
    scene.add_material(name="rubber", friction=0.9)
    scene.add_body(name="ground", fixed=True, shape={"plane": {}}, material="rubber")
    scene.add_body(name="foot", fixed=foot_fixed, mass=2.0, position=[0.03, 0, 0.04], material="rubber",
                   shape={"box": {"size": [0.3, 0.14, 0.08]}}, contacts=not foot_fixed)
    scene.add_body(name="leg", mass=12.0, position=[0, 0, 0.48], shape={"box": {"size": [0.12, 0.2, 0.8]}}, contacts=False)
    scene.add_body(name="trunk", mass=30.0, position=[0, 0, 1.18], shape={"box": {"size": [0.18, 0.3, 0.6]}}, contacts=False)
    scene.add_joint("hinge", name="ankle", between=["foot", "leg"], at=[0, 0, 0.08], axis=[0, 1, 0])
    scene.add_joint("hinge", name="hip", between=["leg", "trunk"], at=[0, 0, 0.88], axis=[0, 1, 0])
    return scene


def lqr(A, B, Q, R):
    """The gain that makes x' = A x - B K x cheapest: from the stable half of the Hamiltonian's eigenvectors."""
    hamiltonian = np.block([[A, -B @ np.linalg.inv(R) @ B.T], [-Q, -A.T]])
    values, vectors = np.linalg.eig(hamiltonian)
    stable = vectors[:, values.real < 0]
    n = len(A)
    P = (stable[n:] @ np.linalg.inv(stable[:n])).real
    return np.linalg.inv(R) @ B.T @ P


model = rotule.state_space(rotule.World(build(foot_fixed=True), "exact"), ["ankle", "hip"])
to_state = np.linalg.inv(model.C)  # outputs are angles, then rates
K = lqr(model.A, model.B, model.C.T @ np.diag([300.0, 100.0, 10.0, 10.0]) @ model.C, np.diag([1e-3, 1e-3])) @ to_state

world = rotule.World(build(foot_fixed=False), {"dial": "balanced", "dt": 2e-3})
tilt = 0.0
for step in range(3000):
    if step == 500:
        world.apply_impulse("trunk", [12.0, 0, 0], world.center_of_mass("trunk"))  # N s
    torque = -K @ np.concatenate([world.joint_positions, world.joint_rates])
    world.set_motor("ankle", rotule.MotorTorque(torque[0]))
    world.set_motor("hip", rotule.MotorTorque(torque[1]))
    world.step()
    tilt = max(tilt, abs(world.joint_position("ankle")))
height = world.center_of_mass("trunk")[2]
print(f"pushed by 12 N s: leaned by {np.degrees(tilt):.1f} degrees at most, stands {height:.3f} m high after {world.time:.1f} s")
assert height > 1.17 and abs(world.joint_position("ankle")) < 0.02
