/* SPDX-License-Identifier: GPL-2.0-only */
#include "ingest/load/queue.h"

int fs_queue_init(struct fs_queue *queue)
{
	*queue = (struct fs_queue){ 0 };
	pthread_mutex_init(&queue->lock, NULL);
	pthread_cond_init(&queue->changed, NULL);
	for (size_t i = 0; i < FS_QUEUE_BATCHES; i++)
		if (fs_batch_init(&queue->batches[i]))
			return FS_NOMEM;
	return 0;
}

void fs_queue_free(struct fs_queue *queue)
{
	for (size_t i = 0; i < FS_QUEUE_BATCHES; i++)
		fs_batch_free(&queue->batches[i]);
	pthread_cond_destroy(&queue->changed);
	pthread_mutex_destroy(&queue->lock);
}

struct fs_batch *fs_queue_empty(struct fs_queue *queue)
{
	struct fs_batch *batch;

	pthread_mutex_lock(&queue->lock);
	while (queue->filled - queue->emptied == FS_QUEUE_BATCHES && !queue->stopped)
		pthread_cond_wait(&queue->changed, &queue->lock);
	batch = queue->stopped ? NULL : &queue->batches[queue->filled % FS_QUEUE_BATCHES];
	pthread_mutex_unlock(&queue->lock);
	return batch;
}

const struct fs_batch *fs_queue_take(struct fs_queue *queue)
{
	const struct fs_batch *batch = NULL;

	pthread_mutex_lock(&queue->lock);
	while (queue->filled == queue->emptied && !queue->ended)
		pthread_cond_wait(&queue->changed, &queue->lock);
	if (queue->filled != queue->emptied)
		batch = &queue->batches[queue->emptied % FS_QUEUE_BATCHES];
	pthread_mutex_unlock(&queue->lock);
	return batch;
}

/* Change the state under the lock and wake the other side. */
#define CHANGE(queue, statement)                                                                   \
	do {                                                                                       \
		pthread_mutex_lock(&(queue)->lock);                                                \
		statement;                                                                         \
		pthread_cond_signal(&(queue)->changed);                                            \
		pthread_mutex_unlock(&(queue)->lock);                                              \
	} while (0)

void fs_queue_put(struct fs_queue *queue)
{
	CHANGE(queue, queue->filled++);
}

void fs_queue_end(struct fs_queue *queue)
{
	CHANGE(queue, queue->ended = true);
}

void fs_queue_give(struct fs_queue *queue)
{
	CHANGE(queue, queue->emptied++);
}

void fs_queue_stop(struct fs_queue *queue)
{
	CHANGE(queue, queue->stopped = true);
}
