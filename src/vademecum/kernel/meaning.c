/* The vector of a question: the loops of `StaticEmbedder._questions` and `_head` (providers/embedders/static.py), for one text.

   Each element is summed in one order and nothing is taken from the mathematics library, so a question's vector has the same
   bits on every machine. The two matrices are read once, row by row, and each row is added to what the rows before came to: the
   compiler makes four sums at a time of that, and no sum is waited for. */

#include "kernel.h"
#include <math.h>

typedef struct {
    const int8_t *table;
    const float *weight, *bias;
    const void *w_in, *w_out; /* of as many bytes a number as `half` says */
    Py_ssize_t pieces, dim, hidden;
    int half;
} Model;

/* Add rows of a matrix, each times its factor, to `sums`; four rows at once, added one after the other. */
WIDE static void add_rows(const float *restrict matrix, const float *restrict factors, Py_ssize_t rows, Py_ssize_t width,
                     float *restrict sums) {
    Py_ssize_t i = 0;
    for (; i + 4 <= rows; i += 4, factors += 4, matrix += 4 * width)
        for (Py_ssize_t j = 0; j < width; j++)
            sums[j] = sums[j] + factors[0] * matrix[j] + factors[1] * matrix[width + j] + factors[2] * matrix[2 * width + j] +
                      factors[3] * matrix[3 * width + j];
    for (; i < rows; i++, factors++, matrix += width)
        for (Py_ssize_t j = 0; j < width; j++) sums[j] += *factors * matrix[j];
}

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#include <immintrin.h>

int has_halves(void) { /* asked of the processor: not every compiler knows F16C by name */
    unsigned int a, b, c, d;
    return __builtin_cpu_supports("avx2") && __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}

/* Do what `add_rows` does with numbers kept in half precision: half as much is read, and they are the same numbers. */
__attribute__((target("avx2,f16c"))) static void add_rows_of_halves(const uint16_t *matrix, const float *factors, Py_ssize_t rows,
                                                                     Py_ssize_t width, float *sums) {
    for (Py_ssize_t i = 0; i < rows; i += 4, factors += 4, matrix += 4 * width)
        for (Py_ssize_t j = 0; j < width; j += 8) {
            __m256 sum = _mm256_loadu_ps(sums + j);
            for (Py_ssize_t k = 0; k < 4; k++) {
                __m256 row = _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(matrix + k * width + j)));
                sum = _mm256_add_ps(sum, _mm256_mul_ps(_mm256_set1_ps(factors[k]), row));
            }
            _mm256_storeu_ps(sums + j, sum);
        }
}
#else
int has_halves(void) { return 0; }

static void add_rows_of_halves(const uint16_t *matrix, const float *factors, Py_ssize_t rows, Py_ssize_t width, float *sums) {
    (void)matrix, (void)factors, (void)rows, (void)width, (void)sums; /* nobody calls it */
}
#endif

static void add_layer(const Model *model, const void *matrix, const float *factors, Py_ssize_t rows, Py_ssize_t width, float *sums) {
    if (model->half) add_rows_of_halves(matrix, factors, rows, width, sums);
    else add_rows(matrix, factors, rows, width, sums);
}

/* tanh as a quotient of polynomials (as Eigen has it), two units of the last place from exact. */
static inline float tanh_of(float x) {
    x = x > 7.90531110763549805f ? 7.90531110763549805f : x < -7.90531110763549805f ? -7.90531110763549805f : x;
    float s = x * x;
    float p = -2.76076847742355e-16f;
    p = p * s + 2.00018790482477e-13f, p = p * s - 8.60467152213735e-11f, p = p * s + 5.12229709037114e-08f;
    p = p * s + 1.48572235717979e-05f, p = p * s + 6.37261928875436e-04f, p = p * s + 4.89352455891786e-03f;
    float q = 1.19825839466702e-06f;
    q = q * s + 1.18534705686654e-04f, q = q * s + 2.26843463243900e-03f, q = q * s + 4.89352518554385e-03f;
    return x * p / q;
}

WIDE static void gelu(float *restrict x, Py_ssize_t count) {
    for (Py_ssize_t j = 0; j < count; j++)
        x[j] *= 0.5f * (1 + tanh_of(0.7978845608f * x[j] * (1 + 0.044715f * x[j] * x[j])));
}

/* Divide by the length, if there is any; tell whether there was. */
static int normalise(float *x, Py_ssize_t count) {
    double square = 0;
    for (Py_ssize_t j = 0; j < count; j++) square += (double)x[j] * x[j];
    float length = (float)sqrt(square);
    if (!(length > 0)) return 0;
    for (Py_ssize_t j = 0; j < count; j++) x[j] /= length;
    return 1;
}

/* Sum the table's rows of pieces, which ascend, each as often as it is there; -1 where a piece is none. */
WIDE static int add_pieces(const Model *model, const int32_t *pieces, Py_ssize_t count, float *restrict bag) {
    for (Py_ssize_t i = 0, end; i < count; i = end) {
        if (pieces[i] < 0 || pieces[i] >= model->pieces) return -1;
        for (end = i + 1; end < count && pieces[end] == pieces[i]; end++) {}
        float weight = (float)(end - i) * model->weight[pieces[i]];
        const int8_t *restrict row = model->table + (Py_ssize_t)pieces[i] * model->dim;
        for (Py_ssize_t j = 0; j < model->dim; j++) bag[j] += weight * (float)row[j];
    }
    return 0;
}

/* Tell the sizes of a model by its arrays: table, weight, w_in, bias, w_out; -1 where they do not fit each other. */
static int read_model(const Py_buffer *arrays, Model *model) {
    Py_ssize_t pieces = count_of(&arrays[1], 4), hidden = count_of(&arrays[3], 4);
    if (pieces < 1 || hidden < 1 || arrays[0].len % pieces) return -1;
    Py_ssize_t dim = arrays[0].len / pieces, wide = dim * hidden * 4;
    int half = has_halves() && dim % 8 == 0 && hidden % 8 == 0 && arrays[2].len == wide / 2;
    if (dim < 1 || arrays[2].len != (half ? wide / 2 : wide) || arrays[4].len != arrays[2].len) return -1;
    *model = (Model){.table = arrays[0].buf, .weight = arrays[1].buf, .w_in = arrays[2].buf, .bias = arrays[3].buf,
                     .w_out = arrays[4].buf, .pieces = pieces, .dim = dim, .hidden = hidden, .half = half};
    return 0;
}

/* Write the vector of pieces; `bag` and `hidden` are room for the steps, zeros. -1 where a piece is none. */
static int make_vector(const Model *model, const int32_t *pieces, Py_ssize_t count, float scale, float *bag, float *hidden,
                       float *vector) {
    memset(vector, 0, (size_t)model->dim * 4);
    if (add_pieces(model, pieces, count, bag)) return -1;
    if (!normalise(bag, model->dim)) return 0; /* the bias says nothing of a text without a known piece */
    for (Py_ssize_t j = 0; j < model->dim; j++) vector[j] = bag[j] * scale;
    add_layer(model, model->w_in, vector, model->dim, model->hidden, hidden);
    for (Py_ssize_t j = 0; j < model->hidden; j++) hidden[j] += model->bias[j];
    gelu(hidden, model->hidden);
    memset(vector, 0, (size_t)model->dim * 4);
    add_layer(model, model->w_out, hidden, model->hidden, model->dim, vector);
    for (Py_ssize_t j = 0; j < model->dim; j++) vector[j] += bag[j];
    normalise(vector, model->dim);
    return 0;
}

/* question(table, weight, w_in, bias, w_out, pieces, scale of the head) -> vector */
PyObject *question(PyObject *Py_UNUSED(module), PyObject *arguments) {
    Py_buffer arrays[6] = {0};
    PyObject *made = NULL;
    float *room = NULL, *vector, scale;
    Model model;
    int outside;
    if (!PyArg_ParseTuple(arguments, "y*y*y*y*y*y*f", &arrays[0], &arrays[1], &arrays[2], &arrays[3], &arrays[4], &arrays[5],
                          &scale)) return NULL;
    Py_ssize_t count = count_of(&arrays[5], 4);
    if (count < 0 || read_model(arrays, &model)) {
        PyErr_SetString(PyExc_ValueError, "the arrays of a model do not fit each other");
        goto done;
    }
    if (!(made = new_array(model.dim, 4, &vector))) goto done;
    if (!(room = calloc((size_t)(model.dim + model.hidden), 4))) { Py_CLEAR(made); PyErr_NoMemory(); goto done; }
    Py_BEGIN_ALLOW_THREADS
    outside = make_vector(&model, arrays[5].buf, count, scale, room, room + model.dim, vector);
    Py_END_ALLOW_THREADS
    if (outside) { Py_CLEAR(made); PyErr_SetString(PyExc_ValueError, "a piece is not in the table"); }
done:
    free(room), release(arrays, 6);
    return made;
}
