#pragma once
// How much memory there is to be had.

namespace rotule {

/// Bytes that this process may still take: what the machine has free, or less where a limit of the process or of its group
/// (cgroup) is nearer. Infinite where the system does not say.
double free_memory();

}  // namespace rotule
