/* Which chains of one call more are likely: the loops of `tools/heads.py` (`After.scores`) and of `tools/chains.py` (`grown`). */

#include "kernel.h"
#include <math.h>

enum { MOVING = 10 }; /* columns of what depends on the calls so far */
enum { USED = MOVING, LAST, BEFORE, WEIGHTS };
#define MOST_CHOSEN 64

WIDE static void weigh_columns(const float *columns, Py_ssize_t apart, const float *weights, const float *still, float *found, Py_ssize_t count) {
    for (Py_ssize_t i = 0; i < count; i++) found[i] = still[i] + weights[0] * columns[i];
    for (int k = 1; k < MOVING; k++)
        for (Py_ssize_t i = 0; i < count; i++) found[i] += weights[k] * columns[k * apart + i];
}

/* Add what it is worth that a tool was called: for this intent, as the last, or for earlier ones; -1 where one is none. */
static int weigh_calls(const int64_t *called, Py_ssize_t width, const int64_t *earlier, Py_ssize_t times, const float *weights,
                       float *found, Py_ssize_t tools) {
    for (Py_ssize_t i = 0; i < width; i++) {
        int is_new = 1;
        if (called[i] < 0 || called[i] > tools) return -1;
        for (Py_ssize_t j = 0; j < i; j++) is_new &= called[j] != called[i];
        if (called[i] < tools && is_new) found[called[i]] += weights[USED];
    }
    if (width && called[width - 1] < tools) found[called[width - 1]] += weights[LAST];
    for (Py_ssize_t i = 0; i < times; i++) {
        int is_new = 1;
        if (earlier[i] < 0 || earlier[i] >= tools) return -1;
        for (Py_ssize_t j = 0; j < width; j++) is_new &= called[j] != earlier[i];
        if (is_new) found[earlier[i]] += weights[BEFORE];
    }
    return 0;
}

/* scores(columns, still, weights, called, earlier) -> float32 (c, n); `earlier` names each tool once */
PyObject *scores(PyObject *Py_UNUSED(module), PyObject *arguments) {
    Py_buffer a[5] = {0};
    PyObject *made = NULL;
    float *found;
    int outside = 0;
    if (!PyArg_ParseTuple(arguments, "y*y*y*y*y*", &a[0], &a[1], &a[2], &a[3], &a[4])) return NULL;
    const int64_t *called = a[3].buf, *earlier = a[4].buf;
    Py_ssize_t cells = count_of(&a[0], 4 * MOVING), tools = count_of(&a[1], 4), calls = count_of(&a[3], 8), times = count_of(&a[4], 8);
    Py_ssize_t rows = tools > 0 ? cells / tools : 0, width = rows ? calls / rows : 0;
    if (cells < 0 || tools < 0 || calls < 0 || times < 0 || rows * tools != cells || width * rows != calls ||
        count_of(&a[2], 4) != WEIGHTS) {
        PyErr_SetString(PyExc_ValueError, "columns, weights and chains do not fit each other");
        goto done;
    }
    if (!(made = new_array(cells, 4, &found))) goto done;
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t row = 0; row < rows && !outside; row++) {
        weigh_columns((const float *)a[0].buf + row * tools, cells, a[2].buf, a[1].buf, found + row * tools, tools);
        outside = weigh_calls(called + row * width, width, earlier, times, a[2].buf, found + row * tools, tools);
    }
    Py_END_ALLOW_THREADS
    if (outside) {
        PyErr_SetString(PyExc_ValueError, "chains name a tool that there is not");
        Py_CLEAR(made);
    }
done:
    release(a, 5);
    return made;
}

typedef struct {
    int64_t cell[MOST_CHOSEN];
    float likely[MOST_CHOSEN], odds[MOST_CHOSEN];
    double probability[MOST_CHOSEN], sum[MOST_CHOSEN];
    Py_ssize_t count, most;
} Chosen;

/* Write the odds of each tool; return their sum over those that can be called. */
WIDE static float to_odds(float *scores, const uint8_t *live, Py_ssize_t tools) {
    float highest = highest_among(scores, tools);
    for (Py_ssize_t i = 0; i < tools; i++) scores[i] = exponential(scores[i] - highest) * (float)(live[i] != 0);
    float total = sum_of(scores, tools);
    return total > 1e-9f ? total : 1e-9f;
}

/* Keep the likeliest, those that come first among equal ones. */
static void choose(Chosen *chosen, const float *odds, Py_ssize_t tools, int64_t first, float factor, float cut) {
    for (Py_ssize_t i = 0; i < tools; i++) {
        float likely = odds[i] * factor;
        if (!(likely > cut)) continue;
        if (chosen->count == chosen->most && !(likely > chosen->likely[chosen->count - 1])) continue;
        Py_ssize_t at = chosen->count < chosen->most ? chosen->count++ : chosen->count - 1;
        for (; at > 0 && chosen->likely[at - 1] < likely; at--)
            chosen->cell[at] = chosen->cell[at - 1], chosen->likely[at] = chosen->likely[at - 1], chosen->odds[at] = chosen->odds[at - 1];
        chosen->cell[at] = first + i, chosen->likely[at] = likely, chosen->odds[at] = odds[i];
    }
}

/* No tool is chosen again that a chain called and no trace called twice; -1 where a chain names a tool that there is not. */
static int bar(const int64_t *called, Py_ssize_t width, const uint8_t *once, float *odds, Py_ssize_t tools) {
    for (Py_ssize_t i = 0; i < width; i++) {
        if (called[i] < 0 || called[i] > tools) return -1;
        if (called[i] < tools && once[called[i]]) odds[called[i]] = 0;
    }
    return 0;
}

/* grown(scores, live, once, called, going_on, least, nearly, most) -> (cells, probabilities, sums): the likeliest cells, those that
   are likelier than `least`; the scores are written over */
PyObject *grown(PyObject *Py_UNUSED(module), PyObject *arguments) {
    Py_buffer a[5] = {0};
    PyObject *made[3] = {0}, *result = NULL;
    Chosen chosen = {.count = 0};
    double least, nearly, most, *totals = NULL;
    void *place;
    if (!PyArg_ParseTuple(arguments, "w*y*y*y*y*ddn", &a[0], &a[1], &a[2], &a[3], &a[4], &least, &nearly, &chosen.most)) return NULL;
    const double *on = a[4].buf;
    float *scores = a[0].buf;
    Py_ssize_t tools = a[1].len, rows = count_of(&a[4], 8), width = rows > 0 ? count_of(&a[3], 8) / rows : 0;
    int outside = 0;
    if (rows < 1 || tools < 1 || count_of(&a[0], 4) != rows * tools || a[2].len != tools || width < 0 || count_of(&a[3], 8) != rows * width ||
        chosen.most < 1 || chosen.most > MOST_CHOSEN) {
        PyErr_SetString(PyExc_ValueError, "scores and chains do not fit each other, or too many are asked for");
        goto done;
    }
    if (!(totals = malloc((size_t)rows * sizeof *totals))) { PyErr_NoMemory(); goto done; }
    Py_BEGIN_ALLOW_THREADS
    most = on[0];
    for (Py_ssize_t row = 0; row < rows; row++) most = on[row] > most ? on[row] : most;
    for (Py_ssize_t row = 0; row < rows && !outside; row++) {
        totals[row] = to_odds(scores + row * tools, a[1].buf, tools);
        outside = bar((const int64_t *)a[3].buf + row * width, width, a[2].buf, scores + row * tools, tools);
        choose(&chosen, scores + row * tools, tools, row * tools, (float)(exp(on[row] - most) / totals[row]), (float)(nearly * exp(least - most)));
    }
    Py_END_ALLOW_THREADS
    if (outside) { PyErr_SetString(PyExc_ValueError, "chains name a tool that there is not"); goto done; }
    Py_ssize_t kept = 0; /* the cut was in single precision: what is kept is looked at again in double */
    for (Py_ssize_t i = 0; i < chosen.count; i++) {
        Py_ssize_t row = (Py_ssize_t)chosen.cell[i] / tools;
        double probability = chosen.odds[i] / totals[row], sum = on[row] + log(probability > 1e-9 ? probability : 1e-9);
        if (sum > least) chosen.cell[kept] = chosen.cell[i], chosen.probability[kept] = probability, chosen.sum[kept++] = sum;
    }
    const void *found[3] = {chosen.cell, chosen.probability, chosen.sum};
    for (int i = 0; i < 3; i++) {
        if (!(made[i] = new_array(kept, 8, &place))) goto done;
        memcpy(place, found[i], (size_t)kept * 8);
    }
    result = PyTuple_Pack(3, made[0], made[1], made[2]);
done:
    for (int i = 0; i < 3; i++) Py_XDECREF(made[i]);
    free(totals), release(a, 5);
    return result;
}

enum { STOPPING = 11 }; /* `heads.STOPPING` */
enum { ENDS, BELIEVED, UNMET, DUE, CALLED, PROBABILITY, LIKELIEST, ARRAYS };
static const size_t SIZES[ARRAYS] = {4, 4, 4, 4, 8, 4, 8};

static double log_odds(double probability) {
    double sure = probability < 1e-3 ? 1e-3 : probability > 1 - 1e-3 ? 1 - 1e-3 : probability;
    return log(sure / (1 - sure));
}

/* Write how many calls there are, how many tools are still to be called, and how likely the likeliest of them is; -1 as above. */
static int look_ahead(const Py_buffer *a, const int64_t *called, Py_ssize_t width, double left, double *row) {
    const float *probability = a[PROBABILITY].buf;
    const int64_t *likeliest = a[LIKELIEST].buf;
    Py_ssize_t tools = count_of(&a[PROBABILITY], 4), calls = 0;
    for (Py_ssize_t i = 0; i < width; i++) {
        int is_new = 1;
        if (called[i] < 0 || called[i] > tools) return -1;
        for (Py_ssize_t j = 0; j < i; j++) is_new &= called[j] != called[i];
        calls += called[i] < tools;
        if (called[i] < tools && is_new) left -= probability[called[i]];
    }
    row[7] = calls > 0, row[8] = log1p((double)calls), row[9] = log((left > 0 ? left : 0) + 0.05), row[10] = log_odds(0);
    for (Py_ssize_t i = 0; i < count_of(&a[LIKELIEST], 8); i++) {
        int is_open = 1;
        if (likeliest[i] < 0 || likeliest[i] >= tools) return -1;
        for (Py_ssize_t j = 0; j < width; j++) is_open &= called[j] != likeliest[i];
        if (is_open) { row[10] = log_odds(probability[likeliest[i]]); break; }
    }
    return 0;
}

/* stopping(arrays, anyhow, all, backing, epsilon) -> float64 (c, 11); of what follows anyhow the fourth is the share of the end */
PyObject *stopping(PyObject *Py_UNUSED(module), PyObject *arguments) {
    PyObject *tuple, *list, *made = NULL;
    Py_buffer a[ARRAYS] = {0};
    double all, backing, epsilon, *rows_found;
    int fine = 0;
    if (!PyArg_ParseTuple(arguments, "OO!ddd", &tuple, &PyTuple_Type, &list, &all, &backing, &epsilon)) return NULL;
    Py_ssize_t rows = PyTuple_Size(list);
    if (borrow(tuple, a, ARRAYS)) goto done;
    int fit = 1;
    for (int i = 0; i < ARRAYS; i++)
        fit &= i == DUE && !a[i].obj ? 1 : count_of(&a[i], SIZES[i]) >= 0 && (i > DUE || count_of(&a[i], 4) == (i < UNMET ? 3 : 1) * rows);
    Py_ssize_t width = rows ? count_of(&a[CALLED], 8) / rows : 0;
    if (!fit || width * rows != count_of(&a[CALLED], 8)) {
        PyErr_SetString(PyExc_ValueError, "what ended and chains do not fit each other");
        goto done;
    }
    if (!(made = new_array(rows * STOPPING, 8, &rows_found))) goto done;
    const float *ends = a[ENDS].buf, *believed = a[BELIEVED].buf, *due = a[DUE].buf;
    for (Py_ssize_t i = 0; i < rows; i++) {
        double *row = rows_found + i * STOPPING;
        PyObject *item = PyTuple_GetItem(list, i);
        double end = PyTuple_Check(item) && PyTuple_Size(item) > 3 ? PyFloat_AsDouble(PyTuple_GetItem(item, 3)) : -1;
        if (look_ahead(a, (const int64_t *)a[CALLED].buf + i * width, width, all, row) || end < 0) {
            if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "chains name a tool that there is not");
            goto done;
        }
        double words = (ends[i] + backing * end) / believed[i];
        double meaning = (ends[rows + i] + backing * end) / believed[rows + i];
        double path = row[7] > 0 ? (ends[2 * rows + i] + backing * words) / believed[2 * rows + i] : words;
        row[0] = 1, row[1] = log(words + epsilon), row[2] = log(meaning + epsilon), row[3] = log(path + epsilon);
        row[4] = log(end + epsilon), row[5] = log((due ? due[i] : end) + epsilon), row[6] = ((const float *)a[UNMET].buf)[i];
    }
    fine = 1;
done:
    if (!fine) Py_CLEAR(made);
    release(a, ARRAYS);
    return made;
}
