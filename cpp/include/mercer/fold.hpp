// The tape: elementwise instructions over a strip of tiles in L1.
#pragma once

#include "mercer/micro.hpp"
#include "mercer/plan.hpp"

namespace mercer::MERCER_ISA {

// What the tape sees of a strip: `rows` x kStripCols numbers per register, and the row registers of both sides.
// With `Pairs` a strip is one row of pairs (x_j, z_j), so the left side runs along the columns too.
template <class T>
struct Fold {
    T* const* tiles;        // by slot
    const T* const* left;   // by row register, at the strip's first row
    const T* const* right;  // by row register, at the strip's first column
    int rows;
};

template <class T, bool Pairs, unsigned Operands, class Value>
MERCER_INLINE void each(const Fold<T>& at, const Instruction& step, Value value) {
    const V<T> s = fill<T>(static_cast<T>(step.s));
    const V<T> t = fill<T>(static_cast<T>(step.t));
    const V<T> scale = fill<T>(static_cast<T>(step.scale));
    const V<T> offset = fill<T>(static_cast<T>(step.offset));
    T* out = at.tiles[step.out];
    const T* a = (Operands & kA) ? at.tiles[step.a] : nullptr;
    const T* b = (Operands & kB) ? at.tiles[step.b] : nullptr;
    const T* l = (Operands & kR) ? at.left[step.b] : nullptr;
    const T* r = (Operands & kR) ? at.right[step.b] : nullptr;
    for (int i = 0; i < at.rows; ++i) {
        V<T> left{};
        if constexpr (Operands & kR) left = fill<T>(l[i]);
        for (int j = 0; j < kStripCols<T>; j += kWidth<T>) {
            V<T> x{}, y{}, right{};
            if constexpr (Operands & kA) x = fma<T>(load<T>(a + j), scale, offset);
            if constexpr (Operands & kB) y = load<T>(b + j);
            if constexpr (Operands & kR) {
                right = load<T>(r + j);
                if constexpr (Pairs) left = load<T>(l + j);
            }
            store<T>(out + j, value(x, y, left, right, s, t));
        }
        out += kStripCols<T>;
        if constexpr (Operands & kA) a += kStripCols<T>;
        if constexpr (Operands & kB) b += kStripCols<T>;
    }
}

// Executes one instruction that is not a reading of a leaf.
template <class T, bool Pairs>
void execute(const Fold<T>& at, const Instruction& step) {
    switch (step.op) {
#define MERCER_OP(name, uses, expression)                                                                           \
    case Op::name:                                                                                                  \
        each<T, Pairs, (uses)>(at, step, [](V<T> a, V<T> b, V<T> l, V<T> r, V<T> s, V<T> t) MERCER_LAMBDA -> V<T> { \
            static_cast<void>(a), static_cast<void>(b), static_cast<void>(l);                                       \
            static_cast<void>(r), static_cast<void>(s), static_cast<void>(t);                                       \
            return expression;                                                                                      \
        });                                                                                                         \
        break;
#include "mercer/ops.def"
#undef MERCER_OP
        case Op::inner:
        case Op::sqdist:
        case Op::value:
            break;  // the walker reads leaves
    }
}

}  // namespace mercer::MERCER_ISA
