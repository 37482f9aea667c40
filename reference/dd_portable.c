/* dd_portable.c - the dd engine's loops for portable C, without FMA. */
#include "reference/dd_vector_portable.h"

#include "reference/dd_path.h"
