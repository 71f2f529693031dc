/** Reads the ZIP that the service makes: stored entries, listed at its end. */
const MOST_ENTRIES = 20000;
const ALL_32 = 0xffffffff;
/** The entries of a ZIP (APPNOTE 4.3, with 64 bits where sizes ask for them), in its order. An Error for what is none. */
export async function entriesOf(file) {
    const tailStart = Math.max(0, file.size - 22 - 65535);
    const tail = await view(file, tailStart, file.size);
    let end = tail.byteLength - 22;
    while (end >= 0 && !(tail.getUint32(end, true) === 0x06054b50 && end + 22 + tail.getUint16(end + 20, true) === tail.byteLength))
        end--;
    if (end < 0)
        throw new Error("it cannot be read as a ZIP");
    let count = tail.getUint16(end + 10, true), size = tail.getUint32(end + 12, true), start = tail.getUint32(end + 16, true);
    if (count === 0xffff || size === ALL_32 || start === ALL_32) {
        const locator = await view(file, tailStart + end - 20, tailStart + end);
        if (locator.getUint32(0, true) !== 0x07064b50)
            throw new Error("it cannot be read as a ZIP");
        const at = big(locator, 8), wide = await view(file, at, at + 56);
        if (wide.getUint32(0, true) !== 0x06064b50)
            throw new Error("it cannot be read as a ZIP");
        [count, size, start] = [big(wide, 32), big(wide, 40), big(wide, 48)];
    }
    if (count > MOST_ENTRIES || start + size > file.size)
        throw new Error("it cannot be read as a ZIP");
    const directory = await view(file, start, start + size), found = [];
    for (let at = 0; found.length < count;) {
        if (directory.getUint32(at, true) !== 0x02014b50)
            throw new Error("it cannot be read as a ZIP");
        const [nameSize, extraSize, noteSize] = [28, 30, 32].map((field) => directory.getUint16(at + field, true));
        found.push(entry(file, directory, at, nameSize, extraSize));
        at += 46 + nameSize + extraSize + noteSize;
    }
    return found;
}
function entry(file, directory, at, nameSize, extraSize) {
    const nameBytes = new Uint8Array(directory.buffer, directory.byteOffset + at + 46, nameSize);
    let packed = directory.getUint32(at + 20, true), size = directory.getUint32(at + 24, true), start = directory.getUint32(at + 42, true);
    for (let extra = at + 46 + nameSize, last = extra + extraSize; extra + 4 <= last;) {
        const kind = directory.getUint16(extra, true), length = directory.getUint16(extra + 2, true);
        if (kind === 1) { // only the members that did not fit, in this order
            let field = extra + 4;
            if (size === ALL_32)
                [size, field] = [big(directory, field), field + 8];
            if (packed === ALL_32)
                [packed, field] = [big(directory, field), field + 8];
            if (start === ALL_32)
                start = big(directory, field);
        }
        extra += 4 + length;
    }
    const stored = directory.getUint16(at + 10, true) === 0 && packed === size && (directory.getUint16(at + 8, true) & 1) === 0;
    const name = new TextDecoder("utf-8", { fatal: true }).decode(nameBytes);
    return {
        name, stored, size,
        async content() {
            const head = await view(file, start, start + 30);
            if (head.getUint32(0, true) !== 0x04034b50)
                throw new Error(`${name} is not where the ZIP says`);
            const begin = start + 30 + head.getUint16(26, true) + head.getUint16(28, true);
            if (begin + size > file.size)
                throw new Error(`${name} is cut off`);
            return file.slice(begin, begin + size);
        },
    };
}
async function view(file, start, end) {
    if (start < 0 || end > file.size)
        throw new Error("it cannot be read as a ZIP");
    return new DataView(await file.slice(start, end).arrayBuffer());
}
function big(from, at) {
    const value = Number(from.getBigUint64(at, true));
    if (!Number.isSafeInteger(value))
        throw new Error("it cannot be read as a ZIP");
    return value;
}
