# SPDX-License-Identifier: GPL-3.0-or-later
"""The version and the address of the service that the add-on came from. Its build writes the
version here, into the manifest and into bl_info, and the service that serves it its address."""

VERSION = "0.0.0"
SERVER = ""
