// Factors of columns with several parents: each row's context is found, and its entry looked up.
//
// `families` (f, 8) holds child, first of its parents in `parents` and the one after the last,
// start of its contexts, their number, start of its table (in cells), number of values, and the
// family to ask where a context is not listed (−1: the table's last context is for all others).
// `parents` (p, 2) holds column and stride. The contexts of a family are sorted.
#include <algorithm>

#include "entries.h"

namespace unnaive {
namespace {

enum Field { CHILD, FIRST, LAST, CONTEXTS, LISTED, START, VALUES, SIMPLER, FIELDS };

template <class Code> struct Families {
    In2<Code> codes;
    In2<i64> families, parents;
    In1<i64> contexts;
    In2<double> entries;

    void check(i64 used) const {
        const char *kernel = "sum_families";
        const i64 n_families = families.shape(0), n_cells = entries.shape(0);
        require(families.shape(1) == FIELDS && parents.shape(1) == 2 && used <= n_families, kernel,
                "families or parents have another shape");
        for (i64 place = 0; place < parents.shape(0); place++)
            require(parents(place, 0) >= 0 && parents(place, 0) < codes.shape(0) &&
                        parents(place, 1) > 0,
                    kernel, "a parent is no column");
        for (i64 index = 0; index < n_families; index++) {
            const i64 *one = &families(index, 0);
            require(one[CHILD] >= 0 && one[CHILD] < codes.shape(0) && one[FIRST] >= 0 &&
                        one[FIRST] <= one[LAST] && one[LAST] <= parents.shape(0),
                    kernel, "a family's columns are not among the codes");
            require(one[CONTEXTS] >= 0 && one[LISTED] >= 0 &&
                        one[LISTED] <= contexts.size() - one[CONTEXTS],
                    kernel, "a family's contexts lie outside of the list");
            // A family asks one that comes later, so that no circle is possible.
            require(one[SIMPLER] == -1 || (one[SIMPLER] > index && one[SIMPLER] < n_families &&
                                           families(one[SIMPLER], CHILD) == one[CHILD]),
                    kernel, "a simpler family does not follow");
            const i64 rows = one[LISTED] + (one[SIMPLER] < 0 ? 1 : 0);
            require(one[VALUES] >= 0 && one[START] >= 0 && one[START] <= n_cells &&
                        rows <= (n_cells - one[START]) / std::max<i64>(one[VALUES], 1),
                    kernel, "a family's table lies outside of the entries");
        }
        require(entries.shape(1) > 0 &&
                    n_cells <= i64(std::numeric_limits<u32>::max()) / entries.shape(1),
                kernel, "there are too many entries");
    }

    // Context of a row, as a number; the strides of unchecked codes wrap, and match nothing then.
    u64 context(const i64 *one, i64 row) const {
        u64 number = 0;
        for (i64 place = one[FIRST]; place < one[LAST]; place++)
            number += u64(codes(parents(place, 0), row)) * u64(parents(place, 1));
        return number;
    }

    // Cell of a row in the table of a family, or of the simpler one that knows its context.
    u32 cell(i64 index, i64 row) const {
        const i64 *one = &families(index, 0);
        const i64 value = codes(one[CHILD], row);
        require(value < one[VALUES], "sum_families", "a code is beyond its column's values");
        for (;;) {
            const i64 number = i64(context(one, row));
            const i64 *first = contexts.data + one[CONTEXTS], *last = first + one[LISTED];
            const i64 *place = first + number;  // where all contexts are listed
            if (number < 0 || number >= one[LISTED] || *place != number)
                place = std::lower_bound(first, last, number);
            const bool listed = place < last && *place == number;
            if (listed || one[SIMPLER] < 0) {
                const i64 line = listed ? place - first : one[LISTED];
                return u32(one[START] + line * one[VALUES] + value);
            }
            one = &families(one[SIMPLER], 0);
        }
    }
};

// Where each row's entry begins, in a family that lists all contexts 0, 1, 2, …; others are next.
template <class Code>
INLINE void add_contexts_loop(const Code *line, u32 stride, i64 rows, u32 *RESTRICT numbers) {
    for (i64 row = 0; row < rows; row++) numbers[row] += u32(line[row]) * stride;
}
LEVELS(add_contexts)

template <class Code>
INLINE void finish_cells_loop(const Code *child, u32 listed, u32 values, u32 start, u32 lines,
                              i64 rows, u32 *RESTRICT cells) {
    for (i64 row = 0; row < rows; row++) {
        const u32 context = cells[row] < listed ? cells[row] : listed;
        cells[row] = (start + context * values + u32(child[row])) * lines;
    }
}
LEVELS(finish_cells)

// Where the entries of a block of rows begin in the table of a family.
template <class Code>
void place_rows(const Families<Code> &all, i64 index, i64 low, i64 rows, u32 *cells) {
    const i64 *one = &all.families(index, 0), lines = all.entries.shape(1);
    const Code *child = &all.codes(one[CHILD], 0) + low;
    const bool dense = one[LISTED] > 0 && one[SIMPLER] < 0 &&
                       all.contexts[one[CONTEXTS] + one[LISTED] - 1] == one[LISTED] - 1;
    if (!dense) {
        for (i64 row = 0; row < rows; row++)
            cells[row] = all.cell(index, low + row) * u32(lines);
        return;
    }
    require(all_below(child, rows, one[VALUES]), "sum_families",
            "a code is beyond its column's values");
    std::fill_n(cells, rows, 0u);
    for (i64 place = one[FIRST]; place < one[LAST]; place++)
        add_contexts(&all.codes(all.parents(place, 0), 0) + low, u32(all.parents(place, 1)), rows,
                     cells);
    finish_cells(child, u32(one[LISTED]), u32(one[VALUES]), u32(one[START]), u32(lines), rows,
                 cells);
}

// Sum the first `used` families' factors of rows without missing cells into out; cost n·families·k.
//
// `entries` (cells, k) holds a cell's classes side by side, or (cells, 2k): behind them what a row
// that is held out finds for its own class.
template <class Code>
void sum_families(In2<Code> codes, In2<i64> families, In2<i64> parents, In1<i64> contexts,
                  In2<double> entries, i64 used, In1<i64> held, Out2<double> out) {
    const char *kernel = "sum_families";
    const i64 n_rows = codes.shape(1), n_classes = out.shape(1), lines = entries.shape(1);
    const Families<Code> all{codes, families, parents, contexts, entries};
    all.check(used);
    require(held.size() == n_rows && out.shape(0) == n_rows && within(held, -1, n_classes), kernel,
            "codes, held and out differ in rows");
    require(lines == n_classes || lines == 2 * n_classes, kernel, "entries lack a class");
    std::vector<u32> cells(TOGETHER * BLOCK);
    std::fill_n(out.data, out.size(), 0.0);
    for (i64 low = 0; low < n_rows; low += BLOCK) {
        const i64 rows = std::min(BLOCK, n_rows - low);
        for (i64 first = 0; first < used; first += TOGETHER) {
            const int members = int(std::min<i64>(TOGETHER, used - first));
            for (int member = 0; member < members; member++)
                place_rows(all, first + member, low, rows, cells.data() + member * BLOCK);
            (lines > n_classes ? add_block<true> : add_block<false>)(
                entries.data, cells.data(), members, held.data + low, n_classes, rows,
                &out(low, 0));
        }
    }
}

}  // namespace

void bind_families(nb::module_ &room) {
    const char *text = "Sum the factors of rows without missing cells over some families.";
    const auto add = [&room, text](auto kernel) {
        bind(room, "sum_families", text, kernel, "codes", "families", "parents", "contexts",
             "entries", "used", "held", "out");
    };
    add(sum_families<u8>);
    add(sum_families<u16>);
    add(sum_families<u32>);
}

}  // namespace unnaive
