// Memory for large arrays, on large pages where the system has them: the first touch of a page
// costs more than filling it, and less a byte where the page is large.
//
// For the same reason some of what is freed is kept for the next array, of this call or another.
#pragma once

#include <cstddef>

namespace quickshift {

inline constexpr std::size_t most_kept_bytes = std::size_t{1} << 26;

// Not cleared. Throws std::bad_alloc.
void* allocate_pages(std::size_t bytes);
void free_pages(void* at, std::size_t bytes) noexcept;

}  // namespace quickshift
