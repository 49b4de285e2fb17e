/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The bounded queue between the decoding thread and the writing thread: a ring of batches that
 * are filled and emptied in turn.
 */
#ifndef FS_LOAD_QUEUE_H
#define FS_LOAD_QUEUE_H

#include <pthread.h>

#include "ingest/load/decode.h"

enum { FS_QUEUE_BATCHES = 4 };

struct fs_queue {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct fs_batch batches[FS_QUEUE_BATCHES];
	size_t filled; /* batches handed over so far */
	size_t emptied;
	bool ended;   /* no more will come */
	bool stopped; /* the writer gave up */
};

int fs_queue_init(struct fs_queue *queue);
void fs_queue_free(struct fs_queue *queue);

/* For the decoder: an empty batch, NULL once the writer has stopped; hand it over; end. */
struct fs_batch *fs_queue_empty(struct fs_queue *queue);
void fs_queue_put(struct fs_queue *queue);
void fs_queue_end(struct fs_queue *queue);

/* For the writer: the next batch, NULL at the end; give it back; stop early. */
const struct fs_batch *fs_queue_take(struct fs_queue *queue);
void fs_queue_give(struct fs_queue *queue);
void fs_queue_stop(struct fs_queue *queue);

#endif
