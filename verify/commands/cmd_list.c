/* cmd_list.c - `attest list kernels|variants|properties|families|claims|defects`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "props/draw/draw.h"
#include "reports/table.h"
#include "verify/claims/claims.h"
#include "verify/commands/cli.h"
#include "verify/base/base.h"
#include "verify/defects/defects.h"
#include "verify/cells/cells.h"
#include "verify/properties/properties.h"

/* `taylor:P`, `filtered:TAU` or the bare name. */
static void preset_title(char *text, size_t len, const attest_preset *preset)
{
    static const char *const suffix[] = { "", ":P", ":TAU" };
    snprintf(text, len, "%s%s", preset->name, suffix[preset->argument < 3 ? preset->argument : 0]);
}

/* `weight=power:1 norm=none`: what the preset sets, P and TAU of the name as such. */
static void preset_expansion(char *text, size_t len, const attest_preset *preset, const attest_problem *sampled)
{
    size_t at = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < preset->setting_count && at < len; i++) {
        const attest_preset_setting *s = &preset->settings[i];
        char value[64];
        attest_axis_print(value, sizeof value, s->axis, &sampled->axis[s->axis]);
        char *colon = s->order == ATTEST_ORDER_FROM_NAME ? strchr(value, ':') : NULL;
        if (colon)
            strcpy(colon, ":P");
        else if (s->number != s->number)
            strcpy(value, "TAU");
        at += (size_t)snprintf(text + at, len - at, "%s%s=%s", at ? " " : "", attest_axes[s->axis].key, value);
    }
    if (at == 0)
        snprintf(text, len, "all axes at their defaults");
}

/* What the formulas' letters mean, and which papers the names stand for. */
static void list_words(void)
{
    printf(
        "\nformula (query i of head h reads KV head g = floor(h hkv/hq); j over the visible keys: mask,\n"
        "    window, lens, attn_mask; off: mask)\n"
        "    s_ij = scale <phi(q_i), phi(k_j)>; then cap, alibi or bias, clamp;  w_ij = W(s_ij - c_i), 0 if filtered\n"
        "    u_i = sum_j D_ij w_ij gin_j v_j (+ h0);   z_i = sum_j D_ij w_ij (+ z0), without gates, sink and eps\n"
        "    dropout=R: u_i = sum_j keep_ij/(1-R) D_ij w_ij gin_j v_j; z_i and lse_i as without\n"
        "    o_i = gout_i Norm(u_i, z_i);   lse_i = c_i + ln z_i;   scale: 1/sqrt(d) unless given\n"
        "    gamma is a factor, a_t too but with decay_input=log; a token that was just written is not decayed\n"
        "stands for: eq., App. and ablations: Mongaras and Larson, arXiv 2507.23632; SLA: Softmax Linear Attention,\n"
        "    arXiv 2602.01744; the note: on the Taylor error of linear attention (score filtering, efla)\n");
}

static void list_tensors(void)
{
    printf("\ntensors (axes: b batch, h query head, g KV head, n query, m key, d, e; missing leading axes are 1)\n");
    for (size_t i = 0; i < ATTEST_TENSOR_ROLES; i++)
        if (attest_roles[i].axes)
            printf("    %-9s %-6s %-7s %s\n", attest_roles[i].name,
                   attest_roles[i].role == ATTEST_DECAY ? "bgm(d)" : attest_roles[i].axes,
                   attest_roles[i].output ? "output" : "input", attest_roles[i].meaning);
    printf("    with packed=on a kernel reads [b,h,n,..] and [b,h,m,..] as [1,h,T,..], and cu_seqlens_q, cu_seqlens_k\n"
           "    [b+1], int64; files that attest reads or exports are padded\n");
    printf("    with pages=T a kernel reads k v as [page,g,T,..], and block_table [b,ceil(m/T)], int64; files\n"
           "    that attest reads or exports have them without pages\n");
    printf(
        "    q k v bias are `in` (k v as kv says), o is `out`, len int64, attn_mask and keep bytes of 0 and 1, all\n"
        "    others f32 (f64 when acc=f64; k_scale and v_scale f32); d of a only with decay=vector; b and h of bias\n"
        "    and attn_mask are 1 where the axis says so\n"
        "    h0.n z0.n (input), ht.n zt.n (output): states [b,g,dim^n,e] and [b,g,dim^n], row-major Kronecker rows, "
        "dim =\n"
        "    d (cosformer 2d): S_n = decay(S_n) + phi(k)^(x n) (x) gin v, z-state without gin and v, neither with "
        "scale\n"
        "    nor 1/n!; h0 and z0 come before token 0; delta and efla: h0.1, ht.1 only\n");
}

static void list_axes(void)
{
    printf("\naxes (key=value after the preset overrides it; default first)\n");
    for (size_t a = 0; a < ATTEST_AXIS_COUNT; a++) {
        const attest_axis_info *info = &attest_axes[a];
        printf("%s: %s\n", info->key, info->summary);
        for (uint32_t v = 0; v < info->value_count; v++) {
            static const char *const suffix[] = { "", ":P", ":F", "", "" };
            const attest_axis_value *value = &info->values[v];
            char title[48];
            snprintf(title, sizeof title, "%s%s", value->name ? value->name : "NUMBER", suffix[value->argument]);
            printf("    %-20s %s\n", title, value->formula);
        }
    }
}

/* One preset: what it is, what it sets, who serves it. */
static void list_preset(attest_table *table, const attest_preset *preset, const attest_preset_cells *cells,
                        const attest_problem *sampled)
{
    char title[48], forms[64] = "", expansion[256];
    preset_title(title, sizeof title, preset);
    for (uint32_t form = ATTEST_PARALLEL; form < ATTEST_CELL_FORMS; form++)
        if (cells->legal[form])
            snprintf(forms + strlen(forms), sizeof forms - strlen(forms), "%s%s", *forms ? " " : "",
                     attest_form_name(form));
    preset_expansion(expansion, sizeof expansion, preset, sampled);
    attest_table_cell(table, "%s", title);
    attest_table_cell(table, "%s", attest_variant_rational(sampled->axis) ? "yes" : "no");
    attest_table_cell(table, "%s", forms);
    attest_table_cell(table, "%s (%s)\n%18s = %s\n%18s   kernels: %s", preset->formula, preset->stands_for, "",
                      expansion, "", *cells->kernels ? cells->kernels : "none");
}

/* The table of cells, and why forms are not legal, each reason once. */
static attest_status list_cells(const attest_preset_cells *cells, attest_error *err)
{
    attest_status status = ATTEST_OK;
    int holes = 0;
    attest_table table;
    attest_preset_cells_begin(&table);
    for (size_t i = 0; i < attest_preset_count; i++) {
        char title[48];
        preset_title(title, sizeof title, &attest_presets[i]);
        attest_preset_cells_row(&table, title, &cells[i]);
        holes += attest_preset_cells_holes(&cells[i]);
    }
    ATTEST_TRY(attest_table_end(&table, err));
    printf("%d %s; - : the form is not legal:\n", holes, attest_plural(holes, "hole", "holes"));
    for (uint32_t form = ATTEST_PARALLEL; form < ATTEST_CELL_FORMS; form++)
        for (size_t i = 0; i < attest_preset_count; i++) {
            int told = cells[i].legal[form];
            for (size_t k = 0; k < i && !told; k++)
                told = strcmp(cells[k].why[form], cells[i].why[form]) == 0;
            if (!told)
                printf("    %-10s %s\n", attest_form_name(form), cells[i].why[form]);
        }
out:
    return status;
}

static int list_variants(const attest_cli *cli)
{
    static const attest_column columns[] = { { .head = "preset", .width = 18 },
                                             { .head = "rational", .width = 9 },
                                             { .head = "forms", .width = 38 },
                                             { .head = "formula (stands for)" } };
    attest_table table;
    attest_error err = { "" };
    attest_worker *worker = NULL;
    attest_status status = ATTEST_OK;
    attest_preset_cells *cells = calloc(attest_preset_count, sizeof *cells);
    if (!cells) {
        status = attest_fail(&err, ATTEST_NO_MEMORY, "no memory for the table of cells");
        goto out;
    }
    ATTEST_TRY(attest_worker_start(&worker, NULL, 30, &err));
    attest_table_begin(&table, stdout, ATTEST_TABLE_CONSOLE, columns, 4);
    for (size_t i = 0; i < attest_preset_count; i++) {
        attest_case c;
        ATTEST_TRY(attest_preset_sample(&c, &attest_presets[i], &err));
        ATTEST_TRY(attest_preset_cells_ask(&cells[i], worker, &attest_presets[i], &err));
        list_preset(&table, &attest_presets[i], &cells[i], &c.problem);
    }
    ATTEST_TRY(attest_table_end(&table, &err));
    ATTEST_TRY(list_cells(cells, &err));
    list_words();
    list_axes();
    list_tensors();
out:
    attest_worker_free(worker);
    free(cells);
    return status == ATTEST_OK ? 0 : attest_cli_error(cli, status, &err);
}

static int end_table(attest_table *table, const attest_cli *cli)
{
    attest_error err;
    const attest_status status = attest_table_end(table, &err);
    return status == ATTEST_OK ? 0 : attest_cli_error(cli, status, &err);
}

static int list_families(const attest_cli *cli)
{
    static const attest_column columns[] = { { .head = "family", .width = 22 },
                                             { .head = "argument", .width = 22 },
                                             { .head = "why" } };
    attest_table table;
    attest_table_begin(&table, stdout, ATTEST_TABLE_CONSOLE, columns, 3);
    for (size_t i = 0; i < attest_family_count; i++) {
        const attest_family_info *f = &attest_families[i];
        attest_table_cell(&table, "%s", f->name);
        attest_table_cell(&table, "%s", f->argument ? f->argument : "-");
        attest_table_cell(&table, "%s%s", f->why, f->constant ? " [constant]" : "");
    }
    return end_table(&table, cli);
}

static int list_defects(const attest_cli *cli)
{
    static const attest_column columns[] = { { .head = "defect", .width = 30 },
                                             { .head = "base kernel", .width = 21 },
                                             { .head = "models", .width = 34 },
                                             { .head = "what is wrong" } };
    attest_table table;
    char name[128];
    attest_table_begin(&table, stdout, ATTEST_TABLE_CONSOLE, columns, 4);
    for (size_t k = 0; k < attest_defect_count; k++) {
        attest_table_cell(&table, "%s", attest_defect_name(name, &attest_defects[k]));
        attest_table_cell(&table, "%s", attest_defects[k].base);
        attest_table_cell(&table, "%s", attest_defects[k].bugs);
        attest_table_cell(&table, "%s", attest_defects[k].what);
    }
    return end_table(&table, cli);
}

static int list_kernels(const attest_cli *cli)
{
    static const attest_column columns[] = { { .head = "kernel", .width = 22 },
                                             { .head = "form", .width = 10 },
                                             { .head = "device", .width = 6 },
                                             { .head = "what it does" } };
    attest_table table;
    attest_error err = { "" };
    attest_worker *worker = NULL;
    const attest_status status = attest_worker_start(&worker, NULL, 30, &err);
    if (status != ATTEST_OK)
        return attest_cli_error(cli, status, &err);
    attest_table_begin(&table, stdout, ATTEST_TABLE_CONSOLE, columns, 4);
    for (size_t i = 0; i < attest_worker_kernel_count(worker); i++) {
        const attest_kernel_facts *k = attest_worker_kernel(worker, i);
        attest_table_cell(&table, "%s", k->name);
        attest_table_cell(&table, "%s", attest_form_name(k->form));
        attest_table_cell(&table, "%s", attest_device_name(k->device_type));
        attest_table_cell(&table, "%s\n%41s%s", k->summary, "serves: ", k->variants);
    }
    attest_worker_free(worker);
    return end_table(&table, cli);
}

int attest_command_list(const attest_cli *cli)
{
    const char *what = cli->argument[0];
    if (strcmp(what, "variants") == 0)
        return list_variants(cli);
    if (strcmp(what, "families") == 0)
        return list_families(cli);
    if (strcmp(what, "kernels") == 0)
        return list_kernels(cli);
    if (strcmp(what, "properties") == 0) {
        attest_props_list(stdout);
        return 0;
    }
    if (strcmp(what, "claims") == 0) {
        attest_claims_list(stdout);
        return 0;
    }
    if (strcmp(what, "defects") == 0)
        return list_defects(cli);
    attest_error err;
    attest_fail(&err, ATTEST_BAD_INPUT, "'%s': kernels, variants, properties, families, claims or defects", what);
    return attest_cli_error(cli, ATTEST_BAD_INPUT, &err);
}
