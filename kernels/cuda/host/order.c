#include "order.h"

#include <stdlib.h>
#include <string.h>

/* splitmix64 */
static uint64_t next_word(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

int launch_order_read(launch_order *order, const char *text)
{
    static const struct {
        const char *name;
        launch_order order;
    } known[] = { { "forward", { 0, 0, 0, 0, 0 } },
                  { "reverse", { 1, 0, 0, 0, 0 } },
                  { "greedy", { 0, 1, 0, 0, 0 } },
                  { "greedy-reverse", { 1, 1, 0, 0, 0 } } };
    char *end = NULL;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(text ? text : "forward", known[i].name) == 0) {
            *order = known[i].order;
            return 1;
        }
    if (strncmp(text, "random:", 7) != 0 || text[7] < '0' || text[7] > '9')
        return 0;
    *order = (launch_order){ .random = 1 };
    order->seed = order->state = strtoull(text + 7, &end, 10);
    return *end == '\0';
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b > 0) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

uint64_t launch_order_block(const launch_order *order, uint64_t i, uint64_t blocks)
{
    uint64_t state = ~order->seed, stride;
    if (order->reverse)
        return blocks - 1 - i;
    if (!order->random)
        return i;
    const uint64_t start = next_word(&state) % blocks;
    do
        stride = next_word(&state) % UINT32_MAX;
    while (common_divisor(stride, blocks) != 1);
    return (start + i * (stride % blocks)) % blocks; /* blocks is below 2^31 */
}

void launch_order_first(const launch_order *order, unsigned *rank, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        rank[i] = order->reverse ? count - 1 - i : i;
}

void launch_order_round(launch_order *order, unsigned *rank, unsigned count)
{
    if (!order->random)
        return;
    for (unsigned i = count; i > 1; i--) {
        const unsigned j = (unsigned)(next_word(&order->state) % i), held = rank[i - 1];
        rank[i - 1] = rank[j];
        rank[j] = held;
    }
}
