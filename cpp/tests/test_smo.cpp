// The solver of the support vector machines: batches of problems over one Gram matrix, against plain loops.
#include "slow.hpp"

using namespace slow;

namespace {

// The images at the optima, all problems one after the other; found once.
const std::vector<std::vector<double>>& optima(Machine machine, const Geometry& geometry) {
    static std::vector<std::pair<std::pair<Machine, const Geometry*>, std::vector<std::vector<double>>>> known;
    for (const auto& [key, found] : known) {
        if (key.first == machine && key.second == &geometry) return found;
    }
    std::vector<std::vector<double>> found;
    for (Program program : Batch(machine, geometry).programs) found.push_back(solve_slowly(program, 1e-9));
    known.push_back({{machine, &geometry}, found});
    return known.back().second;
}

void check_optimal(const Batch& batch, Machine machine, const Geometry& geometry, double tol) {
    batch.check_feasible();
    for (std::size_t p = 0; p < batch.programs.size(); ++p) {
        const Program found = batch.program(p);
        CHECK(violation(found) <= tol);
        CHECK(furthest(found.image(), optima(machine, geometry)[p]) <= 20.0 * tol);
    }
}

// As small problems are solved: to 1e-3, and finished; floats to what they can.
MarginOptions options(bool single) {
    MarginOptions wishes;
    wishes.single = single;
    if (single) return wishes;
    wishes.finish = 1e-9;
    wishes.finish_steps = 400;
    return wishes;
}
double reached(bool single) { return single ? 1.1e-3 : 1e-6; }

void run(const GramSource& gram, const MarginBatch& batch, const MarginOptions& wishes, MarginReport& report,
         const Engine& engine = mercer::choose_engine()) {
    Watch watch;
    mercer::MarginSight sight;
    mercer::solve_margins(gram, batch, wishes, engine, watch, sight, report);
}

GramSource stored(bool single) {
    if (single) return mercer::StoredGram{{data().single.data(), true}, data().n};
    return mercer::StoredGram{{data().K.data(), false}, data().n};
}

}  // namespace

TEST("A batch over stored entries is solved as plain loops solve it, kept rows or none") {
    for (const Machine machine : kMachines) {
        for (const Geometry* geometry : {&kOne, &kTwo, &kPairs}) {
            for (const bool single : {false, true}) {
                for (const Index cache : {Index{0}, Index{1} << 14, Index{1} << 24}) {
                    Batch batch(machine, *geometry);
                    MarginOptions wishes = options(single);
                    wishes.cache_bytes = cache;
                    MarginReport report;
                    run(stored(single), batch.view(), wishes, report);
                    CHECK(!report.stopped);
                    CHECK_EQUAL(report.steps.size(), batch.programs.size());
                    check_optimal(batch, machine, *geometry, reached(single));
                }
            }
        }
    }
}

TEST("A batch over a formula is solved as plain loops solve it, with every instruction set") {
    for (const Engine* engine : rows_that_run()) {
        for (const bool single : {false, true}) {
            const Basis basis(data().formula.plan(), data().points.side(single), *engine, kPlenty);
            for (const Machine machine : kMachines) {
                for (const Geometry* geometry : {&kOne, &kTwo, &kPairs}) {
                    Batch batch(machine, *geometry);
                    MarginReport report;
                    MarginOptions wishes = options(single);
                    wishes.cache_bytes = geometry == &kOne ? 0 : Index{1} << 24;
                    run(&basis, batch.view(), wishes, report, *engine);
                    CHECK(report.evaluations > 0);
                    check_optimal(batch, machine, *geometry, reached(single));
                }
            }
        }
    }
}

TEST("The image that is left is K b, and the referee's too") {
    for (const Machine machine : {Machine::classes, Machine::nu_tube}) {
        Batch batch(machine, kPairs);
        MarginReport report;
        run(stored(false), batch.view(), options(false), report);
        std::vector<double> expected;
        for (std::size_t p = 0; p < batch.programs.size(); ++p) {
            const std::vector<double> f = batch.program(p).image();
            expected.insert(expected.end(), f.begin(),
                            f.begin() + static_cast<std::ptrdiff_t>(f.size()) / batch.copies);
        }
        CHECK(furthest(batch.image, expected) <= 1e-10);
        std::fill(batch.image.begin(), batch.image.end(), -5.0);
        Watch watch;
        mercer::margin_images(stored(false), batch.view(), nullptr, watch);
        CHECK(furthest(batch.image, expected) <= 1e-10);
    }
}

TEST("A solve goes on where another left off, with its image or without") {
    for (const Machine machine : kMachines) {
        for (const Geometry* geometry : {&kTwo, &kPairs}) {
            for (const bool has_image : {false, true}) {
                Batch batch(machine, *geometry);
                MarginOptions few = options(false);
                few.max_steps = 7;
                MarginReport first, second, third;
                run(stored(false), batch.view(), few, first);
                CHECK(first.stopped);
                for (const Index steps : first.steps) CHECK(steps <= 7);
                batch.check_feasible();
                if (!has_image) std::fill(batch.image.begin(), batch.image.end(), 99.0);
                run(stored(false), batch.view(has_image), options(false), second);
                CHECK(!second.stopped);
                check_optimal(batch, machine, *geometry, reached(false));
                MarginOptions content = options(false);
                content.tol = content.finish = 1e-5;
                run(stored(false), batch.view(true), content, third);
                CHECK_EQUAL(std::accumulate(third.steps.begin(), third.steps.end(), Index{0}), 0);
            }
        }
    }
}

TEST("No steps at all leave the start as it was") {
    Batch batch(Machine::nu_classes, kPairs);
    const std::vector<double> before = batch.b;
    MarginOptions none = options(false);
    none.max_steps = 0;
    MarginReport report;
    run(stored(false), batch.view(), none, report);
    CHECK(report.stopped);
    CHECK(batch.b == before);
}

TEST("Rows that take no part keep their zero and have an image") {
    Batch batch(Machine::classes, kTwo);
    MarginBatch view = batch.view();
    std::vector<double> low(view.low, view.low + 150), high(view.high, view.high + 150);
    for (std::size_t v = 0; v < 150; v += 3) low[v] = high[v] = 0.0;
    view.low = low.data();
    view.high = high.data();
    MarginReport report;
    run(stored(false), view, options(false), report);
    for (std::size_t v = 0; v < 150; v += 3) CHECK_EQUAL(batch.b[v], 0.0);
    CHECK(furthest(batch.image, batch.program(0).image()) <= 1e-10);
}

TEST("Any number of threads makes the same steps, whatever is kept") {
    const int before = mercer::thread_count();
    const Basis basis(data().formula.plan(), data().points.side(), mercer::choose_engine(), kPlenty);
    for (const Index cache : {Index{0}, Index{40'000}, Index{1} << 24}) {
        for (const bool single : {false, true}) {
            std::vector<std::vector<double>> found;
            for (const int threads : {1, 2, 4, 4}) {
                mercer::set_thread_count(threads);
                Batch batch(Machine::tube, kPairs);
                MarginOptions wishes = options(single);
                wishes.cache_bytes = cache;
                MarginReport report;
                run(&basis, batch.view(), wishes, report);
                found.push_back(batch.b);
            }
            for (const std::vector<double>& other : found) CHECK(other == found[0]);
        }
    }
    mercer::set_thread_count(before);
}

TEST("What is cancelled leaves a point of the box with the right sums, better than the first") {
    for (const Machine machine : kMachines) {
        for (const Geometry* geometry : {&kOne, &kPairs}) {
            Batch batch(machine, *geometry, 1e9);
            MarginOptions endless = options(false);
            endless.tol = endless.finish = -1.0;
            Watch watch([] { return true; });
            mercer::MarginSight shown;
            MarginReport report;
            // A tolerance that cannot be met ends by rounding at last; most are cancelled long before.
            try {
                mercer::solve_margins(stored(false), batch.view(), endless, mercer::choose_engine(), watch, shown,
                                      report);
            } catch (const mercer::Cancelled&) {
            }
            for (std::size_t p = 0; p < batch.programs.size(); ++p) {
                const Program found = batch.program(p);
                CHECK(found.is_inside());
                for (int group = 0; group < 2; ++group) {
                    const double size = std::accumulate(found.high.begin(), found.high.end(), 1.0);
                    CHECK_NEAR(found.sum(group), batch.programs[p].sum(group), 1e-12 * size);
                }
            }
        }
    }
}

TEST("A watch that is cancelled beforehand stops it at once") {
    Batch batch(Machine::one_class, kOne);
    const std::vector<double> before = batch.b;
    Watch watch;
    watch.cancel();
    mercer::MarginSight shown;
    MarginReport report;
    CHECK_THROWS(mercer::solve_margins(stored(false), batch.view(), options(false), mercer::choose_engine(), watch,
                                       shown, report),
                 mercer::Cancelled);
    CHECK(batch.b == before);
}

TEST("A problem that crawls is left as it is, unless it has too many free variables") {
    for (const Machine machine : kMachines) {
        MarginOptions impatient = options(false);
        impatient.patience = 0.0;
        Batch solved(machine, kOne);
        MarginReport report;
        run(stored(false), solved.view(), impatient, report);
        CHECK(!report.crawling);
        check_optimal(solved, machine, kOne, reached(false));

        Batch left(machine, kOne);
        impatient.tol = impatient.finish = 0.0;  // out of reach
        impatient.max_steps = 100000;
        impatient.crawl_free = 2 * data().n;
        run(stored(false), left.view(), impatient, report);
        const bool is_one_block = left.b.size() <= 512;  // more are not hard: they go on until they are stopped
        CHECK_EQUAL(report.crawling, is_one_block);
        CHECK_EQUAL(report.stopped, !is_one_block);
        left.check_feasible();
    }
}

TEST("Who watches sees a gap that closes") {
    for (const Machine machine : kMachines) {
        double before = std::numeric_limits<double>::infinity();
        for (const double tol : {0.3, 1e-3, 1e-6}) {
            Batch batch(machine, kOne);
            MarginOptions wishes = options(false);
            wishes.tol = wishes.finish = tol;
            MarginReport report;
            mercer::MarginSight sight;
            sight.wanted = true;
            Watch watch;
            mercer::solve_margins(stored(false), batch.view(), wishes, mercer::choose_engine(), watch, sight, report);
            CHECK(sight.violation.load() <= tol);
            CHECK(sight.gap.load() >= 0.0);
            CHECK(sight.gap.load() <= before);
            before = sight.gap.load();
        }
        CHECK(before <= 1e-5);
    }
}
