#pragma once
// Bytes of a snapshot may come from a file that somebody changed: whatever they say of sizes, places and bodies is looked at
// before anybody follows it.
#include <rotule/error.h>

#include <cstring>
#include <span>

namespace rotule {

inline void require_fit(bool fits) {
  if (!fits) throw Error("snapshot", "does not fit this world; load it into the one that it was saved from");
}

/// Whether a number is a place among so many.
inline bool is_place(auto number, auto count) {
  return number >= 0 && static_cast<std::size_t>(number) < static_cast<std::size_t>(count);
}
inline bool are_places(std::span<const int> numbers, auto count) {
  for (const int number : numbers)
    if (!is_place(number, count)) return false;
  return true;
}

/// What has as many numbers as its world says, neither more nor less.
template <class Archive, class Numbers>
void archive_sized(Archive& io, Numbers& numbers) {
  const auto size = numbers.size();
  io(numbers);
  if constexpr (!Archive::writes) require_fit(numbers.size() == size);
}

/// Whether the byte of a bool is one of the two that there are: to look at another one is undefined.
inline bool is_bool(const bool& flag) {
  unsigned char byte = 0;
  std::memcpy(&byte, &flag, 1);
  return byte <= 1;
}

}  // namespace rotule
