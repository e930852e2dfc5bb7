/* What each tool looks like after chains of calls, and the likeliest chains of one call more: the loops of `tools/heads.py`
   (`After`) and of `tools/chains.py` (`grown`), which say what is computed. */

#include "kernel.h"
#include <math.h>

/* The columns of `heads._MOVING`, in its order. */
enum { LEFT, ORDER, IN_SESSION, BY_WORDS, BY_MEANING, NEXT_BY_WORDS, NEXT_BY_MEANING, NEXT_BY_PATH, NEXT, NEXT_BY_META, COLUMNS };
enum { KERNELS = 2, TRANSITIONS = 3 };
/* What goes in, in the order of the tuple. */
enum { CALLED, TOOL_START, TOOL_TRACE, HERE_START, BEFORE, THEN, OWNER, TRACE_START, MEMBER_TOOL, ATTENTION, GIVEN, KEPT, TEXT,
       HELD, MENTION, SAID, PLACES, UNCLEAR, SESSION, ARRAYS };
static const size_t SIZES[ARRAYS] = {8, 8, 8, 8, 8, 8, 8, 8, 8, 4, 4, 4, 8, 8, 4, 4, 4, 4, 4};

typedef struct {
    Py_buffer arrays[ARRAYS];
    Py_ssize_t counts[ARRAYS];
    Py_ssize_t rows, width, tools, traces;
    float context, backing, epsilon, step, worth;
} Asked;

typedef struct { /* of one chain */
    const int64_t *called;
    int64_t last, behind;     /* the call before the next one, and the one before that */
    Py_ssize_t size, reached; /* distinct tools of it, traces that called any of them */
    int64_t *traces;          /* these; and how many of the tools each trace called */
    int32_t *shared;
    uint8_t *is_called;
    float *kept, total[KERNELS]; /* `kept` is what is left of attention, by how many tools a trace shares */
    double *given, *counted;
} Row;

typedef struct {
    float *columns, *ends, *believed, *unmet;
} Found;

#define AT(asked, which, type) ((const type *)(asked)->arrays[which].buf)

/* Whether numbers are places of so many. */
static int are_places(const Asked *q, int which, Py_ssize_t size) {
    const int64_t *numbers = AT(q, which, int64_t);
    int outside = 0;
    for (Py_ssize_t i = 0; i < q->counts[which]; i++) outside |= numbers[i] < 0 || numbers[i] >= size;
    return !outside;
}

WIDE static void to_logarithms(float *values, Py_ssize_t count, float epsilon) {
    for (Py_ssize_t i = 0; i < count; i++) values[i] = logarithm(values[i] + epsilon);
}

/* Find the traces that called what the chain did, and what is left to them; -1 where the graph points outside or names a trace twice. */
static int reach(const Asked *q, Row *row) {
    const int64_t *start = AT(q, TOOL_START, int64_t), *trace = AT(q, TOOL_TRACE, int64_t);
    const float *attention = AT(q, ATTENTION, float);
    row->size = row->reached = 0;
    for (Py_ssize_t i = 0; i < q->width; i++) {
        int64_t tool = row->called[i];
        if (tool == q->tools || row->is_called[tool]) continue;
        row->is_called[tool] = 1, row->size++;
        if (start[tool] < 0 || start[tool + 1] > q->counts[TOOL_TRACE]) return -1;
        for (int64_t at = start[tool]; at < start[tool + 1]; at++) {
            if (trace[at] < 0 || trace[at] >= q->traces) return -1;
            if (!row->shared[trace[at]]++) row->traces[row->reached++] = trace[at];
            if (row->shared[trace[at]] > row->size) return -1; /* named twice by one tool: `kept` has no place for it */
        }
    }
    for (Py_ssize_t n = 0; n <= row->size; n++)
        row->kept[n] = row->size ? (float)exp(q->context * ((double)n / (double)row->size - 1)) : 1;
    for (int k = 0; k < KERNELS; k++) {
        double total = AT(q, KEPT, float)[k];
        for (Py_ssize_t i = 0; i < row->reached; i++)
            total += attention[k * q->traces + row->traces[i]] * (row->kept[row->shared[row->traces[i]]] - row->kept[0]);
        row->total[k] = !row->size ? 1 : total > 1e-9 ? (float)total : 1e-9f; /* nothing was called: as it was */
    }
    return 0;
}

/* Give what the traces that were reached have more than others to the tools that they called; -1 where the graph points outside. */
static int give(const Asked *q, Row *row) {
    const int64_t *start = AT(q, TRACE_START, int64_t), *tool = AT(q, MEMBER_TOOL, int64_t);
    const float *attention = AT(q, ATTENTION, float);
    for (Py_ssize_t i = 0; i < row->reached; i++) {
        int64_t trace = row->traces[i];
        float more = row->kept[row->shared[trace]] - row->kept[0];
        double words = attention[trace] * more / row->total[0], meaning = attention[q->traces + trace] * more / row->total[1];
        if (start[trace] < 0 || start[trace + 1] > q->counts[MEMBER_TOOL]) return -1;
        for (int64_t at = start[trace]; at < start[trace + 1]; at++) {
            if (tool[at] < 0 || tool[at] >= q->tools) return -1;
            row->given[tool[at]] += words, row->given[q->tools + tool[at]] += meaning;
        }
    }
    return 0;
}

/* Count what traces called from where the chain ends: by words, by meaning, and by words where they came the same way; -1 as above. */
static int count_steps(const Asked *q, Row *row) {
    const int64_t *start = AT(q, HERE_START, int64_t), *owner = AT(q, OWNER, int64_t), *then = AT(q, THEN, int64_t);
    const float *attention = AT(q, ATTENTION, float);
    Py_ssize_t width = q->tools + 1;
    if (start[row->last] < 0 || start[row->last + 1] > q->counts[OWNER]) return -1;
    for (int64_t at = start[row->last]; at < start[row->last + 1]; at++) {
        if (owner[at] < 0 || owner[at] >= q->traces || then[at] < 0 || then[at] > q->tools) return -1;
        float kept = row->kept[row->shared[owner[at]]];
        float words = attention[owner[at]] * kept / row->total[0];
        row->counted[then[at]] += words;
        row->counted[width + then[at]] += attention[q->traces + owner[at]] * kept / row->total[1];
        if (AT(q, BEFORE, int64_t)[at] == row->behind) row->counted[2 * width + then[at]] += words;
    }
    return 0;
}

/* Write how well each tool matches what no tool of the chain says of the question, and how near it is said to the last one. */
static void match(const Asked *q, Row *row, float *left, float *order, float *unmet) {
    const int64_t *text = AT(q, TEXT, int64_t), *held = AT(q, HELD, int64_t);
    const float *mention = AT(q, MENTION, float), *places = AT(q, PLACES, float), *unclear = AT(q, UNCLEAR, float);
    float due = places[row->last] + q->step;
    *unmet = 0;
    memset(left, 0, (size_t)q->tools * sizeof *left);
    for (Py_ssize_t term = 0, at = 0; term < q->counts[HELD]; at += held[term++]) {
        int is_open = 1;
        for (Py_ssize_t i = at; i < at + held[term]; i++) is_open &= !row->is_called[text[i]];
        for (Py_ssize_t i = at; is_open && i < at + held[term]; i++) left[text[i]] += mention[i] / q->worth;
        if (is_open) *unmet += AT(q, SAID, float)[term];
    }
    for (Py_ssize_t i = 0; i < q->tools; i++) order[i] = fabsf(places[i] - due) * unclear[i];
}

/* Write counts as shares, backed by a prior of so much weight. */
WIDE static void share_out(const double *counted, float believed, const float *prior, float backing, float *found, Py_ssize_t count) {
    for (Py_ssize_t i = 0; i < count; i++) found[i] = (float)counted[i] / believed + backing / believed * prior[i];
}

WIDE static void spread_out(const double *more, float share, const float *given, float *found, Py_ssize_t count) {
    for (Py_ssize_t i = 0; i < count; i++) found[i] = (float)more[i] + share * given[i];
}

/* Write the columns of one chain, and what `After.stopping` asks; -1 where a number points outside. */
static int tell(const Asked *q, Row *row, Py_ssize_t number, const Py_buffer *anyhow, Found *found) {
    Py_ssize_t n = q->tools, apart = q->rows * n, width = n + 1;
    float *column = found->columns + number * n;
    row->called = AT(q, CALLED, int64_t) + number * q->width;
    row->last = row->called[q->width - 1];
    row->behind = row->last == n ? -1 : q->width > 1 ? row->called[q->width - 2] : n;
    if (reach(q, row) || give(q, row) || count_steps(q, row)) return -1;
    match(q, row, column + LEFT * apart, column + ORDER * apart, &found->unmet[number]);
    memcpy(column + IN_SESSION * apart, AT(q, SESSION, float) + (q->counts[SESSION] > n ? number * n : 0), (size_t)n * 4);
    for (int k = 0; k < KERNELS; k++)
        spread_out(row->given + k * n, row->kept[0] / row->total[k], AT(q, GIVEN, float) + k * n, column + (BY_WORDS + k) * apart, n);
    const float *prior = anyhow[0].buf;
    for (int k = 0; k < TRANSITIONS; k++) {
        double all = 0;
        for (Py_ssize_t i = 0; i < width; i++) all += row->counted[k * width + i];
        float believed = (float)all + q->backing;
        found->ends[k * q->rows + number] = (float)row->counted[k * width + n];
        found->believed[k * q->rows + number] = believed;
        float *own = column + (NEXT_BY_WORDS + k) * apart;
        if (k == 2) prior = column + NEXT_BY_WORDS * apart;
        if (k == 2 && !row->size) memcpy(own, prior, (size_t)n * 4); /* nothing lies behind */
        else share_out(row->counted + k * width, believed, prior, q->backing, own, n);
    }
    for (int k = BY_WORDS; k <= NEXT_BY_PATH; k++) to_logarithms(column + k * apart, n, q->epsilon);
    memcpy(column + NEXT * apart, anyhow[1].buf, (size_t)n * 4);
    memcpy(column + NEXT_BY_META * apart, anyhow[1].buf, (size_t)n * 4);
    for (Py_ssize_t i = 0; i < row->reached; i++) row->shared[row->traces[i]] = 0;
    for (Py_ssize_t i = 0; i < q->width; i++) row->is_called[row->called[i]] = 0;
    memset(row->given, 0, (size_t)(KERNELS * n) * sizeof(double));
    memset(row->counted, 0, (size_t)(TRANSITIONS * width) * sizeof(double));
    return 0;
}

/* Whether the arrays fit each other, and what is used as a place without being looked at later is one. */
static int fits(Asked *q, Py_ssize_t rows) {
    Py_ssize_t *counts = q->counts, entries = 0;
    for (int i = 0; i < ARRAYS; i++)
        if ((counts[i] = q->arrays[i].obj ? count_of(&q->arrays[i], SIZES[i]) : -1) < 0) return 0;
    q->rows = rows, q->width = rows ? counts[CALLED] / rows : 0;
    q->tools = counts[UNCLEAR], q->traces = counts[TRACE_START] - 1;
    for (Py_ssize_t term = 0; term < counts[HELD]; term++) {
        int64_t held = AT(q, HELD, int64_t)[term];
        if (held < 0 || held > counts[TEXT] - entries) return 0;
        entries += held;
    }
    return q->traces >= 0 && q->width * rows == counts[CALLED] && (q->width || !rows) && counts[TOOL_START] == q->tools + 1 &&
           counts[HERE_START] == q->tools + 2 && counts[BEFORE] == counts[OWNER] && counts[THEN] == counts[OWNER] &&
           counts[ATTENTION] == KERNELS * q->traces && counts[GIVEN] == KERNELS * q->tools && counts[KEPT] == KERNELS &&
           entries == counts[TEXT] && counts[MENTION] == entries && counts[SAID] == counts[HELD] &&
           counts[PLACES] == q->tools + 1 && (counts[SESSION] == q->tools || counts[SESSION] == rows * q->tools) &&
           are_places(q, CALLED, q->tools + 1) && are_places(q, TEXT, q->tools);
}

/* Borrow what follows the last call of each chain whatever the intent; -1 where it is not of so many tools. */
static int borrow_anyhow(PyObject *list, Py_ssize_t tools, Py_buffer *anyhow) {
    for (Py_ssize_t i = 0; i < PyTuple_Size(list); i++) {
        PyObject *item = PyTuple_GetItem(list, i);
        for (int part = 0; part < 2; part++) {
            PyObject *array = PyTuple_Check(item) && PyTuple_Size(item) > part ? PyTuple_GetItem(item, part) : Py_None;
            if (PyObject_GetBuffer(array, &anyhow[2 * i + part], PyBUF_SIMPLE)) return -1;
            if (anyhow[2 * i + part].len != (tools + 1 - part) * 4) {
                PyErr_SetString(PyExc_ValueError, "what follows is of another number of tools");
                return -1;
            }
        }
    }
    return 0;
}

/* after(arrays, anyhow, context, backing, epsilon, step, worth) -> (columns, ends, believed, unmet) */
PyObject *after(PyObject *Py_UNUSED(module), PyObject *arguments) {
    PyObject *tuple, *list, *made[4] = {0}, *result = NULL;
    Asked q = {0};
    Row row = {0};
    Found found;
    if (!PyArg_ParseTuple(arguments, "OO!fffff", &tuple, &PyTuple_Type, &list, &q.context, &q.backing, &q.epsilon, &q.step, &q.worth))
        return NULL;
    Py_ssize_t rows = PyTuple_Size(list);
    Py_buffer *anyhow = calloc((size_t)(2 * rows + 1), sizeof *anyhow);
    if (!anyhow) return PyErr_NoMemory();
    if (borrow(tuple, q.arrays, ARRAYS)) goto done;
    if (!fits(&q, rows)) { PyErr_SetString(PyExc_ValueError, "chains, traces and terms do not fit each other"); goto done; }
    if (borrow_anyhow(list, q.tools, anyhow)) goto done;
    size_t n = (size_t)q.tools + 1, doubles = (KERNELS + TRANSITIONS) * n, floats = (size_t)q.width + 1;
    row.given = calloc(1, doubles * 8 + (size_t)(q.traces + 1) * 12 + floats * 4 + n);
    if (!row.given) { PyErr_NoMemory(); goto done; }
    row.counted = row.given + KERNELS * (n - 1), row.traces = (int64_t *)(row.given + doubles);
    row.shared = (int32_t *)(row.traces + q.traces + 1), row.kept = (float *)(row.shared + q.traces + 1);
    row.is_called = (uint8_t *)(row.kept + floats);
    if (!(made[0] = new_array(COLUMNS * rows * q.tools, 4, &found.columns)) || !(made[1] = new_array(TRANSITIONS * rows, 4, &found.ends)) ||
        !(made[2] = new_array(TRANSITIONS * rows, 4, &found.believed)) || !(made[3] = new_array(rows, 4, &found.unmet))) goto done;
    int outside = 0;
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t i = 0; i < rows && !outside; i++) outside = tell(&q, &row, i, anyhow + 2 * i, &found);
    Py_END_ALLOW_THREADS
    if (outside) PyErr_SetString(PyExc_ValueError, "traces name a tool or a trace that there is not");
    else result = PyTuple_Pack(4, made[0], made[1], made[2], made[3]);
done:
    for (int i = 0; i < 4; i++) Py_XDECREF(made[i]);
    for (Py_ssize_t i = 0; i < 2 * rows; i++) release(&anyhow[i], 1);
    free(row.given), free(anyhow), release(q.arrays, ARRAYS);
    return result;
}
