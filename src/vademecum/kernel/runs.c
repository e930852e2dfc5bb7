/* Counting the runs of texts: the loops of `text.RunTable`, which says what is counted and is what they are compared with.

   A table remembers each run it has met, as bytes of UTF-8, with the numbers (codes) it stands for. Whoever writes a text chooses
   its runs, so they are hashed with a key that nobody knows (SipHash-1-3), as Python does with strings. */

#include "kernel.h"

#define NAME "vademecum.runs"
#define FULL 2 / 3 /* of the slots are taken when there are to be more */

typedef struct {
    uint32_t tag; /* the upper half of the hash; the lower one is where to look first */
    uint32_t run; /* 0 where the slot is free, else the run's number, from 1 */
} Slot;

typedef struct {
    uint64_t key[2];
    Slot *slots;
    size_t mask, runs, room; /* slots less one; runs in the table, and how many there is room for in the next two */
    size_t *ends, *begins;   /* where each run ends among the bytes, and where its codes begin; ends[0] and begins[0] are 0 */
    char *bytes;
    size_t bytes_room;
    uint32_t *codes, *counts, *touched; /* of the runs, one after the other; of each code in this text; codes that are in it */
    size_t codes_room, known, known_room;
    int busy;
} Table;

typedef struct {
    int64_t *rows; /* text, code, count */
    size_t count, room;
} Found;

/* Make room for at least `least` elements, so that adding one after the other copies each but a few times. -1 without memory. */
static int grow(void *place, size_t *room, size_t least, size_t size) {
    if (least <= *room) return 0;
    size_t more = *room * 2 > least ? *room * 2 : least + 64;
    void *bigger = more > SIZE_MAX / 2 / size ? NULL : realloc(*(void **)place, more * size);
    if (!bigger) return -1;
    *(void **)place = bigger;
    *room = more;
    return 0;
}

static inline uint64_t rotated(uint64_t x, int by) { return x << by | x >> (64 - by); }

static inline void mix(uint64_t *v) {
    v[0] += v[1], v[2] += v[3], v[1] = rotated(v[1], 13) ^ v[0], v[3] = rotated(v[3], 16) ^ v[2], v[0] = rotated(v[0], 32);
    v[2] += v[1], v[0] += v[3], v[1] = rotated(v[1], 17) ^ v[2], v[3] = rotated(v[3], 21) ^ v[0], v[2] = rotated(v[2], 32);
}

static uint64_t hash_of(const uint64_t *key, const char *run, size_t length) {
    uint64_t v[4] = {key[0] ^ 0x736f6d6570736575u, key[1] ^ 0x646f72616e646f6du, key[0] ^ 0x6c7967656e657261u,
                     key[1] ^ 0x7465646279746573u};
    size_t at = 0;
    for (uint64_t word; at + 8 <= length; at += 8) {
        memcpy(&word, run + at, 8);
        v[3] ^= word, mix(v), v[0] ^= word;
    }
    uint64_t last = (uint64_t)length << 56;
    for (size_t i = 0; at + i < length; i++) last |= (uint64_t)(uint8_t)run[at + i] << (8 * i);
    v[3] ^= last, mix(v), v[0] ^= last;
    v[2] ^= 0xff, mix(v), mix(v), mix(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* Return the slot that holds a run, or the free one where it belongs. */
static Slot *slot_of(const Table *table, uint64_t hash, const char *run, size_t length) {
    for (size_t at = (size_t)hash & table->mask;; at = (at + 1) & table->mask) {
        Slot *slot = &table->slots[at];
        if (!slot->run) return slot;
        size_t begin = table->ends[slot->run - 1];
        if (slot->tag == hash >> 32 && table->ends[slot->run] - begin == length && !memcmp(table->bytes + begin, run, length))
            return slot;
    }
}

/* Twice as many slots, the runs at their places among them. */
static int rehash(Table *table) {
    size_t mask = table->mask * 2 + 1;
    Slot *slots = calloc(mask + 1, sizeof *slots);
    if (!slots) return -1;
    free(table->slots);
    table->slots = slots, table->mask = mask;
    for (size_t run = 1; run <= table->runs; run++) {
        const char *bytes = table->bytes + table->ends[run - 1];
        size_t length = table->ends[run] - table->ends[run - 1];
        uint64_t hash = hash_of(table->key, bytes, length);
        *slot_of(table, hash, bytes, length) = (Slot){(uint32_t)(hash >> 32), (uint32_t)run};
    }
    return 0;
}

/* Put the codes that `expand` gives of a run at the end of the codes. Returns how many there are then, or -1 with an error set. */
static Py_ssize_t add_codes(Table *table, PyObject *expand, const char *run, size_t length) {
    size_t end = table->begins[table->runs];
    PyObject *given = PyObject_CallFunction(expand, "y#", run, (Py_ssize_t)length);
    if (!given) return -1;
    Py_ssize_t count = PyList_Check(given) ? PyList_Size(given) : -1, i = 0;
    if (count < 0) PyErr_SetString(PyExc_ValueError, "codes are a list");
    else if (grow(&table->codes, &table->codes_room, end + (size_t)count, sizeof *table->codes)) PyErr_NoMemory(), count = -1;
    for (; i < count && i < PyList_Size(given); i++) {
        long code = PyLong_AsLong(PyList_GetItem(given, i));
        if (code < 0 || (size_t)code > table->known || code >= INT32_MAX) {
            if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "codes are numbered one after the other");
            break;
        }
        size_t room = table->known_room; /* each code is in a text at most once, so that all of them are enough */
        if (grow(&table->counts, &room, (size_t)code + 1, sizeof *table->counts) ||
            grow(&table->touched, &table->known_room, (size_t)code + 1, sizeof *table->touched)) {
            PyErr_NoMemory();
            break;
        }
        if ((size_t)code == table->known) table->counts[table->known++] = 0;
        table->codes[end + (size_t)i] = (uint32_t)code;
    }
    Py_DECREF(given);
    return i == count ? (Py_ssize_t)end + count : -1;
}

/* Remember a run at a free slot. -1 with an error set. */
static int add_run(Table *table, PyObject *expand, Slot *slot, uint64_t hash, const char *run, size_t length) {
    Py_ssize_t codes = add_codes(table, expand, run, length);
    if (codes < 0) return -1;
    size_t begin = table->ends[table->runs], room = table->room;
    if (grow(&table->ends, &room, table->runs + 2, sizeof *table->ends) ||
        grow(&table->begins, &table->room, table->runs + 2, sizeof *table->begins) ||
        grow(&table->bytes, &table->bytes_room, begin + length, 1) || table->runs >= INT32_MAX) {
        PyErr_NoMemory();
        return -1;
    }
    memcpy(table->bytes + begin, run, length);
    table->runs++;
    table->ends[table->runs] = begin + length, table->begins[table->runs] = (size_t)codes;
    *slot = (Slot){(uint32_t)(hash >> 32), (uint32_t)table->runs};
    if (table->runs > (table->mask + 1) * FULL && rehash(table)) { PyErr_NoMemory(); return -1; }
    return 0;
}

/* Count the codes of one text, and say which there are. -1 with an error set. */
static int count_codes(Table *table, const uint8_t *classes, PyObject *expand, const char *text, size_t length, size_t *there) {
    for (size_t at = 0, end; at < length; at = end) {
        uint8_t class = classes[(uint8_t)text[at]];
        for (end = at + 1; end < length && classes[(uint8_t)text[end]] == class; end++);
        if (!class) continue;
        uint64_t hash = hash_of(table->key, text + at, end - at);
        Slot *slot = slot_of(table, hash, text + at, end - at);
        size_t run = slot->run;
        if (!run) {
            if (add_run(table, expand, slot, hash, text + at, end - at)) return -1;
            run = table->runs;
        }
        for (size_t i = table->begins[run - 1]; i < table->begins[run]; i++)
            if (!table->counts[table->codes[i]]++) table->touched[(*there)++] = table->codes[i];
    }
    return 0;
}

static int ascending(const void *one, const void *other) {
    uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;
    return (a > b) - (a < b);
}

/* Count the codes of one text, write them down and forget them again. -1 with an error set. */
static int count_text(Table *table, const uint8_t *classes, PyObject *expand, PyObject *text, int64_t number, Found *found) {
    Py_ssize_t length;
    size_t there = 0;
    const char *bytes;
    if (PyBytes_Check(text)) bytes = PyBytes_AsString(text), length = PyBytes_Size(text);
    else bytes = PyUnicode_AsUTF8AndSize(text, &length);
    if (!bytes) return -1;
    int failed = count_codes(table, classes, expand, bytes, (size_t)length, &there);
    if (!failed && grow(&found->rows, &found->room, found->count + there, 3 * sizeof *found->rows)) {
        PyErr_NoMemory();
        failed = -1;
    }
    if (!failed) qsort(table->touched, there, sizeof *table->touched, ascending);
    for (size_t i = 0; i < there; i++) {
        uint32_t code = table->touched[i];
        if (!failed) memcpy(found->rows + 3 * found->count++, (int64_t[]){number, code, table->counts[code]}, 24);
        table->counts[code] = 0;
    }
    return failed;
}

static void forget(PyObject *capsule) {
    Table *table = PyCapsule_GetPointer(capsule, NAME);
    if (!table) return;
    free(table->slots), free(table->ends), free(table->begins), free(table->bytes);
    free(table->codes), free(table->counts), free(table->touched), free(table);
}

/* run_table(key) -> table: one that remembers no run yet; `key` is 16 bytes that nobody knows */
PyObject *run_table(PyObject *Py_UNUSED(module), PyObject *arguments) {
    const char *key;
    Py_ssize_t length;
    if (!PyArg_ParseTuple(arguments, "y#", &key, &length)) return NULL;
    if (length != 16) { PyErr_SetString(PyExc_ValueError, "a key is 16 bytes"); return NULL; }
    Table *table = calloc(1, sizeof *table);
    if (!table) return PyErr_NoMemory();
    memcpy(table->key, key, 16);
    table->mask = 1023, table->room = 1024;
    table->slots = calloc(table->mask + 1, sizeof *table->slots);
    table->ends = calloc(table->room, sizeof *table->ends);
    table->begins = calloc(table->room, sizeof *table->begins);
    PyObject *made = PyCapsule_New(table, NAME, forget);
    if (made && table->slots && table->ends && table->begins) return made;
    if (made) Py_DECREF(made), PyErr_NoMemory();
    else free(table->slots), free(table->ends), free(table->begins), free(table);
    return NULL;
}

/* count_runs(table, classes, texts, expand) -> (rows of text, code and count; runs remembered; bytes of these) */
PyObject *count_runs(PyObject *Py_UNUSED(module), PyObject *arguments) {
    PyObject *capsule, *texts, *expand, *made = NULL;
    Py_buffer classes = {0};
    Found found = {0};
    if (!PyArg_ParseTuple(arguments, "Oy*O!O", &capsule, &classes, &PyTuple_Type, &texts, &expand)) return NULL;
    Table *table = PyCapsule_GetPointer(capsule, NAME);
    if (!table || classes.len != 256 || table->busy) {
        if (table) PyErr_SetString(PyExc_ValueError, "a table counts for one caller at a time, and has 256 classes");
        release(&classes, 1);
        return NULL;
    }
    Py_ssize_t count = PyTuple_Size(texts), number = 0;
    table->busy = 1; /* `expand` may let another thread run */
    while (number < count && !count_text(table, classes.buf, expand, PyTuple_GetItem(texts, number), number, &found)) number++;
    table->busy = 0;
    if (number == count)
        made = Py_BuildValue("Nnn", PyByteArray_FromStringAndSize((char *)found.rows, (Py_ssize_t)(found.count * 24)),
                             (Py_ssize_t)table->runs, (Py_ssize_t)table->ends[table->runs]);
    free(found.rows), release(&classes, 1);
    return made;
}
