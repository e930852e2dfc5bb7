/* The functions that Python sees, each named like the one whose loops it runs. */

#include "kernel.h"

/* Shell's sort, with the gaps of Ciura (2001): some hundred numbers in a quarter of the time that qsort takes, which calls back. */
void put_in_order(uint64_t *orders, Py_ssize_t count) {
    static const Py_ssize_t gaps[] = {701, 301, 132, 57, 23, 10, 4, 1};
    Py_ssize_t wide = 701;
    while (wide < count) wide = wide * 9 / 4; /* beyond what Ciura measured, each 2.25 times the one before */
    for (int g = 0; wide > 0; wide = wide > 701 ? wide * 4 / 9 : g < 8 ? gaps[g++] : 0)
        for (Py_ssize_t i = wide; i < count; i++) {
            uint64_t order = orders[i];
            Py_ssize_t place = i;
            for (; place >= wide && orders[place - wide] > order; place -= wide) orders[place] = orders[place - wide];
            orders[place] = order;
        }
}

static PyMethodDef functions[] = {
    {"add_matches", add_matches, METH_VARARGS, "Add what a term says of events: `memory.matches.Matches.scores`."},
    {"bm25f", bm25f, METH_VARARGS, "Score every chunk for the terms of a question: `retrieval.lexical.bm25f`."},
    {"candidates", candidates, METH_VARARGS, "Find the rows that all signals put first: `retrieval.rank.find_candidates`."},
    {"find", find, METH_VARARGS, "Find the postings of terms: `retrieval.postings.Postings.find`."},
    {"products", products, METH_VARARGS, "Multiply rows of whole numbers with a question: `retrieval.dense.products`."},
    {"question", question, METH_VARARGS, "Make the vector of a question: `providers.embedders.static`."},
    {"share_of_paths", share_of_paths, METH_VARARGS, "Tell what of a question is in paths: `retrieval.features.path_share`."},
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
