// Makes the calls that it reads, a JSON object a line, and prints what came of each.
import process from "node:process";
import { createInterface } from "node:readline";
import { ApiError, Client } from "../lib/index.js";

const camel = (name) => name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase());
const client = new Client(process.env.SVC_SERVER, process.env.SVC_KEY, { attempts: 1 });
for await (const line of createInterface({ input: process.stdin })) {
  const { method, args, options } = JSON.parse(line);
  let answer;
  try {
    const named = Object.fromEntries(Object.entries(options).map(([name, value]) => [camel(name), value]));
    let told = client[camel(method)](...args, named);
    if (Symbol.asyncIterator in told) {
      const all = [];
      for await (const item of told) all.push(item);
      told = all;
    }
    told = await told;
    answer = { ok: told instanceof Uint8Array ? new TextDecoder().decode(told) : told };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    answer = { error: error.code };
  }
  console.log(JSON.stringify(answer));
}
