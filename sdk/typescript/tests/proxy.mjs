// Calls a service through what answers in its place, and says what comes of it.
import { Client, SvcError } from "../lib/index.js";

const [url, ...ways] = process.argv.slice(2);
const told = {};
for (const way of ways) {
  const svc = new Client(`${url}/${way}`, "svc_agent_any", { attempts: 1 });
  for (const [name, call] of [["wallet", () => svc.wallet()], ["inspect", () => svc.inspect(new Blob(["BLENDER-v304"]), { filename: "scene.blend" })], ["frame", () => svc.frameFile("JOB-1", 1)]]) {
    try {
      await call();
      told[`${way} ${name}`] = "taken for the service's";
    } catch (error) {
      if (!(error instanceof SvcError)) throw error;
      told[`${way} ${name}`] = `${error.name}: ${error.message}`;
    }
  }
}
console.log(JSON.stringify(told));
