// Verifies each case of a file of JSON lines and prints the check that fails first, an empty
// line where none does. The tests of the service compare this with their own verifier.
import { readFileSync } from "node:fs";
import { VerificationError, verify } from "../lib/index.js";

const bytes = (text) => new Uint8Array(Buffer.from(text, "base64"));
for (const line of readFileSync(process.argv[2], "utf8").trim().split("\n")) {
  const { receipt, keys, zip, proof, checkpoint, test, origins = [] } = JSON.parse(line);
  try {
    await verify(bytes(receipt), keys, { ...(zip && { artifact: bytes(zip) }), ...(proof && { proof: bytes(proof) }), checkpoint, test, origins: origins.map(bytes) });
    console.log("");
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    console.log(error.check);
  }
}
