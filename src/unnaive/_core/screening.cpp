// Families of columns that predictions lack: what a table of each would add.
#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "levels.h"

namespace unnaive {
namespace {

constexpr i64 MOST_VALUES = i64(1) << 31;  // of a column
constexpr i64 SIDE_BY_SIDE = 4;  // families; sums of one wait for each other, not those of others

// Cell of every row in a table of some columns, `size` where one of them is missing.
template <class Code>
void joint_cells(In2<Code> codes, In1<i64> sizes, In1<i64> columns, i64 n_columns, i64 size,
                 std::vector<std::int32_t> &cells) {
    std::fill(cells.begin(), cells.end(), 0);
    for (i64 place = 0; place < n_columns; place++) {
        const Code *line = codes.at(columns[place]).data;
        const i64 own = sizes[columns[place]];
        for (i64 row = 0; row < i64(cells.size()); row++)
            cells[row] = cells[row] < 0 || i64(line[row]) >= own
                             ? -1
                             : std::int32_t(cells[row] * own + line[row]);
    }
    for (auto &cell : cells) cell = cell < 0 ? std::int32_t(size) : cell;
}

// Slope and curvature of the log likelihood of every row for the log joint of each class, side by
// side. Two classes have the same numbers but for the sign, so that one of them is enough.
std::vector<double> slopes_of_rows(In1<i64> classes, In1<double> importance, In2<double> chances) {
    const i64 n_shown = chances.shape(1) == 2 ? 1 : chances.shape(1);
    std::vector<double> slopes(2 * n_shown * classes.size());
    for (i64 row = 0; row < classes.size(); row++)
        for (i64 label = 0; label < n_shown; label++) {
            const double chance = chances(row, label);
            double *pair = &slopes[2 * (row * n_shown + label)];
            pair[0] = importance[row] * ((classes[row] == label) - chance);
            pair[1] = importance[row] * chance * (1.0 - chance);
        }
    return slopes;
}

// Number of columns of a family, and of the cells of its table; more than `most` if these are many.
inline std::pair<i64, i64> extent_of(In1<i64> columns, In1<i64> sizes, i64 n_classes, i64 most) {
    i64 place = 0, size = n_classes;
    for (; place < columns.size() && columns[place] >= 0; place++) {
        require(columns[place] < sizes.size() && sizes[columns[place]] >= 0 &&
                    sizes[columns[place]] < MOST_VALUES,
                "score_families", "families name columns that are not there, or too large");
        if (size <= most) size = size * std::min(sizes[columns[place]], most + 1);
    }
    return {place, size};
}

// Families that differ in the last column alone: its codes, how many there are, which family it is,
// and the sums of every code and every cell of the other columns, also of what is missing.
template <class Code> struct Lasts {
    const Code *codes[SIDE_BY_SIDE] = {};
    i64 sizes[SIDE_BY_SIDE] = {}, families[SIDE_BY_SIDE] = {};
    double *sums[SIDE_BY_SIDE] = {};
    i64 number = 0;

    Lasts from(i64 first) const {
        Lasts some;
        for (i64 place = first; place < number; place++) {
            some.codes[some.number] = codes[place];
            some.sizes[some.number] = sizes[place];
            some.sums[some.number++] = sums[place];
        }
        return some;
    }
};

// Add the slopes of all rows to the sums of every family. FIXED: numbers of a row, or 0; BOUNDED:
// no code is beyond that of a missing value.
template <class Code, class Families, class Fixed, class Bounded>
INLINE void add_slopes_loop(const std::int32_t *cells, const double *slopes, i64 n_rows,
                            i64 given, Lasts<Code> lasts, Families, Fixed, Bounded) {
    const i64 width = Fixed::value ? Fixed::value : given;
    for (i64 row = 0; row < n_rows; row++) {
        const double *own = slopes + row * width;
        const i64 cell = cells[row];
        double *sums[Families::value];
        for (i64 place = 0; place < Families::value; place++) {
            i64 code = i64(lasts.codes[place][row]);
            if (!Bounded::value && code > lasts.sizes[place]) code = lasts.sizes[place];
            sums[place] = lasts.sums[place] + (cell * (lasts.sizes[place] + 1) + code) * width;
        }
        for (i64 part = 0; part < width; part += 2) {
            const double slope = own[part], bend = own[part + 1];
            for (i64 place = 0; place < Families::value; place++) {
                sums[place][part] += slope;
                sums[place][part + 1] += bend;
            }
        }
    }
}
LEVELS(add_slopes)

// What each pair of a slope and a curvature adds to the gain, and to its variance by chance.
INLINE void gain_terms_loop(const double *RESTRICT slopes, const double *RESTRICT bends, i64 number,
                            double *RESTRICT gains, double *RESTRICT variances) {
    for (i64 place = 0; place < number; place++) {
        const double slope = slopes[place], bend = bends[place], below = bend + 1.0;
        gains[place] = (slope * slope - bend) / below;
        variances[place] = bend * (1.0 + 2.0 * bend) / (below * below);
    }
}
LEVELS(gain_terms)

// Gain and variance of a family from its sums; those of missing values do not count.
struct Gain {
    double gain = 0.0, variance = 0.0;
    std::vector<double> slopes = {}, bends = {};  // of cells with rows, which are few of many
    std::vector<double> gains = {}, variances = {};

    void of(const double *sums, i64 n_cells, i64 size, i64 width) {
        const i64 step = (size + 1) * width;
        make_room(n_cells * size * width / 2);
        i64 number = 0;
        for (i64 cell = 0; cell < n_cells; cell++)
            for (i64 code = 0; code < size; code++)
                for (i64 part = 0; part < width; part += 2) {
                    const double *pair = sums + cell * step + code * width + part;
                    slopes[number] = pair[0];
                    bends[number] = pair[1];
                    number += (pair[0] != 0.0) | (pair[1] != 0.0);
                }
        gain_terms(slopes.data(), bends.data(), number, gains.data(), variances.data());
        gain = variance = 0.0;
        for (i64 place = 0; place < number; place++) {
            gain += gains[place];
            variance += variances[place];
        }
    }

    void make_room(i64 most) {
        if (i64(slopes.size()) >= most) return;
        for (auto *room : {&slopes, &bends, &gains, &variances}) room->resize(most);
    }
};

// Families of some columns, taken a few at a time.
template <class Code> struct Screening {
    In2<Code> codes;
    In1<i64> sizes;
    In2<i64> families;
    i64 n_classes, most;
    std::vector<double> slopes;
    std::vector<std::int32_t> cells;
    bool bounded;
    std::vector<double> sums = {};
    std::vector<i64> shared = {-1};  // columns that the cells are of; none yet
    i64 n_cells = 1;
    std::vector<std::int32_t> ranks = {};

    i64 width() const { return n_classes == 2 ? 2 : 2 * n_classes; }

    // The next families that share all columns but the last; `family` is the one after them.
    Lasts<Code> take(i64 &family) {
        Lasts<Code> lasts;
        i64 starts[SIDE_BY_SIDE], room = 0;
        for (; family < families.shape(0) && lasts.number < SIDE_BY_SIDE; family++) {
            const In1<i64> columns = families.at(family);
            const auto [n_columns, size] = extent_of(columns, sizes, n_classes, most);
            if (size > most || n_columns == 0) continue;
            const i64 n_first = n_columns - 1, last = columns[n_first];
            if (!std::equal(shared.begin(), shared.end(), columns.data, columns.data + n_first)) {
                if (lasts.number) break;  // these are to be scored first
                share(columns, n_first);
            }
            lasts.codes[lasts.number] = codes.at(last).data;
            lasts.sizes[lasts.number] = sizes[last];
            lasts.families[lasts.number] = family;
            starts[lasts.number++] = room;
            room += (n_cells + 1) * (sizes[last] + 1) * width();
        }
        sums.assign(room, 0.0);
        for (i64 place = 0; place < lasts.number; place++) lasts.sums[place] = sums.data() + starts[place];
        return lasts;
    }

    void share(In1<i64> columns, i64 n_first) {
        shared.assign(columns.data, columns.data + n_first);
        n_cells = 1;
        for (i64 place = 0; place < n_first; place++) n_cells *= sizes[columns[place]];
        joint_cells(codes, sizes, columns, n_first, n_cells, cells);
        leave_out_empty();
    }

    // Number the cells that have rows, in their order: others add nothing to any gain.
    void leave_out_empty() {
        ranks.assign(n_cells + 1, 0);
        for (const auto cell : cells) ranks[cell] = 1;
        std::int32_t next = 0;
        for (i64 cell = 0; cell < n_cells; cell++) {
            const bool used = ranks[cell] != 0;
            ranks[cell] = next;
            next += used;
        }
        ranks[n_cells] = next;
        for (auto &cell : cells) cell = ranks[cell];
        n_cells = next;
    }

    void add(const Lasts<Code> &lasts) const {
        for (i64 place = 0; place < lasts.number;) {
            const i64 left = lasts.number - place;
            const Lasts<Code> some = lasts.from(place);
            if (left >= SIDE_BY_SIDE)
                place += add_some<SIDE_BY_SIDE>(some);
            else
                place += left >= 2 ? add_some<2>(some) : add_some<1>(some);
        }
    }

    template <i64 FAMILIES> i64 add_some(const Lasts<Code> &lasts) const {
        constexpr std::integral_constant<i64, FAMILIES> number{};
        constexpr std::integral_constant<i64, 2> two{};
        constexpr std::integral_constant<i64, 0> any{};
        const i64 n_rows = i64(cells.size());
        const auto add = [&](auto fixed, auto within) {
            add_slopes(cells.data(), slopes.data(), n_rows, width(), lasts, number,
                       fixed, within);
        };
        if (width() == 2)
            bounded ? add(two, std::true_type{}) : add(two, std::false_type{});
        else
            add(any, std::false_type{});
        return FAMILIES;
    }
};

// How much a table of each family would add to the log likelihood of predictions, by one Newton
// step from 0 with a penalty of 1, less what is expected by chance; and the variance of that by
// chance. `chances` (n, k) are predictions. A family of more than `most` cells gains nothing; n·m·k.
// Families that follow each other share the cells of all their columns but the last.
template <class Code>
void score_families(In2<Code> codes, In1<i64> sizes, In2<i64> families, In1<i64> classes,
                    In1<double> importance, In2<double> chances, i64 most, Out1<double> gains,
                    Out1<double> variances) {
    const char *kernel = "score_families";
    const i64 n_rows = codes.shape(1), n_classes = chances.shape(1);
    require(sizes.size() == codes.shape(0) && classes.size() == n_rows &&
                importance.size() == n_rows && chances.shape(0) == n_rows,
            kernel, "codes, sizes, classes, importance and chances differ in shape");
    require(gains.size() == families.shape(0) && variances.size() == families.shape(0), kernel,
            "families and gains differ in shape");
    require(n_classes > 0 && 0 <= most && most < (i64(1) << 31), kernel,
            "there are no classes, or most is too large");
    for (i64 row = 0; row < n_rows; row++)
        require(classes[row] >= 0 && classes[row] < n_classes, kernel, "classes are too large");
    std::fill_n(gains.data, gains.size(), 0.0);
    std::fill_n(variances.data, variances.size(), 0.0);
    bool bounded = true;
    for (i64 column = 0; column < codes.shape(0); column++)
        bounded = bounded && sizes[column] >= 0 && sizes[column] < MOST_VALUES &&
                  all_below(codes.at(column).data, n_rows, sizes[column] + 1);
    Screening<Code> screening{codes,     sizes, families,
                              n_classes, most,  slopes_of_rows(classes, importance, chances),
                              std::vector<std::int32_t>(n_rows), bounded};
    Gain found;
    for (i64 family = 0; family < families.shape(0);) {
        const Lasts<Code> lasts = screening.take(family);
        screening.add(lasts);
        for (i64 place = 0; place < lasts.number; place++) {
            found.of(lasts.sums[place], screening.n_cells, lasts.sizes[place], screening.width());
            gains[lasts.families[place]] = n_classes == 2 ? found.gain : found.gain / 2;
            variances[lasts.families[place]] = n_classes == 2 ? found.variance / 2 : found.variance / 4;
        }
    }
}

template <class Code> void bind_codes(nb::module_ &room) {
    bind(room, "score_families", "What a table of each family would add to predictions.",
         score_families<Code>, "codes", "sizes", "families", "classes", "importance", "chances",
         "most", "gains", "variances");
}

}  // namespace

void bind_screening(nb::module_ &room) {
    for_codes([&](auto code) { bind_codes<decltype(code)>(room); });
}

}  // namespace unnaive
