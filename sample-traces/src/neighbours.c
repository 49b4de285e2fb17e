/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Two threads, pinned to two CPUs, each working on a field of its own; both fields are on one
 * cache line: false sharing in its plainest form. Recorded with hardware watchpoints on the two
 * fields (record-watchpoints), so that every access is seen with its exact address.
 *
 * Started without arguments it prints the addresses of the two fields and waits for a line on
 * standard input, so that perf can be attached; then it runs and prints the sums.
 *
 *   neighbours [ROUNDS]
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

struct statistics {
	unsigned int produced; /* written by the producer only */
	unsigned int consumed; /* written by the consumer only, 4 bytes further */
	unsigned int limit;    /* read by both, written by none */
} __attribute__((aligned(64)));

static struct statistics statistics;
static pthread_barrier_t start;

static void run_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (pthread_setaffinity_np(pthread_self(), sizeof(set), &set))
		exit(3);
}

static void *produce(void *unused)
{
	volatile struct statistics *shared = &statistics;

	(void)unused;
	run_on(0);
	pthread_barrier_wait(&start);
	while (shared->produced < shared->limit)
		shared->produced++;
	return NULL;
}

static void *consume(void *unused)
{
	volatile struct statistics *shared = &statistics;

	(void)unused;
	run_on(1);
	pthread_barrier_wait(&start);
	while (shared->consumed < shared->limit)
		shared->consumed++;
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t producer, consumer;

	statistics.limit = argc > 1 ? (unsigned int)strtoul(argv[1], NULL, 10) : 20000;
	printf("%p %p\n", (void *)&statistics.produced, (void *)&statistics.consumed);
	fflush(stdout);
	if (getchar() == EOF)
		return 2;
	pthread_barrier_init(&start, NULL, 2);
	if (pthread_create(&producer, NULL, produce, NULL) ||
	    pthread_create(&consumer, NULL, consume, NULL))
		return 3;
	pthread_join(producer, NULL);
	pthread_join(consumer, NULL);
	printf("%u %u\n", statistics.produced, statistics.consumed);
	return 0;
}
