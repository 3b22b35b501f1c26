"""Scenes that several tests use."""
import rotule


def pendulum(length=1.0):
    """A bob on a massless rod from the origin, released level with it."""
    scene = rotule.Scene(name="pendulum")
    scene.add_body(name="bob", mass=2.0, position=[length, 0, 0], shape={"sphere": {"radius": 0.05}})
    scene.add_joint("hinge", name="pivot", between=["world", "bob"], at=[0, 0, 0], axis=[0, 1, 0])
    return scene


def ball_on_ground():
    """A ball of 1 kg, 0.5 m above a plane."""
    scene = rotule.Scene(name="ball")
    scene.add_material(name="clay", friction=0.5, restitution=0.0)
    scene.add_body(name="ground", fixed=True, shape={"plane": {}}, material="clay")
    scene.add_body(name="ball", mass=1.0, position=[0, 0, 0.6], shape={"sphere": {"radius": 0.1}}, material="clay")
    return scene


def free_body():
    """A ball that turns, far from everything and without weight."""
    scene = rotule.Scene(gravity=[0, 0, 0])
    scene.add_body(name="ball", mass=1.0, velocity=[1, 0, 0], angular_velocity=[0, 0, 1], shape={"sphere": {"radius": 0.1}})
    return scene
