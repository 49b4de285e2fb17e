# SPDX-License-Identifier: GPL-2.0-only
# What a binary answered once is kept by its build-id, and changes no name of any later trace.
. "$CLI/lib.sh"
need g++ strip sqlite3 zstd

cat >program.cc <<'END'
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>
struct counter { long hits; std::string name; struct { int low, high; } range; };
typedef long rule(long);
typedef struct { counter *first; std::shared_ptr<counter> shared; rule *named; long (*plain)(long); } holder;
static std::map<std::string, std::vector<counter>> table;
holder global;
__attribute__((noinline)) long total(const std::vector<counter> &all)
{
	long sum = 0;
	for (const counter &one : all)
		sum += one.hits + one.range.high;
	if (global.named && global.plain)
		sum += global.named(sum) - global.plain(sum);
	return sum + (global.shared ? global.shared->hits : 0);
}
int main(int argc, char **argv)
{
	for (int i = 0; i < argc; i++)
		table[argv[i]].push_back(counter{ i, argv[i], { i, i } });
	global.first = &table[argv[0]].front();
	global.shared = std::make_shared<counter>(*global.first);
	for (auto &entry : table)
		std::sort(entry.second.begin(), entry.second.end(),
			  [](const counter &a, const counter &b) { return a.hits < b.hits; });
	return (int)total(table[argv[0]]);
}
END
mkdir whole stripped
g++ -g -O2 -Wl,--build-id program.cc -o whole/program
strip -o stripped/program whole/program
# first.data, second.data: half of the addresses of one are those of the other, too
python3 -B - "$TOP_SOURCE" <<'END'
import pathlib
import random
import sys
sys.path.insert(0, sys.argv[1] + "/tests/accuracy")
import addr2line
elf = addr2line.Elf("whole/program")
addresses = addr2line.choose(elf, 1500, 1)
random.Random(2).shuffle(addresses)
for name, chosen in (("first", addresses[:1000]), ("second", addresses[500:])):
    pathlib.Path(name + ".data").write_bytes(addr2line.recording(elf, "/program", sorted(chosen)))
END

# import DATABASE ROOT TRACE OPTION...
import()
{
	"$FSINGEST" -q --db "$1" --symbols "$2" "${@:4}" "$3.data"
}

# digest DATABASE: of the second trace
digest()
{
	"$FSQUERY" --db "$1" digest --trace second.data
}

kept()
{
	query "$1" 'SELECT count(*) FROM symbol_cache'
}

for root in whole stripped; do
	import $root.db $root second
	digest $root.db >$root.wanted
done
cmp -s whole.wanted stripped.wanted && fail 'a stripped binary gives the names of a whole one'

# a function type is the same with a typedef and without, whichever was met first
expect 'types of pointers to functions' \
	"$(query whole.db "SELECT group_concat(DISTINCT type_name || ' ' || name) FROM field WHERE name IN ('named', 'plain')")" \
	'function * named,function * plain'

# behind another trace of the same binary, again, and in the place of itself
import case.db whole first
expect 'kept after one trace' "$(kept case.db)" 1
import case.db whole second
expect 'kept after a second one' "$(kept case.db)" 2
digest case.db | diff - whole.wanted >&2 || fail 'kept answers change the names of another trace'
"$FSQUERY" -q --db case.db symbols --symbols whole
import case.db whole second --replace
expect 'kept when nothing is new' "$(kept case.db)" 2
digest case.db | diff - whole.wanted >&2 || fail 'kept answers change the names of the same trace'
expect 'rows of what was replaced' "$(query case.db 'SELECT count(*) FROM inline_frame WHERE code_id NOT IN (SELECT id FROM code)')" 0
import case.db whole second --replace --no-samples
expect 'frames of a trace that was replaced' \
	"$(query case.db 'SELECT count(*) FROM inline_frame')" \
	"$(query case.db 'SELECT count(*) FROM inline_frame JOIN code ON id = code_id')"

# of another file with that build-id nothing is taken, nor from a binary that is not verified
import case.db stripped second --replace
digest case.db | diff - stripped.wanted >&2 || fail 'a stripped binary has the names of a whole one'
expect 'kept of two files' "$(kept case.db)" 3
cp whole/program other
printf x >>other
mkdir longer
mv other longer/program
import case.db longer second --replace
expect 'kept of a third file' "$(kept case.db)" 4

# damaged: not used, told, and replaced by sound ones
damage()
{
	rm -f bad.db*
	import bad.db whole first
	sqlite3 bad.db "UPDATE symbol_cache SET answers = $1"
	import bad.db whole second
	digest bad.db | diff - whole.wanted >&2 || fail "kept answers that are $1 change names"
	expect "reason with $1" \
		"$(query bad.db 'SELECT symbols_reason FROM dso WHERE trace_id = 2 AND samples > 0')" \
		'answers that the database kept were damaged and are not used'
	expect "kept after $1" "$(kept bad.db)" 1
}
damage "x''"
damage "'text'"
damage 12
damage 'substr(answers, 1, length(answers) / 2)'
damage 'substr(answers, 2)'
damage "answers || x'00'"
printf 'no answers at all' | zstd -q >sound.zst
damage "readfile('sound.zst')"
expect_sound bad.db
