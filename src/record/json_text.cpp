#include "record/json_text.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <rotule/error.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <unordered_set>
#include <vector>

#include "base/text.h"
#include "record/beside_file.h"

namespace rotule {
namespace {

constexpr std::size_t deepest = 100;

/// What people write who know other languages, at the end of what was read.
std::string_view usual_slip(std::string_view before, std::string_view text) {
  const std::string_view rest = text.substr(before.size());
  const auto last = before.find_last_not_of(" \t\r\n");
  if (last != before.npos && before[last] == ',' && (rest.starts_with(']') || rest.starts_with('}')))
    return "; take out the comma before it: JSON has none after the last entry";
  if (rest.starts_with('/') || rest.starts_with('#') || (before.ends_with('/') && !before.empty()))
    return "; JSON has no comments: put words into \"description\"";
  if (rest.starts_with('\'')) return "; JSON has double quotes alone";
  return "";
}

// Receives the parser's events and grows the tree. `stack_` are the open containers; their addresses hold, because a parent
// grows only when its last child is closed.
class TreeBuilder : public nlohmann::json_sax<Json> {
 public:
  explicit TreeBuilder(std::string_view text) : text_(text) {}
  [[nodiscard]] Json take() { return std::move(root_); }

  bool null() override { return put(Json()); }
  bool boolean(bool value) override { return put(Json(value)); }
  bool number_integer(number_integer_t value) override { return put(Json(value)); }
  bool number_unsigned(number_unsigned_t value) override { return put(Json(value)); }
  bool number_float(number_float_t value, const string_t&) override { return put(Json(value)); }
  bool string(string_t& value) override { return put(Json(std::move(value))); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override {
    open(Json::object());
    keys_.emplace_back();
    return true;
  }
  bool start_array(std::size_t) override {
    open(Json::array());
    return true;
  }
  bool key(string_t& value) override {
    if (!keys_.back().insert(value).second) throw Error(pointer(), fmt::format("key {} is given twice", in_quotes(value)));
    key_.back() = std::move(value);
    return true;
  }
  bool end_object() override {
    keys_.pop_back();
    return close();
  }
  bool end_array() override { return close(); }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& error) override {
    // `position` counts the characters read; the one before it is where the trouble was seen.
    const std::string_view before = text_.substr(0, std::min(position > 0 ? position - 1 : 0, text_.size()));
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const auto column = before.size() - (before.rfind('\n') == before.npos ? 0 : before.rfind('\n') + 1) + 1;
    std::string_view reason = error.what();
    for (const std::string_view marker : {"while parsing ", "number overflow parsing "})
      if (const auto at = reason.find(marker); at != reason.npos) reason.remove_prefix(at);
    std::string message;
    if (reason.starts_with("number overflow")) {
      message = "number is too large for a double";
    } else if (reason.find("unexpected end of input") != reason.npos) {
      message = "the text ends too early; something is not closed";
    } else {
      message = fmt::format("not valid JSON: {}{}", one_line(reason.substr(0, 300)), usual_slip(before, text_));
    }
    throw Error(fmt::format("line {}, column {}", line, column), message);
  }

 private:
  bool put(Json value) {
    if (stack_.empty()) {
      root_ = std::move(value);
      return true;
    }
    Json& top = *stack_.back();
    if (top.is_array()) {
      top.push_back(std::move(value));
    } else {
      // Keys are known to be new: appending avoids the search of ordered_json's own insertion.
      auto& object = top.get_ref<Json::object_t&>();
      static_cast<std::vector<Json::object_t::value_type>&>(object).emplace_back(std::move(key_.back()), std::move(value));
    }
    return true;
  }
  void open(Json container) {
    if (stack_.size() >= deepest) throw Error(pointer(), fmt::format("nested deeper than {} levels", deepest));
    put(std::move(container));
    if (stack_.empty()) {
      stack_.push_back(&root_);
    } else {
      Json& top = *stack_.back();
      stack_.push_back(
          top.is_array() ? &top.back()
                         : &static_cast<std::vector<Json::object_t::value_type>&>(top.get_ref<Json::object_t&>()).back().second);
    }
    key_.emplace_back();
  }
  bool close() {
    stack_.pop_back();
    key_.pop_back();
    return true;
  }
  [[nodiscard]] std::string pointer() const {
    std::string out;
    for (std::size_t i = 0; i + 1 < stack_.size() && i < 8; ++i) {
      const Json& container = *stack_[i];
      if (container.is_array()) {
        out += fmt::format("/{}", container.size() - 1);
      } else {
        const std::string name = in_quotes(
            static_cast<const std::vector<Json::object_t::value_type>&>(container.get_ref<const Json::object_t&>()).back().first);
        out += fmt::format("/{}", std::string_view(name).substr(1, name.size() - 2));
      }
    }
    return out.empty() ? "/" : out;
  }

  std::string_view text_;
  Json root_;
  std::vector<Json*> stack_;
  std::vector<std::unordered_set<std::string>> keys_;  // one per open object
  std::vector<std::string> key_;                       // the last key of each open container
};

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

}  // namespace

Json parse_json(std::string_view text) {
  if (text.find_first_not_of(" \t\r\n") == text.npos) throw Error("the file is empty; the least is {\"rotule\": 1}");
  if (const auto nul = text.find('\0'); nul != text.npos)  // the parser would take it for the end
    throw Error(fmt::format("line {}", 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(nul), '\n')),
                "holds a NUL byte; not a text file");
  TreeBuilder builder(text);
  Json::sax_parse(text.begin(), text.end(), &builder);
  return builder.take();
}

Json parse_if_json(std::string_view text) { return Json::parse(text.begin(), text.end(), nullptr, false); }

std::string_view type_of(const Json& json) {
  switch (json.type()) {
    case Json::value_t::null:
      return "null";
    case Json::value_t::object:
      return "an object";
    case Json::value_t::array:
      return "a list";
    case Json::value_t::string:
      return "a string";
    case Json::value_t::boolean:
      return "true or false";
    default:
      return "a number";
  }
}

std::string read_text_file(const std::string& path) {
  constexpr std::int64_t largest = std::int64_t{1} << 30;
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) throw Error(path, fmt::format("cannot be read: {}", std::strerror(errno)));
  if (S_ISDIR(status.st_mode)) throw Error(path, "is a folder, not a scene file");
  if (status.st_size > largest) throw Error(path, "is larger than 1 GiB");
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "rb"));
  if (!file) throw Error(path, fmt::format("cannot be read: {}", std::strerror(errno)));
  // Read to the end rather than to the size told: pipes and devices have none.
  std::string text;
  char buffer[1 << 16];
  for (std::size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, file.get())) > 0;) {
    text.append(buffer, n);
    if (text.size() > static_cast<std::size_t>(largest)) throw Error(path, "is larger than 1 GiB");
  }
  if (std::ferror(file.get()) != 0) throw Error(path, "cannot be read to its end");
  return text;
}

void write_text_file(const std::string& path, std::string_view text) {
  BesideFile file(path);
  file.write(text);
  file.finish();
}

}  // namespace rotule
