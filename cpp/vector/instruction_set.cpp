#include "vector/instruction_set.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace quickshift {

namespace {

// The compiled sets, in the order of QUICKSHIFT_TABLES. `count_available` tests for exactly the
// extensions that CMakeLists.txt lets the compiler use for each set.
#if defined(__x86_64__)
constexpr InstructionSet compiled[] = {InstructionSet::v2, InstructionSet::v3, InstructionSet::v4};

std::size_t count_available() {
  if (!__builtin_cpu_supports("sse4.2") || !__builtin_cpu_supports("popcnt")) return 0;
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return 1;
  const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512vl");
  return wide ? 3 : 2;
}
#elif defined(__aarch64__)
constexpr InstructionSet compiled[] = {InstructionSet::neon};
std::size_t count_available() { return 1; }
#else
constexpr InstructionSet compiled[] = {InstructionSet::generic};
std::size_t count_available() { return 1; }
#endif

constexpr const char* variable = "QUICKSHIFT_INSTRUCTION_SET";

std::atomic<std::size_t> in_use{0};

std::string names_of_available() {
  std::string names;
  for (InstructionSet set : available_instruction_sets()) {
    names += (names.empty() ? "'" : ", '") + std::string(name_of(set)) + "'";
  }
  return names;
}

}  // namespace

const char* name_of(InstructionSet set) {
  switch (set) {
    case InstructionSet::neon:
      return "neon";
    case InstructionSet::v2:
      return "v2";
    case InstructionSet::v3:
      return "v3";
    case InstructionSet::v4:
      return "v4";
    default:
      return "generic";
  }
}

std::span<const InstructionSet> available_instruction_sets() {
  static const std::size_t count = count_available();
  return {compiled, count};
}

bool has_instruction_set(InstructionSet set) {
  const auto available = available_instruction_sets();
  return std::find(available.begin(), available.end(), set) != available.end();
}

std::size_t instruction_set_index() { return in_use.load(std::memory_order_relaxed); }

InstructionSet instruction_set() { return compiled[instruction_set_index()]; }

void set_instruction_set(InstructionSet set) {
  const auto available = available_instruction_sets();
  const auto found = std::find(available.begin(), available.end(), set);
  if (found == available.end()) {
    throw std::invalid_argument(std::string("this machine has no instruction set '") +
                                name_of(set) + "', expected one of " + names_of_available());
  }
  in_use = static_cast<std::size_t>(found - available.begin());
}

void choose_instruction_set() {
  const auto available = available_instruction_sets();
  if (available.empty()) {
    throw std::runtime_error(
        "quickshift needs the instructions SSE4.2 and POPCNT of x86-64-v2, which this processor "
        "lacks. Use a processor from 2009 or later. In a virtual machine, let the guest use the "
        "processor features of the host.");
  }
  set_instruction_set(available.back());
  const char* wanted = std::getenv(variable);
  if (!wanted || !*wanted) return;
  for (InstructionSet set : available) {
    if (wanted == std::string(name_of(set))) return set_instruction_set(set);
  }
  throw std::runtime_error(std::string("the environment variable ") + variable + " is '" + wanted +
                           "', expected one that this machine has: " + names_of_available() +
                           ". Set it to one of these, or unset it for the fastest.");
}

}  // namespace quickshift
