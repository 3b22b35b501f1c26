#pragma once
// Closes joints and takes bodies out of each other by moving them, without giving them speed (A7 c with inequalities): the
// smallest mass-weighted move that closes the joints, brings limits back and leaves no gap negative,
//   w = A mu - b >= 0,  b = -C, overshoot, -phi;   q <- q moved by M^-1 J^T mu,   until nothing is left above the tolerance.
// Then velocities of joints that no contact holds (A7 d).
#include "constraint/formulation/contact_formulation.h"
#include "mechanism/jointed_mechanism.h"
#include "step/split_into_islands.h"

namespace rotule {

class PositionClosing {
 public:
  /// For the islands of a step of h, or of overlaps found at its end; books what it adds to the energy in mechanism.now.
  void close(const ProjectionSettings& settings, const ContactRules& rules, JointedMechanism& mechanism,
             std::span<const Island> islands, const IslandSearch& search, State& s, double t, double h);

 private:
  /// The largest error of an island that is above the tolerance; zero where there is none.
  [[nodiscard]] double error_of(const ContactRules& rules, const JointedMechanism& mechanism, const Island& island,
                                double tolerance) const;
  /// Where moving apart has lifted an island, its motion pays: bodies sank that deep by moving too far, and had the speed from
  /// it. What they have not got to pay with is booked.
  void pay_for_height(JointedMechanism& mechanism, const Island& island, double lifted, State& s);
  void move_apart(const JointedMechanism& mechanism, const IslandSearch& search, const Island& island, double t, Island& moved);

  std::vector<Island> moved_;     // the same islands, with the problems of positions
  std::vector<DriveRow> limits_;  // as they stand now
  std::vector<double> errors_, heights_;
  VecX move_, u_;
};

}  // namespace rotule
