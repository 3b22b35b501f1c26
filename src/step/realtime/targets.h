#pragma once
// Which kinds of processor the kernels are compiled for: one per width of lanes (1 or 4, 4, 8, 16). Before any header of Highway.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
