/* dd_portable.c - the dd engine's loops for portable C, without FMA. */
#include "reference/dd/dd_vector_portable.h"

#include "reference/dd/dd_path.h"
