// Rows counted: bitmaps with AND + popcount, and histograms.
//
// Columns of few values become bitmaps, one bit a row. Rows are first ordered by class within
// blocks, so that a class is a run of words and one AND + popcount of two words counts 64 rows of
// one class. `layout` describes column i as (first bitmap, number of bitmaps, first slot among all
// values, number of values v); where nothing is missing v − 1 bitmaps do, and the last value's
// counts follow by subtraction.
#include <algorithm>
#include <vector>

#include "bits.h"

namespace unnaive {
namespace {

constexpr i64 WORD = 64;
constexpr i64 TILE_WORDS = 512;  // one value of column i and four of column j: 20 KB, in the cache
constexpr i64 STEP_WORDS = 32;   // what the loops of bits.cpp count at a time
constexpr i64 LINE_WORDS = 8;    // runs are whole cache lines, so that no load straddles two

constexpr i64 TALLIED = 1 << 16;            // cells of a table that is tallied in the cache: 256 KB
constexpr i64 MOST_ROWS = i64(1) << 32;     // that a cell of such a table can count

enum Layout { FIRST_BITMAP, BITMAPS, FIRST_SLOT, VALUES, FIELDS };

// Columns whose bitmaps are among n_bitmaps and whose values are among n_slots.
void check_layout(const char *kernel, In2<i64> layout, i64 n_bitmaps, i64 n_slots) {
    require(layout.shape(1) == FIELDS, kernel, "layout must have four fields a column");
    for (i64 column = 0; column < layout.shape(0); column++) {
        const i64 *entry = &layout(column, 0);
        require(entry[FIRST_BITMAP] >= 0 && entry[BITMAPS] >= 0 && entry[FIRST_SLOT] >= 0 &&
                    entry[VALUES] >= 0 && entry[BITMAPS] <= n_bitmaps &&
                    entry[FIRST_BITMAP] <= n_bitmaps - entry[BITMAPS] &&
                    entry[VALUES] <= n_slots && entry[FIRST_SLOT] <= n_slots - entry[VALUES],
                kernel, "a column of layout lies outside of the bitmaps or values");
    }
}

// Sets of columns with tables of the product of their values, which begin at starts.
void check_tables(const char *kernel, In2<i64> layout, In2<i64> sets, In1<i64> starts, i64 width) {
    require(starts.size() >= sets.shape(0), kernel, "starts has fewer entries than sets of columns");
    require(within(sets, 0, layout.shape(0)), kernel, "a column is not in layout");
    for (i64 set = 0; set < sets.shape(0); set++) {
        i64 cells = 1;
        for (i64 member = 0; member < sets.shape(1) && cells <= width; member++)
            cells *= std::min(layout(sets(set, member), VALUES), width + 1);
        for (i64 member = 0; member < sets.shape(1); member++)
            if (layout(sets(set, member), VALUES) == 0) cells = 0;
        require(starts[set] >= 0 && starts[set] <= width - cells, kernel,
                "a table lies outside of out");
    }
}

// Place each row behind the earlier rows of its class; cursor[c] is the next place.
void class_positions(In1<i64> classes, Out1<i64> cursor, Out1<u32> positions) {
    const char *kernel = "class_positions";
    require(positions.size() == classes.size(), kernel, "positions and classes differ in length");
    require(within(classes, 0, cursor.size()), kernel, "a class has no cursor");
    require(all_within(cursor.data, cursor.size(), 0, i64(1) << 32), kernel,
            "a cursor lies beyond all rows");
    for (i64 row = 0; row < classes.size(); row++)
        positions[row] = static_cast<u32>(cursor[classes[row]]++);
}

// Make the bitmaps of one block of rows and count every bitmap by class; cost n·d.
//
// The block's rows begin at `start`; `runs` are the k + 1 word boundaries of its classes,
// `ordered` is a buffer of codes, and `tally` (k, bitmaps) is added to.
template <class Code>
void fill_bitmaps(In2<Code> codes, i64 start, In1<u32> positions, In2<i64> layout, In1<i64> runs,
                  Out1<Code> ordered, Out2<u64> words, Out2<i64> tally) {
    const char *kernel = "fill_bitmaps";
    const i64 n_rows = positions.size(), n_runs = runs.size() - 1;
    check_layout(kernel, layout, words.shape(0), std::numeric_limits<i64>::max() / 2);
    require(layout.shape(0) == codes.shape(0), kernel, "layout and codes differ in columns");
    require(start >= 0 && start <= codes.shape(1) - n_rows, kernel, "rows beyond the codes");
    require(n_runs >= 0 && all_offsets(runs.data, runs.size(), words.shape(1)), kernel,
            "runs lie outside of the words");
    require(ordered.size() == (runs[n_runs] - runs[0]) * WORD, kernel,
            "ordered must have room for the rows of all words");
    require(all_below(positions.data, n_rows, ordered.size()), kernel, "a position beyond ordered");
    require(tally.shape(0) >= n_runs && tally.shape(1) == words.shape(0), kernel,
            "tally differs from runs and words in shape");
    for (i64 column = 0; column < codes.shape(0); column++) {
        const i64 first = layout(column, FIRST_BITMAP), used = layout(column, BITMAPS);
        if (used == 0) continue;
        std::fill_n(ordered.data, ordered.size(), static_cast<Code>(layout(column, VALUES)));
        const Code *RESTRICT line = codes.data + column * codes.shape(1) + start;
        const u32 *RESTRICT place = positions.data;
        Code *RESTRICT target = ordered.data;
        for (i64 row = 0; row < n_rows; row++) target[place[row]] = line[row];
        for (i64 label = 0; label < n_runs; label++) {
            for (i64 value = 0; value < used; value++) {
                const Code *run = ordered.data + (runs[label] - runs[0]) * WORD;
                u64 *target = words.data + (first + value) * words.shape(1) + runs[label];
                i64 total = 0;
                mark_equal(run, static_cast<Code>(value), target, runs[label + 1] - runs[label],
                           &total);
                tally(label, first + value) += total;
            }
        }
    }
}

// Fill in the values that have no bitmap: what their column's total leaves over.
void complete_pair(i64 *cells, const i64 *left, const i64 *right, const i64 *marginal) {
    const i64 size_i = left[VALUES], size_j = right[VALUES];
    if (right[BITMAPS] < size_j) {
        for (i64 a = 0; a < left[BITMAPS]; a++) {
            i64 rest = marginal[left[FIRST_SLOT] + a];
            for (i64 b = 0; b < size_j - 1; b++) rest -= cells[a * size_j + b];
            cells[(a + 1) * size_j - 1] = rest;
        }
    }
    if (left[BITMAPS] < size_i) {
        for (i64 b = 0; b < size_j; b++) {
            i64 rest = marginal[right[FIRST_SLOT] + b];
            for (i64 a = 0; a < size_i - 1; a++) rest -= cells[a * size_j + b];
            cells[(size_i - 1) * size_j + b] = rest;
        }
    }
}

// Words of a tile, so that a run has tiles of about equal length and none of a few words.
i64 even_tile(i64 words) {
    const i64 tiles = std::max<i64>(1, (words + TILE_WORDS / 2) / TILE_WORDS);
    const i64 steps = (words + tiles * STEP_WORDS - 1) / (tiles * STEP_WORDS);
    return std::max<i64>(1, steps) * STEP_WORDS;
}

// Count one tile of words of a pair of columns into its table.
INLINE void count_tile(const u64 *words, i64 stride, const i64 *left, const i64 *right, i64 length,
                       SharedFour *four, SharedOne *one, i64 *cells) {
    const i64 used = right[BITMAPS], whole = used - used % 4;
    const u64 *others = words + right[FIRST_BITMAP] * stride;
    for (i64 a = 0; a < left[BITMAPS]; a++) {
        const u64 *mine = words + (left[FIRST_BITMAP] + a) * stride;
        i64 *line = cells + a * right[VALUES];
        for (i64 b = 0; b < whole; b += 4) four(mine, others + b * stride, stride, length, line + b);
        for (i64 b = whole; b < used; b++) line[b] += one(mine, others + b * stride, length);
    }
}

// Count chosen pairs of bitmap columns: n/64 words a pair of values.
//
// `runs` are word boundaries, run r of class r mod k; pair p's table (v_i, v_j) begins at
// starts[p] of every class's row of `out`.
void count_pairs(In2<u64> words, In2<i64> layout, In1<i64> runs, In2<i64> pairs, In1<i64> starts,
                 In2<i64> marginals, Out2<i64> out) {
    const char *kernel = "count_pairs";
    const i64 n_classes = out.shape(0), width = out.shape(1), stride = words.shape(1);
    require(marginals.shape(0) == n_classes && pairs.shape(1) == 2, kernel,
            "marginals or pairs have another shape than out");
    check_layout(kernel, layout, words.shape(0), marginals.shape(1));
    for (i64 column = 0; column < layout.shape(0); column++)
        require(layout(column, BITMAPS) <= layout(column, VALUES), kernel, "more bitmaps than values");
    check_tables(kernel, layout, pairs, starts, width);
    require(all_offsets(runs.data, runs.size(), stride), kernel, "runs lie outside of the words");
    SharedFour *four = shared_four();
    SharedOne *one = shared_one();
    for (i64 run = 0; run + 1 < runs.size(); run++) {
        i64 *table = out.data + (run % n_classes) * width;
        const i64 tile = even_tile(runs[run + 1] - runs[run]);
        for (i64 low = runs[run]; low < runs[run + 1]; low += tile) {
            const i64 length = std::min(tile, runs[run + 1] - low);
            for (i64 pair = 0; pair < pairs.shape(0); pair++)
                count_tile(words.data + low, stride, &layout(pairs(pair, 0), 0),
                           &layout(pairs(pair, 1), 0), length, four, one, table + starts[pair]);
        }
    }
    for (i64 pair = 0; pair < pairs.shape(0); pair++)
        for (i64 label = 0; label < n_classes; label++)
            complete_pair(out.data + label * width + starts[pair], &layout(pairs(pair, 0), 0),
                          &layout(pairs(pair, 1), 0), &marginals(label, 0));
}

// What the three histograms have in common: rows that agree, classes that out has. Without weights
// every row counts once.
template <class Code, class Class, class Weight>
void check_rows(const char *kernel, In2<Code> codes, In1<Class> classes, In1<Weight> weights,
                In2<i64> layout, Out2<Weight> out) {
    const i64 n_rows = codes.shape(1);
    require(classes.size() == n_rows && (weights.size() == n_rows || weights.size() == 0), kernel,
            "codes, classes and weights differ in rows");
    require(all_below(classes.data, n_rows, out.shape(0)), kernel, "a class is not in out");
    require(layout.shape(0) == codes.shape(0), kernel, "layout and codes differ in columns");
    check_layout(kernel, layout, std::numeric_limits<i64>::max() / 2,
                 std::numeric_limits<i64>::max() / 2);
}

template <class Weight> INLINE Weight weight_of(In1<Weight> weights, i64 row) {
    return weights.size() ? weights[row] : Weight(1);
}

// Count the rows of one pair of columns, in a table of 32 bits that fits into the cache.
//
// Values that are missing have a line of the table too, so that no row asks. The places of some rows
// are computed before the table is touched, which vectorizes.
template <class Code, class Class>
void tally_pair(const Code *left, const Code *right, const Class *classes, i64 n_rows, u32 size_i,
                u32 size_j, std::vector<u32> &table) {
    constexpr i64 SOME = 256;
    u32 places[SOME];
    std::fill(table.begin(), table.end(), 0);
    for (i64 low = 0; low < n_rows; low += SOME) {
        const i64 rows = std::min(SOME, n_rows - low);
        for (i64 row = 0; row < rows; row++) {
            const u32 a = std::min<u32>(left[low + row], size_i);
            const u32 b = std::min<u32>(right[low + row], size_j);
            places[row] = (u32(classes[low + row]) * (size_i + 1) + a) * (size_j + 1) + b;
        }
        for (i64 row = 0; row < rows; row++) table[places[row]]++;
    }
}

template <int WIDTH, class Code, class Class, class Weight>
void check_sets(const char *kernel, In2<Code> codes, In1<Class> classes, In1<Weight> weights,
                In2<i64> layout, In2<i64> sets, In1<i64> starts, Out2<Weight> out) {
    check_rows(kernel, codes, classes, weights, layout, out);
    require(sets.shape(1) == WIDTH, kernel, "a set has another number of columns");
    check_tables(kernel, layout, sets, starts, out.shape(1));
}

// Add each row's weight to its class and value, in row order; cost n a column.
template <class Code, class Class, class Weight>
void add_values(In2<Code> codes, In1<Class> classes, In1<Weight> weights, In2<i64> layout,
                In1<i64> columns, Out2<Weight> out) {
    check_rows("add_values", codes, classes, weights, layout, out);
    require(within(columns, 0, codes.shape(0)), "add_values", "a column is not among the codes");
    for (i64 index = 0; index < columns.size(); index++) {
        const i64 column = columns[index];
        const i64 first = layout(column, FIRST_SLOT), size = layout(column, VALUES);
        require(first <= out.shape(1) - size, "add_values", "a column's values are not in out");
        const Code *line = codes.data + column * codes.shape(1);
        for (i64 row = 0; row < codes.shape(1); row++)
            if (line[row] < size)
                out(classes[row], first + line[row]) += weight_of(weights, row);
    }
}

// Add each row's weight to its class and pair of values, in row order; cost n a pair.
template <class Code, class Class, class Weight>
void add_pairs(In2<Code> codes, In1<Class> classes, In1<Weight> weights, In2<i64> layout,
               In2<i64> pairs, In1<i64> starts, Out2<Weight> out) {
    check_sets<2>("add_pairs", codes, classes, weights, layout, pairs, starts, out);
    const i64 n_rows = codes.shape(1);
    std::vector<u32> table;
    for (i64 pair = 0; pair < pairs.shape(0); pair++) {
        const Code *left = codes.data + pairs(pair, 0) * n_rows;
        const Code *right = codes.data + pairs(pair, 1) * n_rows;
        const i64 size_i = layout(pairs(pair, 0), VALUES), size_j = layout(pairs(pair, 1), VALUES);
        if (weights.size() == 0 && size_i < TALLIED && size_j < TALLIED && n_rows < MOST_ROWS &&
            out.shape(0) * (size_i + 1) * (size_j + 1) <= TALLIED) {
            table.resize(size_t(out.shape(0) * (size_i + 1) * (size_j + 1)));
            tally_pair(left, right, classes.data, n_rows, u32(size_i), u32(size_j), table);
            for (i64 label = 0; label < out.shape(0); label++)
                for (i64 a = 0; a < size_i; a++) {
                    const u32 *line = &table[size_t((label * (size_i + 1) + a) * (size_j + 1))];
                    Weight *cells = &out(label, starts[pair]) + a * size_j;
                    for (i64 b = 0; b < size_j; b++) cells[b] += Weight(line[b]);
                }
            continue;
        }
        for (i64 row = 0; row < n_rows; row++)
            if (left[row] < size_i && right[row] < size_j)
                out(classes[row], starts[pair] + left[row] * size_j + right[row]) +=
                    weight_of(weights, row);
    }
}

// Add each row's weight to its class and three values, in row order; cost n a triple.
template <class Code, class Class, class Weight>
void add_triples(In2<Code> codes, In1<Class> classes, In1<Weight> weights, In2<i64> layout,
                 In2<i64> triples, In1<i64> starts, Out2<Weight> out) {
    check_sets<3>("add_triples", codes, classes, weights, layout, triples, starts, out);
    const i64 n_rows = codes.shape(1);
    for (i64 triple = 0; triple < triples.shape(0); triple++) {
        const Code *line[3];
        i64 size[3];
        for (int member = 0; member < 3; member++) {
            line[member] = codes.data + triples(triple, member) * n_rows;
            size[member] = layout(triples(triple, member), VALUES);
        }
        for (i64 row = 0; row < n_rows; row++) {
            const i64 a = line[0][row], b = line[1][row], c = line[2][row];
            if (a < size[0] && b < size[1] && c < size[2])
                out(classes[row], starts[triple] + (a * size[1] + b) * size[2] + c) +=
                    weight_of(weights, row);
        }
    }
}

// Unite two ascending lists of cells, and say where each cell of either is; returns their number.
i64 unite(In1<i64> mine, In1<i64> theirs, Out1<i64> cells, Out1<i64> my_places,
          Out1<i64> their_places) {
    const i64 m = mine.size(), n = theirs.size();
    require(my_places.size() == m && their_places.size() == n && cells.size() == m + n, "unite",
            "places or cells have another size");
    i64 a = 0, b = 0, number = 0;
    for (; a < m || b < n; number++) {
        const bool first = b == n || (a < m && mine[a] <= theirs[b]);
        const i64 cell = first ? mine[a] : theirs[b];
        cells[number] = cell;
        if (a < m && mine[a] == cell) my_places[a++] = number;
        if (b < n && theirs[b] == cell) their_places[b++] = number;
    }
    return number;
}

template <class Code, class Class, class Weight> void bind_histograms(nb::module_ &room) {
    bind(room, "add_values", "Add each row's weight to its class and value.",
         add_values<Code, Class, Weight>, "codes", "classes", "weights", "layout", "columns", "out");
    bind(room, "add_pairs", "Add each row's weight to its class and pair of values.",
         add_pairs<Code, Class, Weight>, "codes", "classes", "weights", "layout", "pairs", "starts",
         "out");
    bind(room, "add_triples", "Add each row's weight to its class and three values.",
         add_triples<Code, Class, Weight>, "codes", "classes", "weights", "layout", "triples",
         "starts", "out");
}

template <class Code> void bind_codes(nb::module_ &room) {
    bind(room, "fill_bitmaps", "Make the bitmaps of one block of rows, and count them by class.",
         fill_bitmaps<Code>, "codes", "start", "positions", "layout", "runs", "ordered", "words",
         "tally");
    bind_histograms<Code, u8, i64>(room);
    bind_histograms<Code, u8, double>(room);
    bind_histograms<Code, u32, i64>(room);
    bind_histograms<Code, u32, double>(room);
}

}  // namespace

void bind_counting(nb::module_ &room) {
    room.attr("WORD") = WORD;
    room.attr("LINE_WORDS") = LINE_WORDS;
    bind(room, "class_positions", "Place each row behind the earlier rows of its class.",
         class_positions, "classes", "cursor", "positions");
    bind(room, "count_pairs", "Count chosen pairs of bitmap columns by AND + popcount.",
         count_pairs, "words", "layout", "runs", "pairs", "starts", "marginals", "out");
    bind(room, "unite", "Unite two ascending lists of cells, and say where each cell is.", unite,
         "mine", "theirs", "cells", "my_places", "their_places");
    for_codes([&](auto code) { bind_codes<decltype(code)>(room); });
}

}  // namespace unnaive
