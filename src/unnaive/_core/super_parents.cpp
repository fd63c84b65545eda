// Averages of one-dependence estimators: their tables, and rows looked up in all of them.
//
// `slots` are the columns' starts among all slots, values and a missing slot each.
#include "estimate.h"
#include "levels.h"

namespace unnaive {
namespace {

constexpr double NO_CHANCE = 1e-306;  // a mean below this is what is left of exp(−inf)
constexpr i64 AVERAGE_CELLS = 1 << 16;
constexpr i64 AVERAGE_BLOCK = 1024;  // rows that share a super-parent's tables in the cache
constexpr double SHIFT = 6755399441055744.0;  // 1.5·2**52: the low bits of x + SHIFT are round(x)

enum Column { SLOT, GROUP, STRIDE, START, COLUMN_FIELDS };
enum Parent { FIRST, SECOND, BEGIN, FIRST_STRIDE, SECOND_STRIDE, PARENT_FIELDS };

void check_slots(const char *kernel, In1<i64> slots, i64 limit) {
    require(slots.size() >= 1 && slots[0] == 0 && all_offsets(slots.data, slots.size(), limit),
            kernel, "slots lie outside of the tables");
    for (i64 column = 0; column + 1 < slots.size(); column++)
        require(slots[column] < slots[column + 1], kernel, "a column has no slot");
}

// Log P(x_j | c, x_i) of one class and pair, from the pair's table (v_i, v_j) seen by two strides.
struct Side {
    i64 size, first;  // values of the child, its first slot
    double total, share;
    const double *alpha;
};

INLINE void fill_side(const double *table, i64 contexts, i64 step, i64 child_step, Side child,
                      double held, double *out, i64 width) {
    for (i64 context = 0; context < contexts; context++) {
        const double *line = table + context * step;
        double size = 0.0;
        for (i64 value = 0; value < child.size; value++) size += line[value * child_step];
        for (i64 value = 0; value < child.size; value++)
            out[context * width + child.first + value] = log_estimate(
                line[value * child_step] - held, size - held,
                child.alpha[child.first + value] / child.share, child.total / child.share,
                double(child.size));
    }
}

// Log P(x_i | c, x_p) of every ordered pair into out (k, slots, slots); cost of the pairs.
//
// α (k, slots) and A of column i are divided by shares[p] (BDeu), `held` is taken off every count.
void super_parent_tables(In2<double> pairs, In1<i64> pair_starts, In1<i64> slots,
                         In2<double> alpha, In1<double> totals, In1<double> shares, double held,
                         Out3<double> out) {
    const char *kernel = "super_parent_tables";
    const i64 n_classes = out.shape(0), width = out.shape(2), n_columns = slots.size() - 1;
    check_slots(kernel, slots, width);
    require(out.shape(1) == width && alpha.shape(0) == n_classes && alpha.shape(1) == width &&
                pairs.shape(0) == n_classes && totals.size() == n_columns &&
                shares.size() == n_columns,
            kernel, "pairs, alpha, totals, shares and out differ in shape");
    require(pair_starts.size() == n_columns * (n_columns - 1) / 2 + 1 &&
                all_offsets(pair_starts.data, pair_starts.size(), pairs.shape(1)),
            kernel, "pair_starts lie outside of the pairs");
    for (i64 label = 0; label < n_classes; label++) {
        i64 pair = 0;
        for (i64 i = 0; i < n_columns; i++) {
            const i64 size_i = slots[i + 1] - slots[i] - 1;
            for (i64 j = i + 1; j < n_columns; j++, pair++) {
                const i64 size_j = slots[j + 1] - slots[j] - 1;
                require(pair_starts[pair + 1] - pair_starts[pair] == size_i * size_j, kernel,
                        "a pair's table has another size than its columns");
                const double *table = &pairs(label, 0) + pair_starts[pair];
                const double *pseudo = &alpha(label, 0);
                fill_side(table, size_i, size_j, 1,
                          {size_j, slots[j], totals[j], shares[i], pseudo}, held,
                          &out(label, slots[i], 0), width);
                fill_side(table, size_j, 1, size_j,
                          {size_i, slots[i], totals[i], shares[j], pseudo}, held,
                          &out(label, slots[j], 0), width);
            }
        }
    }
}

// Sum each row's entries of two classes' tables, in a fixed order; cost rows·groups.
INLINE void sum_entries_loop(const double *flat, const u64 *base, i64 stride, const u32 *place,
                             i64 groups, i64 rows, double *RESTRICT first,
                             double *RESTRICT second) {
    const i64 whole = groups - groups % 2;
    for (i64 row = 0; row < rows; row++) {
        const double *left = flat + base[row], *right = flat + base[stride + row];
        const u32 *places = place + row * groups;
        double left_0 = 0.0, left_1 = 0.0, right_0 = 0.0, right_1 = 0.0;
        for (i64 group = 0; group < whole; group += 2) {
            const u32 even = places[group], odd = places[group + 1];
            left_0 += left[even];
            left_1 += left[odd];
            right_0 += right[even];
            right_1 += right[odd];
        }
        if (whole < groups) {
            left_0 += left[places[whole]];
            right_0 += right[places[whole]];
        }
        first[row] = left_0 + left_1;
        second[row] = right_0 + right_1;
    }
}
LEVELS(sum_entries)

// e**x for x ≤ 0 within 1 unit in the last place, of operations that compilers vectorise.
//
// x = n·log 2 + r with |r| ≤ log(2)/2; e**r by its Taylor series, 2**n by its exponent bits. Below
// −708 the result is that of −708, some 1e-308; above 0 that of 0.
INLINE double exponential(double x) {
    x = x > -708.0 ? x : -708.0;
    x = x < 0.0 ? x : 0.0;
    const double shifted = x * 1.4426950408889634 + SHIFT;
    const double n = shifted - SHIFT;
    const double r = (x - n * 6.93147180369123816490e-01) - n * 1.90821492927058770002e-10;
    double series = 1.0 / 6227020800.0;
    series = series * r + 1.0 / 479001600.0;
    series = series * r + 1.0 / 39916800.0;
    series = series * r + 1.0 / 3628800.0;
    series = series * r + 1.0 / 362880.0;
    series = series * r + 1.0 / 40320.0;
    series = series * r + 1.0 / 5040.0;
    series = series * r + 1.0 / 720.0;
    series = series * r + 1.0 / 120.0;
    series = series * r + 1.0 / 24.0;
    series = series * r + 1.0 / 6.0;
    series = series * r + 0.5;
    series = series * r + 1.0;
    series = series * r + 1.0;
    return series * std::bit_cast<double>((std::bit_cast<u64>(shifted) + 1023) << 52);
}

// Keep the larger joint of members that weigh, and add up their weights.
INLINE void raise_peaks_loop(const double *joint, const double *weight, i64 rows,
                             double *RESTRICT peak, double *RESTRICT weighed) {
    for (i64 row = 0; row < rows; row++) {
        weighed[row] += weight[row];
        const double here = weight[row] > 0.0 ? joint[row] : -INF;
        peak[row] = here > peak[row] ? here : peak[row];
    }
}
LEVELS(raise_peaks)

// Add one super-parent's weighted share to every row's sum.
INLINE void add_exponentials_loop(const double *joint, const double *weight, const double *peak,
                                  i64 rows, double *RESTRICT total) {
    for (i64 row = 0; row < rows; row++)
        total[row] += weight[row] * exponential(joint[row] - peak[row]);
}
LEVELS(add_exponentials)

// Rows of one block: their places in the groups, their super-parents' slots and weights.
struct Block {
    i64 size, n_parents, n_groups, lines;
    std::vector<u32> place;
    std::vector<i64> slot;
    std::vector<double> weight, joint, peak, total, weighed;
    std::vector<u64> base;

    Block(i64 size, i64 n_parents, i64 n_groups)
        : size(size), n_parents(n_parents), n_groups(n_groups),
          lines(size + 8),  // no power of two, or all lines would compete for one cache set
          place(std::size_t(size * n_groups)), slot(std::size_t(n_parents * lines)),
          weight(slot.size()), joint(2 * slot.size()), peak(std::size_t(size)), total(peak.size()),
          weighed(peak.size()), base(2 * peak.size()) {}

    template <class Code>
    void place_rows(In2<Code> codes, In2<i64> columns, const std::vector<i64> &slots, i64 low,
                    i64 rows) {
        std::fill(place.begin(), place.end(), 0u);
        for (i64 column = 0; column < codes.shape(0); column++) {
            const Code *line = &codes(column, 0) + low;
            require(all_below(line, rows, slots[column]), "sum_super_parents",
                    "a code is beyond its column's values");
            const i64 *entry = &columns(column, 0);
            for (i64 row = 0; row < rows; row++)
                place[row * n_groups + entry[GROUP]] += u32(entry[START] + entry[STRIDE] * line[row]);
        }
    }

    template <class Code>
    void find_parents(In2<Code> codes, In2<i64> parents, In1<double> weights, i64 low, i64 rows) {
        for (i64 parent = 0; parent < n_parents; parent++) {
            const i64 *entry = &parents(parent, 0);
            const Code *line = &codes(entry[FIRST], 0) + low, *other = &codes(entry[SECOND], 0) + low;
            for (i64 row = 0; row < rows; row++) {
                const i64 at = entry[BEGIN] + entry[FIRST_STRIDE] * line[row] +
                               entry[SECOND_STRIDE] * other[row];
                slot[parent * lines + row] = at;
                weight[parent * lines + row] = weights[at];
            }
        }
    }

    // Log of the weighted mean over super-parents, NaN where none weighs.
    void log_mean(const double *joints, i64 rows, double *out, i64 step) {
        std::fill_n(peak.begin(), rows, -INF);
        std::fill_n(total.begin(), rows, 0.0);
        std::fill_n(weighed.begin(), rows, 0.0);
        for (i64 parent = 0; parent < n_parents; parent++)
            raise_peaks(joints + parent * lines, weight.data() + parent * lines, rows, peak.data(),
                        weighed.data());
        for (i64 row = 0; row < rows; row++)
            if (peak[row] == -INF) peak[row] = 0.0;
        for (i64 parent = 0; parent < n_parents; parent++)
            add_exponentials(joints + parent * lines, weight.data() + parent * lines, peak.data(),
                             rows, total.data());
        for (i64 row = 0; row < rows; row++) {
            double &mean = out[row * step];
            if (weighed[row] > 0.0) {
                mean = total[row] / weighed[row];
                mean = mean > NO_CHANCE ? peak[row] + std::log(mean) : -INF;
            } else {
                mean = std::numeric_limits<double>::quiet_NaN();
            }
        }
    }
};

// Columns' places lie within a table's row, parents' slots within its lines.
template <class Code>
std::vector<i64> check_members(In2<Code> codes, In2<i64> columns, In2<i64> parents,
                               In1<double> weights, In3<double> tables) {
    const char *kernel = "sum_super_parents";
    const i64 n_columns = codes.shape(0), width = tables.shape(2), lines = tables.shape(1);
    require(columns.shape(0) == n_columns && n_columns > 0 && columns.shape(1) == COLUMN_FIELDS &&
                parents.shape(1) == PARENT_FIELDS && weights.size() == lines,
            kernel, "columns, parents or weights have another shape than codes and tables");
    const i64 n_groups = columns(n_columns - 1, GROUP) + 1;
    require(n_groups > 0 && n_groups <= n_columns && width < (i64(1) << 32), kernel,
            "groups are not numbered from 0");
    // A column's slots follow from the strides: the next column's in the group, or the group's end.
    std::vector<i64> slots(std::size_t(n_columns), 0), most(std::size_t(n_groups), 0);
    for (i64 column = n_columns - 1, end = width, above = 0; column >= 0; column--) {
        const i64 *entry = &columns(column, 0);
        const bool last = column + 1 == n_columns || columns(column + 1, GROUP) != entry[GROUP];
        require(entry[GROUP] >= 0 && entry[GROUP] < n_groups && entry[STRIDE] > 0 &&
                    entry[STRIDE] <= width && entry[START] >= 0 && entry[START] < width,
                kernel, "a column lies outside of the tables");
        if (last) {
            i64 begin = 0;
            for (i64 member = column; member >= 0 && columns(member, GROUP) == entry[GROUP]; member--)
                begin = columns(member, START);
            above = end - begin;
            end = begin;
        }
        slots[column] = above / entry[STRIDE];
        above = entry[STRIDE];
        require(slots[column] > 0, kernel, "a column has no slot");
        most[entry[GROUP]] += entry[START] + entry[STRIDE] * (slots[column] - 1);
        require(most[entry[GROUP]] < width, kernel, "a group lies outside of the tables");
    }
    for (i64 parent = 0; parent < parents.shape(0); parent++) {
        const i64 *entry = &parents(parent, 0);
        require(entry[FIRST] >= 0 && entry[FIRST] < n_columns && entry[SECOND] >= 0 &&
                    entry[SECOND] < n_columns && entry[BEGIN] >= 0 && entry[BEGIN] < lines &&
                    entry[FIRST_STRIDE] >= 0 && entry[FIRST_STRIDE] <= lines &&
                    entry[SECOND_STRIDE] >= 0 && entry[SECOND_STRIDE] <= lines &&
                    entry[BEGIN] + entry[FIRST_STRIDE] * (slots[entry[FIRST]] - 1) +
                            entry[SECOND_STRIDE] * (slots[entry[SECOND]] - 1) <
                        lines,
                kernel, "a super-parent lies outside of the tables");
    }
    return slots;
}

// Log weighted mean of the super-parents' joints, rows of `span`; cost n·k·parents·groups.
//
// `columns` (d, 4): first slot, group, stride in the group, start of the group (with its first
// member). `parents` (m, 5): two columns (or one twice), start of their slots, and the strides of
// their values. weights[s] is the weight of slot s; NaN where all are 0.
template <class Code>
void sum_super_parents(In2<Code> codes, In2<i64> columns, In2<i64> parents, In1<double> weights,
                       In3<double> tables, In1<i64> held, std::pair<i64, i64> span,
                       Out2<double> out) {
    const char *kernel = "sum_super_parents";
    const i64 n_classes = out.shape(1), n_parents = parents.shape(0);
    const std::vector<i64> slots = check_members(codes, columns, parents, weights, tables);
    require(0 <= span.first && span.first <= span.second && span.second <= codes.shape(1) &&
                held.size() == codes.shape(1) && out.shape(0) == codes.shape(1),
            kernel, "codes, held and out differ in rows");
    const i64 *own = held.data + span.first, n_rows = span.second - span.first;
    require(tables.shape(0) >= n_classes && all_within(own, n_rows, -1, n_classes) &&
                (tables.shape(0) >= 2 * n_classes || all_within(own, n_rows, -1, 0)),
            kernel, "held is no class of the tables");
    const i64 size = std::max<i64>(
        16, std::min(AVERAGE_BLOCK, AVERAGE_CELLS / std::max<i64>(n_parents, 1)));
    const i64 width = tables.shape(2), table_size = tables.shape(1) * width;
    Block block(size, n_parents, columns(codes.shape(0) - 1, GROUP) + 1);
    for (i64 low = span.first; low < span.second; low += size) {
        const i64 rows = std::min(size, span.second - low);
        block.place_rows(codes, columns, slots, low, rows);
        block.find_parents(codes, parents, weights, low, rows);
        for (i64 label = 0; label < n_classes; label += 2) {
            const i64 two = std::min<i64>(2, n_classes - label);
            double *joint[2] = {block.joint.data(), block.joint.data() + n_parents * block.lines};
            for (i64 parent = 0; parent < n_parents; parent++) {
                const i64 *slot = block.slot.data() + parent * block.lines;
                for (i64 lane = 0; lane < 2; lane++) {
                    const i64 member = label + std::min(lane, two - 1);
                    for (i64 row = 0; row < rows; row++) {
                        const i64 set = held[low + row] == member ? member + n_classes : member;
                        block.base[lane * size + row] = u64(set * table_size + slot[row] * width);
                    }
                }
                sum_entries(tables.data, block.base.data(), size, block.place.data(),
                            block.n_groups, rows, joint[0] + parent * block.lines,
                            joint[1] + parent * block.lines);
            }
            for (i64 lane = 0; lane < two; lane++)
                block.log_mean(joint[lane], rows, &out(low, label + lane), n_classes);
        }
    }
}

// Set to missing each cell that another cell of its row specialises; cost n·d².
template <class Code>
void drop_generalisations(In2<Code> codes, In1<i64> slots, In2<bool> generalises, Out2<Code> out) {
    const char *kernel = "drop_generalisations";
    const i64 n_columns = codes.shape(0), n_rows = codes.shape(1);
    require(slots.size() == n_columns + 1 && out.shape(0) == n_columns && out.shape(1) == n_rows &&
                generalises.shape(0) == generalises.shape(1),
            kernel, "codes, slots, generalises and out differ in shape");
    check_slots(kernel, slots, generalises.shape(0));
    for (i64 column = 0; column < n_columns; column++)
        require(all_below(&codes(column, 0), n_rows, slots[column + 1] - slots[column]), kernel,
                "a code is beyond its column's values");
    for (i64 row = 0; row < n_rows; row++) {
        for (i64 i = 0; i < n_columns; i++) {
            const i64 missing = slots[i + 1] - slots[i] - 1;
            out(i, row) = codes(i, row);
            if (codes(i, row) == missing) continue;
            const bool *general = &generalises(slots[i] + codes(i, row), 0);
            for (i64 j = 0; j < n_columns; j++) {
                if (general[slots[j] + codes(j, row)]) {
                    out(i, row) = static_cast<Code>(missing);
                    break;
                }
            }
        }
    }
}

template <class Code> void bind_codes(nb::module_ &room) {
    bind(room, "sum_super_parents", "Log weighted mean of the super-parents' joints of some rows.",
         sum_super_parents<Code>, "codes", "columns", "parents", "weights", "tables", "held", "span",
         "out");
    bind(room, "drop_generalisations", "Set to missing each cell that another cell specialises.",
         drop_generalisations<Code>, "codes", "slots", "generalises", "out");
}

}  // namespace

void bind_super_parents(nb::module_ &room) {
    bind(room, "super_parent_tables", "Log P(x_i | c, x_p) of every ordered pair of columns.",
         super_parent_tables, "pairs", "pair_starts", "slots", "alpha", "totals", "shares", "held",
         "out");
    for_codes([&](auto code) { bind_codes<decltype(code)>(room); });
}

}  // namespace unnaive
