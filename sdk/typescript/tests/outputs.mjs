// Brings a job's frames and outputs into a folder, and says what verifying it says.
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { Client, VerificationError, verifyFolder } from "../lib/index.js";

const [url, key, job, folder] = process.argv.slice(2);
const svc = new Client(url, key);
const synced = async () => {
  const frames = [];
  for await (const { frame } of svc.sync(job, folder)) frames.push(frame);
  return frames;
};
const told = { frames: await synced(), again: await synced(), same: true };
const outputs = (await svc.frames(job)).flatMap(({ frame, outputs: all = [] }) => all.map(({ name }) => ({ frame, name })));
for (const { frame, name } of outputs) {
  told.same &&= Buffer.from(await svc.frameFile(job, frame, { output: name })).equals(readFileSync(`${folder}/outputs/${name}`));
}

const failed = async () => {
  try {
    await verifyFolder(folder);
  } catch (wrong) {
    if (!(wrong instanceof VerificationError)) throw wrong;
    return wrong.check;
  }
  return "";
};

told.whole = await failed();
const at = `${folder}/outputs/${outputs[0].name}`;
renameSync(at, at + ".kept");
told.without_an_output = await failed();
writeFileSync(at, "another");
told.with_another = await failed();
renameSync(at + ".kept", at);
console.log(JSON.stringify(told));
