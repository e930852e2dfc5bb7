/* What the words of a question say of each event and of each session: `Matches.scores` of `memory/matches.py`; and which events
   stand in a session and after one: `Layout` of `memory/layout.py`. */

#include "kernel.h"
#include <math.h>

enum { DOCS, TF, ALIVE, LENGTHS, SAID, SESSION, SUMS, ARRAYS };

typedef struct {
    Py_buffer arrays[ARRAYS];
    Py_ssize_t postings, fields, rows, sessions;
    int64_t base;
    float slope, offset, weight;
} Term;

/* Add what each posting of a term says to its row, and how often the term is there to its session; -1 where it is of none. */
static int add_postings(Term *t) {
    const int32_t *docs = t->arrays[DOCS].buf, *session = t->arrays[SESSION].buf;
    const uint8_t *tf = t->arrays[TF].buf, *alive = t->arrays[ALIVE].buf;
    const float *lengths = t->arrays[LENGTHS].buf;
    float *said = t->arrays[SAID].buf;
    double *sums = t->arrays[SUMS].buf;
    for (Py_ssize_t i = 0; i < t->postings; i++) {
        int64_t row = docs[i] + t->base;
        if (row < 0 || row >= t->rows) return -1;
        if (alive && !alive[row]) continue;
        float count = tf[i * t->fields], norm = lengths[row] * t->slope + t->offset;
        said[row] += count / (norm + count) * t->weight;
        if (!sums) continue;
        if (session[row] < 0 || session[row] >= t->sessions) return -1;
        sums[session[row]] += count;
    }
    return 0;
}

/* add_matches(docs, tf, base, alive or None, (lengths, slope, offset), weight, said, session or None, sums or None): the last row
   of `said` stands for none; `said` and `sums` are added to */
PyObject *add_matches(PyObject *Py_UNUSED(module), PyObject *arguments) {
    Term t = {0};
    Py_buffer *a = t.arrays;
    PyObject *result = NULL;
    long long base;
    int outside = -1;
    if (!PyArg_ParseTuple(arguments, "y*y*Lz*(y*ff)fw*z*z*", &a[DOCS], &a[TF], &base, &a[ALIVE], &a[LENGTHS], &t.slope,
                          &t.offset, &t.weight, &a[SAID], &a[SESSION], &a[SUMS])) goto done;
    t.base = base, t.postings = count_of(&a[DOCS], 4), t.rows = count_of(&a[LENGTHS], 4);
    t.fields = t.postings > 0 ? a[TF].len / t.postings : 0, t.sessions = count_of(&a[SUMS], 8);
    if (t.postings >= 0 && t.rows >= 0 && t.sessions >= 0 && a[TF].len == t.postings * t.fields &&
        (!t.postings || t.fields) && count_of(&a[SAID], 4) == t.rows + 1 && (!a[ALIVE].buf || a[ALIVE].len == t.rows) &&
        (!a[SUMS].buf || (a[SESSION].buf && count_of(&a[SESSION], 4) == t.rows && !a[SUMS].readonly))) {
        Py_BEGIN_ALLOW_THREADS
        outside = add_postings(&t);
        Py_END_ALLOW_THREADS
    }
    if (outside) PyErr_SetString(PyExc_ValueError, "postings, lengths and sessions do not fit each other");
    else result = Py_NewRef(Py_None);
done:
    release(a, ARRAYS);
    return result;
}

/* Tell how many of the first rows are of some sessions, -1 where a session or where it begins is outside. `wanted` has a place for
   each session up to the last of them, and is marked. */
static Py_ssize_t mark_sessions(const int64_t *codes, Py_ssize_t count, const int64_t *starts, Py_ssize_t sessions,
                                Py_ssize_t rows, uint8_t *wanted) {
    Py_ssize_t total = 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        wanted[codes[i]] = 1;
        if (codes[i] >= sessions) continue; /* all its rows came late */
        int64_t begin = starts[codes[i]], end = starts[codes[i] + 1];
        if (begin < 0 || end < begin || end > rows) return -1;
        total += end - begin;
    }
    return total;
}

/* rows_of(codes, session, order, starts) -> rows of sessions, those first that came after `order` was made: `layout._rows_of` */
PyObject *rows_of(PyObject *Py_UNUSED(module), PyObject *arguments) {
    enum { CODES, OF, ORDER, STARTS, GIVEN };
    Py_buffer a[GIVEN] = {0};
    PyObject *found = NULL;
    uint8_t *wanted = NULL;
    int64_t *row, last = -1;
    if (!PyArg_ParseTuple(arguments, "y*y*y*y*", &a[CODES], &a[OF], &a[ORDER], &a[STARTS])) return NULL;
    Py_ssize_t count = count_of(&a[CODES], 8), all = count_of(&a[OF], 4), first = count_of(&a[ORDER], 4), late = 0, at = 0;
    Py_ssize_t sessions = count_of(&a[STARTS], 8) - 1, total = -1;
    const int64_t *codes = a[CODES].buf, *starts = a[STARTS].buf;
    const int32_t *session = a[OF].buf, *order = a[ORDER].buf;
    int fit = count >= 0 && first >= 0 && all >= first && sessions >= 0;
    for (Py_ssize_t i = 0; fit && i < count; i++) {
        fit = codes[i] >= 0 && codes[i] < INT32_MAX;
        last = codes[i] > last ? codes[i] : last;
    }
    if (fit && !(wanted = calloc((size_t)last + 2, 1))) { PyErr_NoMemory(); goto done; }
    if (fit) total = mark_sessions(codes, count, starts, sessions, first, wanted);
    if (total < 0) { PyErr_SetString(PyExc_ValueError, "sessions and their rows do not fit each other"); goto done; }
    for (Py_ssize_t i = first; i < all; i++) late += session[i] >= 0 && session[i] <= last && wanted[session[i]];
    if (!(found = new_array(late + total, 8, &row))) goto done;
    for (Py_ssize_t i = first; i < all; i++)
        if (session[i] >= 0 && session[i] <= last && wanted[session[i]]) row[at++] = i;
    for (Py_ssize_t i = 0; i < count; i++)
        for (int64_t j = codes[i] < sessions ? starts[codes[i]] : 0; codes[i] < sessions && j < starts[codes[i] + 1]; j++)
            row[at++] = order[j];
done:
    free(wanted), release(a, GIVEN);
    return found;
}

/* after_of(rows, before, after) -> the row after each in its session, -1 where there is none: `layout.Layout.after_of` */
PyObject *after_of(PyObject *Py_UNUSED(module), PyObject *arguments) {
    Py_buffer a[3] = {0};
    PyObject *found = NULL;
    int32_t *next;
    if (!PyArg_ParseTuple(arguments, "y*y*y*", &a[0], &a[1], &a[2])) return NULL;
    Py_ssize_t count = count_of(&a[0], 8), all = count_of(&a[1], 4);
    const int64_t *rows = a[0].buf;
    const int32_t *before = a[1].buf, *after = a[2].buf;
    int fit = count >= 0 && all >= 0 && a[2].len == a[1].len;
    for (Py_ssize_t i = 0; fit && i < count; i++) fit = (uint64_t)rows[i] < (uint64_t)all;
    if (!fit) { PyErr_SetString(PyExc_ValueError, "rows and what stands around them do not fit each other"); goto done; }
    if (!(found = new_array(count, 4, &next))) goto done;
    for (Py_ssize_t i = 0; i < count; i++) {
        int32_t row = after[rows[i]]; /* what came later than `before` was made is none of its */
        next[i] = row >= 0 && row < all && before[row] == rows[i] ? row : -1;
    }
done:
    release(a, 3);
    return found;
}

/* Weigh sessions by how often they hold each of some terms, a row of numbers for each term. */
WIDE static void add_sessions(const double *restrict held, Py_ssize_t terms, const float *restrict norms, Py_ssize_t sessions,
                              double *restrict sums) {
    for (Py_ssize_t t = 0; t < terms; t++, held += sessions) {
        int64_t holding = 0;
        for (Py_ssize_t i = 0; i < sessions; i++) holding += held[i] > 0;
        double idf = log1p(((double)(sessions - holding) + 0.5) / ((double)holding + 0.5));
        if (!holding) continue;
        for (Py_ssize_t i = 0; i < sessions; i++) sums[i] += idf * (held[i] / (held[i] + (double)norms[i]));
    }
}

/* score_sessions(held, terms, norms) -> BM25 of each session as one document, of how often it holds each term */
PyObject *score_sessions(PyObject *Py_UNUSED(module), PyObject *arguments) {
    Py_buffer a[2] = {0};
    PyObject *found = NULL;
    double *sums = NULL;
    float *score;
    Py_ssize_t terms;
    if (!PyArg_ParseTuple(arguments, "y*ny*", &a[0], &terms, &a[1])) return NULL;
    Py_ssize_t sessions = count_of(&a[1], 4), numbers = count_of(&a[0], 8);
    int fit = terms >= 0 && sessions >= 0 && numbers >= 0 &&
              (terms && sessions ? numbers / terms == sessions && numbers % terms == 0 : !numbers);
    if (!fit) { PyErr_SetString(PyExc_ValueError, "sessions and what they hold do not fit each other"); goto done; }
    if (!(sums = calloc((size_t)sessions + 1, sizeof *sums))) { PyErr_NoMemory(); goto done; }
    if (!(found = new_array(sessions, 4, &score))) goto done;
    Py_BEGIN_ALLOW_THREADS
    add_sessions(a[0].buf, terms, a[1].buf, sessions, sums);
    for (Py_ssize_t i = 0; i < sessions; i++) score[i] = (float)sums[i];
    Py_END_ALLOW_THREADS
done:
    free(sums), release(a, 2);
    return found;
}
