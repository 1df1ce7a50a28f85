// Parallel loops, whose threads take their tasks from a shared counter.
//
// Work is divided into tasks whose number does not depend on the number of threads. Each task
// writes only its own range of the result (or two ranges, in a fixed order:
// tree/pair_schedule.hpp), so results have the same bits for any number of threads. No thread
// outlives a call into the core, so a fork between two calls is safe.
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

// How one call into the core runs: its number of threads, and its progress. About ten times per
// second, the calling thread calls `tick` with the fraction of the work that is done. `tick` may
// throw, for instance because a signal arrived; the other threads then stop as soon as they can.
struct Execution {
  int threads = 1;
  std::function<void(double done)> tick = [](double) {};
  double expected_work = 0.0;          // a lower bound on the elementary operations of the call
  mutable double finished_work = 0.0;  // the elementary operations of all finished loops
  mutable std::atomic<bool> stop{false};
  mutable Team team;  // its threads start with the first loop that needs them

  static constexpr std::chrono::milliseconds tick_time{100};

  // Records that the fraction `part` of a loop with `work` operations is done. The fraction
  // reported to `tick` never decreases.
  void note(double work, double part) const {
    const double all = std::max({expected_work, finished_work + work, 1.0});
    done_ = std::max(done_, (finished_work + work * part) / all);
  }

  // Whether to stop early. Long tasks query this repeatedly. On the calling thread it also calls
  // `tick` when that is due.
  bool stops() const {
    const bool may_tick = !stop && std::this_thread::get_id() == caller_;
    if (may_tick && Clock::now() - ticked_ >= tick_time) {
      tick(done_);
      ticked_ = Clock::now();  // read after the tick, so that a slow tick is not due again at once
    }
    return stop;
  }

  // The same for steps that are too short to look at the clock in each: looks in one of 256 calls
  // with the same counter.
  bool stops_after(unsigned& steps) const { return ++steps % 256 == 0 ? stops() : stop.load(); }

 private:
  using Clock = std::chrono::steady_clock;

  std::thread::id caller_ = std::this_thread::get_id();
  mutable Clock::time_point ticked_ = Clock::now();
  mutable double done_ = 0.0;
};

namespace detail {

// The state of one loop: the next task to take, and the first error.
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

  // Records the fraction of tasks that are finished, and ticks if that is due.
  void report_progress() const {
    const std::int64_t taken = std::min<std::int64_t>(next_, tasks_);
    const std::int64_t finished = std::max<std::int64_t>(taken - execution_.team.busy(), 0);
    execution_.note(work_, static_cast<double>(finished) / static_cast<double>(tasks_));
    execution_.stops();
  }

  // Waits for the team to finish, even after a tick has thrown, because its threads still use the
  // caller's data. Then rethrows the first error.
  void wait() {
    for (bool back = false; !back;) {
      back = execution_.team.is_back(Execution::tick_time);
      if (tasks_ > 0) guard([&] { report_progress(); });
    }
    if (error_) std::rethrow_exception(error_);
    execution_.finished_work += work_;
  }

 private:
  // Runs the body. Keeps the first exception, and stops all threads of the loop.
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

// A loop with fewer elementary operations than this (about a millisecond) runs on the calling
// thread alone, because waking another thread would cost more than it saves.
inline constexpr double serial_work = 1e6;
// Tasks with more elementary operations than this would keep the calling thread from reporting
// progress for too long.
inline constexpr double long_task = 3e7;

// Runs worker(task) for every task in [0, tasks). `make_worker` is called once per thread and
// returns a callable that owns the scratch memory of that thread. `work` is an estimate of the
// elementary operations of the whole loop.
//
// The calling thread takes tasks too, unless the tasks are estimated to be longer than `long_task`.
// Then it only calls execution.tick, which reports progress and looks for interrupts. Tasks that
// may take longer than estimated should query execution.stops() now and then. Loops must not be
// nested.
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

inline constexpr std::int64_t streams = 8;  // distant stretches of memory that tasks take in turn

// Returns the place, of `places` successive ranges of memory, that a task works on. Tasks that run
// at the same time get places that are far from each other. Otherwise several threads would touch
// the same (possibly large) page for the first time, and each would clear it. The number of tasks
// is `places` rounded up to a multiple of `streams`, so the returned place may lie beyond the last
// one; such a task has nothing to do.
inline std::int64_t interleaved(std::int64_t task, std::int64_t places) {
  return task % streams * ((places + streams - 1) / streams) + task / streams;
}

// Divides [0, size) into ranges of a fixed length and runs body(begin, end) on each, in parallel.
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
