// Numbers sorted into buckets: one look into a hash table a number.
//
// The bits of a float, its sign turned round, are an unsigned integer in the order of the
// numbers. A bucket is all numbers that share the leading bits of that integer; its key has the
// others set to zero.
#include <algorithm>
#include <bit>
#include <utility>

#include "border.h"

namespace unnaive {
namespace {

constexpr i64 BINADES = 1 << 12;  // sign and exponent: numbers between powers of two share theirs
constexpr u64 TOP = u64(1) << 63;
constexpr int MANTISSA = 52;
constexpr u64 GOLDEN = 0x9E3779B1;  // 2³² by the golden ratio: half a word, so nothing overflows

// A hash table of rows, −1 in empty slots; the number of slots is a power of two.
struct Index {
    std::int32_t *slots;
    u64 mask;

    Index(const char *kernel, Out1<std::int32_t> index, i64 n_keys)
        : slots(index.data), mask(u64(index.size()) - 1) {
        require(std::has_single_bit(u64(index.size())), kernel,
                "the number of slots is not a power of two");
        require(n_keys < index.size() && n_keys <= std::numeric_limits<std::int32_t>::max(),
                kernel, "there are too many keys for the slots");
    }
    u64 first(u64 key) const {
        const u64 folded = (key >> 32) ^ (key & 0xFFFFFFFF);
        return ((folded * GOLDEN) >> 20) & mask;
    }
};

// Write the row of each number's bucket, −1 for NaN; new buckets are put at `size`; O(n).
// Stops where `keys` is full. Returns how many numbers were dealt with, and the new size.
std::pair<i64, i64> find_buckets(In1<double> values, In1<u8> shifts, Out1<std::int32_t> index,
                                 Out1<u64> keys, i64 size, Out1<std::int32_t> rows) {
    const char *kernel = "find_buckets";
    const Index table(kernel, index, keys.size());
    require(rows.size() == values.size(), kernel, "values and rows differ in size");
    require(size >= 0 && size <= keys.size(), kernel, "size lies beyond the keys");
    require(shifts.size() == BINADES && all_below(shifts.data, BINADES, 64), kernel,
            "shifts are not one for each binade, below 64");
    for (i64 place = 0; place < values.size(); place++) {
        if (values[place] != values[place]) {
            rows[place] = -1;
            continue;
        }
        u64 word = std::bit_cast<u64>(values[place]);
        if (word == TOP) word = 0;  // minus zero is zero
        u64 key = word ^ (u64(i64(word) >> 63) | TOP);  // all bits of a negative number
        key &= ~u64(0) << shifts[i64(key >> MANTISSA)];
        u64 slot = table.first(key), steps = 0;
        std::int32_t row = table.slots[slot];
        while (u32(row) < size && keys[row] != key) {
            require(steps++ < table.mask, kernel, "the table of slots is full");
            slot = (slot + 1) & table.mask;
            row = table.slots[slot];
        }
        require(row < size, kernel, "a slot holds a row that is not there");
        if (row < 0) {
            if (size == keys.size()) return {place, size};
            keys[size] = key;
            row = table.slots[slot] = std::int32_t(size);
            size++;
        }
        rows[place] = row;
    }
    return {values.size(), size};
}

// Add numbers to their buckets: lowest, highest, and the weight of each class; O(n).
void add_rows(In1<double> values, In1<std::int32_t> rows, In1<i64> classes, In1<double> weights,
              Out2<double> ends, Out2<double> counts) {
    const i64 n_rows = values.size();
    require(rows.size() == n_rows && classes.size() == n_rows && weights.size() == n_rows,
            "add_rows", "values, rows, classes and weights differ in size");
    require(ends.shape(0) == counts.shape(0) && ends.shape(1) == 2, "add_rows",
            "ends and counts differ in shape");
    for (i64 place = 0; place < n_rows; place++) {
        const i64 row = rows[place];
        if (row < 0) continue;
        require(row < ends.shape(0) && u64(classes[place]) < u64(counts.shape(1)), "add_rows",
                "a row or a class is not there");
        const double value = values[place];
        ends(row, 0) = std::min(ends(row, 0), value);
        ends(row, 1) = std::max(ends(row, 1), value);
        counts(row, classes[place]) += weights[place];
    }
}

// Put the rows of all keys into an empty table of slots.
void fill_index(In1<u64> keys, Out1<std::int32_t> index) {
    const Index table("fill_index", index, keys.size());
    std::int32_t signs = -1;
    for (i64 slot = 0; slot < index.size(); slot++) signs &= index[slot];
    require(signs < 0, "fill_index", "the table of slots is not empty");
    for (i64 row = 0; row < keys.size(); row++) {
        u64 slot = table.first(keys[row]);
        while (table.slots[slot] >= 0) slot = (slot + 1) & table.mask;
        table.slots[slot] = std::int32_t(row);
    }
}

}  // namespace

void bind_buckets(nb::module_ &room) {
    room.attr("BINADES") = BINADES;
    bind(room, "find_buckets", "Row of each number's bucket; new buckets are added.", find_buckets,
         "values", "shifts", "index", "keys", "size", "rows");
    bind(room, "add_rows", "Add numbers to their buckets.", add_rows, "values", "rows", "classes",
         "weights", "ends", "counts");
    bind(room, "fill_index", "Put the rows of all keys into an empty table of slots.", fill_index,
         "keys", "index");
}

}  // namespace unnaive
