#include "robot/xml_file.h"

#include <fmt/format.h>
#include <rotule/error.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "base/text.h"

namespace rotule::robot {

namespace {

constexpr std::uintmax_t largest_xml = 64u << 20u;  // bytes
constexpr int deepest_element = 200;
constexpr double largest_number = 1e30;

std::string content_of(const std::filesystem::path& path, const std::string& name) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) throw Error(name, "is not there");
  if (!std::filesystem::is_regular_file(path, error)) throw Error(name, "is not a file that can be read");
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error) throw Error(name, "cannot be read");
  if (size > largest_xml) throw Error(name, fmt::format("has {} bytes; files of robots may have {}", size, largest_xml));
  std::ifstream in(path, std::ios::binary);
  std::string text(size, '\0');
  if (!in.read(text.data(), static_cast<std::streamsize>(size))) throw Error(name, "cannot be read");
  return text;
}

int line_at(const std::vector<std::size_t>& starts, std::size_t offset) {
  return static_cast<int>(std::upper_bound(starts.begin(), starts.end(), offset) - starts.begin());
}

/// Without recursion: depth is what is being asked.
void check_depth(const XmlFile& file) {
  int depth = 0;
  pugi::xml_node at = file.document.first_child();
  while (at) {
    if (at.type() == pugi::node_doctype)
      throw Error(fmt::format("{}:{}", file.name, file.line_of(at)),
                  "has a document type; entities are not expanded: write out what they stand for and take it away");
    if (at.first_child()) {
      at = at.first_child();
      if (++depth > deepest_element)
        throw Error(fmt::format("{}:{}", file.name, file.line_of(at)),
                    fmt::format("is nested more than {} elements deep", deepest_element));
      continue;
    }
    while (at && !at.next_sibling()) {
      at = at.parent();
      --depth;
    }
    if (at) at = at.next_sibling();
  }
}

}  // namespace

void Remarks::add(const std::string& file, int line, const std::string& what, const std::string& text) {
  const auto [at, is_new] = known_.try_emplace({what, text}, all_.size());
  if (is_new)
    all_.push_back({what, text, file, line, 1});
  else
    ++all_[at->second].count;
}

int XmlFile::line_of(const pugi::xml_node& node) const {
  const auto offset = node.offset_debug();
  return offset < 0 ? 0 : line_at(line_starts, static_cast<std::size_t>(offset));
}

std::shared_ptr<const XmlFile> read_xml(const std::filesystem::path& path, const std::string& name) {
  auto out = std::make_shared<XmlFile>();
  out->name = name;
  out->path = path;
  out->text = content_of(path, name);
  out->line_starts.push_back(0);
  for (std::size_t i = 0; i < out->text.size(); ++i)
    if (out->text[i] == '\n') out->line_starts.push_back(i + 1);
  const pugi::xml_parse_result result =
      out->document.load_buffer(out->text.data(), out->text.size(), pugi::parse_default | pugi::parse_doctype);
  if (!result) {
    const auto offset = static_cast<std::size_t>(std::max<std::ptrdiff_t>(result.offset, 0));
    throw Error(fmt::format("{}:{}", name, line_at(out->line_starts, offset)),
                fmt::format("is not XML: {}", one_line(result.description())));
  }
  check_depth(*out);
  return out;
}

Element::Element(std::shared_ptr<const XmlFile> file, pugi::xml_node node)
    : file_(std::move(file)), node_(node), tag_(node.name()), line_(file_->line_of(node)) {
  for (const pugi::xml_attribute& attribute : node.attributes())
    if (!attributes_.try_emplace(attribute.name(), Attribute{attribute.value(), line_}).second)
      fail(fmt::format("has the attribute {} twice", in_quotes(attribute.name())));
}

std::string Element::title() const {
  const auto name = attributes_.find("name");
  return name == attributes_.end() ? tag_ : fmt::format("{} {}", tag_, in_quotes(name->second.value));
}

std::vector<Element> Element::children(std::string_view tag) const {
  std::vector<Element> out;
  for (const pugi::xml_node& node : node_.children())
    if (node.type() == pugi::node_element && (tag.empty() || tag == node.name())) out.emplace_back(file_, node);
  return out;
}

std::optional<Element> Element::child(std::string_view tag) const {
  for (const pugi::xml_node& node : node_.children())
    if (node.type() == pugi::node_element && tag == node.name()) return Element(file_, node);
  return std::nullopt;
}

void Element::inherit(const std::map<std::string, Attribute>& defaults) {
  for (const auto& [name, attribute] : defaults) attributes_.try_emplace(name, Attribute{attribute.value, attribute.line});
}

std::optional<std::string> Element::text(const std::string& name) const {
  const auto found = attributes_.find(name);
  if (found == attributes_.end()) return std::nullopt;
  found->second.read = true;
  return found->second.value;
}

std::string Element::text(const std::string& name, const std::string& otherwise) const { return text(name).value_or(otherwise); }

std::string Element::required(const std::string& name) const {
  std::optional<std::string> out = text(name);
  if (!out || out->empty()) fail(fmt::format("needs the attribute {}", name));
  return *out;
}

std::optional<std::vector<double>> Element::numbers(const std::string& name, std::size_t least, std::size_t most) const {
  const std::optional<std::string> all = text(name);
  if (!all) return std::nullopt;
  std::vector<double> out;
  constexpr const char* spaces = " \t\r\n,";
  for (std::size_t at = all->find_first_not_of(spaces); at != all->npos;) {
    const std::size_t end = std::min(all->find_first_of(spaces, at), all->size());
    std::string word = all->substr(at, end - at);
    if (word.starts_with('+')) word.erase(0, 1);
    const std::optional<double> number = to_double(word);
    if (!number || !std::isfinite(*number) || std::abs(*number) > largest_number)
      fail(fmt::format("{} must be finite numbers up to {:g}, has {}", name, largest_number, in_quotes(word)));
    out.push_back(*number);
    if (out.size() > most) break;
    at = all->find_first_not_of(spaces, end);
  }
  if (out.size() < least || out.size() > most)
    fail(least == most ? fmt::format("{} must be {} number{}, is {}", name, most, most == 1 ? "" : "s", in_quotes(*all))
                       : fmt::format("{} must be {} to {} numbers, is {}", name, least, most, in_quotes(*all)));
  return out;
}

std::optional<double> Element::number(const std::string& name) const {
  const auto all = numbers(name, 1, 1);
  return all ? std::optional(all->front()) : std::nullopt;
}
double Element::number(const std::string& name, double otherwise) const { return number(name).value_or(otherwise); }

std::optional<Vec3> Element::vec3(const std::string& name) const {
  const auto all = numbers(name, 3, 3);
  return all ? std::optional(Vec3((*all)[0], (*all)[1], (*all)[2])) : std::nullopt;
}
Vec3 Element::vec3(const std::string& name, const Vec3& otherwise) const { return vec3(name).value_or(otherwise); }

std::optional<bool> Element::flag(const std::string& name) const {
  const std::optional<std::string> word = text(name);
  if (word == "true" || word == "1") return true;
  if (word == "false" || word == "0") return false;
  return std::nullopt;
}

void Element::fail(const std::string& message) const {
  throw Error(fmt::format("{}:{}: {}", file_->name, line_, title()), message);
}

void Element::remark(Remarks& remarks, const std::string& what, const std::string& text) const {
  remarks.add(file_->name, line_, what, text);
}

void Element::tell_unread(Remarks& remarks) const {
  for (const auto& [name, attribute] : attributes_)
    if (!attribute.read && name != "name" && name != "class")
      remarks.add(file_->name, attribute.line, fmt::format("{}@{}", tag_, name), "is not taken over");
}

void Element::tell_ignored(Remarks& remarks, const std::string& why) const { remarks.add(file_->name, line_, tag_, why); }

Quat unit_quaternion(const Element& element, const std::vector<double>& wxyz) {
  const Quat out(wxyz[0], wxyz[1], wxyz[2], wxyz[3]);
  if (!(out.norm() > 1e-9)) element.fail("its quaternion must not be zero");
  return out.normalized();
}

}  // namespace rotule::robot
