/* safetensors_types.h - private to the room: the dtypes of a file that tensors of a problem have. */
#ifndef ATTEST_SAFETENSORS_TYPES_H
#define ATTEST_SAFETENSORS_TYPES_H

#include "kernels/safetensors/safetensors.h"

typedef struct safetensors_type {
    const char *text;
    uint32_t dtype; /* as it is read */
    size_t bytes;   /* of an element in the file */
} safetensors_type;

/* NULL: none of ours. */
const safetensors_type *safetensors_type_of(const char *text);
/* The type that tensors of this dtype are written as, NULL: none. */
const safetensors_type *safetensors_type_for(uint32_t dtype);

#endif
