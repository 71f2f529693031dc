"""What needs no service: the standards' own vectors, and what a server can send wrongly."""

import array
import asyncio
import base64
import hashlib
import hmac
import http.server
import inspect
import itertools
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock
from urllib.parse import urlsplit

import svc_render
from svc_render import ed25519, stream, transfer, tree
from svc_render.frames import frames_text
from svc_render.transport import proxy_of, retry_after

HERE = os.path.dirname(os.path.abspath(__file__))

# RFC 8032 7.1, tests 1, 2, 3 and SHA(abc): key, signature, message.
VECTORS = [
    ("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
     "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b", ""),
    ("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
     "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00", "72"),
    ("fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
     "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a", "af82"),
    ("ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
     "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b58909351fc9ac90b3ecfdfbc7c66431e0303dca179c138ac17ad9bef1177331a704",
     "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"),
]


class Ed25519(unittest.TestCase):
    def test_the_vectors_of_the_standard_are_valid_and_nothing_near_them(self):
        for key, signature, message in VECTORS:
            key, signature, message = map(bytes.fromhex, (key, signature, message))
            self.assertTrue(ed25519.valid(key, signature, message))
            self.assertFalse(ed25519.valid(key, signature, message + b"\0"))
            for at in (0, 31, 32, 63):
                changed = bytearray(signature)
                changed[at] ^= 1
                self.assertFalse(ed25519.valid(key, bytes(changed), message))
            # The same signature with the group's order added to S (RFC 8032 5.1.7).
            high = (int.from_bytes(signature[32:], "little") + ed25519.L).to_bytes(32, "little")
            self.assertFalse(ed25519.valid(key, signature[:32] + high, message))
            self.assertFalse(ed25519.valid(key, signature[:63], message))


class Tree(unittest.TestCase):
    def test_a_path_of_the_wrong_length_or_place_leads_nowhere(self):
        leaves = [b"%d" % n for n in range(5)]
        hashes = [tree.leaf_hash(leaf) for leaf in leaves]
        left = tree.node_hash(tree.node_hash(*hashes[:2]), tree.node_hash(*hashes[2:4]))
        root = tree.node_hash(left, hashes[4])
        self.assertEqual(tree.tree_root(leaves), root)
        self.assertEqual(tree.path_root(leaves[4], 4, 5, [left]), root)
        for index, path in ((4, [left, left]), (4, []), (5, [left]), (-1, [left]), (4, [left[:31]])):
            with self.assertRaises(ValueError):
                tree.path_root(leaves[4], index, 5, path)


class Indexed:
    """A whole number of another library."""

    def __index__(self):
        return 6


class Frames(unittest.TestCase):
    def test_frames_are_written_in_the_grammar_of_the_service(self):
        for frames, text in ((7, "7"), ("1-50, 80-99x5", "1-50, 80-99x5"), ([1, 3, 5], "1,3,5"), (range(1, 11), "1-10x1"),
                             (range(10, 1, -3), "4-10x3"), (iter([2]), "2"), (range(4, 5), "4"), ({3}, "3"),
                             (array.array("H", [2, 3]), "2,3"), ([Indexed()], "6"), (Indexed(), "6")):
            self.assertEqual(frames_text(frames), text)
        for wrong in ((1, 10), [1.0], ["1"], True, [True], b"1-3", bytearray(b"1"), memoryview(b"1"), {1: 2}, 1.0, None, object(), [None], [[1]], slice(1, 3)):
            with self.subTest(wrong), self.assertRaisesRegex(TypeError, "^frames"):
                frames_text(wrong)
        for none_or_endless in ([], itertools.count(1), range(1, 10**12)):
            with self.assertRaises(ValueError):
                frames_text(none_or_endless)


class Asynchronous(unittest.TestCase):
    def test_it_has_every_method_with_the_same_parameters(self):
        def shape(method):
            return [(p.name, p.kind, p.default) for p in inspect.signature(method).parameters.values() if p.name != "stop"]

        def public(kind):
            return {name: method for name, method in vars(kind).items() if not name.startswith("_")}

        both = public(svc_render.Client), public(svc_render.AsyncClient)
        self.assertEqual(*map(set, both))
        for name, method in both[0].items():
            self.assertEqual(shape(method), shape(both[1][name]), name)

    def test_a_cancelled_call_ends_at_once_and_many_wait_together(self):
        silent = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Silent)
        thread = threading.Thread(target=silent.serve_forever)
        thread.start()
        self.addCleanup(lambda: (Silent.release.set(), silent.shutdown(), thread.join(), silent.server_close()))

        async def wait():
            client = svc_render.AsyncClient("http://127.0.0.1:%d" % silent.server_port, "k")
            waits = [asyncio.ensure_future(client.job("JOB-%d" % n)) for n in range(20)]
            while len(Silent.asked) < len(waits):  # all of them, not as many as a pool has threads
                await asyncio.sleep(0.01)
            for one in waits:
                one.cancel()
            return await asyncio.gather(*waits, return_exceptions=True)

        ended = asyncio.run(asyncio.wait_for(wait(), 60))
        self.assertEqual({type(one) for one in ended}, {asyncio.CancelledError})
        while any(t.name.startswith("svc_render") for t in threading.enumerate()):
            time.sleep(0.01)  # the threads end too: nothing answers, and the time-out is far


class Silent(http.server.BaseHTTPRequestHandler):
    """A server that answers nothing."""

    asked, release = [], threading.Event()

    def do_GET(self):
        self.asked.append(self.path)
        self.release.wait()

    def log_message(self, *_):
        pass


class Webhooks(unittest.TestCase):
    body = json.dumps({"type": "render.completed", "timestamp": "2026-01-01T00:00:00Z", "data": {"job_id": "JOB-1"}}).encode()

    def signed(self, key, stamp, identity="msg_1"):
        mac = hmac.new(key, b"%s.%d." % (identity.encode(), stamp) + self.body, hashlib.sha256).digest()
        return {"Webhook-Id": identity, "webhook-timestamp": str(stamp), "webhook-signature": "v1,AAAA v1," + base64.b64encode(mac).decode()}

    def test_a_call_is_believed_only_with_its_secret_and_near_its_time(self):
        for secret, key in (("a secret of the caller", b"a secret of the caller"), ("whsec_" + base64.b64encode(b"k" * 24).decode(), b"k" * 24)):
            event = svc_render.verify_webhook(secret, self.signed(key, 1000), self.body, now=1299)
            self.assertEqual((event.id, event.type, event.job), ("msg_1", "render.completed", {"job_id": "JOB-1"}))
            wrong = dict(self.signed(key, 1000))
            wrong["webhook-timestamp"] = "1001"
            for headers, body, now, with_secret in (
                    (self.signed(key, 1000), self.body, 1301, secret), (self.signed(key, 1000), self.body, 699, secret),
                    (self.signed(key, 1000), self.body + b" ", 1000, secret), (self.signed(b"other", 1000), self.body, 1000, secret),
                    (wrong, self.body, 1000, secret), ({}, self.body, 1000, secret), (self.signed(b"", 1000), self.body, 1000, ""),
                    (self.signed(b"", 1000), self.body, 1000, "whsec_"), (self.signed(key, 1000), self.body, 1000, "whsec_!")):
                with self.assertRaises(svc_render.WebhookError):
                    svc_render.verify_webhook(with_secret, headers, body, now=now)


class Lines:
    """An answer that is a list of lines."""

    def __init__(self, text):
        self.lines = text.encode().splitlines(keepends=True)

    def readline(self, most):
        return self.lines.pop(0) if self.lines else b""


class Streams(unittest.TestCase):
    def test_a_message_that_is_cut_off_is_dropped_and_ids_hold_for_later_ones(self):
        text = ": hello\n\nid: 4\nevent: job\ndata: {\"a\":\ndata: 1}\n\ndata: x\r\n\r\nid: 5\nevent: frame\ndata: cut"
        found = [m for m in stream.messages(Lines(text)) if m]
        self.assertEqual(found, [("4", "job", '{"a":\n1}'), ("4", "", "x")])


class Waits(unittest.TestCase):
    def test_a_wait_of_a_server_is_bounded_and_read_in_both_forms(self):
        self.assertEqual(retry_after("17"), 17)
        self.assertEqual(retry_after("99999999999"), 86400)
        for nothing in (None, "", "soon", "-1", "Wed, 21 Oct 2015 07:28:00 GMT", "Wed"):
            self.assertEqual(retry_after(nothing), 0)
        soon = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + 60))
        self.assertTrue(50 < retry_after(soon) <= 60)
        self.assertEqual(retry_after("Wed, 21 Oct 2015 07:28:02 GMT", "Wed, 21 Oct 2015 07:28:00 GMT"), 2)  # a clock of 2015

    def test_a_rate_limit_is_waited_out_silently_and_within_a_bound(self):
        for header in ({"Retry-After": "3", "RateLimit": '"api";r=0;t=60'}, {"RateLimit": '"parts";r=5;t=90, "api";r=0;t=2, "workspace";r=0;t=3'}):
            for refusals, attempts, waited, told in ((20, 6, 20, 0), (99, 6, 45, 5), (99, 1, 0, 0)):
                waits, retries, answers = [], [], [(429, b"", header)] * refusals + [(200, b"{}", {})]
                client = svc_render.Client(serving(self, answers), "k", attempts=attempts, sleep=waits.append, on_retry=retries.append)
                try:
                    client.wallet()
                    self.assertEqual(refusals, 20)
                except svc_render.ApiError as error:
                    self.assertEqual((error.status, refusals), (429, 99))
                self.assertEqual((len(waits), len(retries)), (waited, told))
                self.assertTrue(all(3 <= wait <= 10 for wait in waits))

    def test_an_address_is_taken_alone(self):
        for address in ("renders.example", "ftp://renders.example", "https://user:word@renders.example", "https://renders.example/?a", "https://"):
            with self.assertRaises(ValueError):
                svc_render.Client(address)

    def test_a_server_that_is_not_there_is_tried_again_and_a_name_that_is_nobodys_is_not(self):
        for address, tries in (("http://127.0.0.1:1", 2), ("http://nobody.invalid", 0)):
            retries = []
            client = svc_render.Client(address, attempts=3, sleep=lambda _: None, on_retry=retries.append)
            with self.assertRaises(svc_render.ConnectionFailed):
                client.health()
            self.assertLessEqual(tries, len(retries))


class Movies(unittest.TestCase):
    def test_a_movie_is_waited_for_and_saved_whole_or_not_at_all(self):
        answers = [(409, b'{"ok":false,"error":{"code":"movie_not_ready"}}', {"Retry-After": "3"}), (503, b"", {}),
                   (200, b"half", {"Content-Length": "8"}), (200, b"a movie", {"Content-Length": "7"})]
        waits = []
        client = svc_render.Client(serving(self, answers), "k", sleep=waits.append)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "shot.mp4")
            client.movie("JOB-1", path)
            with open(path, "rb") as file:
                self.assertEqual(file.read(), b"a movie")
            answers.append((409, b'{"ok":false,"error":{"code":"movie_unavailable"}}', {}))
            with self.assertRaises(svc_render.ApiError):
                client.movie("JOB-1", os.path.join(folder, "other.mp4"))
            self.assertEqual(os.listdir(folder), ["shot.mp4"])
        self.assertEqual((waits[0], len(waits)), (3, 3))


class BrokenFrames(unittest.TestCase):
    def test_a_broken_frame_resumes_where_it_broke(self):
        content = os.urandom(90000)
        want, other = hashlib.sha256(content).hexdigest(), hashlib.sha256(b"other").hexdigest()

        def part(start, length, tag=want):
            """Bytes of the frame, of which so many arrive before the connection ends."""
            headers = {"Content-Length": str(len(content) - start), "ETag": '"%s"' % tag}
            if start:
                headers["Content-Range"] = "bytes %d-%d/%d" % (start, len(content) - 1, len(content))
            return (206 if start else 200, content[start:start + length], headers)

        changed = (200, b"other", {"Content-Length": "5", "ETag": '"%s"' % other})
        elsewhere = (206, content[:10], {"Content-Range": "bytes 0-9/90000"})
        for name, answers, ranges, fails in (
                ("two breaks", [part(0, 30000), part(30000, 20000), part(50000, 40000)], ["", "30000-", "50000-"], None),
                ("a server away", [part(0, 30000), (503, b"", {}), (503, b"", {}), part(30000, 60000)], ["", "30000-", "30000-", "30000-"], None),
                ("a server without ranges", [part(0, 30000), (200, content, {})], ["", "30000-"], None),
                ("no such range", [part(0, 30000), (416, b"", {}), part(0, 90000)], ["", "30000-", ""], None),
                ("another range than asked for", [part(0, 30000), elsewhere, part(30000, 60000)], ["", "30000-", "30000-"], None),
                ("another frame meanwhile", [part(0, 30000), changed], ["", "30000-"], svc_render.DownloadChanged),
                ("other bytes at the end", [part(0, 30000), (206, bytes(60000), {"Content-Range": "bytes 30000-89999/90000"})], ["", "30000-"], svc_render.DownloadChanged)):
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                asked, path = [], os.path.join(folder, "f1.png")
                client = svc_render.Client(serving(self, list(answers), asked), "k", sleep=lambda seconds: None)

                def save():
                    transfer.save_frame(client._transport, "/f", path, len(content), want)

                if fails:
                    self.assertRaises(fails, save)
                else:
                    save()
                    with open(path, "rb") as file:
                        self.assertEqual(file.read(), content)
                self.assertEqual([headers.get("Range", "").replace("bytes=", "") for headers in asked], ranges)
                self.assertEqual({headers["If-Range"] for headers in asked if "Range" in headers}, {'"%s"' % want})
                self.assertEqual(os.listdir(folder), [] if fails else ["f1.png"])

    def test_a_later_call_resumes_what_an_earlier_one_left(self):
        content = os.urandom(9000)
        want = hashlib.sha256(content).hexdigest()
        answers = [(200, content[:4000], {"Content-Length": "9000"}), (503, b"", {}), (206, content[4000:], {"Content-Range": "bytes 4000-8999/9000"})]
        asked = []
        with tempfile.TemporaryDirectory() as folder:
            client = svc_render.Client(serving(self, answers, asked), "k", attempts=2, sleep=lambda seconds: None)
            path = os.path.join(folder, "f1.png")
            with self.assertRaises(svc_render.ApiError):
                transfer.save_frame(client._transport, "/f", path, len(content), want)
            self.assertFalse(os.path.exists(path))
            transfer.save_frame(client._transport, "/f", path, len(content), want)
            self.assertEqual((asked[-1]["Range"], os.listdir(folder)), ("bytes=4000-", ["f1.png"]))


def serving(test, answers, asked=None):
    """The address of a server that gives these answers: status, body and headers."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            if asked is not None:
                asked.append(self.headers)
            status, body, headers = answers.pop(0)
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    test.addCleanup(lambda: (server.shutdown(), thread.join(), server.server_close()))
    return "http://127.0.0.1:%d" % server.server_port


class Proxies(unittest.TestCase):
    def setUp(self):
        self.asked = asked = []

        class Proxy(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                asked.append((self.command, self.path, self.headers.get("Proxy-Authorization"), self.headers.get("Authorization")))
                self.send_response(200)
                self.end_headers()
                self.wfile.write(b'{"ok":true}')

            def do_CONNECT(self):
                asked.append((self.command, self.path, self.headers.get("Proxy-Authorization"), self.headers.get("Authorization")))
                self.send_error(403)

            def log_message(self, *_):
                pass

        self.server = http.server.HTTPServer(("127.0.0.1", 0), Proxy)
        thread = threading.Thread(target=self.server.serve_forever)
        thread.start()
        self.addCleanup(lambda: (self.server.shutdown(), thread.join(), self.server.server_close()))
        proxy = "http://me:w%%40rd@127.0.0.1:%d" % self.server.server_port
        patched = unittest.mock.patch.dict(os.environ, {"http_proxy": proxy, "https_proxy": proxy, "no_proxy": "near.example"})
        patched.start()
        self.addCleanup(patched.stop)

    def test_the_proxy_of_the_environment_gets_the_calls_and_sees_no_key_of_https(self):
        right = "Basic " + base64.b64encode(b"me:w@rd").decode()
        self.assertEqual(svc_render.Client("http://render.invalid", "k").health(), {"ok": True})
        with self.assertRaises(svc_render.ConnectionFailed):
            svc_render.Client("https://render.invalid", "k", attempts=1).health()
        self.assertEqual(self.asked, [("GET", "http://render.invalid/v1/health", right, "Bearer k"),
                                      ("CONNECT", "render.invalid:443", right, None)])

    def test_this_machine_and_what_no_proxy_names_are_called_directly(self):
        for address in ("http://localhost:1", "http://127.0.0.1:1", "http://[::1]:1", "http://near.example:1"):
            self.assertIsNone(proxy_of(urlsplit(address)))
        self.assertIsNotNone(proxy_of(urlsplit("http://far.example")))
        with unittest.mock.patch.dict(os.environ, {"http_proxy": "socks5://127.0.0.1:1"}), self.assertRaises(svc_render.SvcError):
            proxy_of(urlsplit("http://far.example"))


class Wheel(unittest.TestCase):
    def test_the_wheel_has_the_same_bytes_again_and_runs_without_the_source(self):
        with tempfile.TemporaryDirectory() as folder:
            built = []
            for turn in ("a", "b"):
                path = subprocess.run([sys.executable, os.path.join(HERE, "..", "build.py"), os.path.join(folder, turn)],
                                      check=True, capture_output=True, text=True).stdout.strip()
                with open(path, "rb") as file:
                    built.append(file.read())
            self.assertEqual(*built)
            said = subprocess.run([sys.executable, "-c", "import svc_render; print(svc_render.__file__, svc_render.__version__)"],
                                  check=True, capture_output=True, text=True, cwd=folder, env={"PYTHONPATH": path}).stdout
            self.assertIn(".whl", said)
            self.assertIn(svc_render.__version__, said)


if __name__ == "__main__":
    unittest.main()
