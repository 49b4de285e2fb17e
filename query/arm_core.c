/* SPDX-License-Identifier: GPL-2.0-only */
#include "query/arm_core.h"

#include <stddef.h>

static const struct {
	uint8_t implementer;
	uint16_t part;
	const char *name;
} cores[] = {
	{ 0x41, 0xd03, "Cortex-A53" },	     { 0x41, 0xd05, "Cortex-A55" },
	{ 0x41, 0xd07, "Cortex-A57" },	     { 0x41, 0xd08, "Cortex-A72" },
	{ 0x41, 0xd09, "Cortex-A73" },	     { 0x41, 0xd0a, "Cortex-A75" },
	{ 0x41, 0xd0b, "Cortex-A76" },	     { 0x41, 0xd0c, "Neoverse N1" },
	{ 0x41, 0xd0d, "Cortex-A77" },	     { 0x41, 0xd40, "Neoverse V1" },
	{ 0x41, 0xd41, "Cortex-A78" },	     { 0x41, 0xd44, "Cortex-X1" },
	{ 0x41, 0xd46, "Cortex-A510" },	     { 0x41, 0xd47, "Cortex-A710" },
	{ 0x41, 0xd48, "Cortex-X2" },	     { 0x41, 0xd49, "Neoverse N2" },
	{ 0x41, 0xd4b, "Cortex-A78C" },	     { 0x41, 0xd4c, "Cortex-X1C" },
	{ 0x41, 0xd4d, "Cortex-A715" },	     { 0x41, 0xd4e, "Cortex-X3" },
	{ 0x41, 0xd4f, "Neoverse V2" },	     { 0x41, 0xd80, "Cortex-A520" },
	{ 0x41, 0xd81, "Cortex-A720" },	     { 0x41, 0xd82, "Cortex-X4" },
	{ 0x41, 0xd83, "Neoverse V3AE" },    { 0x41, 0xd84, "Neoverse V3" },
	{ 0x41, 0xd85, "Cortex-X925" },	     { 0x41, 0xd87, "Cortex-A725" },
	{ 0x41, 0xd89, "Cortex-A720AE" },    { 0x41, 0xd8e, "Neoverse N3" },
	{ 0x46, 0x001, "Fujitsu A64FX" },    { 0x48, 0xd01, "HiSilicon TSV110 (Kunpeng 920)" },
	{ 0x48, 0xd02, "HiSilicon HIP09" },  { 0x48, 0xd06, "HiSilicon HIP12" },
	{ 0x4e, 0x010, "NVIDIA Olympus" },   { 0x6d, 0xd49, "Azure Cobalt 100" },
	{ 0xc0, 0xac3, "AmpereOne (AC03)" }, { 0xc0, 0xac4, "AmpereOne (AC04)" },
};

const char *fs_arm_core_name(uint64_t midr)
{
	unsigned int implementer = midr >> 24 & 0xff;
	unsigned int part = midr >> 4 & 0xfff;

	for (size_t i = 0; i < sizeof(cores) / sizeof(*cores); i++) {
		if (cores[i].implementer == implementer && cores[i].part == part)
			return cores[i].name;
	}
	return NULL;
}
