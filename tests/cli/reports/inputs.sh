# SPDX-License-Identifier: GPL-2.0-only
# Directories, pipes, devices, links and odd names as PERF_DATA.
. "$CLI/lib.sh"

trials inputs
