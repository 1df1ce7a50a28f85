#include "regression/response_window.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tree/nearest.hpp"

namespace quickshift {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double most_scaled_decay = 600.0;  // exp(-600) does not underflow

ResponseSum response_sum_for(const Tree& tree, const DensityOptions& options) {
  const auto kernel = static_cast<int>(options.kernel);
  const ResponseLoops& loops = response_loops();
  return (rough_terms_suffice(tree, options) ? loops.rough_sums : loops.sums)[kernel];
}

}  // namespace

ResponseWindow::ResponseWindow(const Tree& tree, const Responses& responses, const Ladder& ladder,
                               const ModeOptions& options)
    : tree_(tree),
      responses_(responses),
      ladder_(ladder),
      options_(options),
      scale_(options.density.kernel, bandwidth_in(tree, options.density), tree.features + 1),
      sum_loop_(response_sum_for(tree, options.density)),
      rough_gaussian_(options.density.kernel == Kernel::gaussian &&
                      rough_terms_suffice(tree, options.density)),
      slope_loop_(rough_gaussian_ ? response_loops().rough_slope : response_loops().slope),
      factor_(options.density.kernel == Kernel::epanechnikov ? 1.0 / scale_.width_sq : 1.0),
      search_(tree),
      leaf_squares_(static_cast<std::size_t>(tree.stride)) {}

void ResponseWindow::collect_near(const double* point) {
  log_scale_ = nearest_ = 0.0;
  relative_terms_ = false;
  series_.clear();
  double reach_sq = scale_.support_sq;
  if (is_infinite(options_.density.kernel)) reach_sq = reach_from_nearest(point);
  collect_within(point, reach_sq);
  keep_within(is_infinite(options_.density.kernel) ? reach_of_found() : reach_sq);
  if (!empty()) sort_by_rung();
}

// Returns the squared distance in x up to which samples count. Sums are taken relative to the term
// of the nearest sample, so that they do not underflow.
double ResponseWindow::reach_from_nearest(const double* point) {
  const DensityOptions& density = options_.density;
  KeepNearest keeper;
  search_.from_root(point, keeper);
  const double near = decay(density.kernel, keeper.square(), scale_.width);
  nearest_ = keeper.square();
  log_scale_ = -near;
  if (density.kernel == Kernel::exponential) {
    relative_terms_ = near > most_scaled_decay || density.rtol == 0.0;
    factor_ = std::exp(std::min(near, most_scaled_decay));
  }
  const Index* begin = responses_.begin + keeper.slot();
  least_ = least_sum(
      options_, *std::max_element(responses_.weights + begin[0], responses_.weights + begin[1]));
  return std::max(reach_sq(tree_, density, least_, near), keeper.square());
}

void ResponseWindow::collect_within(const double* point, double reach_sq) {
  found_.clear();
  stack_.assign(1, 1);
  while (!stack_.empty()) {
    const Index node = stack_.back();
    stack_.pop_back();
    if (least_to_box(point, tree_.low(node), tree_.features, tree_.periods()) > reach_sq) continue;
    if (!tree_.is_leaf(node)) {
      stack_.push_back(2 * node + 1);
      stack_.push_back(2 * node);
      continue;
    }
    const Index leaf = tree_.leaf_of(node);
    pair_kernels().squares(point, tree_.leaf_block(leaf), leaf_squares_.data());
    collect_leaf(leaf, reach_sq);
  }
}

// Whether a sample is within reach is unpredictable, so the loop has no branch that depends on it.
void ResponseWindow::collect_leaf(Index leaf, double reach_sq) {
  const int count = tree_.count(leaf);
  const Index* begin = responses_.begin + leaf * tree_.stride;
  std::size_t size = found_.size();
  found_.resize(size + static_cast<std::size_t>(begin[count] - begin[0]));
  for (int i = 0; i < count; ++i) {
    for (Index sample = begin[i]; sample < begin[i + 1]; ++sample) {
      found_[size] = {sample, leaf_squares_[i]};
      size += leaf_squares_[i] <= reach_sq;
    }
  }
  found_.resize(size);
}

// A shorter reach than that of `reach_from_nearest`, which allows for the weight of all samples:
// only the weight of the samples that were found matters now.
double ResponseWindow::reach_of_found() const {
  const DensityOptions& density = options_.density;
  if (density.rtol == 0.0 || empty()) return infinity;
  const double weight = static_cast<double>(found_.size()) * tree_.greatest_weight;
  const double amount = -log_scale_ + std::log(weight / (0.5 * density.rtol * least_));
  return std::max(square_at_decay(density.kernel, amount, scale_.width), nearest_);
}

void ResponseWindow::keep_within(double reach_sq) {
  const Index* rungs = responses_.rung_of_sample;
  first_ = ladder_.size();
  last_ = -1;
  std::size_t size = 0;
  for (const Found& found : found_) {
    found_[size] = found;
    if (found.square > reach_sq) continue;
    ++size;
    first_ = std::min(first_, rungs[found.sample]);
    last_ = std::max(last_, rungs[found.sample]);
  }
  found_.resize(size);
}

// Counting sort of the samples by rung, into arrays padded to whole vector steps with weights of 0.
void ResponseWindow::sort_by_rung() {
  const Index* rungs = responses_.rung_of_sample;
  begin_.assign(static_cast<std::size_t>(last_ - first_ + 2), 0);
  weight_before_.assign(begin_.size(), 0.0);
  for (const Found& found : found_) ++begin_[rungs[found.sample] - first_ + 1];
  for (std::size_t i = 1; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
  const std::size_t padded = (found_.size() + response_step - 1) / response_step * response_step;
  for (auto* array : {&places_, &squares_, &weights_}) array->resize(padded);
  std::fill(weights_.end() - response_step, weights_.end(), 0.0);
  std::fill(squares_.end() - response_step, squares_.end(), rough_gaussian_ ? -infinity : 0.0);
  const double shift = options_.density.kernel == Kernel::gaussian ? nearest_ : 0.0;
  for (const Found& found : found_) {
    const Index bucket = rungs[found.sample] - first_;
    const Index at = begin_[bucket]++;
    places_[at] = responses_.place_of_sample[found.sample];
    squares_[at] = found.square - shift;
    weights_[at] = responses_.weights[found.sample];
    if (rough_gaussian_) squares_[at] = logarithm_of(squares_[at], weights_[at]);
    weight_before_[bucket + 1] += weights_[at];
  }
  for (std::size_t i = begin_.size() - 1; i > 0; --i) begin_[i] = begin_[i - 1];
  begin_[0] = 0;
  for (std::size_t i = 1; i < begin_.size(); ++i) weight_before_[i] += weight_before_[i - 1];
}

double ResponseWindow::logarithm_of(double square, double weight) {
  if (weight != log2_of_) {
    log2_of_ = weight;
    log2_ = std::log2(weight);
  }
  return scale_.log2_gaussian * square + log2_;
}

std::pair<Index, Index> ResponseWindow::reaching(Index low_rung, Index high_rung) const {
  const Index low = std::max(ladder_.first_reaching[low_rung], first_);
  const Index high = std::min(ladder_.last_reaching[high_rung], last_) + 1;
  return low < high ? std::pair{low - first_, high - first_} : std::pair{Index{0}, Index{0}};
}

double ResponseWindow::sum_at(double place, Index rung) const {
  return sum_within(place, place, rung, rung);
}

double ResponseWindow::sum_within(double low, double high, Index low_rung, Index high_rung) const {
  const auto [first, last] = reaching(low_rung, high_rung);
  return sum_of(begin_[first], begin_[last], low, high);
}

double ResponseWindow::sum_of(Index begin, Index end, double low, double high) const {
  if (relative_terms_) return relative_sum(begin, end, low, high);
  return factor_ * sum_loop_(block(begin, end), scale_, low, high);
}

ResponseBlock ResponseWindow::block(Index begin, Index end) const {
  const Index from = begin / response_step * response_step;
  const Index to = (end + response_step - 1) / response_step * response_step;
  return {places_.data() + from, squares_.data() + from, weights_.data() + from, to - from};
}

SumAndSlope ResponseWindow::slope_at(double place, Index rung) const {
  const auto [first, last] = reaching(rung, rung);
  return slope_loop_(block(begin_[first], begin_[last]), scale_, place);
}

const ResponseSeries* ResponseWindow::series_above(Index rung) {
  if (!rough_gaussian_) return nullptr;
  for (const ResponseSeries& series : series_) {
    if (series.rung == rung) return &series;
  }
  const double low = ladder_.places[rung];
  const double high = ladder_.places[std::min(rung + 1, ladder_.size() - 1)];
  const double center = 0.5 * (low + high);
  series_.push_back({rung, center, scale_.width, (high - center) / scale_.width, {}});
  const auto [first, last] = reaching(rung, rung);
  response_loops().series(block(begin_[first], begin_[last]), scale_, center,
                          series_.back().coefficients);
  return &series_.back();
}

SumAndSlope ResponseSeries::sum_at(double place) const {
  const double t = (place - center) / width;
  double sum = 0.0;
  double slope = 0.0;
  for (int k = series_terms - 1; k >= 0; --k) {
    slope = slope * t + sum;
    sum = sum * t + coefficients[k];
  }
  return {sum, slope / sum};
}

double ResponseSeries::least_bend() const {
  double rest = 0.0;
  for (int k = series_terms - 1; k >= 3; --k) {
    rest = (rest + k * (k - 1) * std::fabs(coefficients[k])) * half;
  }
  return -2.0 * coefficients[2] - rest;
}

// Newton's method for the zero of the derivative, which decreases because the sum is concave.
double ResponseSeries::top() const {
  double t = 0.0;
  for (int step = 0; step < 20; ++step) {
    double slope = 0.0;
    double bend = 0.0;
    for (int k = series_terms - 1; k >= 1; --k) {
      bend = bend * t + slope;
      slope = slope * t + k * coefficients[k];
    }
    const double next = std::clamp(t - slope / bend, -half, half);
    if (std::fabs(next - t) < 1e-14) break;
    t = next;
  }
  return center + t * width;
}

// The exponential kernel, for a query far from every sample or with rtol = 0: the exponent of each
// term is taken relative to that of the nearest sample, so that no term that counts underflows.
double ResponseWindow::relative_sum(Index begin, Index end, double low, double high) const {
  const double origin = std::sqrt(nearest_);
  double sum = 0.0;
  for (Index i = begin; i < end; ++i) {
    const double gap = std::max({low - places_[i], places_[i] - high, 0.0});
    sum += weights_[i] * std::exp((origin - std::sqrt(squares_[i] + gap * gap)) / scale_.width);
  }
  return sum;
}

double ResponseWindow::weight_within(Index low_rung, Index high_rung) const {
  const auto [first, last] = reaching(low_rung, high_rung);
  return weight_before_[last] - weight_before_[first];
}

double ResponseWindow::marginal() const {
  return sum_of(0, static_cast<Index>(found_.size()), -infinity, infinity);
}

}  // namespace quickshift
