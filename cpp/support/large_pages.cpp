#include "support/large_pages.hpp"

#include <new>

#if defined(__linux__)

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <iterator>
#include <map>
#include <mutex>

namespace quickshift {

namespace {

constexpr std::size_t page = std::size_t{1} << 21;  // a large one
constexpr std::size_t most_kept = std::size_t{1} << 26;

constexpr std::size_t whole_pages(std::size_t bytes) { return (bytes + page - 1) / page * page; }

void unmap(char* at, std::size_t bytes) noexcept {
  if (bytes > 0) munmap(at, bytes);
}

// Maps a page more than is asked for, and gives back what is before and after whole pages. Null
// where the system refuses.
char* map(std::size_t bytes) {
  void* const all =
      mmap(nullptr, bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (all == MAP_FAILED) return nullptr;
  char* const begin = static_cast<char*>(all);
  const std::size_t before = -reinterpret_cast<std::uintptr_t>(begin) % page;
  unmap(begin, before);
  unmap(begin + before + bytes, page - before);
  madvise(begin + before, bytes, MADV_HUGEPAGE);  // the system may ignore it
  return begin + before;
}

// What was freed and not given back: stretches of pages, those that touch as one. Where another
// thread is at it, or was when the process forked, callers do without.
class KeptPages {
 public:
  // Null where no stretch is long enough; else the beginning of the shortest.
  char* take(std::size_t bytes) {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) return nullptr;
    auto best = stretches_.end();
    for (auto it = stretches_.begin(); it != stretches_.end(); ++it) {
      const bool fits = it->second >= bytes;
      if (fits && (best == stretches_.end() || it->second < best->second)) best = it;
    }
    if (best == stretches_.end()) return nullptr;
    auto stretch = stretches_.extract(best);
    char* const at = stretch.key();
    kept_ -= bytes;
    if (stretch.mapped() > bytes) {
      stretch.key() += bytes;
      stretch.mapped() -= bytes;
      stretches_.insert(std::move(stretch));
    }
    return at;
  }

  // Keeps as much as there is room for; returns how much that is.
  std::size_t keep(char* at, std::size_t bytes) {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) return 0;
    bytes = std::min<std::size_t>(bytes, most_kept - kept_);
    if (bytes == 0) return 0;
    const auto stretch = stretches_.emplace(at, bytes).first;
    kept_ += bytes;
    join_next(stretch);
    if (stretch != stretches_.begin()) join_next(std::prev(stretch));
    return bytes;
  }

  void give_back() {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) return;
    for (const auto& [at, length] : stretches_) unmap(at, length);
    stretches_.clear();
    kept_ = 0;
  }

  std::size_t size() const { return kept_; }

 private:
  using Stretches = std::map<char*, std::size_t>;  // begin and length

  void join_next(Stretches::iterator stretch) {
    const auto next = std::next(stretch);
    if (next == stretches_.end() || stretch->first + stretch->second != next->first) return;
    stretch->second += next->second;
    stretches_.erase(next);
  }

  std::mutex mutex_;
  Stretches stretches_;
  std::atomic<std::size_t> kept_ = 0;
};

KeptPages& kept_pages = *new KeptPages;  // never destroyed: arrays may be freed at the very end

}  // namespace

void* allocate_pages(std::size_t bytes) {
  const std::size_t needed = whole_pages(bytes);
  if (char* const kept = kept_pages.take(needed)) return kept;
  if (char* const mapped = map(needed)) return mapped;
  kept_pages.give_back();
  if (char* const mapped = map(needed)) return mapped;
  throw std::bad_alloc();
}

void free_pages(void* at, std::size_t bytes) noexcept {
  char* const begin = static_cast<char*>(at);
  const std::size_t freed = whole_pages(bytes);
  std::size_t kept = 0;
  try {
    kept = kept_pages.keep(begin, freed);
  } catch (const std::bad_alloc&) {  // for the few bytes of a note
  }
  unmap(begin + kept, freed - kept);
}

KeptBytes kept_bytes() { return {kept_pages.size(), most_kept}; }

}  // namespace quickshift

#else

namespace quickshift {

void* allocate_pages(std::size_t bytes) { return ::operator new(bytes); }
void free_pages(void* at, std::size_t) noexcept { ::operator delete(at); }
KeptBytes kept_bytes() { return {0, 0}; }

}  // namespace quickshift

#endif
