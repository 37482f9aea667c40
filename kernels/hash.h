/* hash.h - the two hashes of the project: FNV-1a of bytes, splitmix64 of a counter. */
#ifndef ATTEST_HASH_H
#define ATTEST_HASH_H

#include <stddef.h>
#include <stdint.h>

#define ATTEST_FNV_START 0xcbf29ce484222325ull

/* FNV-1a, 64 bits, over `count` bytes, continuing from `hash` (first: ATTEST_FNV_START). */
static inline uint64_t attest_fnv(uint64_t hash, const void *bytes, size_t count)
{
    const unsigned char *at = (const unsigned char *)bytes;
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ at[i]) * 0x100000001b3ull;
    return hash;
}

/* splitmix64's finaliser: spreads 64 bits evenly. */
static inline uint64_t attest_mix64(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
}

/* splitmix64: the next 64 bits of a stream; any state is a good start. */
static inline uint64_t attest_next64(uint64_t *state) { return attest_mix64(*state += 0x9e3779b97f4a7c15ull); }

#endif
