// Sends a project, changes a file of it, sends it again, says what travelled, and renders it into a folder.
import { appendFileSync, readdirSync } from "node:fs";
import { join, sep } from "node:path";
import { Client, LEGAL_V1, verifyFolder } from "../lib/index.js";

const [url, key, root, main, folder] = process.argv.slice(2);
const svc = new Client(url, key);
const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).map((entry) => {
  const source = join(entry.parentPath, entry.name);
  return { path: source.slice(root.length + 1).replaceAll(sep, "/"), source };
});
const sent = [];
let quote;
for (let turn = 0; turn < 3; turn++) {
  if (turn === 2) appendFileSync(join(root, "notes.txt"), "more");
  let travelled = 0;
  quote = await svc.inspectProject(main, files, { frames: 1, progress: (done) => (travelled = done) });
  sent.push(travelled);
}
const { job_id } = await svc.start(quote, { legalAcceptance: LEGAL_V1 });
for await (const _ of svc.sync(job_id, folder));
console.log(JSON.stringify({ not_checked: (await verifyFolder(folder)).notChecked, sent, frame_count: quote.frame_count, filename: quote.filename }));
