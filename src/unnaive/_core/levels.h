// The right instructions at run time: a loop is compiled for plain processors, for those with AVX2,
// and for those with AVX-512 and its population count; which one runs is decided once, at import.
//
// Sums keep their order and nothing is fused (-ffp-contract=off), so every level gives the same
// bits. On other processors (NEON) the plain loops are what the compiler makes of them.
#pragma once

#include "border.h"

#if (defined(__x86_64__) || defined(_M_X64)) && (defined(__GNUC__) || defined(__clang__))
#define UNNAIVE_X86 1
#define AVX2 __attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt")))
#define AVX512                                                                            \
    __attribute__((target(                                                                \
        "avx2,bmi,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq")))
#else
#define UNNAIVE_X86 0
#define AVX2
#define AVX512
#endif

namespace unnaive {

enum class Level : int { plain = 0, avx2 = 1, avx512 = 2 };

extern Level level;  // what the processor has, or less: set by tests and benchmarks alone

Level best_level();

// LEVELS(name) makes `name(…)` of an always inlined template `name_loop(…)`: the same loop,
// compiled for each level. Arguments are passed by value: pointers, views and numbers.
#if UNNAIVE_X86 && !defined(UNNAIVE_ONE_LEVEL)
#define LEVELS(name)                                                               \
    template <class... Args> AVX2 void name##_avx2(Args... args) {                 \
        name##_loop(args...);                                                      \
    }                                                                              \
    template <class... Args> AVX512 void name##_avx512(Args... args) {             \
        name##_loop(args...);                                                      \
    }                                                                              \
    template <class... Args> INLINE void name(Args... args) {                      \
        if (level == Level::avx512)                                                \
            name##_avx512(args...);                                                \
        else if (level == Level::avx2)                                             \
            name##_avx2(args...);                                                  \
        else                                                                       \
            name##_loop(args...);                                                  \
    }
#else
#define LEVELS(name)                                                               \
    template <class... Args> INLINE void name(Args... args) { name##_loop(args...); }
#endif

}  // namespace unnaive
