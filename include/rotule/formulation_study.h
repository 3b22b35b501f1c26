#pragma once
// Right-hand sides of the constraints compared (C1 to C4, C7): the same scene, the same semi-implicit step (velocities, then
// positions with the new ones; as positions, Verlet's), the same exact solver, and one of
//   velocity       A x = -J u* - (beta/h) C,                                              u* = u + h M^-1 f
//   taylor         A x = -J u* - (h/2) J'u - (beta/h) C
//   acceleration   A x = -J (u* - u) - h J'u - beta_v J u - (beta_p/h) C,                 x = h lambda
//   hybrid         that of accelerations, then A x = -J u - (beta/h) C with the velocities that it gave: two solves a step
// without stabilisation (all beta zero) and with it. Nothing else closes the joints: what is measured is the formulation's own.
// Of the energy, what fluid, dampers and forces did with the mean velocity of each step is accounted for. Particles move by the
// same steps.
#include <rotule/scene.h>

#include <string>
#include <vector>

namespace rotule {

struct FormulationStudy {
  double dt = 0;        // s; 0: that of the scene's recipe
  double duration = 0;  // s; 0: that of the scene's recipe
  double baumgarte = 0.2;
  double beta_velocity = 0.2, beta_position = 0.01;
};

struct FormulationTrial {
  std::string formulation;
  bool stabilised = false;
  double dt = 0;            // s
  double energy_lost = 0;   // J of 1 J: mean over the first tenth of the run less mean over the last, over the energy's scale
  double energy_error = 0;  // likewise, largest distance from the start at any step
  double joint_error = 0;   // m, rad: largest at any step
  std::int64_t solves = 0;  // of constraint systems
  double seconds = 0;       // of this thread's work, wall time
  bool blew_up = false;
};

/// Every formulation with and without stabilisation, at dt; and those of one solve a step at dt/2 too, which costs what the
/// hybrid costs at dt. Throws Error where the scene has no joints, or a fluid on a grid, contacts, walls or drives.
std::vector<FormulationTrial> compare_formulations(const Scene& scene, const FormulationStudy& study = {});

}  // namespace rotule
