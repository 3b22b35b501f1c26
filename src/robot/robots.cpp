#include <fmt/format.h>
#include <rotule/error.h>
#include <rotule/robots.h>

#include <array>

#include "base/text.h"
#include "robot/mjcf_read.h"
#include "robot/tree.h"
#include "robot/urdf_read.h"
#include "robot/xml_file.h"

namespace rotule {

bool names_robot(std::string_view path) {
  constexpr std::array<std::string_view, 3> endings{".urdf", ".xml", ".mjcf"};
  for (const std::string_view ending : endings)
    if (path.ends_with(ending)) return true;
  return false;
}

Robot read_robot(const std::string& path, const RobotOptions& options) {
  const std::shared_ptr<const robot::XmlFile> file = robot::read_xml(path, path);
  const robot::Element root(file, file->document.document_element());
  robot::Remarks remarks;
  robot::Tree tree;
  if (root.tag() == "robot")
    tree = robot::read_urdf(root, options, remarks);
  else if (root.tag() == "mujoco")
    tree = robot::read_mjcf(root, options, remarks);
  else
    throw Error(fmt::format("{}:{}", path, root.line()),
                fmt::format("begins with {}; files of robots begin with <robot> (URDF) or <mujoco> (MJCF)",
                            root.tag().empty() ? "nothing" : in_quotes(root.tag())));
  Robot out = robot::assemble(std::move(tree), options, remarks);
  out.remarks = remarks.take();
  return out;
}

}  // namespace rotule
