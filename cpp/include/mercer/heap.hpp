// The best few of many, kept in a heap with the worst of them in front.
#pragma once

#include <algorithm>
#include <vector>

#include "mercer/lanes.hpp"
#include "mercer/view.hpp"

namespace mercer::MERCER_ISA {

template <class T>
struct Hit {
    T value;
    Index index;
};

// Replaces the worst. One pass down, where pop_heap and push_heap go down and up.
template <class T, class Better>
void replace_worst(std::vector<Hit<T>>& heap, Hit<T> hit, Better is_better) {
    Hit<T>* const first = heap.data();
    const std::size_t size = heap.size();
    std::size_t at = 0;
    for (std::size_t child = 1; child < size; child = 2 * at + 1) {
        // Which of two children is worse cannot be guessed: no branch.
        child += static_cast<std::size_t>(child + 1 < size && is_better(first[child], first[child + 1]));
        if (!is_better(hit, first[child])) break;
        first[at] = first[child];
        at = child;
    }
    first[at] = hit;
}

// Keep the hit if it is among the k best.
template <class T, class Better>
void offer(std::vector<Hit<T>>& heap, Index k, Hit<T> hit, Better is_better) {
    if (static_cast<Index>(heap.size()) < k) {
        heap.push_back(hit);
        std::push_heap(heap.begin(), heap.end(), is_better);
    } else if (is_better(hit, heap.front())) {
        replace_worst(heap, hit, is_better);
    }
}

}  // namespace mercer::MERCER_ISA
