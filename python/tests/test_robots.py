"""Files of robots: scenes, remarks, and the motors of MJCF files."""
import pathlib
import tempfile
import unittest
import warnings

import numpy as np
import rotule

robots = pathlib.Path(rotule.__file__).parent / "share" / "rotule" / "scenes" / "robots"

LAGGING = """<mujoco><compiler angle="radian"/><option gravity="0 0 0" timestep="0.001"/><worldbody><body name="rod">
<joint name="j" axis="0 0 1"/><inertial pos="0.5 0 0" mass="1" diaginertia="0.1 0.1 0.15"/></body></worldbody>
<actuator><general name="m" joint="j" dyntype="filterexact" dynprm="0.05" gear="2" ctrlrange="-1 1"/></actuator></mujoco>"""


class Files(unittest.TestCase):
    def test_a_path_of_a_robot_is_a_scene_and_says_that_there_are_remarks(self):
        with self.assertWarnsRegex(UserWarning, "could not be taken over"):
            world = rotule.World(str(robots / "quadruped.xml"))
        world.step(100)
        self.assertGreater(world.position("trunk")[2], 0.2)

    def test_all_that_a_file_says_is_there(self):
        robot = rotule.read_robot(str(robots / "arm.urdf"), base="fixed", hold=True)
        self.assertTrue(all(remark.line > 0 for remark in robot.remarks if remark.file))
        self.assertIn("flange", [body["name"] for body in robot.scene.data["bodies"]])
        self.assertGreater(len(robot.ratings), 3)
        text, remarks = rotule.to_urdf(robot.scene)
        self.assertIn("<robot", text)
        with tempfile.TemporaryDirectory() as folder:
            again = pathlib.Path(folder) / "again.urdf"
            again.write_text(text)
            back = rotule.read_robot(str(again), base="fixed").scene.data
        weigh = lambda scene: sum(body.get("mass", 0) for body in scene["bodies"] if not body.get("fixed"))
        self.assertAlmostEqual(weigh(back), weigh(robot.scene.data), places=12)

    def test_mistakes_are_errors_with_a_place(self):
        with self.assertRaisesRegex(rotule.Error, "base"):
            rotule.read_robot(str(robots / "arm.urdf"), base="flying")
        with self.assertRaises(rotule.Error):
            rotule.read_robot("/no/such/robot.urdf")
        with self.assertRaisesRegex(rotule.Error, r"r\.xml:1"), tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "r.xml"
            path.write_text("<robot name='r'/>")
            rotule.read_robot(str(path))


class Motors(unittest.TestCase):
    def test_a_motor_lags_behind_its_control(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "r.xml"
            path.write_text(LAGGING)
            robot = rotule.read_robot(str(path), motors_act=False)
        world = rotule.World(robot.scene, "exact")
        motors = rotule.Actuators(robot, world)
        self.assertEqual(motors.names, ["m"])
        h, tau = 1e-3, 0.05
        for _ in range(100):
            motors.tell(world, [9.0], h)
            world.step(h=h)
        self.assertAlmostEqual(motors.activations[0], 1 - np.exp(-0.1 / tau), places=12)
        # 0.4 kg m^2 under 2 (1 - exp(-t / tau)), the torque of each step being that at its end.
        rate = sum(2 * (1 - np.exp(-k * h / tau)) for k in range(1, 101)) * h / 0.4
        self.assertAlmostEqual(world.joint_rates[0], rate, places=9)
        with self.assertRaises(rotule.Error):
            motors.tell(world, [1.0, 2.0])

    def test_servos_of_a_quadruped_take_controls(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            robot = rotule.read_robot(str(robots / "quadruped.xml"), motors_act=False)
        world = rotule.World(robot.scene)
        motors = rotule.Actuators(robot, world)
        controls = np.array(motors.controls)
        for _ in range(250):
            motors.tell(world, controls)
            world.step()
        self.assertGreater(world.position("trunk")[2], 0.2)
        self.assertGreater(np.abs(world.joint_positions).max(), 0.1)


class Sensors(unittest.TestCase):
    def test_numbers_follow_what_is_read(self):
        robot = rotule.read_robot(str(robots / "quadruped.xml"), motors_act=False)
        self.assertEqual([sensor.type for sensor in robot.sensors][:3], ["gyro", "accelerometer", "framequat"])
        world = rotule.World(robot.scene)
        motors = rotule.Actuators(robot, world)
        sensors = rotule.Sensors(robot, world)
        felt, all_numbers = sensors["acceleration"], sensors.values
        self.assertEqual(len(all_numbers), sum(sensor.size for sensor in sensors.list))
        for _ in range(500):
            motors.tell(world, motors.controls)
            world.step()
        self.assertIs(sensors.read(world, motors).base, sensors)
        self.assertAlmostEqual(float(np.linalg.norm(felt)), 9.81, places=1)  # it stands
        feet = sum(float(sensors[name][0]) for name in sensors.names if name.endswith("touch"))
        weight = 9.81 * sum(body.get("mass", 0) for body in robot.scene.data["bodies"] if not body.get("fixed"))
        self.assertAlmostEqual(feet / weight, 1, places=1)
        with self.assertRaises(ValueError):
            all_numbers[0] = 1
        with self.assertRaisesRegex(rotule.Error, "gyro"):
            sensors["gyroo"]


if __name__ == "__main__":
    unittest.main()
