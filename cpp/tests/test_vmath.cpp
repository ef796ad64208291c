// The functions of vmath.hpp against the long double functions of the C library, in units of the last place (ulp).
// Compiled once per instruction set, with the flags of that set and its -DMERCER_ISA, as the engines are.
#include "check.hpp"
#include "mercer/vmath.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>

namespace lanes = mercer::MERCER_ISA;

namespace {

template <class T>
constexpr T kInfinity = std::numeric_limits<T>::infinity();
template <class T>
constexpr T kNaN = std::numeric_limits<T>::quiet_NaN();
template <class T>
constexpr bool kSingle = std::is_same_v<T, float>;
constexpr long double kPi = 3.14159265358979323846264338327950288L;

template <class T>
const char* type_name() {
    return kSingle<T> ? "float" : "double";
}

// f, which takes and returns lanes, applied to every number.
template <class T, class F>
std::vector<T> map(F f, std::vector<T> x) {
    const std::size_t count = x.size();
    const std::size_t width = lanes::kWidth<T>;
    x.resize((count + width - 1) / width * width, T(1));
    for (std::size_t i = 0; i < x.size(); i += width) lanes::store<T>(&x[i], f(lanes::load<T>(&x[i])));
    x.resize(count);
    return x;
}
template <class T, class F>
T one(F f, T x) {
    return map<T>(f, {x})[0];
}

template <class T>
std::vector<T> grid(double low, double high, int count = 100000) {
    std::vector<T> x;
    for (int i = 0; i <= count; ++i) x.push_back(static_cast<T>(low + (high - low) * i / count));
    return x;
}
// Random bit patterns, so that all exponents are as frequent, kept if in [low, high]. Subnormal numbers are there.
template <class T>
std::vector<T> patterns(T low, T high, int count = 100000) {
    std::mt19937_64 draw(7);
    std::vector<T> x;
    for (int tries = 0; tries < 100 * count && static_cast<int>(x.size()) < count; ++tries) {
        const T v = std::bit_cast<T>(static_cast<lanes::Int<T>>(draw()));
        if (v >= low && v <= high) x.push_back(v);
    }
    for (T v : {low, high, std::numeric_limits<T>::denorm_min(), std::numeric_limits<T>::min()}) {
        if (v >= low && v <= high) x.push_back(v);
    }
    return x;
}
template <class T>
std::vector<T> both(std::vector<T> a, const std::vector<T>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

template <class T>
long double ulp(long double value) {
    int exponent = 0;
    std::frexp(value, &exponent);
    const int lowest = std::numeric_limits<T>::min_exponent;
    return std::ldexp(1.0L, std::max(exponent, lowest) - std::numeric_limits<T>::digits);
}
template <class T>
long double ulps(T got, long double wanted) {
    const T nearest = static_cast<T>(wanted);
    if (std::isinf(nearest) || std::isnan(nearest) || !std::isfinite(got)) {
        // An overflow may begin a few ulp early or late, but nowhere else.
        if (got == nearest || (std::isnan(got) && std::isnan(nearest))) return 0;
        const long double largest = std::numeric_limits<T>::max();
        if (std::isinf(got) && std::signbit(got) == std::signbit(nearest))
            return std::fabs(largest - std::fabs(wanted)) / ulp<T>(largest) + 1;
        return std::numeric_limits<long double>::infinity();
    }
    return std::fabs(static_cast<long double>(got) - wanted) / ulp<T>(wanted);
}

// The largest error of f over x; with a name, printed with the place where it is.
template <class T, class F, class R>
double worst(const char* name, F f, R reference, const std::vector<T>& x) {
    const std::vector<T> got = map<T>(f, x);
    long double most = 0;
    T where = x[0];
    for (std::size_t i = 0; i < x.size(); ++i) {
        const long double error = ulps<T>(got[i], reference(static_cast<long double>(x[i])));
        if (!(error <= most)) {
            most = error;
            where = x[i];
        }
    }
    if (name) std::printf("     %s<%s>: %.3Lf ulp at %.9g\n", name, type_name<T>(), most, static_cast<double>(where));
    return static_cast<double>(most);
}

template <class T, class F>
bool rises(F f, std::vector<T> x) {
    std::sort(x.begin(), x.end());
    const std::vector<T> y = map<T>(f, x);
    return std::is_sorted(y.begin(), y.end());
}
template <class T>
bool at_most(const std::vector<T>& values, T bound) {
    return std::all_of(values.begin(), values.end(), [=](T v) { return v <= bound; });
}

template <class T>
void check_exp2_link() {
    const auto f = [](lanes::V<T> x) { return lanes::exp2_link<T>(x); };
    const auto reference = [](long double x) { return std::exp2(x); };
    const T lowest = -(lanes::Bits<T>::bias - 1);
    const std::vector<T> x = both(both(grid<T>(-1.5, 0), grid<T>(lowest, 100)), patterns<T>(lowest, 100));
    CHECK(worst<T>("exp2_link", f, reference, x) <= (kSingle<T> ? 2.5 : 2));
    CHECK_EQUAL(one<T>(f, 0), T(1));
    CHECK_EQUAL(one<T>(f, -T(0)), T(1));
    CHECK(at_most(map<T>(f, both(grid<T>(-1e-3, 0), patterns<T>(-kInfinity<T>, 0))), T(1)));
    CHECK(std::isnan(one<T>(f, kNaN<T>)));
    // Below the normal range: 0 from -bias - 1 on, falling, and no further off than 2^-3 of the smallest normal.
    const T smallest = std::numeric_limits<T>::min();
    CHECK_EQUAL(one<T>(f, lowest), smallest);
    for (T v : {lowest - 1, lowest - 2, lowest * 2, std::numeric_limits<T>::lowest(), -kInfinity<T>})
        CHECK_EQUAL(one<T>(f, v), T(0));
    const std::vector<T> under = grid<T>(lowest - 2, lowest);
    const std::vector<T> got = map<T>(f, under);
    for (std::size_t i = 0; i < under.size(); ++i)
        CHECK(std::fabs(got[i] - std::exp2(static_cast<long double>(under[i]))) <= smallest * 0.5L);
    CHECK(rises<T>(f, under));
}
// Its absolute error, since the relative one grows with |x|.
template <class T>
void check_decay() {
    constexpr double kUlp = kSingle<T> ? 0x1p-24 : 0x1p-53;  // of numbers below 1
    double most = 0.0;
    for (int step = 0; step <= 40000; ++step) {
        const double x = -static_cast<double>(static_cast<T>(step * 0.003));
        const auto found = static_cast<double>(lanes::decay<T>(lanes::fill<T>(static_cast<T>(x)))[0]);
        CHECK(found >= 0.0 && found <= 1.0);
        most = std::max(most, std::abs(found - std::exp(x)));
    }
    CHECK(most <= 2.5 * kUlp);
    CHECK_EQUAL(lanes::decay<T>(lanes::V<T>{})[0], T{1});
    CHECK_EQUAL(lanes::decay<T>(lanes::fill<T>(T{-1e4}))[0], T{});
}

TEST("decay is e^x to an absolute error, 1 at 0, at most 1 below and 0 far below") {
    check_decay<float>();
    check_decay<double>();
}

TEST("exp2_link is 2^x, 1 at 0, at most 1 below and 0 far below") {
    check_exp2_link<float>();
    check_exp2_link<double>();
}

template <class T>
void check_exp() {
    const auto f = [](lanes::V<T> x) { return lanes::exp<T>(x); };
    const auto reference = [](long double x) { return std::exp(x); };
    const double limit = kSingle<T> ? 110 : 760;
    const T largest = std::numeric_limits<T>::max();
    std::vector<T> x = both(both(grid<T>(-1, 1), grid<T>(-limit, limit)), patterns<T>(-largest, largest));
    x = both(x, both(grid<T>(kSingle<T> ? 88.72 : 709.78, kSingle<T> ? 88.73 : 709.79), grid<T>(-limit, -limit * 0.8)));
    CHECK(worst<T>("exp", f, reference, x) <= (kSingle<T> ? 2.5 : 2));
    CHECK_EQUAL(one<T>(f, 0), T(1));
    CHECK(at_most(map<T>(f, patterns<T>(-kInfinity<T>, 0)), T(1)));
    CHECK_EQUAL(one<T>(f, kInfinity<T>), kInfinity<T>);
    CHECK_EQUAL(one<T>(f, -kInfinity<T>), T(0));
    CHECK(std::isnan(one<T>(f, kNaN<T>)));
}
TEST("exp is e^x over the whole range") {
    check_exp<float>();
    check_exp<double>();
}

template <class T>
void check_log() {
    const auto f = [](lanes::V<T> x) { return lanes::log<T>(x); };
    const auto reference = [](long double x) { return std::log(x); };
    const T tiny = std::numeric_limits<T>::denorm_min();
    const T largest = std::numeric_limits<T>::max();
    const std::vector<T> x = both(both(grid<T>(0.3, 3), grid<T>(0.999, 1.001)),
                                  both(patterns<T>(tiny, largest), patterns<T>(tiny, std::numeric_limits<T>::min())));
    CHECK(worst<T>("log", f, reference, x) <= 2);
    CHECK_EQUAL(one<T>(f, 1), T(0));
    CHECK_EQUAL(one<T>(f, 0), -kInfinity<T>);
    CHECK_EQUAL(one<T>(f, -T(0)), -kInfinity<T>);
    CHECK_EQUAL(one<T>(f, kInfinity<T>), kInfinity<T>);
    for (T v : {-tiny, T(-1), -largest, -kInfinity<T>, kNaN<T>}) CHECK(std::isnan(one<T>(f, v)));
}
TEST("log is right for all positive numbers and at the edges") {
    check_log<float>();
    check_log<double>();
}

template <class T>
void check_log1p() {
    const auto f = [](lanes::V<T> x) { return lanes::log1p<T>(x); };
    const auto reference = [](long double x) { return std::log1p(x); };
    const T largest = std::numeric_limits<T>::max();
    const T above = std::nextafter(T(-1), T(0));
    const std::vector<T> x =
        both(both(grid<T>(-0.999, 3), grid<T>(-1e-3, 1e-3)), both(patterns<T>(0, largest), patterns<T>(above, 0)));
    CHECK(worst<T>("log1p", f, reference, x) <= 2);
    CHECK_EQUAL(one<T>(f, 0), T(0));
    CHECK_EQUAL(one<T>(f, -1), -kInfinity<T>);
    CHECK_EQUAL(one<T>(f, kInfinity<T>), kInfinity<T>);
    for (T v : {T(-1.5), -kInfinity<T>, kNaN<T>}) CHECK(std::isnan(one<T>(f, v)));
}
TEST("log1p is right near 0 and elsewhere") {
    check_log1p<float>();
    check_log1p<double>();
}

template <class T>
void check_power() {
    const T tiny = std::numeric_limits<T>::denorm_min();
    const T largest = std::numeric_limits<T>::max();
    std::vector<T> x =
        both(both(grid<T>(0.5, 2, 20000), grid<T>(0.99, 1.01, 20000)), patterns<T>(tiny, largest, 20000));
    double most = 0;
    for (T a : {T(0.5), T(1), T(2), T(3), T(-1), T(-0.5), T(1.7), T(-2.3), T(0.01), T(31.7), T(-100.1), T(700),
                T(-2000.3), T(80000), T(1e10), T(-1e10)}) {
        const auto f = [a](lanes::V<T> v) { return lanes::power<T>(v, a); };
        const auto reference = [a](long double v) { return std::pow(v, static_cast<long double>(a)); };
        const double error = worst<T>(nullptr, f, reference, x);
        if (std::fabs(a) < 10) CHECK(error <= (kSingle<T> ? 4 : 2));
        most = std::max(most, error);
        CHECK_EQUAL(one<T>(f, 1), T(1));
        CHECK_EQUAL(one<T>(f, 0), a > 0 ? T(0) : kInfinity<T>);
        CHECK_EQUAL(one<T>(f, kInfinity<T>), a > 0 ? kInfinity<T> : T(0));
        CHECK(std::isnan(one<T>(f, -1)));
        CHECK(std::isnan(one<T>(f, kNaN<T>)));
    }
    std::printf("     power<%s>: %.3f ulp\n", type_name<T>(), most);
    CHECK(most <= (kSingle<T> ? 4 : 40));  // 40 ulp are at most 9e-15
    for (T v : {T(0), T(0.3), T(1), kInfinity<T>})
        CHECK_EQUAL(one<T>([](lanes::V<T> u) { return lanes::power<T>(u, T(0)); }, v), T(1));
    for (T a : {largest, kInfinity<T>}) {
        CHECK_EQUAL(one<T>([a](lanes::V<T> u) { return lanes::power<T>(u, a); }, T(0.5)), T(0));
        CHECK_EQUAL(one<T>([a](lanes::V<T> u) { return lanes::power<T>(u, a); }, T(2)), kInfinity<T>);
    }
}
TEST("power is x^a up to the largest exponents") {
    check_power<float>();
    check_power<double>();
}

template <class T>
void check_powi() {
    const std::vector<T> x = both(grid<T>(-2, 2, 1000), patterns<T>(T(-1e3), T(1e3), 1000));
    for (int n : {0, 1, 2, 3, 4, 5, 7, 8, 11, 16, 31}) {
        const std::vector<T> got = map<T>([n](lanes::V<T> v) { return lanes::powi<T>(v, n); }, x);
        for (std::size_t i = 0; i < x.size(); ++i) {
            const long double wanted = std::pow(static_cast<long double>(x[i]), n);
            if (std::fabs(wanted) < std::numeric_limits<T>::min()) continue;  // squares lose digits on the way
            CHECK(ulps<T>(got[i], wanted) <= n);
        }
    }
}
TEST("powi is x^n, also for negative x") {
    check_powi<float>();
    check_powi<double>();
}

template <class T>
void check_tanh() {
    const auto f = [](lanes::V<T> x) { return lanes::tanh<T>(x); };
    const auto reference = [](long double x) { return std::tanh(x); };
    const T largest = std::numeric_limits<T>::max();
    const std::vector<T> x = both(both(grid<T>(-1, 1), grid<T>(-25, 25)), patterns<T>(-largest, largest));
    CHECK(worst<T>("tanh", f, reference, x) <= 4);
    for (T v : x) CHECK(one<T>(f, v) == -one<T>(f, -v));
    CHECK_EQUAL(one<T>(f, 0), T(0));
    CHECK(std::signbit(one<T>(f, -T(0))));
    for (T v : {T(30), largest, kInfinity<T>}) {
        CHECK_EQUAL(one<T>(f, v), T(1));
        CHECK_EQUAL(one<T>(f, -v), T(-1));
    }
    CHECK(std::isnan(one<T>(f, kNaN<T>)));
}
TEST("tanh is odd, good near 0 and saturates") {
    check_tanh<float>();
    check_tanh<double>();
}

template <class T>
void check_atan2() {
    const T tiny = std::numeric_limits<T>::min();
    const T large = std::numeric_limits<T>::max() / 4;
    double most = 0;
    for (T other : {T(1), T(3), tiny, large, T(1e-30)}) {
        const auto as_y = [other](lanes::V<T> v) { return lanes::atan2_pos<T>(v, lanes::fill<T>(other)); };
        const auto as_x = [other](lanes::V<T> v) { return lanes::atan2_pos<T>(lanes::fill<T>(other), v); };
        const long double fixed = other;
        const std::vector<T> x =
            both(grid<T>(0, 8 * (other < 10 ? static_cast<double>(other) : 1)), patterns<T>(0, large));
        most = std::max(most, worst<T>(nullptr, as_y, [=](long double v) { return std::atan2(v, fixed); }, x));
        most = std::max(most, worst<T>(nullptr, as_x, [=](long double v) { return std::atan2(fixed, v); }, x));
    }
    std::printf("     atan2_pos<%s>: %.3f ulp\n", type_name<T>(), most);
    CHECK(most <= 4);
    CHECK_EQUAL(one<T>([](lanes::V<T> v) { return lanes::atan2_pos<T>(v, v); }, T(0)), T(0));
}
TEST("atan2_pos is the angle in the first quadrant, 0 at the origin") {
    check_atan2<float>();
    check_atan2<double>();
}

template <class T>
void check_arccosine() {
    const std::vector<T> x = both(both(grid<T>(0, 4), grid<T>(3.99, 4)), patterns<T>(0, 4));
    const double unit = std::numeric_limits<T>::epsilon();
    for (int order : {0, 1, 2}) {
        const auto f = [order](lanes::V<T> s) { return lanes::arccosine<T>(s, order); };
        const auto reference = [order](long double s) {
            const long double theta = 2 * std::atan2(std::sqrt(s), std::sqrt(4 - s));
            const long double sine = std::sqrt(s * (4 - s)) / 2;
            const long double cosine = 1 - s / 2;
            if (order == 0) return (kPi - theta) / kPi;
            if (order == 1) return (sine + (kPi - theta) * cosine) / kPi;
            return (3 * sine * cosine + (kPi - theta) * (1 + 2 * cosine * cosine)) / kPi;
        };
        const std::vector<T> got = map<T>(f, x);
        double most = 0;
        for (std::size_t i = 0; i < x.size(); ++i)
            most = std::max(most, static_cast<double>(std::fabs(got[i] - reference(x[i]))));
        std::printf("     arccosine<%s> of order %d: absolute error %.3g\n", type_name<T>(), order, most);
        CHECK(most <= (order == 2 ? 8 : 2) * unit);
        const T top = order == 2 ? 3 : 1;
        for (T s : {T(0), -T(0), T(-1)}) CHECK_EQUAL(one<T>(f, s), top);
        for (T s : {T(4), T(5)}) CHECK_NEAR(one<T>(f, s), 0, order == 0 ? 0 : unit);
        CHECK(at_most(got, top));
        CHECK(std::isnan(one<T>(f, kNaN<T>)));
    }
}
TEST("arccosine of orders 0, 1 and 2 from the squared distance") {
    check_arccosine<float>();
    check_arccosine<double>();
}

}  // namespace
