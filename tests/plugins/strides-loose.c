/* strides-loose: the same kernel, which does not say that its bits are always the same. */
#define PLUGIN_FLAGS 0
#include "strides.h"

PLUGIN("strides-loose", run)
