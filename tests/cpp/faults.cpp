// Faults on request, for tests of the core: `make faults` loads this library before all others
// (LD_PRELOAD), and tests/test_faults.py calls its functions by ctypes.
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<long> allocations_until_failure{0};  // 0: none fails
std::atomic<long> live{0};
std::atomic<bool> threads_refused{false};

}  // namespace

extern "C" {

// Lets the k-th allocation from now on fail; 0 lets none fail. Returns how many were still to come
// before the one that was to fail, 0 if it has failed.
long fail_at(long k) { return allocations_until_failure.exchange(k); }

// The number of blocks that were allocated by C++ and not yet freed.
long live_allocations() { return live; }

void refuse_threads(int refused) { threads_refused = refused != 0; }

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                   void* argument) {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto create = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  return threads_refused ? EAGAIN : create(thread, attributes, run, argument);
}
}

void* operator new(std::size_t bytes) {
  if (allocations_until_failure > 0 && --allocations_until_failure == 0) throw std::bad_alloc();
  void* const at = std::malloc(bytes > 0 ? bytes : 1);
  if (!at) throw std::bad_alloc();
  ++live;
  return at;
}

void operator delete(void* at) noexcept {
  if (at) --live;
  std::free(at);
}

void operator delete(void* at, std::size_t) noexcept { operator delete(at); }
