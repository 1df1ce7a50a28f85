// The policy for scratch memory: how much a method may take beyond its arguments and its result.
//
// Methods that compute the same values differ in time and memory. The fastest is chosen among those
// that stay within this limit. The limit follows from the number of points and from the memory of
// the machine or of the process's control group, never from what happens to be free: otherwise two
// fits of the same data could differ in their last bits.
#pragma once

namespace quickshift {

// The most bytes of scratch memory for this many points: a quarter of the memory limit, or if it is
// less, the largest of 256 MiB, 120 bytes per point and 24 bytes per coordinate. The last term is
// for methods that copy the points.
double scratch_limit(double points, int features);

// The memory that the process may use in total; infinite until it is set.
double memory_limit();
void set_memory_limit(double bytes);

}  // namespace quickshift
