/** What a receipt must say to agree with itself. */
import { digest, hex } from "./files.js";
import { utf8 } from "./tree.js";
const MEMBERS = ("receipt_id job_id workspace_id input artifact frames frame_start frame_end frame_step frame_count renderer "
    + "render_device device_name switched render_seconds quote_id pricing_version charged_cents currency started_at "
    + "completed_at log_index").split(" ");
const FRAME = ["frame", "file", "sha256", "pixel_sha256", "size_bytes", "render_seconds"];
const FILE = ["filename", "sha256", "size_bytes"];
const MOST_FRAMES = 10000;
/** An Error for a receipt that no service would have signed. */
export async function checkReceipt(value) {
    const r = members(value, MEMBERS, "the receipt");
    members(r.renderer, ["id"], "the renderer");
    for (const file of [r.artifact, r.input]) {
        members(file, FILE, "a file");
        hashed(file, `file ${file.filename}`);
    }
    await checkProject(r.input);
    checkColors(r);
    if (!Array.isArray(r.frames) || r.frames.length === 0 || r.frame_count !== r.frames.length || !(whole(r.frame_step) >= 1)) {
        throw new Error("its frame count is not that of the frames listed");
    }
    const belongs = listed(r), names = new Set(), outputs = new Set();
    r.frames.forEach((frame, index) => {
        members(frame, FRAME, "a frame");
        if (whole(frame.frame) !== belongs(index))
            throw new Error(`frame ${frame.frame} stands where frame ${belongs(index)} belongs`);
        hashed(frame, `frame ${frame.frame}`);
        if (!isDigest(frame.pixel_sha256))
            throw new Error(`frame ${frame.frame} has no proper hash`);
        const name = frame.file;
        if (typeof name !== "string" || /^\.{0,2}$|[/\\\0]/.test(name) || names.has(name)) {
            throw new Error(`frame ${frame.frame} has the unusable file name ${JSON.stringify(name)}`);
        }
        names.add(name);
        checkOrigin(r, frame);
        checkStrips(frame);
        checkOutputs(frame, outputs);
    });
    const last = r.frames[r.frames.length - 1].frame;
    if (!(last <= whole(r.frame_end) && r.frame_end < last + r.frame_step) || r.frames[0].frame !== r.frame_start) {
        throw new Error("its range does not end with its frames");
    }
    return r;
}
/** The manifest that fits a receipt, which has no sizes in pixels: those are the found one's. */
export function manifestOf(r, found) {
    const sizes = found.frames ?? [];
    const pick = (from, names) => Object.fromEntries(names.map((name) => [name, from[name]]));
    return {
        ...pick(r, ["job_id", "frame_start", "frame_end", "frame_step", "frame_count", "renderer"]),
        ...("frame_list" in r ? { frame_list: r["frame_list"] } : {}),
        input: pick(r.input, FILE),
        frames: r.frames.map((frame, at) => ({ ...pick(frame, "outputs" in frame ? [...FRAME, "outputs"] : FRAME), width: sizes[at]?.width, height: sizes[at]?.height })),
    };
}
/** The files besides the pictures, of all frames. */
export function outputsOf(r) {
    return r.frames.flatMap(({ outputs }) => outputs ?? []);
}
/** Explains the frames that several workers rendered; "" where there are none. */
export function stripsOf(r) {
    const cuts = r.frames.flatMap(({ strips }) => (strips?.length ? [strips.length - 1] : []));
    const alike = r.frames.flatMap(({ strips = [] }) => strips.filter((strip) => strip.alike)).length;
    const noise = alike > 0 ? `, at ${alike} of them within the noise of GPUs` : "";
    return cuts.length === 0 ? "" : `several workers rendered ${counted(cuts.length, "frame")} in strips; neighbours showed the same rows at ${counted(cuts.reduce((a, b) => a + b), "cut")}${noise}`;
}
/** Compares the frames that were taken over with the receipts that they come from, by their ids: the text of the check "reused", or of a skipped one. */
export function reusedOf(r, earlier) {
    const taken = r.frames.filter(({ reused }) => reused), missing = new Set();
    for (const { frame, reused, sha256, pixel_sha256, size_bytes, outputs } of taken) {
        const { receipt_id, log_index } = reused, origin = earlier.get(receipt_id);
        if (!origin) {
            missing.add(receipt_id);
            continue;
        }
        if (origin.log_index !== log_index || origin.workspace_id !== r.workspace_id)
            throw new Error(`frame ${frame} comes from leaf ${log_index}, which is not that of receipt ${receipt_id}`);
        const old = origin.frames.find((one) => one.frame === frame);
        if (!old)
            throw new Error(`receipt ${receipt_id} states no frame ${frame}`);
        if (old.sha256 !== sha256 || old.pixel_sha256 !== pixel_sha256 || old.size_bytes !== size_bytes)
            throw new Error(`frame ${frame} is not the picture that receipt ${receipt_id} states`);
        if (files(old.outputs) !== files(outputs))
            throw new Error(`frame ${frame} does not have the outputs that receipt ${receipt_id} states`);
    }
    const told = `${counted(taken.length, "frame")} of ${r.frame_count}`;
    if (missing.size > 0)
        return { skipped: `${told} come from earlier receipts; not given, or not signed by these keys: ${missing.size}` };
    return `${told} are those of earlier receipts and cost nothing`;
}
/** The outputs of a frame without their names, which may differ: each is the only one of its job. */
function files(outputs = []) {
    return outputs.map(({ sha256, size_bytes }) => `${sha256} ${size_bytes}`).join("\n");
}
function counted(number, thing) {
    return `${number} ${thing}${number === 1 ? "" : "s"}`;
}
/** A frame that was taken over was logged before this receipt, and nobody rendered it for it. */
function checkOrigin(r, frame) {
    if (!("reused" in frame))
        return;
    const { receipt_id, log_index } = members(frame.reused, ["receipt_id", "log_index"], "the origin of a frame");
    const leaf = whole(log_index), own = r.log_index;
    if (!String(receipt_id).startsWith("RCT-") || receipt_id === r.receipt_id || leaf < 0 || (own !== null && leaf >= whole(own))) {
        throw new Error(`frame ${frame.frame} comes from receipt ${String(receipt_id)} at leaf ${leaf}, which is no earlier one`);
    }
    if (frame.render_seconds !== 0 || "times" in frame)
        throw new Error(`frame ${frame.frame} was taken over and took ${frame.render_seconds} seconds`);
}
/** The strips of a frame make it up, and neighbours show the same rows at their cut, GPUs but for their noise. */
function checkStrips({ frame, strips = [] }) {
    let row = 0, seam;
    strips.forEach(({ from, to, sha256, above, below, alike = false }, index) => {
        if (strips.length === 1 || whole(from) !== row || whole(to) <= row)
            throw new Error(`frame ${frame} has a strip of the rows ${from} to ${to}, which is no part of it`);
        if (!isDigest(sha256) || alike !== (above !== seam) || isDigest(above) !== (index > 0) || isDigest(below) === (index === strips.length - 1)) {
            throw new Error(`the strips of frame ${frame} do not agree at row ${row}`);
        }
        row = to;
        seam = below;
    });
}
/** The OpenColorIO configuration is the one that was ordered, and a file of the project. */
function checkColors(r) {
    const path = r["settings"]?.["ocio"];
    if (path === undefined && !("ocio" in r))
        return;
    const config = members(r["ocio"], ["path", "sha256"], "the OpenColorIO configuration");
    const file = (r.input.files ?? []).find((one) => one.path === path);
    if (config["path"] !== path || !isDigest(config["sha256"]) || file?.sha256 !== config["sha256"]) {
        throw new Error("the OpenColorIO configuration is not the one that was ordered, with the hash of the project's file");
    }
}
/** Whether the name of an output is a path that stays in its folder. */
export function isOutputName(name) {
    return name.split("/").every((part) => !["", ".", ".."].includes(part)) && !/[\\:\0]/.test(name);
}
/** Outputs have safe names, which no other output of the job has. Frames taken over have none. */
function checkOutputs(frame, names) {
    if (!("outputs" in frame))
        return;
    if (!Array.isArray(frame.outputs) || frame.outputs.length === 0)
        throw new Error(`frame ${frame.frame} has an empty list of outputs`);
    for (const output of frame.outputs) {
        members(output, ["name", "sha256", "size_bytes"], "an output");
        hashed(output, `output ${output.name}`);
        const name = output.name;
        if (typeof name !== "string" || !isOutputName(name) || names.has(name)) {
            throw new Error(`frame ${frame.frame} has an output of the unusable name ${JSON.stringify(name)}`);
        }
        names.add(name);
    }
}
function members(value, required, what) {
    if (typeof value !== "object" || value === null || !required.every((name) => name in value))
        throw new Error(`${what} lacks members`);
    return value;
}
function whole(value) {
    if (typeof value !== "number" || !Number.isSafeInteger(value))
        throw new Error(`${JSON.stringify(value)} is not a whole number`);
    return value;
}
const isDigest = (text) => typeof text === "string" && /^[0-9a-f]{64}$/.test(text);
function hashed(file, what) {
    if (!isDigest(file.sha256) || whole(file.size_bytes) < 0)
        throw new Error(`${what} has no proper hash or size`);
}
async function checkProject(input) {
    if (!("files" in input) && !("project_sha256" in input))
        return;
    let last = "", lines = "", main = false;
    for (const file of input.files ?? []) {
        hashed(file, "a file of the project");
        const order = hex(utf8(file.path)); // as bytes are compared
        if (file.path.split("/").some((part) => ["", ".", ".."].includes(part)) || order <= last) {
            throw new Error(`file ${JSON.stringify(file.path)} of the project has no proper path, or not its place`);
        }
        last = order;
        main ||= file.sha256 === input.sha256 && file.size_bytes === input.size_bytes;
        lines += `${file.sha256}  ${file.path}\n`;
    }
    if (!main || input["project_sha256"] !== hex(await digest(utf8(lines)))) {
        throw new Error("the hash of the project is not that of its files, or it lacks the main file");
    }
}
/** Which frame belongs at an index: that of the list if there is one, otherwise of the range.
*/
function listed(r) {
    if (!("frame_list" in r))
        return (index) => whole(r.frame_start) + index * r.frame_step;
    const numbers = new Set();
    for (const word of String(r["frame_list"]).split(",")) {
        const [, from, to, by] = /^([1-9]\d{0,9})(?:-([1-9]\d{0,9})(?::([1-9]\d{0,9}))?)?$/.exec(word) ?? [];
        if (from === undefined)
            throw new Error("the list of frames cannot be read");
        for (let frame = Number(from); frame <= Number(to ?? from); frame += Number(by ?? 1)) {
            numbers.add(frame);
            if (numbers.size > MOST_FRAMES)
                throw new Error("the list has too many frames");
        }
    }
    if (numbers.size !== r.frame_count || r.frame_step !== 1)
        throw new Error("its frame count is not that of the list");
    const ordered = [...numbers].sort((a, b) => a - b);
    return (index) => ordered[index];
}
