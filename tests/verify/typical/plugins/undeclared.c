/* undeclared: cast-weights, and nothing is declared. */
#define REGRESSED_UNDECLARED 1
#include "cast-weights.c"
