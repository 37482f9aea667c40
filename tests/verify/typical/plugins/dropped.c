/* dropped: carried without its corrections. */
#define DROPPED
#include "carried.c"
