// Numbers turned into codes: one pass, 64 rows of every column at a time.
//
// A block is a C-ordered (rows, columns) array, the codes are (columns, rows); the tile of 64 rows
// keeps what is read and what is written in the first-level cache.
#include <algorithm>
#include <cmath>

#include "levels.h"

namespace unnaive {
namespace {

constexpr i64 TILE = 64;
constexpr i64 OUTSIDE = 63;    // the highest raw code of a first look: one bit a value, then others
constexpr i64 FEW_EDGES = 24;  // up to here comparing with every edge beats searching

template <class Code> void check_block(const char *kernel, i64 rows, i64 columns, Out2<Code> codes, i64 first) {
    require(codes.shape(0) == columns, kernel, "block and codes differ in columns");
    require(first >= 0 && first <= codes.shape(1) - rows, kernel, "rows beyond the codes");
}

// Code some cells of a row as value − base, at most limit, and mark the codes that occur.
template <int SIZE, class Code>
INLINE void offset_cells(const i64 *line, const i64 *base, const u64 *limit, u64 *RESTRICT marks,
                         Code *RESTRICT out) {
    u64 values[SIZE];
    for (int cell = 0; cell < SIZE; cell++) {
        const u64 away = u64(line[cell]) - u64(base[cell]);
        values[cell] = away < limit[cell] ? away : limit[cell];
    }
    for (int cell = 0; cell < SIZE; cell++) marks[cell] |= u64(1) << (values[cell] & 63);
    for (int cell = 0; cell < SIZE; cell++) out[cell] = Code(values[cell]);
}

// Code rows of a tile, eight cells at a time: as many as fit the widest vectors.
template <class Code>
INLINE void offset_tile_loop(const i64 *block, i64 rows, i64 columns, const i64 *base,
                             const u64 *limit, u64 *RESTRICT marks, Code *RESTRICT tile) {
    for (i64 row = 0; row < rows; row++) {
        const i64 *line = block + row * columns;
        Code *out = tile + row * columns;
        i64 column = 0;
        for (; column + 8 <= columns; column += 8)
            offset_cells<8>(line + column, base + column, limit + column, marks + column,
                            out + column);
        for (; column < columns; column++)
            offset_cells<1>(line + column, base + column, limit + column, marks + column,
                            out + column);
    }
}
LEVELS(offset_tile)

// Exchange what two words have in the bits of a mask, those of the first `shift` bits further on.
INLINE void exchange(u64 &first, u64 &second, int shift, u64 mask) {
    const u64 other = ((first >> shift) ^ second) & mask;
    second ^= other;
    first ^= other << shift;
}

// Eight rows of eight bytes become eight columns: halves, quarters and bytes change places.
INLINE void turn_bytes(const u8 *rows, i64 width, u8 *columns, i64 step) {
    u64 words[8];
    for (int row = 0; row < 8; row++) std::memcpy(&words[row], rows + row * width, 8);
    for (int row : {0, 1, 2, 3}) exchange(words[row], words[row + 4], 32, 0x00000000ffffffffu);
    for (int row : {0, 1, 4, 5}) exchange(words[row], words[row + 2], 16, 0x0000ffff0000ffffu);
    for (int row : {0, 2, 4, 6}) exchange(words[row], words[row + 1], 8, 0x00ff00ff00ff00ffu);
    for (int column = 0; column < 8; column++)
        std::memcpy(columns + column * step, &words[column], 8);
}

// Write a tile of rows as columns, `step` codes apart.
template <class Code>
void turn_tile(const Code *tile, i64 width, i64 rows, i64 n_columns, Code *codes, i64 step) {
    i64 whole_columns = 0, whole_rows = 0;
    if constexpr (sizeof(Code) == 1 && std::endian::native == std::endian::little) {
        whole_columns = n_columns - n_columns % 8, whole_rows = rows - rows % 8;
        for (i64 column = 0; column < whole_columns; column += 8)
            for (i64 row = 0; row < whole_rows; row += 8)
                turn_bytes(tile + row * width + column, width, codes + column * step + row, step);
    }
    for (i64 column = 0; column < n_columns; column++) {
        Code *RESTRICT target = codes + column * step;
        for (i64 row = column < whole_columns ? whole_rows : 0; row < rows; row++)
            target[row] = tile[row * width + column];
    }
}

// Code integers as value − base, or `limit` where that is out of 0 … limit − 1; cost n·d.
//
// Bit b of marks[c] is set if column c has the code b (for limits up to 63).
template <class Code>
void offset_integers(In2<i64> block, In1<i64> base, In1<u64> limit, Out1<u64> marks,
                     Out2<Code> codes, i64 first) {
    const char *kernel = "offset_integers";
    const i64 n_rows = block.shape(0), n_columns = block.shape(1);
    check_block(kernel, n_rows, n_columns, codes, first);
    require(base.size() == n_columns && limit.size() == n_columns && marks.size() == n_columns,
            kernel, "base, limit and marks differ from the block in columns");
    Room<Code, 2> tile(TILE, n_columns);
    for (i64 low = 0; low < n_rows; low += TILE) {
        const i64 rows = std::min(TILE, n_rows - low);
        offset_tile(block.data + low * n_columns, rows, n_columns, base.data, limit.data,
                    marks.data, tile.data);
        turn_tile(tile.data, n_columns, rows, n_columns, codes.data + first + low, codes.shape(1));
    }
}

// Code one column by table[value − lowest]; the table's last entry is for all others; cost n.
//
// Seen as unsigned, what lies below the lowest value is beyond the table, too.
template <class Value, class Code>
void look_up_integers(In1<Value> values, i64 lowest, In1<Code> table, Out1<Code> codes) {
    require(table.size() > 0 && codes.size() == values.size(), "look_up_integers",
            "values and codes differ in length, or the table is empty");
    const u64 last = u64(table.size() - 1);
    for (i64 row = 0; row < values.size(); row++)
        codes[row] = table.data[std::min(u64(i64(values[row])) - u64(lowest), last)];
}

// Number of edges below each of some values, by comparing with all of them.
template <class Code>
INLINE void count_edges_loop(const double *values, i64 rows, const double *edges, i64 n_edges,
                             Code *RESTRICT out) {
    i64 below[TILE] = {};
    for (i64 edge = 0; edge < n_edges; edge++)
        for (i64 row = 0; row < rows; row++) below[row] += edges[edge] < values[row];
    for (i64 row = 0; row < rows; row++)
        out[row] = Code(values[row] == values[row] ? below[row] : n_edges + 1);
}
LEVELS(count_edges)

// The same by halving the edges, in step for all values: no branch depends on a value.
template <class Code>
INLINE void search_edges_loop(const double *values, i64 rows, const double *edges, i64 n_edges,
                              Code *RESTRICT out) {
    i64 below[TILE] = {};
    i64 left = n_edges;
    for (; left > 1; left -= left / 2) {
        const i64 half = left / 2;
        for (i64 row = 0; row < rows; row++)
            below[row] += edges[below[row] + half - 1] < values[row] ? half : 0;
    }
    for (i64 row = 0; row < rows; row++) {
        below[row] += edges[below[row]] < values[row];
        out[row] = Code(values[row] == values[row] ? below[row] : n_edges + 1);
    }
}
LEVELS(search_edges)

// Code numbers by their bin, the number of edges below; NaN is the slot after the bins.
//
// Returns the first column that holds an infinite value, or −1; cost n·d·log(edges).
template <class Code>
i64 look_up_floats(In2<double> block, In1<double> edges, In1<i64> starts, Out2<Code> codes,
                   i64 first) {
    const char *kernel = "look_up_floats";
    const i64 n_rows = block.shape(0), n_columns = block.shape(1);
    check_block(kernel, n_rows, n_columns, codes, first);
    require(starts.size() == n_columns + 1 && all_offsets(starts.data, starts.size(), edges.size()),
            kernel, "starts lie outside of the edges");
    i64 infinite = n_columns;
    double values[TILE];
    for (i64 low = 0; low < n_rows; low += TILE) {
        const i64 rows = std::min(TILE, n_rows - low);
        for (i64 column = 0; column < n_columns; column++) {
            const double *cell = &block(low, 0) + column;
            u64 endless = 0;
            for (i64 row = 0; row < rows; row++) {
                values[row] = cell[row * n_columns];
                endless |= std::fabs(values[row]) == INF;
            }
            if (endless) infinite = std::min(infinite, column);
            const double *cuts = edges.data + starts[column];
            const i64 n_cuts = starts[column + 1] - starts[column];
            Code *target = &codes(column, 0) + first + low;
            if (n_cuts <= FEW_EDGES)
                count_edges(static_cast<const double *>(values), rows, cuts, n_cuts, target);
            else
                search_edges(static_cast<const double *>(values), rows, cuts, n_cuts, target);
        }
    }
    return infinite < n_columns ? infinite : -1;
}

template <class Code, class... Values> void bind_look_ups(nb::module_ &room) {
    (bind(room, "look_up_integers", "Code one column of integers by a table.",
          look_up_integers<Values, Code>, "values", "lowest", "table", "codes"),
     ...);
}

template <class Code> void bind_codes(nb::module_ &room) {
    bind(room, "offset_integers", "Code integers by their distance from the lowest of a column.",
         offset_integers<Code>, "block", "base", "limit", "marks", "codes", "first");
    bind_look_ups<Code, i64, std::int32_t, std::int16_t, std::int8_t, u8, u16, u32>(room);
    bind(room, "look_up_floats", "Code numbers by their bin.", look_up_floats<Code>, "block",
         "edges", "starts", "codes", "first");
}

}  // namespace

void bind_coding(nb::module_ &room) {
    room.attr("OUTSIDE") = OUTSIDE;
    for_codes([&](auto code) { bind_codes<decltype(code)>(room); });
}

}  // namespace unnaive
