#pragma once
// A fence around foreign HDF5 files. The library trusts what it reads: files with a few bytes changed make it crash or loop for
// ever. So a file is read through once by a process of its own, with limits on time and memory; only what that one survives is
// opened here. What it did survive is remembered for as long as the file does not change.
#include <mutex>
#include <string>

namespace rotule {

/// Throws Error where reading the file ends a process, or does not end. Errors that the library reports are left to the reader.
void require_harmless(const std::string& path);

/// Held by who calls the library on a thread beside the main one, and by the fence while it makes its process: that one's copy of
/// the library must not wait for a thread that it has no copy of.
std::mutex& hdf5_beside();

}  // namespace rotule
