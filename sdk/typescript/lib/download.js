/** Files of the service, whole and with the promised SHA-256, or not at all. */
import { ApiError, ConnectionFailed, DownloadChanged, SvcError } from "./errors.js";
import { blobOf, disk, sha256 } from "./files.js";
import { passing } from "./transport.js";
/** The ZIP of a job: its links live for a while only. */
function zipOf(transport, artifact, artifactOf, signal) {
    let { url } = artifact;
    return {
        size: artifact.size_bytes, sha256: artifact.sha256, again: linkEnded, tagged: false,
        open: (headers) => transport.open("GET", url, { headers, keyless: true, signal }),
        renew: async () => void ({ url } = await artifactOf()),
    };
}
/** Fetches a file of an accepted frame to a path, as downloadFile does. */
export async function saveFrame(transport, url, path, size, want, signal) {
    const source = {
        size, sha256: want, again: (error) => error instanceof ApiError && error.status === 416, tagged: true,
        open: (headers) => transport.open("GET", url, { headers, signal }), renew: async () => undefined,
    };
    await saveSource(transport, source, path, undefined, signal);
}
/** Fetches a ZIP into memory. */
export async function downloadBlob(transport, artifactOf, progress, signal) {
    const artifact = promised(await artifactOf());
    let parts = [];
    const sink = {
        size: 0,
        append: async (bytes) => {
            parts.push(new Uint8Array(bytes));
            sink.size += bytes.length;
        },
        clear: async () => {
            parts = [];
            sink.size = 0;
        },
    };
    const source = zipOf(transport, artifact, artifactOf, signal);
    await fill(transport, source, sink, progress, signal);
    const blob = new Blob(parts, { type: artifact.content_type });
    await compare(blob, source);
    return blob;
}
/** Fetches a ZIP to a path. A broken download leaves its bytes next to it, in a file with ".part"
at its end, from which a later call resumes. */
export async function downloadFile(transport, artifactOf, path, progress, signal) {
    const artifact = promised(await artifactOf());
    await saveSource(transport, zipOf(transport, artifact, artifactOf, signal), path, progress, signal);
    return artifact;
}
async function saveSource(transport, source, path, progress, signal) {
    const { promises } = await disk();
    promised(source);
    const there = await blobOf(path).catch(() => undefined);
    if (there?.size === source.size && (await sha256(there)) === source.sha256)
        return;
    const part = `${path}.${source.sha256.slice(0, 12)}.part`; // the hash separates parts of different files
    try {
        const file = await promises.open(part, "a");
        try {
            const sink = {
                size: (await file.stat()).size,
                append: async (bytes) => {
                    await file.write(bytes);
                    sink.size += bytes.length;
                },
                clear: async () => {
                    await file.truncate(0);
                    sink.size = 0;
                },
            };
            await fill(transport, source, sink, progress, signal);
            await file.sync();
        }
        finally {
            await file.close();
        }
        await compare(await blobOf(part), source);
    }
    catch (error) {
        if (error instanceof DownloadChanged)
            await promises.rm(part, { force: true });
        throw error;
    }
    await promises.rename(part, path);
}
/** Fetches a movie to a path, where it appears whole or not at all. It waits `longest` seconds at most for it to be encoded. */
export async function saveMovie(transport, url, path, signal, longest = Infinity) {
    const { promises } = await disk();
    const end = Date.now() + longest * 1000;
    const part = path + ".part";
    const attempt = async () => {
        const answer = await transport.open("GET", url, { headers: { Accept: "*/*" }, signal });
        if (answer.status !== 200)
            throw await answer.refusal();
        const file = await promises.open(part, "w");
        try {
            for await (const bytes of answer.chunks())
                await file.write(bytes);
            await file.sync();
        }
        finally {
            await file.close();
        }
    };
    try {
        for (let ready = false; !ready;) {
            try {
                await transport.repeat(attempt, signal);
                ready = true;
            }
            catch (error) {
                if (!(error instanceof ApiError && error.code === "movie_not_ready") || Date.now() > end)
                    throw error;
                await transport.sleep(Math.max(error.retryAfter, 0.25), signal);
            }
        }
        await promises.rename(part, path);
    }
    catch (error) {
        await promises.rm(part, { force: true });
        throw error;
    }
}
function promised(file) {
    if (!/^[0-9a-f]{64}$/.test(file.sha256))
        throw new SvcError("the service gave no SHA-256 of the download");
    return file;
}
async function compare(blob, source) {
    const found = await sha256(blob);
    if (found !== source.sha256)
        throw new DownloadChanged(`the download has the SHA-256 ${found}, the service promised ${source.sha256}`);
}
/** Fetches until everything is there, over as many connections as bring something. */
async function fill(transport, source, sink, progress, signal) {
    for (let attempt = 1, limited = 0;; attempt++) {
        const before = sink.size;
        try {
            return await append(source, sink, progress);
        }
        catch (error) {
            if (sink.size > before)
                [attempt, limited] = [1, 0]; // only tries without new bytes count
            const wait = transport.limit(error, limited);
            if (wait > 0) {
                attempt--;
                limited += wait;
                await transport.sleep(wait, signal); // the link still works
                continue;
            }
            if (!(error instanceof SvcError) || attempt >= transport.attempts || !(passing(error) || source.again(error)))
                throw error;
            await transport.pause(attempt, error, signal);
        }
        await source.renew();
    }
}
/** Appends the missing bytes over one connection, never more than the file's size in all. */
async function append(source, sink, progress) {
    const { size, sha256: want } = source;
    if (sink.size > size)
        await sink.clear();
    if (sink.size === size)
        return;
    const headers = { Accept: "*/*" };
    if (sink.size > 0) {
        headers["Range"] = `bytes=${sink.size}-`;
        if (source.tagged)
            headers["If-Range"] = `"${want}"`;
    }
    const answer = await source.open(headers);
    const tag = /^(?:W\/)?"([0-9a-f]{64})"$/.exec(answer.headers.get("ETag") ?? "")?.[1]; // proxies may weaken it
    if (source.tagged && answer.status < 300 && tag && tag !== want) {
        await answer.close();
        throw new DownloadChanged(`the file has the SHA-256 ${tag} now, the service promised ${want}`);
    }
    if (answer.status === 206) {
        const range = answer.headers.get("Content-Range"); // hidden from pages of other origins
        if (range !== null && !range.startsWith(`bytes ${sink.size}-`)) {
            await answer.close();
            throw new ConnectionFailed(answer.call, new Error("the server sent another range than was asked for"));
        }
    }
    else if (answer.status === 200) {
        await sink.clear();
    }
    else {
        if (answer.status === 416)
            await sink.clear();
        throw await answer.refusal();
    }
    for await (const bytes of answer.chunks()) {
        await sink.append(bytes.subarray(0, size - sink.size));
        progress?.(sink.size, size);
        if (sink.size === size)
            return;
    }
    throw new ConnectionFailed(answer.call, new Error(`the download was cut off at byte ${sink.size}`));
}
/** The answers of an expired link. Anywhere else they are final refusals. */
function linkEnded(error) {
    return error instanceof ApiError && [401, 403, 404, 410, 416].includes(error.status);
}
