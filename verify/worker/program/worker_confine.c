/* worker_confine.c - see worker_confine.h.
 *
 * Landlock: every right to write, make, remove, rename or truncate is handled, and so are ioctl() of devices, signals
 * and abstract sockets where the system knows them; reading and running are not.  seccomp: a filter written by hand.
 * A call that it refuses gives EPERM, so that a library that asks in passing goes on. */
#include "verify/worker/program/worker_confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "verify/worker/worker_protocol.h"

/* ---- Landlock: numbers of linux/landlock.h, which older systems lack --------------------------------------------- */
#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule 445
#define SYS_landlock_restrict_self 446
#endif

enum {
    WRITE_FILE = 1 << 1,
    ALL_WRITES = 0x1ff2,
    REFER = 1 << 13,
    TRUNCATE = 1 << 14,
    IOCTL_DEV = 1 << 15
}; /* ALL_WRITES: bits 1, 4 to 12 */
enum { SCOPES = 3, VERSION = 1, RULE_PATH = 1 };

typedef struct landlock_rules {
    uint64_t files, net, scopes;
} landlock_rules;

typedef struct landlock_path {
    uint64_t allowed;
    int32_t fd;
} __attribute__((packed)) landlock_path;

/* Devices that kernels compute on or read from; what lies under a folder too. */
static const char *const devices[] = {
    "/dev/null",        "/dev/zero",     "/dev/full",       "/dev/random",           "/dev/urandom",
    "/dev/nvidiactl",   "/dev/nvidia0",  "/dev/nvidia1",    "/dev/nvidia2",          "/dev/nvidia3",
    "/dev/nvidia4",     "/dev/nvidia5",  "/dev/nvidia6",    "/dev/nvidia7",          "/dev/nvidia8",
    "/dev/nvidia9",     "/dev/nvidia10", "/dev/nvidia11",   "/dev/nvidia12",         "/dev/nvidia13",
    "/dev/nvidia14",    "/dev/nvidia15", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia-modeset",
    "/dev/nvidia-caps", "/dev/dri",      "/dev/kfd"
};

static int allow(int rules, const char *path, uint64_t rights)
{
    const landlock_path rule = { rights, open(path, O_PATH | O_CLOEXEC) };
    const int allowed = rule.fd >= 0 && syscall(SYS_landlock_add_rule, rules, RULE_PATH, &rule, 0) == 0;
    if (rule.fd >= 0)
        close(rule.fd);
    return allowed;
}

static int confine_files(const char *folder)
{
    const long version = syscall(SYS_landlock_create_ruleset, NULL, 0, VERSION);
    const uint64_t later = (version >= 3 ? TRUNCATE : 0) | (version >= 5 ? IOCTL_DEV : 0);
    const uint64_t files = (uint64_t)ALL_WRITES | (version >= 2 ? REFER : 0) | later;
    const landlock_rules handled = { files, 0, SCOPES };
    const size_t size = version >= 6 ? sizeof handled : offsetof(landlock_rules, net);
    if (version < 1)
        return 0;
    const int rules = (int)syscall(SYS_landlock_create_ruleset, &handled, size, 0);
    if (rules < 0)
        return 0;
    for (size_t i = 0; i < sizeof devices / sizeof devices[0]; i++)
        allow(rules, devices[i], WRITE_FILE | later);
    if (folder)
        allow(rules, folder, files);
    const int done = syscall(SYS_landlock_restrict_self, rules, 0) == 0;
    close(rules);
    return done;
}

/* ---- seccomp ----------------------------------------------------------------------------------------------------- */
#if defined(__x86_64__)
#define THIS_ARCH AUDIT_ARCH_X86_64
#define FOREIGN_CALLS 0x40000000u /* the x32 numbers, of the same architecture */
#elif defined(__aarch64__)
#define THIS_ARCH AUDIT_ARCH_AARCH64
#define FOREIGN_CALLS 0xffffffffu
#endif

#ifdef THIS_ARCH
/* Refused whatever the arguments are. */
static const uint32_t refused[] = {
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_rt_sigqueueinfo,
    SYS_rt_tgsigqueueinfo,
    SYS_kcmp,
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_setns,
    SYS_unshare,
    SYS_bpf,
    SYS_keyctl,
    SYS_add_key,
    SYS_request_key,
    SYS_reboot,
    SYS_swapon,
    SYS_swapoff,
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_kexec_load,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_sethostname,
    SYS_acct,
    SYS_quotactl,
    SYS_open_by_handle_at,
    424 /* pidfd_send_signal */,
    428 /* open_tree */,
    429 /* move_mount */,
    430 /* fsopen */,
    432 /* fsmount */,
    438 /* pidfd_getfd */,
    440 /* process_madvise */,
    442 /* mount_setattr */
};
enum { REFUSED = sizeof refused / sizeof refused[0] };

/* Allowed where the first argument, a process, is this one or 0 (its own group, or itself). */
static const uint32_t own[] = { SYS_prlimit64, SYS_kill, SYS_tgkill, SYS_tkill };
enum { OWN = sizeof own / sizeof own[0], LIMITS = 1 /* of them */ };

/* Refused with this second argument: signals to others by way of a descriptor; what another's terminal reads, how, and
 * for whom. */
static const uint32_t refused_with[][2] = { { SYS_fcntl, F_SETOWN },
                                            { SYS_fcntl, F_SETSIG },
                                            { SYS_fcntl, F_SETOWN_EX },
                                            { SYS_ioctl, 0x8901 /* FIOSETOWN */ },
                                            { SYS_ioctl, 0x8902 /* SIOCSPGRP */ },
                                            { SYS_ioctl, TIOCSTI },
                                            { SYS_ioctl, TIOCLINUX },
                                            { SYS_ioctl, TIOCSPGRP },
                                            { SYS_ioctl, TIOCSCTTY },
                                            { SYS_ioctl, TCSETS },
                                            { SYS_ioctl, TCSETSW },
                                            { SYS_ioctl, TCSETSF },
                                            { SYS_ioctl, 0x402c542b /* TCSETS2 */ },
                                            { SYS_ioctl, 0x402c542c /* TCSETSW2 */ },
                                            { SYS_ioctl, 0x402c542d /* TCSETSF2 */ } };
enum { WITH = sizeof refused_with / sizeof refused_with[0], ROOM = 8 + 2 * REFUSED + 6 * OWN + 5 * WITH };

static void put(struct sock_filter *f, size_t *n, uint16_t code, uint32_t k, size_t yes, size_t no)
{
    f[(*n)++] = (struct sock_filter){ code, (uint8_t)yes, (uint8_t)no, k };
}

/* The call, where the first argument is a process that may be meant; it is an int: its upper half is not looked at. */
static void put_own(struct sock_filter *f, size_t *n, uint32_t call, uint32_t self, int alone)
{
    const uint16_t load = BPF_LD | BPF_W | BPF_ABS, equal = BPF_JMP | BPF_JEQ | BPF_K, give = BPF_RET | BPF_K;
    put(f, n, equal, call, 0, alone ? 4 : 5);
    put(f, n, load, offsetof(struct seccomp_data, args[0]), 0, 0);
    if (alone) {
        put(f, n, equal, 1, 0, 1);
    } else {
        put(f, n, equal, self, 2, 0);
        put(f, n, equal, 0, 1, 0);
    }
    put(f, n, give, SECCOMP_RET_ERRNO | EPERM, 0, 0);
    put(f, n, give, SECCOMP_RET_ALLOW, 0, 0);
}

static int confine_calls(int alone)
{
    struct sock_filter f[ROOM];
    const uint16_t load = BPF_LD | BPF_W | BPF_ABS, equal = BPF_JMP | BPF_JEQ | BPF_K, give = BPF_RET | BPF_K;
    const uint32_t no = SECCOMP_RET_ERRNO | EPERM, self = (uint32_t)getpid();
    size_t n = 0;
    put(f, &n, load, offsetof(struct seccomp_data, arch), 0, 0);
    put(f, &n, equal, THIS_ARCH, 1, 0);
    put(f, &n, give, no, 0, 0);
    put(f, &n, load, offsetof(struct seccomp_data, nr), 0, 0);
    put(f, &n, BPF_JMP | BPF_JGE | BPF_K, FOREIGN_CALLS, 0, 1);
    put(f, &n, give, no, 0, 0);
    for (size_t i = 0; i < REFUSED; i++) {
        put(f, &n, equal, refused[i], 0, 1);
        put(f, &n, give, no, 0, 0);
    }
    for (size_t i = 0; i < OWN; i++)
        put_own(f, &n, own[i], self, alone && i >= LIMITS);
    for (size_t i = 0; i < WITH; i++) {
        put(f, &n, equal, refused_with[i][0], 0, 4);
        put(f, &n, load, offsetof(struct seccomp_data, args[1]), 0, 0);
        put(f, &n, equal, refused_with[i][1], 0, 1);
        put(f, &n, give, no, 0, 0);
        put(f, &n, load, offsetof(struct seccomp_data, nr), 0, 0);
    }
    put(f, &n, give, SECCOMP_RET_ALLOW, 0, 0);
    const struct sock_fprog program = { (unsigned short)n, f };
    /* Of this process only it is known that its speculation needs no reins. */
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program) == 0 ||
           syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}
#else
static int confine_calls(int alone)
{
    (void)alone;
    return 0;
}
#endif

/* ---- rights ------------------------------------------------------------------------------------------------------ */
/* Root keeps the right to read what others may not; who runs attest as root expects that its files open. */
static void drop_rights(void)
{
    struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
    struct __user_cap_data_struct data[2] = { { 0, 0, 0 }, { 0, 0, 0 } };
    for (unsigned long c = 0; c <= 63 && prctl(PR_CAPBSET_READ, c, 0, 0, 0) >= 0; c++)
        if (c != CAP_DAC_READ_SEARCH)
            prctl(PR_CAPBSET_DROP, c, 0, 0, 0);
    if (syscall(SYS_capget, &header, data) != 0)
        return;
    const uint32_t kept = data[0].permitted & (1u << CAP_DAC_READ_SEARCH);
    data[0] = (struct __user_cap_data_struct){ kept, kept, 0 };
    data[1] = (struct __user_cap_data_struct){ 0, 0, 0 };
    syscall(SYS_capset, &header, data);
}

uint64_t attest_confine(const char *folder, int alone)
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return 0;
    drop_rights();
    const int files = confine_files(folder);
    const int calls = confine_calls(alone);
    return (files ? ATTEST_CONFINED_LANDLOCK : 0) | (calls ? ATTEST_CONFINED_SECCOMP : 0);
}
