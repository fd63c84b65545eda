// Which instructions this processor has.
#include "levels.h"

namespace unnaive {

Level best_level() {
#if UNNAIVE_X86
    __builtin_cpu_init();
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                      __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
    if (avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512vpopcntdq"))
        return Level::avx512;
    if (avx2) return Level::avx2;
#endif
    return Level::plain;
}

Level level = best_level();

}  // namespace unnaive
