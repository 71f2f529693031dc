/** Reads signed JSON. JSON.parse takes the last of two members with one name; another reader may take the first, so here a document that has two is none. */
const MOST_DEPTH = 500;
/** Reads JSON from UTF-8 bytes or a text. An Error for anything else. */
export function parseStrictly(source) {
    const text = typeof source === "string" ? source : new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(source);
    const reader = new Reader(text);
    const value = reader.document();
    return { value, textOf: (one) => text.slice(...(reader.places.get(one) ?? [0, 0])) };
}
class Reader {
    text;
    places = new Map();
    at = 0;
    constructor(text) {
        this.text = text;
    }
    document() {
        const value = this.value(0);
        this.space();
        if (this.at !== this.text.length)
            this.fail();
        return value;
    }
    value(depth) {
        this.space();
        if (depth > MOST_DEPTH)
            this.fail();
        const start = this.at, first = this.text[start];
        if (first === "{")
            return this.placed(start, this.object(depth));
        if (first === "[")
            return this.placed(start, this.list(depth));
        if (first === '"')
            return this.string();
        const word = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)/y;
        word.lastIndex = start;
        const found = word.exec(this.text)?.[0];
        if (found === undefined)
            this.fail();
        this.at += found.length;
        const value = JSON.parse(found);
        // Two whole numbers that are too large for a number could be read as one.
        if (typeof value === "number" && (!Number.isFinite(value) || (/^-?\d+$/.test(found) && !Number.isSafeInteger(value))))
            this.fail();
        return value;
    }
    placed(start, value) {
        this.places.set(value, [start, this.at]);
        return value;
    }
    object(depth) {
        const found = Object.create(null);
        this.at++;
        if (this.take("}"))
            return found;
        do {
            this.space();
            if (this.text[this.at] !== '"')
                this.fail();
            const name = this.string();
            if (name in found)
                throw new Error(`the member ${JSON.stringify(name)} appears twice`);
            if (!this.take(":"))
                this.fail();
            found[name] = this.value(depth + 1);
        } while (this.take(","));
        if (!this.take("}"))
            this.fail();
        return found;
    }
    list(depth) {
        const found = [];
        this.at++;
        if (this.take("]"))
            return found;
        do
            found.push(this.value(depth + 1));
        while (this.take(","));
        if (!this.take("]"))
            this.fail();
        return found;
    }
    string() {
        const form = /"(?:[^"\\]|\\.)*"/sy;
        form.lastIndex = this.at;
        const found = form.exec(this.text)?.[0];
        if (found === undefined)
            this.fail();
        this.at += found.length;
        return JSON.parse(found); // refuses control characters and wrong escapes
    }
    space() {
        while (/[ \t\n\r]/.test(this.text[this.at] ?? ""))
            this.at++;
    }
    take(letter) {
        this.space();
        if (this.text[this.at] !== letter)
            return false;
        this.at++;
        return true;
    }
    fail() {
        throw new Error(`no JSON at letter ${this.at}`);
    }
}
/** Whether two JSON values are equal, in any order of their members. */
export function same(a, b) {
    if (Array.isArray(a) || Array.isArray(b)) {
        return Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((one, at) => same(one, b[at]));
    }
    if (typeof a !== "object" || typeof b !== "object" || a === null || b === null)
        return a === b;
    const names = Object.keys(a);
    return names.length === Object.keys(b).length
        && names.every((name) => Object.hasOwn(b, name) && same(a[name], b[name]));
}
