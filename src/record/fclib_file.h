#pragma once
// Frictional contact problems in the format of FCLIB, the public collection of such problems (Acary, Bremond, Koziara, Perignon
// 2014): HDF5 files that hold either the reduced form, u = W r + V l + q, 0 = V^T r + R l + s, or the global one,
// M v = H r + G l + f, u = H^T v + w, 0 = G^T v + b; equations beside the contacts (l) may be missing. Component 0 of each
// contact is the normal, then come two tangential ones (one in the plane) and, in the global form with rolling, two of rolling,
// each pair with a cone of its own: |r_T| <= mu r_N, |r_R| <= mu_r r_N. Global problems whose M, H and G are those of rigid
// bodies are read as bodies and Jacobians, all others as a matrix; the equations become bilateral rows behind those of the
// contacts.
#include <rotule/problem.h>

#include <span>
#include <string>

namespace rotule {

/// Whether the file is of this format at all.
bool is_fclib_file(const std::string& path);
/// W is taken as it is: some files' matrices are not quite symmetric. Throws Error where parts are missing or do not fit each
/// other.
ConstraintProblem read_fclib(const std::string& path);
/// The problem in the reduced form, with x as its /solution. Throws Error where a law is one that the format does not know:
/// bounds without friction, friction boxes, torsion and rolling.
void write_fclib(const std::string& path, const std::string& title, const ConstraintProblem& problem, std::span<const double> x);
/// A copy of the file with x as its /solution: r, u, and v and l where the form has them. An older solution is left out.
void write_fclib_solution(const std::string& from, const std::string& to, const ConstraintProblem& problem,
                          std::span<const double> x);

}  // namespace rotule
