/* The first step of ranking: all signals of each row taken together, and the best rows. `retrieval/rank.py` says what is
   computed (`of_chunks`, `_of_rows`), `retrieval/fusion.py` which rows are the best (`top`). */

#include "kernel.h"

#define ROOM 4 /* how many times as many rows as are wanted are held before the best are chosen */

enum { LEXICAL, DENSE, DEFINITION, ROWS, FILES, PATH, PRIOR, ALLOWED, ARRAYS };

typedef struct {
    Py_buffer arrays[ARRAYS];
    Py_ssize_t chunks, rows, files, asked; /* asked: how many rows are looked at */
    double lexical, dense;                 /* what each signal counts */
    float definition, path;
} Question;

/* Return the highest of some scores, 0 or more: eight maxima at a time, of which the compiler makes one instruction. */
WIDE static float highest_of(const float *score, Py_ssize_t chunks) {
    float lanes[8] = {0}, highest = 0;
    for (Py_ssize_t i = 0; i + 8 <= chunks; i += 8)
        for (int lane = 0; lane < 8; lane++) lanes[lane] = score[i + lane] > lanes[lane] ? score[i + lane] : lanes[lane];
    for (Py_ssize_t i = chunks - chunks % 8; i < chunks; i++) highest = score[i] > highest ? score[i] : highest;
    for (int lane = 0; lane < 8; lane++) highest = lanes[lane] > highest ? lanes[lane] : highest;
    return highest;
}

/* Write what words and meaning have of their highest, times what they count; scores below 0 count as 0. */
WIDE static void add_shares(const float *lexical, const float *dense, float words, float meaning, Py_ssize_t chunks, float *score) {
    for (Py_ssize_t i = 0; i < chunks; i++) {
        float word = lexical[i] * words, near = dense[i] * meaning;
        score[i] = (word > 0 ? word : 0) + (near > 0 ? near : 0);
    }
}

static float share_of(const float *score, double weight, Py_ssize_t chunks) {
    float highest = highest_of(score, chunks);
    return highest > 0 ? (float)(weight / (double)highest) : 0;
}

/* Write what is known of each chunk taken together, wherever it stands. */
static void score_chunks(const Question *q, float *score) {
    const float *lexical = q->arrays[LEXICAL].buf, *dense = q->arrays[DENSE].buf, *definition = q->arrays[DEFINITION].buf;
    add_shares(lexical, dense, share_of(lexical, q->lexical, q->chunks), share_of(dense, q->dense, q->chunks), q->chunks, score);
    if (definition)
        for (Py_ssize_t i = 0; i < q->chunks; i++) score[i] += q->definition * definition[i];
}

/* Move the `most` lowest of some orders, of which there are more, to the front; return the highest of these (Hoare's selection). */
static uint64_t keep_lowest(uint64_t *orders, Py_ssize_t count, Py_ssize_t most) {
    Py_ssize_t low = 0, high = count - 1, wanted = most - 1;
    while (low < high) {
        uint64_t pivot = orders[low + (high - low) / 2];
        Py_ssize_t i = low, j = high;
        while (i <= j) {
            while (orders[i] < pivot) i++;
            while (orders[j] > pivot) j--;
            if (i > j) break;
            uint64_t other = orders[i];
            orders[i++] = orders[j], orders[j--] = other;
        }
        if (wanted <= j) high = j; else if (wanted >= i) low = i; else break;
    }
    return orders[wanted];
}

/* Write the orders of the best rows with a score, best first; return how many, at most `most`, or -1 where a number points
   outside. `orders` has room for ROOM times as many: when it is full, the best are kept, and only better ones come in. */
static Py_ssize_t find_best(const Question *q, const float *score, uint64_t *orders, Py_ssize_t most) {
    const int64_t *allowed = q->arrays[ALLOWED].buf, *chunks = q->arrays[ROWS].buf;
    const int32_t *files = q->arrays[FILES].buf;
    const float *paths = q->arrays[PATH].buf, *priors = q->arrays[PRIOR].buf;
    Py_ssize_t count = 0;
    float floor = 0;
    for (Py_ssize_t i = 0; i < q->asked; i++) {
        int64_t row = allowed ? allowed[i] : i;
        if ((uint64_t)row >= (uint64_t)q->rows || (uint64_t)chunks[row] >= (uint64_t)q->chunks ||
            (uint32_t)files[row] >= (uint64_t)q->files) return -1;
        float fused = (score[chunks[row]] + q->path * paths[files[row]]) * priors[files[row]];
        if (!(fused > floor)) continue; /* of equals the earlier is kept */
        orders[count++] = order_of(falling(fused), i);
        if (count == ROOM * most) floor = score_of(keep_lowest(orders, count, most)), count = most;
    }
    if (count > most) keep_lowest(orders, count, most), count = most;
    put_in_order(orders, count);
    return count;
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
    uint64_t *orders = NULL;
    if (read_question(arguments, &q, &most)) goto done;
    if (most > q.asked) most = q.asked + 1; /* there is room for all */
    score = malloc((size_t)(q.chunks + 1) * sizeof *score), orders = malloc((size_t)(ROOM * most) * sizeof *orders);
    if (!score || !orders) { PyErr_NoMemory(); goto done; }
    Py_BEGIN_ALLOW_THREADS
    score_chunks(&q, score);
    count = find_best(&q, score, orders, most);
    Py_END_ALLOW_THREADS
    if (count < 0) { PyErr_SetString(PyExc_ValueError, "a row is of a chunk or a file that there is not"); goto done; }
    if (!(rows = new_array(count, 8, &row)) || !(scores = new_array(count, 4, &value))) goto done;
    const int64_t *allowed = q.arrays[ALLOWED].buf;
    for (Py_ssize_t i = 0; i < count; i++) {
        uint32_t place = (uint32_t)orders[i];
        row[i] = allowed ? allowed[place] : place;
        value[i] = score_of(orders[i]);
    }
    result = PyTuple_Pack(2, rows, scores);
done:
    Py_XDECREF(rows), Py_XDECREF(scores);
    free(score), free(orders), release(q.arrays, ARRAYS);
    return result;
}
