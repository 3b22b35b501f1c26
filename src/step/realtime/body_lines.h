#pragma once
// Bodies as the sweeps see them. The state (doubles) is the truth; what stands here is made of it, bit for bit the same whether
// it was carried over from the last step or made anew.
//
// A body is two lines of 64 bytes, which lanes fetch by transposing four numbers at a time:
//   motion  sqrt(m) v (3), sqrt(I) omega (3), 1/sqrt(m), load;  then sqrt(m) dx (3), sqrt(I) dtheta (3): moved in this step
//   pose    position as a sum of two floats (3 + 3), orientation x y z w, I^(-1/2) in world axes (xx xy xz yy yz zz)
// Velocities are whitened: with w = M^(1/2) v a row's J M^(-1/2) serves for J and for M^-1 J^T alike. A fixed body has 1/sqrt(m)
// = I^(-1/2) = 0: whatever it is given, it stays. A kinematic one is so heavy (led_root) that whatever pushes it is lost in its
// velocity's rounding, and so has a velocity and a way like others. Distances are differences of two such positions, exact to a
// float's rounding of the difference wherever in the world they are.
#include <cstdint>
#include <vector>

#include "model/model.h"
#include "step/realtime/rows.h"

namespace rotule::realtime {

/// One body's 16 floats.
struct alignas(64) Line {
  float at[16];
};
struct alignas(32) HalfLine {
  float at[8];
};

/// Line 0 belongs to nobody: empty lanes name it. Bodies follow in their order.
inline constexpr int nobody = 0;
inline constexpr int line_of(int body) { return body + 1; }
inline constexpr int body_of(int line) { return line - 1; }

/// sqrt(m) of kinematic bodies, and what 1/sqrt(m) of all others is above.
inline constexpr float led_root = 1e12F, least_inverse_root = 2e-12F;

struct BodyLines {
  int count = 0;  // lines in use, nobody's included
  std::vector<Line> motion, pose;
  std::vector<HalfLine> last;                // velocities at the start of the substep
  std::vector<HalfLine> kick;                // what forces add to them in one
  std::vector<Row> mass_root, inverse_root;  // sqrt(m), 1/sqrt(m): bodies in lanes
  std::vector<Row> inertia_root[6];          // I^(1/2) and I^(-1/2) in body axes
  std::vector<Row> inverse_inertia_root[6];  // zero for fixed bodies
  std::vector<Row> core;                     // half the thickness of its thinnest part, m; infinite where it has none
  std::vector<Row> arm;                      // how far turning by one radian carries points of its shapes, m
  std::vector<Row> load;                     // sum of the normal forces on it in the last step, N
  std::vector<Row> burden;                   // what its inertia is multiplied by in this step, 1 or more (bear_loads)
  std::vector<Row> kept;                     // what its contacts' impulses are to be multiplied by (let_go), else 1
  std::vector<Row> energy;                   // J: of its motion when the step began (note_energy)
  std::vector<Row> calm;                     // how slow it is, 0 to 1, and how little what moves near it can move it
  std::vector<Row> push;                     // N s: of its motion, or of what moves near it, where that is fast (find_calm)
  /// How far any point of the body may have moved since the world began, in units of 2^-23 m, modulo 2^32: pairs that are apart
  /// compare the sums of their bodies with the one at which their gap may be used up.
  std::vector<WholeRow> wandered;
  std::vector<WholeRow> expected;  // the same at the end of this step, if bodies go on as they do

  /// Rows with a body in them that moves: the only ones that a step goes through.
  std::vector<int> rows;
  std::vector<int> every_row;

  void resize(int bodies);
  /// Masses and inertias of one body; whoever sleeps is as heavy as what is fixed.
  void set_mass(int body, const Model& model, bool asleep = false);
  /// After masses were set.
  void list_rows();
  /// Whether it is moved by what pushes it, and awake.
  [[nodiscard]] bool moves(int line) const { return inverse_root[line / row_lanes].lane[line % row_lanes] > least_inverse_root; }
  /// Whether it goes anywhere: it moves, or is kinematic.
  [[nodiscard]] bool goes(int line) const { return inverse_root[line / row_lanes].lane[line % row_lanes] > 0; }
  /// The lines behind it move up.
  void erase(int body);

  [[nodiscard]] std::uint32_t way(int line) const {
    return static_cast<std::uint32_t>(wandered[line / row_lanes].lane[line % row_lanes]);
  }
  [[nodiscard]] std::uint32_t way_ahead(int line) const {
    return static_cast<std::uint32_t>(expected[line / row_lanes].lane[line % row_lanes]);
  }

 private:
  /// f(column of rows) for each of those that hold bodies in lanes.
  template <class F>
  void for_each_column(F&& f) {
    for (auto* column : {&mass_root, &inverse_root, &core, &arm, &load, &burden, &kept, &energy, &calm, &push}) f(*column);
    for (int k = 0; k < 6; ++k) {
      f(inertia_root[k]);
      f(inverse_inertia_root[k]);
    }
    f(wandered);
    f(expected);
  }
  void clear(int line);
};
inline constexpr float wander_unit = 1.0F / 8388608.0F;

}  // namespace rotule::realtime
