// A whole job by the texts of tools alone, as a model reads them, with the client that
// SVC_CLIENT names. No client here reads structured content.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";

const { SVC_URL, SVC_KEY, SVC_SCENE, SVC_CLIENT } = process.env;
const url = SVC_URL + "/mcp", authorization = `Bearer ${SVC_KEY}`;
const textOf = ({ content }) => content.map((part) => part.text ?? "").join("\n");

// Each connects, and returns how it calls a tool for the text of its answer, and how it ends.
const clients = {
  async sdk() {
    const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/sdk/client/streamableHttp.js");
    return official(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { Authorization: authorization } } }));
  },
  async "mcp-remote"() {
    const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
    return official(new StdioClientTransport({
      command: process.execPath, args: ["node_modules/mcp-remote/dist/proxy.js", url, "--header", `Authorization:${authorization}`], env: { ...process.env },
    }));
  },
  async ai() {
    const { createMCPClient } = await import("@ai-sdk/mcp");
    const client = await createMCPClient({ transport: { type: "http", url, headers: { Authorization: authorization } } });
    const tools = await client.tools();
    return [async (name, args) => textOf(await tools[name].execute(args, { toolCallId: "1", messages: [] })), () => client.close()];
  },
  // LangChain's adapters hold arguments to the schema themselves, and wrap the text of a single
  // block in JSON, next to its structured content.
  async langchain() {
    const { MultiServerMCPClient } = await import("@langchain/mcp-adapters");
    const client = new MultiServerMCPClient({
      mcpServers: { svc: { transport: "http", url, headers: { Authorization: authorization } } }, throwOnLoadError: true,
    });
    const tools = Object.fromEntries((await client.getTools()).map((tool) => [tool.name, tool]));
    const call = async (name, args) => {
      try {
        const { content } = await tools[name].invoke({ type: "tool_call", id: "1", name, args });
        return textOf({ content: typeof content === "string" ? [JSON.parse(content)] : content });
      } catch (error) {
        return error.message;
      }
    };
    return [call, () => client.close()];
  },
  // The Inspector's command line is a process for each call, which takes arguments as name=JSON.
  async inspector() {
    const run = promisify(execFile);
    const call = async (name, args) => {
      const given = Object.entries(args).flatMap(([key, value]) => ["--tool-arg", `${key}=${typeof value === "string" ? value : JSON.stringify(value)}`]);
      const command = ["node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js", "--cli", url, "--transport", "http",
        "--header", `Authorization: ${authorization}`, "--method", "tools/call", "--tool-name", name, ...given];
      // It ends with an error where the tool refuses, and prints the result all the same.
      const { stdout } = await run(process.execPath, command).catch((error) => { if (!error.stdout) throw error; return error; });
      return textOf(JSON.parse(stdout));
    };
    return [call, () => {}];
  },
};

async function official(transport) {
  const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
  const client = new Client({ name: "story", version: "1" });
  await client.connect(transport);
  return [async (name, args) => textOf(await client.callTool({ name, arguments: args })), () => client.close()];
}

// next is the call that a text ends with.
const next = (text) => {
  const found = /^Next: (\w+) (\{.*\})(?: after \d+ seconds?)?\.$/m.exec(text);
  return found ? { name: found[1], args: JSON.parse(found[2]) } : {};
};

const [call, end] = await clients[SVC_CLIENT]();
const follow = (text) => call(next(text).name, next(text).args);
const awaited = await call("svc_inspect", {});
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
await end();
console.log(JSON.stringify({
  sent: sent.status, too_dear: tooDear, unasked, job, receipt, ends: next(receipt).name === undefined,
  downloaded: createHash("sha256").update(zip).digest("hex"),
}));
process.exit(0);
