"use strict";

// The viewer of a job's frames: it moves between frames without loading pages, shows the
// small picture first and the file after it, plays at once, zooms to the pointer and
// compares two frames, of one job or of two. Without it the page shows one frame, and links lead to others.

const ahead = 12; // small pictures that are fetched before they are shown

// sizeOf is the size of a picture as the page says. Its width is that on the screen, which is 0
// before the page is laid out.
const sizeOf = (picture) => [Number(picture.getAttribute("width")), Number(picture.getAttribute("height"))];

class Viewer {
  constructor(box) {
    this.box = box;
    this.job = box.dataset.job;
    this.all = frameList.read(box.dataset.frames);
    this.fps = Number(box.dataset.fps);
    this.at = this.all.indexOf(Number(box.dataset.frame));
    this.stage = box.querySelector(".stage");
    this.picture = box.querySelector("#picture");
    this.size = sizeOf(this.picture);
    this.play = box.querySelector("[data-play]");
    this.zoom = box.querySelector("[data-zoom]");
    this.kept = new Map(); // small pictures by place
    this.scale = 0; // 0 fits the stage; 1 is one picture pixel for each of the screen
    this.controls();
    for (const end of ["load", "error"]) this.picture.addEventListener(end, () => this.lost());
    this.lost();
    this.fetchAround(this.at);
    const strip = box.querySelector("[data-strip]");
    if (strip && this.all.length > 1) this.strip = new Filmstrip(strip, this);
    new ResizeObserver(() => this.align()).observe(this.stage);
  }

  // lost says so where the picture cannot be shown, such as one that is too large.
  lost() {
    const line = this.box.querySelector("[data-lost]"), file = line?.querySelector("a");
    if (line) line.hidden = !this.picture.complete || this.picture.naturalWidth > 0;
    if (file) file.pathname = this.address(this.at) + "/file";
  }

  // others are the pictures that the current one is compared with.
  others() { return [...this.stage.querySelectorAll("img:not(#picture)")]; }

  controls() {
    if (this.zoom) {
      this.zoom.hidden = false;
      this.zoom.onclick = () => this.scaleTo(this.scale === 1 ? 0 : 1);
    }
    this.exposure();
    this.values();
    this.stage.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.scaleTo(this.shownScale() * 2 ** (-event.deltaY / 300), event);
    }, { passive: false });
    this.stage.addEventListener("dblclick", (event) => this.scaleTo(this.scale ? 0 : 1, event));
    this.drag();
    document.addEventListener("keydown", (event) => this.key(event));
    this.box.querySelectorAll("[data-compare]").forEach((button) => {
      button.onclick = () => this.compare(button.dataset.compare);
    });
    this.wipe = this.box.querySelector("[data-wipe]");
    if (this.wipe) this.wipe.oninput = () => this.stage.style.setProperty("--wipe", this.wipe.value + "%");
    if (this.all.length < 2) return;
    this.play.hidden = false;
    this.play.onclick = () => this.toggle();
    this.scrubber = this.box.querySelector("[data-scrub]");
    this.scrubber.hidden = false;
    this.scrubber.max = this.all.length - 1;
    this.scrubber.value = this.at;
    this.scrubber.oninput = () => { this.stop(); this.show(Number(this.scrubber.value)); };
  }

  // exposure shows OpenEXR as its form says while that changes.
  exposure() {
    const form = this.box.querySelector("[data-exposure]");
    if (!form) return;
    form.elements.exposure.step = "0.5";
    form.querySelector("button").hidden = true;
    form.onsubmit = (event) => event.preventDefault();
    form.oninput = (event) => {
      const query = new URLSearchParams(location.search);
      for (const [name, value] of new FormData(form)) query.set(name, value || (name === "exposure" ? "0" : ""));
      if (event.target.name === "layer") query.delete("channel"); // another layer has others
      history.replaceState(null, "", location.pathname + "?" + query);
      clearTimeout(this.exposing);
      this.exposing = setTimeout(() => this.settled(this.at), 200);
    };
  }

  // values shows the colours of the pixels under the pointer, as the browser shows them, and of
  // OpenEXR also its light, when the pointer rests.
  values() {
    const line = this.box.querySelector("[data-pixel]");
    if (!line) return;
    const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
    line.hidden = false; // empty, so that nothing moves when the pointer comes
    const place = (picture, { clientX, clientY }) => {
      const { left, top, width, height } = picture.getBoundingClientRect();
      const x = Math.floor((clientX - left) / width * picture.naturalWidth), y = Math.floor((clientY - top) / height * picture.naturalHeight);
      return picture.complete && x >= 0 && y >= 0 && x < picture.naturalWidth && y < picture.naturalHeight ? [x, y] : null;
    };
    const of = (picture, event) => {
      const at = place(picture, event);
      if (!at) return [];
      canvas.clearRect(0, 0, 1, 1);
      canvas.drawImage(picture, ...at, 1, 1, 0, 0, 1, 1);
      const [r, g, b] = canvas.getImageData(0, 0, 1, 1).data;
      return [`x ${at[0]}, y ${at[1]}: R ${r} G ${g} B ${b}`];
    };
    let last, asked;
    this.stage.addEventListener("pointermove", (event) => {
      last = event;
      asked ??= requestAnimationFrame(() => {
        asked = null;
        const whole = this.picture.naturalWidth === this.size[0]; // a small picture has other pixels
        const all = whole ? [this.picture, ...this.others()].flatMap((picture) => of(picture, last)) : [];
        line.textContent = all.join(" · ");
        if ("linear" in line.dataset) this.light(line, whole && place(this.picture, last));
      });
    });
    this.stage.addEventListener("pointerleave", () => { line.textContent = ""; this.light(line, null); });
  }

  // light adds what the file has at a pixel, which the service reads, to the line of values.
  light(line, at) {
    clearTimeout(this.resting);
    this.reading?.abort();
    if (!at) return;
    this.resting = setTimeout(async () => {
      const shown = line.textContent, reading = this.reading = new AbortController();
      const query = new URLSearchParams({ x: at[0], y: at[1], layer: new URLSearchParams(location.search).get("layer") ?? "" });
      try {
        const answer = await fetch(`${this.address(this.at)}/values?${query}`, { credentials: "same-origin", signal: reading.signal });
        const text = answer.ok && await answer.text();
        if (text && line.textContent === shown) line.textContent = `${shown} · in the file: ${text}`;
      } catch { /* the pointer has moved on, or the service is away */ }
    }, 150);
  }

  address(i) { return `${this.job}/frames/${this.all[i]}`; }

  // small is the small picture of a place, fetched once.
  small(i) {
    let image = this.kept.get(i);
    if (!image) {
      image = new Image();
      image.src = this.address(i) + "/small";
      this.kept.set(i, image);
      if (this.kept.size > 200) this.kept.delete(this.kept.keys().next().value); // the browser's cache has the rest
    }
    return image;
  }

  fetchAround(i) {
    for (let n = i - 1; n <= i + ahead; n++) if (n >= 0 && n < this.all.length) this.small(n);
  }

  // show puts a frame on the stage: its small picture at once, its file when it has come.
  show(i) {
    if (i < 0 || i >= this.all.length || i === this.at) return;
    this.at = i;
    const small = this.small(i);
    this.put(small.src);
    this.follow(this.all[i]);
    this.title();
    this.strip?.show(i);
    this.fetchAround(i);
    clearTimeout(this.settle);
    if (!this.timer) this.settle = setTimeout(() => this.settled(i), 150);
  }

  // follow shows the same frame of the other job, if two jobs are compared.
  follow(number) {
    const { other, otherFrames } = this.box.dataset, figure = this.stage.querySelector("figure + figure");
    if (!other || !figure) return;
    figure.hidden = !frameList.read(otherFrames)?.includes(number);
    if (!figure.hidden) figure.querySelector("img").src = `${other}/frames/${number}/small`;
  }

  put(address) {
    // The picture keeps the size of the file, so that nothing jumps.
    [this.picture.width, this.picture.height] = this.size;
    this.picture.src = address;
    this.align();
  }

  title() {
    const name = "Frame " + this.all[this.at];
    this.box.querySelector("h1, [data-name]").textContent = name;
    this.picture.alt = name;
    if (this.scrubber) this.scrubber.value = this.at;
    const field = this.box.querySelector("[data-frame-field]");
    if (field) field.value = this.all[this.at];
    const [mine, others] = this.stage.querySelectorAll("[data-number]");
    if (mine) mine.textContent = this.all[this.at];
    if (others && this.box.dataset.other) others.textContent = this.all[this.at];
    const end = this.box.querySelector("[data-end]");
    if (end) end.href = this.address(this.at);
  }

  // settled shows the file of the frame on which the viewer stays, and the page's text
  // about it. The address of the page follows, without a new entry in the history.
  async settled(i) {
    history.replaceState(null, "", this.address(i) + location.search);
    const small = "small" in this.box.dataset; // a shared page has the small pictures only
    if (small && !this.box.querySelector("[data-part]")) return;
    let page;
    try {
      const answer = await fetch(this.address(i) + location.search, { credentials: "same-origin" });
      if (!answer.ok) return;
      page = new DOMParser().parseFromString(await answer.text(), "text/html");
    } catch { return; } // the small picture stays
    if (i !== this.at) return;
    for (const part of this.box.querySelectorAll("[data-part]")) {
      const next = page.querySelector(`[data-part=${part.dataset.part}]`);
      if (next) part.replaceWith(next);
    }
    this.lost();
    if (small) return;
    if (typeof offerCopies === "function") offerCopies();
    const file = page.querySelector("#picture");
    this.opposite(page.querySelector(".stage figure + figure"));
    this.size = sizeOf(file);
    const image = new Image();
    image.src = file.src;
    try { await image.decode(); } catch { return; }
    if (i === this.at) this.put(image.src);
  }

  // opposite shows what the frame is compared with: nothing where the other job lacks it.
  opposite(figure) {
    const mine = this.stage.querySelector("figure + figure");
    if (!mine && figure) this.stage.append(figure);
    if (!mine) return;
    mine.hidden = !figure;
    const [now, next] = [mine, figure].map((f) => f?.querySelector("img"));
    if (next && now.src !== next.src) now.src = next.src;
    if (next) now.alt = next.alt;
  }

  // -- playing

  toggle() { if (this.timer) this.stop(); else this.start(); }

  start() {
    this.play.setAttribute("aria-pressed", "true");
    this.play.textContent = "Stop";
    this.timer = setInterval(() => {
      const next = (this.at + 1) % this.all.length;
      if (this.small(next).complete) this.show(next); // a picture that is late holds the film, as everywhere
      else this.fetchAround(next);
    }, 1000 / this.fps);
  }

  stop() {
    if (!this.timer) return;
    clearInterval(this.timer);
    this.timer = 0;
    this.play.setAttribute("aria-pressed", "false");
    this.play.textContent = "Play";
    this.settled(this.at);
  }

  // -- zoom

  shownScale() { return this.picture.getBoundingClientRect().width * devicePixelRatio / this.size[0] || 1; }

  // scaleTo shows the picture at a scale, so that what is under the pointer stays there.
  scaleTo(scale, pointer) {
    const pictures = [this.picture, ...this.others()];
    const before = this.picture.getBoundingClientRect();
    const stage = this.stage.getBoundingClientRect();
    const x = pointer?.clientX ?? stage.left + stage.width / 2, y = pointer?.clientY ?? stage.top + stage.height / 2;
    const share = [(x - before.left) / before.width, (y - before.top) / before.height];
    this.scale = scale && Math.min(16, Math.max(0.05, scale));
    const on = this.scale > 0;
    this.stage.classList.toggle("actual", on);
    for (const picture of pictures) {
      picture.style.width = on ? this.size[0] * this.scale / devicePixelRatio + "px" : "";
      picture.style.height = on ? this.size[1] * this.scale / devicePixelRatio + "px" : "";
      picture.style.imageRendering = this.scale >= 2 ? "pixelated" : "";
    }
    const after = this.picture.getBoundingClientRect();
    this.align();
    if (on) this.stage.scrollBy(after.left + share[0] * after.width - x, after.top + share[1] * after.height - y);
    if (!this.zoom) return;
    this.zoom.setAttribute("aria-pressed", String(on));
    this.zoom.textContent = on ? `Fit (${Math.round(this.scale * 100)} %)` : "Actual pixels";
  }

  // drag moves a zoomed picture, and pinches it with two fingers.
  drag() {
    const fingers = new Map();
    const apart = () => {
      const [a, b] = [...fingers.values()];
      return Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
    };
    this.stage.addEventListener("pointerdown", (event) => {
      if (event.target.closest("input")) return;
      fingers.set(event.pointerId, event);
      this.stage.setPointerCapture(event.pointerId);
    });
    this.stage.addEventListener("pointermove", (event) => {
      const last = fingers.get(event.pointerId);
      if (!last) return;
      if (fingers.size === 1 && this.scale) this.stage.scrollBy(last.clientX - event.clientX, last.clientY - event.clientY);
      const before = fingers.size === 2 && apart();
      fingers.set(event.pointerId, event);
      if (before) this.scaleTo(this.shownScale() * apart() / before, event);
    });
    for (const end of ["pointerup", "pointercancel"]) this.stage.addEventListener(end, (event) => fingers.delete(event.pointerId));
  }

  // -- comparing

  // compare lays the pictures side by side, over each other with a wipe, or subtracts them.
  compare(how) {
    for (const name of ["both", "wipe", "difference"]) this.stage.classList.toggle(name, name === how);
    if (this.wipe) this.wipe.hidden = how !== "wipe";
    this.align();
    this.box.querySelectorAll("[data-compare]").forEach((b) => b.setAttribute("aria-pressed", String(b.dataset.compare === how)));
  }

  // align gives pictures that lie over each other one size, whatever sizes they have.
  align() {
    if (this.scale) return;
    const over = this.stage.matches(".wipe, .difference"), { width, height } = this.picture.getBoundingClientRect();
    for (const other of this.others()) {
      other.style.width = over && width ? width + "px" : "";
      other.style.height = over && width ? height + "px" : "";
    }
  }

  key(event) {
    if (event.target.closest("input, textarea, select") || event.metaKey || event.ctrlKey || event.altKey) return;
    const step = (to) => { this.stop(); this.show(to); };
    const does = {
      PageUp: () => event.target.closest("[data-strip]") ? step(Math.max(0, this.at - 10)) : false, PageDown: () => event.target.closest("[data-strip]") ? step(Math.min(this.all.length - 1, this.at + 10)) : false,
      ArrowLeft: () => step(this.at - 1), ArrowRight: () => step(this.at + 1), Home: () => step(0), End: () => step(this.all.length - 1),
      "+": () => this.scaleTo(this.shownScale() * 1.5), "-": () => this.scaleTo(this.shownScale() / 1.5), "0": () => this.scaleTo(0), "1": () => this.scaleTo(1),
      " ": () => { if (event.target.closest("button, a, summary")) return false; this.toggle(); return true; },
    }[event.key];
    if (!does || (this.scale && event.key.startsWith("Arrow") && event.target === this.stage)) return;
    if (does() !== false) event.preventDefault();
  }
}

for (const box of document.querySelectorAll("[data-viewer]")) new Viewer(box);
