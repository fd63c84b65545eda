// Tests of conditional independence of plain rows: one level of PC.
#include <cmath>
#include <unordered_map>

#include "bitmaps.h"
#include "interrupts.h"
#include "scores.h"

namespace unnaive {
namespace {

constexpr i64 MOST_COUNTED = i64(1) << 26;  // cells of a table
constexpr i64 MOST_TALLIED = i64(1) << 22;  // cells of a table that is counted in blocks of rows
constexpr i64 MOST_JOINT = 100;  // joint values that are counted by bitmaps; by rows if more
constexpr i64 MOST_SETS = i64(1) << 40;
constexpr double NEAR = 1e-7;  // a statistic as near to the critical one is left to Python
constexpr double ROUNDING = 1e-13;  // of differences of N log N, relative to that of all rows

using Columns = std::vector<i64>;

constexpr i64 TESTS_A_LOOK = 16;  // at the clock, fewer if they look at more rows than
constexpr i64 ROWS_A_LOOK = i64(1) << 20;

// Call Python, which may also want to stop.
template <class... Args> nb::object asked(nb::handle question, Args... arguments) {
    let_interrupt();
    return question(arguments...);
}

template <class Code> class Tests {
  public:
    Tests(In2<Code> codes, In1<i64> sizes, In1<double> logs, double least, nb::handle critical,
          nb::handle independent)
        : codes(codes), logs(logs), least(least), critical(critical), independent(independent) {
        for (i64 column = 0; column < codes.shape(0); column++) {
            const i64 most = i64(largest(codes.data + column * codes.shape(1), codes.shape(1)));
            complete.push_back(most < sizes[column]);
            domain.push_back(std::max<i64>(sizes[column], 1));
            values.push_back(sizes[column]);
        }
    }

    // Whether two variables are independent given others.
    bool hold(i64 first, i64 second, const Columns &given) {
        double freedom = double((size(first) - 1) * (size(second) - 1));
        double cells = double(size(first)) * double(size(second));
        for (const i64 other : given) {
            freedom *= double(size(other));
            cells *= double(size(other));
        }
        if (freedom == 0.0) return true;
        if (!enough(cells)) return false;
        if (cells > double(MOST_COUNTED)) return ask(first, second, given);
        joint = given;
        joint.push_back(first);
        i64 n_groups = 1;
        if (bitmaps.values.empty())  // a level may have no test
            bitmaps = bitmaps_of(codes, In1<i64>{values.data(), {i64(values.size())}}, complete);
        bool by_bits = bitmaps.has(second);
        for (const i64 column : joint) {
            n_groups *= size(column);
            by_bits = by_bits && bitmaps.has(column);
        }
        if (by_bits && n_groups * bitmaps.used[std::size_t(second)] <= MOST_JOINT)
            count_bits(second, n_groups);
        else
            count_rows(second, n_groups);
        const i64 contexts = n_groups / size(first);
        const auto [statistic, rows] = ratio(contexts, size(first), size(second));
        if (rows < least * cells) return false;
        auto [known, is_new] = criticals.try_emplace(freedom, 0.0);
        if (is_new) {
            nb::gil_scoped_acquire held;
            known->second = PyFloat_AsDouble(asked(critical, freedom).ptr());
            if (PyErr_Occurred()) throw nb::python_error();
        }
        const double near = NEAR * (1.0 + known->second) + ROUNDING * logs[codes.shape(1)];
        if (!(std::abs(statistic - known->second) > near))
            return ask(first, second, given);
        return statistic < known->second;
    }

    // Whether there are rows enough for a table of two variables given some joint values.
    bool fits(i64 first, i64 second, double values) const {
        const double cells = double(size(first)) * double(size(second));
        return size(first) == 1 || size(second) == 1 || enough(cells * values);
    }

    i64 size(i64 column) const { return domain[std::size_t(column)]; }

  private:
    In2<Code> codes;
    In1<double> logs;
    double least;
    nb::handle critical, independent;
    Columns domain, values, joint;
    std::vector<bool> complete;
    std::vector<u32> counts;
    Bitmaps bitmaps;
    Runs runs;
    std::vector<i64> table, sums;
    Counted counted;
    std::unordered_map<double, double> criticals;

    bool enough(double cells) const { return double(codes.shape(1)) >= least * cells; }

    bool ask(i64 first, i64 second, const Columns &given) const {
        nb::gil_scoped_acquire held;
        nb::list others;
        for (const i64 other : given) others.append(other);
        const int answer = PyObject_IsTrue(asked(independent, first, second, nb::tuple(others)).ptr());
        if (answer < 0) throw nb::python_error();
        return answer == 1;
    }

    void count_bits(i64 second, i64 n_groups) {
        const i64 used = bitmaps.used[std::size_t(second)], width = size(second);
        runs.assign(1, {bitmaps.first[std::size_t(second)], used});
        count_joint(bitmaps, joint, runs, n_groups, counted);
        table.resize(std::size_t(n_groups * width));
        for (i64 group = 0; group < n_groups; group++) {
            i64 *line = table.data() + group * width, rest = counted.totals[std::size_t(group)];
            for (i64 value = 0; value < used; value++) {
                line[value] = counted.cells[std::size_t(group * used + value)];
                rest -= line[value];
            }
            if (used < width) line[used] = rest;
        }
    }

    // The joint values of complete columns, a block of rows at a time.
    template <class Cell> void tally_rows(i64 n_cells) {
        Cell cells[ROWS_A_BLOCK];
        const bool twice = n_cells <= std::min(MOST_PACKED / 2, codes.shape(1) / 4);
        counts.assign(std::size_t(twice ? 2 * n_cells : n_cells), 0);
        u32 *odd = counts.data() + (twice ? n_cells : 0);
        for (i64 start = 0; start < codes.shape(1); start += ROWS_A_BLOCK) {
            const i64 n_rows = std::min(ROWS_A_BLOCK, codes.shape(1) - start);
            std::fill_n(cells, n_rows, Cell(0));
            u32 most = 0;
            for (const i64 column : joint)
                append_cells(&codes(column, start), n_rows, Cell(size(column)), cells, &most);
            tally(cells, n_rows, counts.data(), odd);
        }
        for (i64 cell = 0; cell < n_cells; cell++)
            table[std::size_t(cell)] = i64(counts[std::size_t(cell)]) + (twice ? odd[cell] : 0);
    }

    void count_rows(i64 second, i64 n_groups) {
        const i64 n_cells = n_groups * size(second);
        table.assign(std::size_t(n_cells), 0);
        joint.push_back(second);
        bool whole = true;
        for (const i64 column : joint) whole = whole && complete[std::size_t(column)];
        if (whole && n_cells <= MOST_TALLIED)
            return n_cells <= i64(1) << 16 ? tally_rows<u16>(n_cells) : tally_rows<u32>(n_cells);
        for (i64 row = 0; row < codes.shape(1); row++) {
            i64 cell = 0;
            bool observed = true;
            for (const i64 column : joint) {
                const i64 value = i64(codes(column, row));
                observed = observed && value < values[std::size_t(column)];
                cell = observed ? cell * size(column) + value : 0;
            }
            if (observed) table[std::size_t(cell)]++;
        }
    }

    // The likelihood ratio statistic of the table N(given, first, second), and its rows.
    std::pair<double, double> ratio(i64 contexts, i64 n_first, i64 n_second) {
        double statistic = 0.0;
        i64 rows = 0;
        sums.resize(std::size_t(n_second));
        for (i64 context = 0; context < contexts; context++) {
            std::fill(sums.begin(), sums.end(), 0);
            i64 all = 0;
            double own = 0.0;
            for (i64 a = 0; a < n_first; a++) {
                const i64 *line = table.data() + (context * n_first + a) * n_second;
                i64 across = 0;
                for (i64 b = 0; b < n_second; b++) {
                    own += logs[line[b]];
                    across += line[b];
                    sums[std::size_t(b)] += line[b];
                }
                own -= logs[across];
                all += across;
            }
            for (const i64 along : sums) own -= logs[along];
            statistic += own + logs[all];
            rows += all;
        }
        return {std::max(2.0 * statistic, 0.0), double(rows)};
    }
};

// Number of sets of some size of n variables, at most MOST_SETS.
inline i64 n_sets(i64 n, i64 size) {
    i64 number = 1;
    for (i64 chosen = 0; chosen < size; chosen++) {
        number = number * (n - chosen) / (chosen + 1);
        if (number > MOST_SETS) return MOST_SETS;
    }
    return number;
}

// The neighbours of a variable, their sizes, and which are neighbours of the first of a pair.
struct Neighbours {
    Columns columns, sizes;
    std::vector<bool> beside;

    void add(i64 column, i64 size, bool is_beside) {
        columns.push_back(column);
        sizes.push_back(size);
        beside.push_back(is_beside);
    }

    void clear() {
        columns.clear();
        sizes.clear();
        beside.clear();
    }
};

// What a walk keeps: least size and number of those seen from a place on, and the set so far.
struct Steps {
    Columns least, n_seen, chosen;
};

// Sets of variables that a pair is tested given, in order, without those of too many joint values.
//
// `seen` says which variables are neighbours of the first of the pair, too: sets of only these were
// visited before if `again`. `fits(v)` says whether v joint values are few enough.
template <class Fits, class Done> class Walk {
  public:
    Walk(const Neighbours &side, Steps &steps, Fits fits, Done done)
        : among(side.columns), sizes(side.sizes), seen(side.beside), fits(fits), done(done),
          least(steps.least), n_seen(steps.n_seen), chosen(steps.chosen) {
        least.assign(among.size() + 1, 1);
        n_seen.assign(among.size() + 1, 0);
        chosen.clear();
        for (std::size_t place = among.size(); place-- > 0;) {
            const bool last = place + 1 == among.size();
            least[place] = last ? sizes[place] : std::min(least[place + 1], sizes[place]);
            n_seen[place] = n_seen[place + 1] + i64(seen[place]);
        }
    }

    // Visit sets until `done` holds for one.
    bool visit(i64 size, bool again) {
        return size <= i64(among.size()) && extend(0, size, 1.0, again);
    }

    i64 passed() const { return n_passed; }

  private:
    const Columns &among, &sizes;
    const std::vector<bool> &seen;
    Fits fits;
    Done done;
    Columns &least, &n_seen, &chosen;
    i64 n_passed = 0;

    bool extend(std::size_t from, i64 left, double values, bool again) {
        if (left == 0) return !again && done(chosen);
        const i64 n = i64(among.size());
        for (std::size_t place = from; i64(place) <= n - left; place++) {
            const bool old = again && seen[place];
            const double wider = values * double(sizes[place]);
            double smallest = wider;
            for (i64 more = 1; more < left; more++) smallest *= double(least[place + 1]);
            if (!fits(smallest)) {
                n_passed += n_sets(n - i64(place) - 1, left - 1);
                if (old) n_passed -= n_sets(n_seen[place + 1], left - 1);
                continue;
            }
            chosen.push_back(among[place]);
            if (extend(place + 1, left - 1, wider, old)) return true;
            chosen.pop_back();
        }
        return false;
    }
};

// Test pairs given sets of `size` neighbours of the first, then the new sets of the second.
//
// `joined` (d, d) says which variables were joined when the level began; `separators` (m, size + 1)
// gets 1 and the set that separates a pair, or 0. `critical(freedom)` is the statistic whose p-value
// is the level, `independent(i, j, given)` decides near it. Return the number of tests, how many of
// them had rows enough, and whether time was enough. A test takes n/64 words a joint value, or n
// rows.
template <class Code>
std::tuple<i64, i64, bool> thin(In2<Code> codes, In1<i64> sizes, In1<double> logs, In2<bool> joined,
                          In2<i64> pairs, std::pair<double, double> least_and_limit,
                          nb::handle critical, nb::handle independent, Out2<i64> separators) {
    const char *kernel = "thin";
    const i64 d = codes.shape(0), size = separators.shape(1) - 1;
    require(sizes.size() == d && joined.shape(0) == d && joined.shape(1) == d, kernel,
            "codes, sizes and joined differ in columns");
    require(within(sizes, 0, i64(1) << 30), kernel, "sizes are negative or too large");
    require(pairs.shape(1) == 2 && within(pairs, 0, d) && separators.shape(0) == pairs.shape(0) &&
                size >= 0,
            kernel, "pairs name columns that are not there, or separators have another shape");
    require(codes.shape(1) < i64(1) << 32 && logs.size() > codes.shape(1), kernel,
            "counts that the logarithms do not reach");
    const auto [least, limit] = least_and_limit;
    const auto begin = Clock::now();
    Interrupts interrupts;
    const i64 tests_a_look =
        std::clamp(ROWS_A_LOOK / std::max<i64>(codes.shape(1), 1), i64(1), TESTS_A_LOOK);
    Tests<Code> tests(codes, sizes, logs, least, critical, independent);
    i64 n_tests = 0, n_made = 0;
    bool in_time = true;
    Neighbours mine, theirs;
    Steps steps;
    for (i64 pair = 0; pair < pairs.shape(0) && in_time; pair++) {
        const i64 first = pairs(pair, 0), second = pairs(pair, 1);
        mine.clear();
        theirs.clear();
        for (i64 other = 0; other < d && size > 0; other++) {
            const bool beside = joined(first, other);
            if (other != second && beside) mine.add(other, tests.size(other), beside);
            if (other != first && joined(second, other))
                theirs.add(other, tests.size(other), beside);
        }
        separators(pair, 0) = 0;
        const auto fits = [&](double values) { return tests.fits(first, second, values); };
        const auto separates = [&](const Columns &given) {
            if (n_made % tests_a_look == 0) {
                in_time = seconds_since(begin) < limit;
                if (!in_time) return true;
                interrupts.look();
            }
            n_tests++;
            n_made++;
            if (!tests.hold(first, second, given)) return false;
            separators(pair, 0) = 1;
            std::copy(given.begin(), given.end(), &separators(pair, 0) + 1);
            return true;
        };
        for (const Neighbours *side : {&mine, &theirs}) {
            if (i64(side->columns.size()) < size) continue;
            Walk walk(*side, steps, fits, separates);
            const bool found = walk.visit(size, side == &theirs);
            n_tests += walk.passed();
            if (found) break;
        }
    }
    let_interrupt();
    return {n_tests, n_made, in_time};
}

template <class Code> void bind_codes(nb::module_ &room) {
    bind(room, "thin", "Test pairs of variables given sets of neighbours: a level of PC.",
         thin<Code>, "codes", "sizes", "logs", "joined", "pairs", "least_and_limit", "critical",
         "independent", "separators");
}

}  // namespace

void bind_independence(nb::module_ &room) {
    for_codes([&](auto code) { bind_codes<decltype(code)>(room); });
}

}  // namespace unnaive
