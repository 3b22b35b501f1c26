"""Other threads run while a world steps; Ctrl-C is heard inside of a step."""
import os
import signal
import threading
import time
import unittest

import numpy as np
import parts

import rotule


def press_ctrl_c(after):
    timer = threading.Timer(after, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    return timer


class Interrupts(unittest.TestCase):
    def setUp(self):
        self.before = signal.getsignal(signal.SIGINT)
        signal.signal(signal.SIGINT, signal.default_int_handler)

    def tearDown(self):
        signal.signal(signal.SIGINT, self.before)

    def long_step(self):
        """A world of which one step of a million seconds takes hours: error control makes inner steps."""
        return rotule.World("double_pendulum", {"integrator": "dormand_prince"})

    def test_inside_of_one_step(self):
        world = self.long_step()
        world.step()
        positions, before = world.positions, world.state_hash()
        place = positions.copy()
        timer, begun = press_ctrl_c(0.2), time.monotonic()
        with self.assertRaises(KeyboardInterrupt):
            world.step(h=1e6)
        timer.join()
        self.assertLess(time.monotonic() - begun, 5)
        self.assertEqual((world.state_hash(), world.steps), (before, 1))
        np.testing.assert_array_equal(positions, place)
        # The same bits follow as if nothing had happened.
        other = self.long_step()
        world.step(20)
        other.step(21)
        self.assertEqual(world.state_hash(), other.state_hash())

    def test_between_many_steps(self):
        world = rotule.World(parts.free_body())
        timer = press_ctrl_c(0.2)
        with self.assertRaises(KeyboardInterrupt):
            world.step(10**12)
        timer.join()
        self.assertGreater(world.steps, 100)
        self.assertAlmostEqual(world.positions[0, 0], world.time, places=6)  # arrays are those of the last whole step

    def test_a_handler_that_raises_nothing(self):
        heard = []
        signal.signal(signal.SIGINT, lambda *_: heard.append(1))
        world, other = rotule.World("mannequin"), rotule.World("mannequin")
        timer = press_ctrl_c(0.02)
        while not heard:
            world.step(20)
        timer.join()
        other.step(world.steps)
        self.assertEqual(world.state_hash(), other.state_hash())

    def test_a_batch(self):
        batch = rotule.Batch(parts.free_body(), 8, observe=["positions"])
        timer = press_ctrl_c(0.2)
        with self.assertRaises(KeyboardInterrupt):
            batch.step(n=10**12)
        timer.join()
        self.assertEqual(len({batch[i].steps for i in range(8)}), 1)  # all have made the same number

    def test_by_another_thread(self):
        world = self.long_step()
        timer = threading.Timer(0.2, world.interrupt)
        timer.start()
        with self.assertRaises(rotule.Interrupted):
            world.step(h=1e6)
        timer.join()

    def test_other_threads_run_meanwhile(self):
        world = self.long_step()
        count = 0

        def run():
            nonlocal count
            while not ended.is_set():
                count += 1
                time.sleep(0.001)

        ended = threading.Event()
        thread = threading.Thread(target=run)
        thread.start()
        timer = press_ctrl_c(0.3)
        with self.assertRaises(KeyboardInterrupt):
            world.step(h=1e6)
        seen = count
        ended.set()
        thread.join()
        timer.join()
        self.assertGreater(seen, 20)


if __name__ == "__main__":
    unittest.main()
