/** A file by its path (Node, Deno, Bun), or its content. */
export type Source = string | Blob | Uint8Array<ArrayBuffer>;
/** What this package uses of a platform with a disk; its types are not everywhere. */
interface Disk {
    openAsBlob(path: string): Promise<Blob>;
    promises: {
        open(path: string, flags: string): Promise<Handle>;
        mkdir(path: string, options: {
            recursive: boolean;
        }): Promise<unknown>;
        writeFile(path: string, content: Uint8Array): Promise<void>;
        rename(from: string, to: string): Promise<void>;
        rm(path: string, options: {
            force: boolean;
        }): Promise<void>;
    };
}
/** An open file. */
export interface Handle {
    stat(): Promise<{
        size: number;
    }>;
    write(bytes: Uint8Array): Promise<unknown>;
    truncate(size: number): Promise<void>;
    sync(): Promise<void>;
    close(): Promise<void>;
}
/** The disk. An Error where there is none, as in browsers. */
export declare function disk(): Promise<Disk>;
/** The content of a file, read when it is used. */
export declare function blobOf(source: Source): Promise<Blob>;
/** A SHA-256 that is fed piece by piece. Browsers have no other way than to keep all pieces. */
export declare function hashing(): Promise<{
    update(bytes: Uint8Array): void;
    hex(): Promise<string>;
}>;
/** The SHA-256 of a blob, lower-case hex. */
export declare function sha256(blob: Blob): Promise<string>;
/** The SHA-256 of bytes, by Web Crypto. */
export declare function digest(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>>;
export declare function hex(bytes: Uint8Array): string;
export {};
