// Search for a network by moves: hill climbing and tabu search over scores of families.
#include <deque>
#include <tuple>

#include "family_scores.h"
#include "interrupts.h"

namespace unnaive {
namespace {

constexpr double IMPROVES = 1e-9;         // minimum gain of a move
constexpr i64 MOST_IDLE = i64(1) << 20;  // moves in a row that may fail
enum { ADD, DELETE, REVERSE };

struct Move {
    int what = -1;
    i64 child = 0, parent = 0;
    bool operator==(const Move &) const = default;
    auto place() const { return std::tuple(what, parent, child); }
};

// The move that undoes a move.
Move undoing(const Move &move) {
    if (move.what == REVERSE) return {REVERSE, move.parent, move.child};
    return {move.what == ADD ? DELETE : ADD, move.child, move.parent};
}

// Sets of variables, one for each variable, as bits.
struct Sets {
    i64 words;
    std::vector<u64> bits;
    explicit Sets(i64 d) : words((d + 63) / 64), bits(std::size_t(d * words), 0) {}
    u64 *of(i64 node) { return bits.data() + node * words; }
    bool has(i64 node, i64 other) const {
        return bits[std::size_t(node * words + other / 64)] >> (other % 64) & 1;
    }
    void add(i64 node, i64 other) { of(node)[other / 64] |= u64(1) << (other % 64); }
    void join(i64 node, i64 other) {
        for (i64 word = 0; word < words; word++) of(node)[word] |= of(other)[word];
    }
};

// A network that is changed move by move, with the gains of all possible moves.
template <class Code> class Climb {
  public:
    Climb(FamilyScorer<Code> &scores, i64 max_parents, In3<bool> bounds, Out2<bool> arcs)
        : scores(scores), d(arcs.shape(0)), max_parents(max_parents), bounds(bounds), arcs(arcs),
          parents(std::size_t(d)), ancestors(d), gains(2, d, d) {
        bool any = false;
        for (i64 child = 0; child < d; child++)
            for (i64 parent = 0; parent < d; parent++)
                if (arcs(child, parent)) {
                    parents[std::size_t(child)].push_back(parent);
                    any = true;
                }
        find_ancestors();
        if (!any && d > 1) scores.score_pairs();
        for (i64 node = 0; node < d; node++) refresh(node);
        learn_gains();
    }

    double local(i64 node) { return scores.local(node, parents[std::size_t(node)]); }

    // The allowed move of largest gain: on ties add, delete, reverse, then the first parent, child.
    std::pair<Move, double> best(const std::deque<Move> &tabu) {
        offered.clear();
        double largest = -INF;
        const auto offer = [&](const Move &move, double gain) {
            for (const Move &other : tabu)
                if (undoing(other) == move) return;
            largest = std::max(largest, gain);
            offered.emplace_back(move, gain);
        };
        const auto competes = [&](double gain) { return gain > -INF && gain >= largest - IMPROVES; };
        for (i64 child = 0; child < d; child++) {
            for (i64 parent = 0; parent < d; parent++) {
                const double gain = gains(ADD, child, parent);
                if (competes(gain) && !ancestors.has(parent, child))
                    offer({ADD, child, parent}, gain);
            }
            for (const i64 parent : parents[std::size_t(child)]) {
                const double gain = gains(DELETE, child, parent);
                if (competes(gain)) offer({DELETE, child, parent}, gain);
                const double turned = gain + gains(ADD, parent, child);
                if (competes(turned) && !detour(child, parent))
                    offer({REVERSE, child, parent}, turned);
            }
        }
        const Move *first = nullptr;
        for (const auto &[move, gain] : offered)
            if (gain >= largest - IMPROVES && (first == nullptr || move.place() < first->place()))
                first = &move;
        return first == nullptr ? std::pair(Move(), -INF) : std::pair(*first, largest);
    }

    void apply(const Move &move) {
        const auto [what, child, parent] = move;
        Columns &above = parents[std::size_t(child)];
        if (what == ADD) {
            above.insert(std::lower_bound(above.begin(), above.end(), parent), parent);
            arcs(child, parent) = true;
            for (i64 node = 0; node < d; node++)
                if (node == child || ancestors.has(node, child)) {
                    ancestors.join(node, parent);
                    ancestors.add(node, parent);
                }
        } else {
            above.erase(std::lower_bound(above.begin(), above.end(), parent));
            arcs(child, parent) = false;
            if (what == REVERSE) {
                Columns &others = parents[std::size_t(parent)];
                others.insert(std::lower_bound(others.begin(), others.end(), child), child);
                arcs(parent, child) = true;
            }
            find_ancestors();
        }
        refresh(child);
        if (what == REVERSE) refresh(parent);
        learn_gains();
    }

  private:
    FamilyScorer<Code> &scores;
    i64 d, max_parents;
    In3<bool> bounds;  // required and forbidden [child, parent]
    Out2<bool> arcs;
    std::vector<Columns> parents;
    Sets ancestors;
    Room<double, 3> gains;  // of adding, NaN if not known yet, and of deleting
    std::vector<std::pair<Move, double>> offered;

    // Whether another path leads from parent to child.
    bool detour(i64 child, i64 parent) const {
        for (const i64 other : parents[std::size_t(child)])
            if (ancestors.has(other, parent)) return true;
        return false;
    }

    void find_ancestors() {
        std::fill(ancestors.bits.begin(), ancestors.bits.end(), 0);
        const auto size = std::size_t(d);
        Columns missing(size), ready;
        for (i64 node = 0; node < d; node++) {
            missing[std::size_t(node)] = i64(parents[std::size_t(node)].size());
            if (parents[std::size_t(node)].empty()) ready.push_back(node);
        }
        i64 done = 0;
        std::vector<Columns> below(size);
        for (i64 node = 0; node < d; node++)
            for (const i64 parent : parents[std::size_t(node)])
                below[std::size_t(parent)].push_back(node);
        for (; !ready.empty(); done++) {
            const i64 node = ready.back();
            ready.pop_back();
            for (const i64 parent : parents[std::size_t(node)]) {
                ancestors.join(node, parent);
                ancestors.add(node, parent);
            }
            for (const i64 child : below[std::size_t(node)])
                if (--missing[std::size_t(child)] == 0) ready.push_back(child);
        }
        require(done == d, "climb", "the arcs make a cycle");
    }

    // Compute the gains of deletions again; those of additions are not known then.
    void refresh(i64 node) {
        const Columns &above = parents[std::size_t(node)];
        const double now = scores.local(node, above);
        const bool full = i64(above.size()) >= max_parents;
        for (i64 other = 0; other < d; other++) {
            const bool free = !full && other != node && !bounds(1, node, other) && !arcs(node, other);
            gains(ADD, node, other) = free ? NAN : -INF;
            gains(DELETE, node, other) = -INF;
        }
        for (const i64 parent : above) {
            if (bounds(0, node, parent)) continue;
            Columns rest;
            for (const i64 other : above)
                if (other != parent) rest.push_back(other);
            gains(DELETE, node, parent) = scores.local(node, rest) - now;
        }
    }

    // Score the additions that would not close a cycle now, and those that reversals need.
    void learn_gains() {
        Columns others;
        for (i64 node = 0; node < d; node++) {
            others.clear();
            for (i64 other = 0; other < d; other++)
                if (std::isnan(gains(ADD, node, other)) &&
                    (!ancestors.has(other, node) || arcs(other, node)))
                    others.push_back(other);
            if (others.empty()) continue;
            const double *added = scores.additions(node, parents[std::size_t(node)], others);
            std::vector<double> found;
            for (const i64 other : others) found.push_back(added[other]);
            const double now = local(node);
            for (std::size_t place = 0; place < others.size(); place++)
                gains(ADD, node, others[place]) = found[place] - now;
        }
    }
};

// Tell a callback of a move; false after an interrupt from the keyboard.
bool goes_on(nb::handle watch, i64 moves, double score) {
    nb::gil_scoped_acquire held;
    try {
        let_interrupt();
        if (!watch.is_none()) watch(moves, score);
    } catch (nb::python_error &error) {
        if (!error.matches(PyExc_KeyboardInterrupt)) throw;
        return false;
    }
    return true;
}

// Climb from a network, and return the moves made and whether the search was finished.
//
// `rule` holds whether gammas are summed, their strength, whether it is shared among cells, and the
// price of a parameter; `plan` the most parents, the length of the tabu list and the moves in a row
// that may fail; `bounds` (2, d, d) the required and forbidden arcs [child, parent]. `networks`
// (2, d, d) holds the network to start from, which is changed, and gets the best one; `found` (d,)
// gets the scores of its families. Rows are counted n/64 words a pair of values, or n a family.
template <class Code>
std::pair<i64, bool> climb(In2<Code> codes, In1<i64> sizes, In1<double> logs, In1<double> rule,
                           In1<i64> plan, double limit, nb::handle watch, In3<bool> bounds,
                           Out3<bool> networks, Out1<double> found) {
    const char *kernel = "climb";
    const i64 d = codes.shape(0);
    require(sizes.size() == d && found.size() == d && bounds.shape(0) == 2 && bounds.shape(1) == d &&
                bounds.shape(2) == d && networks.shape(0) == 2 && networks.shape(1) == d &&
                networks.shape(2) == d,
            kernel, "codes, sizes, bounds, networks and found differ in columns");
    require(within(sizes, 0, i64(1) << 30), kernel, "sizes are negative or too large");
    require(codes.shape(1) < MOST_CELLS && logs.size() > codes.shape(1), kernel,
            "counts that the logarithms do not reach");
    require(rule.size() == 4 && plan.size() == 3, kernel, "rule or plan are too short");
    require(plan[1] >= 0 && plan[2] < MOST_IDLE, kernel, "the plan is negative or too long");
    const auto begin = Clock::now();
    FamilyScorer<Code> scores(codes, sizes, logs, {rule[0], rule[1], rule[2], rule[3]});
    Climb<Code> search(scores, plan[0], bounds, networks.at(0));
    double score = 0.0;
    const auto keep = [&] { std::copy_n(networks.data, d * d, networks.data + d * d); };
    keep();
    for (i64 node = 0; node < d; node++) score += search.local(node);
    double best_score = score;
    std::deque<Move> last;
    i64 moves = 0, idle = 0;
    bool complete = false;
    while (seconds_since(begin) <= limit) {
        auto [move, gain] = search.best({});
        if (score + gain <= best_score + IMPROVES && !last.empty())
            std::tie(move, gain) = search.best(last);  // else a tabu move is allowed, too
        complete = move.what < 0 || (gain <= IMPROVES && idle >= plan[2]);
        if (complete) break;
        search.apply(move);
        last.push_back(move);
        if (i64(last.size()) > plan[1]) last.pop_front();
        moves++;
        score += gain;
        idle = score > best_score + IMPROVES ? 0 : idle + 1;
        if (idle == 0) {
            keep();
            best_score = score;
        }
        if (!goes_on(watch, moves, score)) break;
    }
    for (i64 node = 0; node < d; node++) {
        Columns above;
        for (i64 parent = 0; parent < d; parent++)
            if (networks(1, node, parent)) above.push_back(parent);
        found[node] = scores.local(node, above);
    }
    return {moves, complete};
}

template <class Code> void bind_codes(nb::module_ &room) {
    room.def("climb", climb<Code>, nb::arg("codes"), nb::arg("sizes"), nb::arg("logs"),
             nb::arg("rule"), nb::arg("plan"), nb::arg("limit"), nb::arg("watch").none(),
             nb::arg("bounds"), nb::arg("networks"), nb::arg("found"),
             nb::call_guard<nb::gil_scoped_release>(),
             "Climb from a network; return the moves made, and whether the search was finished.");
}

}  // namespace

void bind_climbing(nb::module_ &room) {
    for_codes([&](auto code) { bind_codes<decltype(code)>(room); });
}

}  // namespace unnaive
