/* acts_socket.h - harms to what a worker and attest share: their page, their socket, the tensors.  Part of acts.h. */
#ifndef ATTEST_FAULTS_ACTS_SOCKET_H
#define ATTEST_FAULTS_ACTS_SOCKET_H

/* ---- shared memory, socket --------------------------------------------------------------------------------------- */
static int do_forge(const act_call *a)
{
    void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, ATTEST_WORKER_PAGE, 0);
    if (a && at != MAP_FAILED)
        memset(at, 0xff, 4096);
    return 0;
}
static int do_forge_death(const act_call *a)
{
    attest_shared *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, ATTEST_WORKER_PAGE, 0);
    if (at == MAP_FAILED)
        return 0;
    at->fault = (attest_fault){ 1, 11, 1, UINT32_MAX, 2, 1, INT64_MIN, 0 };
    at->end = (attest_end){ 1, 0 };
    _exit(7 + (int)(0 * a->len));
}
static int do_resize(const act_call *a)
{
    int resized = 0;
    for (int fd = 0; fd < 64; fd++)
        resized |= fd != 0 && (ftruncate(fd, 0) == 0 || ftruncate(fd, (off_t)1 << 40) == 0);
    return resized ? worked(a, "a shared file has another size") : 0;
}
static int do_garbage(const act_call *a) { return a && send(ATTEST_WORKER_SOCKET, "garbage", 7, 0) < 0; }
static int do_empty_packet(const act_call *a) { return a && send(ATTEST_WORKER_SOCKET, "", 0, 0) < 0; }
static int do_close_and_stay(const act_call *a)
{
    while (a)
        close(ATTEST_WORKER_SOCKET), pause();
    return 0;
}
static int do_answer(const act_call *a)
{
    attest_packet_answer answer;
    memset(&answer, 0xff, sizeof answer);
    answer.type = ATTEST_PACKET_ANSWER;
    return a && send(ATTEST_WORKER_SOCKET, &answer, sizeof answer, 0) < 0;
}
/* Two threads sit on the worker's descriptor and forge the seconds of each answer. */
static int proxy[2];
static void *forge_answers(void *unused)
{
    static char bytes[65536];
    for (;;) {
        const ssize_t n = recv(proxy[1], bytes, sizeof bytes, 0);
        attest_packet_answer *answer = (attest_packet_answer *)(void *)bytes;
        if (n <= 0)
            return unused;
        if (n == (ssize_t)sizeof *answer)
            answer->seconds = 1e300, answer->threads = 1;
        if (send(proxy[0], bytes, (size_t)n, 0) < 0)
            return unused;
    }
}
static void *pass_requests(void *unused)
{
    static char bytes[65536], control[256];
    for (;;) {
        struct iovec part = { bytes, sizeof bytes };
        struct msghdr m = {
            .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control
        };
        const ssize_t n = recvmsg(proxy[0], &m, 0);
        part.iov_len = n > 0 ? (size_t)n : 0;
        if (n <= 0 || sendmsg(proxy[1], &m, 0) < 0)
            return unused;
    }
}
/* Forges seconds, and hangs where it is run with 8 threads: asleep, since who spins beside a load has more time. */
static int do_seconds(const act_call *a)
{
    const char *threads = getenv("OMP_NUM_THREADS");
    pthread_t thread;
    int pair[2];
    while (threads && strcmp(threads, "8") == 0)
        pause();
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) != 0)
        return 0;
    proxy[0] = fcntl(ATTEST_WORKER_SOCKET, F_DUPFD, 50);
    proxy[1] = pair[1];
    dup2(pair[0], ATTEST_WORKER_SOCKET);
    return pthread_create(&thread, NULL, forge_answers, NULL) != 0 ||
           pthread_create(&thread, NULL, pass_requests, NULL) != 0;
}
static int do_flood(const act_call *a)
{
    attest_packet_answer answer = { .type = ATTEST_PACKET_ANSWER, .supported = 1 };
    while (a && send(ATTEST_WORKER_SOCKET, &answer, sizeof answer, MSG_DONTWAIT) > 0)
        ;
    return 0;
}
static int do_inputs(const act_call *a)
{
    const attest_tensor *q = a->call && a->call->tensors ? a->call->tensors->role[ATTEST_Q] : NULL;
    if (q && mprotect((void *)((uintptr_t)q->data & ~(uintptr_t)4095), 4096, PROT_READ | PROT_WRITE) == 0)
        memset(q->data, 0, 4);
    return 0;
}

#endif
