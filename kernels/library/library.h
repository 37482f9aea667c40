/* library.h - libraries of kernels: the built-in one, and plugins that are loaded.
 *
 * Answers: which kernels are built in (registry.h), what a shared object exports (plugin.h), what a kernel declares for
 * one problem, as the bounds may use it (declared.h) and in words (declare_text.h), and how one is called (call.h).
 * Only the worker and `attest bench` load a plugin.  Knows the ABI and status.h; no problem is read or made here.
 */
#ifndef ATTEST_LIBRARY_H
#define ATTEST_LIBRARY_H

#include "kernels/library/call.h"
#include "kernels/library/declare_text.h"
#include "kernels/library/declared.h"
#include "kernels/library/plugin.h"
#include "kernels/library/registry.h"

#endif
