"""An arm of three hinges follows a circle: inverse kinematics gives angles, a PD law with gravity compensation gives torques."""
import numpy as np

import rotule

lengths = (0.4, 0.35, 0.25)
scene = rotule.Scene(name="arm")
reach, before = 0.0, "world"
for k, length in enumerate(lengths):
    scene.add_body(name=f"link_{k}", mass=2.0 * length, position=[reach + length / 2, 0, 0],
                   shape={"box": {"size": [length, 0.05, 0.05]}}, contacts=False)
    scene.add_joint("hinge", name=f"axis_{k}", between=[before, f"link_{k}"], at=[reach, 0, 0], axis=[0, 1, 0])
    reach, before = reach + length, f"link_{k}"
# Torques are told anew a thousand times a second: the step of a controller.
world = rotule.World(scene, {"dial": "exact", "dt": 1e-3})
arm = rotule.Arm(world, "link_2", at=[lengths[2] / 2, 0, 0])
dynamics = rotule.InverseDynamics(world, list(arm.joints))

# Gains as accelerations per error, made torques by the inertia about each axis, roughly: it only shapes the response.
stiffness, damping, inertia = 900.0, 60.0, np.array([0.3, 0.1, 0.015])
still = np.zeros((len(world.bodies()), 6))


def on_circle(t):
    """A circle of 0.1 m, once around in 2 s."""
    return [0.75 + 0.1 * np.cos(np.pi * t), 0, 0.1 * np.sin(np.pi * t)]


# The arm begins on the path; from then on each solution is where the search for the next one starts.
assert rotule.ik(world, [rotule.PointTarget("link_2", on_circle(0), at=[lengths[2] / 2, 0, 0])]).reached
q_before, worst = np.array(world.joint_positions), 0.0
for step in range(4000):
    q_now, reached, _ = arm.solve(q_before, on_circle(world.time))
    assert reached
    rate = (q_now - q_before) / world.dt
    q_before = q_now
    weight, _, _ = dynamics.solve(world, still)
    torque = weight + inertia * (stiffness * (q_now - world.joint_positions) + damping * (rate - world.joint_rates))
    for name, value in zip(arm.joints, torque):
        world.set_motor(name, rotule.MotorTorque(value))
    world.step()
    if world.time > 1:
        tip, _ = arm.tip(world.joint_positions)
        goal, _ = arm.tip(q_now)
        worst = max(worst, float(np.linalg.norm(tip - goal)))
print(f"twice around a circle of 0.1 m; the tip was at most {1e3 * worst:.1f} mm off the path in the last 3 s")
assert worst < 0.01
