# SPDX-License-Identifier: GPL-3.0-or-later
"""The version, which is that of the service that the add-on came from. Its build writes it
here, into the manifest and into bl_info."""

VERSION = "0.0.0"
