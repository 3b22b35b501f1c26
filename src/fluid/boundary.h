#pragma once
// What the sides of the box say of the fields: ghost cells, wall faces, and the faces through which fluid leaves.
#include "fluid/layout.h"

namespace rotule {

/// Wall faces and ghosts of the velocity: periodic copies; at no-slip walls and inflows the mean of ghost and cell is the side's
/// velocity; at free-slip walls and outflows the ghost is the cell.
void fill_velocity(const GridLayout& layout, Field3& u);
/// Ghosts of a pressure: periodic copies; no gradient at walls; zero on the faces of outflows.
void fill_pressure(const GridLayout& layout, std::vector<double>& p);
/// Faces of outflows carry what is behind them out at the mean speed there: du/dt = -c du/dn.
void outflow_rates(const GridLayout& layout, const Field3& u, Field3& rate);

}  // namespace rotule
