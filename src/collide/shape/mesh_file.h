#pragma once
// Triangle meshes from files: Wavefront OBJ (vertices and faces; polygons are cut into fans, all else is skipped) and STL, binary
// or text (corners with the same coordinates become one vertex). Coordinates are taken as metres. Throws Error, one line with the
// file and the line or triangle, for files that cannot be read, are cut short, or hold numbers or indices that make no sense.
#include <rotule/shapes.h>

#include <string>
#include <string_view>

namespace rotule {

/// By the file's ending, .obj or .stl.
TriangleMesh read_mesh_file(const std::string& path);

/// `name` is what errors call the text.
TriangleMesh read_obj(std::string_view text, const std::string& name);
TriangleMesh read_stl(std::string_view bytes, const std::string& name);

}  // namespace rotule
