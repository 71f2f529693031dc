/**
 * Verifies a receipt without a network and without trusting the service (docs/verify.md).
 *
 * What is checked is what `svc verify` checks, in the same order and under the same names,
 * except that of the pictures only PNG is decoded, for the check "pixels", and
 * that "members" compares values and not how they were written. Members that a later service
 * adds to a receipt are signed like the others, and are not judged.
 */
import { VerificationError } from "./errors.js";
import { blobOf, digest, hex, sha256 } from "./files.js";
import { pixelsOf } from "./pixels.js";
import { checkReceipt, manifestOf, outputsOf, reusedOf, stripsOf } from "./receipt.js";
import { parseStrictly, same } from "./strictjson.js";
import { b64, equal, join, openCheckpoint, pathRoot, signedBy, toB64, treeRoot, utf8 } from "./tree.js";
import { entriesOf } from "./zip.js";
const PAYLOAD_TYPE = "application/vnd.in-toto+json";
const STATEMENT_TYPE = "https://in-toto.io/Statement/v1";
const RECEIPT_TYPE = "https://svc.example/receipt/v1";
const TEST_RECEIPT_TYPE = "https://svc.example/test-receipt/v1";
const FRAME_SET_TYPE = "https://svc.example/frame-set/v1";
const TEST_FRAME_SET_TYPE = "https://svc.example/test-frame-set/v1";
const SPKI = "302a300506032b6570032100"; // of Ed25519 (RFC 8410), before the key
const MOST_MANIFEST = 16 << 20;
/** Verifies a receipt: an answer of the receipt's route, or a bare envelope. VerificationError has the whole report. */
export async function verify(receipt, keys, options = {}) {
    const document = read(receipt), proof = options.proof === undefined ? undefined : read(options.proof);
    const run = new Verification(await Promise.all(Array.from(keys, keyOf)));
    await run.all(document, proof, options);
    const report = {
        receipt: run.receipt, keyId: run.keyId, checks: run.checks,
        notChecked: run.checks.filter(({ status }) => status === "skipped").map(({ name }) => name),
    };
    for (const { name, status, text } of run.checks)
        if (status === "failed")
            throw new VerificationError(name, text, report);
    for (const name of options.require ?? []) {
        if (!run.checks.some((check) => check.name === name && check.status === "ok")) {
            throw new VerificationError(name, "this check was required and was not made", report);
        }
    }
    return report;
}
class Verification {
    known;
    checks = [];
    receipt = {};
    keyId = "";
    statement;
    payload;
    point;
    signers = [];
    test = false;
    constructor(known) {
        this.known = known;
    }
    async all(document, proof, options) {
        if (!(await this.made("signature", () => this.signature(document))))
            return;
        if (!(await this.made("statement", () => this.stated())))
            return;
        const receipt = this.receipt, strips = stripsOf(receipt);
        if (strips)
            this.checks.push({ name: "strips", status: "ok", text: strips });
        if ("envelope" in document && !(await this.made("members", () => this.members(document))))
            return;
        if (this.test) {
            this.checks.unshift({ name: "test", status: options.test ? "ok" : "failed", text: "THIS IS A TEST RECEIPT: nothing was rendered, and nobody has paid" });
        }
        if (options.artifact === undefined) {
            this.checks.push({ name: "artifact", status: "skipped", text: "no ZIP was given: what was delivered is not checked" });
        }
        else {
            await this.delivered(options.artifact, receipt, options);
        }
        await this.made("log", () => this.inLog(receipt, proof, options.checkpoint));
        await this.made("key", async () => this.inTime(receipt));
        if (receipt.frames.some(({ reused }) => reused))
            await this.made("reused", async () => reusedOf(receipt, await this.earlier(options.origins ?? [])));
    }
    /** The receipts among documents by their ids; what is none does no harm. */
    async earlier(origins) {
        const found = new Map();
        for (const origin of origins) {
            const one = new Verification(this.known);
            try {
                await one.signature(read(origin));
                await one.stated();
                found.set(one.receipt["receipt_id"], one.receipt);
            }
            catch {
                continue;
            }
        }
        return found;
    }
    /** Makes a check, and says whether it did not fail. */
    async made(name, check) {
        const found = await checkOf(name, check);
        this.checks.push(found);
        return found.status !== "failed";
    }
    async signature(document) {
        ({ payload: this.payload, keyId: this.keyId } = await this.open("envelope" in document ? document["envelope"] : document));
        return `Ed25519, key ${this.keyId}`;
    }
    /** The payload of a DSSE envelope of the one form that the service writes. */
    async open(value) {
        const envelope = exactly(value, ["payloadType", "payload", "signatures"], "not a DSSE envelope");
        if (envelope["payloadType"] !== PAYLOAD_TYPE)
            throw new Error(`the payload is of type ${JSON.stringify(envelope["payloadType"])}`);
        const { signatures } = envelope;
        if (!Array.isArray(signatures) || signatures.length !== 1)
            throw new Error("it does not have one signature");
        const { keyid, sig } = exactly(signatures[0], ["keyid", "sig"], "it does not have one signature");
        const payload = b64(envelope["payload"]), signature = b64(sig);
        const key = this.known.find(({ id }) => id === keyid);
        if (!key)
            throw new Error(`it names key ${JSON.stringify(keyid)}, which is not among the ${this.known.length} given`);
        const signed = join(utf8(`DSSEv1 ${PAYLOAD_TYPE.length} ${PAYLOAD_TYPE} ${payload.length} `), payload);
        if (!(await signedBy(key.raw, signature, signed)))
            throw new Error(`the content does not match the signature of key ${key.id}`);
        return { payload, keyId: key.id };
    }
    async stated() {
        this.statement = parseStrictly(this.payload);
        const not = "the signed statement is not a receipt of version 1";
        const statement = exactly(this.statement.value, ["_type", "subject", "predicateType", "predicate"], not);
        this.test = statement["predicateType"] === TEST_RECEIPT_TYPE;
        if (statement["_type"] !== STATEMENT_TYPE || !(this.test || statement["predicateType"] === RECEIPT_TYPE))
            throw new Error(not);
        const receipt = await checkReceipt(statement["predicate"]);
        if ((receipt["test"] ?? false) !== this.test)
            throw new Error("its type and its content disagree about test mode");
        const named = [receipt.artifact, receipt.input].map(({ filename, sha256 }) => ({ name: filename, digest: { sha256 } }));
        for (const { path, sha256 } of receipt.input.files ?? [])
            named.push({ name: path, digest: { sha256 } });
        if (!same(statement["subject"], named))
            throw new Error("the statement's subjects are not the receipt's files");
        if ("frame_set" in receipt)
            await this.frameSet(receipt);
        this.receipt = receipt;
        const painted = receipt.renderer["id"] === "synthetic" ? ", NOT rendered but painted by a synthetic renderer" : "";
        return `receipt ${receipt.receipt_id} of job ${receipt.job_id}: ${receipt.frame_count} frames${painted}, ${receipt.charged_cents} cents ${receipt.currency}`;
    }
    /** The statement about the tree over the frames, by the same key. Its leaves are the members of frames as they are written in the payload. */
    async frameSet(receipt) {
        const { payload, keyId } = await this.open(receipt["frame_set"]);
        if (keyId !== this.keyId)
            throw new Error("the tree over the frames is signed by another key");
        const root = await treeRoot(receipt.frames.map((frame) => utf8(this.statement.textOf(frame))));
        const { receipt_id, job_id, frame_count, artifact } = receipt;
        if (!same(parseStrictly(payload).value, {
            _type: STATEMENT_TYPE, predicateType: this.test ? TEST_FRAME_SET_TYPE : FRAME_SET_TYPE,
            subject: [{ name: artifact.filename, digest: { sha256: artifact.sha256 } }],
            predicate: { receipt_id, job_id, frame_count, frames_root: toB64(root) },
        }))
            throw new Error("the tree over the frames is not that of the receipt's frames");
    }
    async members(document) {
        if (!same(document["receipt"], this.receipt))
            throw new Error("the plain members are not the signed ones");
        return "the plain members are the signed ones";
    }
    async delivered(source, receipt, options) {
        let file;
        const entries = new Map();
        await this.made("artifact", async () => artifactIs(file = await blobOf(source), receipt.artifact));
        if (!file)
            return; // it cannot be read
        const archive = file;
        if (!(await this.made("contents", () => contentsAre(archive, receipt, entries))))
            return;
        await this.made("frames", () => framesAre(receipt, entries));
        await this.made("pixels", async () => pixelsAre(receipt.frames.map((frame) => ({ ...frame, content: () => entries.get("output/" + frame.file).content() })), options.pixels));
        if (outputsOf(receipt).length > 0)
            await this.made("outputs", () => outputsAre(receipt, entries));
        await this.made("manifest", () => manifestIs(receipt, entries));
    }
    async inLog(receipt, proof, pinned) {
        if (!proof)
            return { skipped: "no proof was given: that the receipt is in the log is not checked" };
        const index = proof["log_index"], path = proof["inclusion_proof"];
        if (typeof index !== "number" || index !== receipt.log_index)
            throw new Error(`the proof is of leaf ${String(index)}, the receipt names ${receipt.log_index}`);
        const keys = this.known.map(({ raw }) => raw);
        const { point, signers } = await openCheckpoint(proof["checkpoint"], keys);
        if (!Array.isArray(path))
            throw new Error("the proof has no path");
        const root = await pathRoot(await digest(this.payload), index, point.size, path.map(b64));
        if (!equal(root, point.root))
            throw new Error(`the path from leaf ${index} does not lead to the root of the ${point.size} leaves`);
        if (pinned) {
            const { point: other } = await openCheckpoint(pinned, keys);
            if (other.origin !== point.origin || other.size !== point.size)
                throw new Error("the given checkpoint is of another log or size: fetch the proof for the same size");
            if (!equal(other.root, point.root))
                throw new Error(`the log has two histories: ${point.size} leaves have two roots`);
        }
        [this.point, this.signers] = [point, signers];
        return `leaf ${index} of the ${point.size} in ${point.origin}`;
    }
    /** The key had not ended when it signed, judged by the place in the log and never by the times that a receipt claims. */
    inTime(receipt) {
        const key = this.known.find(({ id }) => id === this.keyId), { point } = this;
        if (!key.dated)
            return { skipped: "the key came without its history: whether it had ended is not checked" };
        const good = (one) => one.end === null || (one.reason === "superseded" && point.size <= one.end);
        if (point && !this.known.some((one) => this.signers.includes(one.raw) && good(one))) {
            throw new Error("the checkpoint is signed by a key that had ended: download the proof again");
        }
        if (key.end === null)
            return "it has not ended, by the history of keys";
        const ended = `it ended at ${key.end} leaves of the log (${key.reason})`;
        if (!point)
            throw new Error(`${ended}, and nothing shows that the receipt came before`);
        if (receipt.log_index >= key.end)
            throw new Error(`${ended}, and the receipt is leaf ${receipt.log_index}`);
        return `${ended}, after leaf ${receipt.log_index}`;
    }
}
async function artifactIs(file, want) {
    if (file.size !== want.size_bytes)
        throw new Error(`it has ${file.size} bytes, the receipt says ${want.size_bytes}`);
    const found = await sha256(file);
    if (found !== want.sha256)
        throw new Error(`its SHA-256 is ${found}, the receipt says ${want.sha256}`);
    return `${want.filename}, ${file.size} bytes, SHA-256 ${found}`;
}
async function contentsAre(file, receipt, entries) {
    const wanted = new Set(["manifest.json", "render-log.txt", ...receipt.frames.map((frame) => "output/" + frame.file), ...outputsOf(receipt).map(({ name }) => "outputs/" + name)]);
    for (const entry of await entriesOf(file)) {
        const name = JSON.stringify(entry.name);
        if (!wanted.has(entry.name))
            throw new Error(`it holds ${name}, which the receipt does not name`);
        if (entries.has(entry.name))
            throw new Error(`it holds ${name} twice`);
        if (!entry.stored)
            throw new Error(`${name} is compressed instead of stored`);
        entries.set(entry.name, entry);
    }
    for (const name of wanted)
        if (!entries.has(name))
            throw new Error(`${JSON.stringify(name)} is missing`);
    return `${receipt.frame_count} frames, manifest.json, render-log.txt and nothing else`;
}
async function framesAre(receipt, entries) {
    for (const frame of receipt.frames)
        await entryIs(entries.get("output/" + frame.file), frame);
    return `${receipt.frame_count} of ${receipt.frame_count} have the receipt's size and SHA-256`;
}
/** What came of a check. */
export async function checkOf(name, check) {
    try {
        const found = await check();
        return typeof found === "string" ? { name, status: "ok", text: found } : { name, status: "skipped", text: found.skipped };
    }
    catch (error) {
        return { name, status: "failed", text: error instanceof Error ? error.message : String(error) };
    }
}
/** Decodes pictures and compares their pixels with the receipt. One whose bytes differ is left to the check of these. */
export async function pixelsAre(frames, decode = true) {
    if (!decode)
        return { skipped: "you asked to leave the pictures undecoded" };
    let same = 0, foreign = 0;
    const wrong = [];
    for (const { file, sha256: want, pixel_sha256, content } of frames) {
        const picture = await content();
        if ((await sha256(picture)) !== want)
            continue;
        try {
            const found = await pixelsOf(picture);
            if (found === undefined)
                foreign++;
            else if (found === pixel_sha256)
                same++;
            else
                wrong.push(file);
        }
        catch (error) {
            wrong.push(`${file}: ${error.message}`);
        }
    }
    if (wrong.length > 0)
        throw new Error(`${wrong.length} of ${frames.length} differ from the receipt: ${wrong.slice(0, 10).join(", ")}`);
    if (same === 0)
        return { skipped: `no frame could be compared: ${foreign} are in a format that is not decoded here` };
    return `${same} of ${frames.length} decode to the receipt's pixel hash` + (foreign > 0 ? `; ${foreign} are in a format that is not decoded here` : "");
}
async function outputsAre(receipt, entries) {
    const outputs = outputsOf(receipt);
    for (const output of outputs)
        await entryIs(entries.get("outputs/" + output.name), output);
    return `${outputs.length} of ${outputs.length} have the receipt's size and SHA-256`;
}
async function entryIs(entry, want) {
    if (entry.size !== want.size_bytes)
        throw new Error(`${entry.name} has ${entry.size} bytes, not ${want.size_bytes}`);
    const found = await sha256(await entry.content());
    if (found !== want.sha256)
        throw new Error(`the SHA-256 of ${entry.name} is ${found}`);
}
async function manifestIs(receipt, entries) {
    const entry = entries.get("manifest.json");
    if (entry.size > MOST_MANIFEST)
        throw new Error("manifest.json is too large");
    const found = parseStrictly(new Uint8Array(await (await entry.content()).arrayBuffer())).value;
    if (!same(found, manifestOf(receipt, found)))
        throw new Error("manifest.json disagrees with the receipt");
    return "manifest.json agrees with the receipt";
}
function read(document) {
    let value = document;
    if (typeof document === "string" || document instanceof Uint8Array) {
        try {
            value = parseStrictly(document).value;
        }
        catch (cause) {
            throw new VerificationError("signature", `not a JSON document: ${cause.message}`);
        }
    }
    if (typeof value !== "object" || value === null || Array.isArray(value))
        throw new VerificationError("signature", "not a JSON object");
    return value;
}
/** An object with these members and no others. */
function exactly(value, names, otherwise) {
    if (typeof value !== "object" || value === null || Object.keys(value).length !== names.length || !names.every((name) => name in value)) {
        throw new Error(otherwise);
    }
    return value;
}
async function keyOf(key) {
    const pem = typeof key === "string" ? key : key.public_key_pem;
    const [, text = ""] = /^-----BEGIN PUBLIC KEY-----\s([^-]+)-----END PUBLIC KEY-----$/.exec(pem.trim()) ?? [];
    let der;
    try {
        der = b64(text.replace(/\s/g, ""));
    }
    catch {
        der = new Uint8Array();
    }
    if (der.length === 0)
        throw new VerificationError("key", "a key is not one public key in PEM");
    if (der.length !== 44 || !hex(der).startsWith(SPKI))
        throw new VerificationError("key", "a key is not Ed25519");
    const raw = der.slice(12), id = hex(await digest(raw));
    if (typeof key === "string")
        return { raw, id, dated: false, end: null, reason: "" };
    if (key.key_id !== id)
        throw new VerificationError("key", `key ${id} is published with the id ${JSON.stringify(key.key_id)}`);
    const reason = key.end_reason ?? "superseded";
    if (reason !== "superseded" && reason !== "compromised")
        throw new VerificationError("key", `key ${id} ended for an unknown reason`);
    return { raw, id, dated: true, end: key.end_log_size ?? null, reason };
}
