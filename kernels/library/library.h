/* library.h - libraries of kernels: the built-in one, and plugins that are loaded.
 *
 * Answers: which kernels are built in (registry.h), and what a shared object exports (plugin.h).  Only the worker and
 * `attest bench` load a plugin.  Knows the ABI and status.h; no problem is read or made here.
 */
#ifndef ATTEST_LIBRARY_H
#define ATTEST_LIBRARY_H

#include "kernels/library/plugin.h"
#include "kernels/library/registry.h"

#endif
