# SPDX-License-Identifier: GPL-2.0-only
# Contents made to hurt: bounds on memory and time, offsets of what is wrong, the rest is read.
. "$CLI/lib.sh"

trials hostile
