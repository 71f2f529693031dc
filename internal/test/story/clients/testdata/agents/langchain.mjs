// A whole job by LangChain's adapters. This script reads the texts of answers alone, as a
// model can: links, next calls and refusals.
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { MultiServerMCPClient } from "@langchain/mcp-adapters";

const { SVC_URL, SVC_KEY, SVC_SCENE } = process.env;
const client = new MultiServerMCPClient({
  mcpServers: { svc: { transport: "http", url: SVC_URL + "/mcp", headers: { Authorization: `Bearer ${SVC_KEY}` } } },
  throwOnLoadError: true,
});
const tools = Object.fromEntries((await client.getTools()).map((tool) => [tool.name, tool]));

// call returns the text of an answer, or of a refusal. The adapters wrap the text of a
// single block in JSON, next to its structured content.
const call = async (name, args = {}) => {
  try {
    const { content } = await tools[name].invoke({ type: "tool_call", id: "1", name, args });
    return (typeof content === "string" ? [JSON.parse(content)] : content).map((part) => part.text ?? "").join("\n");
  } catch (error) {
    return error.message;
  }
};
// next is the call that a text ends with.
const next = (text) => {
  const found = /^Next: (\w+) (\{.*\})(?: after \d+ seconds?)?\.$/m.exec(text);
  return found ? { name: found[1], args: JSON.parse(found[2]) } : {};
};
const follow = (text) => call(next(text).name, next(text).args);

const awaited = await call("svc_inspect");
const link = /https?:\/\/[^\s'"]+/.exec(awaited)[0];
const sent = await fetch(link, { method: "PUT", body: await readFile(SVC_SCENE) });
const upload = next(await follow(awaited)).args.upload_id;
const tooDear = await call("svc_quote", { upload_id: upload, frames: "1-3,10-20x5", max_price_cents: 5 });
const quoted = await call("svc_quote", { upload_id: upload, frames: "1,2", max_price_cents: 2 });
const unasked = await follow(quoted); // no person has accepted anything
const { name: start, args: price } = next(quoted);
let job = await call(start, { ...price, legal_acceptance: "SVC_LEGAL_V1" });
while (next(job).name === "svc_status") job = await call("svc_status", { ...next(job).args, wait_seconds: 20 });
const download = await follow(job);
const zip = Buffer.from(await (await fetch(/https?:\/\/[^\s']+/.exec(download)[0])).arrayBuffer());
const receipt = await follow(download);
await client.close();

console.log(JSON.stringify({
  tools: Object.keys(tools).length, sent: sent.status, too_dear: tooDear, unasked, job, receipt, ends: next(receipt).name === undefined,
  downloaded: createHash("sha256").update(zip).digest("hex"),
}));
