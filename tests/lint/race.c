/* race.c - does `make tsan` see a race?  Threads count in one place; with PLANTED nothing orders them. */
#include <omp.h>
#include <stdio.h>

int main(void)
{
    long count = 0;
#pragma omp parallel num_threads(4)
    for (int n = 0; n < 1000; n++) {
#ifndef PLANTED
#pragma omp critical(count)
#endif
        count++;
    }
    printf("%ld counted by up to 4 threads\n", count);
    return 0;
}
