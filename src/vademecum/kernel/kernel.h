/* What the files of the kernel share: how arrays come in and go out, and the functions that `module.c` names.

   Arrays are borrowed as buffers, so nothing is copied and numpy is not needed to compile. Their lengths are compared and the
   numbers in them that are used as places are looked at, since indexes are files that anything may have written to: what does
   not fit is a ValueError, never a read outside. Loops run without the interpreter's lock. */

#ifndef VADEMECUM_KERNEL_H
#define VADEMECUM_KERNEL_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define REVISION 1 /* to be raised, here and in `__init__.py`, whenever a function takes or returns something else */

/* How many elements of `size` bytes a buffer holds; -1 where that is no whole number. */
static inline Py_ssize_t count_of(const Py_buffer *array, size_t size) {
    return array->len % (Py_ssize_t)size ? -1 : array->len / (Py_ssize_t)size;
}

/* Return new bytes of `count` elements to be filled, and where they lie. */
static inline PyObject *new_array(Py_ssize_t count, size_t size, void *place) {
    PyObject *made = PyBytes_FromStringAndSize(NULL, count * (Py_ssize_t)size);
    if (made) *(void **)place = PyBytes_AsString(made);
    return made;
}

static inline void release(Py_buffer *arrays, int count) {
    for (int i = 0; i < count; i++)
        if (arrays[i].obj) PyBuffer_Release(&arrays[i]);
}

PyObject *bm25f(PyObject *module, PyObject *arguments);

#endif
