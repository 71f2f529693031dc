/** Reads the ZIP that the service makes: stored entries, listed at its end. */
/** One file in a ZIP. */
export interface Entry {
    name: string;
    stored: boolean;
    size: number;
    /** Its bytes, where it is stored. */
    content(): Promise<Blob>;
}
/** The entries of a ZIP (APPNOTE 4.3, with 64 bits where sizes ask for them), in its order. An Error for what is none. */
export declare function entriesOf(file: Blob): Promise<Entry[]>;
