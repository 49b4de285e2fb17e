# SPDX-License-Identifier: GPL-2.0-only
# Arm SPE from AUX data to rows: one record, one row, with all that it says.
. "$CLI/lib.sh"

trials spe
