# SPDX-License-Identifier: GPL-2.0-only
# Binaries and tracing data made to hurt: whatever the helper dies of, or is refused, costs names only.
. "$CLI/lib.sh"
need strace
strace -f -qq -o /dev/null true 2>/dev/null || skip 'strace is not allowed here'

trials binaries
