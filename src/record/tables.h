#pragma once
// Motions for programs that read numbers: CSV (RFC 4180) for spreadsheets and data tools, VTK's XML PolyData for ParaView.
#include <string>

#include "record/recorded_motion.h"

namespace rotule {

/// One line per moment: time, every body, particle and joint, the ledger; the header names them as `rotule plot` does, with their
/// units.
void write_csv(const RecordedMotion& motion, double rate, const std::string& path);

/// `path` (.pvd) lists the moments; each is a .vtp file in the folder NAME_frames beside it: the bodies' surfaces where they are,
/// particles with their springs and sheets; of a recorded fluid a .vti file with the plane nearest in time. Cells say which body
/// they belong to (-1: a particle), points how fast they move. Throws Error where that folder holds anything else.
void write_vtk(const RecordedMotion& motion, double rate, const std::string& path);

}  // namespace rotule
