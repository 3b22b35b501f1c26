#pragma once
// A page on one run, for people: what was simulated, how accurate it was and by which measure, where the time went, what there is
// to worry about, and the plots. It stands alone (html_page.h). Verdicts are rules of thumb, written out beside each number.
#include <string>

#include "record/trajectory.h"

namespace rotule {

/// HTML. Throws Error where the recording has no frames or holds something that is no recording of a run.
std::string report_page(const TrajectoryReader& recording, const std::string& name);

}  // namespace rotule
