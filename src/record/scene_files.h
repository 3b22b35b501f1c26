#pragma once
// The files that a scene names: triangle meshes of shapes and fields of flows, which are read with the scene, and tetrahedral
// meshes of solids, which are read when the particles are made.
#include <rotule/scene.h>

#include <filesystem>

namespace rotule {

/// Names are taken from `folder` on and become what this process can open; triangle meshes and fields are read. Throws Error with
/// the place and the file.
void read_files(Scene& scene, const std::filesystem::path& folder);

/// Finds the hulls of all meshes with `convex_parts`, once for all worlds that are made of the scene. Throws Error with the
/// place.
void cut_meshes(Scene& scene);

/// The same scene with files named as they are found from `folder`; absolute names stay.
Scene seen_from(const std::filesystem::path& folder, Scene scene);

/// The same scene with its triangle meshes written out: recordings must outlive the files. Fields of flows, which may be large,
/// are named by where they are.
Scene with_meshes_inside(Scene scene);

}  // namespace rotule
