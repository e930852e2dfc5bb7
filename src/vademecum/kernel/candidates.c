/* The first step of ranking: all signals of each row taken together, and the best rows. `retrieval/rank.py` says what is
   computed (`of_chunks`, `_of_rows`), `retrieval/fusion.py` which rows are the best (`top`). */

#include "kernel.h"

typedef struct {
    float score;
    uint32_t place; /* among the rows that are looked at */
} Row;

/* The best are found without putting all in order: a sample tells above which score they are. */
#define BINS 2048
#define SAMPLED 16 /* every how many rows are in the sample */

enum { LEXICAL, DENSE, DEFINITION, ROWS, FILES, PATH, PRIOR, ALLOWED, ARRAYS };

typedef struct {
    Py_buffer arrays[ARRAYS];
    Py_ssize_t chunks, rows, files, asked; /* asked: how many rows are looked at */
    double lexical, dense;                 /* what each signal counts */
    float definition, path, bins_per_score;
} Question;

/* Add what a score has of its highest, times a weight, to each total; scores below 0 count as 0. */
WIDE static void add_share(const float *score, double weight, Py_ssize_t chunks, float *total) {
    float lanes[8] = {0}, highest = 0; /* eight maxima at a time: the compiler makes one instruction of them */
    for (Py_ssize_t i = 0; i + 8 <= chunks; i += 8)
        for (int lane = 0; lane < 8; lane++) lanes[lane] = score[i + lane] > lanes[lane] ? score[i + lane] : lanes[lane];
    for (Py_ssize_t i = chunks - chunks % 8; i < chunks; i++) highest = score[i] > highest ? score[i] : highest;
    for (int lane = 0; lane < 8; lane++) highest = lanes[lane] > highest ? lanes[lane] : highest;
    if (!(highest > 0)) return;
    float share = (float)(weight / (double)highest);
    for (Py_ssize_t i = 0; i < chunks; i++) {
        float part = score[i] * share;
        total[i] += part > 0 ? part : 0;
    }
}

/* Write what is known of each chunk taken together, wherever it stands. */
static void score_chunks(const Question *q, float *score) {
    const float *definition = q->arrays[DEFINITION].buf;
    memset(score, 0, (size_t)q->chunks * sizeof *score);
    add_share(q->arrays[LEXICAL].buf, q->lexical, q->chunks, score);
    add_share(q->arrays[DENSE].buf, q->dense, q->chunks, score);
    if (definition)
        for (Py_ssize_t i = 0; i < q->chunks; i++) score[i] += q->definition * definition[i];
}

/* Return the score of a row, or -1 where a number points outside. */
static inline float score_row(const Question *q, const float *score, int64_t row) {
    if ((uint64_t)row >= (uint64_t)q->rows) return -1;
    int64_t chunk = ((const int64_t *)q->arrays[ROWS].buf)[row];
    int32_t file = ((const int32_t *)q->arrays[FILES].buf)[row];
    if ((uint64_t)chunk >= (uint64_t)q->chunks || (uint32_t)file >= (uint64_t)q->files) return -1;
    return (score[chunk] + q->path * ((const float *)q->arrays[PATH].buf)[file]) * ((const float *)q->arrays[PRIOR].buf)[file];
}

static inline int bin_of(const Question *q, float score) {
    float bin = score * q->bins_per_score;
    return !(bin > 0) ? 0 : bin < BINS - 1 ? (int)bin : BINS - 1;
}

/* Return the lowest of the bins that hold as many as are wanted. */
static int lowest_bin(const int *bins, Py_ssize_t wanted) {
    int lowest = BINS;
    for (Py_ssize_t held = 0; lowest > 0 && held < wanted;) held += bins[--lowest];
    return lowest;
}

/* Guess the bin from which on there are as many rows as are wanted, and not many more. */
static int guess_bin(const Question *q, const float *score, Py_ssize_t wanted) {
    const int64_t *allowed = q->arrays[ALLOWED].buf;
    int bins[BINS] = {0};
    for (Py_ssize_t i = 0; i < q->asked; i += SAMPLED) bins[bin_of(q, score_row(q, score, allowed ? allowed[i] : i))]++;
    return lowest_bin(bins, 2 * (wanted / SAMPLED + 1));
}

/* Write the rows with a score, from a bin on; return how many, or -1 where a number points outside. */
static Py_ssize_t collect(const Question *q, const float *score, int lowest, Row *rows) {
    const int64_t *allowed = q->arrays[ALLOWED].buf;
    Py_ssize_t count = 0;
    float floor = (float)lowest;
    for (Py_ssize_t i = 0; i < q->asked; i++) {
        int64_t row = allowed ? allowed[i] : i;
        float fused = score_row(q, score, row);
        if (fused < 0) return -1;
        if (fused * q->bins_per_score >= floor && fused > 0) rows[count++] = (Row){fused, (uint32_t)i}; /* few are: asked in this order */
    }
    return count;
}

/* Write the orders of the best rows, best first; return how many, at most `most`, or -1 where a number points outside. */
static Py_ssize_t find_best(const Question *q, const float *score, Row *rows, uint64_t *orders, Py_ssize_t most) {
    int bins[BINS] = {0}, lowest = guess_bin(q, score, most);
    Py_ssize_t count = collect(q, score, lowest, rows), kept = 0;
    if (count >= 0 && count < most && lowest > 0) count = collect(q, score, 0, rows); /* the guess was too high */
    for (Py_ssize_t i = 0; i < count; i++) bins[bin_of(q, rows[i].score)]++;
    lowest = lowest_bin(bins, most);
    for (Py_ssize_t i = 0; i < count; i++)
        if (bin_of(q, rows[i].score) >= lowest) rows[kept++] = rows[i];
    for (Py_ssize_t i = 0; i < kept; i++) orders[i] = order_of(falling(rows[i].score), rows[i].place);
    put_in_order(orders, kept);
    return count < 0 ? count : kept < most ? kept : most;
}

/* Borrow the arrays; -1 where they do not fit each other. */
static int read_question(PyObject *arguments, Question *q, Py_ssize_t *most) {
    Py_buffer *a = q->arrays;
    if (!PyArg_ParseTuple(arguments, "y*y*z*y*y*y*y*z*(ddff)n", &a[LEXICAL], &a[DENSE], &a[DEFINITION], &a[ROWS], &a[FILES],
                          &a[PATH], &a[PRIOR], &a[ALLOWED], &q->lexical, &q->dense, &q->definition, &q->path, most))
        return -1;
    q->chunks = count_of(&a[LEXICAL], 4), q->rows = count_of(&a[ROWS], 8), q->files = count_of(&a[PATH], 4);
    q->asked = a[ALLOWED].buf ? count_of(&a[ALLOWED], 8) : q->rows;
    int fit = q->chunks >= 0 && q->rows >= 0 && q->files >= 0 && q->asked >= 0 && a[DENSE].len == a[LEXICAL].len &&
              (!a[DEFINITION].buf || a[DEFINITION].len == a[LEXICAL].len) && a[FILES].len == q->rows * 4 &&
              a[PRIOR].len == a[PATH].len && *most > 0 && q->asked <= UINT32_MAX;
    if (!fit) PyErr_SetString(PyExc_ValueError, "arrays of signals do not fit each other");
    return fit ? 0 : -1;
}

/* candidates(lexical, dense, definition or None, rows, files, path, prior, allowed or None, what each counts, most)
   -> (rows, scores), best first */
PyObject *candidates(PyObject *Py_UNUSED(module), PyObject *arguments) {
    Question q = {0};
    Py_ssize_t most = 0, count = 0;
    PyObject *rows = NULL, *scores = NULL, *result = NULL;
    float *score = NULL, *value;
    int64_t *row;
    Row *best = NULL;
    uint64_t *orders = NULL;
    if (read_question(arguments, &q, &most)) goto done;
    score = malloc((size_t)(q.chunks + 1) * sizeof *score), best = malloc((size_t)(q.asked + 1) * sizeof *best);
    orders = malloc((size_t)(q.asked + 1) * sizeof *orders);
    if (!score || !best || !orders) { PyErr_NoMemory(); goto done; }
    q.bins_per_score = BINS / (float)(q.lexical + q.dense + (double)q.definition + (double)q.path); /* no score is higher */
    Py_BEGIN_ALLOW_THREADS
    score_chunks(&q, score);
    count = find_best(&q, score, best, orders, most);
    Py_END_ALLOW_THREADS
    if (count < 0) { PyErr_SetString(PyExc_ValueError, "a row is of a chunk or a file that there is not"); goto done; }
    if (!(rows = new_array(count, 8, &row)) || !(scores = new_array(count, 4, &value))) goto done;
    const int64_t *allowed = q.arrays[ALLOWED].buf;
    for (Py_ssize_t i = 0; i < count; i++) {
        uint32_t place = (uint32_t)orders[i], bits = ~(uint32_t)(orders[i] >> 32);
        row[i] = allowed ? allowed[place] : place;
        memcpy(&value[i], &bits, sizeof bits);
    }
    result = PyTuple_Pack(2, rows, scores);
done:
    Py_XDECREF(rows), Py_XDECREF(scores);
    free(score), free(best), free(orders), release(q.arrays, ARRAYS);
    return result;
}
