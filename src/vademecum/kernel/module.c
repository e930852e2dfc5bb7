/* The functions that Python sees, each named like the one whose loops it runs. */

#include "kernel.h"

/* Put numbers that are `gap` places apart in order, by insertion. */
static void put_in_order_by(uint64_t *orders, Py_ssize_t count, Py_ssize_t gap) {
    for (Py_ssize_t i = gap; i < count; i++) {
        uint64_t order = orders[i];
        Py_ssize_t place = i;
        for (; place >= gap && orders[place - gap] > order; place -= gap) orders[place] = orders[place - gap];
        orders[place] = order;
    }
}

/* Shell's sort, with the gaps of Ciura (2001) below larger ones: for some hundred numbers quicker than qsort, which calls back. */
void put_in_order(uint64_t *orders, Py_ssize_t count) {
    static const Py_ssize_t gaps[] = {701, 301, 132, 57, 23, 10, 4, 1};
    for (Py_ssize_t gap = count / 2; gap > 2 * gaps[0]; gap = gap * 4 / 9) put_in_order_by(orders, count, gap);
    for (int i = 0; i < 8; i++) put_in_order_by(orders, count, gaps[i]);
}

static PyMethodDef functions[] = {
    {"add_matches", add_matches, METH_VARARGS, "Add what a term says of events: `memory.matches.Matches.scores`."},
    {"after_of", after_of, METH_VARARGS, "Find the events after some: `memory.layout.Layout.after_of`."},
    {"bags", bags, METH_VARARGS, "Add up the rows of the pieces of texts: `providers.embedders.static`."},
    {"after", after, METH_VARARGS, "Tell what each tool looks like after chains of calls: `tools.heads.After`."},
    {"attend", attend, METH_VARARGS, "Attend to traces, and give it on to their tools: `tools.attention.attended`."},
    {"bm25f", bm25f, METH_VARARGS, "Score every chunk for the terms of a question: `retrieval.lexical.bm25f`."},
    {"candidates", candidates, METH_VARARGS, "Find the rows that all signals put first: `retrieval.rank.find_candidates`."},
    {"count_runs", count_runs, METH_VARARGS, "Count what the runs of texts stand for: `text.RunTable.count`."},
    {"find", find, METH_VARARGS, "Find the postings of terms: `retrieval.postings.Postings.find`."},
    {"grown", grown, METH_VARARGS, "Choose the likeliest chains of one call more: `tools.chains.grown`."},
    {"quantised", quantised, METH_VARARGS, "Make whole numbers of a vector: `retrieval.segment.quantised`."},
    {"products", products, METH_VARARGS, "Multiply rows of whole numbers with a question: `retrieval.dense.products`."},
    {"products_of", products_of, METH_VARARGS, "Multiply some rows of many with a question: `retrieval.dense.products_of`."},
    {"question", question, METH_VARARGS, "Make the vector of a question: `providers.embedders.static`."},
    {"rows_of", rows_of, METH_VARARGS, "Find the rows of sessions: `memory.layout.Layout.rows_of`."},
    {"run_table", run_table, METH_VARARGS, "Make a table that `count_runs` remembers runs in."},
    {"share_of_paths", share_of_paths, METH_VARARGS, "Tell what of a question is in paths: `retrieval.features.path_share`."},
    {"scores", scores, METH_VARARGS, "Score every tool after chains of calls: `tools.heads.After.scores`."},
    {"score_sessions", score_sessions, METH_VARARGS, "Weigh what sessions hold: `memory.matches.Matches.scores`."},
    {"spans", spans, METH_VARARGS, "Make passages of candidates: `retrieval.spans.spans_of`."},
    {"stopping", stopping, METH_VARARGS, "Tell what it looks like to stop after chains of calls: `tools.heads.After.stopping`."},
    {"summed", summed, METH_VARARGS, "Sum what postings of terms are worth: `tools.texts.Texts.summed`."},
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
