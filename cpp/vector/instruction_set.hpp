// The instruction sets that vector code is compiled for, one namespace each, and the one in use.
//
// A table of vector functions `extern const Table name` is defined in each namespace by a file that
// CMake compiles once for each set. Beside it, in a file that is compiled once:
//
//   QUICKSHIFT_DECLARE_TABLE(Table, name)
//   const Table& chosen() {
//     static constexpr const Table* tables[] = QUICKSHIFT_TABLES(name);
//     return *tables[instruction_set_index()];
//   }
//
// The WIDE macros are for a table that is compiled for v4 too; of the others v4 uses v3's.
#pragma once

#include <cstddef>
#include <span>

namespace quickshift {

enum class InstructionSet {
  generic,  // what every machine of the architecture has
  neon,     // arm64
  v2,       // x86-64 with SSE4.2
  v3,       // x86-64 with AVX2 and fused operations
  v4,       // x86-64 with AVX-512
};

#if defined(__x86_64__)
#define QUICKSHIFT_DECLARE_TABLE(Table, name) \
  namespace v2 {                              \
  extern const Table name;                    \
  }                                           \
  namespace v3 {                              \
  extern const Table name;                    \
  }
#define QUICKSHIFT_TABLES(name) {&v2::name, &v3::name, &v3::name}
#define QUICKSHIFT_DECLARE_WIDE_TABLE(Table, name) \
  QUICKSHIFT_DECLARE_TABLE(Table, name)            \
  namespace v4 {                                   \
  extern const Table name;                         \
  }
#define QUICKSHIFT_WIDE_TABLES(name) {&v2::name, &v3::name, &v4::name}
#elif defined(__aarch64__)
#define QUICKSHIFT_DECLARE_TABLE(Table, name) \
  namespace neon {                            \
  extern const Table name;                    \
  }
#define QUICKSHIFT_TABLES(name) {&neon::name}
#else
#define QUICKSHIFT_DECLARE_TABLE(Table, name) \
  namespace generic {                         \
  extern const Table name;                    \
  }
#define QUICKSHIFT_TABLES(name) {&generic::name}
#endif

#if !defined(__x86_64__)
#define QUICKSHIFT_DECLARE_WIDE_TABLE QUICKSHIFT_DECLARE_TABLE
#define QUICKSHIFT_WIDE_TABLES QUICKSHIFT_TABLES
#endif

const char* name_of(InstructionSet set);

// Those that this machine can run, the slowest first: the leading ones of the compiled sets.
std::span<const InstructionSet> available_instruction_sets();
bool has_instruction_set(InstructionSet set);

// The one in use, as its position among the compiled ones. At first the fastest.
std::size_t instruction_set_index();
InstructionSet instruction_set();

// Not while another thread computes. Throws std::invalid_argument where the machine lacks the set.
void set_instruction_set(InstructionSet set);

// Looks at the machine and at QUICKSHIFT_INSTRUCTION_SET; throws std::runtime_error where the
// machine has none of the sets or not the one asked for.
void choose_instruction_set();

}  // namespace quickshift
