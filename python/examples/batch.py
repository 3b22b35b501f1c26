"""A search by many worlds at once: which rhythm of a weak motor swings a pendulum over the top?"""
import numpy as np

import rotule

scene = rotule.Scene(name="swing")
scene.add_body(name="bob", mass=1.0, position=[0, 0, -1], shape={"sphere": {"radius": 0.1}})
scene.add_joint("hinge", name="pivot", between=["world", "bob"], at=[0, 0, 0], axis=[0, 1, 0])

n = 64
batch = rotule.Batch(scene, n, {"dial": "exact", "dt": 5e-3}, motors=["pivot"])
frequency = np.linspace(1.0, 5.0, n)  # rad/s
highest = np.zeros(n)
for step in range(1200):
    torque = 3.0 * np.sin(frequency * step * 5e-3)  # N m; holding the bob level would take 9.81
    observed = batch.step(torque[:, None])
    highest = np.maximum(highest, np.abs(observed[:, 0]))
best = int(np.argmax(highest))
print(f"best of {n}: {frequency[best]:.2f} rad/s lifts the bob by {np.degrees(highest[best]):.0f} degrees")
assert highest[best] > 2.5 and len(batch.failed) == 0

# Any of them alone gives the same bits.
alone = rotule.World(scene, {"dial": "exact", "dt": 5e-3})
for step in range(1200):
    alone.set_motor("pivot", rotule.MotorTorque(3.0 * np.sin(frequency[best] * step * 5e-3)))
    alone.step()
assert alone.state_hash() == int(batch.state_hash()[best])
