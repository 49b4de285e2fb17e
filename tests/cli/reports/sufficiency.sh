# SPDX-License-Identifier: GPL-2.0-only
# health says what a capture can and cannot show, and the command that records what can.
. "$CLI/lib.sh"

trials sufficiency
