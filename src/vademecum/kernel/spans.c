/* Candidates become passages: the loop of `retrieval/spans.py` (`spans_of`), which says what is computed and why. */

#include "kernel.h"

typedef struct {
    int64_t file, place, first, last, begin, end; /* rows first to last, lines begin to end */
} Span;

typedef struct {
    Span *all;
    Py_ssize_t count, most; /* of results that there are, and that there may be */
    int across;
    int64_t longest, gap; /* lines: of a result that was joined, from one to the next that is beside it, at most */
} Joining;

typedef struct {
    double cost;
    Py_ssize_t place;
} Turn;

static int cheapest_first(const void *one, const void *other) {
    const Turn *a = one, *b = other;
    if (a->cost != b->cost) return a->cost < b->cost ? -1 : 1;
    return a->place < b->place ? -1 : 1;
}

static int best_first(const void *one, const void *other) {
    int64_t a = ((const Span *)one)->place, b = ((const Span *)other)->place;
    return a < b ? -1 : a > b;
}

static int is_beside(const Joining *joining, const Span *span, const Span *one) {
    int64_t apart = one->first > span->last ? one->begin - span->end : span->begin - one->end;
    return (one->first == span->last + 1 || one->last == span->first - 1) && apart <= joining->gap;
}

static int fits(const Joining *joining, const Span *span, const Span *one) {
    int64_t end = span->end > one->end ? span->end : one->end, begin = span->begin < one->begin ? span->begin : one->begin;
    return end - begin < joining->longest && (joining->across || is_beside(joining, span, one));
}

static void take(Span *span, const Span *one) {
    if (one->place < span->place) span->place = one->place;
    if (one->first < span->first) span->first = one->first;
    if (one->last > span->last) span->last = one->last;
    if (one->begin < span->begin) span->begin = one->begin;
    if (one->end > span->end) span->end = one->end;
}

/* Let a row join a span of its file, if the two fit; what the span has grown up to then becomes one with it. */
static int join(Joining *joining, Span *near, const Span *one) {
    if (!fits(joining, near, one)) return 0;
    take(near, one);
    for (Span *each = joining->all; each < joining->all + joining->count; each++) {
        if (each == near || each->file != near->file || !is_beside(joining, each, near) || !fits(joining, near, each)) continue;
        take(near, each);
        memmove(each, each + 1, (size_t)(joining->all + joining->count - each - 1) * sizeof *each);
        joining->count--;
        break;
    }
    return 1;
}

/* Offer a row to the results: it is shown by one, joins one, becomes one, or is left out. */
static void offer(Joining *joining, const Span *one, double worth, int may_join, double price) {
    if (joining->count >= joining->most && !may_join) return;
    Span *near = NULL;
    int64_t fewest = 0;
    for (Span *span = joining->all; span < joining->all + joining->count; span++) {
        if (span->file != one->file) continue;
        if (span->first <= one->first && one->first <= span->last) return;
        int64_t adds = one->first > span->last ? one->end - span->end : span->begin - one->begin;
        if (!near || adds < fewest) near = span, fewest = adds;
    }
    if (near && may_join && worth >= price * (double)fewest && join(joining, near, one)) return;
    if (joining->count < joining->most) joining->all[joining->count++] = *one;
}

enum { ROWS, FILES, LINES, GAIN, WORTH, ARRAYS };

/* spans(rows, files, lines, gain or None, worth, k, across, longest, gap, price) -> int64 (m, 6): file, place, first, last, begin, end */
PyObject *spans(PyObject *Py_UNUSED(module), PyObject *arguments) {
    Py_buffer a[ARRAYS] = {0};
    PyObject *result = NULL;
    Joining joining = {0};
    Turn *turns = NULL;
    Py_ssize_t longest, gap;
    double price;
    Span *told;
    if (!PyArg_ParseTuple(arguments, "y*y*y*z*y*npnnd", &a[ROWS], &a[FILES], &a[LINES], &a[GAIN], &a[WORTH], &joining.most,
                          &joining.across, &longest, &gap, &price)) return NULL;
    Py_ssize_t count = count_of(&a[ROWS], 8);
    if (count < 0 || a[FILES].len != a[ROWS].len || a[LINES].len != a[ROWS].len || a[WORTH].len != count * 4 ||
        (a[GAIN].buf && a[GAIN].len != count * 4)) {
        PyErr_SetString(PyExc_ValueError, "rows, files, lines and what they are worth do not fit each other");
        goto done;
    }
    joining.longest = longest, joining.gap = gap;
    if (joining.most > count) joining.most = count;
    turns = malloc((size_t)(count + 1) * sizeof *turns);
    joining.all = malloc((size_t)(count + 1) * sizeof *joining.all);
    if (!turns || !joining.all) { PyErr_NoMemory(); goto done; }
    const float *gain = a[GAIN].buf, *worth = a[WORTH].buf;
    const int32_t *lines = a[LINES].buf;
    for (Py_ssize_t i = 0; i < count; i++)
        turns[i] = (Turn){gain ? price * ((double)lines[2 * i + 1] - lines[2 * i] + 1) - (double)gain[i] : 0, i};
    qsort(turns, (size_t)count, sizeof *turns, cheapest_first);
    for (Py_ssize_t turn = 0; turn < count; turn++) {
        int64_t i = turns[turn].place, row = ((const int64_t *)a[ROWS].buf)[i], file = ((const int64_t *)a[FILES].buf)[i];
        int64_t begin = lines[2 * i], end = lines[2 * i + 1];
        double own = price * (double)(end - begin + 1); /* what its lines cost: worth less, it draws in no lines between either */
        offer(&joining, &(Span){file, i, row, row, begin, end}, (double)worth[i], (double)worth[i] >= own, price);
    }
    qsort(joining.all, (size_t)joining.count, sizeof *joining.all, best_first);
    if ((result = new_array(joining.count, sizeof *told, &told)))
        memcpy(told, joining.all, (size_t)joining.count * sizeof *told);
done:
    free(turns), free(joining.all), release(a, ARRAYS);
    return result;
}
