// Brings a job into a folder and says whether the frames that it took over are proven: URL KEY JOB
// FOLDER. Without a job, the folder is verified as it is.
import { Client, verifyFolder } from "../lib/index.js";

const [url, key, job, folder] = process.argv.slice(2);
if (job) for await (const _ of new Client(url, key).sync(job, folder));
const { notChecked, checks } = await verifyFolder(folder);
console.log(JSON.stringify({ not_checked: notChecked, reused: checks.filter(({ name }) => name === "reused").map(({ text }) => text) }));
