#include "support/large_pages.hpp"

#include <new>

#if defined(__linux__)

#include <sys/mman.h>

#include <cstdint>

namespace quickshift {

namespace {

constexpr std::size_t page = std::size_t{1} << 21;  // bytes of a large page

constexpr std::size_t whole_pages(std::size_t bytes) { return (bytes + page - 1) / page * page; }

void unmap(char* at, std::size_t bytes) noexcept {
  if (bytes > 0) munmap(at, bytes);
}

// Maps memory that starts at the boundary of a large page: maps one page more than is needed, then
// unmaps the bytes before and after the aligned range. Returns null if the system has no memory.
char* map(std::size_t bytes) {
  void* const all =
      mmap(nullptr, bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (all == MAP_FAILED) return nullptr;
  char* const begin = static_cast<char*>(all);
  const std::size_t before = -reinterpret_cast<std::uintptr_t>(begin) % page;
  unmap(begin, before);
  unmap(begin + before + bytes, page - before);
  madvise(begin + before, bytes, MADV_HUGEPAGE);  // a hint that the system may ignore
  return begin + before;
}

}  // namespace

void* allocate_pages(std::size_t bytes) {
  char* const mapped = map(whole_pages(bytes));
  if (!mapped) throw std::bad_alloc();
  return mapped;
}

void free_pages(void* at, std::size_t bytes) noexcept {
  unmap(static_cast<char*>(at), whole_pages(bytes));
}

}  // namespace quickshift

#else

namespace quickshift {

void* allocate_pages(std::size_t bytes) { return ::operator new(bytes); }
void free_pages(void* at, std::size_t) noexcept { ::operator delete(at); }

}  // namespace quickshift

#endif
