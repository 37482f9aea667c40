/* door.c - see door.h: the kernel whose functions ask the program. */
#include "kernels/door/door.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/door/door_private.h"

int attest_door_is(const char *library)
{
    return library && strncmp(library, ATTEST_DOOR_PREFIX, strlen(ATTEST_DOOR_PREFIX)) == 0;
}

/* The door that a kernel of it is part of: `self` is where attest_door has it. */
static attest_door *door_of(const attest_call *call)
{
    return (attest_door *)(void *)((char *)(uintptr_t)call->self - offsetof(attest_door, kernel));
}

static int supports(const attest_call *call)
{
    static const char *const words[] = { "yes", "no", NULL };
    attest_door *door = door_of(call);
    char line[ATTEST_DOOR_LINE], problem[ATTEST_DOOR_LINE - 16];
    if (!attest_door_hello_serves(&door->hello, call->problem, call->why, call->why_size))
        return 0;
    if (!door->hello.asks)
        return 1;
    attest_door_problem(problem, sizeof problem, call->problem);
    snprintf(line, sizeof line, "supports %s", problem);
    attest_door_say(door, line);
    attest_door_hear(line, door, words, 1);
    return strncmp(line, "yes", 3) == 0 ||
           attest_refuse(call, line[2] == ' ' && line[3] ? line + 3 : "no reason given");
}

/* `o,lse`: the outputs that are wanted of this call. */
static void list_outputs(char *text, size_t len, const attest_call *call)
{
    static const struct {
        uint32_t bit;
        const char *name;
    } outputs[] = { { ATTEST_GIVES_O, "o" },
                    { ATTEST_GIVES_U, "u" },
                    { ATTEST_GIVES_Z, "z" },
                    { ATTEST_GIVES_LSE, "lse" },
                    { ATTEST_GIVES_STATE, "state" } };
    size_t n = 0;
    text[0] = '\0';
    for (size_t i = 0; i < sizeof outputs / sizeof outputs[0] && n < len; i++)
        if (call->outputs & outputs[i].bit)
            n += (size_t)snprintf(text + n, len - n, "%s%s", n ? "," : "", outputs[i].name);
}

static attest_status run(const attest_call *call)
{
    static const char *const words[] = { "ok", "error", NULL };
    attest_door *door = door_of(call);
    attest_status status = ATTEST_OK;
    attest_error err = { "" };
    char line[2 * ATTEST_DOOR_LINE + 256], problem[ATTEST_DOOR_LINE], outputs[64];
    attest_door_clean(door, call);
    ATTEST_TRY(attest_door_write(door, call, &err));
    attest_door_problem(problem, sizeof problem, call->problem);
    list_outputs(outputs, sizeof outputs, call);
    snprintf(line, sizeof line, "run dir=%s outputs=%s %s", door->folder, outputs, problem);
    attest_door_say(door, line);
    attest_door_hear(line, door, words, 1);
    if (strncmp(line, "ok", 2) != 0)
        ATTEST_TRY(attest_fail(&err, ATTEST_KERNEL_ERROR, "%s", line[5] ? line + 6 : "error, without a reason"));
    ATTEST_TRY(attest_door_read(door, call, &err));
out:
    attest_door_clean(door, call);
    if (status != ATTEST_OK)
        attest_refuse(call, err.text);
    return status == ATTEST_OK ? ATTEST_OK : ATTEST_KERNEL_ERROR;
}

/* ---- the library -------------------------------------------------------------------------------------------- */
static attest_status make_folder(attest_door *door, attest_error *err)
{
    const char *base = getenv("TMPDIR");
    snprintf(door->folder, sizeof door->folder, "%.4000s/run-XXXXXX", base && *base ? base : "/tmp");
    if (strpbrk(door->folder, " \t")) {
        attest_fail(err, ATTEST_BAD_INPUT, "%s: a folder for files must have no blank in its name (TMPDIR)",
                    door->folder);
    } else if (!mkdtemp(door->folder)) {
        attest_fail(err, ATTEST_IO, "%s: cannot make a folder for files: %s", door->folder, strerror(errno));
    } else {
        return ATTEST_OK;
    }
    door->folder[0] = '\0';
    return ATTEST_IO;
}

static void describe(attest_door *door)
{
    const attest_door_hello *h = &door->hello;
    door->kernel = (attest_kernel){ .struct_size = sizeof door->kernel,
                                    .form = h->declared.form,
                                    .device = ATTEST_CPU,
                                    .flags = h->declared.flags,
                                    .outputs = h->declared.outputs,
                                    .needs = ATTEST_NEEDS_C_ORDER,
                                    .name = h->name,
                                    .version = h->version,
                                    .source = "",
                                    .summary = "a program",
                                    .variants = "",
                                    .numerics = &h->declared.numerics,
                                    .supports = supports,
                                    .run = run };
    door->kernels[0] = &door->kernel;
    door->library = (attest_library){ .struct_size = sizeof door->library,
                                      .abi_version = ATTEST_ABI_VERSION,
                                      .name = "program",
                                      .build_flags = "",
                                      .kernels = door->kernels,
                                      .kernel_count = 1 };
}

attest_status attest_door_open(attest_door **door, attest_plugin **plugin, const char *library, attest_error *err)
{
    static const char *const words[] = { "attest", NULL };
    char line[ATTEST_DOOR_LINE];
    attest_status status = ATTEST_OK;
    attest_door *made = calloc(1, sizeof *made);
    *door = NULL;
    *plugin = NULL;
    if (!made)
        return attest_fail(err, ATTEST_NO_MEMORY, "out of memory");
    ATTEST_TRY(make_folder(made, err));
    ATTEST_TRY(attest_door_start(made, library + strlen(ATTEST_DOOR_PREFIX), err));
    if (!attest_door_hear(line, made, words, 0))
        ATTEST_TRY(
            attest_fail(err, ATTEST_BAD_INPUT, "%s: ended before it printed its first line `attest 1 ..`", library));
    status = attest_door_hello_parse(&made->hello, line, err);
    if (status != ATTEST_OK)
        ATTEST_TRY(attest_fail_prefix(err, status, library));
    describe(made);
    ATTEST_TRY(attest_plugin_take(plugin, &made->library, library, err));
    *door = made;
    made = NULL;
out:
    attest_door_free(made);
    return status;
}

void attest_door_free(attest_door *door)
{
    if (!door)
        return;
    if (door->to)
        fclose(door->to);
    if (door->from)
        fclose(door->from);
    if (door->folder[0])
        rmdir(door->folder);
    free(door);
}
