# SPDX-License-Identifier: GPL-2.0-only
# Time decides, not the order of records; loss is counted by kind and CPU and said with every answer.
. "$CLI/lib.sh"

trials order
