#pragma once
// Runs that go on where a recording of theirs ends (rotule run --resume): what a run keeps count of besides its world goes into
// the recording with every checkpoint, and comes back from there. The bits are those of a run that was never stopped.
#include <rotule/world.h>

#include <optional>
#include <string>

#include "commands.h"
#include "record/trajectory.h"

namespace rotule::app {

/// A run as its recording tells it.
struct Resumed {
  RunOptions options;  // as it was begun, with what may be said anew
  NamedScene named;
  Recipe recipe;
  std::int64_t steps = 0;  // at which it is to end
  std::string recording;   // its name when it is finished
  bool copied = false;     // made of a finished recording, which stays as it is until this one is finished
  ResumePoint point;
  Json run;  // of the point
};

/// Throws Error, by name, where the recording cannot be gone on with or its scene has changed.
Resumed take_up(const RunOptions& given);

/// The recording, to be written on.
TrajectoryWriter go_on(const Resumed& resumed);

/// What does not change while a run goes on, for its checkpoints.
Json run_as_begun(const RunOptions& options, const NamedScene& named, std::int64_t steps);
/// A sum of the scene as it was found, before options change it.
std::string scene_sum(const NamedScene& named);

/// What the world counts for its warnings, and which joints it has lost.
Json counts_of(const World& world);
/// The world as it was at the point.
void restore(World& world, const Resumed& resumed);

/// A line on stderr where the file is a recording that was not finished.
void say_if_unfinished(const std::string& path);

}  // namespace rotule::app
