/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A recursive descent over the text. Each value is carried with its slope by one of the counts, so
 * that a pass over the text per count gives the error without any difference quotient.
 */
#include "analyze/formula.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NESTED = 16 };

struct term {
	double value, slope;
};

struct parser {
	const char *at;
	const struct fs_formula_count *counts;
	size_t count;
	size_t by; /* the count that the slope is taken by */
	unsigned int nested;
};

static struct term parse_sum(struct parser *parser);

static bool in_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.';
}

static bool accept(struct parser *parser, char c)
{
	while (*parser->at == ' ')
		parser->at++;
	if (*parser->at != c)
		return false;
	parser->at++;
	return true;
}

size_t fs_formula_name(const char **position, const char **ret_name)
{
	const char *at = *position;
	size_t length = 0;

	while (*at && !isalpha((unsigned char)*at)) {
		/* digits and what follows them are a number */
		if (isdigit((unsigned char)*at))
			while (isdigit((unsigned char)*at) || *at == '.')
				at++;
		else
			at++;
	}
	while (in_name(at[length]))
		length++;
	*ret_name = at;
	*position = at + length;
	return length;
}

static struct term parse_name(struct parser *parser)
{
	const char *name;
	size_t length = fs_formula_name(&parser->at, &name);

	for (size_t i = 0; i < parser->count; i++)
		if (strlen(parser->counts[i].name) == length &&
		    !memcmp(parser->counts[i].name, name, length))
			return (struct term){ parser->counts[i].value, i == parser->by };
	return (struct term){ 0, 0 };
}

static struct term parse_factor(struct parser *parser)
{
	struct term term = { NAN, NAN };

	if (accept(parser, '(')) {
		if (++parser->nested > MOST_NESTED)
			return term;
		term = parse_sum(parser);
		parser->nested--;
		return accept(parser, ')') ? term : (struct term){ NAN, NAN };
	}
	if (isalpha((unsigned char)*parser->at))
		return parse_name(parser);
	if (isdigit((unsigned char)*parser->at)) {
		char *end;

		term.value = strtod(parser->at, &end);
		term.slope = 0;
		parser->at = end;
	}
	return term;
}

static struct term parse_product(struct parser *parser)
{
	struct term left = parse_factor(parser);

	for (;;) {
		if (accept(parser, '*')) {
			struct term right = parse_factor(parser);

			left.slope = left.slope * right.value + left.value * right.slope;
			left.value *= right.value;
		} else if (accept(parser, '/')) {
			struct term right = parse_factor(parser);

			if (right.value == 0)
				right.value = NAN;
			left.value /= right.value;
			left.slope = (left.slope - left.value * right.slope) / right.value;
		} else {
			return left;
		}
	}
}

static struct term parse_sum(struct parser *parser)
{
	struct term left = parse_product(parser);

	for (;;) {
		double sign = accept(parser, '+') ? 1 : accept(parser, '-') ? -1 : 0;
		struct term right;

		if (sign == 0)
			return left;
		right = parse_product(parser);
		left.value += sign * right.value;
		left.slope += sign * right.slope;
	}
}

double fs_formula_value(const char *text, const struct fs_formula_count *counts, size_t count,
			double *ret_error)
{
	double variance = 0;
	double value = NAN;

	for (size_t by = 0; by < count || by == 0; by++) {
		struct parser parser = { .at = text, .counts = counts, .count = count, .by = by };
		struct term term = parse_sum(&parser);

		value = *parser.at ? NAN : term.value;
		if (by < count)
			variance += pow(term.slope * counts[by].deviation, 2);
	}
	*ret_error = sqrt(variance);
	return value;
}
