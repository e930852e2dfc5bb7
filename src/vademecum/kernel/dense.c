/* The inner products of `retrieval/dense.py`: rows of whole numbers with a question. On processors with AVX2, where a row of 256
   takes 8 to 14 ns, the more the colder it is, a fifth of what SimSIMD takes; elsewhere SimSIMD does it. */

#include "kernel.h"

#include <math.h>

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

#define AHEAD 16 /* rows that are fetched before they are needed: one page of memory of 256 numbers each */

int has_products(void) { return __builtin_cpu_supports("avx2") != 0; }

/* Return the product of a row, int8 (dim,), with a question whose numbers were widened to int16. */
__attribute__((target("avx2"))) static int32_t product(const int8_t *row, const int16_t *question, Py_ssize_t dim) {
    __m256i even = _mm256_setzero_si256(), odd = even;
    Py_ssize_t i = 0;
    for (; i + 32 <= dim; i += 32) { /* two sums, so that an addition need not wait for the one before */
        __m256i low = _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(row + i)));
        __m256i high = _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(row + i + 16)));
        even = _mm256_add_epi32(even, _mm256_madd_epi16(low, _mm256_loadu_si256((const __m256i *)(question + i))));
        odd = _mm256_add_epi32(odd, _mm256_madd_epi16(high, _mm256_loadu_si256((const __m256i *)(question + i + 16))));
    }
    even = _mm256_add_epi32(even, odd);
    __m128i four = _mm_add_epi32(_mm256_castsi256_si128(even), _mm256_extracti128_si256(even, 1));
    four = _mm_hadd_epi32(four, four);
    int32_t sum = _mm_cvtsi128_si32(_mm_hadd_epi32(four, four));
    for (; i < dim; i++) sum += row[i] * question[i];
    return sum;
}

/* Add to the four sums of a row what 32 of its numbers give with those of the question, x. */
__attribute__((target("avx2"))) static inline __m256i added(__m256i sum, const int8_t *row, __m256i x) {
    __m256i numbers = _mm256_loadu_si256((const __m256i *)row);
    __m256i pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(numbers), _mm256_sign_epi8(x, numbers)); /* 128 * 127 * 2 fits */
    return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}

/* Put the products of four rows, `apart` numbers from each other, to found[0], found[step], ... The question is int8 (dim,). */
__attribute__((target("avx2"))) static void four_products(const int8_t *row, Py_ssize_t apart, const int8_t *question,
                                                          Py_ssize_t dim, int32_t *found) {
    const int8_t *rows[4] = {row, row + apart, row + 2 * apart, row + 3 * apart};
    __m256i a = _mm256_setzero_si256(), b = a, c = a, d = a;
    for (Py_ssize_t i = 0; i < dim; i += 32) {
        __m256i x = _mm256_loadu_si256((const __m256i *)(question + i));
        if (!(i & 32)) /* a line of each of them, which the processor does not fetch by itself across a page */
            for (int k = 0; k < 4; k++) _mm_prefetch((const char *)(rows[k] + i + AHEAD * dim), _MM_HINT_T1);
        a = added(a, rows[0] + i, x), b = added(b, rows[1] + i, x), c = added(c, rows[2] + i, x), d = added(d, rows[3] + i, x);
    }
    a = _mm256_hadd_epi32(_mm256_hadd_epi32(a, b), _mm256_hadd_epi32(c, d));
    _mm_storeu_si128((__m128i *)found, _mm_add_epi32(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1)));
}

/* Put the products of all rows to `found`. Four are read at once, a quarter of all apart: memory gives more to several readers. */
__attribute__((target("avx2"))) static void all_products(const int8_t *rows, const int8_t *question, const int16_t *wide,
                                                         Py_ssize_t count, Py_ssize_t dim, float *found) {
    int fits = dim % 32 == 0;
    for (Py_ssize_t i = 0; i < dim; i++) fits &= question[i] != INT8_MIN; /* which has no negative */
    Py_ssize_t quarter = fits ? count / 4 : 0;
    int32_t whole[4];
    for (Py_ssize_t i = 0; i < quarter; i++) {
        four_products(rows + i * dim, quarter * dim, question, dim, whole);
        for (int k = 0; k < 4; k++) found[k * quarter + i] = (float)whole[k];
    }
    for (Py_ssize_t i = 4 * quarter; i < count; i++) found[i] = (float)product(rows + i * dim, wide, dim);
}

/* Put the products of rows at some places to `found`; -1 where a place is outside. They are all over memory: each is asked for ahead. */
__attribute__((target("avx2"))) static int products_at(const int8_t *rows, const int64_t *places, const int16_t *wide,
                                                       Py_ssize_t count, Py_ssize_t most, Py_ssize_t dim, float *found) {
    for (Py_ssize_t i = 0; i < count; i++) {
        if ((uint64_t)places[i] >= (uint64_t)most) return -1;
        if (i + AHEAD < count && (uint64_t)places[i + AHEAD] < (uint64_t)most)
            for (Py_ssize_t at = 0; at < dim; at += 64)
                _mm_prefetch((const char *)(rows + places[i + AHEAD] * dim + at), _MM_HINT_T0);
        found[i] = (float)product(rows + places[i] * dim, wide, dim);
    }
    return 0;
}
#else
int has_products(void) { return 0; }

static int products_at(const int8_t *rows, const int64_t *places, const int16_t *wide, Py_ssize_t count, Py_ssize_t most,
                       Py_ssize_t dim, float *found) {
    (void)rows, (void)places, (void)wide, (void)count, (void)most, (void)dim, (void)found; /* nobody calls it */
    return -1;
}

static void all_products(const int8_t *rows, const int8_t *question, const int16_t *wide, Py_ssize_t count, Py_ssize_t dim,
                         float *found) {
    (void)rows, (void)question, (void)wide, (void)count, (void)dim, (void)found; /* nobody calls it */
}
#endif

/* products(rows, question, scales or None, scale) -> float32 per row: its product with the question, scaled if scales are given */
PyObject *products(PyObject *Py_UNUSED(module), PyObject *arguments) {
    Py_buffer arrays[3] = {0};
    PyObject *result = NULL;
    int16_t *wide = NULL;
    float scale, *found;
    if (!PyArg_ParseTuple(arguments, "y*y*z*f", &arrays[0], &arrays[1], &arrays[2], &scale)) return NULL;
    Py_ssize_t dim = arrays[1].len, count = dim ? arrays[0].len / dim : 0;
    if (!has_products() || count * dim != arrays[0].len || (arrays[2].buf && count_of(&arrays[2], 4) != count)) {
        PyErr_SetString(PyExc_ValueError, "vectors and scales do not fit each other, or this processor has no AVX2");
        goto done;
    }
    wide = malloc((size_t)(dim + 1) * sizeof *wide);
    if (!wide) { PyErr_NoMemory(); goto done; }
    for (Py_ssize_t i = 0; i < dim; i++) wide[i] = ((const int8_t *)arrays[1].buf)[i];
    if (!(result = new_array(count, sizeof *found, &found))) goto done;
    const float *scales = arrays[2].buf;
    Py_BEGIN_ALLOW_THREADS
    all_products(arrays[0].buf, arrays[1].buf, wide, count, dim, found);
    for (Py_ssize_t i = 0; scales && i < count; i++) found[i] = scales[i] * scale * found[i];
    Py_END_ALLOW_THREADS
done:
    free(wide);
    release(arrays, 3);
    return result;
}

/* quantised(vector) -> (int8 per number, float32 scale): the vector as whole numbers of at most 127, of which each is worth `scale` */
PyObject *quantised(PyObject *Py_UNUSED(module), PyObject *arguments) {
    Py_buffer vector = {0};
    PyObject *numbers = NULL, *worth = NULL, *result = NULL;
    int8_t *number;
    float *scale, most = 0;
    if (!PyArg_ParseTuple(arguments, "y*", &vector)) return NULL;
    Py_ssize_t dim = vector.len / (Py_ssize_t)sizeof(float);
    const float *values = vector.buf;
    if (!(numbers = new_array(dim, 1, &number)) || !(worth = new_array(1, sizeof *scale, &scale))) goto done;
    for (Py_ssize_t i = 0; i < dim; i++) most = fabsf(values[i]) > most ? fabsf(values[i]) : most;
    *scale = most / 127;
    for (Py_ssize_t i = 0; i < dim; i++) {
        float whole = rintf(values[i] / *scale);
        number[i] = whole >= -127 && whole <= 127 ? (int8_t)whole : 0; /* what is no number fails both */
    }
    result = PyTuple_Pack(2, numbers, worth);
done:
    Py_XDECREF(numbers), Py_XDECREF(worth);
    PyBuffer_Release(&vector);
    return result;
}

/* products_of(rows, places, question, scales, scale) -> float32 per place: the product of the row there with the question, scaled */
PyObject *products_of(PyObject *Py_UNUSED(module), PyObject *arguments) {
    enum { ROWS, PLACES, QUESTION, SCALES, ARRAYS };
    Py_buffer a[ARRAYS] = {0};
    PyObject *result = NULL;
    int16_t *wide = NULL;
    float scale, *found;
    int outside = -1;
    if (!PyArg_ParseTuple(arguments, "y*y*y*y*f", &a[ROWS], &a[PLACES], &a[QUESTION], &a[SCALES], &scale)) return NULL;
    Py_ssize_t dim = a[QUESTION].len, most = count_of(&a[SCALES], 4), count = count_of(&a[PLACES], 8);
    if (!has_products() || most < 0 || count < 0 || a[ROWS].len != most * dim) {
        PyErr_SetString(PyExc_ValueError, "vectors and scales do not fit each other, or this processor has no AVX2");
        goto done;
    }
    wide = malloc((size_t)(dim + 1) * sizeof *wide);
    if (!wide) { PyErr_NoMemory(); goto done; }
    for (Py_ssize_t i = 0; i < dim; i++) wide[i] = ((const int8_t *)a[QUESTION].buf)[i];
    if (!(result = new_array(count, sizeof *found, &found))) goto done;
    const int64_t *places = a[PLACES].buf;
    Py_BEGIN_ALLOW_THREADS
    outside = products_at(a[ROWS].buf, places, wide, count, most, dim, found);
    for (Py_ssize_t i = 0; !outside && i < count; i++) found[i] = ((const float *)a[SCALES].buf)[places[i]] * scale * found[i];
    Py_END_ALLOW_THREADS
    if (outside) { Py_CLEAR(result); PyErr_SetString(PyExc_ValueError, "a row is asked for that there is not"); }
done:
    free(wide), release(a, ARRAYS);
    return result;
}
