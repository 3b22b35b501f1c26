#pragma once
// Closes joints and takes bodies out of each other by moving them, without giving them speed (A7 c with inequalities): the
// smallest mass-weighted move that closes the joints, brings limits back and leaves no gap negative,
//   w = A mu - b >= 0,  b = -C, overshoot, -phi;   q <- q moved by M^-1 J^T mu,   until nothing is left above the tolerance.
// Then velocities of joints that no contact holds (A7 d).
//
// Lifting costs energy. What touches pays for it with what it lost in this step and with its motion; what cannot pay all, at rest
// or nearly, is lifted as far as it can, and keeps the rest of an overlap as shallow as steps leave it (1e-3 of its size). Deeper
// ones somebody made: they are taken out whatever it costs, and that is booked.
#include "constraint/formulation/contact_formulation.h"
#include "mechanism/jointed_mechanism.h"
#include "step/split_into_islands.h"

namespace rotule {

/// What is least of the move that takes bodies apart: by mass, light ones give way to heavy ones, and may be squeezed from side
/// to side under them without end; by length, the heavy are lifted.
enum class LeastMove { by_mass, by_length };

class PositionClosing {
 public:
  /// At the start of a step: what bodies have.
  void begin(const Model& model, const State& s, Gang* gang);
  /// For the islands of a step of h, or of overlaps found at its end; books what it adds to the energy in mechanism.now. Whether
  /// anything moved.
  bool close(const ProjectionSettings& settings, const ContactRules& rules, JointedMechanism& mechanism,
             std::span<const Island> islands, const IslandSearch& search, State& s, double t, double h,
             LeastMove least = LeastMove::by_mass);

 private:
  /// The largest error of an island that is above the tolerance; zero where there is none.
  [[nodiscard]] double error_of(const ContactRules& rules, const JointedMechanism& mechanism, const Island& island,
                                double tolerance) const;
  /// What an island that touches something has lost in this step so far, and the energy of its motion, J.
  [[nodiscard]] double lost_by(const Model& model, const Island& island, const State& s) const;
  double means_of(const JointedMechanism& mechanism, const Island& island, const State& s);
  /// Whether an overlap is no deeper than a step may leave it, and nothing but contacts would be open.
  [[nodiscard]] bool may_stay(const JointedMechanism& mechanism, const Island& island, double depth) const;
  /// Where moving apart has lifted an island, its motion pays: bodies sank that deep by moving too far, and had the speed from
  /// it. What they have not got to pay with is booked.
  static void pay_for_height(JointedMechanism& mechanism, const Island& island, double lifted, double kinetic, State& s);
  /// A share of the way from before anything moved to here.
  void go_part_of_the_way(const Island& island, double share, State& s) const;
  void move_apart(const ContactRules& rules, JointedMechanism& mechanism, const IslandSearch& search, const Island& island,
                  double t, LeastMove least, Island& moved);
  /// Joints come first: where they hold bodies in each other, contacts give way, and what stays is said.
  void note_held(const ContactRules& rules, std::span<const Contact> contacts, Island& moved);

  std::vector<Island> moved_;                    // the same islands, with the problems of positions
  std::vector<DriveRow> limits_;                 // as they stand now
  std::vector<double> errors_, heights_, lost_;  // per island
  std::vector<double> had_;                      // J, per body: of motion and weight at the start of the step
  std::vector<char> shallow_, stays_;            // per island: may stay as it is; does, since it cannot pay
  std::vector<char> held_;                       // per contact: joints keep it from opening
  State kept_;                                   // before anything moved
  VecX move_, u_;
};

}  // namespace rotule
