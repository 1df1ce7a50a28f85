// The instruction sets that the vector code is compiled for, and the one in use.
//
// CMake compiles each file of vector code once per instruction set, into a namespace named after
// the set. There the file defines a table of its functions, `extern const Table name`. A file that
// is compiled only once (dispatch.cpp) declares the tables of all sets and returns the one in use:
//
//   QUICKSHIFT_DECLARE_TABLE(Table, name)
//   const Table& chosen() {
//     static constexpr const Table* tables[] = QUICKSHIFT_TABLES(name);
//     return *tables[instruction_set_index()];
//   }
//
// The WIDE macros are for tables that are compiled for v4 as well. For the others, a machine with
// v4 uses the table of v3.
#pragma once

#include <cstddef>
#include <span>

namespace quickshift {

enum class InstructionSet {
  generic,  // the baseline of any other architecture
  neon,     // arm64
  v2,       // x86-64 with SSE4.2
  v3,       // x86-64 with AVX2 and fused multiply-add
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

// The sets that this machine can run, slowest first. They are a prefix of the list of compiled
// sets.
std::span<const InstructionSet> available_instruction_sets();
bool has_instruction_set(InstructionSet set);

// The set in use, and its position in the list of compiled sets.
InstructionSet instruction_set();
std::size_t instruction_set_index();

// Uses this set from now on. Must not be called while another thread is computing. Throws
// std::invalid_argument if this machine cannot run the set.
void set_instruction_set(InstructionSet set);

// Chooses the fastest set that this machine can run, or the one named by the environment variable
// QUICKSHIFT_INSTRUCTION_SET. Called when the module is loaded. Throws std::runtime_error if the
// machine can run none of the compiled sets, or not the one that the variable names.
void choose_instruction_set();

}  // namespace quickshift
