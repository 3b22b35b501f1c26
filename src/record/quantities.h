#pragma once
// What a recording can be asked to plot, by name: the ledger (energy, momentum, errors, contacts, work), and single bodies and
// joints (chest.position.z, elbow.force). A name may have a "*" for any characters: *.speed is one line for each body.
#include <string>
#include <string_view>
#include <vector>

#include "record/svg_plot.h"
#include "record/trajectory.h"

namespace rotule {

struct QuantityName {
  std::string name, unit, meaning;
};

/// All there are: those of the run as a whole, then BODY.… and JOINT.….
const std::vector<QuantityName>& quantity_names();

/// A plot over time. Throws Error for a name that is not known (the known ones are in the message), a body or joint that is not
/// there, and a recording that does not hold it.
Plot plot_quantity(const TrajectoryReader& recording, const std::string& name);

/// Those that are there in this recording, and not zero all the time, by the names of its bodies and joints; a pattern where they
/// are many.
std::vector<QuantityName> quantities_in(const TrajectoryReader& recording);

/// What plots of a run one looks at first: energy and its error, then what this run has of joints, contacts and solving.
std::vector<std::string> usual_quantities(const TrajectoryReader& recording);

}  // namespace rotule
