// The same by the client of the AI SDK, which has its own: see signin.mjs.
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline/promises";
import { auth, createMCPClient } from "@ai-sdk/mcp";

const { SVC_URL, SVC_CLIENT, SVC_BACK, SVC_SCENE } = process.env;
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const say = (object) => console.log(JSON.stringify(object));

let tokens, verifier, state, server;
const saved = [];
const provider = {
  redirectUrl: SVC_BACK,
  clientMetadata: { client_name: "story", redirect_uris: [SVC_BACK], token_endpoint_auth_method: "none" },
  clientInformation: () => ({ client_id: SVC_CLIENT }),
  tokens: () => tokens,
  saveTokens: (given) => { tokens = given; saved.push(given.access_token); },
  state: () => "kept",
  authorizationServerInformation: () => server,
  saveAuthorizationServerInformation: (given) => { server = given; },
  saveState: (given) => { state = given; },
  storedState: () => state,
  redirectToAuthorization: (address) => say({ open: String(address) }),
  saveCodeVerifier: (given) => { verifier = given; },
  codeVerifier: () => verifier,
};
const serverUrl = new URL(SVC_URL + "/mcp");
const connect = () => createMCPClient({ transport: { type: "http", url: String(serverUrl), authProvider: provider } });
await connect().then(() => { throw new Error("it was let in by nobody"); }, (error) => { if (!saved.length && !verifier) throw error; });
const answer = new URLSearchParams((await lines.next()).value);
await auth(provider, { serverUrl, authorizationCode: answer.get("code"), callbackState: answer.get("state") });
const client = await connect();
const tools = await client.tools();
const call = async (name, args = {}) => (await tools[name].execute(args, { toolCallId: "1", messages: [] })).structuredContent;

const awaited = await call("svc_inspect", { frame_start: 1, frame_end: 1 });
await fetch(awaited.upload.url, { method: "PUT", body: await readFile(SVC_SCENE) });
const inspected = await call(awaited.next_tool, awaited.next_arguments);
let job = await call(inspected.next_tool, { ...inspected.next_arguments, legal_acceptance: "SVC_LEGAL_V1" });
while (job.next_tool === "svc_status") job = await call("svc_status", { job_id: job.job_id, wait_seconds: 20 });
tokens = { ...tokens, access_token: "svc_agent_" + "x".repeat(43) }; // as if its hour were over
const receipt = await call("svc_receipt", { job_id: job.job_id });
await client.close();
say({ status: job.status, charged_cents: receipt.charged_cents, client_id: SVC_CLIENT, tokens: new Set(saved).size });
process.exit(0);
