#pragma once
// The exceptions of the library: Error, a single line that names the place and the remedy; and Interrupted.
#include <exception>
#include <stdexcept>
#include <string>

namespace rotule {

/// Thrown for every kind of bad input and for a simulation that left the realm of numbers. `what()` is one line, such as
/// `/bodies/3/mass: must be greater than 0, is -1`; callers that know the file put its name in front.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message);
  Error(const std::string& place, const std::string& message);
};

/// Thrown by World::step where World::interrupt was called: the world is as it was before that step. Not an Error: nothing is
/// wrong, and whoever has another way to try must not try it.
class Interrupted : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override { return "interrupted"; }
};

}  // namespace rotule
