// Renders into a folder, and says what verifying it says before and after damage.
import { copyFileSync, renameSync } from "node:fs";
import { basename } from "node:path";
import { Client, LEGAL_V1, VerificationError, verifyFolder } from "../lib/index.js";

const [url, key, scene, folder] = process.argv.slice(2);
const svc = new Client(url, key);
const order = { frames: "1-2,4", legalAcceptance: LEGAL_V1, settings: { output_name: "scene" } };
const told = {};
await svc.render(scene, folder, { ...order, maxCents: 2 }).catch((refused) => { told.refused = refused.code; });
const paths = [];
for await (const frame of await svc.render(scene, folder, { ...order, maxCents: 3 })) paths.push(frame.path);
told.frames = paths.map((path) => basename(path));

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
told.pixels = (await verifyFolder(folder)).checks.filter(({ name }) => name === "pixels").map(({ text }) => text);
renameSync(paths[0], paths[0] + ".kept");
told.without_a_frame = await failed();
copyFileSync(paths[1], paths[0]);
told.with_another = await failed();
renameSync(paths[0] + ".kept", paths[0]);
console.log(JSON.stringify(told));
