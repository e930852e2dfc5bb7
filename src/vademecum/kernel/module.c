/* The functions that Python sees, each named like the one whose loops it runs. */

#include "kernel.h"

static PyMethodDef functions[] = {
    {"bm25f", bm25f, METH_VARARGS, "Score every chunk for the terms of a question: `retrieval.lexical.bm25f`."},
    {NULL, NULL, 0, NULL},
};

static int begin(PyObject *module) { return PyModule_AddIntConstant(module, "REVISION", REVISION); }

static PyModuleDef_Slot slots[] = {{Py_mod_exec, begin}, {0, NULL}};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, .m_name = "_kernel", .m_doc = "The loops of a search, compiled.", .m_size = 0,
    .m_methods = functions, .m_slots = slots,
};

PyMODINIT_FUNC PyInit__kernel(void) { return PyModuleDef_Init(&definition); }
