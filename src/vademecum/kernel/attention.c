/* What the words of an intent find, and whom past traces speak for: the loops of `tools/texts.py` (`Texts.summed`) and of
   `tools/attention.py` (`attend`, with what it gives to capabilities and tools). */

#include "kernel.h"

#define MOST_KERNELS 8

/* summed(offsets, place, value, slots, factors or None, norms or None, scale, size) -> float32 (size,): the values of the postings
   of some terms, each times the factor of its term, summed by place and divided by the scale and the norm of the place */
PyObject *summed(PyObject *Py_UNUSED(module), PyObject *arguments) {
    Py_buffer a[6] = {0};
    Py_ssize_t size;
    double scale, *sums = NULL;
    float *found;
    PyObject *made = NULL;
    int outside = 1;
    if (!PyArg_ParseTuple(arguments, "y*y*y*y*z*z*dn", &a[0], &a[1], &a[2], &a[3], &a[4], &a[5], &scale, &size))
        return NULL;
    const int64_t *offsets = a[0].buf, *place = a[1].buf, *slots = a[3].buf;
    const float *value = a[2].buf, *factors = a[4].buf, *norms = a[5].buf;
    Py_ssize_t terms = count_of(&a[0], 8) - 1, postings = count_of(&a[1], 8), asked = count_of(&a[3], 8);
    if (terms < 0 || postings < 0 || asked < 0 || size < 0 || count_of(&a[2], 4) != postings ||
        (factors && count_of(&a[4], 4) != asked) || (norms && count_of(&a[5], 4) != size)) {
        PyErr_SetString(PyExc_ValueError, "postings, terms and norms do not fit each other");
        goto done;
    }
    if (!(sums = calloc((size_t)size + 1, sizeof *sums))) { PyErr_NoMemory(); goto done; }
    if (!(made = new_array(size, 4, &found))) goto done;
    Py_BEGIN_ALLOW_THREADS
    outside = 0;
    for (Py_ssize_t term = 0; term < asked && !outside; term++) {
        int64_t slot = slots[term];
        if (slot == terms) continue; /* nobody says it */
        outside = slot < 0 || slot > terms || offsets[slot] < 0 || offsets[slot + 1] > postings;
        float factor = factors ? factors[term] : 1;
        for (int64_t at = outside ? 0 : offsets[slot]; !outside && at < offsets[slot + 1]; at++) {
            outside = place[at] < 0 || place[at] >= size;
            if (!outside) sums[place[at]] += factor * value[at];
        }
    }
    for (Py_ssize_t i = 0; i < size; i++) found[i] = (float)(sums[i] / (norms ? scale * norms[i] : scale));
    Py_END_ALLOW_THREADS
    if (outside) PyErr_SetString(PyExc_ValueError, "postings name a place that there is not");
done:
    if (outside) Py_CLEAR(made);
    free(sums), release(a, 6);
    return made;
}

typedef struct {
    const float *kernels[MOST_KERNELS], *weight, *temperature;
    const int64_t *group, *start, *tool;
    Py_ssize_t count, traces, groups, members, tools;
    float *attention, *merged, *gathered;
} Spoken;

/* Write the attention that each trace gets by one kernel. */
WIDE static void attend_to(const float *kernel, const float *weight, float temperature, Py_ssize_t traces, float *found) {
    float highest = highest_among(kernel, traces);
    for (Py_ssize_t i = 0; i < traces; i++) found[i] = exponential((kernel[i] - highest) / temperature) * weight[i];
    float total = sum_of(found, traces);
    total = total > 1e-9f ? total : 1e-9f;
    for (Py_ssize_t i = 0; i < traces; i++) found[i] /= total;
}

/* Give attention to capabilities and to the tools that these call; -1 where a number points outside. */
static int give(const Spoken *s, Py_ssize_t kernel, double *sums) {
    const float *attention = s->attention + kernel * s->traces;
    float *merged = s->merged + kernel * s->groups, *gathered = s->gathered + kernel * s->tools;
    memset(sums, 0, (size_t)s->groups * sizeof *sums);
    for (Py_ssize_t i = 0; i < s->traces; i++) {
        int64_t group = s->group ? s->group[i] : i;
        if (group < 0 || group >= s->groups) return -1;
        sums[group] += attention[i];
    }
    for (Py_ssize_t i = 0; i < s->groups; i++) merged[i] = (float)sums[i];
    memset(sums, 0, (size_t)s->tools * sizeof *sums);
    for (Py_ssize_t i = 0; i < s->groups; i++) {
        if (s->start[i] < 0 || s->start[i + 1] > s->members) return -1;
        for (int64_t at = s->start[i]; at < s->start[i + 1]; at++) {
            if (s->tool[at] < 0 || s->tool[at] >= s->tools) return -1;
            sums[s->tool[at]] += merged[i];
        }
    }
    for (Py_ssize_t i = 0; i < s->tools; i++) gathered[i] = (float)sums[i];
    return 0;
}

/* Borrow the kernels, and see that all arrays fit each other; -1 where they do not. */
static int read_kernels(PyObject *list, const Py_buffer *a, Py_buffer *kernels, Spoken *s) {
    s->weight = a[0].buf, s->temperature = a[1].buf, s->group = a[2].obj ? a[2].buf : NULL;
    s->start = a[3].buf, s->tool = a[4].buf;
    s->count = PyTuple_Size(list), s->traces = count_of(&a[0], 4), s->groups = count_of(&a[3], 8) - 1;
    s->members = count_of(&a[4], 8);
    int fit = s->count <= MOST_KERNELS && s->traces >= 0 && s->groups >= 0 && s->members >= 0 && s->tools >= 0 &&
              count_of(&a[1], 4) == s->count && (a[2].obj ? count_of(&a[2], 8) == s->traces : s->traces == s->groups);
    if (fit && borrow(list, kernels, s->count)) return -1;
    for (Py_ssize_t i = 0; fit && i < s->count; i++)
        fit = kernels[i].obj && count_of(&kernels[i], 4) == s->traces, s->kernels[i] = kernels[i].buf;
    if (!fit) PyErr_SetString(PyExc_ValueError, "kernels, traces and capabilities do not fit each other");
    return fit ? 0 : -1;
}

/* attend(kernels, weight, temperatures, capability or None, trace_start, member_tool, tools) -> (attention, merged, gathered) */
PyObject *attend(PyObject *Py_UNUSED(module), PyObject *arguments) {
    PyObject *list, *made[3] = {0}, *result = NULL;
    Py_buffer a[5] = {0}, kernels[MOST_KERNELS] = {0};
    Spoken s = {0};
    double *sums = NULL;
    if (!PyArg_ParseTuple(arguments, "O!y*y*z*y*y*n", &PyTuple_Type, &list, &a[0], &a[1], &a[2], &a[3], &a[4], &s.tools)) return NULL;
    if (read_kernels(list, a, kernels, &s)) goto done;
    sums = calloc((size_t)(s.groups > s.tools ? s.groups : s.tools) + 1, sizeof *sums);
    if (!sums) { PyErr_NoMemory(); goto done; }
    if (!(made[0] = new_array(s.count * s.traces, 4, &s.attention)) || !(made[1] = new_array(s.count * s.groups, 4, &s.merged)) ||
        !(made[2] = new_array(s.count * s.tools, 4, &s.gathered))) goto done;
    int outside = 0;
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t i = 0; i < s.count && !outside; i++) {
        attend_to(s.kernels[i], s.weight, s.temperature[i], s.traces, s.attention + i * s.traces);
        outside = give(&s, i, sums);
    }
    Py_END_ALLOW_THREADS
    if (outside) PyErr_SetString(PyExc_ValueError, "traces name a capability or a tool that there is not");
    else result = PyTuple_Pack(3, made[0], made[1], made[2]);
done:
    for (int i = 0; i < 3; i++) Py_XDECREF(made[i]);
    free(sums), release(kernels, MOST_KERNELS), release(a, 5);
    return result;
}
