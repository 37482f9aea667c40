/* flint_headers.h - FLINT 2.9 + Arb 2.23 keep arb.h beside flint/, FLINT 3 inside it: one place to know. */
#ifndef ATTEST_FLINT_HEADERS_H
#define ATTEST_FLINT_HEADERS_H

#include <gmp.h>
#include <mpfr.h>
#if defined(__has_include) && __has_include(<flint/arb.h>)
#include <flint/arb.h>
#include <flint/arb_mat.h>
#include <flint/arf.h>
#include <flint/fmpq.h>
#include <flint/fmpz.h>
#include <flint/mag.h>
#else
#include <arb.h>
#include <arb_mat.h>
#include <arf.h>
#include <flint/fmpq.h>
#include <flint/fmpz.h>
#include <mag.h>
#endif

#endif
