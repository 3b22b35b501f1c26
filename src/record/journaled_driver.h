#pragma once
// HDF5 files that survive kill -9 at any moment. The library changes a file in place and in no order of its own, so that a file
// whose writer was killed is scrap as a rule. Here all changes since the last `commit` are kept apart: what is new goes behind
// the end that was committed, what overwrites is held in memory. A commit
//   1. writes what was held as a journal behind the end, closed by a sum of its bytes at the very end of the file,
//   2. writes it to its places.
// Whoever opens the file after a kill finds it as committed last: before 1 is complete nothing that counts has changed, and once
// it is, `finish_commit` makes 2 good, as often as need be. Between commits it is a plain HDF5 file with bytes behind its end,
// which readers do not mind. The system keeps what was written when a process is killed, but not when the power fails: nothing
// waits for the disk.
#include <string>

#include "record/hdf5_file.h"

namespace rotule {

/// Makes an access list for H5Fcreate and H5Fopen write by journal.
void write_by_journal(Hdf5Id access);
/// What the library has written up to now is what the file holds from now on. `file` was opened by journal; false: see errno.
bool commit(Hdf5Id file);
/// From now on nothing is written: the file stays as committed last.
void abandon(Hdf5Id file);

/// Completes what the writer was killed in the midst of, unless it is at work still.
void finish_commit(const std::string& path);
/// Whether somebody is writing it by journal at this moment.
bool is_being_written(const std::string& path);

}  // namespace rotule
