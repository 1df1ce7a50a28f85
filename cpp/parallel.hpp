// Threads for one call: spawned, fed from a counter, joined.
//
// Work is cut into tasks whose number does not depend on the number of threads, and each task
// writes only its own range (or two, in a fixed order: pair_schedule.hpp), so results have the same
// bits for any thread count. Nothing outlives the call, so a fork between two calls is safe.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace quickshift {

// How a call runs: the number of threads, and a function that the calling thread polls about ten
// times a second, with the part of the work that is done. `tick` may throw (a signal arrived); the
// workers then stop at the next chance.
struct Execution {
  int threads = 1;
  std::function<void(double done)> tick = [](double) {};
  double expected_work = 0.0;             // elementary operations of the whole call, at least
  mutable double finished_work = 0.0;     // of the loops before
  mutable double told = 0.0;              // what is done never shrinks
  mutable std::atomic<bool> stop{false};  // looked at by tasks that take long

  // Tells how far a loop is.
  void tell(double work, double part) const {
    const double all = std::max({expected_work, finished_work + work, 1.0});
    told = std::max(told, (finished_work + work * part) / all);
    tick(told);
  }
};

namespace detail {

struct Pool {
  std::atomic<std::int64_t> next{0};
  std::mutex mutex;
  std::condition_variable changed;
  int running = 0;
  std::exception_ptr error;

  void fail(const Execution& execution, std::exception_ptr reason) {
    const std::lock_guard lock(mutex);
    if (!error) error = reason;
    execution.stop = true;
  }
};

// Waits for the workers; keeps waiting after a throwing tick, because they use the caller's data.
inline void wait_for_workers(Pool& pool, const Execution& execution, std::int64_t tasks,
                             double work) {
  using namespace std::chrono_literals;
  std::unique_lock lock(pool.mutex);
  while (!pool.changed.wait_for(lock, 100ms, [&] { return pool.running == 0; })) {
    // A worker that has left took a number beyond the last task.
    const std::int64_t taken = std::min<std::int64_t>(pool.next, tasks);
    const auto finished = std::max<std::int64_t>(taken - pool.running, 0);
    lock.unlock();
    try {
      if (!execution.stop) {
        execution.tell(work, static_cast<double>(finished) / static_cast<double>(tasks));
      }
    } catch (...) {
      pool.fail(execution, std::current_exception());
    }
    lock.lock();
  }
}

}  // namespace detail

// Below this many elementary operations (about a millisecond) a thread costs more than it brings.
inline constexpr double serial_work = 1e6;

// Runs worker(task) for every task in [0, tasks). `make_worker` is called once a thread and returns
// a callable that owns that thread's scratch memory. `work` estimates the elementary operations.
template <class MakeWorker>
void run_tasks(const Execution& execution, std::int64_t tasks, double work,
               const MakeWorker& make_worker) {
  if (work < serial_work) {
    auto worker = make_worker();
    for (std::int64_t task = 0; task < tasks; ++task) worker(task);
    execution.finished_work += work;
    return;
  }
  detail::Pool pool;
  const auto drain = [&] {
    try {
      auto worker = make_worker();
      for (std::int64_t task = pool.next++; task < tasks && !execution.stop; task = pool.next++) {
        worker(task);
      }
    } catch (...) {
      pool.fail(execution, std::current_exception());
    }
    const std::lock_guard lock(pool.mutex);
    --pool.running;
    pool.changed.notify_all();
  };
  std::vector<std::thread> workers;
  workers.reserve(static_cast<std::size_t>(execution.threads));
  for (int i = 0; i < execution.threads && i < tasks; ++i) {
    {
      const std::lock_guard lock(pool.mutex);
      ++pool.running;
    }
    try {
      workers.emplace_back(drain);
    } catch (const std::exception&) {  // no further thread, or no memory for it: use what we have
      const std::lock_guard lock(pool.mutex);
      --pool.running;
      break;
    }
  }
  if (workers.empty() && tasks > 0) {
    pool.running = 1;
    drain();
  }
  detail::wait_for_workers(pool, execution, tasks, work);
  for (auto& worker : workers) worker.join();
  if (pool.error) std::rethrow_exception(pool.error);
  execution.finished_work += work;
}

// Cuts [0, size) into ranges of fixed length and runs body(begin, end) on each.
template <class Body>
void run_ranges(const Execution& execution, std::int64_t size, const Body& body) {
  constexpr std::int64_t length = 1 << 14;
  run_tasks(execution, (size + length - 1) / length, static_cast<double>(size) * 4, [&] {
    return [&](std::int64_t task) { body(task * length, std::min(size, (task + 1) * length)); };
  });
}

}  // namespace quickshift
