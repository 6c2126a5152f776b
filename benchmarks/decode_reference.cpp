// The loops of headspan's best tree over headed spans in plain C++, to measure the cost of compiling
// them from Python. Scores are read as s[b][i][k][j] with j contiguous, the best layout for these
// loops. See docs/inference.md for the recurrence.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace {

struct Span {
    int left, right, head;
};

void decode(const float* s, int n, float* alpha, float* gamma, std::vector<Span>& stack,
            std::int64_t* heads) {
    const int w = n + 1;
    const float never = -std::numeric_limits<float>::max() / 4;
    alpha[n * w + n] = 0;
    for (int i = n - 1; i >= 0; --i) {
        float* a = alpha + i * w;
        float* g = gamma + i * w;
        std::fill(a, a + w, never);
        std::fill(g, g + w, never);
        a[i] = 0;
        for (int k = i + 1; k <= n; ++k) {
            const float* __restrict below = alpha + k * w;
            const float* __restrict row = s + (i * w + k) * w;
            const float left = a[k - 1];
            float* __restrict out = g;
            for (int j = k; j <= n; ++j) out[j] = std::max(out[j], left + below[j] + row[j]);
            a[k] = std::max(a[k], g[k]);
            const float* __restrict child = gamma + k * w;
            const float sequence = a[k];
            float* __restrict sum = a;
            for (int j = k + 1; j <= n; ++j) sum[j] = std::max(sum[j], sequence + child[j]);
        }
    }
    stack.clear();
    stack.push_back({0, n, 0});
    while (!stack.empty()) {
        const Span top = stack.back();
        stack.pop_back();
        const int i = top.left, j = top.right;
        int best = i + 1;
        float value = 2 * never;
        for (int k = i + 1; k <= j; ++k) {
            const float x = alpha[i * w + k - 1] + alpha[k * w + j] + s[(i * w + k) * w + j];
            if (x > value) best = k, value = x;
        }
        heads[best - 1] = top.head;
        for (int side = 0; side < 2; ++side) {
            const int low = side ? best : i;
            int high = side ? j : best - 1;
            while (high > low) {
                int start = low;
                float most = gamma[low * w + high];
                for (int k = low + 1; k < high; ++k) {
                    const float x = alpha[low * w + k] + gamma[k * w + high];
                    if (x > most) start = k, most = x;
                }
                stack.push_back({start, high, best});
                high = start;
            }
        }
    }
}

}  // namespace

extern "C" void decode_batch(const float* s, std::int64_t sentences, std::int64_t n,
                             std::int64_t* heads) {
    const std::int64_t w = n + 1;
    std::vector<float> alpha(w * w), gamma(w * w);
    std::vector<Span> stack;
    for (std::int64_t b = 0; b < sentences; ++b)
        decode(s + b * w * w * w, static_cast<int>(n), alpha.data(), gamma.data(), stack,
               heads + b * n);
}
