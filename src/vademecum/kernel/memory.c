/* What the words of a question say of each event and of each session: `Matches.scores` of `memory/matches.py`. */

#include "kernel.h"

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
