/* worker_private.h - the parent's side of the worker, shared by worker.c, worker_start.c and worker_run.c.
 *
 * A worker belongs to the thread that started it (the kernel ends it when that thread ends).
 */
#ifndef ATTEST_WORKER_PRIVATE_H
#define ATTEST_WORKER_PRIVATE_H

#include <sys/types.h>

#include "verify/worker/worker_protocol.h"

/* Seconds that a library's close() may take. */
#define ATTEST_WORKER_CLOSE 2.0

/* Failed starts in a row after which a worker is not started again. */
#define ATTEST_WORKER_STARTS 3

struct attest_worker {
    char *path;    /* of attest-worker */
    char *library; /* NULL: built-in kernels */
    double timeout_s;
    pid_t pid; /* -1: dead */
    int socket, memory;
    attest_shared *shared;
    size_t page;
    int failed_starts;
    int closes;             /* the library has a close() */
    unsigned threads;       /* what OMP_NUM_THREADS says to the next process; 0: what it says to us */
    uint32_t threads_start; /* of the process when it had loaded the library */
    uint32_t strays;        /* threads beyond these that the last answer left behind, of kernel `ran` */
    uint32_t ran;
    size_t kernel_count;
    attest_kernel_facts *kernel;
};

typedef enum attest_exchange {
    ATTEST_EXCHANGE_OK = 0,
    ATTEST_EXCHANGE_LATE = 1,   /* no answer in time; killed */
    ATTEST_EXCHANGE_ENDED = 2,  /* the worker died; wait status filled */
    ATTEST_EXCHANGE_GARBLED = 3 /* a packet of another kind; killed */
} attest_exchange;

/* Receives one packet of exactly `size` bytes and type `type`.  Not OK: the worker is dead and reaped. */
attest_exchange attest_worker_receive(attest_worker *worker, void *packet, size_t size, uint32_t type, double timeout_s,
                                      int *wait_status);
attest_exchange attest_worker_ask(attest_worker *worker, const attest_packet_request *request,
                                  attest_packet_answer *answer, double timeout_s, int *wait_status);

/* Kills the process group and reaps; returns the wait status of the worker, -1 if it was dead already. */
int attest_worker_kill(attest_worker *worker);

/* Starts the process and reads the kernel list; a kernel list that is there already must be the same. */
attest_status attest_worker_launch(attest_worker *worker, attest_error *err);

/* Starts the worker again if it is dead.  Ends it before if threads of another kernel than `index` are left in it:
 * on the host what they do would be this one's. */
attest_status attest_worker_alive(attest_worker *worker, size_t index, attest_error *err);

/* `signal 11 (Segmentation fault)` or `exit code 3`. */
void attest_worker_death_text(char *text, size_t len, int wait_status);

#endif
