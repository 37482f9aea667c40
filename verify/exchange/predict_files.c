/* predict_files.c - a line of predictions.jsonl and the tensors beside it; see predict.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/npy/npy.h"
#include "verify/exchange/predict_private.h"

/* KERNEL/0001/NAME.npy of every output, named in `files`. */
static attest_status write_outputs(json_t *files, const char *dir, const attest_prediction *p, attest_error *err)
{
    char path[ATTEST_PREDICT_PATH], name[40], file[160];
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    attest_case c;
    attest_status status = ATTEST_OK;
    ATTEST_TRY(attest_case_parse(&c, p->result.problem, NULL, NULL, err));
    ATTEST_TRY(attest_predict_path(path, dir, p->folder, "", err));
    ATTEST_TRY(attest_output_dir(path, err));
    const size_t count = attest_problem_outputs(&c.problem, ids, ATTEST_MAX_TENSORS);
    for (size_t i = 0; i < count; i++) {
        const attest_tensor *t = attest_bundle_get(p->outputs, ids[i]);
        if (!t)
            continue;
        attest_tensor_id_print(name, sizeof name, ids[i]);
        snprintf(file, sizeof file, "%s/%s.npy", p->folder, name);
        ATTEST_TRY(attest_predict_path(path, dir, NULL, file, err));
        ATTEST_TRY(attest_npy_write(path, t, err));
        json_object_set_new(files, name, attest_json_text(file));
    }
out:
    return status;
}

static json_t *hardware_to_json(const attest_prediction *p)
{
    const attest_hardware *h = &p->hardware;
    if (!p->tensor_cores || p->no_hardware[0])
        return json_null();
    return json_pack("{s:I,s:I,s:o,s:o,s:o}", "elements", (json_int_t)h->elements, "changed", (json_int_t)h->changed,
                     "steps", attest_json_number(h->steps), "norm", attest_json_number(h->norm), "norm_error_exact",
                     attest_json_number(h->norm_error));
}

static json_t *terms_to_json(const attest_result *r)
{
    return json_pack("{s:o,s:o,s:o,s:o,s:o}", "score", attest_json_number(r->term_score), "exp",
                     attest_json_number(r->term_exp), "cast", attest_json_number(r->term_cast), "accumulation",
                     attest_json_number(r->term_accumulation), "division", attest_json_number(r->term_division));
}

attest_status attest_predict_write(FILE *out, const char *dir, const attest_prediction *p, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const attest_result *r = &p->result;
    json_t *object = json_object(), *files = json_object();
    json_object_set_new(object, "kernel", attest_json_text(p->kernel));
    json_object_set_new(object, "version", attest_json_text(p->version));
    json_object_set_new(object, "gpu", attest_json_text(p->gpu));
    json_object_set_new(object, "library", attest_json_text(p->library));
    json_object_set_new(object, "file_hash", attest_json_text(p->file_hash));
    if (p->cannot[0])
        json_object_set_new(object, "cannot", attest_json_text(p->cannot));
    if (p->unsure && !p->cannot[0])
        json_object_set_new(object, "unsure", attest_json_text(p->unsure));
    if (r->problem[0])
        json_object_set_new(object, "problem", attest_json_text(r->problem));
    if (!p->cannot[0]) {
        ATTEST_TRY(write_outputs(files, dir, p, err));
        json_object_set_new(object, "inputs", attest_json_text(p->inputs));
        json_object_set_new(object, "bits", attest_json_text(r->outputs));
        json_object_set(object, "files", files);
        json_object_set_new(object, "verdict", json_string(attest_verdict_names[r->verdict]));
        json_object_set_new(object, "ratio", attest_json_number(r->ratio_hi));
        json_object_set_new(object, "ulp", attest_json_number(r->ulp_hi));
        json_object_set_new(object, "norm_error", attest_json_number(r->norm_error));
        json_object_set_new(object, "hardware", hardware_to_json(p));
        if (p->no_hardware[0])
            json_object_set_new(object, "no_hardware", attest_json_text(p->no_hardware));
        json_object_set_new(object, "terms", terms_to_json(r));
    }
    status = attest_json_line(out, object);
    object = NULL;
    if (status != ATTEST_OK)
        status = attest_print_failed(err, ATTEST_PREDICTIONS);
out:
    json_decref(files);
    json_decref(object);
    return status;
}
