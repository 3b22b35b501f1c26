#pragma once
// Where in a scene something is wrong, as a JSON pointer ("/bodies/3/mass"). A chain of links on the stack: nothing is
// allocated unless there is something to report.
#include <rotule/error.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace rotule {

class Place {
 public:
  Place() = default;
  /// A place that starts with a text of its own, such as "recipe"; the text must outlive it.
  explicit Place(std::string_view root) : key_(root) {}
  [[nodiscard]] Place operator/(std::string_view key) const { return {this, key, 0, false}; }
  [[nodiscard]] Place operator/(std::size_t index) const { return {this, {}, index, true}; }

  [[nodiscard]] std::string str() const {
    if (up_ == nullptr) return std::string(key_);
    std::string out = up_->str();
    out += '/';
    if (is_index_) return out += std::to_string(index_);
    for (const char c : key_) {  // the escapes of RFC 6901
      if (c == '~') {
        out += "~0";
      } else if (c == '/') {
        out += "~1";
      } else {
        out += c;
      }
    }
    return out;
  }

 private:
  Place(const Place* up, std::string_view key, std::size_t index, bool is_index)
      : up_(up), key_(key), index_(index), is_index_(is_index) {}
  const Place* up_ = nullptr;
  std::string_view key_ = {};
  std::size_t index_ = 0;
  bool is_index_ = false;
};

[[noreturn]] inline void fail(const Place& place, const std::string& message) { throw Error(place.str(), message); }

}  // namespace rotule
