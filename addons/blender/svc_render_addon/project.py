# SPDX-License-Identifier: GPL-3.0-or-later
"""Sends a scene as a project: a copy of the .blend, and the files that it needs, as they lie
on this disk.

The service's list wins. It reads the .blend files first and says what the picture needs; only
that is sent. finder's list, by Blender, leads to the libraries and caches without which the
service cannot read the scene, and to the datablocks; where the two lists differ, the person is
told. No service can ask for any file of the disk: what Blender does not list is sent only from
the scene's own folders.
"""

import os
import re
import unicodedata

#: The folder in a project of files that lie apart from the scene.
ELSEWHERE = "elsewhere"
#: How often the service is asked, with all that it missed before. Each turn leads to files that
#: others name; a scene needs two.
TURNS = 8


class Project:
    """Which file of this disk is where in the project. ``path`` is the scene's own, "" of one
    that was never saved; ``copy`` is the saved copy; ``listed`` is of finder, None
    of a copy that was packed, with which only the OpenColorIO configuration ``ocio`` is sent."""

    def __init__(self, path, copy, listed, ocio=""):
        home = os.path.expanduser("~")
        self.packed, listed = listed is None, listed or []
        path = os.path.normpath(path) if path else os.path.join(home, os.path.basename(copy))
        self.listed = {}  # by path: what has a datablock goes before Blender's bare paths
        for one in sorted(listed, key=lambda one: one["name"] != ""):
            self.listed[composed(one["path"])] = one
        self.root = root_of(os.path.dirname(path), [one["path"] for one in listed if one["stored"].startswith("//")], home)
        self._apart = {}  # folder in the project -> the disk whose files are there
        self.main = self.path_of(path)
        self.files = {self.main: copy}  # path in the project -> file on this disk
        scenes = [path]
        for one in listed:
            if one["kind"] == "library" and os.path.isfile(one["path"]):
                self.add(one["path"])
                scenes.append(one["path"])
        self.ocio = os.path.normpath(ocio) if ocio else ""
        if self.ocio:
            self.add(self.ocio)
        if self.packed:
            return
        # A bake is on disk or is not: the service can miss none that it does not see.
        for folder in [one["path"] for one in listed] + [os.path.join(os.path.dirname(scene), "blendcache_" + name_of(scene)) for scene in scenes]:
            if os.path.isdir(folder):
                self.add(folder)

    def path_of(self, file):
        """Where a file of this disk is in the project."""
        try:
            inside = os.path.relpath(file, self.root)
        except ValueError:  # another drive
            inside = os.pardir
        if inside.split(os.sep)[0] == os.pardir:
            drive, rest = os.path.splitdrive(file)
            at = "/".join(filter(None, (ELSEWHERE, re.sub(r"\W", "", drive))))
            self._apart[at + "/"] = drive + os.sep
            inside = os.path.join(at, rest.lstrip("/\\"))
        return composed(os.path.normpath(inside).replace(os.sep, "/"))

    def place_of(self, path):
        """Where on this disk Blender looks for what the service calls by a path."""
        if path != self.main and path in self.files:
            return os.path.normpath(self.files[path])
        disk = next((at for at in sorted(self._apart, key=len, reverse=True) if path.startswith(at)), "")
        place = os.path.normpath(os.path.join(self._apart[disk], path[len(disk):]) if disk else os.path.join(self.root, path))
        return self.listed[composed(place)]["path"] if composed(place) in self.listed else place

    def add(self, place, several=False):
        """Takes a file along, all of a folder, or all of a set. False where nothing new is."""
        before = len(self.files)
        for file in on_disk(place, several):
            self.files.setdefault(self.path_of(file), file)
        return len(self.files) > before

    def owns(self, place):
        """Whether a file is in the scene's folders, by no link and in no hidden one."""
        return below(place, self.root)

    def names(self, file, place):
        """Whether a file that the service misses is one that the scene or its OpenColorIO
        configuration names."""
        if self.ocio and file["kind"] == "lut":
            return below(place, os.path.dirname(self.ocio)) or self.configured(os.path.basename(place))
        return not self.packed and (composed(place) in self.listed or self.owns(place))

    def configured(self, name):
        """Whether the OpenColorIO configuration has a file's name in it."""
        with open(self.ocio, encoding="utf-8", errors="replace") as text:
            return "." in name[1:] and re.search(r"(?<![\w.-])%s(?![\w.-])" % re.escape(name), text.read()) is not None

    def price(self, client, frames, progress, settings=None):
        """Sends what the service says that the picture needs, and returns the locked quote."""
        chosen = dict(settings or {}, **({"ocio": self.path_of(self.ocio)} if self.ocio else {})) or None
        for _ in range(TURNS):
            progress(0, 0)
            quote = client.inspect_project(self.root, self.main, self.files, frames=frames, settings=chosen, progress=progress)
            added = False
            for file in of_scene(quote):
                place = self.place_of(file["path"])
                if file["status"] == "missing" and self.names(file, place):
                    added |= self.add(place, file["kind"] == "sequence" or self.listed.get(composed(place), {}).get("several"))
            if not added:
                break
        return quote

    def told(self, quote):
        """What is missing, and where Blender's list and the service's differ, each with
        ``text``, ``why`` and, where Blender knows it, the datablock."""
        missing, differ, seen = [], [], set()

        def tell(where, place, why, owner=""):
            one = self.listed.get(composed(place), {})
            where.append({"text": os.path.basename(place), "path": place, "owner": owner, "why": why, "kind": one.get("kind", ""),
                          "collection": one.get("collection", ""), "name": one.get("name", "")})

        for file in of_scene(quote):
            place = self.place_of(file.get("wanted") or file["path"])
            if composed(place) in seen:
                continue
            seen.add(composed(place))
            known = composed(place) in self.listed
            if file["status"] == "missing":
                tell(missing, place, "", file.get("owner", ""))
            elif file["status"] == "unused" and known and os.path.exists(place):
                tell(differ, place, "Blender lists it, but the picture does not need it", file.get("owner", ""))
            elif file["status"] in ("found", "remapped") and not known and file["kind"] not in ("simulation", "color_config", "lut"):
                tell(differ, place, "The picture needs it, though Blender does not list it", file.get("owner", ""))
        for place, one in self.listed.items():
            if place not in seen and os.path.exists(one["path"]):
                tell(differ, one["path"], "Blender lists it, but the service does not find it in the scene")
        return missing, differ


def below(place, folder):
    """Whether a file is in a folder, by no link and in no hidden one."""
    try:
        inside = os.path.relpath(place, folder)
    except ValueError:  # another drive
        return False
    return not inside.startswith(".") and os.sep + "." not in inside and os.path.realpath(place) == os.path.join(os.path.realpath(folder), inside)


def of_scene(quote):
    return quote.get("scene", {}).get("files") or []


def composed(path):
    """A path with composed letters, as the service has them; macOS takes them apart."""
    return unicodedata.normalize("NFC", path)


def name_of(path):
    return os.path.splitext(os.path.basename(path))[0]


def root_of(folder, places, home):
    """The folder that has the scene and what it names from where it is; the scene's own if
    that would be a whole disk or the folder of all home folders."""
    try:
        root = os.path.commonpath([folder] + [os.path.dirname(place) for place in places])
        everybody = os.path.dirname(root) == root or os.path.commonpath([root, home]) == root
    except ValueError:  # several drives
        return folder
    return folder if everybody else root


def on_disk(place, several):
    """The files for which a path stands: itself, all of a folder, the tiles of a set, or the
    numbered files next to it."""
    if os.path.isdir(place):
        return [os.path.join(folder, name) for folder, _, names in os.walk(place) for name in names]
    folder, name = os.path.split(place)
    tiles = re.search("<UDIM>|<UVTILE>", name)
    number = re.search(r"\d+(?=\D*$)", os.path.splitext(name)[0]) if several else None
    if tiles:
        digits = r"\d{4}" if tiles.group() == "<UDIM>" else r"u\d+_v\d+"
    elif number:
        digits, tiles = r"\d+", number
    else:
        return [place] if os.path.isfile(place) else []
    wanted = re.compile(re.escape(name[:tiles.start()]) + digits + re.escape(name[tiles.end():]))
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    return [os.path.join(folder, one) for one in sorted(names) if wanted.fullmatch(one)]
