/* The functions that Python sees, each named like the one whose loops it runs. */

#include "kernel.h"

static int ascending(const void *one, const void *other) {
    uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;
    return a < b ? -1 : a > b;
}

void put_in_order(uint64_t *orders, Py_ssize_t count) { qsort(orders, (size_t)count, sizeof *orders, ascending); }

static PyMethodDef functions[] = {
    {"add_matches", add_matches, METH_VARARGS, "Add what a term says of events: `memory.matches.Matches.scores`."},
    {"bm25f", bm25f, METH_VARARGS, "Score every chunk for the terms of a question: `retrieval.lexical.bm25f`."},
    {"candidates", candidates, METH_VARARGS, "Find the rows that all signals put first: `retrieval.rank.find_candidates`."},
    {"find", find, METH_VARARGS, "Find the postings of terms: `retrieval.postings.Postings.find`."},
    {"products", products, METH_VARARGS, "Multiply rows of whole numbers with a question: `retrieval.dense.products`."},
    {"question", question, METH_VARARGS, "Make the vector of a question: `providers.embedders.static`."},
    {"spans", spans, METH_VARARGS, "Make passages of candidates: `retrieval.spans.spans_of`."},
    {"weigh", weigh, METH_VARARGS, "Describe candidates and weigh them: `retrieval.candidates`, `retrieval.model`."},
    {NULL, NULL, 0, NULL},
};

static int begin(PyObject *module) {
    return PyModule_AddIntConstant(module, "REVISION", REVISION) || PyModule_AddIntConstant(module, "HAS_PRODUCTS", has_products()) ||
                   PyModule_AddIntConstant(module, "HAS_HALVES", has_halves()) ? -1 : 0;
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, begin}, {0, NULL}};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, .m_name = "_kernel", .m_doc = "The loops of a search, compiled.", .m_size = 0,
    .m_methods = functions, .m_slots = slots,
};

PyMODINIT_FUNC PyInit__kernel(void) { return PyModuleDef_Init(&definition); }
