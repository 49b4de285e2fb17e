# SPDX-License-Identifier: GPL-2.0-only
# Every region that the simulator calls contended lies in an object, which is a variable or an instance of its type.
. "$CLI/lib.sh"
[[ -d $SHARED/traces ]] || skip "no $SHARED/traces"

for capture in aarch64/01_ggml_barrier.before.spe aarch64/04_histogram.before.spe aarch64/14_mixed.after.spe \
	x86_64/01_ggml_barrier.after.c2c x86_64/02_pcpu_chunk.before.c2c x86_64/08_spsc_ring.before.c2c; do
	"$FSINGEST" -q --db "${capture##*/}.db" --symbols "$SHARED/traces/${capture%%/*}/bin" "$SHARED/traces/$capture.data"
	"$FSQUERY" -q --db "${capture##*/}.db" objects --limit 0 --format csv \
		--columns kind,object,address,size >objects.csv
	echo "${capture##*/}"
	python3 - "$SHARED/traces/${capture%.*}.truth.json" <<'PYTHON'
import csv
import json
import sys

objects = [(int(row["address"], 16), int(row["size"]), row["kind"] + " " + row["object"])
           for row in csv.DictReader(open("objects.csv")) if row["kind"] in ("variable", "instance") and row["size"]]
for region in json.load(open(sys.argv[1]))["regions"]:
    start, size = int(region["addr"], 16), region["size"]
    if region["label"] in ("false", "true", "mixed"):
        print(f'{region["name"]}:', *(f"{name} +{start - at}" for at, length, name in sorted(objects)
                                      if at <= start and start + size <= at + length))
PYTHON
done
