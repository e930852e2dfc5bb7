/* The inner products of `retrieval/dense.py`: rows of whole numbers with a question. On processors with AVX2, where a row of 256
   takes 8 ns, a quarter of what SimSIMD takes; elsewhere SimSIMD does it. */

#include "kernel.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

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

__attribute__((target("avx2"))) static void all_products(const int8_t *rows, const int16_t *question, Py_ssize_t count,
                                                         Py_ssize_t dim, const float *scales, float scale, float *found) {
    for (Py_ssize_t i = 0; i < count; i++) {
        const int8_t *ahead = rows + (i + 16) * dim; /* the next page, which the processor does not fetch by itself */
        for (Py_ssize_t line = 0; i + 16 < count && line < dim; line += 64) _mm_prefetch((const char *)ahead + line, _MM_HINT_T0);
        float whole = (float)product(rows + i * dim, question, dim);
        found[i] = scales ? scales[i] * scale * whole : whole;
    }
}
#else
int has_products(void) { return 0; }

static void all_products(const int8_t *rows, const int16_t *question, Py_ssize_t count, Py_ssize_t dim, const float *scales,
                         float scale, float *found) {
    (void)rows, (void)question, (void)count, (void)dim, (void)scales, (void)scale, (void)found; /* nobody calls it */
}
#endif

/* products(rows, question, scales or None, scale) -> float32 per row: its product with the question, scaled if scales are given */
PyObject *products(PyObject *Py_UNUSED(module), PyObject *arguments) {
    Py_buffer arrays[3] = {0};
    PyObject *result = NULL;
    int16_t *question = NULL;
    float scale, *found;
    if (!PyArg_ParseTuple(arguments, "y*y*z*f", &arrays[0], &arrays[1], &arrays[2], &scale)) return NULL;
    Py_ssize_t dim = arrays[1].len, count = dim ? arrays[0].len / dim : 0;
    if (!has_products() || count * dim != arrays[0].len || (arrays[2].buf && count_of(&arrays[2], 4) != count)) {
        PyErr_SetString(PyExc_ValueError, "vectors and scales do not fit each other, or this processor has no AVX2");
        goto done;
    }
    question = malloc((size_t)(dim + 1) * sizeof *question);
    if (!question) { PyErr_NoMemory(); goto done; }
    for (Py_ssize_t i = 0; i < dim; i++) question[i] = ((const int8_t *)arrays[1].buf)[i];
    if (!(result = new_array(count, sizeof *found, &found))) goto done;
    Py_BEGIN_ALLOW_THREADS
    all_products(arrays[0].buf, question, count, dim, arrays[2].buf, scale, found);
    Py_END_ALLOW_THREADS
done:
    free(question);
    release(arrays, 3);
    return result;
}
