/* The second step of ranking: what is known of each candidate and of its file, weighed by the fitted model.
   `retrieval/candidates.py` (`describe`) and `retrieval/model.py` (`weigh`) say what is computed; names are theirs. */

#include "kernel.h"
#include <math.h>

enum { BODY, NAME, SIGNATURE, FIELDS = 4 };
/* PIECE_FEATURES and FILE_FEATURES without the kinds, whose weights are looked up */
enum { P_DENSE, P_COVERAGE, P_IN_NAME, P_DEFINITION, P_DEFINITION_OF_NAME, P_LENGTH, PIECE };
enum { F_FUSED, F_COVERAGE, F_IN_SIGNATURE, F_DENSE, F_DEFINITION, F_DEFINITION_OF_NAME, F_COHERENCE, F_BM25, F_PATH, WHOLE_FILE };
#define TOLD 11 /* lexical, dense, path, definition, prior, file, piece, worth, score, coverage, gain */

/* What goes in, in the order of the tuple, and how many bytes an element has. */
enum { ROWS, FUSED, LEXICAL, DENSE, DEFINITION, PATH, PRIOR, ROW_CHUNK, ROW_FILE, CONTENTS, FILE_CONTENT, LENGTHS, KINDS,
       FILE_LENGTHS, UNASKED, RUNS, RUN_SHARE, TERM_SHARE, PIECE_WORTH, KIND_WORTH, FILE_WORTH, UNASKED_WORTH,
       PATH_VECTORS, PATH_SCALES, WHOLE, ARRAYS };
static const size_t SIZES[ARRAYS] = {8, 4, 4, 4, 4, 4, 4, 8, 4, 4, 4, 4 * FIELDS, 1, 4, 1, 4 * 8, 4, 4, 4, 4, 4, 4, 1, 4, 1};

typedef struct { /* the postings of a segment, and the number of its first chunk */
    const int32_t *docs;
    const uint8_t *tf;
    Py_ssize_t postings, base;
    Py_buffer held[2];
} Part;

typedef struct {
    Py_buffer arrays[ARRAYS];
    Py_ssize_t counts[ARRAYS];
    Py_ssize_t contents, dim; /* one past the last content; of a path's vector */
    Part *part;
    Py_ssize_t parts;
    Py_ssize_t terms;         /* one past the last that has a share of the question */
    float scale;              /* of the question's vector */
    double novelty, k1, b;
    int is_bare, name_counts;
} Asked;

typedef struct {
    int64_t row, chunk, file;
    Py_ssize_t slot, held; /* its file's, and its chunk's place in `held` */
    float fused, coverage, in_name, in_signature, dense, definition, logit, share, score;
} Piece;

typedef struct {
    int64_t file;
    Py_ssize_t begin, end, read; /* its pieces; the slot whose BM25 it reads: another's where content stands at two paths */
    float best[F_COHERENCE], coherence, probable;
    double bm25;
} File;

typedef struct { /* a chunk that is a candidate, and what share of the question it holds */
    int64_t chunk;
    double coverage, in_name, in_signature;
} Held;

typedef struct {
    Piece *pieces;
    File *files;
    Held *held;
    uint64_t *orders; /* of the candidates, by file and by chunk; then by score */
    double *found;    /* how often each term is in each file */
    Py_ssize_t *held_at; /* of each candidate, in the order they came, its chunk's place in `held` */
    int32_t *slot_of; /* 1 + the slot of a content, 0 for those that are not looked at */
    Py_ssize_t count, slots, chunks;
} Pool;

#define AT(asked, which, type) ((const type *)(asked)->arrays[which].buf)

/* Group candidates by file, each file's in the order they came; -1 where a number points outside. */
static int group(const Asked *q, Pool *pool) {
    const int64_t *rows = AT(q, ROWS, int64_t), *row_chunk = AT(q, ROW_CHUNK, int64_t);
    const int32_t *row_file = AT(q, ROW_FILE, int32_t);
    uint64_t *by_file = pool->orders, *by_chunk = pool->orders + pool->count;
    for (Py_ssize_t i = 0; i < pool->count; i++) {
        if (rows[i] < 0 || rows[i] >= q->counts[ROW_CHUNK]) return -1;
        int64_t chunk = row_chunk[rows[i]], file = row_file[rows[i]];
        if (chunk < 0 || chunk >= q->counts[LEXICAL] || file < 0 || file >= q->counts[PATH]) return -1;
        by_file[i] = order_of((uint32_t)file, i), by_chunk[i] = order_of((uint32_t)chunk, i);
    }
    put_in_order(by_file, pool->count);
    put_in_order(by_chunk, pool->count);
    for (Py_ssize_t i = 0; i < pool->count; i++) { /* a chunk that stands at two paths is held once */
        int64_t chunk = (int64_t)(by_chunk[i] >> 32);
        if (!i || chunk != pool->held[pool->chunks - 1].chunk) pool->held[pool->chunks++] = (Held){.chunk = chunk};
        pool->held_at[(uint32_t)by_chunk[i]] = pool->chunks - 1;
    }
    for (Py_ssize_t i = 0; i < pool->count; i++) {
        Py_ssize_t place = (Py_ssize_t)(uint32_t)by_file[i];
        int64_t chunk = row_chunk[rows[place]], file = (int64_t)(by_file[i] >> 32);
        float fused = AT(q, FUSED, float)[place];
        if (!i || file != pool->files[pool->slots - 1].file) pool->files[pool->slots++] = (File){.file = file, .begin = i};
        File *own = &pool->files[pool->slots - 1];
        own->end = i + 1, own->coherence += fused;
        pool->pieces[i] = (Piece){.row = rows[place], .chunk = chunk, .file = file, .slot = pool->slots - 1, .held = pool->held_at[place], .fused = fused,
                                  .dense = AT(q, DENSE, float)[chunk], .definition = AT(q, DEFINITION, float)[chunk]};
    }
    return 0;
}

/* Give each file's content its slot; -1 where a number points outside. */
static int place_contents(const Asked *q, Pool *pool) {
    for (Py_ssize_t slot = 0; slot < pool->slots; slot++) {
        int32_t content = AT(q, FILE_CONTENT, int32_t)[pool->files[slot].file];
        if (content < 0 || content >= q->contents) return -1;
        pool->slot_of[content] = (int32_t)slot + 1;
    }
    for (Py_ssize_t slot = 0; slot < pool->slots; slot++)
        pool->files[slot].read = pool->slot_of[AT(q, FILE_CONTENT, int32_t)[pool->files[slot].file]] - 1;
    return 0;
}

/* Note a match in a file that is looked at, and in a chunk that is held, the first of which at or after it is `next`. */
static void note(const Asked *q, Pool *pool, Py_ssize_t slot, int64_t term, float share, int64_t chunk, const uint8_t *tf,
                 Py_ssize_t *next) {
    pool->found[slot * q->terms + term] += tf[BODY] + q->name_counts * (tf[NAME] > 0);
    while (*next < pool->chunks && pool->held[*next].chunk < chunk) ++*next;
    if (*next == pool->chunks || pool->held[*next].chunk != chunk) return;
    Held *held = &pool->held[*next];
    held->coverage += share;
    if (tf[NAME]) held->in_name += share;
    if (tf[SIGNATURE]) held->in_signature += share;
}

/* Count the matches in the files that are looked at, and what candidates hold of the question; -1 where one points outside. */
static int count_matches(const Asked *q, Pool *pool) {
    const int32_t *contents = AT(q, CONTENTS, int32_t);
    const int64_t *runs = AT(q, RUNS, int64_t);
    Py_ssize_t chunks = q->counts[LEXICAL];
    for (const int64_t *run = runs; run < runs + 4 * q->counts[RUNS]; run += 4) { /* term, part, begin and end */
        if (run[0] < 0 || run[1] < 0 || run[1] >= q->parts) return -1;
        const Part *part = &q->part[run[1]];
        if (run[2] < 0 || run[3] < run[2] || run[3] > part->postings) return -1;
        if (run[0] >= q->terms) continue;
        float share = AT(q, RUN_SHARE, float)[(run - runs) / 4];
        Py_ssize_t next = 0; /* the chunks of a run ascend, and so do those that are held */
        for (Py_ssize_t i = run[2]; i < run[3]; i++) {
            int64_t chunk = (int64_t)part->docs[i] + part->base;
            if (i + SOON < run[3]) PREFETCH(contents + (Py_ssize_t)part->docs[i + SOON] + part->base); /* of nothing, if damaged */
            if (chunk < 0 || chunk >= chunks || contents[chunk] < 0 || contents[chunk] >= q->contents) return -1;
            Py_ssize_t slot = pool->slot_of[contents[chunk]] - 1;
            if (slot >= 0) note(q, pool, slot, run[0], share, chunk, part->tf + i * FIELDS, &next);
        }
    }
    return 0;
}

/* BM25 of each file's chunks taken together. */
static void weigh_files_words(const Asked *q, Pool *pool) {
    float total = 0;
    const float *lengths = AT(q, FILE_LENGTHS, float), *share = AT(q, TERM_SHARE, float);
    Py_ssize_t terms = q->terms;
    for (Py_ssize_t slot = 0; slot < pool->slots; slot++) total += lengths[pool->files[slot].file];
    double mean = (double)total / (double)pool->slots;
    float slope = (float)(q->k1 * q->b / (mean > 1 ? mean : 1));
    for (Py_ssize_t slot = 0; slot < pool->slots; slot++) {
        float saturation = (float)(q->k1 * (1 - q->b)) + lengths[pool->files[slot].file] * slope;
        for (Py_ssize_t t = 0; t < terms; t++) {
            double count = pool->found[slot * terms + t];
            pool->files[slot].bm25 += count / (count + (double)saturation) * (double)share[t];
        }
    }
}

/* Give pieces what they hold of the question, and weigh them; give files the best that their pieces have. */
static void weigh_pieces(const Asked *q, Pool *pool) {
    const float *worth = AT(q, PIECE_WORTH, float);
    float highest = 0;
    for (Py_ssize_t i = 0; i < pool->count; i++) highest = pool->pieces[i].fused > highest ? pool->pieces[i].fused : highest;
    for (Py_ssize_t i = 0; i < pool->count; i++) {
        Piece *piece = &pool->pieces[i];
        File *file = &pool->files[piece->slot];
        const Held *held = &pool->held[piece->held];
        float named = q->is_bare ? piece->definition : 0, relative = highest > 0 ? piece->fused / highest : piece->fused;
        piece->coverage = (float)held->coverage, piece->in_name = (float)held->in_name;
        piece->in_signature = (float)held->in_signature;
        piece->logit = worth[P_DENSE] * piece->dense + worth[P_COVERAGE] * piece->coverage +
                       worth[P_IN_NAME] * piece->in_name + worth[P_DEFINITION] * piece->definition +
                       worth[P_DEFINITION_OF_NAME] * named +
                       worth[P_LENGTH] * log1pf(AT(q, LENGTHS, float)[piece->chunk * FIELDS + BODY]) +
                       AT(q, KIND_WORTH, float)[AT(q, KINDS, uint8_t)[piece->chunk]];
        const float known[F_COHERENCE] = {relative, piece->coverage, piece->in_signature, piece->dense, piece->definition, named};
        for (int f = 0; f < F_COHERENCE; f++)
            if (i == file->begin || known[f] > file->best[f]) file->best[f] = known[f];
    }
}

WIDE static float path_cosine(const Asked *q, int64_t file) {
    if (!q->arrays[PATH_SCALES].buf) return 0;
    float scale = AT(q, PATH_SCALES, float)[file];
    if (!q->arrays[PATH_VECTORS].buf) return scale; /* it is the cosine itself */
    const int8_t *vector = AT(q, PATH_VECTORS, int8_t) + file * q->dim, *whole = AT(q, WHOLE, int8_t);
    int32_t product = 0;
    for (Py_ssize_t i = 0; i < q->dim; i++) product += vector[i] * whole[i];
    return scale * q->scale * (float)product;
}

/* Tell how likely each file is what is asked for: a softmax over all. */
static void weigh_files(const Asked *q, Pool *pool) {
    const float *worth = AT(q, FILE_WORTH, float);
    float most_coherence = 0, highest = -INFINITY, total = 0;
    double most_bm25 = 0;
    for (const File *file = pool->files; file < pool->files + pool->slots; file++) {
        if (file->coherence > most_coherence) most_coherence = file->coherence;
        if (pool->files[file->read].bm25 > most_bm25) most_bm25 = pool->files[file->read].bm25;
    }
    for (File *file = pool->files; file < pool->files + pool->slots; file++) {
        double bm25 = pool->files[file->read].bm25;
        float logit = AT(q, UNASKED_WORTH, float)[AT(q, UNASKED, uint8_t)[file->file]];
        for (int f = 0; f < F_COHERENCE; f++) logit += worth[f] * file->best[f];
        logit += worth[F_COHERENCE] * (most_coherence > 0 ? file->coherence / most_coherence : file->coherence);
        logit += worth[F_BM25] * (float)(most_bm25 > 0 ? bm25 / most_bm25 : bm25);
        file->probable = logit + worth[F_PATH] * path_cosine(q, file->file);
        if (file->probable > highest) highest = file->probable;
    }
    for (File *file = pool->files; file < pool->files + pool->slots; file++)
        total += file->probable = expf(file->probable - highest);
    for (File *file = pool->files; file < pool->files + pool->slots; file++) file->probable /= total;
}

/* Tell what showing each piece is expected to gain: a softmax over those of its file. */
static void score_pieces(const Asked *q, Pool *pool) {
    for (const File *file = pool->files; file < pool->files + pool->slots; file++) {
        Piece *begin = &pool->pieces[file->begin], *end = &pool->pieces[file->end], *best = begin;
        float total = 0;
        for (Piece *piece = begin; piece < end; piece++)
            if (piece->logit > best->logit) best = piece; /* of equals the earlier */
        float highest = best->logit;
        for (Piece *piece = begin; piece < end; piece++) total += piece->share = expf(piece->logit - highest);
        for (Piece *piece = begin; piece < end; piece++) {
            piece->share /= total;
            piece->score = file->probable * (float)(1 - q->novelty) * piece->share;
        }
        best->score += (float)q->novelty * file->probable;
    }
    for (Py_ssize_t i = 0; i < pool->count; i++) pool->orders[i] = order_of(falling(pool->pieces[i].score), i);
    put_in_order(pool->orders, pool->count);
}

/* Write what is told of the pieces, best first, signal by signal. */
static void tell(const Asked *q, const Pool *pool, int64_t *rows, float *told) {
    float least = (float)(1 - q->novelty > 1e-3 ? 1 - q->novelty : 1e-3);
    for (Py_ssize_t i = 0; i < pool->count; i++) {
        const Piece *piece = &pool->pieces[(uint32_t)pool->orders[i]];
        float path = AT(q, PATH, float)[piece->file], covered = piece->coverage + path;
        float probable = pool->files[piece->slot].probable;
        const float values[TOLD] = {AT(q, LEXICAL, float)[piece->chunk], piece->dense, path, piece->definition,
                                    AT(q, PRIOR, float)[piece->file], probable, piece->share, probable * piece->share,
                                    piece->score, covered < 1 ? covered : 1, piece->score / least};
        rows[i] = piece->row;
        for (int t = 0; t < TOLD; t++) told[t * pool->count + i] = values[t];
    }
}

/* Look at the lengths of everything that goes in; -1 where they do not fit each other. */
static int check(Asked *q) {
    Py_ssize_t *n = q->counts;
    for (int i = 0; i < ARRAYS; i++) n[i] = count_of(&q->arrays[i], SIZES[i]);
    Py_ssize_t chunks = n[LEXICAL], files = n[PATH];
    int fit = n[FUSED] == n[ROWS] && n[ROW_FILE] == n[ROW_CHUNK] && n[DENSE] == chunks && n[DEFINITION] == chunks &&
              n[CONTENTS] == chunks && n[LENGTHS] == chunks && n[KINDS] == chunks && n[PRIOR] == files &&
              n[FILE_CONTENT] == files && n[FILE_LENGTHS] == files && n[UNASKED] == files && n[RUNS] >= 0 && n[RUN_SHARE] == n[RUNS] &&
              n[PIECE_WORTH] == PIECE && n[FILE_WORTH] == WHOLE_FILE &&
              n[KIND_WORTH] == 256 && n[UNASKED_WORTH] == 256 && (!q->arrays[PATH_SCALES].buf || n[PATH_SCALES] == files);
    q->dim = n[WHOLE];
    if (q->arrays[PATH_VECTORS].buf && (!q->arrays[PATH_SCALES].buf || n[PATH_VECTORS] != files * q->dim)) fit = 0;
    for (q->terms = n[TERM_SHARE]; fit && q->terms && !AT(q, TERM_SHARE, float)[q->terms - 1];) q->terms--;
    q->contents = fit && chunks ? (Py_ssize_t)AT(q, CONTENTS, int32_t)[chunks - 1] + 1 : 0;
    if (fit && q->contents >= 0) return 0;
    PyErr_SetString(PyExc_ValueError, "arrays of signals do not fit each other");
    return -1;
}

/* Describe, weigh and order the candidates; -1 where a number points outside. */
static int run(const Asked *q, Pool *pool) {
    if (group(q, pool) || place_contents(q, pool) || count_matches(q, pool)) return -1;
    weigh_files_words(q, pool);
    weigh_pieces(q, pool);
    weigh_files(q, pool);
    score_pieces(q, pool);
    return 0;
}

/* Borrow the postings of each segment; -1 where they are none. */
static int read_parts(PyObject *tuple, Asked *q) {
    q->part = calloc((size_t)PyTuple_Size(tuple) + 1, sizeof *q->part);
    if (!q->part) { PyErr_NoMemory(); return -1; }
    while (q->parts < PyTuple_Size(tuple)) {
        Part *part = &q->part[q->parts++];
        if (!PyArg_ParseTuple(PyTuple_GetItem(tuple, q->parts - 1), "y*y*n", &part->held[0], &part->held[1], &part->base)) return -1;
        part->docs = part->held[0].buf, part->tf = part->held[1].buf, part->postings = count_of(&part->held[0], 4);
        if (part->postings < 0 || part->held[1].len != part->postings * FIELDS || part->base < 0) {
            PyErr_SetString(PyExc_ValueError, "arrays of postings do not fit each other");
            return -1;
        }
    }
    return 0;
}

/* weigh(arrays, postings of each segment, scale of the question's vector, novelty, k1, b, what a name counts, is_bare) -> (rows, what is told of them) */
PyObject *weigh(PyObject *Py_UNUSED(module), PyObject *arguments) {
    Asked q = {0};
    Pool pool = {0};
    PyObject *tuple, *segments, *rows = NULL, *told = NULL, *result = NULL;
    int64_t *row;
    float *value;
    int outside;
    if (!PyArg_ParseTuple(arguments, "O!O!fdddip", &PyTuple_Type, &tuple, &PyTuple_Type, &segments, &q.scale, &q.novelty, &q.k1, &q.b, &q.name_counts,
                          &q.is_bare)) return NULL;
    if (borrow(tuple, q.arrays, ARRAYS) || read_parts(segments, &q) || check(&q)) goto done;
    size_t count = (size_t)(pool.count = q.counts[ROWS]), terms = (size_t)q.terms;
    pool.pieces = calloc(count + 1, sizeof *pool.pieces), pool.files = calloc(count + 1, sizeof *pool.files);
    pool.held = calloc(count + 1, sizeof *pool.held), pool.found = calloc(count * terms + 1, sizeof *pool.found);
    pool.slot_of = calloc((size_t)q.contents + 1, sizeof *pool.slot_of);
    pool.held_at = malloc((count + 1) * sizeof *pool.held_at);
    pool.orders = malloc((2 * count + 1) * sizeof *pool.orders);
    if (!pool.orders || !pool.held_at || !pool.pieces || !pool.files || !pool.held || !pool.found || !pool.slot_of) { PyErr_NoMemory(); goto done; }
    Py_BEGIN_ALLOW_THREADS
    outside = run(&q, &pool);
    Py_END_ALLOW_THREADS
    if (outside) { PyErr_SetString(PyExc_ValueError, "a signal is of a chunk, a file or a term that there is not"); goto done; }
    if (!(rows = new_array(pool.count, 8, &row)) || !(told = new_array(TOLD * pool.count, 4, &value))) goto done;
    tell(&q, &pool, row, value);
    result = PyTuple_Pack(2, rows, told);
done:
    Py_XDECREF(rows), Py_XDECREF(told);
    free(pool.pieces), free(pool.files), free(pool.held), free(pool.found), free(pool.held_at), free(pool.slot_of), free(pool.orders);
    release(q.arrays, ARRAYS);
    for (Py_ssize_t i = 0; i < q.parts; i++) release(q.part[i].held, 2);
    free(q.part);
    return result;
}
