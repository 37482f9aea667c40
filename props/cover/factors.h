/* factors.h - private to props/cover: the conditions whose pairs a covering array meets. */
#ifndef ATTEST_COVER_FACTORS_H
#define ATTEST_COVER_FACTORS_H

#include "props/cover/cover.h"
#include "props/generate/generate_draw.h"

typedef struct attest_factor attest_factor;

struct attest_factor {
    const char *name;
    /* The level of the case, 0..levels-1; -1 where the factor says nothing of it (chunk of a kernel without chunks). */
    int (*level)(const attest_factor *factor, const attest_case *c, const attest_prop_kernel *kernel);
    /* Another value of the factor; what comes out may contradict itself. */
    void (*redraw)(const attest_factor *factor, attest_case *c, attest_dice *dice);
    /* Name of a level, without that of the factor. */
    void (*label)(const attest_factor *factor, char *text, size_t len, int level);
    attest_axis axis;          /* of axis factors */
    size_t offset;             /* of size factors: in attest_problem */
    const int64_t (*range)[2]; /* [levels] of size factors */
    int levels;
    int wide;     /* 1: levels that change nothing of the case are none, and sizes go further */
    size_t other; /* of factors of two sizes: the second */
};

enum { ATTEST_FACTORS_MOST = 64 };

/* Writes the factors (the axes first) and returns how many. */
size_t attest_factors_list(attest_factor factor[ATTEST_FACTORS_MOST], int wide);

/* Those of several parts at once, for `wide` alone (factors_joint.c, factors_tiles.c). */
size_t attest_factors_joint(attest_factor *factor);
size_t attest_factors_tiles(attest_factor *factor);

/* Keys that the row of most keys sees, before lengths and windows. */
int64_t attest_most_keys(const attest_problem *p);

/* family=edges. */
int attest_is_edges(const attest_case *c);

/* About how long the case takes, in operations. */
double attest_cover_cost(const attest_case *c);

#endif
