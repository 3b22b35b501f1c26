#pragma once
// What a solver can be asked: which laws it knows besides A x = b. The table of combinations and the contract tests read it.
namespace rotule {

struct SolverTraits {
  bool bounds = false;  // lower <= x <= upper
  bool box = false;     // friction as a box whose size follows the normal
  bool cone = false;    // Coulomb's cone
  bool exact = false;   // ends at rounding after finitely many steps, or says that it did not
};

}  // namespace rotule
