#pragma once
// Frictional contact problems in the format of FCLIB, the public collection of such problems (Acary, Bremond, Koziara, Perignon
// 2014): HDF5 files that hold either the reduced form u = W r + q or the global one, M v = H r + f, u = H^T v + w; component 0
// of each contact is the normal. Global problems whose M and H are those of rigid bodies are read as bodies and Jacobians, all
// others as a matrix.
#include <rotule/problem.h>

#include <string>

namespace rotule {

/// Whether the file is of this format at all.
bool is_fclib_file(const std::string& path);
/// W is taken as it is: some files' matrices are not quite symmetric. Throws Error where parts are missing or do not fit each
/// other.
ConstraintProblem read_fclib(const std::string& path);

}  // namespace rotule
