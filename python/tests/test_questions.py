"""Queries, problems and solvers, analyses, inverse problems, recordings."""
import gc
import math
import os
import pathlib
import tempfile
import unittest

import numpy as np
import parts

import rotule


class Queries(unittest.TestCase):
    def setUp(self):
        self.world = rotule.World(parts.ball_on_ground())

    def test_rays(self):
        hit = self.world.cast_ray([0, 0, 2], [0, 0, -3])
        self.assertEqual(self.world.name(hit.body), "ball")
        self.assertAlmostEqual(hit.distance, 1.3)
        np.testing.assert_allclose(hit.normal, [0, 0, 1], atol=1e-12)
        self.assertEqual(self.world.name(self.world.cast_ray([0, 0, 2], [0, 0, -1], moving=False).body), "ground")
        self.assertIsNone(self.world.cast_ray([0, 0, 2], [0, 0, 1]))
        self.assertEqual(len(self.world.cast_ray_through([0, 0, 2], [0, 0, -1])), 2)
        with self.assertRaises(TypeError):
            self.world.cast_ray([0, 0, 2], [0, 0, 1], colour="red")

    def test_many_rays(self):
        random = np.random.default_rng(1)
        origins = np.column_stack([random.uniform(-0.2, 0.2, (300, 2)), np.full(300, 2.0)])
        directions = np.tile([0.0, 0, -1], (300, 1))
        distances, bodies, normals = self.world.cast_rays(origins, directions)
        r2 = np.sum(origins[:, :2] ** 2, axis=1)
        expected = np.where(r2 < 0.01, 1.4 - np.sqrt(np.maximum(0.01 - r2, 0)), 2.0)
        np.testing.assert_allclose(distances, expected, atol=1e-9)
        np.testing.assert_array_equal(bodies, np.where(r2 < 0.01, 1, 0))
        np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1)

    def test_shapes(self):
        ball = {"sphere": {"radius": 0.1}}
        hit = self.world.sweep(ball, [0, 0, 2], [0, 0, -2])
        self.assertAlmostEqual(hit.fraction, 0.6, places=5)
        self.assertEqual(self.world.overlap(ball, [0, 0, 0.65]), [self.world.body("ball")])
        self.assertEqual(self.world.bodies_at([0, 0, 0.6]), [self.world.body("ball")])
        self.assertAlmostEqual(self.world.nearest_body([0, 0, 1.0]).distance, 0.3)
        self.assertAlmostEqual(self.world.distance("ball", "ground").distance, 0.5)


class Problems(unittest.TestCase):
    def test_one_of_ones_own(self):
        # A body of 2 kg at 3 m/s, stopped along x: the impulse is -6 N s.
        problem = rotule.Problem(1, [(1, -1, 0)])
        problem.inverse_mass[0] = np.diag([0.5] * 6)
        problem.J_b[0] = [1, 0, 0, 0, 0, 0]
        problem.b[0] = -3
        x, report = rotule.solve(problem, "ldlt")
        self.assertAlmostEqual(x[0], -6)
        self.assertTrue(report.converged)
        self.assertLess(rotule.residual(problem, x).scale_free, 1e-12)
        problem.lower[0] = 0  # it may push only
        self.assertEqual(rotule.solve(problem, {"name": "pgs", "max_iterations": 50})[0][0], 0)
        self.assertNotEqual(problem.why_not("ldlt"), "")
        with self.assertRaises(rotule.Error):
            rotule.solve(problem, "ldlt")
        with self.assertRaises(KeyError):
            rotule.solve(problem, "gauss")

    def test_views_keep_the_problem_alive(self):
        problem = rotule.Problem(3, [(3, 0, 1), (3, 1, 2)], [(1, 2, 0, True, 0.5)])
        J, b, blocks, friction = problem.J_a, problem.b, problem.blocks, problem.friction
        b[:] = np.arange(6)
        np.testing.assert_array_equal(problem.b, np.arange(6))
        del problem
        gc.collect()
        J[:] = 1
        self.assertEqual(b.sum(), 15)
        np.testing.assert_array_equal(blocks["body_b"], [1, 2])
        self.assertEqual(friction["mu"][0], 0.5)

    def test_nonsense_is_refused(self):
        problem = rotule.Problem(1, [(1, -1, 0)])
        problem.blocks["body_b"] = 77
        for ask in (lambda: rotule.solve(problem, "ldlt"), lambda: rotule.residual(problem, [0.0]), lambda: problem.why_not("ldlt"),
                    problem.validate):
            with self.assertRaises(rotule.Error):
                ask()
        with self.assertRaises(ValueError):
            rotule.residual(rotule.Problem(1, [(1, -1, 0)]), [0.0, 0.0])

    def test_those_of_a_world(self):
        world = rotule.World("tower_5", "balanced")
        world.keep_problems()
        world.step(5)
        problem = world.problem(0)
        answers = [rotule.solve(problem, name)[0] for name in ("prox_newton", "nncg")]
        for x in [*answers, world.multipliers(0)]:
            self.assertLess(rotule.residual(problem, x).scale_free, 1e-3)
        world.step(5)  # the copy is one's own
        self.assertLess(rotule.residual(problem, answers[0]).scale_free, 1e-6)
        solver = rotule.Solver("prox_newton")
        np.testing.assert_array_equal(solver.solve(problem)[0], answers[0])


class Analyses(unittest.TestCase):
    def test_the_doctor(self):
        checkup = rotule.check("four_bar")
        self.assertEqual(checkup.degrees_of_freedom, 1)
        self.assertGreater(sum(one.rows for one in checkup.redundant), 0)

    def test_modes_of_a_pendulum(self):
        scene = rotule.Scene()
        scene.add_body(name="bob", mass=1.0, position=[0, 0, -2], shape={"sphere": {"radius": 0.1}})
        scene.add_joint("hinge", name="pivot", between=["world", "bob"], at=[0, 0, 0], axis=[0, 1, 0])
        world = rotule.World(scene, "exact")
        expected = math.sqrt(9.81 * 2 / (4 + 0.4 * 0.01)) / (2 * math.pi)
        (mode,) = rotule.modes(world)
        self.assertAlmostEqual(mode.frequency, expected, places=9)
        model = rotule.state_space(world, ["pivot"])
        self.assertEqual((model.A.shape, model.B.shape), ((2, 2), (2, 1)))
        self.assertAlmostEqual(abs(np.linalg.eigvals(model.A).imag).max() / (2 * math.pi), expected, places=9)
        linear = rotule.linearise(world)
        self.assertLess(linear.unbalance, 1e-9)
        self.assertEqual(linear.M.shape, (6, 6))

    def test_relaxation(self):
        scene = rotule.Scene()
        scene.add_body(name="weight", mass=1.0, position=[0, 0, -1])
        scene.add_force("spring", between=["weight", "world"], to=[0, 0, 0], stiffness=100.0)
        world = rotule.World(scene, "exact")
        positions = world.positions
        self.assertTrue(rotule.relax(world, 1e-9).reached)
        self.assertAlmostEqual(positions[0, 2], -1 - 9.81 / 100, places=6)

    def test_inverse_problems(self):
        from test_batch import arm

        world = rotule.World(arm(), "exact")
        report = rotule.ik(world, [rotule.PointTarget("lower", [0.6, 0, 0.3], at=[0.25, 0, 0])])
        self.assertTrue(report.reached)
        chain = rotule.Arm(world, "lower", at=[0.25, 0, 0])
        tip, _ = chain.tip(world.joint_positions)
        np.testing.assert_allclose(tip, [0.6, 0, 0.3], atol=1e-9)
        q, reached, _ = chain.solve([0.1, -0.2], [0.5, 0, -0.4])
        self.assertTrue(reached)
        np.testing.assert_allclose(chain.tip(q)[0], [0.5, 0, -0.4], atol=1e-9)
        # Torques that hold the arm still, told to its motors, do.
        dynamics = rotule.InverseDynamics(world)
        for name in world.body_names:
            world.set_velocity(name, [0, 0, 0])
        torques, _, unexplained = dynamics.solve(world, np.zeros((2, 6)))
        self.assertLess(unexplained, 1e-9)
        for (joint, axis), torque in zip(dynamics.actuators, torques):
            world.set_motor(joint, rotule.MotorTorque(torque), axis)
        before = world.joint_positions.copy()
        world.step(100)
        np.testing.assert_allclose(world.joint_positions, before, atol=1e-6)

    def test_reduced_coordinates(self):
        from test_batch import arm

        world = rotule.World(arm(), "exact")
        model = rotule.ReducedModel(world)
        self.assertEqual((model.positions, model.velocities, model.outside), (2, 2, []))
        q, u = np.array([0.3, -0.7]), np.array([1.0, 2.0])
        model.place(world, q, u)
        np.testing.assert_allclose(world.joint_positions, q, atol=1e-13)
        np.testing.assert_allclose(model.velocity(world), u, atol=1e-13)
        acceleration = np.array([0.5, -3.0])
        tau = model.inverse_dynamics(q, u, acceleration)
        np.testing.assert_allclose(model.mass_matrix(q) @ acceleration + model.bias(q, u), tau, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(model.forward_dynamics(q, u, tau), acceleration, rtol=1e-11)
        # The mass matrix is what the kinetic energy sees.
        self.assertAlmostEqual(0.5 * u @ model.mass_matrix(q) @ u, world.diagnostics().kinetic_energy, places=12)
        self.assertEqual(model.jacobian(q, "lower", [0.25, 0, 0]).shape, (6, 2))
        by_position, by_velocity = model.inverse_dynamics_derivatives(q, u, acceleration)
        step = np.array([0, 1e-6])
        difference = (model.bias(q, u + step) - model.bias(q, u - step)) / 2e-6
        np.testing.assert_allclose(by_velocity[:, 1], difference, atol=1e-7)
        self.assertEqual(by_position.shape, (2, 2))


class Recordings(unittest.TestCase):
    def test_what_is_written_is_read(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "run.h5"
            world = rotule.World("double_pendulum")
            recording = rotule.record(world, path, 0.1)
            self.assertEqual(len(recording), world.steps + 1)
            position = recording["position"]
            self.assertEqual(position.shape, (len(recording), len(world.body_names), 3))
            np.testing.assert_array_equal(position[-1], world.positions)
            self.assertAlmostEqual(recording["time"][-1], world.time)
            self.assertEqual(recording.body_names, world.body_names)
            self.assertEqual(recording.recipe["dt"], world.dt)
            self.assertIn("kinetic_energy", recording.keys())
            self.assertEqual(rotule.describe_quantity("kinetic_energy")[0], "J")
            with self.assertRaises(KeyError):
                recording["colour"]
            self.assertEqual(rotule.World(recording.scene).body_names, world.body_names)

    def test_a_failure_leaves_no_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.h5")
            with self.assertRaises(ZeroDivisionError):
                with rotule.Recorder(rotule.World("pendulum"), path) as recorder:
                    recorder.capture()
                    raise ZeroDivisionError
            self.assertEqual(os.listdir(folder), [])


class Viewing(unittest.TestCase):
    def test_the_viewer_or_a_clear_word(self):
        import urllib.request
        from unittest import mock

        if rotule.viewer.program() is None:
            with self.assertRaisesRegex(rotule.Error, "ROTULE_PROGRAM"):
                rotule.view("pendulum", open_browser=False)
            return
        world = rotule.World("pendulum")
        world.step(10)
        try:
            viewer = rotule.view(world, open_browser=False)
        except rotule.Error as error:
            self.assertIn("without the viewer's page", str(error))  # a program that was built so
            return
        with viewer:
            with urllib.request.urlopen(viewer.url, timeout=10) as page:
                self.assertEqual(page.status, 200)
            self.assertIn("iframe", viewer._repr_html_())
        with mock.patch.object(rotule.viewer, "program", return_value=None):
            with self.assertRaisesRegex(rotule.Error, "ROTULE_PROGRAM"):
                rotule.view("pendulum")


if __name__ == "__main__":
    unittest.main()
