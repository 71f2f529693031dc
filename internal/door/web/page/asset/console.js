"use strict";

// What the console does beyond HTML: it keeps pages true while they are open, keeps the price true
// to the frames, and copies ids. Every page works without it. upload.js uploads scenes.

// -- copying ------------------------------------------------------------------

const offerCopies = () => {
  for (const button of document.querySelectorAll("[data-copy]")) button.hidden = !navigator.clipboard;
};
offerCopies();
document.addEventListener("htmx:after:swap", offerCopies);
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  await navigator.clipboard.writeText(button.dataset.copy);
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = "Copy"; }, 2000);
});

// -- times ----------------------------------------------------------------------

// The service writes times in UTC; a reader sees those of their own clock. Lines break between
// the date and the time of day only.
const days = { moment: { dateStyle: "medium" }, when: { day: "numeric", month: "short" } };
const localTimes = () => {
  for (const time of document.querySelectorAll("time[data-as]")) {
    const at = new Date(time.dateTime);
    time.textContent = [at.toLocaleDateString([], days[time.dataset.as]), at.toLocaleTimeString([], { timeStyle: "short" })].map((part) => part.replace(/\s/g, "\u00a0")).join(", ");
    time.title = at.toUTCString();
  }
};
localTimes();
document.addEventListener("htmx:after:swap", localTimes);

// -- staying true ---------------------------------------------------------------

// A live page is fetched again every few seconds even if its stream works, because
// requests, notices and answers get lost. The answer is short if nothing has changed.
// A hidden page has no stream: it is fetched less often, and only while its job is running.
const hiddenEvery = 20_000;
let version = null, reread = 0;
document.addEventListener("htmx:config:request", (event) => {
  if (!event.target.matches?.("[data-reread]")) return;
  if (document.hidden && !(document.querySelector("#live progress") && Date.now() - reread >= hiddenEvery)) return event.preventDefault();
  reread = Date.now();
  if (version) event.detail.ctx.request.headers["If-None-Match"] = version;
});
document.addEventListener("htmx:after:swap", ({ detail: { ctx } }) => {
  if (ctx.sourceElement?.matches?.("[data-reread]") && ctx.response?.status === 200) version = ctx.response.headers.get("ETag");
});

// The tab says how far its job is, and how it ended.
const title = document.title, followed = document.querySelector("#live progress");
const progress = () => {
  const bar = document.querySelector("#live progress"), state = document.querySelector("#live .state");
  if (followed && state) document.title = `${bar ? Math.floor(bar.value) + " %" : state.textContent} · ${title}`;
  if (followed && state && !bar) tell(state.textContent);
};

// The browser notifies people when the job of an open page ends, if they have asked for it on
// such a page. Their choice holds for all jobs in this browser.
const offer = document.querySelector("#tell");
const choice = "svc-notify";
const wanted = () => window.Notification?.permission === "granted" && localStorage.getItem(choice) === "on";
let told = false;
const tell = (state) => {
  if (told || !offer) return;
  told = true;
  offer.remove();
  if (!wanted()) return;
  const shown = new Notification(`${document.querySelector("h1").textContent}: ${state}`, {
    body: document.querySelector("#live .status .state + span")?.textContent, icon: document.querySelector("link[rel=icon]")?.href, tag: location.pathname,
  });
  shown.addEventListener("click", () => { window.focus(); shown.close(); });
};
if (offer && followed && window.Notification && Notification.permission !== "denied") {
  const button = offer.querySelector("button");
  const draw = () => {
    button.textContent = wanted() ? "Do not notify me" : "Notify me when it ends";
    offer.querySelector("span").textContent = wanted() ? "This browser notifies you when the job ends, while this page is open." : "";
  };
  button.addEventListener("click", async () => {
    const on = !wanted();
    if (on && await Notification.requestPermission() !== "granted") return offer.remove();
    localStorage.setItem(choice, on ? "on" : "off");
    draw();
  });
  draw();
  offer.hidden = false;
}
progress();
document.addEventListener("htmx:finally:swap", progress); // after htmx has set the title of the answer

// While the service is away, a page says that it shows what was true before.
document.addEventListener("htmx:finally:request", ({ target, detail: { ctx } }) => {
  if (!target.matches?.("[data-reread]")) return;
  const away = !ctx.response || ctx.response.status >= 500, told = document.querySelector("#away");
  if (!away) return told?.remove();
  if (told) return;
  const notice = document.createElement("p");
  notice.id = "away";
  notice.className = "notice warn";
  notice.setAttribute("role", "alert");
  notice.textContent = "The service cannot be reached. This page shows what was last known, and continues when the service is back.";
  document.querySelector("main").before(notice);
});

// A page whose session has ended leads to the sign-in, at the same address.
const ended = (status) => { if (status === 401) location.reload(); };
document.addEventListener("htmx:sse:error", (event) => ended(event.detail?.status));
document.addEventListener("htmx:finally:request", (event) => ended(event.detail.ctx.response?.status));

const pause = (ms) => new Promise((done) => { setTimeout(done, ms); });

// Without htmx nothing is live: the page is loaded once more.
addEventListener("load", async () => {
  if (window.htmx || !document.querySelector("[data-reread]")) return;
  await pause(5000 + 4000 * Math.random());
  location.reload();
});

// A part that was read by a script has the buttons of noscript as elements: none of them may
// become the first button of its form.
document.addEventListener("htmx:after:swap", () => {
  for (const part of document.querySelectorAll("noscript")) part.replaceChildren();
});

// A form that spends is sent once, however often its button is pressed.
document.addEventListener("submit", (event) => {
  const form = event.target.closest("form[data-once]");
  if (!form) return;
  if (form.dataset.sent) event.preventDefault();
  form.dataset.sent = "yes";
});
// The back button shows the page as it was left.
addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-once]")) delete form.dataset.sent;
});

// -- the price follows the order ----------------------------------------------

// While a price is on its way, its button must not order something other than the fields
// say.
document.addEventListener("input", ({ target }) => {
  if (target.closest?.("[data-priced]")) target.form.querySelector("button.big").disabled = true;
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && event.target.closest?.("[data-priced]")) event.preventDefault(); // a typed number is no order yet
});
document.addEventListener("htmx:finally:request", ({ target, detail }) => {
  if (!target.matches?.("[data-priced]") || detail.ctx.response) return;
  setTimeout(() => htmx.trigger(target, "input"), 2000); // no connection
});

// The tabs of a browser share one session. When another tab switches to another workspace, a page
// of the earlier one leads to the jobs: its forms would act where nobody expects it.
const { workspace } = document.body.dataset;
if (workspace) {
  const tabs = new BroadcastChannel("workspace");
  tabs.addEventListener("message", ({ data }) => { if (data !== workspace) location.assign("/console"); });
  tabs.postMessage(workspace);
}
