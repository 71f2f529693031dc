# SPDX-License-Identifier: GPL-3.0-or-later
"""Which files go into a project, where they are there, and what differs from Blender's list.
PYTHONPATH leads to the built add-on."""

import os
import tempfile
import unittest

from svc_render_addon.project import Project, root_of


def named(path, stored="", kind="image", name="", several=False):
    return {"kind": kind, "stored": stored or path, "path": path, "collection": kind + "s" if name else "", "name": name, "several": several}


class Answers:
    """A client whose service wants files, and finds what it is sent."""

    def __init__(self, *wanted):
        self.wanted, self.turns = wanted, []

    def inspect_project(self, root, main, files, frames=None, settings=None, progress=None):
        self.settings = settings
        self.turns.append(sorted(files))
        return {"scene": {"files": [dict({"status": "found" if one["path"] in files else "missing", "kind": "image", "owner": "o"}, **one) for one in self.wanted]}}


class Case(unittest.TestCase):
    def setUp(self):
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        self.disk = os.path.realpath(kept.name)

    def at(self, path):
        place = os.path.join(self.disk, *path.split("/"))
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(place, "w", encoding="utf-8") as file:
            file.write(path)
        return place

    def sent(self, project, *wanted):
        client = Answers(*wanted)
        quote = project.price(client, None, lambda done, total: None)
        return client, quote

    def test_nothing_is_sent_that_the_service_does_not_want(self):
        scene, needed, spare = self.at("film/shots/s.blend"), self.at("film/tex/a.png"), self.at("film/tex/spare.png")
        project = Project(scene, "copy", [named(needed, "//../tex/a.png", name="a"), named(spare, "//../tex/spare.png", name="spare")])
        client, quote = self.sent(project, {"path": "tex/a.png"}, {"path": "tex/spare.png", "status": "unused"})
        self.assertEqual(client.turns, [["shots/s.blend"], ["shots/s.blend", "tex/a.png"]])
        self.assertEqual((project.files["shots/s.blend"], project.files["tex/a.png"]), ("copy", needed))
        missing, differ = project.told(quote)
        self.assertEqual(missing, [])
        self.assertEqual([(one["name"], one["why"]) for one in differ], [("spare", "Blender lists it, but the picture does not need it")])

    def test_the_service_cannot_ask_for_a_file_that_the_scene_does_not_have(self):
        scene, extra = self.at("film/s.blend"), self.at("film/tex/extra.png")
        self.at("film/.keys/id"), self.at("secret")
        os.symlink(os.path.join(self.disk, "secret"), os.path.join(self.disk, "film", "link"))
        project = Project(scene, "copy", [])
        asked = ["../secret", os.path.join(self.disk, "secret"), ".keys/id", "link", "tex/../../secret"]
        client, quote = self.sent(project, {"path": "tex/extra.png"}, *({"path": path} for path in asked))
        self.assertEqual(client.turns[-1], ["s.blend", "tex/extra.png"])
        missing, differ = project.told(quote)
        self.assertEqual(sorted({one["text"] for one in missing}), ["id", "link", "secret"])
        self.assertEqual([(one["path"], one["why"]) for one in differ], [(extra, "The picture needs it, though Blender does not list it")])

    def test_a_configuration_of_colours_brings_its_own_files_alone(self):
        scene, config, lut, film = self.at("film/s.blend"), self.at("studio/aces/config.ocio"), self.at("studio/aces/luts/a.cube"), self.at("studio/film.cube")
        with open(config, "w", encoding="utf-8") as text:
            text.write("search_path: luts:..\nid: {src: film.cube}\n")
        at = "elsewhere" + self.disk.replace(os.sep, "/") + "/studio/"
        for secret in ("studio/id", "studio/aces/.git/b.cube", "studio/other.cube", "film/tex.cube"):
            self.at(secret)
        asked = ["aces/luts/a.cube", "film.cube", "id", "aces/.git/b.cube", "other.cube"]
        for listed in (None, []):
            project = Project(scene, "copy", listed, config)
            client, quote = self.sent(project, *({"path": at + path, "kind": "lut"} for path in asked), {"path": at + "aces/config.ocio", "kind": "color_config"})
            self.assertEqual(client.settings, {"ocio": at + "aces/config.ocio"})
            self.assertEqual(client.turns[-1], sorted([at + "aces/config.ocio", at + "aces/luts/a.cube", at + "film.cube", "s.blend"]))
            self.assertEqual(project.told(quote)[1], [])

    def test_sets_and_folders_come_whole(self):
        scene, first = self.at("s.blend"), self.at("plate_08.png")
        for path in ("plate_9.png", "plate_100.png", "plate_x.png", "w.1001.png", "w.1002.png", "w.png", "blendcache_s/a.bphys", "fluid/data/1.vdb"):
            self.at(path)
        project = Project(scene, "copy", [named(first, "//plate_08.png", name="plate", several=True), named(os.path.join(self.disk, "fluid"), "//fluid", kind="")])
        client, _ = self.sent(project, {"path": "plate_08.png"}, {"path": "w.<UDIM>.png", "kind": "udim"})
        self.assertEqual(client.turns[0], ["blendcache_s/a.bphys", "fluid/data/1.vdb", "s.blend"])
        self.assertEqual(sorted(set(client.turns[1]) - set(client.turns[0])), ["plate_08.png", "plate_100.png", "plate_9.png", "w.1001.png", "w.1002.png"])

    def test_files_apart_from_the_scene_are_elsewhere_and_lead_to_their_own(self):
        scene, library, own = self.at("film/s.blend"), self.at("shared/lib.blend"), self.at("shared/tex/b.png")
        project = Project(scene, "copy", [named(library, kind="library", name="lib"), named(own, name="b")])
        at = "elsewhere" + self.disk.replace(os.sep, "/") + "/shared/"
        client, quote = self.sent(project, {"path": at + "tex/b.png"})
        self.assertEqual(client.turns, [[at + "lib.blend", "s.blend"], [at + "lib.blend", at + "tex/b.png", "s.blend"]])
        self.assertEqual(project.told(quote)[0], [])

    def test_letters_that_were_taken_apart_are_the_same_file(self):
        scene, apart = self.at("s.blend"), self.at("ta\u0308g.png")
        project = Project(scene, "copy", [named(apart, "//ta\u0308g.png", name="day")])
        client, quote = self.sent(project, {"path": "t\u00e4g.png"})
        self.assertEqual(client.turns[-1], ["s.blend", "t\u00e4g.png"])
        self.assertEqual(project.told(quote), ([], []))

    def test_no_root_is_a_disk_or_everybodys_home(self):
        for want, folder, places in (("/a/film", "/a/film/shots", ["/a/film/tex/x.png"]), ("/a/film", "/a/film", ["/b/x.png"]),
                                     ("/home/u/film", "/home/u/film", ["/home/u/x.png"]), ("/home/u/film", "/home/u/film", ["/home/v/x.png"])):
            self.assertEqual(root_of(folder, places, "/home/u"), want)


if __name__ == "__main__":
    unittest.main()
