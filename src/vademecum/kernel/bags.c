/* Bags of pieces: the loop of `StaticEmbedder._bags` (providers/embedders/static.py), for many texts.

   Rows are added in the order in which `np.add.reduceat` adds them, so that a text's vector has the same bits without a compiler:
   the first is added to the sum of the others, and of these every eighth goes to one of eight sums. */

#include "kernel.h"

#define STRIP 64 /* columns at a time: eight sums of them stay in the nearest cache */
#define BLOCK 128 /* rows above which two halves are added */

typedef struct {
    const int8_t *table;
    const int64_t *pieces;
    const float *weights;
    Py_ssize_t rows, dim;
} Bag;

/* Add a piece's row of the table, times its weight, to `sum`. */
static inline void add_row(const Bag *bag, Py_ssize_t at, Py_ssize_t column, Py_ssize_t width, float *restrict sum) {
    const int8_t *restrict row = bag->table + bag->pieces[at] * bag->dim + column;
    float weight = bag->weights[at];
    for (Py_ssize_t j = 0; j < width; j++) sum[j] += weight * (float)row[j];
}

/* Sum `count` rows from `at` on into `sum`, which may hold anything. */
WIDE static void sum_rows(const Bag *bag, Py_ssize_t at, Py_ssize_t count, Py_ssize_t column, Py_ssize_t width, float *sum) {
    float sums[8][STRIP];
    if (count > BLOCK) {
        Py_ssize_t half = count / 2 - count / 2 % 8;
        sum_rows(bag, at, half, column, width, sum);
        sum_rows(bag, at + half, count - half, column, width, sums[0]);
        for (Py_ssize_t j = 0; j < width; j++) sum[j] += sums[0][j];
        return;
    }
    for (int k = 0; k < 8; k++)
        for (Py_ssize_t j = 0; j < STRIP; j++) sums[k][j] = -0.0f; /* which changes no number that is added to it */
    Py_ssize_t whole = count - count % 8, i = 0;
    for (; i < whole; i++) add_row(bag, at + i, column, width, sums[i % 8]);
    for (Py_ssize_t j = 0; j < width; j++)
        sum[j] = ((sums[0][j] + sums[1][j]) + (sums[2][j] + sums[3][j])) + ((sums[4][j] + sums[5][j]) + (sums[6][j] + sums[7][j]));
    for (; i < count; i++) add_row(bag, at + i, column, width, sum);
}

/* Sum the rows of one text. */
static void sum_text(const Bag *bag, Py_ssize_t at, Py_ssize_t count, float *into) {
    float sum[STRIP];
    for (Py_ssize_t column = 0; column < bag->dim; column += STRIP) {
        Py_ssize_t width = bag->dim - column < STRIP ? bag->dim - column : STRIP;
        sum_rows(bag, at + 1, count - 1, column, width, sum);
        for (Py_ssize_t j = 0; j < width; j++) into[column + j] = -0.0f;
        add_row(bag, at, column, width, into + column);
        if (count > 1)
            for (Py_ssize_t j = 0; j < width; j++) into[column + j] += sum[j];
    }
}

/* Sum the rows of each text; -1 where a number is no text's or no piece's, or texts do not ascend. */
static int sum_all(const Bag *bag, const int64_t *texts, Py_ssize_t count, Py_ssize_t number, float *into) {
    for (Py_ssize_t i = 0; i < count; i++)
        if (texts[i] < (i ? texts[i - 1] : 0) || texts[i] >= number || bag->pieces[i] < 0 || bag->pieces[i] >= bag->rows) return -1;
    for (Py_ssize_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && texts[end] == texts[i]; end++) {}
        sum_text(bag, i, end - i, into + texts[i] * bag->dim);
    }
    return 0;
}

/* bags(table, dim, texts, pieces, weights, number of texts) -> sums, float32 (number, dim) */
PyObject *bags(PyObject *Py_UNUSED(module), PyObject *arguments) {
    Py_buffer arrays[4] = {0};
    PyObject *made = NULL;
    Py_ssize_t dim, number;
    float *into;
    int outside = -1;
    if (!PyArg_ParseTuple(arguments, "y*ny*y*y*n", &arrays[0], &dim, &arrays[1], &arrays[2], &arrays[3], &number)) return NULL;
    Py_ssize_t count = count_of(&arrays[1], 8);
    if (dim < 1 || arrays[0].len % dim || count < 0 || count_of(&arrays[2], 8) != count || count_of(&arrays[3], 4) != count ||
        number < 0 || number > PY_SSIZE_T_MAX / 4 / dim) {
        PyErr_SetString(PyExc_ValueError, "the arrays of bags do not fit each other");
        goto done;
    }
    Bag bag = {arrays[0].buf, arrays[2].buf, arrays[3].buf, arrays[0].len / dim, dim};
    if (!(made = new_array(number * dim, 4, &into))) goto done;
    Py_BEGIN_ALLOW_THREADS
    memset(into, 0, (size_t)(number * dim) * 4);
    outside = sum_all(&bag, arrays[1].buf, count, number, into);
    Py_END_ALLOW_THREADS
    if (outside) { Py_CLEAR(made); PyErr_SetString(PyExc_ValueError, "a piece is not in the table, or a text none"); }
done:
    release(arrays, 4);
    return made;
}
