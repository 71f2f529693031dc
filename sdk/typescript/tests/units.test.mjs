// What needs no service: the standards' own vectors, and what a server can send wrongly.
import assert from "node:assert/strict";
import { createHash, createHmac, randomBytes } from "node:crypto";
import { createServer } from "node:http";
import { once } from "node:events";
import { mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import test from "node:test";
import { ApiError, Client, ConnectionFailed, DownloadChanged, FollowTimeout, ForeignAnswer, SvcError, WebhookError, verify, verifyWebhook } from "../lib/index.js";
import { saveFrame } from "../lib/download.js";
import { messages } from "../lib/follow.js";
import { framesText } from "../lib/frames.js";
import { parseStrictly, same } from "../lib/strictjson.js";
import { Transport, retryAfter } from "../lib/transport.js";
import { b64, leafHash, nodeHash, openCheckpoint, pathRoot, signedBy, treeRoot, utf8 } from "../lib/tree.js";
import { entriesOf } from "../lib/zip.js";

const fromHex = (text) => new Uint8Array(Buffer.from(text, "hex"));

// RFC 8032 7.1, tests 1, 2, 3 and SHA(abc): key, signature, message.
const vectors = [
  ["d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
    "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b", ""],
  ["3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
    "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00", "72"],
  ["fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
    "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a", "af82"],
  ["ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
    "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b58909351fc9ac90b3ecfdfbc7c66431e0303dca179c138ac17ad9bef1177331a704",
    "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"],
];

test("the vectors of the standard are valid and nothing near them", async () => {
  const order = 2n ** 252n + 27742317777372353535851937790883648493n;
  for (const [key, signature, message] of vectors.map((row) => row.map(fromHex))) {
    assert.ok(await signedBy(key, signature, message));
    assert.ok(!(await signedBy(key, signature, new Uint8Array([...message, 0]))));
    for (const at of [0, 31, 32, 63]) {
      const changed = signature.slice();
      changed[at] ^= 1;
      assert.ok(!(await signedBy(key, changed, message)));
    }
    // The same signature with the group's order added to S (RFC 8032 5.1.7).
    let high = order + BigInt("0x" + Buffer.from(signature.slice(32).reverse()).toString("hex"));
    const moved = signature.slice();
    for (let at = 32; at < 64; at++, high >>= 8n) moved[at] = Number(high & 255n);
    assert.ok(!(await signedBy(key, moved, message)));
    assert.ok(!(await signedBy(key, signature.slice(0, 63), message)));
  }
});

test("a path of the wrong length or place leads nowhere", async () => {
  const leaves = ["0", "1", "2", "3", "4"].map(utf8);
  const hashes = await Promise.all(leaves.map(leafHash));
  const left = await nodeHash(await nodeHash(hashes[0], hashes[1]), await nodeHash(hashes[2], hashes[3]));
  const root = await nodeHash(left, hashes[4]);
  assert.deepEqual(await treeRoot(leaves), root);
  assert.deepEqual(await pathRoot(leaves[4], 4, 5, [left]), root);
  for (const [index, path] of [[4, [left, left]], [4, []], [5, [left]], [-1, [left]], [4, [left.slice(1)]]]) {
    await assert.rejects(pathRoot(leaves[4], index, 5, path));
  }
});

test("a checkpoint that is no signed note is refused", async () => {
  for (const note of ["", "log\n1\n\n", "log\n01\nAAAA\n\n\u2014 log AAAA\n", "a b\n1\nAAAA\n\n\u2014 log AAAA\n", null]) {
    await assert.rejects(openCheckpoint(note, []));
  }
});

test("signed JSON has one reading", () => {
  const { value, textOf } = parseStrictly('{"a": [ {"b" : 1.50e1} ,{}],"c":"\\u00e4\\n","d":[true,null,-0.5]}');
  assert.ok(same(value, { d: [true, null, -0.5], c: "ä\n", a: [{ b: 15 }, {}] }));
  assert.equal(textOf(value.a[0]), '{"b" : 1.50e1}');
  for (const wrong of ["", "{", '{"a":1,"a":1}', '{"a":1,"\\u0061":1}', "[1,]", "01", "1.", ".5", "NaN", "[1]x", '"\n"', "'a'", "9007199254740993", "1e999",
    '\ufeff{}', "tru", "{a:1}", "[".repeat(600) + "]".repeat(600)]) {
    assert.throws(() => parseStrictly(wrong), undefined, wrong);
  }
  assert.throws(() => parseStrictly(Uint8Array.of(34, 0xff, 34)));
  for (const [a, b] of [[true, 1], [null, {}], [[], {}], ["1", 1], [{ a: 1 }, { b: 1 }], [{ toString: 1 }, { a: 1 }], [[1], [1, 1]]]) assert.ok(!same(a, b));
});

test("base64 has one form", () => {
  assert.deepEqual(b64("AAE="), Uint8Array.of(0, 1));
  for (const wrong of ["AAE", "AAF=", "AA E=", "AAE=\n", "_w==", null]) assert.throws(() => b64(wrong));
});

test("what is no ZIP is none", async () => {
  for (const text of ["", "PK", "x".repeat(100), "PK\x05\x06" + "\xff".repeat(18)]) await assert.rejects(entriesOf(new Blob([text])));
});

const body = JSON.stringify({ type: "render.completed", timestamp: "2026-01-01T00:00:00Z", data: { job_id: "JOB-1" } });

function signed(key, stamp, id = "msg_1") {
  const mac = createHmac("sha256", key).update(`${id}.${stamp}.${body}`).digest("base64");
  return { "Webhook-Id": id, "webhook-timestamp": String(stamp), "webhook-signature": "v1,AAAA v1," + mac };
}

test("a call is believed only with its secret and near its time", async () => {
  for (const [secret, key] of [["a secret of the caller", "a secret of the caller"], ["whsec_" + Buffer.from("k".repeat(24)).toString("base64"), "k".repeat(24)]]) {
    const event = await verifyWebhook(secret, new Headers(signed(key, 1000)), body, 1299);
    assert.deepEqual([event.id, event.type, event.job], ["msg_1", "render.completed", { job_id: "JOB-1" }]);
    assert.equal((await verifyWebhook(secret, { ...signed(key, 1000), other: ["a", "b"], none: undefined }, utf8(body), 701)).id, "msg_1");
    for (const [headers, told, now, by] of [
      [signed(key, 1000), body, 1301, secret], [signed(key, 1000), body, 699, secret], [signed(key, 1000), body + " ", 1000, secret],
      [signed("other", 1000), body, 1000, secret], [{ ...signed(key, 1000), "webhook-timestamp": "1001" }, body, 1000, secret], [{}, body, 1000, secret],
      [signed("", 1000), body, 1000, ""], [signed("", 1000), body, 1000, "whsec_"], [signed("", 1000), body, 1000, "whsec_!"], [signed(key, 1000), body, NaN, secret]]) {
      await assert.rejects(verifyWebhook(by, headers, told, now), WebhookError);
    }
  }
});

async function* pieces(...texts) {
  for (const text of texts) yield Buffer.from(text);
}

test("a message that is cut off is dropped and ids hold for later ones", async () => {
  const found = [];
  for await (const m of messages(pieces(": hello\n\nid: 4\neve", "nt: job\ndata: {\"a\":\ndata: 1}\n", "\ndata: x\r\n\r\nid: 5\nevent: frame\ndata: cut"))) if (m) found.push(m);
  assert.deepEqual(found, [{ id: "4", type: "job", data: '{"a":\n1}' }, { id: "4", type: "", data: "x" }]);
});

test("a wait of a server is bounded and read in both forms", () => {
  assert.equal(retryAfter("17"), 17);
  assert.equal(retryAfter("99999999999"), 86400);
  for (const nothing of [null, "", "soon", "-1", "Wed, 21 Oct 2015 07:28:00 GMT", "Wed"]) assert.equal(retryAfter(nothing), 0);
  const soon = retryAfter(new Date(Date.now() + 60000).toUTCString());
  assert.ok(50 < soon && soon <= 60, String(soon));
  assert.equal(retryAfter("Wed, 21 Oct 2015 07:28:02 GMT", "Wed, 21 Oct 2015 07:28:00 GMT"), 2); // a clock of 2015
});

test("an address is taken alone", () => {
  for (const address of ["renders.example", "ftp://renders.example", "https://user:word@renders.example", "https://renders.example/?a", "https://", "/v1"]) {
    assert.throws(() => new Client(address), TypeError, address);
  }
});

test("a server that is not there is tried again", async () => {
  const retries = [];
  const client = new Client("http://127.0.0.1:1", "", { attempts: 3, sleep: async () => {}, onRetry: (retry) => retries.push(retry.attempt) });
  await assert.rejects(client.health(), ConnectionFailed);
  assert.deepEqual(retries, [2, 3]);
});

// serving runs a server that answers by `answer`, and gives its address.
async function serving(t, answer) {
  const server = createServer(answer).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${server.address().port}`;
}

test("the key follows no redirect, and a success of another server is none", async (t) => {
  const keys = [];
  const other = await serving(t, (request, response) => {
    keys.push(request.headers.authorization);
    response.end("{}");
  });
  const url = await serving(t, (request, response) => {
    if (request.url === "/v1/wallet") response.writeHead(307, { Location: other }).end();
    else response.end(request.url === "/v1/health" ? "<html>" : "[]");
  });
  const client = new Client(url, "svc_agent_x", { attempts: 2, sleep: async () => {} });
  await assert.rejects(client.wallet(), (error) => error instanceof ApiError && error.status === 307);
  await assert.rejects(client.health(), ForeignAnswer);
  await assert.rejects(client.limits(), ForeignAnswer);
  assert.deepEqual(keys, []);
});

test("a rate limit is waited out silently and within a bound", async (t) => {
  for (const headers of [{ "Retry-After": "3", RateLimit: '"api";r=0;t=60' }, { RateLimit: ['"parts";r=5;t=90, "api";r=0;t=2', '"workspace";r=0;t=3'] }]) {
    for (const [refusals, attempts, waited, told] of [[20, 6, 20, 0], [99, 6, 45, 5], [99, 1, 0, 0]]) {
      const waits = [];
      let asked = 0, retries = 0;
      const url = await serving(t, (request, response) => (++asked > refusals ? response.end("{}") : response.writeHead(429, headers).end()));
      const client = new Client(url, "", { attempts, sleep: async (seconds) => void waits.push(seconds), onRetry: () => retries++ });
      const ended = await client.wallet().then(() => 200, ({ status }) => status);
      assert.deepEqual([ended, waits.length, retries], [refusals === 20 ? 200 : 429, waited, told]);
      assert.ok(waits.every((wait) => 3 <= wait && wait <= 10), String(waits));
    }
  }
});

test("a movie is waited for and saved whole or not at all", async (t) => {
  const answers = [[409, '{"ok":false,"error":{"code":"movie_not_ready"}}', { "Retry-After": "3" }], [503, "", {}],
    [200, "half", { "Content-Length": "8" }], [200, "a movie", {}], [409, '{"ok":false,"error":{"code":"movie_unavailable"}}', {}]];
  const url = await serving(t, (request, response) => {
    const [status, text, headers] = answers.shift();
    response.writeHead(status, headers).write(text, () => (headers["Content-Length"] ? response.destroy() : response.end()));
  });
  const folder = await mkdtemp(join(tmpdir(), "movie-")), waits = [];
  t.after(() => rm(folder, { recursive: true }));
  const client = new Client(url, "", { sleep: async (seconds) => void waits.push(seconds) });
  await client.movie("JOB-1", join(folder, "shot.mp4"));
  assert.equal(await readFile(join(folder, "shot.mp4"), "utf8"), "a movie");
  await assert.rejects(client.movie("JOB-1", join(folder, "other.mp4")), { code: "movie_unavailable" });
  assert.deepEqual(await readdir(folder), ["shot.mp4"]);
  assert.deepEqual([waits[0], waits.length], [3, 3]);
});

test("a broken frame resumes where it broke", async (t) => {
  const content = randomBytes(90000), hash = (bytes) => createHash("sha256").update(bytes).digest("hex"), want = hash(content);
  // Bytes of the frame, of which so many arrive before the connection ends.
  const part = (start, length) => [start > 0 ? 206 : 200, content.subarray(start, start + length),
    { ETag: `"${want}"`, ...(start > 0 ? { "Content-Range": `bytes ${start}-89999/90000` } : {}) }];
  for (const [name, answers, ranges, fails] of [
    ["two breaks", [part(0, 30000), part(30000, 20000), part(50000, 40000)], ["", "30000-", "50000-"]],
    ["a server away", [part(0, 30000), [503, "", {}], [503, "", {}], part(30000, 60000)], ["", "30000-", "30000-", "30000-"]],
    ["a server without ranges", [part(0, 30000), [200, content, {}]], ["", "30000-"]],
    ["no such range", [part(0, 30000), [416, "", {}], part(0, 90000)], ["", "30000-", ""]],
    ["another range than asked for", [part(0, 30000), [206, "x", { "Content-Range": "bytes 0-9/90000" }], part(30000, 60000)], ["", "30000-", "30000-"]],
    ["another frame meanwhile", [part(0, 30000), [200, "other", { ETag: `"${hash("other")}"` }]], ["", "30000-"], DownloadChanged],
    ["other bytes at the end", [part(0, 30000), [206, Buffer.alloc(60000), { "Content-Range": "bytes 30000-89999/90000" }]], ["", "30000-"], DownloadChanged],
  ]) {
    await t.test(name, async (t) => {
      const asked = [];
      const url = await serving(t, (request, response) => {
        asked.push(request.headers);
        const [status, bytes, headers] = answers.shift();
        response.writeHead(status, headers).end(bytes); // of no stated length, as a proxy may end it
      });
      const folder = await mkdtemp(join(tmpdir(), "frame-")), path = join(folder, "f1.png");
      t.after(() => rm(folder, { recursive: true }));
      const saved = saveFrame(new Transport(url, "k", { sleep: async () => undefined }), "/f", path, content.length, want);
      if (fails) await assert.rejects(saved, fails);
      else {
        await saved;
        assert.deepEqual(await readFile(path), content);
      }
      assert.deepEqual(asked.map((headers) => (headers.range ?? "").replace("bytes=", "")), ranges);
      for (const headers of asked) if (headers.range) assert.equal(headers["if-range"], `"${want}"`);
      assert.deepEqual(await readdir(folder), fails ? [] : ["f1.png"]);
    });
  }
});

test("a server that falls silent is given up, and a caller's own signal is its own reason", async (t) => {
  const url = await serving(t, (request, response) => response.writeHead(200).write('{"ok":'));
  await assert.rejects(new Client(url, "", { attempts: 1, timeout: 0.05 }).health(), (error) => error instanceof ConnectionFailed && /silent/.test(error.message));
  await assert.rejects(new Client(url).health({ signal: AbortSignal.timeout(50) }), { name: "TimeoutError" });
  await assert.rejects(new Client("http://127.0.0.1:1").health({ signal: AbortSignal.timeout(50) }), { name: "TimeoutError" }); // while it waits for another try
  const follow = new Client(url, "", { sleep: async () => {} }).follow("JOB-1", { timeout: 0.05 });
  await assert.rejects(follow.next(), FollowTimeout);
});

test("a call of one's own that changes something is made once", async (t) => {
  let calls = 0;
  const url = await serving(t, (request, response) => {
    calls++;
    response.writeHead(503, { "X-Request-Id": "req_1", "Retry-After": "3" }).end("<html>");
  });
  const client = new Client(url, "", { attempts: 3, sleep: async () => {} });
  await assert.rejects(client.call("POST", "/v1/any", { value: {} }), { code: "", status: 503, requestId: "req_1", retryAfter: 3, retryable: true });
  assert.equal(calls, 1);
  await assert.rejects(client.call("POST", "/v1/any", { value: {}, idempotencyKey: "a" }), SvcError);
  assert.equal(calls, 4);
});

test("keys that are none are refused before anything is believed", async () => {
  for (const key of ["", "-----BEGIN PUBLIC KEY-----\n!\n-----END PUBLIC KEY-----", "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----"]) {
    await assert.rejects(verify("{}", [key]), { name: "VerificationError", check: "key" });
  }
});

test("frames are written in the grammar of the service", () => {
  for (const [frames, text] of [[7, "7"], ["1-50, 80-99x5", "1-50, 80-99x5"], [[1, 3, 5], "1,3,5"], [new Set([2]), "2"]]) assert.equal(framesText(frames), text);
  for (const wrong of [[], [1.5], ["1"], NaN, Buffer.from("1-3"), true, null, undefined, { start: 1 }, 10n, [, 1], [[1]], new Date()]) {
    assert.throws(() => framesText(wrong), /^(TypeError|RangeError): frames (are whole numbers|names no)/);
  }
  const endless = (function* () { for (let frame = 1; ; frame++) yield frame; })();
  assert.throws(() => framesText(endless), /^RangeError: frames names more than 1000000 frames/);
});

test("what prints a client does not print its key", () => {
  const client = new Client("https://render.example", "svc_agent_secret");
  for (const shown of [inspect(client, { depth: 9, showHidden: true }), JSON.stringify(client)]) assert.ok(!shown.includes("secret"), shown);
});
