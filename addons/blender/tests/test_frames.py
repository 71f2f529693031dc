# SPDX-License-Identifier: GPL-3.0-or-later
"""What lies in a job's folder, and what is said about jobs. PYTHONPATH leads to the built add-on."""

import json
import os
import tempfile
import unittest
import zipfile

from svc_render_addon import texts, work
from svc_render_addon.jobs import ENDED, FETCHED


class Folder(unittest.TestCase):
    def setUp(self):
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        self.folder = kept.name

    def has(self, *names):
        for name in names:
            os.makedirs(os.path.dirname(os.path.join(self.folder, name)), exist_ok=True)
            with open(os.path.join(self.folder, name), "wb") as file:
                file.write(b"frame")

    def numbers(self):
        return [(number, os.path.basename(path)) for number, path in work.numbered(self.folder)]

    def test_the_last_number_of_a_name_is_its_frame_until_the_receipt_says_it(self):
        self.has("shot_010_0002.exr", "shot_010_0010.exr", "shot_010_0001.exr.part", "outputs/depth/z0002.exr", "receipt.json.part")
        self.assertEqual(self.numbers(), [(2, "shot_010_0002.exr"), (10, "shot_010_0010.exr")])
        with open(os.path.join(self.folder, "receipt.json"), "w", encoding="utf-8") as receipt:
            json.dump({"receipt": {"frames": [{"frame": 7, "file": "shot_010_0010.exr"}, {"frame": 12, "file": "shot_010_0002.exr"}]}}, receipt)
        self.assertEqual(self.numbers(), [(7, "shot_010_0010.exr"), (12, "shot_010_0002.exr")])

    def test_a_zip_puts_nothing_outside_of_the_folder(self):
        for name in ("outputs/../../x", "outputs/a\\b", "outputs//x", "outputs/c:x"):
            with zipfile.ZipFile(os.path.join(self.folder, "j.zip"), "w") as archive:
                archive.writestr(name, "x")
            with self.assertRaises(work.Damaged):
                work.unpack(os.path.join(self.folder, "j.zip"), os.path.join(self.folder, "in"))
        self.assertEqual(os.listdir(self.folder), ["j.zip"])


class Texts(unittest.TestCase):
    def test_an_ended_job_says_why_what_it_cost_and_what_is_left(self):
        job = {"name": "shot", "stage": ENDED, "status": "failed", "frame_count": 3, "why": "The scene has no camera.", "frames_here": 2}
        self.assertEqual(texts.notice_of(job), "shot failed. The scene has no camera. It cost nothing. 2 frames came before that and are in the folder.")
        job.update(status="cancelled", why="", frames_here=0, charged_cents=12, currency="USD")
        self.assertEqual(texts.notice_of(job), "shot was cancelled. It cost $0.12.")
        job.update(stage=FETCHED, frames_folder="/renders/shot", frame_count=1)
        self.assertEqual(texts.notice_of(job), "shot is done: 1 frame in /renders/shot")

    def test_an_order_says_in_what_it_differs_from_the_file(self):
        self.assertEqual(texts.settings_text({"camera": "Far", "resolution_percentage": 50, "samples": 1}), "Camera Far, 50 % of the resolution, 1 sample")
        self.assertEqual(texts.settings_text({"samples": 64, "ocio": "elsewhere/aces/config.ocio", "view_layer": None}), "64 samples, colours of config.ocio")

    def test_a_time_is_told_once_where_it_is_known(self):
        self.assertEqual([texts.between(0.6, 1.2), texts.between(3, 4000)], ["Takes about 1 s", "Takes 3 s to 67 min"])

    def test_a_running_job_says_how_far_it_is_and_what_it_waits_for(self):
        for want, job in (("waiting for a free computer", {"status": "queued"}), ("paused (2 of 9 frames)", {"waiting_reason": "paused", "frames_completed": 2}),
                          ("waiting: no computer is online", {"status": "queued", "waiting_reason": "no_worker_online"}),
                          ("3 of 9 frames, about 4 min left", {"status": "rendering", "frames_completed": 3, "eta_seconds": 240}),
                          ("9 of 9 frames", {"status": "packaging", "frames_completed": 9}), ("downloading the compositor's files, 50 %", {"fetched": 0.5})):
            self.assertEqual(texts.state_of({"frame_count": 9}, job), want)


if __name__ == "__main__":
    unittest.main()
