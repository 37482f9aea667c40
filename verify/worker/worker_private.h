/* worker_private.h - the parent's side of the worker: its processes, and what is said to them.
 *
 * A worker belongs to the thread that started it (the kernel ends it when that thread ends).
 */
#ifndef ATTEST_WORKER_PRIVATE_H
#define ATTEST_WORKER_PRIVATE_H

#include <sys/types.h>

#include "verify/worker/worker_protocol.h"
#include "verify/worker/worker_sandbox.h"

/* Seconds that a library's close() may take. */
#define ATTEST_WORKER_CLOSE 2.0

/* Failed starts in a row after which a worker is not started again. */
#define ATTEST_WORKER_STARTS 3

/* Processes that one attest_worker keeps at a time, fewer where the system refuses one (descriptors, processes,
 * memory); beyond, the one used last before makes room.  Each takes two descriptors and about 1 MB. */
#define ATTEST_WORKER_PROCESSES 1024

/* One supervisor with its worker; memory, so that no kernel writes to another's, of its own. */
typedef struct attest_process {
    pid_t pid;          /* of the supervisor; -1: none */
    pid_t inner;        /* of the worker, as we see it; 0: not known */
    int namespace;      /* the supervisor's end is the end of all that the worker started */
    int socket, output; /* output: the end of a pipe, standard output and error of the worker; -1: closed */
    char *printed;      /* what came from it, the first ATTEST_WORKER_OUTPUT bytes since it was last kept */
    size_t printed_length;
    attest_shared *shared;  /* NULL: none */
    uint64_t number;        /* of the last request */
    uint32_t threads_start; /* of the worker when it had loaded the library */
    uint32_t strays;        /* threads beyond these that the last answer left behind */
    int left;               /* 1: the last answer left processes behind */
    int refused;            /* 1: the last start ended before the library was loaded */
    int failed_starts;      /* in a row */
    uint64_t memory_most;   /* bytes above which the worker is ended */
    int alone;              /* 1: no other worker of ours runs: little memory is no reason to end it */
} attest_process;

struct attest_worker {
    char *path;            /* of attest-worker */
    char *library;         /* NULL: built-in kernels */
    attest_file_seen file; /* the library (else attest-worker) as it was when the worker was made, or as expected */
    double timeout_s;
    size_t page;
    attest_sandbox sandbox;
    int closes;        /* the library has a close() */
    int alone;         /* attest_worker_alone() */
    unsigned threads;  /* what OMP_NUM_THREADS says to the next process; 0: what it says to us */
    char variable[64]; /* `NAME=VALUE` of the next process; "": none */
    uint64_t confined; /* ATTEST_CONFINED_*, of the last process started */
    size_t kernel_count;
    attest_kernel_facts *kernel;
    attest_process **process; /* [kernel_count], a kernel each; those of a device share one; NULL: none yet */
    attest_process *spare;    /* has listed the kernels and run none; NULL: none */
    size_t running, last;     /* how many in `process`; the slot used last */
    size_t most;              /* of them at a time */
    char *printed;            /* what kernels printed, ATTEST_WORKER_OUTPUT bytes at most; NULL: nothing */
    size_t printed_length;
};

typedef enum attest_exchange {
    ATTEST_EXCHANGE_OK = 0,
    ATTEST_EXCHANGE_LATE = 1,    /* no answer in time; killed */
    ATTEST_EXCHANGE_ENDED = 2,   /* the worker died; wait status filled */
    ATTEST_EXCHANGE_GARBLED = 3, /* a packet of another kind, or values that no answer has; killed */
    ATTEST_EXCHANGE_MEMORY = 4,  /* more memory than memory_most; killed */
    ATTEST_EXCHANGE_SHORT = 5    /* much memory while little is left, which others may have taken; killed */
} attest_exchange;

/* Receives one packet of exactly `size` bytes and type `type`.  Not OK: the worker is dead and reaped.  Late is
 * what takes longer than `timeout_s` beside attest_process_starved() and beside what all of us stood still (a frozen
 * container), or thirty times `timeout_s`, or `timeout_s` where the worker has processes at work; or than a second once
 * attest_stop_signal() asks for the end.  So is the end of a worker that has closed its socket. */
attest_exchange attest_process_receive(attest_process *process, void *packet, size_t size, uint32_t type,
                                       double timeout_s, int *wait_status);

/* One request and its answer, with the tensors' memfd (-1: none). */
attest_exchange attest_process_ask(attest_process *process, attest_packet_request *request, int memory,
                                   attest_packet_answer *answer, double timeout_s, int *wait_status);

/* The function of the kernel that a QUERY without an answer had come to, as the worker said: `supports()`. */
const char *attest_process_asking(const attest_process *process);

/* Processor time of the worker so far, in seconds, as the system counts it; 0: not known. */
double attest_process_cpu(const attest_process *process);

/* Seconds in which the worker's first thread was ready to run and waited for a processor, so far, as the system counts
 * them; 0: not known (before it has said who it is, and where the system does not count). */
double attest_process_starved(const attest_process *process);

/* Appends ` (it printed: FIRST .. LAST)` to a text: the first line of what it printed since that was last kept, and the
 * last one (or that there was more than is kept), cleaned; nothing where nothing was printed. */
void attest_process_tell_printed(char *text, size_t len, attest_process *process);

/* The two ends of the pipe; its own is closed by the caller once the worker has it. */
attest_status attest_printed_open(int *ours, int *its, attest_error *err);
/* Takes what is there, or a part of very much, without waiting. */
void attest_printed_take(attest_process *process);
void attest_printed_close(attest_process *process);

/* Ends the worker and whatever it started, and reaps; the wait status of the worker, -1 if it was dead already.
 * What it printed is kept: attest_process_clear() lets go of all. */
int attest_process_kill(attest_process *process);
void attest_process_clear(attest_process *process);

/* Asks the worker to end by itself; attest_process_kill() after at most `seconds`. */
void attest_process_shut(attest_process *process);
void attest_process_await(attest_process *process, double deadline);

/* 1 if the supervisor has ended or the socket holds what nobody asked for. */
int attest_process_broken(attest_process *process);

/* The supervisor's first child: the worker; 0: not known. */
pid_t attest_process_child(const attest_process *process);

/* 1 if processes that the worker started have no parent any more but the supervisor. */
int attest_process_orphans(const attest_process *process);

/* Not started; NULL: no memory. */
attest_process *attest_process_new(void);

/* Starts a process and reads the kernel list; a kernel list that is there already must be the same. */
attest_status attest_process_launch(attest_process *process, attest_worker *worker, attest_error *err);

/* The process of kernel `index`: started if there is none, again if it is dead.  Kernels of the host have one each, so
 * that what a thread or a process of one does is not another's; those of a device share one, since a device's context
 * is dear. */
attest_status attest_worker_alive(attest_process **process, attest_worker *worker, size_t index, attest_error *err);

/* Keeps what the process has printed since it was last asked, and empties its output. */
void attest_worker_keep_output(attest_worker *worker, attest_process *process);

/* `signal 11 (Segmentation fault)` or `exit code 3`. */
void attest_worker_death_text(char *text, size_t len, int wait_status);

#endif
