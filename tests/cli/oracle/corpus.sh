# SPDX-License-Identifier: GPL-2.0-only
# Real files of many perf versions and tools: as many samples and records of each type as a recent perf counts;
# what it cannot count is salvaged, and refused only where a scan finds no record. Time and memory are bounded.
. "$CLI/lib.sh"
[[ -f $SHARED/corpus/INDEX.tsv ]] || skip "$SHARED/corpus is absent"

python3 "$CLI/oracle/corpus.py" "$SHARED/corpus" "$FSINGEST" >report || fail "$(cat report)"
(($(tail -1 report | cut -d' ' -f1) >= 100)) || fail "only $(tail -1 report)"
