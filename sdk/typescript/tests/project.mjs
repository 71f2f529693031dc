// Sends a project, changes a file of it, sends it again, and says what travelled.
import { appendFileSync, readdirSync } from "node:fs";
import { join, sep } from "node:path";
import { Client } from "../lib/index.js";

const [url, key, root, main] = process.argv.slice(2);
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
console.log(JSON.stringify({ sent, frame_count: quote.frame_count, filename: quote.filename }));
