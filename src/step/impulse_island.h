#pragma once
// Bodies that joints and contacts tie together in this very step, and the algebra of all of it (D3): the rows of their joints, as
// the joints' own islands wrote them, then those of motors, limits and the like, then those of contacts.
#include "constraint/pool/contact.h"
#include "constraint/pool/drive.h"
#include "mechanism/island.h"

namespace rotule {

/// What islands are made of, each in one list.
struct Parts {
  const std::vector<Island>& jointed;
  const std::vector<DriveRow>& drives;
  const std::vector<Contact>& contacts;
  int joint_count = 0;
  bool cone = true;
};

struct ImpulseIsland {
  std::vector<int> bodies;          // movable partners, rising; the place in this list is the index in `problem`
  std::vector<VelocitySlot> slots;  // of each, in u
  std::vector<int> jointed;         // islands of joints
  std::vector<int> drives;          // rows of drives
  std::vector<int> contacts;        // indices of contacts
  ConstraintProblem problem;
  VecX local;  // six velocities per body
  VecX start;  // likewise, before any impulse
  VecX after;  // likewise, at the end of the step, where somebody asks
  VecX x;      // the answer to `problem`
  double residual = 0;
  SolveReport report;
  ConstraintProblem kept_problem;  // the dynamic solve and its answer, where asked for
  VecX kept_x;
  Workspace workspace;
  ResidualScratch residual_scratch;

  /// The structure: blocks, laws and sizes. `normals_only`: what the projection of positions wants, limits and the normals of
  /// contacts, without friction. `local_of` maps model bodies to places in `bodies`.
  void assemble(const Parts& parts, std::span<const int> local_of, bool normals_only);
  /// J, masses and compliance of the present kinematics; joints' rows from their islands.
  void write_rows(const Parts& parts, const Model& model, const Kinematics& kinematics);
  void gather(const VecX& global);
  /// The same bodies and parts as another; keeps its own algebra and memory, so that a second problem of the same island does not
  /// undo the structure that solvers know of the first.
  void take_parts(const ImpulseIsland& other);
  void scatter(VecX& global) const;
  void solve(const SolverSettings& solver);
  void judge();
  void apply();
  /// Blocks of the k-th of its drives and contacts.
  [[nodiscard]] const ConstraintBlock& drive_block(std::size_t k) const { return problem.blocks[first_drive_ + k]; }
  [[nodiscard]] const ConstraintBlock& contact_block(std::size_t k) const { return problem.blocks[first_contact_ + k]; }
  /// Rows of joints come first.
  [[nodiscard]] int joint_rows() const { return joint_rows_; }

 private:
  std::size_t first_drive_ = 0, first_contact_ = 0;
  int joint_rows_ = 0;
};

/// What the search for islands works in, and its result: the places of model bodies in their islands.
struct IslandSearch {
  std::vector<int> local_of;
  std::vector<int> parent, island_of;
};

/// Splits what joints and contacts tie together, in order of the first body; keeps the memory of `out`. Returns how many there
/// are.
int split_into_impulse_islands(const Model& model, const Parts& parts, std::vector<ImpulseIsland>& out, IslandSearch& search);

}  // namespace rotule
