#pragma once
// All that a step changes, as one value: what is kept of the start is a copy of it, and a step that went wrong is taken back by
// one assignment.
#include <rotule/results.h>

#include <vector>

#include "constraint/pool/contact.h"
#include "constraint/pool/drive.h"
#include "dynamics/flow.h"
#include "mechanism/linkage.h"

namespace rotule {

/// What two bodies gave each other at a blow within the step, or in a part of it that a blow ended.
struct Struck {
  int a = world_body, b = world_body;
  Vec3 point, normal;  // as of a contact
  Vec3 impulse;        // on b, N s
};

struct Attempt {
  State state;                      // of a step made by impulses; integrators move a state of their caller's
  std::vector<JointAnswer> joints;  // one per linkage
  std::vector<DriveRow> drives;
  std::vector<Contact> contacts;
  StepReport report;
  std::vector<Struck> struck;
  Flow flow;               // work and impulses of this step, where books are kept
  double given_work = 0;   // J done in this step by kinematic bodies, belts and constraints that time drives
  double push_energy = 0;  // J that moving bodies out of each other has added in this step
};

/// What one solve adds to the report of its step.
inline void count(const SolveReport& solve, StepReport& report) {
  ++report.solves;
  report.iterations += solve.iterations;
  report.converged = report.converged && solve.converged;
}

}  // namespace rotule
