/* What the files of the kernel share: how arrays come in and go out, and the functions that `module.c` names.

   Arrays are borrowed as buffers, so nothing is copied and numpy is not needed to compile. Their lengths are compared and the
   numbers in them that are used as places are looked at, since indexes are files that anything may have written to: what does
   not fit is a ValueError, never a read outside. Loops run without the interpreter's lock. */

#ifndef VADEMECUM_KERNEL_H
#define VADEMECUM_KERNEL_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define REVISION 8 /* to be raised, here and in `__init__.py`, whenever a function takes or returns something else */

/* A function of which there is a second version for processors with AVX2, chosen when the module is loaded: eight numbers at a
   time instead of four, each with the same bits. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__GLIBC__)
#define WIDE __attribute__((target_clones("avx2", "default")))
#else
#define WIDE
#endif

/* Ask for what is read soon, SOON steps from now, where the processor cannot guess it. */
#define SOON 16
#if defined(__GNUC__)
#define PREFETCH(place) __builtin_prefetch(place)
#else
#define PREFETCH(place) ((void)(place))
#endif

/* How many elements of `size` bytes a buffer holds; -1 where that is no whole number. */
static inline Py_ssize_t count_of(const Py_buffer *array, size_t size) {
    return array->len % (Py_ssize_t)size ? -1 : array->len / (Py_ssize_t)size;
}

/* Return `count` new elements to be filled, and where they lie. */
static inline PyObject *new_array(Py_ssize_t count, size_t size, void *place) {
    PyObject *made = PyByteArray_FromStringAndSize(NULL, count * (Py_ssize_t)size);
    if (made) *(void **)place = PyByteArray_AsString(made);
    return made;
}

/* Borrow each array of a tuple; what is None stays empty. -1 where one is neither. */
static inline int borrow(PyObject *tuple, Py_buffer *arrays, Py_ssize_t count) {
    if (!PyTuple_Check(tuple) || PyTuple_Size(tuple) != count) {
        PyErr_SetString(PyExc_ValueError, "another number of arrays is needed");
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *item = PyTuple_GetItem(tuple, i);
        if (item != Py_None && PyObject_GetBuffer(item, &arrays[i], PyBUF_SIMPLE)) return -1;
    }
    return 0;
}

/* What is put in order is told apart by whole numbers alone: the first half is what counts, the second the place it has. */
static inline uint64_t order_of(uint32_t value, Py_ssize_t place) { return (uint64_t)value << 32 | (uint32_t)place; }

/* A score, 0 or more, as a number that is the lower the higher it is. */
static inline uint32_t falling(float score) {
    uint32_t bits;
    memcpy(&bits, &score, sizeof bits);
    return ~bits;
}

/* The score that an order was made of. */
static inline float score_of(uint64_t order) {
    uint32_t bits = ~(uint32_t)(order >> 32);
    float score;
    memcpy(&score, &bits, sizeof score);
    return score;
}

/* The logarithm of positive numbers, each and one more number, to the last place or the one before it: Cephes' `logf` without its
   branches, so that several are worked out at a time. */
static inline float logarithm(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    int32_t power = (int32_t)(bits - 0x3f3504f3u) >> 23; /* of two, so that what remains is between the roots of 1/2 and of 2 */
    bits -= (uint32_t)power << 23;
    float rest;
    memcpy(&rest, &bits, sizeof rest);
    float r = rest - 1.0f, square = r * r, whole = (float)power;
    float p = 7.0376836292e-2f;
    p = p * r - 1.1514610310e-1f;
    p = p * r + 1.1676998740e-1f;
    p = p * r - 1.2420140846e-1f;
    p = p * r + 1.4249322787e-1f;
    p = p * r - 1.6668057665e-1f;
    p = p * r + 2.0000714765e-1f;
    p = p * r - 2.4999993993e-1f;
    p = p * r + 3.3333331174e-1f;
    float found = p * r * square + whole * -2.12194440e-4f - 0.5f * square;
    return r + found + whole * 0.693359375f;
}

/* The exponential of numbers that are 0 or less, the same way; 0 for those below -87. Whole numbers are compared, since compilers
   do not work out several at a time where a comparison could raise an exception. */
static inline float exponential(float x) {
    uint32_t bits, far = 0xc2ae0000u; /* -87; what is lower has more bits */
    memcpy(&bits, &x, sizeof bits);
    bits |= 0x80000000u; /* of 0 too; what is no number is far */
    uint32_t is_near = bits <= far, near_bits = is_near ? bits : far;
    memcpy(&x, &near_bits, sizeof x);
    int32_t power = (int32_t)(x * 1.44269504089f - 0.5f);
    float whole = (float)power, r = x - whole * 0.693359375f + whole * 2.12194440e-4f;
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    bits = is_near ? ((uint32_t)power + 127) << 23 : 0;
    float two;
    memcpy(&two, &bits, sizeof two);
    return (p * r * r + r + 1.0f) * two;
}

#define LANES 8 /* numbers side by side, so that one need not wait for the one before */

static inline float highest_among(const float *values, Py_ssize_t count) {
    float most[LANES];
    Py_ssize_t whole = count - count % LANES;
    for (int lane = 0; lane < LANES; lane++) most[lane] = count ? values[0] : 0;
    for (Py_ssize_t i = 0; i < whole; i += LANES)
        for (int lane = 0; lane < LANES; lane++) most[lane] = values[i + lane] > most[lane] ? values[i + lane] : most[lane];
    for (Py_ssize_t i = whole; i < count; i++) most[0] = values[i] > most[0] ? values[i] : most[0];
    for (int lane = 1; lane < LANES; lane++) most[0] = most[lane] > most[0] ? most[lane] : most[0];
    return most[0];
}

static inline float sum_of(const float *values, Py_ssize_t count) {
    double totals[LANES] = {0};
    Py_ssize_t whole = count - count % LANES;
    for (Py_ssize_t i = 0; i < whole; i += LANES)
        for (int lane = 0; lane < LANES; lane++) totals[lane] += values[i + lane];
    for (Py_ssize_t i = whole; i < count; i++) totals[0] += values[i];
    for (int lane = 1; lane < LANES; lane++) totals[0] += totals[lane];
    return (float)totals[0];
}

void put_in_order(uint64_t *orders, Py_ssize_t count);

/* Return the place of a key among ascending ones, or -1. */
static inline Py_ssize_t find_key(const uint64_t *keys, Py_ssize_t count, uint64_t key) {
    Py_ssize_t low = 0, high = count;
    while (low < high) {
        Py_ssize_t middle = low + (high - low) / 2;
        if (keys[middle] < key) low = middle + 1; else high = middle;
    }
    return low < count && keys[low] == key ? low : -1;
}

static inline void release(Py_buffer *arrays, int count) {
    for (int i = 0; i < count; i++)
        if (arrays[i].obj) PyBuffer_Release(&arrays[i]);
}

/* The functions that Python sees. */
PyObject *add_matches(PyObject *module, PyObject *arguments);
PyObject *bags(PyObject *module, PyObject *arguments);
PyObject *after_of(PyObject *module, PyObject *arguments);
PyObject *bm25f(PyObject *module, PyObject *arguments);
PyObject *candidates(PyObject *module, PyObject *arguments);
PyObject *count_runs(PyObject *module, PyObject *arguments);
PyObject *after(PyObject *module, PyObject *arguments);
PyObject *attend(PyObject *module, PyObject *arguments);
PyObject *grown(PyObject *module, PyObject *arguments);
int has_halves(void);
int has_products(void);
PyObject *products(PyObject *module, PyObject *arguments);
PyObject *products_of(PyObject *module, PyObject *arguments);
PyObject *quantised(PyObject *module, PyObject *arguments);
PyObject *find(PyObject *module, PyObject *arguments);
PyObject *question(PyObject *module, PyObject *arguments);
PyObject *rows_of(PyObject *module, PyObject *arguments);
PyObject *run_table(PyObject *module, PyObject *arguments);
PyObject *share_of_paths(PyObject *module, PyObject *arguments);
PyObject *scores(PyObject *module, PyObject *arguments);
PyObject *score_sessions(PyObject *module, PyObject *arguments);
PyObject *spans(PyObject *module, PyObject *arguments);
PyObject *stopping(PyObject *module, PyObject *arguments);
PyObject *summed(PyObject *module, PyObject *arguments);
PyObject *weigh(PyObject *module, PyObject *arguments);

#endif
