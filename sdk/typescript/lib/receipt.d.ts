type Members = Record<string, unknown>;
/** A receipt whose form was checked. A member of a later service is signed as well, and is not judged. */
export interface CheckedReceipt extends Members {
    receipt_id: string;
    job_id: string;
    frame_count: number;
    frame_start: number;
    frame_step: number;
    frame_end: number;
    charged_cents: number;
    currency: string;
    log_index: number;
    renderer: Members;
    artifact: CheckedFile;
    input: CheckedFile & {
        files?: (CheckedFile & {
            path: string;
        })[];
    };
    workspace_id: string;
    frames: CheckedFrame[];
}
export interface CheckedFrame extends CheckedFile {
    frame: number;
    file: string;
    pixel_sha256: string;
    render_seconds: number;
    reused?: {
        receipt_id: string;
        log_index: number;
    };
    outputs?: Output[];
    strips?: {
        from: number;
        to: number;
        sha256: string;
        above?: string;
        below?: string;
        alike?: boolean;
    }[];
}
/** A file of a frame besides its picture: of a File Output node, of another view, or a preview. */
export interface Output {
    name: string;
    sha256: string;
    size_bytes: number;
}
export interface CheckedFile extends Members {
    filename: string;
    sha256: string;
    size_bytes: number;
}
/** An Error for a receipt that no service would have signed. */
export declare function checkReceipt(value: unknown): Promise<CheckedReceipt>;
/** The manifest that fits a receipt, which has no sizes in pixels: those are the found one's. */
export declare function manifestOf(r: CheckedReceipt, found: unknown): Members;
/** The files besides the pictures, of all frames. */
export declare function outputsOf(r: {
    frames: {
        outputs?: Output[];
    }[];
}): Output[];
/** Explains the frames that several workers rendered; "" where there are none. */
export declare function stripsOf(r: CheckedReceipt): string;
/** Compares the frames that were taken over with the receipts that they come from, by their ids: the text of the check "reused", or of a skipped one. */
export declare function reusedOf(r: CheckedReceipt, earlier: Map<string, CheckedReceipt>): string | {
    skipped: string;
};
/** Whether the name of an output is a path that stays in its folder. */
export declare function isOutputName(name: string): boolean;
export {};
