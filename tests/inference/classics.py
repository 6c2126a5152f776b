"""The classical algorithms for projective trees, in their pure dependency versions.

For the reader: the deduction rules of the paper's Figures 2 and 3, a loop a variable and a line a
rule, nothing clever. Items are indexed by fenceposts i < j and the word h that heads them; a
triangle is a partial subtree of h, a hook a subtree or a sequence of subtrees that hangs from h.
Most take arc scores s[h, d], (n+1, n+1) with h = 0 for the root, and return the score of the best
tree with a single root; the last takes span scores s[i, j, k]. Plain enough that Numba compiles
them as they stand, for timing.
"""

import numpy as np

NEVER = -np.inf


def collins(s):
    """Collins (1996): triangles keep the heads of both sides. O(n⁵).

    C-L-CONC  triangle(i,k,c) + triangle(k,j,h) + s(h,c) -> triangle(i,j,h)
    C-R-CONC  triangle(i,k,h) + triangle(k,j,c) + s(h,c) -> triangle(i,j,h)
    """
    n = s.shape[0] - 1
    triangle = np.full((n + 1, n + 1, n + 1), NEVER)
    for h in range(1, n + 1):
        triangle[h - 1, h, h] = 0.0
    for width in range(2, n + 1):
        for i in range(n - width + 1):
            j = i + width
            for k in range(i + 1, j):
                for c in range(i + 1, k + 1):
                    for h in range(k + 1, j + 1):
                        score = triangle[i, k, c] + triangle[k, j, h] + s[h, c]  # C-L-CONC
                        triangle[i, j, h] = max(triangle[i, j, h], score)
                        score = triangle[i, k, c] + triangle[k, j, h] + s[c, h]  # C-R-CONC
                        triangle[i, j, c] = max(triangle[i, j, c], score)
    best = NEVER
    for h in range(1, n + 1):
        best = max(best, triangle[0, n, h] + s[0, h])
    return best


def eisner_satta(s):
    """Eisner and Satta (1999): link first, forget the dependent, then concatenate. O(n⁴).

    ES-L-LINK, ES-R-LINK  triangle(i,j,c) + s(h,c) -> hook(i,j,h)
    ES-L-CONC             hook(i,k,h) + triangle(k,j,h) -> triangle(i,j,h)
    ES-R-CONC             triangle(i,k,h) + hook(k,j,h) -> triangle(i,j,h)
    """
    n = s.shape[0] - 1
    triangle = np.full((n + 1, n + 1, n + 1), NEVER)
    hook = np.full((n + 1, n + 1, n + 1), NEVER)
    for width in range(1, n + 1):
        for i in range(n - width + 1):
            j = i + width
            if width == 1:
                triangle[i, j, j] = 0.0
            for h in range(i + 1, j + 1):
                for k in range(i + 1, h):
                    score = hook[i, k, h] + triangle[k, j, h]  # ES-L-CONC
                    triangle[i, j, h] = max(triangle[i, j, h], score)
                for k in range(h, j):
                    score = triangle[i, k, h] + hook[k, j, h]  # ES-R-CONC
                    triangle[i, j, h] = max(triangle[i, j, h], score)
            for h in range(n + 1):
                if h <= i or h > j:
                    for c in range(i + 1, j + 1):
                        score = triangle[i, j, c] + s[h, c]  # ES-L-LINK, ES-R-LINK
                        hook[i, j, h] = max(hook[i, j, h], score)
    return hook[0, n, 0]


def head_split(s):
    """`joint` without span scores. O(n⁴)."""
    side = s.shape[0]
    return joint(np.zeros((side, side, side)), s)


def joint(spans, s):
    """The paper's rewriting of Eisner and Satta's rules: all of a side first, then the head. O(n⁴).

    With span scores where the head joins its two sides.

    link            triangle(i,j,c) + s(h,c) -> hook(i,j,h)
    L-CONC, R-CONC  hook(i,k,h) + hook(k,j,h) -> hook(i,j,h)
    CONC            hook(i,h-1,h) + hook(h,j,h) + spans(i,j,h) -> triangle(i,j,h)
    """
    n = s.shape[0] - 1
    triangle = np.full((n + 1, n + 1, n + 1), NEVER)
    hook = np.full((n + 1, n + 1, n + 1), NEVER)
    for h in range(n + 1):
        for i in range(n + 1):
            hook[i, i, h] = 0.0
    for width in range(1, n + 1):
        for i in range(n - width + 1):
            j = i + width
            for h in range(i + 1, j + 1):
                triangle[i, j, h] = hook[i, h - 1, h] + hook[h, j, h] + spans[i, j, h]  # CONC
            for h in range(n + 1):
                if h <= i or h > j:
                    for c in range(i + 1, j + 1):
                        score = triangle[i, j, c] + s[h, c]  # link
                        hook[i, j, h] = max(hook[i, j, h], score)
                    if h > 0:
                        for k in range(i + 1, j):
                            score = hook[i, k, h] + hook[k, j, h]  # L-CONC, R-CONC
                            hook[i, j, h] = max(hook[i, j, h], score)
    return hook[0, n, 0]


def eisner(s):
    """Eisner (1997): both sides of a head apart, so that heads are boundaries. O(n³).

    E-R-LINK, E-L-LINK  right(i,k) + left(k+1,j) + s -> right_arc(i,j), left_arc(i,j)
    E-R-CONC            right_arc(i,k) + right(k,j) -> right(i,j)
    E-L-CONC            left(i,k) + left_arc(k,j) -> left(i,j)
    """
    n = s.shape[0] - 1
    right = np.full((n + 2, n + 2), NEVER)
    left = np.full((n + 2, n + 2), NEVER)
    right_arc = np.full((n + 2, n + 2), NEVER)
    left_arc = np.full((n + 2, n + 2), NEVER)
    for i in range(1, n + 1):
        right[i, i] = left[i, i] = 0.0
    for width in range(1, n):
        for i in range(1, n - width + 1):
            j = i + width
            for k in range(i, j):
                score = right[i, k] + left[k + 1, j]
                right_arc[i, j] = max(right_arc[i, j], score + s[i, j])  # E-R-LINK
                left_arc[i, j] = max(left_arc[i, j], score + s[j, i])  # E-L-LINK
            for k in range(i + 1, j + 1):
                right[i, j] = max(right[i, j], right_arc[i, k] + right[k, j])  # E-R-CONC
            for k in range(i, j):
                left[i, j] = max(left[i, j], left[i, k] + left_arc[k, j])  # E-L-CONC
    best = NEVER
    for r in range(1, n + 1):
        best = max(best, left[1, r] + right[r, n] + s[0, r])
    return best


def siblings(s, t, left_ends, right_ends):
    """McDonald and Pereira (2006), with ends of headed spans. O(n³).

    t[h, b, d]: b is the dependent of h next to d, b = h if d is the first; the ends are l[i, k] and
    r[j, k] of word k. right(i,j) and left(i,j) are whole halves over words i … j.

    FIRST    left(h+1,d) + s(h,d) + t(h,h,d) -> right_arc(h,d), and its mirror image
    SIBLING  right(i,k) + left(k+1,j) -> between(i,j)
    NEXT     right_arc(h,b) + between(b,d) + s(h,d) + t(h,b,d) -> right_arc(h,d), and its mirror image
    CONC     right_arc(h,c) + right(c,j) + r(j,h) -> right(h,j), and its mirror image
    """
    n = s.shape[0] - 1
    right = np.full((n + 2, n + 2), NEVER)
    left = np.full((n + 2, n + 2), NEVER)
    between = np.full((n + 2, n + 2), NEVER)
    right_arc = np.full((n + 2, n + 2), NEVER)
    left_arc = np.full((n + 2, n + 2), NEVER)
    for i in range(1, n + 1):
        right[i, i], left[i, i] = right_ends[i, i], left_ends[i - 1, i]
    for width in range(1, n):
        for i in range(1, n - width + 1):
            j = i + width
            right_arc[i, j] = left[i + 1, j] + s[i, j] + t[i, i, j]  # FIRST
            left_arc[i, j] = right[i, j - 1] + s[j, i] + t[j, j, i]
            for k in range(i, j):
                between[i, j] = max(between[i, j], right[i, k] + left[k + 1, j])  # SIBLING
            for b in range(i + 1, j):
                score = right_arc[i, b] + between[b, j] + s[i, j] + t[i, b, j]  # NEXT
                right_arc[i, j] = max(right_arc[i, j], score)
                score = between[i, b] + left_arc[b, j] + s[j, i] + t[j, b, i]
                left_arc[i, j] = max(left_arc[i, j], score)
            for c in range(i + 1, j + 1):
                score = right_arc[i, c] + right[c, j] + right_ends[j, i]  # CONC
                right[i, j] = max(right[i, j], score)
            for c in range(i, j):
                score = left[i, c] + left_arc[c, j] + left_ends[i - 1, j]
                left[i, j] = max(left[i, j], score)
    best = NEVER
    for k in range(1, n + 1):
        best = max(best, left[1, k] + right[k, n] + s[0, k] + t[0, 0, k])
    return best


def headed_spans(s):
    """The paper's algorithm (Figure 2) on span scores s[i, j, k]. O(n³).

    S-CONC    alpha(i,k) + alpha(k,j) -> alpha(i,j)
    C-CONC    alpha(i,k-1) + alpha(k,j) + s(i,j,k) -> beta(i,j,k)
    HEADLESS  beta(i,j,k) -> alpha(i,j)
    """
    n = s.shape[0] - 1
    alpha = np.full((n + 1, n + 1), NEVER)
    root = NEVER
    for i in range(n + 1):
        alpha[i, i] = 0.0
    for width in range(1, n + 1):
        for i in range(n - width + 1):
            j = i + width
            for k in range(i + 1, j + 1):
                beta = alpha[i, k - 1] + alpha[k, j] + s[i, j, k]  # C-CONC
                alpha[i, j] = max(alpha[i, j], beta)  # HEADLESS
            if width == n:
                root = alpha[i, j]  # before S-CONC: a single root
            for k in range(i + 1, j):
                alpha[i, j] = max(alpha[i, j], alpha[i, k] + alpha[k, j])  # S-CONC
    return root


def spanning_tree(s):
    """Trees that need not be projective, by eliminating words, with maxima for sums. O(n³).

    A path from h through k to d becomes an arc, less the best arc to k, which k has otherwise.
    """
    n = s.shape[0] - 1
    w = s.copy()
    total = 0.0
    for k in range(n, 1, -1):
        best = NEVER
        for h in range(1, k):
            best = max(best, w[h, k])
        for h in range(k):
            for d in range(1, k):
                if h != d:
                    w[h, d] = max(w[h, d], w[h, k] + w[k, d] - best)
        total += best
    return total + w[0, 1]
