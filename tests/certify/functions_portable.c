/* functions_portable.c - functions_many.h without instructions of any extension. */
#include "tests/certify/functions_many.h"
