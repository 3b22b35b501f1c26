"""Batches: the same bits as single worlds, on any number of threads; failures are told."""
import unittest

import numpy as np
import parts

import rotule


def arm():
    """Two links on hinges."""
    scene = rotule.Scene(name="arm")
    scene.add_body(name="upper", mass=1.0, position=[0.25, 0, 0], shape={"box": {"size": [0.5, 0.1, 0.1]}}, contacts=False)
    scene.add_body(name="lower", mass=0.5, position=[0.75, 0, 0], shape={"box": {"size": [0.5, 0.1, 0.1]}}, contacts=False)
    scene.add_joint("hinge", name="shoulder", between=["world", "upper"], at=[0, 0, 0], axis=[0, 1, 0])
    scene.add_joint("hinge", name="elbow", between=["upper", "lower"], at=[0.5, 0, 0], axis=[0, 1, 0])
    return scene


class Bits(unittest.TestCase):
    def test_worlds_of_a_batch_are_worlds(self):
        random = np.random.default_rng(7)
        for recipe, control, gains in (("exact", "torque", {}), ("balanced", "speed", {"strength": 20.0}),
                                       ("balanced", "position", {"stiffness": 50.0, "damping": 5.0})):
            actions = random.normal(size=(20, 16, 2))
            hashes = []
            for threads in (1, 2, 5, 0):
                batch = rotule.Batch(arm(), 16, recipe, control=control, threads=threads, **gains)
                self.assertEqual(batch.motors, ["shoulder", "elbow"])
                for row in actions:
                    observed = batch.step(row, 3)
                hashes.append(batch.state_hash())
                for i in (0, 15):
                    np.testing.assert_array_equal(observed[i, :2], batch[i].joint_positions)
                    np.testing.assert_array_equal(observed[i, 2:], batch[i].joint_rates)
            for other in hashes[1:]:
                np.testing.assert_array_equal(hashes[0], other)
            for i in (0, 3, 15):
                alone = rotule.World(arm(), recipe)
                for row in actions[:, i]:
                    for name, value in zip(("shoulder", "elbow"), row):
                        target = {"torque": lambda v: rotule.MotorTorque(v), "speed": lambda v: rotule.MotorSpeed(v, 20.0),
                                  "position": lambda v: rotule.MotorPosition(v, 50.0, 5.0)}[control](value)
                        alone.set_motor(name, target)
                    alone.step(3)
                self.assertEqual(alone.state_hash(), int(hashes[0][i]))

    def test_reset_brings_back_the_start(self):
        batch = rotule.Batch(arm(), 4, observe=["positions"])
        start, hashes = batch.observations.copy(), batch.state_hash()
        batch.step(np.ones((4, 2)), 10)
        moved = batch.state_hash()
        batch.reset([1, 2])
        np.testing.assert_array_equal(batch.state_hash(), [moved[0], hashes[1], hashes[2], moved[3]])
        np.testing.assert_array_equal(batch.reset(), start)
        np.testing.assert_array_equal(batch.state_hash(), hashes)
        batch.step(np.ones((4, 2)), 10)
        np.testing.assert_array_equal(batch.state_hash(), moved)


class Failures(unittest.TestCase):
    def test_one_that_fails_does_not_stop_the_others(self):
        batch = rotule.Batch(parts.free_body(), 3, {"integrator": "rk4"}, observe=["positions"])
        batch[1].set_velocity("ball", [9e99, 0, 0])
        batch[1].set("dt", 1e9)
        with self.assertRaisesRegex(rotule.StepError, "world 1: step 1"):
            batch.step()
        self.assertEqual(list(batch.failed), [1])
        self.assertEqual([batch[i].steps for i in (0, 2)], [1, 1])
        batch.step()  # told once
        self.assertEqual([batch[i].steps for i in (0, 2)], [2, 2])
        batch.reset([1])
        self.assertEqual(batch.failed, {})

    def test_joints_that_break(self):
        scene = arm()
        scene.data["joints"][1]["hinge"]["breaking_force"] = 1e-3
        batch = rotule.Batch(scene, 2)
        with self.assertRaisesRegex(rotule.StepError, "broke"):
            batch.step(n=5)
        self.assertTrue(np.all(np.isnan(batch.observations)))
        self.assertEqual(batch.reset().shape, (2, 4))
        self.assertTrue(np.all(np.isfinite(batch.observations)))

    def test_arguments(self):
        with self.assertRaisesRegex(ValueError, r"\(2, 2\)"):
            rotule.Batch(arm(), 2).step(np.zeros((2, 3)))
        with self.assertRaisesRegex(ValueError, "world 1.*elbow"):
            rotule.Batch(arm(), 2).step([[0, 0], [0, np.nan]])
        with self.assertRaises(KeyError):
            rotule.Batch(arm(), 2, motors=["knee"])
        with self.assertRaises(KeyError):
            rotule.Batch(arm(), 2, observe=["colours"])
        for control in ("speed", "position"):  # motors without strength would do nothing, and say nothing
            with self.assertRaisesRegex(rotule.Error, "must be greater than 0"):
                rotule.Batch(arm(), 2, control=control)
        with self.assertRaises(rotule.Error):
            rotule.Batch(arm(), 2, control="wish")
        with self.assertRaises(IndexError):
            rotule.Batch(arm(), 2)[2]
        self.assertEqual(len(rotule.Batch(arm(), 2)), 2)
        self.assertEqual(len([world for world in rotule.Batch(arm(), 3)]), 3)


class Environment(unittest.TestCase):
    def make(self, **options):
        def tilt(world, random):
            world.set_velocity("bob", [0, 0, float(random.normal())])
            world.project()

        return rotule.envs.WorldEnv(parts.pendulum(), lambda world, action: -abs(world.joint_position("pivot")),
                                    terminated=lambda world: abs(world.joint_position("pivot")) > 1.0, randomise=tilt, limit=5.0,
                                    recipe={"dial": "exact", "dt": 0.01}, **options)

    def test_the_interface(self):
        env = self.make(max_actions=5)
        first, info = env.reset(seed=3)
        self.assertEqual((first.shape, info), ((2,), {}))
        self.assertTrue(env.observation_space.contains(first))
        self.assertTrue(env.action_space.contains(env.action_space.sample()))
        for k in range(5):
            observed, reward, terminated, truncated, info = env.step([0.5])
            self.assertIsInstance(reward, float)
            self.assertEqual((terminated, truncated), (False, k == 4))
            self.assertTrue(info["report"].converged)
        again, _ = env.reset(seed=3)
        np.testing.assert_array_equal(first, again)
        other, _ = env.reset()
        self.assertFalse(np.array_equal(first, other))
        self.assertTrue(env.render().startswith("<svg"))
        with self.assertRaises(ValueError):
            env.step([0.5, 0.5])
        env.close()

    def test_it_ends(self):
        env = self.make()
        env.reset(seed=1)
        for _ in range(200):
            if env.step([5.0])[2]:
                return
        self.fail("the pendulum fell by more than 1 rad, and the episode went on")


if __name__ == "__main__":
    unittest.main()
