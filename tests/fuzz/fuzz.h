#pragma once
// Fuzzing: inputs that nobody would write, by the thousand a second. A target takes one and may throw Error, in one line; it may
// not crash, hang, throw anything else, or break a promise (Broken).
#include <filesystem>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace rotule::fuzz {

using Random = std::mt19937_64;

/// A promise that was not kept, in words.
class Broken : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Target {
  std::string_view name;
  std::string_view what;
  /// What inputs are made from, besides those of the corpus.
  std::vector<std::string> (*seeds)();
  /// A new input by a grammar of its own; null: by mutation of seeds.
  std::string (*make)(Random& random);
  void (*run)(const std::string& input);
};
const std::vector<Target>& targets();

/// Another input of these: bytes, numbers and pieces changed, left out, doubled, or taken from others.
std::string mutated(const std::vector<std::string>& seeds, Random& random);

/// All files of a folder, those within it included, in the order of their names.
std::vector<std::string> contents_of(const std::filesystem::path& folder);
/// Where this process may write.
const std::filesystem::path& scratch_folder();

// targets that are more than a few lines
void run_scene_with_promises(const std::string& text);
std::string make_scene(Random& random);

}  // namespace rotule::fuzz
