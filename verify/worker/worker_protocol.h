/* worker_protocol.h - what attest and attest-worker say to each other, and where tensors lie.
 *
 * One request, one reply, each a plain struct in one packet of a SOCK_SEQPACKET pair (fd 3 of the worker).
 * Both ends are built together, so the structs need no versions of their own; HELLO carries their sizes to
 * catch a worker of another build.  An answer repeats the number of its request.
 *
 * Two processes: a supervisor, which loads nothing, and the worker that it forks and ends with all that the worker has
 * started.  Both map one page (fd 4, attest_shared): how the worker faulted and how it ended.  Tensors lie in a memfd
 * of their own, which comes with each RUN and cannot change its size: an attest_table, then the segments it lists,
 * each of whole pages.  The parent lays out (worker_layout.h), fills and inspects, by a table of its own; the worker
 * maps each segment between two guards (inputs read-only) and runs the kernel.  What the parent reads from shared
 * pages or from an answer may be forged: it is checked, and never a size or an address.
 *
 * Order: HELLO before the library is loaded, LOADED after, then a FACTS packet per kernel; from then on the
 * parent asks QUERY or RUN and gets ANSWER.  End of file on the socket ends the worker.
 */
#ifndef ATTEST_WORKER_PROTOCOL_H
#define ATTEST_WORKER_PROTOCOL_H

#include "kernels/library/library.h"
#include "verify/worker/worker.h"

#define ATTEST_WORKER_NAME "main" /* of the process: argv[0], comm */
#define ATTEST_WORKER_SOCKET 3
#define ATTEST_WORKER_PAGE 4              /* the memfd of the attest_shared */
#define ATTEST_WORKER_ALIGN 64            /* of every tensor that is not shifted, and of the workspace */
#define ATTEST_WORKER_GUARD (64u * 1024u) /* PROT_NONE bytes before and after each segment */
#define ATTEST_WORKER_ORDER                                                                                            \
    "ATTEST_CUDA_HOST_ORDER" /* the order of threads on cuda-host (kernels/cuda/host/machine.h) */
#define ATTEST_WORKER_SEGMENTS (ATTEST_MAX_TENSORS + 1)

enum {                                /* what holds the worker back, by HELLO */
       ATTEST_CONFINED_SECCOMP = 1,   /* signals to, and the memory of, other processes are refused */
       ATTEST_CONFINED_LANDLOCK = 2,  /* files are written in the worker's own folder only */
       ATTEST_CONFINED_NAMESPACE = 4, /* it sees no process but its own */
};

enum { /* packet types */
       ATTEST_PACKET_HELLO = 0x61745701,
       ATTEST_PACKET_LOADED = 0x61745702,
       ATTEST_PACKET_FACTS = 0x61745703,
       ATTEST_PACKET_QUERY = 0x61745704,
       ATTEST_PACKET_RUN = 0x61745705,
       ATTEST_PACKET_ANSWER = 0x61745706
};

typedef struct attest_packet_hello {
    uint32_t type, abi_version;
    uint64_t confined;                                           /* ATTEST_CONFINED_* */
    uint64_t facts_size, request_size, answer_size, shared_size; /* shared_size: of attest_table */
} attest_packet_hello;

typedef struct attest_packet_loaded {
    uint32_t type;
    uint32_t status;              /* attest_status of loading */
    uint32_t kernel_count;        /* FACTS packets that follow */
    uint32_t closes;              /* 1: the library has a close(), which the worker calls when it ends in order */
    uint32_t threads;             /* of the worker, after loading */
    char text[ATTEST_ERROR_TEXT]; /* the message when status is not 0 */
} attest_packet_loaded;

typedef struct attest_packet_facts {
    uint32_t type, index;
    attest_kernel_facts facts;
} attest_packet_facts;

typedef struct attest_packet_request {
    uint32_t type; /* QUERY: supports() and workspace(); RUN: run() on the segments listed in the header */
    uint32_t kernel;
    uint32_t calls;   /* RUN: of run(), each on outputs that hold what they held before the first; C order if above 1 */
    uint32_t compare; /* RUN: 1 = stop at the first call whose outputs have other bits than those of the first */
    uint32_t own_stream, reserved; /* RUN, of one call: 1 = on a stream of its own, where the library can */
    uint64_t number;               /* of the request; never used twice for one process */
    char order[24];                /* RUN: what ATTEST_WORKER_ORDER says meanwhile; "": what the environment says */
    attest_problem problem;
} attest_packet_request;

typedef struct attest_packet_answer {
    uint32_t type;
    uint32_t children;      /* 1: the worker has processes of its own, running or not waited for */
    uint64_t number;        /* of the request */
    uint32_t supported;     /* QUERY */
    uint32_t status;        /* RUN: attest_status of run(), or of what the library does for it */
    int32_t returned;       /* RUN: what was no attest_status and ATTEST_KERNEL_ERROR stands for; else 0 */
    uint32_t fp_changed;    /* RUN: 1 if fp_state tells a change, by loading or by run() */
    uint32_t input_changed; /* RUN on a device: 1 + segment of the first input that changed; else 0 */
    uint32_t harness;       /* attest_status of the worker's own work; `why` tells */
    uint32_t differs;       /* RUN: the call, from 2 on, at which a comparison stopped; else 0 */
    uint32_t threads;       /* of the worker, after the answer was found */
    uint32_t own_stream;    /* RUN: 1 = it was on a stream of its own */
    uint32_t reserved;
    uint64_t workspace;       /* QUERY: bytes wanted */
    attest_declared declared; /* QUERY: what the bounds take on this problem */
    double seconds;
    char why[256];
    char fp_state[64];
} attest_packet_answer;

static inline int attest_is_status(uint32_t status)
{
    return status <= ATTEST_KERNEL_ERROR || status == ATTEST_INTERNAL;
}

typedef enum attest_segment_use {
    ATTEST_SEGMENT_INPUT = 0,
    ATTEST_SEGMENT_OUTPUT = 1,
    ATTEST_SEGMENT_WORKSPACE = 2
} attest_segment_use;

typedef struct attest_segment {
    uint32_t use;  /* attest_segment_use */
    uint32_t kind; /* attest_tensor_id */
    uint32_t index;
    uint32_t axis;        /* whose entries the islands are */
    uint64_t islands;     /* pieces, one after the other in the memfd; 1: all in one */
    uint64_t apart;       /* bytes from one to the next where the worker maps them */
    uint64_t offset;      /* of the first in the memfd of the tensors, whole pages */
    uint64_t bytes;       /* of one, whole pages */
    uint64_t start;       /* of the data in each: a multiple of ATTEST_WORKER_ALIGN, or shifted from one */
    uint64_t size;        /* bytes from the first to the last element of one */
    attest_tensor tensor; /* strides as the worker maps it; data NULL */
} attest_segment;

/* Bytes of address space that a segment spans in the worker. */
static inline uint64_t attest_segment_reach(const attest_segment *s) { return (s->islands - 1) * s->apart + s->bytes; }

/* Written by the worker's signal handler just before it dies of SIGSEGV or SIGBUS. */
typedef struct attest_fault {
    uint32_t valid;
    int32_t signal;
    uint32_t found; /* 1: the address lies in or beside segment `segment` */
    uint32_t segment;
    uint32_t access;  /* 0 unknown, 1 read, 2 write */
    int32_t place;    /* -1 guard before, 0 inside, +1 guard after */
    int64_t distance; /* bytes from the data's start (before) or end (after) */
    uint64_t address;
} attest_fault;

/* Written by the supervisor as the last thing it does: nothing of the worker is alive any more. */
typedef struct attest_end {
    uint32_t valid;
    int32_t status; /* of the worker, as wait() gives it */
} attest_end;

/* Which function of the kernel a QUERY has come to: the first, as the parent sets it, or what the worker writes; it
 * tells in which one it died. */
enum { ATTEST_ASKING_SUPPORTS = 0, ATTEST_ASKING_NUMERICS = 1, ATTEST_ASKING_WORKSPACE = 2 };

typedef struct attest_shared {
    attest_fault fault;
    attest_end end;
    uint32_t asking, reserved;
} attest_shared;

/* At the start of the tensors' memfd; only `count` segments are written. */
typedef struct attest_table {
    uint32_t count, reserved;
    attest_segment segment[ATTEST_WORKER_SEGMENTS];
} attest_table;

#endif
