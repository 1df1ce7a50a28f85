// Memory for large arrays, on large pages if the system has them. The first touch of a page costs
// more than filling it with data, and large pages need fewer first touches per byte.
#pragma once

#include <cstddef>

namespace quickshift {

// Returns memory with unspecified contents. Throws std::bad_alloc if there is none.
void* allocate_pages(std::size_t bytes);
void free_pages(void* at, std::size_t bytes) noexcept;

}  // namespace quickshift
