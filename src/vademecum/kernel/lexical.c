/* BM25F over postings: the loops of `retrieval/lexical.py`, which says what they compute and is what they are compared with. */

#include "kernel.h"
#include <math.h>

#define FIELDS 4
#define MADE 5 /* arrays that are returned */
#define BLOCK 2048 /* chunks whose scores are summed up at a time: so many sums stay near the processor */

typedef struct {
    const uint64_t *keys;
    const int64_t *offsets;
    const int32_t *docs;
    const uint8_t *tf;
    Py_ssize_t terms, postings;
    int32_t base; /* the number of its first document among those of all segments */
    Py_buffer held[4];
} Segment;

typedef struct {
    Py_ssize_t term, part; /* of the question; of the segments */
    Py_ssize_t begin, end; /* where its postings lie in the segment */
    Py_ssize_t next;       /* the first that is not yet added */
} Run;

static int read_segment(PyObject *item, Segment *segment) {
    int base;
    memset(segment, 0, sizeof *segment);
    Py_buffer *held = segment->held;
    if (!PyArg_ParseTuple(item, "y*y*y*y*i", &held[0], &held[1], &held[2], &held[3], &base)) return -1;
    segment->keys = held[0].buf, segment->terms = count_of(&held[0], 8);
    segment->offsets = held[1].buf;
    segment->docs = held[2].buf, segment->postings = count_of(&held[2], 4);
    segment->tf = held[3].buf, segment->base = base;
    if (segment->terms < 0 || segment->postings < 0 || count_of(&held[1], 8) != segment->terms + 1 ||
        held[3].len != segment->postings * FIELDS || base < 0) {
        PyErr_SetString(PyExc_ValueError, "arrays of postings do not fit each other");
        return -1;
    }
    return 0;
}

/* Write the runs of postings of each key, term by term and in it segment by segment; return how many runs, -1 if damaged. */
static Py_ssize_t find_runs(const Segment *segments, Py_ssize_t parts, const uint64_t *keys, Py_ssize_t terms, Run *runs) {
    Py_ssize_t count = 0;
    for (Py_ssize_t t = 0; t < terms; t++)
        for (Py_ssize_t part = 0; part < parts; part++) {
            const Segment *s = &segments[part];
            Py_ssize_t slot = find_key(s->keys, s->terms, keys[t]);
            if (slot < 0) continue;
            int64_t begin = s->offsets[slot], end = s->offsets[slot + 1];
            if (begin < 0 || end < begin || end > s->postings) return -1;
            if (begin < end && s->docs[begin] < 0) return -1; /* the others come after it, which is looked at as they are added */
            runs[count++] = (Run){t, part, begin, end, begin};
        }
    return count;
}

typedef struct {
    uint8_t *known;
    double *idf, *holding;
    float *score, *term_share;
    int64_t *runs; /* term, segment, begin and end of each */
} Found;

/* Count which rows hold each term; -1 where a document is none. */
static int count_holding(const Segment *segments, const Run *runs, Py_ssize_t count, const int64_t *copies, Py_ssize_t chunks,
                         double *holding) {
    for (const Run *run = runs; run < runs + count; run++) {
        const Segment *s = &segments[run->part];
        int64_t rows = copies ? 0 : run->end - run->begin;
        for (Py_ssize_t i = run->begin; copies && i < run->end; i++) {
            int64_t doc = (int64_t)s->docs[i] + s->base;
            if (doc < 0 || doc >= chunks) return -1;
            rows += copies[doc];
        }
        holding[run->term] += (double)rows;
    }
    return 0;
}

/* Add what the matches of a run are worth to the sums of a block's chunks; -1 where they are in no order. */
static int add_run(const float *norms, Py_ssize_t block, Py_ssize_t past, float k1, double idf, const Segment *s, Run *run,
                   double *sums) {
    const int32_t *docs = s->docs;
    Py_ssize_t i = run->next, before = block - 1;
    for (; i < run->end; i++) {
        Py_ssize_t doc = (Py_ssize_t)docs[i] + s->base;
        if (doc >= past) break;
        if (doc <= before) return -1;
        if (i + SOON < run->end) PREFETCH(norms + ((Py_ssize_t)docs[i + SOON] + s->base) * FIELDS); /* of nothing, if damaged */
        const float *norm = norms + doc * FIELDS;
        const uint8_t *tf = s->tf + i * FIELDS;
        float frequency = norm[0] * tf[0] + norm[1] * tf[1] + norm[2] * tf[2] + norm[3] * tf[3];
        sums[doc - block] += idf * (double)(frequency / (k1 + frequency));
        before = doc;
    }
    run->next = i;
    return 0;
}

/* Write what all matches of each chunk are worth; sums in double precision, in the order of the terms. -1 where a document is none. */
static int add_scores(const Segment *segments, const float *norms, Py_ssize_t chunks, Run *runs, Py_ssize_t count, float k1,
                      const Found *found) {
    for (Py_ssize_t block = 0; block < chunks; block += BLOCK) {
        double sums[BLOCK] = {0};
        Py_ssize_t past = chunks - block < BLOCK ? chunks : block + BLOCK;
        for (Run *run = runs; run < runs + count; run++)
            if (add_run(norms, block, past, k1, found->idf[run->term], &segments[run->part], run, sums)) return -1;
        for (Py_ssize_t i = block; i < past; i++) found->score[i] = (float)sums[i - block];
    }
    for (Py_ssize_t r = 0; r < count; r++) {
        if (runs[r].next < runs[r].end) return -1;
        int64_t *told = found->runs + 4 * r;
        told[0] = runs[r].term, told[1] = runs[r].part, told[2] = runs[r].begin, told[3] = runs[r].end;
    }
    return 0;
}

/* Tell the terms' idf, which of them any row holds, and what share of the idf of those that are asked for each has. */
static void weigh_terms(double rows, Py_ssize_t terms, Py_ssize_t asked, const Found *found) {
    double total = 0;
    for (Py_ssize_t t = 0; t < terms; t++) {
        found->idf[t] = log1p((rows - found->holding[t] + 0.5) / (found->holding[t] + 0.5));
        found->known[t] = found->holding[t] > 0;
        if (t < asked) total += found->idf[t];
    }
    for (Py_ssize_t t = 0; t < terms; t++)
        found->term_share[t] = t < asked ? (float)(found->idf[t] / (total > 1e-9 ? total : 1e-9)) : 0;
}

/* bm25f(segments, norms, copies or None, keys, asked, rows, k1) -> (score, idf, known, term_share, runs) */
PyObject *bm25f(PyObject *Py_UNUSED(module), PyObject *arguments) {
    PyObject *list, *made[MADE] = {0}, *result = NULL;
    Py_buffer arrays[3] = {0};
    Py_ssize_t asked, rows, parts, ready = 0, count;
    Found found = {0};
    float k1;
    if (!PyArg_ParseTuple(arguments, "O!y*z*y*nnf", &PyTuple_Type, &list, &arrays[0], &arrays[1], &arrays[2], &asked, &rows, &k1))
        return NULL;
    const int64_t *copies = arrays[1].obj ? arrays[1].buf : NULL;
    const uint64_t *keys = arrays[2].buf;
    Py_ssize_t chunks = count_of(&arrays[0], FIELDS * sizeof(float)), terms = count_of(&arrays[2], 8);
    parts = PyTuple_Size(list);
    Segment *segments = calloc((size_t)(parts ? parts : 1), sizeof *segments);
    Run *runs = calloc((size_t)(terms > 0 && parts ? terms * parts : 1), sizeof *runs);
    found.holding = calloc((size_t)(terms > 0 ? terms : 1), sizeof *found.holding);
    if (!segments || !runs || !found.holding) { PyErr_NoMemory(); goto done; }
    if (chunks < 0 || terms < 0 || (copies && count_of(&arrays[1], 8) != chunks)) {
        PyErr_SetString(PyExc_ValueError, "norms, copies and keys do not fit each other");
        goto done;
    }
    for (; ready < parts; ready++)
        if (read_segment(PyTuple_GetItem(list, ready), &segments[ready])) { ready++; goto done; }
    if ((count = find_runs(segments, parts, keys, terms, runs)) < 0) {
        PyErr_SetString(PyExc_ValueError, "postings begin or end outside");
        goto done;
    }
    if (!(made[0] = new_array(chunks, 4, &found.score)) || !(made[1] = new_array(terms, 8, &found.idf)) ||
        !(made[2] = new_array(terms, 1, &found.known)) || !(made[3] = new_array(terms, 4, &found.term_share)) ||
        !(made[4] = new_array(count * 4, 8, &found.runs))) goto done;
    int outside;
    Py_BEGIN_ALLOW_THREADS
    outside = count_holding(segments, runs, count, copies, chunks, found.holding);
    if (!outside) {
        weigh_terms((double)rows, terms, asked, &found);
        outside = add_scores(segments, arrays[0].buf, chunks, runs, count, k1, &found);
    }
    Py_END_ALLOW_THREADS
    if (outside) PyErr_SetString(PyExc_ValueError, "postings name a document that there is not, or in no order");
    else result = PyTuple_Pack(MADE, made[0], made[1], made[2], made[3], made[4]);
done:
    for (int i = 0; i < MADE; i++) Py_XDECREF(made[i]);
    for (Py_ssize_t i = 0; i < ready; i++) release(segments[i].held, 4);
    free(segments), free(runs), free(found.holding), release(arrays, 3);
    return result;
}
