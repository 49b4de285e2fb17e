# SPDX-License-Identifier: GPL-2.0-only
# Each field of each tracepoint is what perf reads, in a file and in a stream.
. "$CLI/lib.sh"
need perf

compare_by tracepoints.py "$SAMPLES/neighbours.tracepoints.data"
mutate "$SAMPLES/neighbours.tracepoints.data" stream.data stream
compare_by tracepoints.py "$PWD/stream.data"
finish_comparisons 2
