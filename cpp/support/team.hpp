// The threads that help in one call. They stay from loop to loop, because short loops are many: to
// start a thread, or to wake up a core that sleeps, takes as long as such a loop, and where a
// thread has just ended the system may put the next one on the caller's core.
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

  // Has up to `count` threads run the job, which must not throw and must live until they are back.
  // Those of the call before must be. Returns how many there are to do so.
  int call(int count, const std::function<void()>& job) {
    {
      const std::lock_guard lock(mutex_);
      assert(busy_ == 0);
      while (count > static_cast<int>(threads_.size())) {
        try {
          threads_.emplace_back([this] { serve(); });
        } catch (const std::exception&) {  // no further thread, or no memory for it
          count = static_cast<int>(threads_.size());
        }
      }
      job_ = &job;
      waiting_ = busy_ = count;
    }
    for (int i = 0; i < count; ++i) called_.notify_one();
    return count;
  }

  // Those that have not begun need not any more.
  void dismiss() {
    const std::lock_guard lock(mutex_);
    busy_ -= waiting_.exchange(0);
  }

  // Whether all are back, at the latest after `patience`.
  bool is_back(std::chrono::milliseconds patience) {
    const auto event = [&] { return busy_ == 0; };
    look_out(event);
    std::unique_lock lock(mutex_);
    return returned_.wait_for(lock, patience, event);
  }

  int busy() const { return busy_; }

 private:
  void serve() {
    const auto is_called = [&] { return waiting_ > 0 || leaving_; };
    for (;;) {
      look_out(is_called);
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

  // Waits without sleeping, for a time in which a core would not have woken up.
  template <class Event>
  static void look_out(const Event& event) {
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::microseconds(200);
    while (!event() && Clock::now() < end) std::this_thread::yield();
  }

  std::vector<std::thread> threads_;
  std::mutex mutex_;  // for every change of what follows
  std::condition_variable called_;
  std::condition_variable returned_;
  const std::function<void()>* job_ = nullptr;
  std::atomic<int> waiting_{0};  // calls that no thread has answered
  std::atomic<int> busy_{0};     // those, and the threads that run the job
  std::atomic<bool> leaving_{false};
};

}  // namespace quickshift
