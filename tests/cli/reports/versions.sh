# SPDX-License-Identifier: GPL-2.0-only
# Recordings of newer, older and foreign recorders are read as far as they are known.
. "$CLI/lib.sh"

trials versions
