/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/histogram.h"

#include "common/error.h"
#include "common/reader.h"

unsigned int fs_histogram_bucket(uint64_t latency)
{
	unsigned int octave;
	unsigned int bucket;

	if (latency < 8)
		return (unsigned int)latency;
	octave = 63 - (unsigned int)__builtin_clzll(latency);
	bucket = (octave - 2) * 8 + (unsigned int)(latency >> (octave - 3) & 7);
	return bucket < FS_HISTOGRAM_BUCKETS ? bucket : FS_HISTOGRAM_BUCKETS - 1;
}

uint64_t fs_histogram_floor(unsigned int bucket)
{
	if (bucket < 8)
		return bucket;
	return (uint64_t)(8 + bucket % 8) << (bucket / 8 - 1);
}

size_t fs_histogram_pack(const struct fs_histogram *histogram, unsigned int first,
			 unsigned int last, uint8_t *out)
{
	size_t used = 0;

	for (unsigned int bucket = first; bucket <= last && bucket < FS_HISTOGRAM_BUCKETS;
	     bucket++) {
		uint64_t count = histogram->count[bucket];

		if (!count)
			continue;
		out[used++] = (uint8_t)bucket;
		for (; count >= 0x80; count >>= 7)
			out[used++] = (uint8_t)(count | 0x80);
		out[used++] = (uint8_t)count;
	}
	return used;
}

int fs_histogram_add(struct fs_histogram *histogram, const uint8_t *blob, size_t size)
{
	struct fs_reader reader = fs_reader_of(blob, size);

	while (fs_reader_left(&reader)) {
		uint8_t bucket = fs_read_u8(&reader);
		uint64_t count = 0;
		uint8_t byte;
		unsigned int shift = 0;

		do {
			byte = fs_read_u8(&reader);
			count |= (uint64_t)(byte & 0x7f) << shift;
			shift += 7;
		} while (byte & 0x80 && shift < 63);
		if (reader.failed || bucket >= FS_HISTOGRAM_BUCKETS || byte & 0x80)
			return FS_REFUSED;
		histogram->count[bucket] += count;
	}
	return 0;
}

int64_t fs_histogram_quantile(const struct fs_histogram *histogram, double share)
{
	uint64_t total = 0;
	uint64_t below = 0;

	for (unsigned int i = 0; i < FS_HISTOGRAM_BUCKETS; i++)
		total += histogram->count[i];
	if (!total)
		return -1;
	for (unsigned int i = 0; i < FS_HISTOGRAM_BUCKETS; i++) {
		below += histogram->count[i];
		if ((double)below >= share * (double)total && below)
			return i + 1 < FS_HISTOGRAM_BUCKETS
				       ? (int64_t)((fs_histogram_floor(i) +
						    fs_histogram_floor(i + 1) - 1) /
						   2)
				       : (int64_t)fs_histogram_floor(i);
	}
	return (int64_t)fs_histogram_floor(FS_HISTOGRAM_BUCKETS - 1);
}
