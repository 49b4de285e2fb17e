# SPDX-License-Identifier: GPL-2.0-only
# kill -9 at any moment leaves no database or a complete one, also when a second trace is added.
# More by hand: KILL_COUNT=100 (of each)
. "$CLI/lib.sh"
need sqlite3

first=$SAMPLES/neighbours.watch.data
second=$SAMPLES/barrier.before.n1.spe.data

digest()
{
	"$FSQUERY" --db "$1" digest
}

started=$(date +%s%N)
"$FSINGEST" --db whole.db "$second" >/dev/null 2>&1
took=$((($(date +%s%N) - started) / 1000))
digest whole.db >whole.digest
"$FSINGEST" --db base.db "$first" >/dev/null 2>&1
digest base.db >base.digest
cp base.db both.db
"$FSINGEST" --db both.db "$second" >/dev/null 2>&1
digest both.db >both.digest
cmp -s base.digest both.digest && fail 'the digest does not see a second trace'

# interrupt DB: kill the import of the second trace some time between its start and its usual end.
interrupt()
{
	local pid

	"$FSINGEST" --db "$1" "$second" >/dev/null 2>&1 &
	pid=$!
	sleep "$(awk -v took="$took" -v random=$RANDOM 'BEGIN { print took * 1.1 * random / 32768 / 1e6 }')"
	kill -KILL "$pid" 2>/dev/null || true
	wait "$pid" 2>/dev/null || true
}

RANDOM=1
killed=0
for ((round = 1; round <= ${KILL_COUNT:-15}; round++)); do
	rm -f case.db*
	interrupt case.db
	if [[ -e case.db ]]; then
		expect_sound case.db
		digest case.db | cmp -s - whole.digest || fail "new database, round $round: incomplete"
	else
		killed=$((killed + 1))
	fi
done
((killed > 0)) || fail 'no import was interrupted'
# Debris of the killed must not be in the way of the next.
"$FSINGEST" --db case.db "$second" >/dev/null 2>&1
digest case.db | cmp -s - whole.digest || fail 'after the kills: a different import'

killed=0
for ((round = 1; round <= ${KILL_COUNT:-15}; round++)); do
	rm -f case.db*
	cp base.db case.db
	interrupt case.db
	digest case.db >got.digest || fail "second trace, round $round: unreadable"
	if cmp -s got.digest base.digest; then
		killed=$((killed + 1))
	else
		cmp -s got.digest both.digest || fail "second trace, round $round: incomplete"
	fi
	expect_sound case.db
done
((killed > 0)) || fail 'no second import was interrupted'
