#pragma once
// Tetrahedral meshes as mass-spring or elastic solids, from Gmsh's .msh (format 2, ASCII; Geuzaine and Remacle 2009) or TetGen's
// .node and .ele (H. Si 2015). Throws Error with file and line where the file is not what it says.
#include <rotule/particles.h>

namespace rotule {

ParticleGroup tetrahedral_group(const TetrahedralMesh& mesh);
ParticleGroup tetrahedral_group(const ElasticMesh& mesh);

}  // namespace rotule
