/** What a verification says. */
import type { Receipt } from "./wire.js";

/** The checks, by the name that `svc verify` gives them. */
export type CheckName = "test" | "signature" | "statement" | "strips" | "members" | "artifact" | "contents" | "frames" | "pixels" | "outputs" | "manifest" | "log" | "key" | "reused" | "pictures";

/** One step of a verification. */
export interface Check {
  name: CheckName;
  status: "ok" | "failed" | "skipped";
  text: string;
}

/** What was checked, and the receipt that was signed. */
export interface Report {
  receipt: Receipt;
  keyId: string;
  checks: Check[];
  /** The names of the checks that were not made. */
  notChecked: CheckName[];
}
