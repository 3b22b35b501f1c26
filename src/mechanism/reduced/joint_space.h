#pragma once
// The algebra of an island whose linkages go by coordinates: the island's rows without those that trees keep, and
//   A = J P J^T + C
// with P the trees' answer to impulses (linkage_tree.h), and M^-1 for bodies without joints. Rows are what they leave for the
// joints of trees, so that P is the identity: six rates of a tree are a body of mass 1 to solvers, which go by rows or by bodies
// as they like.
//
// A spring or damper taken at the step's end, on an axis that is a rate of its own, is no row either. Its J u + C x = b gives
// x = (b - J u)/C, so that 1/C weighs along that rate beside the masses, and b/C pushes:
//   H + 1/C  in the place of H,   u_0 = (H + 1/C)^-1 b/C  to begin with.
//
// Stops stand aside with x = 0 until they are overrun: by the motion without impulses, in the last step, or by an answer found
// without them, which is then found anew with them.
#include <rotule/problem.h>

#include <span>
#include <vector>

#include "constraint/pool/drive.h"
#include "mechanism/linkage.h"
#include "mechanism/reduced/dependent_rows.h"
#include "mechanism/reduced/linkage_tree.h"

namespace rotule {

class JointSpace {
 public:
  /// Which rows of an island stay: `linkages` are all there are and `in_island` those of it, whose blocks come first in `whole`;
  /// trees stand beside linkages, or there are none, and the space is not in use then. Blocks of `in_drives` follow from
  /// `first_drive` on.
  void assemble(std::span<LinkageTree> trees, std::span<const Linkage> linkages, std::span<const int> in_island,
                std::span<const int> local_of, std::span<const DriveRow> drives, std::span<const int> in_drives,
                std::size_t first_drive, const ConstraintProblem& whole);
  [[nodiscard]] bool in_use() const { return !parts_.empty(); }
  /// Rows or masses of the island are others now.
  void forget_matrix() { known_ = false; }

  /// Fills in `problem` from the island's: A where it is not known; right-hand sides, bounds and compliance.
  void form(const ConstraintProblem& whole);
  /// The answer x as one to the island's problem, zero for rows that trees keep.
  void spread(const ConstraintProblem& whole, VecX& of_whole);
  /// Whether an answer passes stops that stand aside; `form` has them from then on.
  bool is_overrun(const ConstraintProblem& whole, const VecX& of_whole);
  /// And back.
  void gather(const VecX& of_whole);
  /// Where a row of the island stands in `problem`; -1: nowhere.
  [[nodiscard]] int place_of(int row) const { return place_of_[static_cast<std::size_t>(row)]; }

  /// velocities += P J^T x, for an x of the island.
  void apply_impulses(const ConstraintProblem& whole, const VecX& of_whole, std::span<double> velocities);
  /// Writes what joints of trees gave over h seconds, x being what the other rows gave, into their rows of x.
  void find_joint_impulses(const ConstraintProblem& whole, double h, VecX& of_whole);

  ConstraintProblem problem;
  VecX x;  // the answer to it

 private:
  /// A linkage of the island.
  struct Part {
    LinkageTree* tree = nullptr;
    std::vector<int> places;  // of its bodies in the island
    int first_block = 0;
    std::vector<int> held;                     // per block of its joints: rows that the tree keeps
    std::vector<double> impulses, velocities;  // of its bodies
    struct Soft {
      int row, rate;
    };
    std::vector<Soft> soft;  // rows of the island that are springs and dampers of the tree's rates
    VecX weights, pushes;    // 1/C and b/C, by rates
  };
  /// Where a body of the island is: in a tree, by its place in the linkage, or by itself.
  struct Home {
    int owner = 0, place = -1;
  };
  /// What moves as one, a tree or a body by itself: the rows that act on it, and what they leave for its joints (of a body: J,
  /// and M^-1 times that), so many numbers per row.
  struct Owner {
    int width = 0;
    std::vector<int> rows;
    std::vector<double> y, Dy;
  };
  struct Share {
    int owner = 0, at = 0;
  };
  /// Of drives: a block of the island with one row.
  struct Stop {
    int block;
    bool called;
  };
  void take_rows(const ConstraintProblem& whole, int block, int first, int end);
  void call_stops(const ConstraintProblem& whole);
  void find_shares(const ConstraintProblem& whole);
  void form_matrix();
  void set_dependent_aside(const ConstraintProblem& whole);
  void sum_impulses(const ConstraintProblem& whole, const VecX& of_whole);
  /// Motions of bodies that springs and dampers alone give, into forces_.
  bool find_given(const ConstraintProblem& whole);

  std::vector<Part> parts_;
  std::vector<Home> homes_;
  std::vector<Owner> owners_;               // parts, then bodies by themselves
  std::vector<int> place_of_, row_of_;      // of the island's rows in `problem`; and back
  std::vector<int> block_of_;               // of rows of `problem`, the island's block
  std::vector<int> joint_rows_;             // of `problem`: equations of joints
  std::vector<std::vector<Share>> shares_;  // per row of `problem`
  std::vector<double> slack_;               // likewise: compliance of what is set aside
  std::vector<double> sums_;                // of one row, by column
  std::vector<std::int32_t> columns_, next_;
  DependentRows dependent_;
  MatX elimination_;
  VecX free_, forces_;
  VecX moved_;
  bool any_soft_ = false;
  std::vector<Stop> stops_;
  struct {
    std::size_t rows = 0, blocks = 0;
  } always_;  // in `problem` before those of stops
  bool known_ = false;
};

}  // namespace rotule
