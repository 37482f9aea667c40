/* worker_protocol.h - what attest and attest-worker say to each other, and where tensors lie.
 *
 * One request, one reply, each a plain struct in one packet of a SOCK_SEQPACKET pair (fd 3 of the worker).
 * Both ends are built together, so the structs need no versions of their own; HELLO carries their sizes to
 * catch a worker of another build.  Tensors lie in one memfd (fd 4): an attest_shared header, then the
 * segments it lists, each of whole pages.  The parent lays out (worker_layout.h), fills and inspects; the worker
 * maps each segment between two guards (inputs read-only) and runs the kernel.
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
#define ATTEST_WORKER_MEMORY 4
#define ATTEST_WORKER_ALIGN 64            /* of every tensor that is not shifted, and of the workspace */
#define ATTEST_WORKER_GUARD (64u * 1024u) /* PROT_NONE bytes before and after each segment */
#define ATTEST_WORKER_SEGMENTS (ATTEST_MAX_TENSORS + 1)

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
    uint64_t facts_size, request_size, answer_size, shared_size;
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
    attest_problem problem;
} attest_packet_request;

typedef struct attest_packet_answer {
    uint32_t type;
    uint32_t supported;       /* QUERY */
    uint32_t status;          /* RUN: attest_status of run() */
    uint32_t fp_changed;      /* RUN: 1 if fp_state tells a change, by loading or by run() */
    uint32_t input_changed;   /* RUN on a device: 1 + segment of the first input that changed; else 0 */
    uint32_t harness;         /* attest_status of the worker's own work; `why` tells */
    uint32_t differs;         /* RUN: the call, from 2 on, at which a comparison stopped; else 0 */
    uint32_t threads;         /* of the worker, after the answer was found */
    uint64_t workspace;       /* QUERY: bytes wanted */
    attest_declared declared; /* QUERY: what the bounds take on this problem */
    double seconds;
    char why[256];
    char fp_state[64];
} attest_packet_answer;

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
    uint64_t offset;      /* of the first in the memfd, whole pages */
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

typedef struct attest_shared {
    attest_fault fault;
    uint32_t segment_count;
    uint32_t reserved;
    attest_segment segment[ATTEST_WORKER_SEGMENTS];
} attest_shared;

#endif
