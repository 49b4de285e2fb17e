# SPDX-License-Identifier: GPL-2.0-only
# Binaries in a tarball as perf archive makes it give what the same ones in a directory give, however it
# is compressed; those of another build give nothing; what is no tarball, or not all of one, is refused.
. "$CLI/lib.sh"
need tar bzip2 gzip xz zstd readelf sqlite3

trace=$SAMPLES/barrier.before.x86.c2c.data
binary=$SAMPLES/bin/x86_64/barrier
id=$(readelf -n "$binary" | sed -n 's/.*Build ID: //p')

# ingest DATABASE OPTION...: import and print the digest
ingest()
{
	rm -f "$1"
	"$FSINGEST" --db "$1" -q "${@:2}" "$trace" && "$FSQUERY" --db "$1" digest
}

# cache DIRECTORY BINARY: what perf keeps of it
cache()
{
	mkdir -p "$1/.build-id/${id:0:2}" "$1/opt/barrier/$id"
	cp "$2" "$1/opt/barrier/$id/elf"
	touch "$1/opt/barrier/$id/probes"
	ln -s "../../opt/barrier/$id" "$1/.build-id/${id:0:2}/${id:2}"
}

# status_of DATABASE: what became of the program
status_of()
{
	query "$1" "SELECT symbols || iif(EXISTS (SELECT 1 FROM function WHERE dso_id = dso.id), ' named', '')
		FROM dso WHERE path LIKE '%/barrier'"
}

# refused FILE WORDS
refused()
{
	local status=0

	rm -f case.db
	"$FSINGEST" --db case.db --archive "$1" "$trace" 2>error || status=$?
	expect "exit status with $1" "$status" 1
	grep -qF -- "--archive $1: $2" error || fail "$(cat error)"
	[[ ! -e case.db ]] || fail "$1: a database was made"
}

cache cache "$binary"
ingest directory.db --symbols cache >wanted
expect "by a directory" "$(status_of directory.db)" "verified named"
for form in "cf tar" "cjf tar.bz2" "czf tar.gz" "cJf tar.xz" "cf tar.zst --zstd"; do
	read -r mode suffix more <<<"$form"
	tar -"$mode" "perf.data.$suffix" $more -C cache .build-id "opt/barrier/$id"
	ingest case.db --archive "perf.data.$suffix" | diff wanted - >&2 || fail "$suffix: another digest"
done

# a second archive, and hard links, and a flat tarball of binaries
mkdir empty flat && cp "$binary" flat/barrier && ln flat/barrier flat/again
tar -cf empty.tar -C empty .
tar -cf flat.tar -C flat ./again ./barrier
ingest case.db --archive empty.tar --archive flat.tar | diff wanted - >&2 || fail "flat: another digest"

# a link that leads out of the archive, and one to itself
mkdir -p out/.build-id/"${id:0:2}" && ln -s "$binary" "out/.build-id/${id:0:2}/${id:2}"
tar -cf out.tar -C out .build-id
ingest case.db --archive out.tar >/dev/null
expect "a link out of it" "$(status_of case.db)" missing
ln -sfT "${id:2}" "out/.build-id/${id:0:2}/${id:2}"
tar -cf loop.tar -C out .build-id
ingest case.db --archive loop.tar >/dev/null
expect "a link to itself" "$(status_of case.db)" failed

# another binary under the recorded build-id
cache wrong "$SAMPLES/bin/x86_64/chunk"
tar -cjf wrong.tar.bz2 -C wrong .build-id "opt/barrier/$id"
ingest case.db --archive wrong.tar.bz2 >/dev/null
expect "another build" "$(status_of case.db)" unverified

refused absent.tar "No such file"
refused "$trace" "Unrecognized archive format"
head -c $(($(stat -c %s perf.data.tar.bz2) / 2)) perf.data.tar.bz2 >cut.tar.bz2
refused cut.tar.bz2 "truncated bzip2 input"
printf 'not a tarball at all, but long enough to be looked at\n%.0s' {1..40} >text
refused text "Unrecognized archive format"
