// Memory for large arrays, on large pages where the system has them: the first touch of a page
// costs more than filling it, and less a byte where the page is large.
//
// For the same reason some of what is freed is kept for the next array, of this call or another.
#pragma once

#include <cstddef>

namespace quickshift {

// Not cleared. Throws std::bad_alloc.
void* allocate_pages(std::size_t bytes);
void free_pages(void* at, std::size_t bytes) noexcept;

// How much is kept now, and at most.
struct KeptBytes {
  std::size_t now;
  std::size_t most;
};
KeptBytes kept_bytes();

}  // namespace quickshift
