# SPDX-License-Identifier: GPL-2.0-only
# Unclean ends, empty recordings, streams and stray bytes are told as what they are.
. "$CLI/lib.sh"

trials container
