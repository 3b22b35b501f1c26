#pragma once
// What can be asked of a scene or a world beside its motion: whether its joints make sense, how it oscillates about an
// equilibrium, how long a step may be, where it rests (relaxation.h), and a run whose slices of time go on at the same time.
#include <rotule/parareal.h>
#include <rotule/relaxation.h>
#include <rotule/world.h>

#include <complex>
#include <string>
#include <vector>

namespace rotule {

// The mechanism doctor (F5): what is wrong with a scene, by name. Looked at in the pose in which the joints are closed:
//   degrees of freedom = 6 n - rank J, with J over the n bodies that can move;
//   a row of J is redundant where others imply it;
//   a joint is in conflict where Newton projection (A7 c) cannot close it.
// The rank is that of this very pose: a mechanism in a singular pose has more freedom there than elsewhere.

/// Something that a user should know, with the number that gave it away and what to do.
struct Remark {
  enum class Grade { note, warning, grave };
  /// A value for a place of the scene file, as a JSON pointer and JSON text; "/bodies/-" appends.
  struct Edit {
    std::string place, value;
  };
  std::string kind;  // contacts_off, motor_without_strength, ...
  Grade grade = Grade::warning;
  std::string text;         // a sentence, with the number
  std::string flags;        // settings that mend it: "--set dt=1e-4"
  std::vector<Edit> edits;  // or changes of the scene that do, all of them at once
};

struct Checkup {
  struct Gap {
    std::string joint;
    double error = 0;  // m or rad
  };
  struct MassRatio {
    std::string joint;
    std::string heavy, light;
    double ratio = 1;
  };
  int bodies = 0, fixed = 0, particles = 0, joints = 0, islands = 0;  // particles: those that are not pinned
  int rows = 0;                                                       // equations of all joints
  int rank = 0;
  int degrees_of_freedom = 0;  // those that there are: 6 n - rank; by counting equations alone, 6 n - rows
  std::vector<Redundancy> redundant;
  std::vector<Gap> open;               // joints that do not meet in the pose described
  std::vector<Gap> conflicts;          // joints that projection cannot close
  double largest_mass_ratio = 1;       // across a joint
  std::vector<MassRatio> mass_ratios;  // those that iterative solvers will feel, largest first
  std::vector<std::string> point_masses;
  double stable_step = infinity;  // s: estimate of the longest step that the recipe's method bears, by springs and dampers
  double ms_per_step = 0;         // measured over a few steps of a copy, where that was asked for
  std::vector<Remark> remarks;    // gravest first
};

/// By the scene's own recipe (recipe_of). `measure`: also how long steps take. Throws Error where the scene makes no sense at
/// all.
Checkup examine(const Scene& scene, bool measure = false);

// Small motions about an equilibrium. With sigma the small motion of all movable bodies (six each: translation, rotation
// vector, world axes), then of all movable particles (three each), and no velocity but its own,
//   M sigma'' + D sigma' + K sigma = J^T dlambda,   J sigma = 0.
// K = -d(f + J^T lambda)/dq: springs and their like, and constraint forces, which turn with their bodies (geometric stiffness,
// F1); weight and the constant forces of a user have no stiffness. D = -df/du. Without damping, on the null space N of J this is
// the symmetric eigenproblem
//   N^T K N y = omega^2 N^T M N y,   sigma = N y.
// Wakes that sections remember (FlowSection::unsteady) are states beside sigma and sigma': damped modes and eigenvalues know
// them, normal modes hold them still. K is that of wakes as they are.
// It means what it says only at an equilibrium: `unbalance` tells how far from one the pose is. All matrices are dense, so
// that bodies should be counted in hundreds at most.

struct Linearisation {
  std::vector<BodyId> bodies;  // the movable ones: six columns each, in this order
  std::vector<int> particles;  // the movable ones: three columns each, behind the bodies
  MatX M, K, D, J;             // SI: kg and kg m^2; N/m and N m/rad; N s/m and N m s/rad; rows of all joints
  double unbalance = 0;        // largest acceleration that the pose would have at rest, m/s^2 or rad/s^2
  // Wakes of unsteady sections, z, three numbers each: z' = wake_rates z + wake_by_motion sigma + wake_by_velocity sigma', and
  // forces wake_forces z beside those of the motion.
  MatX wake_rates, wake_by_motion, wake_by_velocity, wake_forces;
  // Where contacts were asked for: those that stay closed; that touch without pressing, and are left out; and those among the
  // first that would need more friction than they have.
  int pressed_contacts = 0, open_contacts = 0, slipping_contacts = 0;
};

/// Bodies that touch and press each other can be held together for small motions, as contacts of linear theory are: along the
/// normal by the surfaces' own stiffness and damping, by the stiffness given, or rigidly; along the surfaces, where there is
/// friction, by a share of that stiffness, or rigidly.
struct LinearisationSettings {
  bool contacts = false;
  double contact_stiffness = 0;  // N/m, of each point at which rigid surfaces touch; 0: rigid
  double shear_ratio = 0;        // stiffness along the surfaces over that across; 0: what sticks does not move
};

/// At the present pose, with velocities set aside. Throws Error where a torque that a user set acts: constant in world axes it
/// has no potential, and K would not be symmetric.
Linearisation linearise(const World& world, const LinearisationSettings& settings = {});

struct Modes {
  VecX squared_frequencies;  // omega^2 in (rad/s)^2, smallest first; negative where the equilibrium is unstable
  MatX shapes;               // one column sigma each, of M-norm one
};

/// A basis of the motions that the joints allow, as columns: J N = 0.
MatX allowed_motions(const Linearisation& linearisation);

/// All modes of the constrained motion without its damping. Redundant rows of J are recognised by a rank-revealing QR.
Modes normal_modes(const Linearisation& linearisation);

/// All lambda (1/s) of the constrained motion exp(lambda t) with its damping.
std::vector<std::complex<double>> eigenvalues(const Linearisation& linearisation);

// The fastest oscillation of a system of springs, omega = sqrt(largest eigenvalue of M^-1 K) with K = -df/dq at the present
// state: what limits the step of an explicit method (B5, E4). On the imaginary axis, without damping, it is stable up to
//   h omega = 2 (semi-implicit Euler, leapfrog), 2.83 (RK4), 0 (explicit Euler, RK2).
// For particles and free bodies, however many; joints are not looked at (`normal_modes` does, with dense matrices).

struct LargestFrequency {
  double frequency = 0;  // rad/s; 0 where nothing is stiff
  int iterations = 0;
  bool converged = true;
};

/// To the relative tolerance given. Throws Error where there are joints.
LargestFrequency largest_frequency(const World& world, double tolerance = 1e-6);

// A run cut into slices of time that go on at the same time (A12).

struct PararealSettings {
  int slices = 8;
  int threads = 0;          // 0: as many as the machine has
  double tolerance = 1e-9;  // m, rad, m/s, rad/s: how far from the fine run the end may be
  Recipe coarse;            // a cheaper run of the same scene
};

/// The recipe with steps 16 times as long, or with the square root of its tolerance where it has one.
Recipe coarser(const Recipe& recipe);

/// Moves the world on by `duration` seconds, in steps of its recipe's dt. Walls are not for it: a shock that comes in one run and
/// not in the other has no difference to carry on. Throws Error then, and where the settings make no sense.
PararealReport run_parareal(World& world, double duration, const PararealSettings& settings);

}  // namespace rotule
