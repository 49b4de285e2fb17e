/* SPDX-License-Identifier: GPL-2.0-only */
/* The version of fsight; CMake's project() version must agree (checked there). */
#ifndef FS_COMMON_VERSION_H
#define FS_COMMON_VERSION_H

#define FS_VERSION "0.1.0"

#endif
