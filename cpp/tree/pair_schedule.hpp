// Runs tasks that each work on a pair of vertices and write to both of them. (A vertex is a unit of
// data that one task may write, such as a subtree.)
//
// The order in which a vertex is paired with its partners is fixed in advance, and no vertex is in
// two running tasks at a time. The results are therefore bit-identical for any number of threads.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <queue>
#include <utility>
#include <vector>

#include "support/parallel.hpp"
#include "support/points.hpp"

namespace quickshift {

class PairSchedule {
 public:
  using Pair = std::pair<Index, Index>;

  // A pair runs after all earlier pairs in the list that share a vertex with it.
  PairSchedule(std::vector<Pair> pairs, Index vertices)
      : pairs_(std::move(pairs)), waiting_(pairs_.size(), 0), lines_(vertices) {
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      for_vertices(i, [&](Line& line) {
        if (!line.empty()) ++waiting_[i];
        line.push(i);
      });
      if (waiting_[i] == 0) ready_.push(i);
    }
  }

  const std::vector<Pair>& pairs() const { return pairs_; }

  // Waits until a pair may run, and takes the first such pair of the list. Returns false if the
  // work was stopped.
  bool take(const Execution& execution, std::size_t& pair) {
    using namespace std::chrono_literals;
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, 20ms, [&] { return !ready_.empty(); })) {
      lock.unlock();  // because a tick, called by stops(), may take long
      if (execution.stops()) return false;
      lock.lock();
    }
    pair = ready_.top();
    ready_.pop();
    return true;
  }

  // Must be called when the work on a pair is done; makes the next pairs of both vertices
  // available.
  void finish(std::size_t pair) {
    const std::lock_guard lock(mutex_);
    for_vertices(pair, [&](Line& line) {
      line.pop();
      if (!line.empty() && --waiting_[line.front()] == 0) ready_.push(line.front());
    });
    changed_.notify_all();
  }

 private:
  using Line = std::queue<std::size_t>;

  template <class Visit>
  void for_vertices(std::size_t pair, const Visit& visit) {
    const auto [a, b] = pairs_[pair];
    visit(lines_[static_cast<std::size_t>(a)]);
    if (b != a) visit(lines_[static_cast<std::size_t>(b)]);
  }

  std::vector<Pair> pairs_;
  std::vector<int> waiting_;  // by pair: at how many of its vertices an earlier pair is unfinished
  std::vector<Line> lines_;   // by vertex: the queue of its unfinished pairs
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready_;
  std::mutex mutex_;
  std::condition_variable changed_;
};

// Runs worker(a, b) for all pairs 0 <= a <= b < vertices for which meets(a, b) holds. Pairs are
// listed in rounds, vertex i with vertex i xor r in round r, so that all pairs of a round are
// disjoint and can run at the same time.
template <class Meets, class MakeWorker>
void run_pairs(const Execution& execution, Index vertices, double work, const Meets& meets,
               const MakeWorker& make_worker) {
  std::vector<PairSchedule::Pair> pairs;
  for (Index round = 0; round < vertices; ++round) {
    for (Index i = 0; i < vertices; ++i) {
      const Index partner = i ^ round;
      if (i <= partner && partner < vertices && meets(i, partner)) pairs.emplace_back(i, partner);
    }
  }
  PairSchedule schedule(std::move(pairs), vertices);
  run_tasks(execution, static_cast<Index>(schedule.pairs().size()), work, [&] {
    return [&, worker = make_worker()](Index) mutable {
      std::size_t pair = 0;
      if (!schedule.take(execution, pair)) return;
      worker(schedule.pairs()[pair].first, schedule.pairs()[pair].second);
      schedule.finish(pair);
    };
  });
}

}  // namespace quickshift
