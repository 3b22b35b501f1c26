// What limits of elastic materials do to a world.
#include "model/wear.h"

#include "dynamics/element_wear.h"
#include "world/world_implementation.h"

namespace rotule {

const StepReport& WorldImplementation::wear_elements(const StepReport& report) {
  if (model.forces.elements.limits.empty()) return report;
  const Worn worn = wear_out(model, state);
  if (worn.flowed == 0 && worn.torn == 0) return report;
  report_of_breaking = report;
  report_of_breaking.flowed = worn.flowed;
  report_of_breaking.torn = worn.torn;
  shape.reset();
  judge.reset();
  Flow flow;
  flow[Agent::yield] = -worn.yield;
  flow[Agent::tearing] = -worn.tearing;
  flow[Agent::forces] = worn.pumped;
  stepper->worn(flow, worn.torn > 0);
  return report_of_breaking;
}

}  // namespace rotule
