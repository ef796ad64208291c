// The whole test framework: TEST("a sentence") { CHECK(...); } and one line of counts at the end.
#pragma once

#include <cmath>
#include <cstdio>
#include <exception>
#include <sstream>
#include <string>
#include <vector>

namespace check {

struct Test {
    const char* sentence;
    void (*body)();
};

inline std::vector<Test>& tests() {
    static std::vector<Test> all;
    return all;
}

// Failures of the test that runs now; CHECK may be used from several threads only through the test's own thread.
inline int& failures() {
    static int count = 0;
    return count;
}

struct Register {
    Register(const char* sentence, void (*body)()) { tests().push_back({sentence, body}); }
};

inline void fail(const char* file, int line, const std::string& what) {
    ++failures();
    std::fprintf(stderr, "%s:%d: %s\n", file, line, what.c_str());
}

template <class A, class B>
std::string compared(const char* text, const A& a, const B& b) {
    std::ostringstream out;
    out.precision(17);
    out << text << " fails with " << a << " and " << b;
    return out.str();
}

}  // namespace check

#define MERCER_JOIN2(a, b) a##b
#define MERCER_JOIN(a, b) MERCER_JOIN2(a, b)
#define TEST(sentence)                                                                                     \
    static void MERCER_JOIN(test_, __LINE__)();                                                            \
    static const check::Register MERCER_JOIN(register_, __LINE__)(sentence, MERCER_JOIN(test_, __LINE__)); \
    static void MERCER_JOIN(test_, __LINE__)()

#define CHECK(condition)                                                           \
    do {                                                                           \
        if (!(condition)) check::fail(__FILE__, __LINE__, #condition " is false"); \
    } while (false)

#define CHECK_EQUAL(a, b)                                                                                            \
    do {                                                                                                             \
        const auto& check_a = (a);                                                                                   \
        const auto& check_b = (b);                                                                                   \
        if (!(check_a == check_b)) check::fail(__FILE__, __LINE__, check::compared(#a " == " #b, check_a, check_b)); \
    } while (false)

// |a - b| <= tolerance, false for NaN.
#define CHECK_NEAR(a, b, tolerance)                                                                                \
    do {                                                                                                           \
        const double check_a = static_cast<double>(a);                                                             \
        const double check_b = static_cast<double>(b);                                                             \
        if (!(std::fabs(check_a - check_b) <= (tolerance)))                                                        \
            check::fail(__FILE__, __LINE__, check::compared(#a " ~ " #b " within " #tolerance, check_a, check_b)); \
    } while (false)

#define CHECK_THROWS(expression, Exception)                                                            \
    do {                                                                                               \
        bool check_thrown = false;                                                                     \
        try {                                                                                          \
            static_cast<void>(expression);                                                             \
        } catch (const Exception&) {                                                                   \
            check_thrown = true;                                                                       \
        }                                                                                              \
        if (!check_thrown) check::fail(__FILE__, __LINE__, #expression " does not throw " #Exception); \
    } while (false)

int main() {
    int passed = 0;
    int failed = 0;
    for (const check::Test& test : check::tests()) {
        check::failures() = 0;
        try {
            test.body();
        } catch (const std::exception& error) {
            check::fail(__FILE__, __LINE__, std::string("unexpected exception: ") + error.what());
        }
        const bool good = check::failures() == 0;
        std::printf("%s %s\n", good ? "ok  " : "FAIL", test.sentence);
        ++(good ? passed : failed);
    }
    std::printf("%d passed, %d failed\n", passed, failed);
    return failed == 0 ? 0 : 1;
}
