#pragma once
// How a settings struct describes itself: one list of fields, from which JSON, command line, HDF5 attributes,
// documentation and bounds for tuning are all made.
#include <limits>
#include <string_view>

namespace rotule {

/// Name, unit, meaning and legal range of one field.
struct Field {
  std::string_view name;
  std::string_view unit;  // SI, "" where there is none
  std::string_view meaning;
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  bool above_min = false;      // whether `min` itself is excluded
  std::string_view word = {};  // what files may say instead of a number, kept as `min`: "auto"
};

}  // namespace rotule
