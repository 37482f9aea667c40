/* strides: wrong in other layouts than C order, and says that its bits are always the same. */
#include "strides.h"

PLUGIN("strides", run)
