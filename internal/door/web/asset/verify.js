"use strict";

// Checks the receipt in the browser, without another request: the DSSE signature, that the
// page shows what is signed, the log's checkpoint, and the path from the
// receipt's leaf to the checkpoint's root (RFC 6962, C2SP signed note).

const proof = JSON.parse(document.getElementById("proof").textContent);
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

async function sha256(...parts) {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", join(...parts)));
}

// must ends the whole check, with a message, when a condition does not hold.
function must(holds, message) {
  if (!holds) throw new Error(message);
}

// readKeys imports the published keys. A key's id is the SHA-256 of its raw 32
// bytes, which end the DER form.
async function readKeys() {
  const keys = [];
  for (const published of proof.keys) {
    const der = fromBase64(published.public_key_pem.replace(/-----[^-]+-----|\s/g, ""));
    const raw = der.slice(-32);
    must(hex(await sha256(raw)) === published.key_id, "a published key does not match its id");
    keys.push({ id: published.key_id, raw, key: await crypto.subtle.importKey("spki", der, { name: "Ed25519" }, false, ["verify"]) });
  }
  return keys;
}

const verify = (key, signature, text) => crypto.subtle.verify({ name: "Ed25519" }, key.key, signature, text);

// checkSignature verifies the DSSE envelope and returns the signed bytes. What is
// signed is the pre-authentication encoding, not the payload alone.
async function checkSignature(keys) {
  const { payloadType, payload, signatures } = proof.envelope;
  const key = keys.find((k) => k.id === signatures[0].keyid);
  must(signatures.length === 1 && key, "the receipt names a key that is not published");
  const body = fromBase64(payload);
  const type = utf8.encode(payloadType);
  const signed = join(utf8.encode(`DSSEv1 ${type.length} `), type, utf8.encode(` ${body.length} `), body);
  must(await verify(key, fromBase64(signatures[0].sig), signed), "the receipt was changed: its signature does not match");
  return body;
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

// checkShown compares every value on the page that has data-is with the signed
// content: a page that shows something else must not look verified.
function checkShown(receipt) {
  const marked = document.querySelectorAll("[data-is]");
  for (const element of marked) {
    const value = element.dataset.is.split(".").reduce((v, name) => v?.[name], receipt);
    must(value !== undefined && element.textContent === shown(String(value)), `the page shows a ${element.dataset.is} that differs from the signed one`);
  }
  must(marked.length > 20, "the page shows too little of the receipt");
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

const verdict = document.getElementById("verdict");

// report adds one line to the list of checks.
function report(message, failed) {
  const item = document.createElement("li");
  item.textContent = message;
  if (failed) item.className = "failed";
  document.getElementById("checks").append(item);
}

// conclude shows the result. state is the CSS hook: verified, failed, impossible.
function conclude(state, message) {
  verdict.querySelector("strong").textContent = message;
  verdict.dataset.state = state;
}

async function check() {
  if (!globalThis.crypto?.subtle) {
    conclude("impossible", "This browser can check receipts only over https");
    return;
  }
  try {
    const keys = await readKeys();
    const body = await checkSignature(keys);
    report(`Signed by the service's key ${proof.envelope.signatures[0].keyid}`);
    const receipt = JSON.parse(new TextDecoder().decode(body)).predicate;
    checkShown(receipt);
    report("This page shows the signed values");
    const checkpoint = await checkCheckpoint(keys);
    report(`The checkpoint of the log ${checkpoint.origin} is signed, at ${checkpoint.size} receipts`);
    await checkInclusion(body, receipt, checkpoint);
    report(`The receipt is number ${receipt.log_index} of that log`);
    conclude("verified", "Verified in your browser");
    document.getElementById("zip").addEventListener("change", (event) => compare(event.target.files[0], receipt.artifact));
  } catch (error) {
    report(error.message, true);
    conclude("failed", "Do not trust this receipt");
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
  verdict.textContent = equal ? `${file.name} is the ZIP of this receipt.` : `${file.name} is not the ZIP of this receipt.`;
}

check();
