"use strict";

// Checks the receipt in the browser, without another request: the DSSE signature, the log's
// checkpoint, and the path from the receipt's leaf to the checkpoint's root (RFC 6962, C2SP
// signed note). Only then it writes the page, every value of it from the signed bytes. The
// page itself brings none, and what a saved copy brings is removed first.

let proof;
const utf8 = new TextEncoder();

const fromBase64 = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
const hex = (bytes) => Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");
const same = (a, b) => hex(a) === hex(b);

function join(...parts) {
  const all = new Uint8Array(parts.reduce((n, p) => n + p.length, 0));
  let at = 0;
  for (const p of parts) { all.set(p, at); at += p.length; }
  return all;
}

// native says whether the browser has the arithmetic. If it does not, ed25519.js does.
let native = true;

async function sha256(...parts) {
  const all = join(...parts);
  return native ? new Uint8Array(await crypto.subtle.digest("SHA-256", all)) : arithmetic.sha256(all);
}

// must ends the whole check, with a message, when a condition does not hold.
function must(holds, message) {
  if (!holds) throw new Error(message);
}

// askBrowser finds out whether the browser has SHA-256 and Ed25519 here: over plain http it
// has neither, and older browsers do not have the second.
async function askBrowser() {
  try {
    await crypto.subtle.digest("SHA-256", new Uint8Array());
    await crypto.subtle.importKey("raw", fromBase64("Gb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE="), { name: "Ed25519" }, false, ["verify"]);
  } catch {
    native = false;
  }
}

// readKeys reads the published keys. A key's id is the SHA-256 of its raw 32 bytes, which
// end the DER form.
async function readKeys() {
  const keys = [];
  for (const published of proof.keys) {
    const raw = fromBase64(published.public_key_pem.replace(/-----[^-]+-----|\s/g, "")).slice(-32);
    must(hex(await sha256(raw)) === published.key_id, "a published key does not match its id");
    keys.push({ id: published.key_id, raw, end: published.end_log_size });
  }
  return keys;
}

async function verify(key, signature, text) {
  if (!native) return arithmetic.verify(key.raw, signature, text);
  const imported = await crypto.subtle.importKey("raw", key.raw, { name: "Ed25519" }, false, ["verify"]);
  return crypto.subtle.verify({ name: "Ed25519" }, imported, signature, text);
}

// checkSignature verifies the DSSE envelope and returns the signed bytes. What is
// signed is the pre-authentication encoding, not the payload alone. A key that has ended
// signed only what lies before its end in the log (decisions 22).
async function checkSignature(keys) {
  const { payloadType, payload, signatures } = proof.envelope;
  const key = keys.find((k) => k.id === signatures[0].keyid);
  must(signatures.length === 1 && key, "the receipt names a key that is not published");
  const body = fromBase64(payload);
  const type = utf8.encode(payloadType);
  const signed = join(utf8.encode(`DSSEv1 ${type.length} `), type, utf8.encode(` ${body.length} `), body);
  must(await verify(key, fromBase64(signatures[0].sig), signed), "the receipt was changed: its signature does not match");
  return { body, key };
}

// shown is how the page shows a signed text: characters that hide or turn text are
// escapes (the rule of package plaintext).
function shown(text) {
  return text.replace(/[^\P{Cc}\n\t]|[\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu, (c) => {
    if (c === "\r") return "\\r";
    if (c < "\x7f") return "\\x" + c.charCodeAt(0).toString(16).padStart(2, "0");
    return c.split("").map((half) => "\\u" + half.charCodeAt(0).toString(16).padStart(4, "0")).join("");
  });
}

// checkCheckpoint returns the log's size and root hash, once a published key is
// found that has signed them.
async function checkCheckpoint(keys) {
  const end = proof.checkpoint.lastIndexOf("\n\n");
  const text = proof.checkpoint.slice(0, end + 1);
  const [origin, size, root] = text.split("\n");
  for (const line of proof.checkpoint.slice(end + 2).split("\n")) {
    const [dash, name, encoded] = line.split(" ");
    if (dash !== "—" || name !== origin) continue;
    const signature = fromBase64(encoded);
    for (const key of keys) {
      const id = await sha256(utf8.encode(name + "\n"), Uint8Array.of(1), key.raw);
      if (same(id.slice(0, 4), signature.slice(0, 4)) && await verify(key, signature.slice(4), utf8.encode(text))) {
        return { origin, size: BigInt(size), root: fromBase64(root) };
      }
    }
  }
  throw new Error("the log's checkpoint is not signed by a published key");
}

// checkInclusion walks from the leaf to the root (RFC 9162 2.1.3.2).
async function checkInclusion(body, receipt, checkpoint) {
  must(receipt.log_index === proof.log_index, "the proof belongs to another leaf than the receipt names");
  let at = BigInt(proof.log_index);
  let last = checkpoint.size - 1n;
  must(at <= last, "the leaf is not in the log yet");
  let hash = await sha256(Uint8Array.of(0), await sha256(body));
  for (const encoded of proof.inclusion_proof) {
    must(last > 0n, "the path to the root is too long");
    const neighbour = fromBase64(encoded);
    if (at % 2n === 1n || at === last) {
      hash = await sha256(Uint8Array.of(1), neighbour, hash);
      while (at % 2n === 0n && at > 0n) { at /= 2n; last /= 2n; }
    } else {
      hash = await sha256(Uint8Array.of(1), hash, neighbour);
    }
    at /= 2n;
    last /= 2n;
  }
  must(last === 0n && same(hash, checkpoint.root), "the receipt is not in the log: its path does not lead to the root");
}

// element makes an element with texts and elements in it. Texts are shown as text.
function element(name, ...content) {
  const made = document.createElement(name);
  made.append(...content.map((c) => c instanceof Node ? c : shown(String(c))));
  return made;
}

const code = (text) => element("code", text);
const money = (cents, currency) => {
  const amount = `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, "0")}`;
  return currency === "USD" ? `$${amount}` : `${amount} ${currency}`;
};
const counted = (n, thing) => `${n} ${thing}${n === 1 ? "" : "s"}`;
const seconds = (s) => `${s.toFixed(2)} s`;

function size(bytes) {
  if (bytes >= 1 << 20) return `${(bytes / (1 << 20)).toFixed(1)} MiB`;
  return bytes >= 1 << 10 ? `${(bytes / (1 << 10)).toFixed(1)} KiB` : counted(bytes, "byte");
}

// facts makes a heading and a list of facts under it: a name and what it is each. A fact
// that the receipt does not have is null.
function facts(heading, ...rows) {
  const list = element("dl");
  list.className = "facts";
  for (const [name, ...content] of rows.filter(Boolean)) list.append(element("dt", name), element("dd", ...content));
  return [element("h2", heading), list];
}

const file = (f) => [["SHA-256", code(f.sha256)], ["Size", `${size(f.size_bytes)} (${f.size_bytes} bytes)`]];

// foldFrames is the number of frames above which their table starts folded.
const foldFrames = 40;

function frameTable(r) {
  const head = element("tr", ...["Frame", "File and SHA-256", "SHA-256 of the pixels", "Size", "Time"].map((title) => element("th", title)));
  const rows = r.frames.map((f) => element("tr",
    element("td", f.frame, ...(f.finding ? [` (${f.finding})`] : [])), element("td", f.file, code(f.sha256)), element("td", code(f.pixel_sha256)),
    element("td", size(f.size_bytes)), element("td", seconds(f.render_seconds))));
  const table = element("table", element("thead", head), element("tbody", ...rows));
  table.className = "frames";
  const scroll = element("div", table);
  scroll.className = "scroll";
  scroll.tabIndex = 0;
  scroll.setAttribute("role", "region");
  scroll.setAttribute("aria-label", "Frames");
  const details = element("details", element("summary", counted(r.frame_count, "file")), scroll);
  details.open = r.frames.length <= foldFrames;
  return element("section", element("h2", "Frames"), details);
}

// SYNTHETIC is the renderer that paints frames for tests.
const SYNTHETIC = "synthetic";

// write fills the page with a receipt whose bytes are verified.
function write(r) {
  const how = r.renderer.id === SYNTHETIC ? "NOT rendered but painted by a synthetic renderer, no Blender" : `rendered on ${r.device_name} (${r.render_device})`;
  document.title = shown(`Proof of ${r.artifact.filename} · svc`);
  document.getElementById("name").replaceChildren(shown(r.artifact.filename));
  const lead = element("p", `${counted(r.frame_count, "frame")}, ${how}, ${money(r.charged_cents, r.currency)}`);
  lead.className = "lead";
  const kept = element("section",
    ...facts("Delivered", ["ZIP", r.artifact.filename], ...file(r.artifact)),
    ...facts("Received", ["File", r.input.filename], ...file(r.input),
      r.input.files && ["Project", counted(r.input.files.length, "file"), ", SHA-256 ", code(r.input.project_sha256)]),
    ...facts("Rendered",
      ["Frames", r.frame_list ? r.frame_list : `${r.frame_start} to ${r.frame_end}, step ${r.frame_step}`],
      ["Device", `${r.device_name} (${r.render_device})`],
      ["Renderer", `${r.renderer.application} ${r.renderer.version}, build ${r.renderer.build_hash}, ${r.renderer.engine}`],
      ["Changed in the scene", r.switched.length ? r.switched.join(", ") : "nothing"],
      ["Time", `${seconds(r.render_seconds)} for all frames, completed ${r.completed_at.slice(0, 19).replace("T", " ")} UTC`]),
    ...facts("Paid", ["Price", `${money(r.charged_cents, r.currency)} (${counted(r.charged_cents, "cent")})`], ["Quote", code(r.quote_id)], ["Pricing", r.pricing_version]),
    ...facts("Receipt", ["Receipt", code(r.receipt_id)], ["Job", code(r.job_id)], ["Workspace", code(r.workspace_id)], ["Leaf in the log", r.log_index]));
  document.getElementById("receipt").replaceChildren(lead, kept, frameTable(r));
}

// show turns the whole page to one state: what is not verified is not shown. state is the
// CSS hook: waiting, verified, failed.
function show(state, message, ...findings) {
  const verdict = document.getElementById("verdict");
  verdict.querySelector("strong").textContent = message;
  verdict.dataset.state = state;
  document.getElementById("checks").replaceChildren(...findings.map((text) => {
    const item = element("li", text);
    if (state === "failed") item.className = "failed";
    return item;
  }));
  document.getElementById("more").hidden = state !== "verified";
  if (state === "verified") return;
  document.title = "Proof of a receipt · svc";
  document.getElementById("name").textContent = "Proof of a receipt";
  document.getElementById("receipt").replaceChildren();
}

// prove checks the page's proof and returns what it proves: the receipt, the key that signed it
// and the log's checkpoint.
async function prove() {
  proof = JSON.parse(document.getElementById("proof").textContent);
  await askBrowser();
  const keys = await readKeys();
  const { body, key } = await checkSignature(keys);
  const receipt = JSON.parse(new TextDecoder().decode(body)).predicate;
  const checkpoint = await checkCheckpoint(keys);
  await checkInclusion(body, receipt, checkpoint);
  must(typeof key.end !== "number" || receipt.log_index < key.end, "the receipt was signed after the end of its key");
  return { receipt, key, checkpoint };
}

async function check() {
  show("waiting", "Checking…");
  try {
    const { receipt, key, checkpoint } = await prove();
    write(receipt);
    show("verified", "Verified in your browser",
      `Signed by the service's key ${key.id}`,
      "Everything below is written from the signed bytes",
      `The checkpoint of the log ${checkpoint.origin} is signed, at ${checkpoint.size} ${checkpoint.size === 1 ? "receipt" : "receipts"}`,
      `The receipt is number ${receipt.log_index} of that log`,
      native ? "Computed by this browser's own cryptography" : "Computed by this page: the browser has no cryptography for it here. It has over https, or in a newer version");
    document.getElementById("zip").onchange = (event) => compare(event.target.files[0], receipt.artifact);
  } catch (error) {
    show("failed", "Do not trust this receipt", error.message);
  }
}

// compare hashes a ZIP of the visitor and compares it with the receipt. The file
// does not leave the browser.
async function compare(file, artifact) {
  const verdict = document.getElementById("zip-verdict");
  if (!file) return;
  verdict.className = "";
  verdict.textContent = "Hashing…";
  const equal = file.size === artifact.size_bytes && hex(await sha256(new Uint8Array(await file.arrayBuffer()))) === artifact.sha256;
  verdict.className = equal ? "good" : "bad";
  verdict.textContent = `${file.name} is ${equal ? "" : "not "}the ZIP of this receipt.`;
}

if (document.getElementById("receipt")) check(); // badge.js has its own page
