"use strict";

// The upload of a scene: folders and large files go in parts, which resume after a lost connection.
// Without this script the page has a form. console.js comes first.

const hex = (bytes) => Array.from(new Uint8Array(bytes), (b) => b.toString(16).padStart(2, "0")).join("");
const sendAtOnce = 2;
const MiB = 2 ** 20;
const mostTries = 8;

// Refusal is an answer of the service that another try does not change.
class Refusal extends Error {}

// session resolves when the browser has a session again.
async function session(signal) {
  for (;;) {
    await pause(2000);
    signal.throwIfAborted();
    const answer = await fetch("/v1/auth/session", { credentials: "same-origin", signal }).catch(() => null);
    if (answer?.ok) return;
  }
}

async function refusal(answer) {
  try {
    const { error } = await answer.json();
    const refused = new Refusal(error.message + " " + error.suggested_action);
    refused.code = error.code;
    refused.detail = error.detail;
    return refused;
  } catch {
    return new Refusal("The service answered " + answer.status + ". Try again later.");
  }
}

// Connection is a request that got no answer.
class Connection extends Error {}

// online resolves when the browser has a network again.
const online = (signal) => new Promise((done, fail) => {
  if (navigator.onLine) return done();
  addEventListener("online", done, { once: true });
  signal.addEventListener("abort", () => fail(signal.reason), { once: true });
});

// call sends a request, and repeats it while the connection or the service is down. It tells
// what it waits for. Waiting for a network or a session does not count as a try.
async function call(request, sending) {
  const { signal } = sending.abort, tells = (text) => sending.say(text);
  for (let n = 1; ; n++) {
    let problem;
    try {
      const answer = await request();
      if (answer.ok) return answer;
      if (answer.status === 401) {
        await sending.signIn();
        n = 0;
        continue;
      }
      problem = await refusal(answer);
      if (answer.status !== 429 && answer.status < 500) throw problem;
      tells("The service is busy. Trying again …");
      const after = Number(answer.headers.get("Retry-After"));
      if (after > 0 && after < 120) await pause(after * 1000);
    } catch (error) {
      if (error instanceof Refusal || signal.aborted) throw error;
      problem = new Connection("Connection lost. Send the same files to resume; nothing is uploaded twice.");
      tells(navigator.onLine ? "Connection lost. Trying again …" : "You are offline. The upload resumes when you are back.");
    }
    if (!navigator.onLine) {
      await online(signal);
      n = 0;
      continue;
    }
    if (n === mostTries) throw problem;
    await pause(Math.min(30000, 500 * 2 ** n) * (0.5 + Math.random() / 2));
  }
}

// put sends bytes like fetch, and reports how many have left: fetch cannot.
function put(path, bytes, signal, left) {
  return new Promise((done, fail) => {
    const x = new XMLHttpRequest();
    const stop = () => x.abort();
    signal.addEventListener("abort", stop, { once: true });
    x.upload.onprogress = (p) => left(p.loaded);
    x.onloadend = () => signal.removeEventListener("abort", stop);
    x.onerror = x.ontimeout = () => { left(0); fail(new Connection("no answer")); };
    x.onabort = () => fail(signal.reason);
    x.onload = () => done(new Response(x.status === 204 ? null : x.responseText, { status: x.status, headers: { "Retry-After": x.getResponseHeader("Retry-After") ?? "" } }));
    x.timeout = 120000; // a connection that hangs, such as after a change of network
    x.open("PUT", path);
    x.setRequestHeader("Content-Type", "application/octet-stream");
    x.send(bytes);
  });
}

// dropped lists the files of what was dropped, with their paths.
async function dropped(items) {
  const entries = Array.from(items, (i) => i.webkitGetAsEntry?.()).filter(Boolean);
  const files = [];
  const walk = async (entry, path) => {
    if (entry.isFile) {
      const file = await new Promise((done, fail) => entry.file(done, fail));
      files.push({ file, path: path + entry.name });
      return;
    }
    const reader = entry.createReader();
    for (;;) {
      const some = await new Promise((done, fail) => reader.readEntries(done, fail));
      if (some.length === 0) return;
      for (const inner of some) await walk(inner, path + entry.name + "/");
    }
  };
  for (const entry of entries) await walk(entry, "");
  return files;
}

// inProject gives the paths within the folder that was chosen, without hidden files.
function inProject(files) {
  const top = files[0].path.split("/")[0] + "/";
  const whole = files.every((f) => f.path.startsWith(top));
  return files
    .map(({ file, path }) => ({ file, path: (whole ? path.slice(top.length) : path).normalize("NFC") }))
    .filter(({ path }) => !path.split("/").some((part) => part.startsWith(".")) && !/\.blend\d+$/.test(path));
}

// placed puts files where the scene looks for the missing files of their names.
function placed(files, main) {
  const name = (path) => path.split(/[\\/]/).pop().normalize("NFC").toLowerCase();
  const rows = [...document.querySelectorAll("tr[data-path]")];
  const found = files.flatMap(({ file, path }) => rows
    .filter((row) => name(row.dataset.path) === name(path))
    .map((row) => ({ file, path: place(row.dataset.path, row.dataset.from || main) })));
  if (found.length === 0) throw new Refusal("No missing file has one of these names.");
  return found;
}

// place is the path in the project of a file that a scene names.
function place(path, from) {
  const folders = from.split("/").slice(0, -1), parts = path.split(/[\\/]+/).filter(Boolean);
  for (const part of path.startsWith("//") ? parts : parts.slice(-2)) { // the last folder of an absolute path is enough to find it
    if (part !== "..") folders.push(part);
    else if (folders.pop() === undefined) throw new Refusal(path + " is outside the folder of the scene. Upload the folder that has both.");
  }
  return folders.join("/");
}

class Sending {
  constructor(form) {
    this.form = form;
    this.mostPartBytes = Number(form.dataset.partBytes);
    this.box = form.querySelector(".sending");
    this.bar = this.box.querySelector("progress");
    this.line = this.box.querySelector("[role=status]");
    this.choice = this.box.querySelector("fieldset");
    this.door = this.box.querySelector("[data-sign-in]");
    this.abort = new AbortController();
    this.box.querySelector("[data-stop]").onclick = () => this.abort.abort();
  }

  say(text) { this.line.textContent = text; }

  // signIn keeps what was sent until the person has signed in again, in another tab.
  async signIn() {
    this.door.hidden = false;
    this.say("Your session has ended. What was uploaded is kept.");
    try { await session(this.abort.signal); } finally { this.door.hidden = true; }
  }

  // partBytes is small, because a part that is cut off is sent again; but a project has at
  // most a few hundred.
  partBytes(total) { return Math.min(this.mostPartBytes, MiB * Math.max(1, Math.ceil(total / 400 / MiB))); }

  // main asks which scene of several is meant.
  main(files) {
    const scenes = files.filter((f) => /\.blend$/i.test(f.path)).map((f) => f.path).sort((a, b) => a.split("/").length - b.split("/").length || a.localeCompare(b));
    if (scenes.length === 0) throw new Refusal("These files include no .blend. Choose the folder that holds your scene.");
    const top = scenes.filter((path) => !path.includes("/"));
    if (scenes.length === 1) return scenes[0];
    if (top.length === 1) return top[0];
    return this.ask(scenes);
  }

  ask(scenes) {
    this.choice.hidden = false;
    this.choice.querySelectorAll("button").forEach((b) => b.remove());
    return new Promise((done) => {
      for (const path of scenes.slice(0, 50)) {
        const button = document.createElement("button");
        button.type = "button";
        button.className = "quiet";
        button.textContent = path;
        button.onclick = () => { this.choice.hidden = true; done(path); };
        this.choice.append(button);
      }
      this.choice.querySelector("button").focus();
    });
  }

  // complete adds missing files to an upload.
  async complete(files) {
    const answer = await call(() => fetch(this.form.dataset.lacks, { signal: this.abort.signal }), this);
    const has = await answer.json();
    return this.project(placed(files, has.main), has);
  }

  // project uploads files, next to those that an earlier upload has.
  async project(files, has) {
    if (!crypto.subtle) throw new Refusal("This page is not served over https, so your browser cannot resume uploads. Send a .zip instead.");
    const main = has?.main ?? await this.main(files);
    const total = files.reduce((n, f) => n + f.file.size, 0);
    const partBytes = this.partBytes(total);
    const listed = has?.files ?? [];
    const places = new Map(); // where the bytes of a part are
    let hashed = 0;
    for (const { file, path } of files) {
      const parts = [];
      for (let at = 0; at < file.size; at += partBytes) {
        this.abort.signal.throwIfAborted();
        const slice = file.slice(at, at + partBytes);
        const sum = hex(await crypto.subtle.digest("SHA-256", await slice.arrayBuffer()));
        parts.push(sum);
        places.set(sum, slice);
        hashed += slice.size;
        this.progress("Reading", hashed, total);
      }
      listed.push({ path, size_bytes: file.size, parts });
    }
    const body = JSON.stringify({ main, files: listed });
    for (let n = 0; n < 3; n++) {
      this.say("Checking which files are new …");
      try {
        const { signal } = this.abort;
        const ask = () => fetch("/node/v1/projects", { method: "POST", headers: { "Content-Type": "application/json" }, body, signal, credentials: "same-origin" });
        const answer = await call(ask, this);
        return (await answer.json()).upload_id;
      } catch (error) {
        if (error.code !== "parts_missing") throw error;
        if (!error.detail.missing.every((sum) => places.has(sum))) throw new Refusal("The files of this upload are no longer kept. Upload the folder again.");
        await this.parts(error.detail.missing, places);
      }
    }
    throw new Refusal("A file changed during the upload. Send the folder again.");
  }

  async parts(missing, places) {
    const total = missing.reduce((n, sum) => n + places.get(sum).size, 0);
    const sent = new Map(); // bytes by part, of those under way too
    const left = [...missing];
    const began = performance.now();
    const { signal } = this.abort;
    const tell = (sum, bytes) => {
      sent.set(sum, bytes);
      this.progress("Uploading", [...sent.values()].reduce((n, bytes) => n + bytes, 0), total, began);
    };
    const one = async () => {
      for (let sum = left.shift(); sum; sum = left.shift()) {
        const slice = places.get(sum);
        await call(() => put("/node/v1/parts/" + sum, slice, signal, (bytes) => tell(sum, bytes)), this);
        tell(sum, slice.size);
      }
    };
    this.progress("Uploading", 0, total, began);
    await Promise.all(Array.from({ length: sendAtOnce }, one));
  }

  progress(what, done, total, began) {
    this.bar.max = Math.max(1, total);
    this.bar.value = done;
    let text = `${what} ${size(done)} of ${size(total)}`;
    const seconds = began ? (performance.now() - began) / 1000 : 0;
    if (seconds > 1 && done > 0) {
      const left = (total - done) * seconds / done;
      text += `, ${size(done / seconds)}/s, about ${span(left)} left`;
    }
    this.say(text);
  }

  // archive sends a .zip as the form does, with a bar, and once more after a sign-in.
  async archive(file) {
    for (;;) {
      const sent = await this.post(file);
      if (sent.status < 400) return sent.responseURL;
      if (sent.status !== 401) {
        const told = new DOMParser().parseFromString(sent.responseText, "text/html").querySelector("[role=alert], .lead");
        throw new Refusal(told ? told.textContent : "The service answered " + sent.status + ".");
      }
      await this.signIn();
    }
  }

  post(file) {
    return new Promise((done, fail) => {
      const x = new XMLHttpRequest();
      const began = performance.now();
      x.upload.onprogress = (p) => this.progress("Uploading", p.loaded, p.total, began);
      x.onerror = () => fail(new Connection("Connection lost. Send the file again."));
      x.onabort = () => fail(new DOMException("stopped", "AbortError"));
      x.onload = () => done(x);
      this.abort.signal.onabort = () => x.abort();
      const data = new FormData();
      data.append("file", file);
      x.open("POST", this.form.action);
      x.send(data);
      this.say("Uploading …");
    });
  }

  async send(files) {
    if (files.length === 0) return;
    for (const old of document.querySelectorAll("main [role=alert]")) old.remove();
    this.box.hidden = false;
    this.form.classList.add("busy");
    addEventListener("beforeunload", stay);
    const lacks = this.form.dataset.lacks;
    if (!lacks) unfinished(files[0].path.split("/")[0]);
    try {
      const zip = files.length === 1 && /\.zip$/i.test(files[0].path);
      const to = zip && !lacks ? await this.archive(files[0].file) : "/console/uploads/" + await (lacks ? this.complete(files) : this.project(files));
      unfinished("");
      removeEventListener("beforeunload", stay);
      location.assign(to);
    } catch (error) {
      if (error instanceof Refusal) unfinished("");
      const told = document.createElement("p");
      told.className = "notice bad";
      told.setAttribute("role", "alert");
      told.textContent = error.name === "AbortError" ? "Stopped. Send the same files to resume; nothing is uploaded twice." : error.message;
      this.form.before(told);
      this.box.hidden = true;
    }
    removeEventListener("beforeunload", stay);
    this.form.classList.remove("busy");
    this.abort = new AbortController();
  }
}

// unfinished notes what is uploaded, for the list of jobs to name it when the browser was closed.
function unfinished(name) {
  document.cookie = `svc_upload=${encodeURIComponent(name.slice(0, 60))}; path=/console; max-age=${name ? 86400 : 0}; samesite=lax`;
}

const stay = (event) => { event.preventDefault(); };

function size(n) {
  if (n >= 2 ** 30) return (n / 2 ** 30).toFixed(2) + " GiB";
  if (n >= 2 ** 20) return (n / 2 ** 20).toFixed(1) + " MiB";
  return Math.ceil(n / 1024) + " KiB";
}

function span(seconds) {
  if (seconds < 60) return Math.ceil(seconds) + " s";
  if (seconds < 3600) return Math.ceil(seconds / 60) + " min";
  return (seconds / 3600).toFixed(1) + " h";
}

for (const form of document.querySelectorAll("form[data-upload]")) {
  const sending = new Sending(form);
  const file = form.querySelector("input[name=file]");
  const folder = form.querySelector("input[webkitdirectory]");
  form.hidden = form.querySelector(".choices").hidden = false;
  if (folder) folder.hidden = false;
  form.classList.add("live");
  const chosen = (list) => Array.from(list, (f) => ({ file: f, path: f.webkitRelativePath || f.name }));
  form.onsubmit = (event) => {
    event.preventDefault();
    sending.send(folder?.files.length ? inProject(chosen(folder.files)) : chosen(file.files));
  };
  file.onchange = () => { if (folder) folder.value = ""; sending.send(chosen(file.files)); };
  if (folder) folder.onchange = () => { file.value = ""; sending.send(inProject(chosen(folder.files))); };
  // A file that misses the frame would otherwise open in place of the page.
  addEventListener("dragover", (event) => { event.preventDefault(); form.classList.add("over"); });
  addEventListener("dragleave", (event) => { if (!event.relatedTarget) form.classList.remove("over"); });
  addEventListener("drop", async (event) => {
    event.preventDefault();
    form.classList.remove("over");
    if (form.classList.contains("busy")) return;
    const files = await dropped(event.dataTransfer.items);
    if (files.length) sending.send(files.length === 1 ? files : inProject(files));
  });
}
