/** Accepts the service's terms at start. Send it only if the person who pays has read
them. */
export const LEGAL_V1 = "SVC_LEGAL_V1";
/** The states that a job never leaves. */
export const TERMINAL = new Set(["completed", "failed", "cancelled"]);
