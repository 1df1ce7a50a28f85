// Loops on many threads, which take their tasks from a counter.
//
// Work is cut into tasks whose number does not depend on the number of threads, and each task
// writes only its own range (or two, in a fixed order: pair_schedule.hpp), so results have the same
// bits for any thread count. No thread outlives the call, so a fork between two calls is safe.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>

#include "support/team.hpp"

namespace quickshift {

// How a call runs: the number of threads, and a function that the calling thread polls about ten
// times a second, with the part of the work that is done. `tick` may throw (a signal arrived); the
// workers then stop at the next chance.
struct Execution {
  int threads = 1;
  std::function<void(double done)> tick = [](double) {};
  double expected_work = 0.0;          // elementary operations of the whole call, at least
  mutable double finished_work = 0.0;  // of the loops before
  mutable std::atomic<bool> stop{false};
  mutable Team team;  // called by the first loop that needs it

  static constexpr std::chrono::milliseconds tick_time{100};

  // Notes how far a loop is. What is done never shrinks.
  void note(double work, double part) const {
    const double all = std::max({expected_work, finished_work + work, 1.0});
    done_ = std::max(done_, (finished_work + work * part) / all);
  }

  // Whether to stop; for tasks that take long. Ticks where the calling thread asks and it is time.
  bool stops() const {
    const bool may_tick = !stop && std::this_thread::get_id() == caller_;
    if (may_tick && Clock::now() - ticked_ >= tick_time) {
      tick(done_);
      ticked_ = Clock::now();  // after it: a slow one must not be due again at once
    }
    return stop;
  }

 private:
  using Clock = std::chrono::steady_clock;

  std::thread::id caller_ = std::this_thread::get_id();
  mutable Clock::time_point ticked_ = Clock::now();
  mutable double done_ = 0.0;
};

namespace detail {

// The tasks of a loop, taken one by one by all threads that are in it.
class Loop {
 public:
  Loop(const Execution& execution, std::int64_t tasks, double work)
      : execution_(execution), tasks_(tasks), work_(work) {}

  template <class MakeWorker, class AfterTask>
  void take_tasks(const MakeWorker& make_worker, const AfterTask& after_task) {
    guard([&] {
      auto worker = make_worker();
      for (std::int64_t task = next_++; task < tasks_ && !execution_.stop; task = next_++) {
        worker(task);
        after_task();
      }
    });
  }

  // Notes which part is done, and ticks if it is time.
  void report_progress() const {
    const std::int64_t taken = std::min<std::int64_t>(next_, tasks_);
    const std::int64_t finished = std::max<std::int64_t>(taken - execution_.team.busy(), 0);
    execution_.note(work_, static_cast<double>(finished) / static_cast<double>(tasks_));
    execution_.stops();
  }

  // Waits for the team even where a tick has thrown, because it uses the caller's data.
  void wait() {
    for (bool back = false; !back;) {
      back = execution_.team.is_back(Execution::tick_time);
      if (tasks_ > 0) guard([&] { report_progress(); });
    }
    if (error_) std::rethrow_exception(error_);
    execution_.finished_work += work_;
  }

 private:
  // The first error stops all.
  template <class Body>
  void guard(const Body& body) {
    try {
      body();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
      execution_.stop = true;
    }
  }

  const Execution& execution_;
  std::int64_t tasks_;
  double work_;
  std::atomic<std::int64_t> next_{0};
  std::mutex mutex_;
  std::exception_ptr error_;
};

}  // namespace detail

// Below this many elementary operations (about a millisecond) to call a thread costs more than it
// brings.
inline constexpr double serial_work = 1e6;
// A task of this many keeps the calling thread from ticking for too long.
inline constexpr double long_task = 3e7;

// Runs worker(task) for every task in [0, tasks). `make_worker` is called once a thread and returns
// a callable that owns that thread's scratch memory. `work` estimates the elementary operations.
// The calling thread is one of the threads, unless the tasks are long: then it only ticks. Tasks
// that may take longer than was estimated ask execution.stops() now and then. Loops do not nest.
template <class MakeWorker>
void run_tasks(const Execution& execution, std::int64_t tasks, double work,
               const MakeWorker& make_worker) {
  if (work < serial_work) {
    auto worker = make_worker();
    for (std::int64_t task = 0; task < tasks; ++task) worker(task);
    execution.finished_work += work;
    return;
  }
  detail::Loop loop(execution, tasks, work);
  const std::function<void()> help = [&] { loop.take_tasks(make_worker, [] {}); };
  const auto threads = static_cast<int>(std::min<std::int64_t>(execution.threads, tasks));
  const bool is_short = tasks > 1 && work < long_task * static_cast<double>(tasks);
  const int helpers = execution.team.call(is_short ? threads - 1 : threads, help);
  if (is_short || helpers == 0) {
    loop.take_tasks(make_worker, [&] { loop.report_progress(); });
    execution.team.dismiss();
  }
  loop.wait();
}

inline constexpr std::int64_t streams = 8;

// The place of a task among `places`, where those that run at one time shall be far from each
// other: threads that are the first to touch a page of memory all clear it, and pages may be large.
// As many tasks as there are places, rounded up to whole streams; the place may lie beyond the last
// one.
inline std::int64_t interleaved(std::int64_t task, std::int64_t places) {
  return task % streams * ((places + streams - 1) / streams) + task / streams;
}

// Cuts [0, size) into ranges of fixed length and runs body(begin, end) on each.
template <class Body>
void run_ranges(const Execution& execution, std::int64_t size, const Body& body) {
  constexpr std::int64_t length = 1 << 14;
  const std::int64_t ranges = (size + length - 1) / length;
  run_tasks(execution, (ranges + streams - 1) / streams * streams, static_cast<double>(size) * 4,
            [&] {
              return [&](std::int64_t task) {
                const std::int64_t begin = interleaved(task, ranges) * length;
                if (begin < size) body(begin, std::min(size, begin + length));
              };
            });
}

}  // namespace quickshift
