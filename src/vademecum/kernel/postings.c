/* Looking terms up in postings of any number of fields: `Postings.find` of `retrieval/postings.py`;
   and what of a question's weight is in each path: `path_share` of `retrieval/features.py`. */

#include "kernel.h"

enum { KEYS, OFFSETS, DOCS, TF, WANTED, ARRAYS };

/* Look up where the postings of each wanted term begin and end; return how many there are in all, -1 where one lies outside. */
static Py_ssize_t look_up(const Py_buffer *a, Py_ssize_t terms, Py_ssize_t postings, Py_ssize_t wanted, int64_t *ends) {
    Py_ssize_t total = 0;
    for (Py_ssize_t t = 0; t < wanted; t++) {
        Py_ssize_t slot = find_key(a[KEYS].buf, terms, ((const uint64_t *)a[WANTED].buf)[t]);
        int64_t begin = slot < 0 ? 0 : ((const int64_t *)a[OFFSETS].buf)[slot];
        int64_t end = slot < 0 ? 0 : ((const int64_t *)a[OFFSETS].buf)[slot + 1];
        if (begin < 0 || end < begin || end > postings) return -1;
        ends[2 * t] = begin, ends[2 * t + 1] = end;
        total += end - begin;
    }
    return total;
}

/* find(keys, offsets, docs, tf, wanted) -> (docs, tf, which of the wanted), those of each term following each other */
PyObject *find(PyObject *Py_UNUSED(module), PyObject *arguments) {
    Py_buffer a[ARRAYS] = {0};
    PyObject *made[3] = {0}, *result = NULL;
    int64_t *ends = NULL, *which;
    int32_t *docs;
    uint8_t *tf;
    if (!PyArg_ParseTuple(arguments, "y*y*y*y*y*", &a[KEYS], &a[OFFSETS], &a[DOCS], &a[TF], &a[WANTED])) return NULL;
    Py_ssize_t terms = count_of(&a[KEYS], 8), postings = count_of(&a[DOCS], 4), wanted = count_of(&a[WANTED], 8);
    Py_ssize_t fields = postings > 0 ? a[TF].len / postings : 0, total = -1, at = 0;
    if (!(ends = malloc((size_t)(2 * (wanted > 0 ? wanted : 0) + 1) * sizeof *ends))) { PyErr_NoMemory(); goto done; }
    if (terms >= 0 && postings >= 0 && wanted >= 0 && a[OFFSETS].len == (terms + 1) * 8 && a[TF].len == postings * fields)
        total = look_up(a, terms, postings, wanted, ends);
    if (total < 0) { PyErr_SetString(PyExc_ValueError, "arrays of postings do not fit each other"); goto done; }
    if (!(made[0] = new_array(total, 4, &docs)) || !(made[1] = new_array(total * fields, 1, &tf)) ||
        !(made[2] = new_array(total, 8, &which))) goto done;
    for (Py_ssize_t t = 0; t < wanted; t++) {
        size_t count = (size_t)(ends[2 * t + 1] - ends[2 * t]);
        memcpy(docs + at, (const int32_t *)a[DOCS].buf + ends[2 * t], count * 4);
        memcpy(tf + at * fields, (const uint8_t *)a[TF].buf + ends[2 * t] * fields, count * (size_t)fields);
        for (size_t i = 0; i < count; i++) which[at++] = t;
    }
    result = PyTuple_Pack(3, made[0], made[1], made[2]);
done:
    for (int i = 0; i < 3; i++) Py_XDECREF(made[i]);
    free(ends), release(a, ARRAYS);
    return result;
}

/* share_of_paths(keys, offsets, docs, tf, wanted, weight of each, paths, field of a file's own name, what a directory's counts)
   -> (share of the weight in each path, which of the wanted any path holds) */
PyObject *share_of_paths(PyObject *Py_UNUSED(module), PyObject *arguments) {
    Py_buffer a[ARRAYS + 1] = {0};
    PyObject *share = NULL, *known = NULL, *result = NULL;
    int64_t *ends = NULL;
    double *sums = NULL, directory, all = 0;
    Py_ssize_t paths, stem;
    float *value;
    uint8_t *is_known;
    if (!PyArg_ParseTuple(arguments, "y*y*y*y*y*y*nnd", &a[KEYS], &a[OFFSETS], &a[DOCS], &a[TF], &a[WANTED], &a[ARRAYS], &paths,
                          &stem, &directory)) return NULL;
    Py_ssize_t terms = count_of(&a[KEYS], 8), postings = count_of(&a[DOCS], 4), wanted = count_of(&a[WANTED], 8);
    Py_ssize_t fields = postings > 0 ? a[TF].len / postings : 0, total = -1;
    ends = malloc((size_t)(2 * (wanted > 0 ? wanted : 0) + 1) * sizeof *ends);
    sums = calloc((size_t)(paths > 0 ? paths : 0) + 1, sizeof *sums);
    if (!ends || !sums) { PyErr_NoMemory(); goto done; }
    if (terms >= 0 && postings >= 0 && wanted >= 0 && paths >= 0 && a[OFFSETS].len == (terms + 1) * 8 &&
        a[TF].len == postings * fields && a[ARRAYS].len == wanted * 8 && stem >= 0 && (stem < fields || !postings))
        total = look_up(a, terms, postings, wanted, ends);
    if (total < 0) { PyErr_SetString(PyExc_ValueError, "arrays of postings do not fit each other"); goto done; }
    if (!(share = new_array(paths, 4, &value)) || !(known = new_array(wanted, 1, &is_known))) goto done;
    for (Py_ssize_t t = 0; t < wanted; t++) {
        double weight = ((const double *)a[ARRAYS].buf)[t];
        all += weight, is_known[t] = ends[2 * t + 1] > ends[2 * t];
        for (int64_t i = ends[2 * t]; i < ends[2 * t + 1]; i++) {
            int32_t path = ((const int32_t *)a[DOCS].buf)[i];
            if (path < 0 || path >= paths) { PyErr_SetString(PyExc_ValueError, "postings name a path that there is not"); goto done; }
            sums[path] += weight * (((const uint8_t *)a[TF].buf)[i * fields + stem] ? 1 : directory);
        }
    }
    for (Py_ssize_t i = 0; i < paths; i++) value[i] = (float)(sums[i] / (all > 1e-9 ? all : 1e-9));
    result = PyTuple_Pack(2, share, known);
done:
    Py_XDECREF(share), Py_XDECREF(known);
    free(ends), free(sums), release(a, ARRAYS + 1);
    return result;
}
