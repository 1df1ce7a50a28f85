// The worker threads of one call into the core, in addition to the calling thread.
//
// A call consists of tens of parallel loops, many of them short. Starting a thread, or waking up a
// sleeping core, takes as long as a short loop. Also, if a thread has just ended, the system often
// starts the next one on the caller's core. The threads are therefore kept from loop to loop, and
// they spin for a short time before they sleep.
#pragma once

#include <atomic>
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace quickshift {

class Team {
 public:
  Team() = default;
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;
  ~Team() {
    {
      const std::lock_guard lock(mutex_);
      leaving_ = true;
    }
    called_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  // Lets up to `count` threads run the job and returns how many will: fewer than `count` if the
  // system refuses to start more. The job must not throw and must live until `is_back` returns
  // true. The previous job must have finished.
  int call(int count, const std::function<void()>& job) {
    {
      const std::lock_guard lock(mutex_);
      assert(busy_ == 0);
      while (count > static_cast<int>(threads_.size())) {
        try {
          threads_.emplace_back([this] { serve(); });
        } catch (const std::exception&) {  // the system has no more threads or memory
          count = static_cast<int>(threads_.size());
        }
      }
      job_ = &job;
      waiting_ = busy_ = count;
    }
    for (int i = 0; i < count; ++i) called_.notify_one();
    return count;
  }

  // Releases the threads that have not begun the job: they need not run it any more.
  void dismiss() {
    const std::lock_guard lock(mutex_);
    busy_ -= waiting_.exchange(0);
  }

  // Waits until all threads have finished the job, but no longer than `patience`. Returns whether
  // they have.
  bool is_back(std::chrono::milliseconds patience) {
    const auto event = [&] { return busy_ == 0; };
    spin_until(event);
    std::unique_lock lock(mutex_);
    return returned_.wait_for(lock, patience, event);
  }

  // The number of threads that run the job or have yet to begin it.
  int busy() const { return busy_; }

 private:
  void serve() {
    const auto is_called = [&] { return waiting_ > 0 || leaving_; };
    for (;;) {
      spin_until(is_called);
      std::unique_lock lock(mutex_);
      called_.wait(lock, is_called);
      if (leaving_) return;
      --waiting_;
      lock.unlock();
      (*job_)();
      lock.lock();
      if (--busy_ == 0) returned_.notify_one();
    }
  }

  // Waits for the event without sleeping, at most for about the time that waking a core would take.
  template <class Event>
  static void spin_until(const Event& event) {
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::microseconds(200);
    while (!event() && Clock::now() < end) std::this_thread::yield();
  }

  std::vector<std::thread> threads_;
  std::mutex mutex_;  // held for every change of the members below
  std::condition_variable called_;
  std::condition_variable returned_;
  const std::function<void()>* job_ = nullptr;
  std::atomic<int> waiting_{0};  // threads that have yet to begin the job
  std::atomic<int> busy_{0};     // the same plus the threads that run the job
  std::atomic<bool> leaving_{false};
};

}  // namespace quickshift
