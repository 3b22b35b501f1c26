#pragma once
// The mechanism doctor (F5): what is wrong with a scene, by name. Looked at in the pose in which the joints are closed:
//   degrees of freedom = 6 n - rank J, with J over the n bodies that can move;
//   a row of J is redundant where others imply it (mechanism/redundant_rows.h);
//   a joint is in conflict where Newton projection (A7 c) cannot close it.
// The rank is that of this very pose: a mechanism in a singular pose has more freedom there than elsewhere.
#include <rotule/results.h>
#include <rotule/scene.h>

#include <string>
#include <vector>

namespace rotule {

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
  int degrees_of_freedom = 0;
  std::vector<Redundancy> redundant;
  std::vector<Gap> open;               // joints that do not meet in the pose described
  std::vector<Gap> conflicts;          // joints that projection cannot close
  double largest_mass_ratio = 1;       // across a joint
  std::vector<MassRatio> mass_ratios;  // those that iterative solvers will feel, largest first
  std::vector<std::string> point_masses;
  std::vector<std::string> remarks;  // on sizes, densities and speeds that hint at wrong units
};

/// Throws Error where the scene makes no sense at all.
Checkup examine(const Scene& scene);

}  // namespace rotule
