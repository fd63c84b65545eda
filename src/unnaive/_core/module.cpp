// The compiled core: one submodule for each room, filled by the source file of its name.
#include "levels.h"

namespace unnaive {
void bind_adjust(nb::module_ &room);
void bind_back_off(nb::module_ &room);
void bind_balance(nb::module_ &room);
void bind_buckets(nb::module_ &room);
void bind_certainty(nb::module_ &room);
void bind_climbing(nb::module_ &room);
void bind_coding(nb::module_ &room);
void bind_corrections(nb::module_ &room);
void bind_counting(nb::module_ &room);
void bind_csv(nb::module_ &room);
void bind_discretize(nb::module_ &room);
void bind_drawing(nb::module_ &room);
void bind_expectation(nb::module_ &room);
void bind_families(nb::module_ &room);
void bind_groups(nb::module_ &room);
void bind_hidden(nb::module_ &room);
void bind_independence(nb::module_ &room);
void bind_information(nb::module_ &room);
void bind_intervals(nb::module_ &room);
void bind_opening(nb::module_ &room);
void bind_orders(nb::module_ &room);
void bind_screening(nb::module_ &room);
void bind_selective(nb::module_ &room);
void bind_super_parents(nb::module_ &room);
void bind_tables(nb::module_ &room);
void bind_trees(nb::module_ &room);
void bind_weighting(nb::module_ &room);
}  // namespace unnaive

NB_MODULE(_core, core) {
    // At exit, objects that a traceback or another library still holds are no fault to report.
    nanobind::set_leak_warnings(false);
    core.doc() = "The loops over rows and tables, compiled; one submodule for each room.";
    core.def("level", [] { return int(unnaive::level); },
             "Instructions in use: 0 plain, 1 AVX2, 2 AVX-512 with its population count.");
    core.def(
        "set_level",
        [](int wanted) {
            const int best = int(unnaive::best_level());
            unnaive::level = unnaive::Level(wanted < 0 || wanted > best ? best : wanted);
        },
        nb::arg("wanted"), "Use lesser instructions than the processor has; -1 for the best.");
    const auto room = [&core](const char *name, const char *text, void (*fill)(nb::module_ &)) {
        nb::module_ made = core.def_submodule(name, text);
        fill(made);
    };
    room("adjust", "Class weights, and iterative Bayes.", unnaive::bind_adjust);
    room("back_off", "Hierarchical smoothing.", unnaive::bind_back_off);
    room("balance", "Balanced subsets of columns.", unnaive::bind_balance);
    room("buckets", "Numbers sorted into buckets.", unnaive::bind_buckets);
    room("certainty", "Intervals of posterior probabilities.", unnaive::bind_certainty);
    room("climbing", "Networks searched by moves.", unnaive::bind_climbing);
    room("coding", "Numbers turned into codes.", unnaive::bind_coding);
    room("corrections", "Tables that correct predictions.", unnaive::bind_corrections);
    room("counting", "Rows counted: bitmaps, and histograms.", unnaive::bind_counting);
    room("csv", "Cells of CSV files.", unnaive::bind_csv);
    room("discretize", "Bin edges.", unnaive::bind_discretize);
    room("drawing", "Genes drawn within bounds.", unnaive::bind_drawing);
    room("expectation", "Moments of rows with missing values.", unnaive::bind_expectation);
    room("families", "Factors of columns with several parents.", unnaive::bind_families);
    room("groups", "Naive Bayes over groups of columns.", unnaive::bind_groups);
    room("hidden", "Hidden parents.", unnaive::bind_hidden);
    room("independence", "Tests of conditional independence.", unnaive::bind_independence);
    room("information", "Information and scores of contingency tables.", unnaive::bind_information);
    room("intervals", "Distributions inside intervals.", unnaive::bind_intervals);
    room("opening", "Factors over missing columns.", unnaive::bind_opening);
    room("orders", "Sums over all orders of variables.", unnaive::bind_orders);
    room("screening", "Families of columns that predictions lack.", unnaive::bind_screening);
    room("selective", "Nested models, one more column at a time.", unnaive::bind_selective);
    room("super_parents", "Averages over super-parents.", unnaive::bind_super_parents);
    room("tables", "Log-probability tables, and rows looked up in them.", unnaive::bind_tables);
    room("trees", "Trees over columns.", unnaive::bind_trees);
    room("weighting", "Weighted products.", unnaive::bind_weighting);
}
