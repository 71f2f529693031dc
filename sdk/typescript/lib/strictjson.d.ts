/** Reads signed JSON. JSON.parse takes the last of two members with one name; another reader may take the first, so here a document that has two is none. */
export type Json = null | boolean | number | string | Json[] | {
    [name: string]: Json;
};
/** The value of a text, and where in it each object and list is. */
export interface Parsed {
    value: Json;
    textOf(value: object): string;
}
/** Reads JSON from UTF-8 bytes or a text. An Error for anything else. */
export declare function parseStrictly(source: Uint8Array | string): Parsed;
/** Whether two JSON values are equal, in any order of their members. */
export declare function same(a: unknown, b: unknown): boolean;
