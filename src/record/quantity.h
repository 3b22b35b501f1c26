#pragma once
// An entry of the list of quantities: what can be said of any of them.
#include <rotule/contacts.h>
#include <rotule/results.h>

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/stage_clock.h"

namespace rotule {

class World;

/// Of what there is one each.
enum class Per : std::uint8_t { run, body, particle, joint, contact };  // of contacts there are others in every frame
/// Whether every recording holds it, or those of older programs lack it.
enum class Age : std::uint8_t { first, added };
/// What `rotule run --json` and reports say of a number's course: bits.
enum Said : std::uint8_t { say_mean = 1, say_max = 2, say_final = 4, say_percentiles = 8 };

/// One step, as whoever asked for it saw it.
struct StepDone {
  StepReport report;
  double milliseconds = 0;  // that it took
};

/// The present moment; the ledger and the contacts are those of the world's present state.
struct Moment {
  const World& world;
  const Diagnostics& ledger;
  const std::vector<ContactResult>& contacts;
};

/// An entry. Exactly one of the functions gives what is recorded; an array with `of_ledger` besides is that number taken apart.
struct Quantity {
  std::string_view key;  // the same word everywhere
  std::string_view unit;
  std::string_view label;  // a word or two
  std::string_view meaning;
  std::string_view dataset = {};  // in recordings; none: not recorded
  Per per = Per::run;
  int components = 1;  // 2: a, b; 3: x, y, z; 4: w, x, y, z; stage_count: the stages of a step
  Age age = Age::added;
  bool whole = false;        // counts
  bool logarithmic = false;  // spans decades
  bool measured = false;     // by a clock: another one each time
  bool by_axis = false;      // along or about the axes of a joint, of which most are locked
  bool from_start = false;   // its course begins before the first step
  unsigned said = 0;
  std::string_view title = {};                   // of its plot; none: the label
  std::string_view length = {};                  // what the length of a vector is called
  std::array<std::string_view, 2> sum_of = {};   // keys
  double (*of_ledger)(const Diagnostics&) = {};  // after a step
  double (*of_step)(const StepDone&) = {};       // of a step; its mean where several steps make one frame
  void (*of_moment)(const Moment&, std::vector<double>&) = {};
};

}  // namespace rotule
