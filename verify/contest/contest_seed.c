/* contest_seed.c - the hidden seed: where it comes from, what is drawn from it, its digest; SHA-256 for that. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "verify/contest/contest_private.h"

static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2
};

static uint32_t rotate(uint32_t x, int n) { return x >> n | x << (32 - n); }

static void compress(uint32_t state[8], const unsigned char block[64])
{
    uint32_t w[64], s[8];
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 | (uint32_t)block[4 * i + 2] << 8 |
               block[4 * i + 3];
    for (int i = 16; i < 64; i++)
        w[i] = w[i - 16] + (rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3) + w[i - 7] +
               (rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10);
    memcpy(s, state, sizeof s);
    for (int i = 0; i < 64; i++) {
        const uint32_t a = s[0], e = s[4];
        const uint32_t t1 = s[7] + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & s[5]) ^ (~e & s[6])) +
                            constants[i] + w[i];
        const uint32_t t2 = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
        memmove(s + 1, s, 7 * sizeof *s);
        s[4] += t1;
        s[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++)
        state[i] += s[i];
}

void attest_sha256(unsigned char hash[32], const void *bytes, size_t count)
{
    uint32_t state[8] = {
        0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19
    };
    const unsigned char *at = bytes;
    unsigned char last[128] = { 0 };
    const size_t rest = count % 64, room = rest < 56 ? 64 : 128;
    for (size_t i = 0; i + 64 <= count; i += 64)
        compress(state, at + i);
    if (rest)
        memcpy(last, at + (count - rest), rest);
    last[rest] = 0x80;
    for (int i = 0; i < 8; i++)
        last[room - 1 - (size_t)i] = (unsigned char)((uint64_t)count * 8 >> 8 * i);
    for (size_t i = 0; i < room; i += 64)
        compress(state, last + i);
    for (int i = 0; i < 32; i++)
        hash[i] = (unsigned char)(state[i / 4] >> (24 - 8 * (i % 4)));
}

/* The first 64 bits of the hash of `TAG SEED NUMBER`. */
static uint64_t hash_of(const char *tag, uint64_t seed, uint64_t number)
{
    char text[96];
    unsigned char hash[32];
    uint64_t bits = 0;
    const int n = snprintf(text, sizeof text, "%s %llu %llu", tag, (unsigned long long)seed,
                           (unsigned long long)number);
    attest_sha256(hash, text, (size_t)n);
    for (int i = 0; i < 8; i++)
        bits = bits << 8 | hash[i];
    return bits;
}

attest_status attest_contest_seed(uint64_t *seed, long given, attest_error *err)
{
    *seed = (uint64_t)given;
    if (given >= 0)
        return ATTEST_OK;
    ssize_t got;
    do
        got = getrandom(seed, sizeof *seed, 0);
    while (got < 0 && errno == EINTR);
    *seed >>= 1;
    return got == (ssize_t)sizeof *seed
               ? ATTEST_OK
               : attest_fail(err, ATTEST_IO, "no random numbers from the system: %s; --seed gives one",
                             strerror(errno));
}

void attest_contest_digest(char text[20], uint64_t seed)
{
    snprintf(text, 20, "%016llx", (unsigned long long)hash_of("attest judge, digest", seed, 0));
}

uint64_t contest_random(contest_state *t) { return hash_of("attest judge, draw", t->contest->seed, t->drawn++); }

int64_t contest_between(contest_state *t, int64_t least, int64_t most)
{
    return least >= most ? least : least + (int64_t)(contest_random(t) % (uint64_t)(most - least + 1));
}
