/*
 * Moves the wall clock of the one process that it is preloaded into, and nobody else's.
 *
 * What is added lies in a file of eight bytes (nanoseconds, as this machine writes an int64_t)
 * that LOCKDRILL_CLOCK_FILE names. The file is mapped once; the lab writes to it, and the next
 * reading of the clock shows it. The monotonic clocks are left alone: the lab's own time is one.
 *
 * Asks the kernel itself and allocates nothing, because a process may read its clock long before
 * its allocator is ready.
 *
 * Not covered: what the kernel does by its own wall clock (absolute timers and waits, dates of
 * files), and programs that do not ask libc (static ones, Go).
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000

static const int64_t nothing;
static const int64_t *added = &nothing;

__attribute__((constructor)) static void attach(void)
{
    const char *path = getenv("LOCKDRILL_CLOCK_FILE");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0)
        return;
    void *mapped = mmap(NULL, sizeof *added, PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (mapped != MAP_FAILED)
        added = mapped;
}

static int is_wall_clock(clockid_t clock)
{
    return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI;
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
    int failed = (int)syscall(SYS_clock_gettime, clock, time);
    if (!failed && is_wall_clock(clock)) {
        int64_t move = __atomic_load_n(added, __ATOMIC_RELAXED);
        int64_t nanos = time->tv_nsec + move % SECOND;
        time->tv_sec += move / SECOND + (nanos >= SECOND) - (nanos < 0);
        time->tv_nsec = nanos + (nanos < 0 ? SECOND : 0) - (nanos >= SECOND ? SECOND : 0);
    }
    return failed;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone)
{
    struct timespec now;
    (void)zone;
    if (clock_gettime(CLOCK_REALTIME, &now))
        return -1;
    time->tv_sec = now.tv_sec;
    time->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *seconds)
{
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now))
        return -1;
    if (seconds)
        *seconds = now.tv_sec;
    return now.tv_sec;
}

int timespec_get(struct timespec *time, int base)
{
    return base == TIME_UTC && !clock_gettime(CLOCK_REALTIME, time) ? base : 0;
}
