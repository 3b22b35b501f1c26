"""World: motion, state, changes between steps, errors."""
import gc
import math
import pathlib
import tempfile
import unittest

import numpy as np
import parts

import rotule


class Motion(unittest.TestCase):
    def test_a_pendulum_keeps_its_energy_and_falls_as_computed(self):
        world = rotule.World(parts.pendulum(), "exact")
        start = world.diagnostics().energy
        self.assertEqual(world.step(500).converged, True)
        self.assertAlmostEqual(world.time, 500 * world.dt)
        self.assertLess(abs(world.diagnostics().energy - start), 1e-9)
        # The rate of a compound pendulum at angle q below the horizontal: I q'^2 / 2 = m g l sin q.
        inertia = 2.0 * (1 + 0.4 * 0.05**2)
        q, rate = world.joint_position("pivot"), world.joint_rate("pivot")
        self.assertAlmostEqual(inertia * rate**2 / 2, 2.0 * 9.81 * math.sin(abs(q)), places=9)

    def test_n_steps_are_n_times_one_step(self):
        many, one = rotule.World("double_pendulum"), rotule.World("double_pendulum")
        many.step(50)
        solves = sum(one.step().solves for _ in range(50))
        self.assertEqual(many.state_hash(), one.state_hash())
        again = rotule.World("double_pendulum")
        self.assertEqual(again.step(50).solves, solves)

    def test_steps_of_another_length(self):
        world = rotule.World(parts.free_body(), "exact")
        world.step(h=0.25)
        self.assertEqual(world.time, 0.25)
        np.testing.assert_allclose(world.position("ball"), [0.25, 0, 0])
        with self.assertRaises(TypeError):
            world.step(0.25)  # seconds have a name, so that step(1) is never a second

    def test_books(self):
        world = rotule.World(parts.ball_on_ground())
        world.keep_books()
        world.step(int(1 / world.dt))
        books = world.diagnostics().energy_balance
        # All that the fall of 0.5 m set free went into the impact.
        self.assertAlmostEqual(books.impacts, 9.81 * 0.5, delta=0.05)
        contacts = world.contacts()
        self.assertEqual(len(contacts), 1)
        self.assertAlmostEqual(abs(float(contacts["force"][0, 2])), 9.81, places=6)
        self.assertTrue(world.touching("ball", "ground"))

    def test_snapshots_bring_back_the_same_bits(self):
        world = rotule.World("double_pendulum")
        world.step(10)
        saved, time = world.save(), world.time
        world.step(10)
        later = world.state_hash()
        for snapshot in (saved, saved.bytes):
            world.load(snapshot)
            self.assertEqual(world.time, time)
            world.step(10)
            self.assertEqual(world.state_hash(), later)
        with self.assertRaisesRegex(rotule.Error, "snapshot"):
            world.load(b"nonsense")

    def test_recipes(self):
        world = rotule.World(parts.pendulum(), {"integrator": "rk4", "dt": 0.01})
        self.assertEqual(world.recipe["dt"], 0.01)
        world.set("dt", 0.005)
        world.set("integrator", "gauss4")
        self.assertEqual((world.dt, world.recipe["integrator"]["name"]), (0.005, "gauss4"))
        world.recipe = "realtime"
        self.assertAlmostEqual(world.dt, 1 / 60)
        self.assertEqual(rotule.recipes.realtime(parts.pendulum()), world.recipe)
        self.assertLess(rotule.World(parts.pendulum(), 1e-9).step().iterations, 100)
        with self.assertRaises(TypeError):
            rotule.World(parts.pendulum(), 7)


class Arrays(unittest.TestCase):
    def test_arrays_follow_the_world(self):
        world = rotule.World("mannequin")
        arrays = {name: getattr(world, name) for name in ("positions", "orientations", "centers_of_mass", "velocities",
                                                          "angular_velocities", "joint_positions", "joint_rates", "forces")}
        world.step(3)
        for name, array in arrays.items():
            self.assertIs(getattr(world, name), array)  # no new one is made
            self.assertFalse(array.flags.writeable)
        for k, body in enumerate(world.bodies()):
            np.testing.assert_array_equal(arrays["positions"][k], world.position(body))
            np.testing.assert_array_equal(arrays["orientations"][k], world.orientation(body))
            np.testing.assert_array_equal(arrays["centers_of_mass"][k], world.center_of_mass(body))
            np.testing.assert_array_equal(arrays["velocities"][k], world.velocity(body))
            np.testing.assert_array_equal(arrays["angular_velocities"][k], world.angular_velocity(body))
        self.assertEqual(len(world.coordinates), len(arrays["joint_positions"]))
        for name, q in zip(world.coordinates, arrays["joint_positions"]):
            joint, _, axis = name.rpartition(".")
            self.assertEqual(q, world.joint_position(joint or name, axis if joint else ""))

    def test_arrays_outlive_changes_and_the_world(self):
        world = rotule.World(parts.free_body())
        before = world.positions
        row = before[0]
        world.step(10)
        last = before.copy()
        ids = [world.add_body(name=f"more_{k}", mass=1.0, position=[0, 0, 3.0 * k + 3], shape={"sphere": {"radius": 0.1}})
               for k in range(200)]  # the engine's memory moves several times over
        world.step(5)
        self.assertEqual(world.positions.shape, (201, 3))
        self.assertIsNot(world.positions, before)
        np.testing.assert_array_equal(before, last)  # the numbers of the moment at which bodies came
        now = world.velocities
        for one in ids:
            world.remove(one)
        del world
        gc.collect()
        np.testing.assert_array_equal(row, last[0])
        self.assertEqual(now.shape, (201, 3))
        self.assertTrue(np.all(np.isfinite(now)))

    def test_arrays_follow_whatever_the_integrator_does_with_its_memory(self):
        for integrator in ("rk4", "dormand_prince", "radau5", "ab4", "rattle", "implicit_midpoint", "taylor3"):
            world = rotule.World(parts.pendulum(), {"integrator": integrator, "dt": 0.01})
            positions = world.positions
            for _ in range(5):
                world.step()
                np.testing.assert_array_equal(positions[0], world.position("bob"), integrator)
            world.set("integrator", "rk2")
            world.step()
            np.testing.assert_array_equal(positions[0], world.position("bob"), integrator)

    def test_hands_are_followed_too(self):
        world = rotule.World(parts.free_body())
        positions, velocities, forces = world.positions, world.velocities, world.forces
        world.set_pose("ball", [1, 2, 3])
        world.set_velocity("ball", [4, 5, 6])
        world.set_force("ball", [7, 8, 9], [1, 1, 1])
        np.testing.assert_array_equal(positions[0], [1, 2, 3])
        np.testing.assert_array_equal(velocities[0], [4, 5, 6])
        np.testing.assert_array_equal(forces[0], [7, 8, 9, 1, 1, 1])
        world.set_forces(np.zeros((1, 6)))
        np.testing.assert_array_equal(forces[0], np.zeros(6))
        with self.assertRaises(ValueError):
            world.set_forces(np.zeros((2, 6)))

    def test_contacts_keep_their_memory(self):
        world = rotule.World(parts.ball_on_ground())
        world.step(int(1 / world.dt))
        contacts = world.contacts()
        force = contacts["force"].copy()
        ball = world.body("ball")
        self.assertIn((ball.index, ball.generation), {(int(contacts["body_a"][0]), int(contacts["generation_a"][0])),
                                                      (int(contacts["body_b"][0]), int(contacts["generation_b"][0]))})
        world.set_velocity("ball", [0, 0, 5])
        world.step(10)
        del world
        gc.collect()
        np.testing.assert_array_equal(contacts["force"], force)
        self.assertIsNotNone(contacts.base)


class Changes(unittest.TestCase):
    def test_bodies_joints_and_forces_come_and_go(self):
        world = rotule.World(parts.pendulum())
        second = world.add_body(name="second", mass=1.0, position=[2, 0, 0])
        joint = world.add_joint("rod", name="link", between=["bob", "second"])
        spring = world.add_force("spring", between=["second", "world"], from_=[2, 0, 0], to=[2, 0, 1], stiffness=10.0)
        world.step(10)
        self.assertLess(world.joint_error("link").position, 1e-6)
        self.assertTrue(world.contains(second) and world.contains(joint) and world.contains(spring))
        world.remove(joint)
        world.remove(second)
        self.assertEqual(world.body_names, ["bob"])
        self.assertFalse(world.contains(second))
        with self.assertRaises(rotule.Error):
            world.position(second)

    def test_motors(self):
        world = rotule.World(parts.pendulum(), "balanced")
        world.set_motor("pivot", rotule.MotorPosition(0.3, stiffness=1e4, damping=500))
        world.step(int(2 / world.dt))
        self.assertAlmostEqual(world.joint_position("pivot"), 0.3, delta=0.01)
        world.set_motor("pivot", rotule.MotorSpeed(1.0, strength=1e4))
        world.step(100)
        self.assertAlmostEqual(world.joint_rate("pivot"), 1.0, places=6)
        world.set_motor("pivot", rotule.MotorOff())
        with self.assertRaises(rotule.Error):
            world.set_motor("pivot", rotule.MotorTorque(math.nan))


class Errors(unittest.TestCase):
    def test_their_classes_are_those_of_python(self):
        world = rotule.World(parts.pendulum())
        with self.assertRaises(KeyError) as caught:
            world.position("bobb")
        self.assertIsInstance(caught.exception, rotule.Error)
        self.assertIn("bob", str(caught.exception))
        self.assertFalse(str(caught.exception).startswith("'"))
        with self.assertRaises(TypeError):
            world.position(3)
        with self.assertRaisesRegex(TypeError, 'did you mean "mass"'):
            rotule.Scene().add_body(mas=1)
        with self.assertRaises(KeyError):
            rotule.Scene().add_joint("hing", between=["a", "b"])
        with self.assertRaises(KeyError):
            rotule.Scene("no_such_scene")
        scene = parts.pendulum()
        scene.data["bodies"][0]["mass"] = -1
        with self.assertRaisesRegex(ValueError, "/bodies/0/mass: must be greater than 0"):
            rotule.World(scene)
        with self.assertRaisesRegex(ValueError, "JSON"):
            rotule.World({"bodies": [{"mass": math.nan}]})

    def test_a_step_that_overflows(self):
        scene = rotule.Scene(gravity=[0, 0, 0])
        scene.add_body(name="wild", mass=1.0, velocity=[9e99, 0, 0], shape={"sphere": {"radius": 1}})
        world = rotule.World(scene, {"integrator": "rk4"})
        with self.assertRaises(RuntimeError) as caught:
            world.step(h=1e10)
        self.assertIsInstance(caught.exception, rotule.StepError)
        self.assertIn("step 1", str(caught.exception))

    def test_one_thread_at_a_time(self):
        import threading

        world = rotule.World("mannequin")
        seen, done = [], threading.Event()

        def look():
            while not done.is_set():
                try:
                    world.positions
                except rotule.Error as error:
                    seen.append(str(error))
                    return

        thread = threading.Thread(target=look)
        thread.start()
        for _ in range(200):
            world.step(50)
            if seen:
                break
        done.set()
        thread.join()
        self.assertTrue(seen and "another thread" in seen[0])


class Scenes(unittest.TestCase):
    def test_every_shipped_scene_is_found_and_makes_a_world(self):
        names = rotule.scene_names()
        self.assertGreater(len(names), 40)
        for name in ("mannequin", "brackets", "chain_5", "tower_3"):
            world = rotule.World(name)
            world.step()

    def test_round_trips(self):
        scene = rotule.Scene("four_bar")
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "again.json"
            scene.save(path)
            again = rotule.Scene(path)
        self.assertEqual(rotule.World(scene).state_hash(), rotule.World(again).state_hash())
        self.assertEqual(rotule.World(scene.to_json()).state_hash(), rotule.World(scene.data).state_hash())
        self.assertEqual(rotule.Scene(scene), scene)

    def test_posed(self):
        world = rotule.World("four_bar", "exact")
        world.step(100)
        now = rotule.World(world.posed(), "exact")
        np.testing.assert_allclose(now.positions, world.positions, atol=1e-12)
        np.testing.assert_allclose(now.velocities, world.velocities, atol=1e-12)

    def test_descriptions_have_units_and_ranges(self):
        text = rotule.describe("body")
        self.assertIn("mass (float; kg; > 0)", text)
        self.assertIn("dt (float; s; > 0", rotule.describe("recipe"))
        self.assertIn("axis", rotule.describe("hinge"))
        self.assertIn("relaxation", rotule.describe("pgs"))
        for name in rotule.describe().partition(": ")[2].split(", "):
            self.assertTrue(rotule.describe(name))
        with self.assertRaises(KeyError):
            rotule.describe("bodyy")

    def test_pictures(self):
        import xml.etree.ElementTree as tree

        for name in ("mannequin", "brick_wall", "cloth", "kepler"):
            root = tree.fromstring(rotule.World(name)._repr_svg_())
            self.assertGreater(len(root), 2, name)
        self.assertIn("<polygon", rotule.Scene("pendulum")._repr_svg_())


if __name__ == "__main__":
    unittest.main()
