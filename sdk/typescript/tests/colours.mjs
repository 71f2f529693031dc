// Orders a project with an OpenColorIO configuration that lies in another folder, and says what
// is told without its LUT and what the receipt names.
import { join } from "node:path";
import { Client, LEGAL_V1 } from "../lib/index.js";

const [url, key, root, main, studio, config, lut] = process.argv.slice(2);
const svc = new Client(url, key);
const order = { frames: 1, settings: { ocio: config } };
const files = [{ path: main, source: join(root, main) }, { path: config, source: join(studio, config) }];
const told = { missing: (await svc.inspectProject(main, files, order)).scene.missing_files };
files.push({ path: lut, source: join(studio, lut) });
const quote = await svc.inspectProject(main, files, order);
told.none = quote.scene.missing_files ?? [];
told.chosen = quote.settings.ocio;
const job = await svc.wait((await svc.start(quote, { legalAcceptance: LEGAL_V1 })).job_id);
await svc.download(job.job_id, join(root, "out.zip"));
await svc.verify(job.job_id, join(root, "out.zip"), { pixels: false });
told.receipt = (await svc.receipt(job.job_id)).receipt.ocio;
console.log(JSON.stringify(told));
