#pragma once
// XML as files of robots have it: elements with attributes, every one with its line, so that messages can name it and so that
// what nobody asked for is told. No entities, no document types; size and depth are bounded.
#include <rotule/robots.h>
#include <rotule/types.h>

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace rotule::robot {

/// Remarks of the same kind are one, with a count.
class Remarks {
 public:
  void add(const std::string& file, int line, const std::string& what, const std::string& text);
  [[nodiscard]] std::vector<RobotRemark> take() { return std::move(all_); }

 private:
  std::vector<RobotRemark> all_;
  std::map<std::pair<std::string, std::string>, std::size_t> known_;
};

/// A file as it was read. Elements point into it.
struct XmlFile {
  std::string name;  // as messages call it
  std::filesystem::path path;
  std::string text;
  std::vector<std::size_t> line_starts;
  pugi::xml_document document;

  [[nodiscard]] int line_of(const pugi::xml_node& node) const;
};
/// Throws Error where it cannot be read, is too large or nested too deeply, has a document type, or is not XML.
std::shared_ptr<const XmlFile> read_xml(const std::filesystem::path& path, const std::string& name);

struct Attribute {
  std::string value;
  int line = 0;
  mutable bool read = false;
};

/// One element: its own attributes, over those that a class of defaults gives it.
class Element {
 public:
  Element() = default;
  Element(std::shared_ptr<const XmlFile> file, pugi::xml_node node);

  [[nodiscard]] const std::string& tag() const { return tag_; }
  [[nodiscard]] const std::string& file() const { return file_->name; }
  [[nodiscard]] const std::shared_ptr<const XmlFile>& source() const { return file_; }
  [[nodiscard]] int line() const { return line_; }
  /// "geom" or "geom foot".
  [[nodiscard]] std::string title() const;
  [[nodiscard]] std::vector<Element> children(std::string_view tag = {}) const;
  [[nodiscard]] std::optional<Element> child(std::string_view tag) const;

  /// Attributes that it has not itself are taken from these.
  void inherit(const std::map<std::string, Attribute>& defaults);
  [[nodiscard]] const std::map<std::string, Attribute>& attributes() const { return attributes_; }

  [[nodiscard]] bool has(const std::string& name) const { return attributes_.contains(name); }
  [[nodiscard]] std::optional<std::string> text(const std::string& name) const;
  [[nodiscard]] std::string text(const std::string& name, const std::string& otherwise) const;
  [[nodiscard]] std::string required(const std::string& name) const;
  [[nodiscard]] std::optional<double> number(const std::string& name) const;
  [[nodiscard]] double number(const std::string& name, double otherwise) const;
  /// From `least` to `most` numbers, all finite.
  [[nodiscard]] std::optional<std::vector<double>> numbers(const std::string& name, std::size_t least, std::size_t most) const;
  [[nodiscard]] std::optional<Vec3> vec3(const std::string& name) const;
  [[nodiscard]] Vec3 vec3(const std::string& name, const Vec3& otherwise) const;
  /// "true" or "false"; nothing for other words.
  [[nodiscard]] std::optional<bool> flag(const std::string& name) const;

  /// Throws Error with file, line and element.
  [[noreturn]] void fail(const std::string& message) const;
  void remark(Remarks& remarks, const std::string& what, const std::string& text) const;
  /// Tells of attributes that nobody asked for; those of `plain` mean nothing to a mechanism.
  void tell_unread(Remarks& remarks) const;
  /// Likewise of an element of which nothing is taken.
  void tell_ignored(Remarks& remarks, const std::string& why) const;

 private:
  std::shared_ptr<const XmlFile> file_;
  pugi::xml_node node_;
  std::string tag_;
  int line_ = 0;
  std::map<std::string, Attribute> attributes_;
};

/// A unit quaternion; throws where it has no direction.
Quat unit_quaternion(const Element& element, const std::vector<double>& wxyz);

}  // namespace rotule::robot
