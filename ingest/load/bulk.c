/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How it works: the image has the schema in page 1, the root of the table in page 2 and its
 * leaves behind it, as https://www.sqlite.org/fileformat2.html states:
 *
 *   page 1: | header (100) | leaf header (8) | cell pointer | ... | cell: one schema row |
 *   page 2: | interior header (12) | cell pointers | ... | cells: u32 child, varint last rowid |
 *   leaf:   | leaf header (8) | cell pointers ──▶    free    ◀── cells |
 *   cell:   | varint payload size | varint rowid | varint header size, serial types | values |
 *
 * sqlite3_deserialize() opens it as the schema "bulk", and SQLite copies it.
 */
#include "ingest/load/bulk.h"

#include <stdlib.h>
#include <string.h>

#include "common/vector.h"
#include "schema/schema.h"

enum {
	PAGE = 16384,
	FILE_HEADER = 100,
	LEAF_HEADER = 8,
	INTERIOR_HEADER = 12,
	LEAF = 0x0d,
	INTERIOR = 0x05,
	SCHEMA_PAGE = 1,
	ROOT_PAGE = 2,
	/* payload size, rowid, header size, serial types and values of the widest row */
	CELL_MAX = 3 + 9 + 1 + FS_BULK_COLUMNS_MAX + 8 * FS_BULK_COLUMNS_MAX,
	CHILD_MAX = 4 + 9 + 2, /* an interior cell and its pointer */
	LEAVES_MAX = (PAGE - INTERIOR_HEADER) / CHILD_MAX,
};

static void put_u16(uint8_t *out, unsigned int value)
{
	out[0] = (uint8_t)(value >> 8);
	out[1] = (uint8_t)value;
}

static void put_u32(uint8_t *out, uint32_t value)
{
	put_u16(out, value >> 16);
	put_u16(out + 2, value & 0xffff);
}

/* SQLite's varint: seven bits a byte, most significant first; eight bits in a ninth byte. */
static uint8_t *put_varint(uint8_t *out, uint64_t value)
{
	bool nine = value >> 56;
	uint64_t sevens = nine ? value >> 8 : value;
	unsigned int bytes = nine ? 8 : 1;

	while (!nine && sevens >> 7 * bytes)
		bytes++;
	for (unsigned int i = bytes; i-- > 0;)
		*out++ = (uint8_t)((sevens >> 7 * i & 127) | (i || nine ? 128 : 0));
	if (nine)
		*out++ = (uint8_t)value;
	return out;
}

/*
 * Serial type and size of an integer by the number of bits that it needs beside its sign. Types 8
 * and 9 (the constants 0 and 1) are told apart by the caller.
 */
static unsigned int size_of_bits(unsigned int bits)
{
	static const uint8_t sizes[] = { 1, 2, 3, 4, 6, 6, 8, 8 };

	return sizes[bits / 8];
}

static uint8_t type_of_size(unsigned int size)
{
	static const uint8_t types[] = { 0, 1, 2, 3, 4, 0, 5, 0, 6 };

	return types[size];
}

static uint64_t rowid_of(const struct fs_bulk *bulk, const int64_t *row, uint64_t number)
{
	return bulk->keyed ? (uint64_t)row[0] : number;
}

/* Encode a row as a cell; out has CELL_MAX bytes. Returns its size. The key stands in the rowid
 * alone. */
static size_t put_cell(const struct fs_bulk *bulk, uint8_t *out, const int64_t *row, uint64_t rowid)
{
	unsigned int columns = bulk->columns;
	uint64_t nulls = (uint64_t)row[columns] | bulk->keyed;
	uint8_t types[FS_BULK_COLUMNS_MAX];
	uint8_t values[8 * FS_BULK_COLUMNS_MAX + 8]; /* each value is stored as 8 bytes, and cut */
	uint8_t *value = values;
	uint8_t *at;

	for (unsigned int i = 0; i < columns; i++) {
		uint64_t magnitude = (uint64_t)(row[i] < 0 ? ~row[i] : row[i]);
		unsigned int size =
			size_of_bits(63u - (unsigned int)__builtin_clzll(magnitude | 1) + 1);
		uint64_t big_endian = __builtin_bswap64((uint64_t)row[i] << (64 - 8 * size));
		bool constant = magnitude == (uint64_t)row[i] && magnitude < 2;

		types[i] = constant ? (uint8_t)(8 + magnitude) : type_of_size(size);
		size = constant ? 0 : size;
		if (nulls >> i & 1)
			types[i] = size = 0;
		memcpy(value, &big_endian, 8);
		value += size;
	}
	at = put_varint(out, 1 + columns + (size_t)(value - values));
	at = put_varint(at, rowid);
	*at++ = (uint8_t)(1 + columns);
	memcpy(at, types, columns);
	memcpy(at + columns, values, (size_t)(value - values));
	return (size_t)(at - out) + columns + (size_t)(value - values);
}

static void put_page_header(uint8_t *page, unsigned int type, unsigned int cells,
			    unsigned int content)
{
	page[0] = (uint8_t)type;
	put_u16(page + 1, 0); /* first free block */
	put_u16(page + 3, cells);
	put_u16(page + 5, content);
	page[7] = 0; /* fragmented bytes */
}

static void put_file_header(uint8_t *page, uint32_t page_count)
{
	memset(page, 0, PAGE);
	memcpy(page, "SQLite format 3", 16);
	put_u16(page + 16, PAGE);
	page[18] = page[19] = 1; /* rollback journal */
	page[21] = 64;		 /* payload fractions, fixed */
	page[22] = page[23] = 32;
	put_u32(page + 24, 1); /* change counter */
	put_u32(page + 28, page_count);
	put_u32(page + 40, 1); /* schema cookie */
	put_u32(page + 44, 4); /* schema format */
	put_u32(page + 56, 1); /* UTF-8 */
	put_u32(page + 92, 1); /* change counter that the page count belongs to */
	put_u32(page + 96, SQLITE_VERSION_NUMBER);
}

/* Page 1 with the row ('table', name, name, 2, definition). */
static void put_schema(const struct fs_bulk *bulk, uint32_t page_count)
{
	uint8_t *page = bulk->image;
	size_t name = strlen(bulk->table);
	size_t definition = strlen(bulk->definition);
	uint8_t record[64];
	uint8_t *at = record + 1;
	size_t header;
	size_t payload;
	uint8_t *cell;

	put_file_header(page, page_count);
	at = put_varint(at, 13 + 2 * 5);
	at = put_varint(at, 13 + 2 * name);
	at = put_varint(at, 13 + 2 * name);
	*at++ = 1;
	at = put_varint(at, 13 + 2 * definition);
	header = (size_t)(at - record);
	record[0] = (uint8_t)header;
	payload = header + 5 + 2 * name + 1 + definition;
	cell = page + PAGE - payload - 8;
	put_page_header(page + FILE_HEADER, LEAF, 1, (unsigned int)(cell - page));
	put_u16(page + FILE_HEADER + LEAF_HEADER, (unsigned int)(cell - page));
	at = put_varint(put_varint(cell, payload), 1);
	memcpy(at, record, header);
	at += header;
	memcpy(at, "table", 5);
	memcpy(at + 5, bulk->table, name);
	memcpy(at + 5 + name, bulk->table, name);
	at[5 + 2 * name] = ROOT_PAGE;
	memcpy(at + 6 + 2 * name, bulk->definition, definition);
}

/* Fill one leaf with as many rows as fit. Returns how many. */
static size_t put_leaf(const struct fs_bulk *bulk, uint8_t *page, const int64_t *rows, size_t count,
		       uint64_t first_rowid)
{
	unsigned int stride = bulk->columns + 1;
	size_t content = PAGE;
	size_t cells = 0;

	for (; cells < count; cells++) {
		const int64_t *row = rows + cells * stride;
		uint8_t cell[CELL_MAX];
		size_t size = put_cell(bulk, cell, row, rowid_of(bulk, row, first_rowid + cells));

		if (content < size + LEAF_HEADER + 2 * (cells + 1))
			break;
		content -= size;
		memcpy(page + content, cell, size);
		put_u16(page + LEAF_HEADER + 2 * cells, (unsigned int)content);
	}
	put_page_header(page, LEAF, (unsigned int)cells, (unsigned int)content);
	return cells;
}

/* Page 2 above leaves that end with the given rowids. */
static void put_root(uint8_t *page, const uint64_t *last_rowids, size_t leaves)
{
	size_t content = PAGE;

	for (size_t i = 0; i + 1 < leaves; i++) {
		uint8_t cell[CHILD_MAX];
		size_t size;

		put_u32(cell, (uint32_t)(ROOT_PAGE + 1 + i));
		size = (size_t)(put_varint(cell + 4, last_rowids[i]) - cell);
		content -= size;
		memcpy(page + content, cell, size);
		put_u16(page + INTERIOR_HEADER + 2 * i, (unsigned int)content);
	}
	put_page_header(page, INTERIOR, (unsigned int)leaves - 1, (unsigned int)content);
	put_u32(page + 8, (uint32_t)(ROOT_PAGE + leaves));
}

/* Write rows as an image. Returns how many fitted, and the image's size. */
static int put_image(struct fs_bulk *bulk, const int64_t *rows, size_t count, size_t *ret_rows,
		     size_t *ret_size)
{
	uint64_t last_rowids[LEAVES_MAX];
	size_t leaves = 0;
	size_t done = 0;

	while (done < count && leaves < LEAVES_MAX) {
		FS_TRY(FS_RESERVE(bulk->image, bulk->image_capacity,
				  (ROOT_PAGE + leaves + 1) * (size_t)PAGE));
		done += put_leaf(bulk, bulk->image + (ROOT_PAGE + leaves) * (size_t)PAGE,
				 rows + done * (bulk->columns + 1), count - done, done + 1);
		last_rowids[leaves++] =
			rowid_of(bulk, rows + (done - 1) * (bulk->columns + 1), done);
	}
	if (leaves == 1) { /* no interior page without a cell: the leaf is the root */
		memcpy(bulk->image + (ROOT_PAGE - 1) * (size_t)PAGE,
		       bulk->image + ROOT_PAGE * (size_t)PAGE, PAGE);
		leaves = 0;
	} else {
		put_root(bulk->image + (ROOT_PAGE - 1) * (size_t)PAGE, last_rowids, leaves);
	}
	put_schema(bulk, (uint32_t)(ROOT_PAGE + leaves));
	*ret_rows = done;
	*ret_size = (ROOT_PAGE + leaves) * (size_t)PAGE;
	return 0;
}

/* The definition of a table as the database has it. */
static int read_definition(sqlite3 *db, const char *table, char **ret_definition,
			   struct fs_error *error)
{
	sqlite3_stmt *statement;
	char *definition = NULL;

	if (sqlite3_prepare_v2(db, "SELECT sql FROM main.sqlite_schema WHERE name = ?1", -1,
			       &statement, NULL) != SQLITE_OK)
		return fs_sql_fail(db, NULL, error);
	sqlite3_bind_text(statement, 1, table, -1, SQLITE_STATIC);
	if (sqlite3_step(statement) == SQLITE_DONE) {
		sqlite3_finalize(statement);
		return fs_fail(error, FS_INTERNAL, "no table %s to load in bulk", table);
	}
	if (sqlite3_column_text(statement, 0))
		definition = strdup((const char *)sqlite3_column_text(statement, 0));
	if (sqlite3_finalize(statement) != SQLITE_OK)
		return fs_sql_fail(db, NULL, error);
	if (!definition)
		return fs_fail(error, FS_NOMEM, "out of memory");
	*ret_definition = definition;
	return 0;
}

int fs_bulk_open(struct fs_bulk *bulk, sqlite3 *db, const char *table, unsigned int columns,
		 struct fs_error *error)
{
	*bulk = (struct fs_bulk){ .db = db, .table = table, .columns = columns };
	FS_TRY(read_definition(db, table, &bulk->definition, error));
	if (strlen(bulk->definition) > PAGE / 2 || columns > FS_BULK_COLUMNS_MAX)
		return fs_fail(error, FS_INTERNAL, "table %s cannot be loaded in bulk", table);
	bulk->keyed = strstr(bulk->definition, "INTEGER PRIMARY KEY");
	bulk->insert = sqlite3_mprintf("INSERT INTO main.%s SELECT * FROM bulk.%s", table, table);
	if (!bulk->insert)
		return fs_fail(error, FS_NOMEM, "out of memory");
	if (sqlite3_db_filename(db, "bulk"))
		return 0;
	if (sqlite3_exec(db, "ATTACH ':memory:' AS bulk", NULL, NULL, NULL) != SQLITE_OK)
		return fs_sql_fail(db, NULL, error);
	return 0;
}

void fs_bulk_close(struct fs_bulk *bulk)
{
	static unsigned char nothing[1];

	/* SQLite must let go of the image before it is freed */
	if (bulk->image)
		sqlite3_deserialize(bulk->db, "bulk", nothing, 0, 0, SQLITE_DESERIALIZE_READONLY);
	free(bulk->image);
	free(bulk->definition);
	sqlite3_free(bulk->insert);
	*bulk = (struct fs_bulk){ 0 };
}

int fs_bulk_insert(struct fs_bulk *bulk, const void *rows, size_t count, struct fs_error *error)
{
	const int64_t *next = rows;

	while (count) {
		size_t done = 0;
		size_t size = 0;

		if (put_image(bulk, next, count, &done, &size))
			return fs_fail(error, FS_NOMEM, "out of memory");
		if (sqlite3_deserialize(bulk->db, "bulk", bulk->image, (sqlite3_int64)size,
					(sqlite3_int64)size,
					SQLITE_DESERIALIZE_READONLY) != SQLITE_OK)
			return fs_sql_fail(bulk->db, NULL, error);
		if (sqlite3_exec(bulk->db, bulk->insert, NULL, NULL, NULL) != SQLITE_OK)
			return fs_sql_fail(bulk->db, NULL, error);
		next += done * (bulk->columns + 1);
		count -= done;
	}
	return 0;
}
