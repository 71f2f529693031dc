/** Frames of a job in a folder, as they are accepted, and a folder that proves itself. */
import { saveFrame, saveMovie } from "./download.js";
import { ApiError, DownloadChanged, JobEnded, SvcError, VerificationError } from "./errors.js";
import { blobOf, disk, sha256 } from "./files.js";
import { isOutputName, outputsOf } from "./receipt.js";
import { checkOf, pixelsAre, verify } from "./verify.js";
/** The folder of the receipts that frames were taken over from, each by its id. */
const ORIGINS = "origins", RECEIPT_ID = /^RCT-[0-9A-Za-z]+$/;
const RECEIPT = "receipt.json", PROOF = "proof.json", KEYS = "keys.json", MOVIE = "movie.mp4";
/** The folder of the frames' other files, such as those of File Output nodes, as in the ZIP. */
const OUTPUTS = "outputs";
/** A job whose frames come into a folder while somebody iterates over it. */
export class Rendering {
    job;
    folder;
    saved;
    constructor(job, folder, saved) {
        this.job = job;
        this.folder = folder;
        this.saved = saved;
    }
    [Symbol.asyncIterator]() {
        return this.saved;
    }
    /** Waits for all frames, and returns the folder. */
    async wait() {
        for await (const _ of this.saved)
            ;
        return this.folder;
    }
}
/** Client.sync. `path` is where the job is read. */
export async function* sync(client, transport, path, jobId, folder, signal) {
    const { promises } = await disk();
    await promises.mkdir(folder, { recursive: true });
    const calls = signal ? { signal } : {};
    const known = new Map(); // hashes by frame
    let job;
    for await (const event of client.follow(jobId, calls)) {
        if (event.type === "job") {
            job = event.data;
            continue;
        }
        try {
            const saved = await save(transport, path, folder, event.data, known, signal);
            if (saved)
                yield saved;
        }
        catch (error) {
            if (!(error instanceof DownloadChanged))
                throw error; // it is rendered again, and comes again
        }
    }
    for (const frame of await client.frames(jobId, calls)) {
        const saved = await save(transport, path, folder, frame, known, signal);
        if (saved)
            yield saved;
    }
    if (job?.status !== "completed")
        throw new JobEnded(job);
    await write(`${folder}/${RECEIPT}`, await client.read(`${path}/receipt`, calls));
    await saveOrigins(client, path.slice(0, path.lastIndexOf("/")), folder, calls);
    await write(`${folder}/${PROOF}`, await client.read(`${path}/proof`, calls));
    await write(`${folder}/${KEYS}`, new TextEncoder().encode(JSON.stringify({ ok: true, keys: await client.signingKeys(calls) })));
    const report = await verifyFolder(folder, { test: transport.testMode, pixels: false }); // the bytes came from the service that signs
    if (report.receipt.job_id !== jobId)
        throw new SvcError("the service sent the receipt of another job");
    if (job.movie_url)
        await movieOf(transport, path, job, folder, signal);
}
/** Puts the movie of a completed job into its folder. The frames are complete without it, so a movie that is not encoded in time is no error. */
async function movieOf(transport, path, { frame_count }, folder, signal) {
    const longest = Math.min(60 + frame_count / 2, 600); // workers encode only while no frame waits for them
    try {
        await saveMovie(transport, `${path}/movie`, `${folder}/${MOVIE}`, signal, longest);
    }
    catch (error) {
        if (!(error instanceof ApiError))
            throw error;
    }
}
/** Fetches a frame with its outputs, as far as they are not there; undefined for one that was told before. */
async function save(transport, path, folder, { frame, file, sha256: want, size_bytes: size, outputs = [] }, known, signal) {
    const hashes = [want, ...outputs.map((output) => output.sha256)].join();
    if (known.get(frame) === hashes)
        return undefined;
    if (/^\.{0,2}$|[/\\]/.test(file))
        throw new SvcError(`the service names frame ${frame} ${JSON.stringify(file)}, which is not a file name`);
    const at = `${folder}/${file}`, from = `${path}/frames/${frame}/file`;
    for (const { name, sha256: sum, size_bytes: bytes } of outputs) {
        if (!isOutputName(name))
            throw new SvcError(`the service names an output of frame ${frame} ${JSON.stringify(name)}, which is not a safe path`);
        const to = `${folder}/${OUTPUTS}/${name}`;
        await (await disk()).promises.mkdir(to.slice(0, to.lastIndexOf("/")), { recursive: true });
        await saveFrame(transport, `${from}?${new URLSearchParams({ output: name })}`, to, bytes, sum, signal);
    }
    await saveFrame(transport, from, at, size, want, signal);
    known.set(frame, hashes);
    return { frame, path: at };
}
/** Saves the receipts that frames were taken over from. One that the service no longer has is left out: verifyFolder then says that the check "reused" was not made. */
async function saveOrigins(client, jobs, folder, calls) {
    const { origins = [] } = JSON.parse(await (await blobOf(`${folder}/${RECEIPT}`)).text());
    for (const { receipt_id, job_id } of origins) {
        if (!RECEIPT_ID.test(receipt_id))
            throw new SvcError(`the service names an earlier receipt ${JSON.stringify(receipt_id)}, which is no id of one`);
        try {
            const earlier = await client.read(`${jobs}/${encodeURIComponent(job_id)}/receipt`, calls);
            await (await disk()).promises.mkdir(`${folder}/${ORIGINS}`, { recursive: true });
            await write(`${folder}/${ORIGINS}/${receipt_id}.json`, earlier);
        }
        catch (error) {
            if (!(error instanceof ApiError) || !["render_not_found", "artifact_expired"].includes(error.code))
                throw error;
        }
    }
}
/** The receipts in a folder that one takes frames over from. */
async function originsOf(folder, frames) {
    const ids = new Set(frames.map(({ reused }) => reused?.receipt_id ?? "").filter((id) => RECEIPT_ID.test(id)));
    const found = await Promise.all([...ids].map(async (id) => (await blobOf(`${folder}/${ORIGINS}/${id}.json`).catch(() => undefined))?.text()));
    return found.filter((text) => text !== undefined);
}
/** Writes a file whole or not at all. */
async function write(path, content) {
    const { promises } = await disk();
    await promises.writeFile(path + ".part", content);
    await promises.rename(path + ".part", path);
}
/**
 * Verifies a folder that a render filled: the receipt with its key and its place in the log, and
 * the ZIP, the frames next to it with their outputs, or both. Without `keys`, those of keys.json in the folder are
 * taken; give the service's own for a folder that somebody else made. Frames that were taken over are
 * compared with the earlier receipts in the folder. It throws
 * VerificationError, also when neither the ZIP nor all of the others are there. PNGs are decoded too, for
 * the check "pixels", unless `pixels` is false: that takes some time for each.
 */
export async function verifyFolder(folder, { keys, test = false, pixels = true } = {}) {
    const text = async (name) => (await blobOf(`${folder}/${name}`)).text();
    const trusted = keys ? [...keys] : JSON.parse(await text(KEYS)).keys;
    const receipt = await text(RECEIPT), options = { proof: await text(PROOF), test, pixels };
    let report = await verify(receipt, trusted, options);
    const name = report.receipt.artifact.filename;
    const artifact = /[/\\]/.test(name) ? undefined : await blobOf(`${folder}/${name}`).catch(() => undefined);
    const origins = await originsOf(folder, report.receipt.frames);
    if (artifact || origins.length > 0)
        report = await verify(receipt, trusted, { ...options, ...(artifact && { artifact }), origins });
    const wrong = [], whole = [];
    let here = 0;
    for (const { file, sha256: want, pixel_sha256 } of report.receipt.frames) {
        const frame = await blobOf(`${folder}/${file}`).catch(() => undefined);
        if (!frame)
            continue;
        here++;
        if ((await sha256(frame)) !== want)
            wrong.push(file);
        else
            whole.push({ file, sha256: want, pixel_sha256, content: async () => frame });
    }
    const outputs = outputsOf(report.receipt);
    let outputsHere = 0;
    for (const { name, sha256: want } of here > 0 ? outputs : []) {
        const file = await blobOf(`${folder}/${OUTPUTS}/${name}`).catch(() => undefined);
        if (!file)
            continue;
        outputsHere++;
        if ((await sha256(file)) !== want)
            wrong.push(`${OUTPUTS}/${name}`);
    }
    const all = report.receipt.frames.length, complete = here === all && outputsHere === outputs.length;
    const pictures = wrong.length > 0 ? [{ name: "pictures", status: "failed", text: `not as in the receipt: ${wrong.slice(0, 10).join(", ")}` }]
        : here > 0 ? [{ name: "pictures", status: "ok", text: `${here} of ${all} frames are here, with the bytes of the receipt${outputs.length > 0 ? `; ${outputsHere} of ${outputs.length} outputs too` : ""}` }] : [];
    if (!artifact && whole.length > 0)
        pictures.push(await checkOf("pixels", () => pixelsAre(whole, pixels))); // those of the ZIP were compared with it
    // Where all frames and outputs are here, the ZIP has nothing to add.
    const checks = [...report.checks.filter((check) => !complete || check.name !== "artifact" || check.status !== "skipped"), ...pictures];
    const told = { ...report, checks, notChecked: checks.filter((check) => check.status === "skipped").map((check) => check.name) };
    for (const { name: check, status, text: why } of checks) {
        if (status === "failed" || (status === "skipped" && ["artifact", "log", "key"].includes(check)))
            throw new VerificationError(check, why, told);
    }
    return told;
}
