/* order_file.c - the table of orders as a list and as JSON. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/text.h"
#include "reports/files/json_file.h"
#include "reports/order/order.h"

typedef enum key_type { KEY_TEXT, KEY_WHOLE, KEY_NUMBER } key_type;

static const struct {
    const char *name;
    key_type type;
    size_t offset, size;
    int cost; /* 1: null where nothing was measured */
} keys[] = {
    { "head", KEY_TEXT, offsetof(attest_order_cell, head), sizeof((attest_order_cell *)0)->head, 0 },
    { "range", KEY_NUMBER, offsetof(attest_order_cell, range), 0, 0 },
    { "center", KEY_TEXT, offsetof(attest_order_cell, center), sizeof((attest_order_cell *)0)->center, 0 },
    { "tolerance", KEY_NUMBER, offsetof(attest_order_cell, tolerance), 0, 0 },
    { "own", KEY_TEXT, offsetof(attest_order_cell, own), sizeof((attest_order_cell *)0)->own, 0 },
    { "order", KEY_WHOLE, offsetof(attest_order_cell, order), 0, 0 },
    { "error_at_most", KEY_NUMBER, offsetof(attest_order_cell, at_hi), 0, 0 },
    { "error_below_at_least", KEY_NUMBER, offsetof(attest_order_cell, below_lo), 0, 0 },
    { "cost_n", KEY_WHOLE, offsetof(attest_order_cell, cost_n), 0, 1 },
    { "cost_d", KEY_WHOLE, offsetof(attest_order_cell, cost_d), 0, 1 },
    { "cost_ns", KEY_NUMBER, offsetof(attest_order_cell, cost), 0, 1 },
    { "cost_softmax_ns", KEY_NUMBER, offsetof(attest_order_cell, cost_softmax), 0, 1 },
    { "cost_kernel", KEY_TEXT, offsetof(attest_order_cell, cost_kernel), sizeof((attest_order_cell *)0)->cost_kernel,
      0 },
};
enum { KEYS = sizeof keys / sizeof keys[0] };

attest_status attest_orders_add(attest_orders *orders, const attest_order_cell *cell, attest_error *err)
{
    if (orders->count == orders->capacity) {
        const size_t capacity = orders->capacity ? 2 * orders->capacity : 64;
        attest_order_cell *grown = realloc(orders->cell, capacity * sizeof *grown);
        if (!grown)
            return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu orders", capacity);
        orders->cell = grown;
        orders->capacity = capacity;
    }
    orders->cell[orders->count++] = *cell;
    return ATTEST_OK;
}

void attest_orders_clear(attest_orders *orders)
{
    free(orders->cell);
    *orders = (attest_orders){ 0 };
}

static json_t *to_json(const attest_order_cell *cell)
{
    json_t *object = json_object();
    for (size_t k = 0; k < KEYS; k++) {
        const char *at = (const char *)cell + keys[k].offset;
        int64_t whole = 0;
        double x = 0;
        if (keys[k].type == KEY_WHOLE)
            memcpy(&whole, at, sizeof whole);
        if (keys[k].type == KEY_NUMBER)
            memcpy(&x, at, sizeof x);
        json_object_set_new(object, keys[k].name,
                            keys[k].cost && cell->cost_n == 0 ? json_null()
                            : keys[k].type == KEY_TEXT        ? attest_json_text(at)
                            : keys[k].type == KEY_WHOLE       ? json_integer(whole)
                                                              : attest_json_number(x));
    }
    return object;
}

attest_status attest_orders_print_json(FILE *out, const attest_orders *orders)
{
    attest_status status = ATTEST_OK;
    for (size_t i = 0; i < orders->count; i++)
        ATTEST_TRY(attest_json_line(out, to_json(&orders->cell[i])));
out:
    return status;
}

attest_status attest_orders_write(const attest_orders *orders, const char *path, attest_error *err)
{
    attest_output out;
    json_t *array = json_array();
    attest_status status = attest_output_open(&out, path, err);
    for (size_t i = 0; i < orders->count; i++)
        json_array_append_new(array, to_json(&orders->cell[i]));
    if (json_array_size(array) != orders->count)
        attest_starve();
    if (status == ATTEST_OK && attest_json_pretty(out.file, json_incref(array)) != ATTEST_OK)
        status = attest_print_failed(err, path);
    json_decref(array);
    return attest_output_close(&out, status, err);
}

/* 1: it is a number, or one of the words that attest_json_number() writes. */
static int read_number(double *x, const json_t *value)
{
    const char *text = json_string_value(value);
    *x = json_is_number(value) ? json_number_value(value) : NAN;
    if (text && (strcmp(text, "inf") == 0 || strcmp(text, "-inf") == 0))
        *x = *text == '-' ? -INFINITY : INFINITY;
    return json_is_number(value) || json_is_null(value) || isinf(*x);
}

static attest_status from_json(attest_order_cell *cell, const json_t *object, const char *path, attest_error *err)
{
    for (size_t k = 0; k < KEYS; k++) {
        const json_t *value = json_object_get(object, keys[k].name);
        char *at = (char *)cell + keys[k].offset;
        const int64_t whole = json_integer_value(value);
        const char *text = json_string_value(value);
        double x = NAN;
        if (keys[k].cost && json_is_null(value))
            continue;
        if (keys[k].type == KEY_TEXT && text && strlen(text) < keys[k].size)
            attest_text_clean(at, keys[k].size, text);
        else if (keys[k].type == KEY_WHOLE && json_is_integer(value))
            memcpy(at, &whole, sizeof whole);
        else if (keys[k].type == KEY_NUMBER && value && read_number(&x, value))
            memcpy(at, &x, sizeof x);
        else
            return attest_fail(err, ATTEST_BAD_INPUT, "%s: key '%s' is missing or of another type", path, keys[k].name);
    }
    return ATTEST_OK;
}

attest_status attest_orders_read(attest_orders *orders, const char *path, attest_error *err)
{
    json_t *array = NULL;
    attest_status status = ATTEST_OK;
    *orders = (attest_orders){ 0 };
    ATTEST_TRY(attest_json_read(&array, path, err));
    if (!json_is_array(array))
        ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "%s: no array of orders", path));
    for (size_t i = 0; i < json_array_size(array); i++) {
        attest_order_cell cell = { .range = 0 };
        ATTEST_TRY(from_json(&cell, json_array_get(array, i), path, err));
        ATTEST_TRY(attest_orders_add(orders, &cell, err));
    }
out:
    json_decref(array);
    if (status != ATTEST_OK)
        attest_orders_clear(orders);
    return status;
}
