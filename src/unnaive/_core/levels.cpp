// Which instructions this processor has, and its operating system lets a program use.
#include "levels.h"

#if UNNAIVE_X86
#include <cpuid.h>
#endif

namespace unnaive {

#if UNNAIVE_X86
namespace {

// By CPUID itself: the compiler's own answer needs a symbol that not every linker finds.
constexpr unsigned OSXSAVE = 1u << 27, POPCNT = 1u << 23;                          // leaf 1, ECX
constexpr unsigned BMI = 1u << 3, HAS_AVX2 = 1u << 5, BMI2 = 1u << 8;              // leaf 7, EBX
constexpr unsigned F = 1u << 16, DQ = 1u << 17, BW = 1u << 30, VL = 1u << 31;      // leaf 7, EBX
constexpr unsigned VPOPCNTDQ = 1u << 14;                                           // leaf 7, ECX
constexpr unsigned LZCNT = 1u << 5;                                                // 0x80000001, ECX
constexpr unsigned YMM = 0x6, ZMM = 0xe6;                                          // XCR0

bool all(unsigned word, unsigned wanted) { return (word & wanted) == wanted; }

unsigned saved_registers() {
    unsigned low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

}  // namespace
#endif

Level best_level() {
#if UNNAIVE_X86
    unsigned a, b, c, d, basic, more_b, more_c, extended;
    if (!__get_cpuid(1, &a, &b, &basic, &d) || !all(basic, OSXSAVE | POPCNT)) return Level::plain;
    if (!__get_cpuid_count(7, 0, &a, &more_b, &more_c, &d)) return Level::plain;
    if (!__get_cpuid(0x80000001u, &a, &b, &extended, &d)) return Level::plain;
    c = saved_registers();
    if (!all(more_b, BMI | BMI2 | HAS_AVX2) || !all(extended, LZCNT) || !all(c, YMM))
        return Level::plain;
    if (all(more_b, F | DQ | BW | VL) && all(more_c, VPOPCNTDQ) && all(c, ZMM))
        return Level::avx512;
    return Level::avx2;
#else
    return Level::plain;
#endif
}

Level level = best_level();

}  // namespace unnaive
