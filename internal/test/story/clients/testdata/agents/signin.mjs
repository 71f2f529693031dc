// The npm client of the Model Context Protocol, from nothing but the address of the tools:
// it discovers where to sign in, asks for a person's browser by a line on standard output,
// reads the answer from a line on standard input, and renders a frame. Then its token ends,
// and it gets another one without the person.
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline/promises";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const { SVC_URL, SVC_CLIENT, SVC_BACK, SVC_SCENE } = process.env;
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const say = (object) => console.log(JSON.stringify(object));

let information, tokens, verifier;
const saved = [];
const provider = {
  redirectUrl: SVC_BACK,
  clientMetadataUrl: SVC_CLIENT,
  clientMetadata: { client_name: "story", redirect_uris: [SVC_BACK], token_endpoint_auth_method: "none" },
  clientInformation: () => information,
  saveClientInformation: (given) => { information = given; },
  tokens: () => tokens,
  saveTokens: (given) => { tokens = given; saved.push(given.access_token); },
  state: () => "kept",
  redirectToAuthorization: (address) => say({ open: String(address) }),
  saveCodeVerifier: (given) => { verifier = given; },
  codeVerifier: () => verifier,
};
const transport = () => new StreamableHTTPClientTransport(new URL(SVC_URL + "/mcp"), { authProvider: provider });
const client = new Client({ name: "story", version: "1" });
const first = transport();
try {
  await client.connect(first);
  throw new Error("it was let in by nobody");
} catch (error) {
  if (!(error instanceof UnauthorizedError)) throw error;
}
const answer = new URLSearchParams((await lines.next()).value);
await first.finishAuth(answer.get("code"));
await client.connect(transport());
await client.listTools();
const call = async (name, args = {}) => (await client.callTool({ name, arguments: args })).structuredContent;

const awaited = await call("svc_inspect", { frame_start: 1, frame_end: 1 });
await fetch(awaited.upload.url, { method: "PUT", body: await readFile(SVC_SCENE) });
const inspected = await call(awaited.next_tool, awaited.next_arguments);
let job = await call(inspected.next_tool, { ...inspected.next_arguments, legal_acceptance: "SVC_LEGAL_V1" });
while (job.next_tool === "svc_status") job = await call("svc_status", { job_id: job.job_id, wait_seconds: 20 });
tokens = { ...tokens, access_token: "svc_agent_" + "x".repeat(43) }; // as if its hour were over
const receipt = await call("svc_receipt", { job_id: job.job_id });
await client.close();
say({ status: job.status, charged_cents: receipt.charged_cents, client_id: information.client_id, tokens: new Set(saved).size });
process.exit(0);
