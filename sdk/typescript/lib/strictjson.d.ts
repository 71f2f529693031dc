/** Reads signed JSON. JSON.parse takes the last of two members with one name; another reader may take the first, so here a document that has two is none. */
export type Json = null | boolean | number | string | Json[] | {
    [name: string]: Json;
};
/** What a text says, and where in it each object and list stands. */
export interface Parsed {
    value: Json;
    textOf(value: object): string;
}
/** Reads JSON from UTF-8 bytes or a text. An Error for anything else. */
export declare function parseStrictly(source: Uint8Array | string): Parsed;
/** Whether two JSON values are equal, in whatever order their members stand. */
export declare function same(a: unknown, b: unknown): boolean;
