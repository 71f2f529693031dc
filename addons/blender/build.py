# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds the add-on with the standard library alone: ``python build.py FOLDER`` writes

    svc_render_addon-VERSION.zip         the extension, for Blender 4.2 and newer
    svc_render_addon-VERSION-legacy.zip  the add-on, for Blender 3.4 to 4.1
    index.json                           the listing of an extension repository

The Python SDK is copied in, so that there is one copy of it in the source. The same source
gives the same bytes."""

import ast
import hashlib
import json
import os
import re
import sys
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
NAME = "svc_render_addon"
SDK = os.path.join(HERE, "..", "..", "sdk", "python", "svc_render")


def tree(folder, prefix):
    """The files of a package, without what Python leaves in it."""
    return {prefix + name: open(os.path.join(folder, name), "rb").read()
            for name in os.listdir(folder) if name.endswith((".py", ".toml"))}


def contents():
    """The files of the add-on by their names in it."""
    files = {**tree(os.path.join(HERE, NAME), ""), **tree(SDK, "svc_render/")}
    for name in ("LICENSE", "svc_render/LICENSE"):
        source = os.path.join(HERE, "LICENSE") if name == "LICENSE" else os.path.join(HERE, "..", "..", "LICENSE")
        with open(source, "rb") as text:
            files[name] = text.read()
    return files


def manifest(text):
    """What the listing takes of the manifest: texts, lists of texts and one table. Python
    3.9 has no reader of TOML."""
    values, table = {}, None
    for line in text.splitlines():
        head = re.fullmatch(r"\[(\w+)\]", line)
        pair = re.fullmatch(r'(\w+) = (".*"|\[.*\])', line)
        if head:
            table = values.setdefault(head.group(1), {})
        elif pair:
            (values if table is None else table)[pair.group(1)] = ast.literal_eval(pair.group(2))
        elif line:
            raise ValueError("blender_manifest.toml: %s" % line)
    return values


def write(path, files, prefix):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(prefix + name)  # 1980, whatever the clock says
            entry.external_attr, entry.create_system, entry.compress_type = 0o644 << 16, 3, zipfile.ZIP_DEFLATED
            archive.writestr(entry, files[name])


def build(folder):
    """Writes all three and returns the names of the archives."""
    os.makedirs(folder, exist_ok=True)
    files = contents()
    about = manifest(files["blender_manifest.toml"].decode())
    wanted = tuple(int(part) for part in about["version"].split("."))
    if ('"version": %r,' % (wanted,)).encode() not in files["__init__.py"]:
        raise ValueError("bl_info and blender_manifest.toml name two versions")
    names = "%s-%s.zip" % (NAME, about["version"]), "%s-%s-legacy.zip" % (NAME, about["version"])
    write(os.path.join(folder, names[0]), files, "")
    legacy = {name: content for name, content in files.items() if name != "blender_manifest.toml"}
    write(os.path.join(folder, names[1]), legacy, NAME + "/")
    with open(os.path.join(folder, names[0]), "rb") as archive:
        whole = archive.read()
    entry = {**about, "archive_url": "./" + names[0], "archive_size": len(whole),
             "archive_hash": "sha256:" + hashlib.sha256(whole).hexdigest()}
    with open(os.path.join(folder, "index.json"), "w", encoding="utf-8") as index:
        json.dump({"version": "v1", "blocklist": [], "data": [entry]}, index, indent=2, sort_keys=True)
        index.write("\n")
    return names


if __name__ == "__main__":
    for written in build(sys.argv[1]):
        print(os.path.join(sys.argv[1], written))
