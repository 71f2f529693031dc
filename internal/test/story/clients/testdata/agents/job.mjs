// A whole job by the npm client of the Model Context Protocol: link, upload,
// quote, start, status, ZIP, receipt. The client holds each answer to the
// schema that its tool publishes, and throws where one does not fit.
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const { SVC_URL, SVC_KEY, SVC_SCENE } = process.env;
const client = new Client({ name: "story", version: "1" });
await client.connect(new StreamableHTTPClientTransport(new URL(SVC_URL + "/mcp"), {
  requestInit: { headers: { Authorization: `Bearer ${SVC_KEY}` } },
}));

const { tools } = await client.listTools(); // learns the schemas
const call = async (name, args = {}) => (await client.callTool({ name, arguments: args })).structuredContent;

const awaited = await call("svc_inspect");
const sent = await fetch(awaited.upload.url, { method: "PUT", body: await readFile(SVC_SCENE) });
const inspected = await call(awaited.next_tool, awaited.next_arguments);
const quoted = await call("svc_quote", { upload_id: inspected.upload_id, frame_start: 1, frame_end: 2 });
const tooDear = await call("svc_start", { ...quoted.next_arguments, legal_acceptance: "SVC_LEGAL_V1", max_price_cents: 1 });
let job = await call("svc_start", { ...quoted.next_arguments, legal_acceptance: "SVC_LEGAL_V1" });
const progress = [];
while (job.next_tool === "svc_status") { // one call waits for the end, and tells how far the job is
  const waiting = { name: job.next_tool, arguments: { ...job.next_arguments, wait_seconds: 50 } };
  job = (await client.callTool(waiting, undefined, { onprogress: (told) => progress.push(told) })).structuredContent;
}
const download = await call(job.next_tool, job.next_arguments);
const zip = Buffer.from(await (await fetch(download.url)).arrayBuffer());
const receipt = await call(download.next_tool, download.next_arguments);
const document = await client.readResource({ uri: receipt.documents["receipt.json"] });
const prompt = await client.getPrompt({ name: "render_this_scene", arguments: { file: "scene.blend" } });
const unknown = await client.callTool({ name: "svc_render", arguments: {} });
await client.close();

console.log(JSON.stringify({
  tools: tools.map((tool) => tool.name).sort(), sent: sent.status, job_id: job.job_id, status: job.status,
  too_dear: tooDear.error.code, downloaded: createHash("sha256").update(zip).digest("hex"),
  promised: [download.sha256, receipt.artifact_sha256], charged_cents: receipt.charged_cents,
  signed: JSON.parse(document.contents[0].text).signatures.length, prompt: prompt.messages.length, progress,
  instead: unknown.structuredContent.next_tool,
}));
