"""Rotule: rigid bodies, joints, contact, springs and particles, with honest errors.

    import rotule
    world = rotule.World("double_pendulum", "exact")
    world.step(1000)
    print(world.positions, world.diagnostics().energy)

Names are those of scene files and of C++; units are SI, quaternions w, x, y, z. `rotule.describe("body")` lists fields with units and
ranges."""
from . import envs, recipes
from ._core import (Actuators, Arm, Balance, Batch, BodyId, BrokenJoint, CastResult, CenterOfMassTarget, Checkup, Diagnostics,
                    DistanceResult, EnergyBalance, ForceId, InverseDynamics, InverseReport, JointError, JointForce, JointId,
                    JointMotion, JointRating, Linearisation, LookTarget, Mode, MomentumBalance, MotorOff, MotorPosition,
                    MotorSpeed, MotorTorque, OrientationTarget, PointTarget, Problem, RayResult, Recorder, Recording,
                    ReducedAxis, ReducedModel, Redundancy, RelaxationReport, Remark, Residual, Restless, Robot, RobotActuator,
                    RobotFrame, RobotRemark, RobotSensor, Sensors, Snapshot, SolveReport, Solver, StateSpace, StepReport, World,
                    __version__, check, describe_quantity, describe_solver, ik, linearise, modes, read_problem, read_robot,
                    recipe_for, recorded_frames, relax, residual, solve, solver_names, state_space, to_urdf)
from .errors import Error, Interrupted, StepError, UnknownName
from .fields import describe
from .recording import record
from .scene import Scene, scene_names
from .viewer import Viewer, view

__all__ = [name for name in dir() if not name.startswith("_")] + ["__version__"]
