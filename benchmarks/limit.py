"""The limits of the machine, and how close the library comes."""

from __future__ import annotations

import ctypes
import platform
import subprocess
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks import data, fits, report, timing
from benchmarks.bench import Bench
from unnaive import AODE, HNB, TAN, WAODE
from unnaive.counts import CodedRows
from unnaive.counts.sizes import all_pairs

if TYPE_CHECKING:
    from collections.abc import Callable

BARE_WORDS = 512
AODE_ROWS = 50_000
TWO_THREADS = {"HNB": 1.6, "WAODE": 1.6}  # others: 1.7 times as fast as one


# Without VPOPCNTDQ, one popcount a word is no limit: with AVX2 the bits of sixteen vectors are
# added as bits (Harley and Seal; Muła, Kurz and Lemire 2018), and one vector is counted.
BARE = """
#include <stdint.h>
#if defined(__AVX2__) && !defined(__AVX512VPOPCNTDQ__)
#include <immintrin.h>
typedef __m256i V;
#define BOTH(i) _mm256_and_si256(_mm256_load_si256(a + i), _mm256_load_si256(b + i))
#define CSA(high, low, x, y) { const V u = _mm256_xor_si256(low, x), v = y; \\
    high = _mm256_or_si256(_mm256_and_si256(low, x), _mm256_and_si256(u, v)); \\
    low = _mm256_xor_si256(u, v); }
static inline V count(V v) {
    const V table = _mm256_setr_epi8(
        0,1,1,2,1,2,2,3,1,2,2,3,2,3,3,4,0,1,1,2,1,2,2,3,1,2,2,3,2,3,3,4);
    const V low = _mm256_set1_epi8(15);
    const V x = _mm256_shuffle_epi8(table, _mm256_and_si256(v, low));
    const V y = _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16(v, 4), low));
    return _mm256_sad_epu8(_mm256_add_epi8(x, y), _mm256_setzero_si256());
}
static uint64_t shared_bits(const uint64_t *left, const uint64_t *right, long words) {
    const V *a = (const V *)left, *b = (const V *)right, *end = (const V *)(left + words);
    const V zero = _mm256_setzero_si256();
    V ones = zero, twos = zero, fours = zero, eights = zero, total = zero;
    for (; a < end; a += 16, b += 16) {
        V s, t, p, q, x, y, sixteens;
        CSA(s, ones, BOTH(0), BOTH(1)) CSA(t, ones, BOTH(2), BOTH(3)) CSA(p, twos, s, t)
        CSA(s, ones, BOTH(4), BOTH(5)) CSA(t, ones, BOTH(6), BOTH(7)) CSA(q, twos, s, t)
        CSA(x, fours, p, q)
        CSA(s, ones, BOTH(8), BOTH(9)) CSA(t, ones, BOTH(10), BOTH(11)) CSA(p, twos, s, t)
        CSA(s, ones, BOTH(12), BOTH(13)) CSA(t, ones, BOTH(14), BOTH(15)) CSA(q, twos, s, t)
        CSA(y, fours, p, q)
        CSA(sixteens, eights, x, y)
        total = _mm256_add_epi64(total, count(sixteens));
    }
    total = _mm256_slli_epi64(total, 4);
    total = _mm256_add_epi64(total, _mm256_slli_epi64(count(eights), 3));
    total = _mm256_add_epi64(total, _mm256_slli_epi64(count(fours), 2));
    total = _mm256_add_epi64(total, _mm256_slli_epi64(count(twos), 1));
    total = _mm256_add_epi64(total, count(ones));
    return _mm256_extract_epi64(total, 0) + _mm256_extract_epi64(total, 1)
        + _mm256_extract_epi64(total, 2) + _mm256_extract_epi64(total, 3);
}
#else
static uint64_t shared_bits(const uint64_t *left, const uint64_t *right, long words) {
    uint64_t shared = 0;
    for (long word = 0; word < words; word++)
        shared += __builtin_popcountll(left[word] & right[word]);
    return shared;
}
#endif
void bare(const uint64_t *left, const uint64_t *right, long words, long repeats, uint64_t *out) {
    for (long repeat = 0; repeat < repeats; repeat++) {
        out[repeat & 7] += shared_bits(left, right, words);
        __asm__ volatile("" ::: "memory");
    }
}
"""


def compile_bare(folder: Path) -> Callable[[np.ndarray, np.ndarray, int, np.ndarray], None]:
    """Compile a loop of AND + popcount for this processor: the upper limit of counting.

    Each result is stored, so that no repeat can be left out.
    """
    (folder / "bare.c").write_text(BARE)
    flags = ["-O3", "-march=native", "-shared", "-fPIC", "bare.c", "-o", "bare.so"]
    wide = ["-mprefer-vector-width=512"] if platform.machine() == "x86_64" else []
    subprocess.run(["cc", *flags, *wide], cwd=folder, check=True)
    function = ctypes.CDLL(str(folder / "bare.so")).bare
    words = np.ctypeslib.ndpointer(np.uint64)
    function.argtypes = [words, words, ctypes.c_long, ctypes.c_long, words]
    function.restype = None
    left, right = bare_buffers()
    out = np.zeros(8, dtype=np.uint64)
    function(left, right, BARE_WORDS, 1, out)
    if out[0] != np.bitwise_count(left & right).sum():
        raise RuntimeError("the plain loop miscounts")
    return lambda left, right, repeats, out: function(left, right, len(left), repeats, out)


def bare_buffers() -> tuple[np.ndarray, np.ndarray]:
    """Return two aligned buffers that fit into the first-level cache.

    Buffers that begin in the middle of a line, or a multiple of 4096 bytes apart, cost the
    bare loop up to a third of its speed: it would be no limit.
    """
    room = np.random.default_rng(0).integers(2**63, size=3 * BARE_WORDS, dtype=np.uint64)
    first = -room.ctypes.data // 8 % 8
    second = first + BARE_WORDS + 64
    return room[first : first + BARE_WORDS], room[second : second + BARE_WORDS]


def words_counted(rows: CodedRows) -> int:
    """Return the number of ANDs of two words needed to count all pairs."""
    sizes = rows.schema.sizes
    observed = rows.codes.max(axis=1) < sizes
    bitmaps = sizes - (observed & (sizes > 1))
    per_class = np.bincount(rows.classes, minlength=rows.n_classes)
    both = (bitmaps.sum() ** 2 - (bitmaps**2).sum()) // 2
    return int(both * sum(-(-count // 64) for count in per_class.tolist()))


def measure_kernel(bench: Bench) -> None:
    """Time counting all pairs from bitmaps and the plain loop, one thread, in turns."""
    rows = bench.coded(1)
    pairs, words = all_pairs(len(rows.codes)), words_counted(rows)
    (left, right), out = bare_buffers(), np.zeros(8, dtype=np.uint64)
    with TemporaryDirectory() as folder:
        bare = compile_bare(Path(folder))
    repeats = max(1, words // BARE_WORDS // 2)
    calls = {
        "bare": lambda: bare(left, right, repeats, out),
        "kernel": lambda: rows.count_pairs(pairs),
    }
    times = timing.interleaved(calls, bench.rounds)
    speed = {
        "bare": repeats * BARE_WORDS / min(times["bare"]),
        "kernel": words / min(times["kernel"]),
    }
    report.section("Counting kernel and a plain AND + popcount loop, one thread")
    print(f"{len(pairs):,} pairs of columns, {words / 1e9:.3g} · 10⁹ ANDs of two 64-bit words")
    report.show(
        ["", "time", "10⁹ words a second"],
        [[name, report.duration(min(times[name])), f"{speed[name] / 1e9:.3g}"] for name in speed],
    )
    of_round = timing.typical_ratio(times["bare"], times["kernel"]) * words
    percent = 100 * of_round / (repeats * BARE_WORDS)
    print(f"median over {bench.rounds} rounds of the ratio within a round: {percent:.0f} %")
    percent = 100 * speed["kernel"] / speed["bare"]
    bench.judge("counting kernel of the bare loop", percent, 95, " %", at_least=True)


def measure_threads(bench: Bench) -> None:
    """Time counting and prediction with one and two threads."""
    report.section(f"One thread and {bench.jobs}")
    pairs = all_pairs(bench.X.shape[1])
    some = bench.X[:AODE_ROWS]
    tan = TAN(discretize=None, n_jobs=bench.jobs).fit(bench.X, bench.y)
    fitted = {"TAN": (tan, bench.X)}
    for model in (AODE, HNB, WAODE):
        fitted[model.__name__] = (model(n_jobs=bench.jobs).fit_counts(tan.counts_), some)
    calls: dict[str, dict[str, Callable[[], Any]]] = {name: {} for name in ("counting", *fitted)}
    rows = bench.coded(bench.jobs)
    for jobs in (1, bench.jobs):
        coded = CodedRows(rows.schema, rows.codes, rows.classes, None, jobs)
        coded.count_pairs(pairs[:1])
        calls["counting"][str(jobs)] = lambda coded=coded: coded.count_pairs(pairs)
        for name, (model, X) in fitted.items():
            calls[name][str(jobs)] = lambda model=model, X=X, jobs=jobs: model.set_params(
                n_jobs=jobs
            ).predict_proba(X)
    table = []
    for name, pair in calls.items():
        best = timing.best(timing.interleaved(pair, bench.rounds))
        one, more = best["1"], best[str(bench.jobs)]
        what = name if name == "counting" else f"{name}.predict_proba"
        n_rows = len(fitted[name][1]) if name in fitted else len(bench.X)
        cells = [report.duration(one), report.duration(more), f"{one / more:.2f} x"]
        table.append([what, f"{n_rows:,}", *cells])
        label = f"{bench.jobs} threads against one, {what}"
        bench.judge(label, one / more, TWO_THREADS.get(name, 1.7), " x", at_least=True)
    report.show(["", "rows", "one thread", f"{bench.jobs} threads", "faster"], table)


PARTS: dict[str, Callable[[Bench], None]] = {
    "kernel": measure_kernel,
    "threads": measure_threads,
    "fit": fits.measure_fit,
    "predict": fits.measure_predict,
    "memory": fits.measure_memory,
    "loo": fits.measure_leave_one_out,
    "mdlp": fits.measure_mdlp,
}


def run(
    shape: data.Shape, rounds: int, jobs: int, only: list[str] | None, json_file: str | None
) -> Bench:
    """Measure all parts (or some) and print their tables, the targets last."""
    found_machine = report.show_machine()
    print(f"Data: {shape}; int64 array in memory.", flush=True)
    X, y = data.tree_data(shape)
    bench = Bench(X, y, rounds, jobs)
    for name, part in PARTS.items():
        if not only or name in only:
            part(bench)
    report.section("Targets")
    if shape != data.Shape(rows=1_000_000, columns=100):
        print("(set for 1,000,000 x 100, not for this size)")
    report.show(["target", "wanted", "measured", ""], bench.targets)
    content = {"machine": found_machine, "shape": asdict(shape), "jobs": jobs}
    report.write_json(json_file, {**content, "figures": bench.figures, "targets": bench.targets})
    return bench
