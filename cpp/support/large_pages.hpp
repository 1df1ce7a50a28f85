// Memory for large arrays, on large pages where the system has them. The first touch of a page
// costs more than filling it with data, and large pages need fewer first touches per byte.
#pragma once

#include <cstddef>

namespace quickshift {

// The memory is not cleared. Throws std::bad_alloc.
void* allocate_pages(std::size_t bytes);
void free_pages(void* at, std::size_t bytes) noexcept;

}  // namespace quickshift
