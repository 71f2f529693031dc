"use strict";

// The timeline of a job's page: a bar for the render time of each frame. Frames are selected by
// dragging, by keys, or in the field below, which always has the selection. Without this script
// the page has a chart and the field.
{
  const barsHigh = 120, axisHigh = 22, widest = 24, thickest = 40; // pixels; widest of a frame that is zoomed, thickest of a bar

  const element = (tag, more, ...children) => {
    const made = Object.assign(document.createElement(tag), more);
    made.append(...children);
    return made;
  };

  class Timeline {
    constructor(box) {
      this.box = box;
      this.at = 0; // where the keyboard is
      this.selected = new Set(); // places, not numbers
      this.build();
      this.read();
      this.px = 0; // of a frame; 0 shows the whole job
      new ResizeObserver(() => this.draw()).observe(this.box);
      matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
      new MutationObserver(() => { this.read(); this.draw(); }).observe(box, { attributes: true, attributeFilter: ["data-times", "data-frames", "data-flags"] });
      this.follow();
    }

    // read takes what the service says of the frames.
    read() {
      const { frames, times, flags } = this.box.dataset;
      this.frames = frameList.read(frames) ?? [];
      this.times = times.split(",").map(Number);
      this.slowest = Math.max(...this.times);
      const places = new Map(this.frames.map((n, i) => [n, i]));
      this.flags = new Map();
      for (const part of flags.split(";").filter(Boolean)) {
        const [finding, list] = part.split(" ");
        for (const n of frameList.read(list) ?? []) this.flags.set(places.get(n), finding);
      }
      this.scroll.ariaValueMin = this.frames[0];
      this.scroll.ariaValueMax = this.frames.at(-1);
    }

    build() {
      this.bars = element("canvas", { className: "bars" });
      this.axis = element("canvas", { className: "ticks" });
      this.view = element("div", { className: "view" }, this.bars, this.axis);
      this.wide = element("div", {}, this.view);
      this.scroll = element("div", { className: "scroller", tabIndex: 0, role: "slider", ariaLabel: "Frames by render time. Arrow keys move, Shift selects, Space adds a frame, Enter opens it." }, this.wide);
      this.words = element("span", { className: "dim" });
      const zoom = (name, label, by) => element("button", { type: "button", className: "quiet small", textContent: name, ariaLabel: label, onclick: () => this.zoom(by) });
      const key = (name, of) => element("span", { className: "key-of " + of }, element("i"), name);
      this.keys = element("span", { className: "keys" }, key("Render time", "taken"), key("To check", "flagged"), key("Selected", "selected"));
      this.zooms = element("span", { className: "zooms" }, zoom("−", "Zoom the timeline out", 0.5), zoom("+", "Zoom the timeline in", 2));
      this.box.querySelector("figure").hidden = true;
      this.box.append(this.scroll, element("div", { className: "head" }, this.words, this.keys, this.zooms));
      this.scroll.onscroll = () => this.soon();
      this.scroll.onkeydown = (event) => this.key(event);
      this.scroll.onfocus = () => this.draw();
      this.scroll.onblur = () => this.draw();
      this.scroll.addEventListener("wheel", (event) => {
        if (!event.ctrlKey) return;
        event.preventDefault();
        this.zoom(2 ** (-event.deltaY / 200), event);
      }, { passive: false });
      this.bars.onpointerdown = (event) => this.drag(event);
      this.bars.onpointermove = (event) => { if (!this.dragging) this.say(this.place(event)); };
      this.bars.onpointerleave = () => this.told();
      this.bars.ondblclick = (event) => this.open(this.place(event));
    }

    // follow binds the timeline to the field of the selection, which htmx may replace.
    follow() {
      document.addEventListener("input", (event) => { if (event.target === this.field()) this.typed(); });
      document.addEventListener("click", (event) => {
        const button = event.target.closest?.("[data-select]");
        if (button) this.set(frameList.read(button.dataset.select) ?? []);
      });
      this.typed();
    }

    field() { return document.querySelector("[data-selection] [name=frames]"); }

    typed() {
      const numbers = new Set(frameList.read(this.field()?.value ?? "") ?? []);
      this.selected = new Set(this.frames.flatMap((n, i) => numbers.has(n) ? [i] : []));
      this.draw();
    }

    set(numbers) {
      const field = this.field();
      if (!field) return;
      field.value = frameList.write(numbers);
      this.typed();
    }

    choose(places) { this.set([...places].sort((a, b) => a - b).map((i) => this.frames[i])); }

    // -- drawing

    fit() { return this.scroll.clientWidth / this.frames.length; }

    scale() { return Math.max(this.px, this.fit()); }

    soon() { this.frame ??= requestAnimationFrame(() => { this.frame = null; this.draw(); }); }

    colours() {
      const of = (name) => getComputedStyle(this.keys.querySelector(`.${name} i`)).backgroundColor;
      const text = getComputedStyle(this.words);
      return { taken: of("taken"), flagged: of("flagged"), selected: of("selected"), text: text.color, font: `${text.fontSize} ${text.fontFamily}` };
    }

    // draw draws what is visible: its cost does not grow with the job.
    draw() {
      const wide = this.scroll.clientWidth, px = this.scale();
      if (!wide || !this.frames.length) return;
      this.wide.style.width = Math.max(wide, px * this.frames.length) + "px";
      const left = this.scroll.scrollLeft;
      const colours = this.colours(), bars = this.canvas(this.bars, wide, barsHigh), axis = this.canvas(this.axis, wide, axisHigh);
      const first = Math.floor(left / px), last = Math.min(this.frames.length - 1, Math.ceil((left + wide) / px));
      for (let x = 0, i = first; i <= last; x++) { // at most one bar for each pixel
        let slowest = 0, flagged = false, selected = false;
        const from = i * px - left;
        for (const until = from + Math.max(px, 1); i <= last && i * px - left < until - 1e-6; i++) {
          slowest = Math.max(slowest, this.times[i]);
          flagged ||= this.flags.has(i);
          selected ||= this.selected.has(i);
        }
        const thick = Math.max(px, 1), gap = thick > 4 ? 1 : 0;
        if (selected) {
          bars.fillStyle = colours.selected;
          bars.fillRect(from, 0, thick, barsHigh);
        }
        bars.fillStyle = flagged ? colours.flagged : colours.taken;
        bars.globalAlpha = selected || this.selected.size === 0 ? 1 : 0.4;
        const high = slowest ? Math.max(2, 0.9 * barsHigh * slowest / this.slowest) : flagged ? 2 : 0;
        bars.fillRect(from + gap / 2, barsHigh - high, Math.min(thick - gap, thickest), high);
        bars.globalAlpha = 1;
      }
      bars.fillStyle = colours.flagged; // a bar of a pixel is easily overlooked
      for (const i of this.flags.keys()) if (i >= first && i <= last) bars.fillRect((i + 0.5) * px - left - 3, 0, 6, 6);
      this.mark(bars, px, left, colours);
      this.ticks(axis, first, last, px, left, colours);
      this.zooms.children[0].disabled = px <= this.fit();
      this.zooms.children[1].disabled = px >= widest;
      this.told();
    }

    canvas(canvas, wide, high) {
      const dots = devicePixelRatio;
      if (canvas.width !== Math.round(wide * dots) || canvas.height !== Math.round(high * dots)) {
        canvas.width = Math.round(wide * dots);
        canvas.height = Math.round(high * dots);
        canvas.style.width = wide + "px";
        canvas.style.height = high + "px";
      }
      const context = canvas.getContext("2d");
      context.setTransform(dots, 0, 0, dots, 0, 0);
      context.clearRect(0, 0, wide, high);
      return context;
    }

    // mark shows where the keyboard is.
    mark(bars, px, left, colours) {
      if (document.activeElement !== this.scroll) return;
      bars.strokeStyle = colours.text;
      bars.lineWidth = 1;
      bars.strokeRect(Math.round(this.at * px - left) + 0.5, 0.5, Math.max(2, Math.round(px) - 1), barsHigh - 1);
    }

    ticks(axis, first, last, px, left, colours) {
      axis.fillStyle = colours.text;
      axis.font = colours.font;
      axis.textBaseline = "top";
      let every = 1;
      for (let n = 0; every * px < 64; n++) every *= [2, 2.5, 2][n % 3]; // 1, 2, 5, 10, …
      const [begin, end] = [this.frames[0], this.frames.at(-1)];
      const round = end - begin === this.frames.length - 1 ? (every - begin % every) % every : 0; // labels are round numbers
      for (let i = round + Math.max(0, Math.ceil((first - round) / every)) * every; i <= last; i += every) {
        const x = i * px - left, text = String(this.frames[i]), room = axis.measureText(text).width;
        if (x + room <= this.scroll.clientWidth) axis.fillText(text, Math.max(2, x), 5);
      }
    }

    about(i) {
      const time = this.times[i], found = this.flags.get(i);
      return `Frame ${this.frames[i]}: ${time ? time + " s" : "no render time"}${found ? ", " + found : ""}`;
    }

    say(i) { this.words.textContent = this.about(i); }

    // told says what is selected, and to screen readers where the keyboard is.
    told() {
      this.scroll.ariaValueNow = this.frames[this.at];
      this.scroll.ariaValueText = this.about(this.at) + (this.selected.has(this.at) ? ", selected" : "");
      const seconds = [...this.selected].reduce((n, i) => n + this.times[i], 0);
      this.words.textContent = this.selected.size === 0 ? "Drag to select frames"
        : this.selected.size === 1 ? this.about([...this.selected][0])
        : `${this.selected.size.toLocaleString("en")} frames selected, rendered in ${seconds < 100 ? seconds.toFixed(1) : Math.round(seconds).toLocaleString("en")} s`;
    }

    // -- selecting

    place(event) {
      const x = event.clientX - this.scroll.getBoundingClientRect().left + this.scroll.scrollLeft;
      return Math.max(0, Math.min(this.frames.length - 1, Math.floor(x / this.scale())));
    }

    // drag selects from where it begins to where it ends. With Shift or Ctrl it adds to what is
    // selected. At the edges the timeline scrolls.
    drag(event) {
      if (event.button !== 0) return;
      const begun = this.place(event), kept = event.shiftKey || event.ctrlKey || event.metaKey ? new Set(this.selected) : new Set();
      this.dragging = event;
      this.bars.setPointerCapture(event.pointerId);
      const select = () => {
        const now = this.place(this.dragging), [from, to] = now < begun ? [now, begun] : [begun, now];
        const places = new Set(kept);
        for (let i = from; i <= to; i++) places.add(i);
        this.at = now;
        this.choose(places);
      };
      const edge = () => {
        if (!this.dragging) return;
        const { left, right } = this.scroll.getBoundingClientRect(), x = this.dragging.clientX;
        const by = x < left + 24 ? -12 : x > right - 24 ? 12 : 0;
        const before = this.scroll.scrollLeft;
        if (by && this.moved) this.scroll.scrollLeft += by;
        if (this.scroll.scrollLeft !== before) select();
        requestAnimationFrame(edge);
      };
      this.moved = false;
      this.bars.onpointermove = (move) => {
        if (!this.dragging) return this.say(this.place(move));
        this.moved ||= Math.abs(move.clientX - event.clientX) > 3;
        this.dragging = move;
        select();
      };
      this.bars.onpointerup = this.bars.onpointercancel = () => { this.dragging = null; };
      select();
      requestAnimationFrame(edge);
    }

    key(event) {
      if (event.altKey || event.metaKey) return;
      const last = this.frames.length - 1;
      const to = { ArrowLeft: this.at - 1, ArrowDown: this.at - 1, ArrowRight: this.at + 1, ArrowUp: this.at + 1, PageUp: this.at + 10, PageDown: this.at - 10, Home: 0, End: last }[event.key];
      if (to !== undefined) {
        const was = this.at;
        this.at = Math.max(0, Math.min(last, to));
        if (event.shiftKey) {
          this.anchor ??= was;
          const [from, until] = [this.anchor, this.at].sort((a, b) => a - b);
          this.choose(Array.from({ length: until - from + 1 }, (_, i) => from + i));
        } else this.anchor = null;
        this.reveal();
      } else if (event.key === " ") {
        const places = new Set(this.selected);
        if (!places.delete(this.at)) places.add(this.at);
        this.choose(places);
      } else if (event.key === "Escape") this.choose([]);
      else if (event.key === "Enter") this.open(this.at);
      else if (event.key === "+" || event.key === "-") this.zoom(event.key === "+" ? 2 : 0.5);
      else return;
      event.preventDefault();
      this.draw();
      if (to !== undefined && !event.shiftKey) this.say(this.at);
    }

    // reveal scrolls to where the keyboard is.
    reveal() {
      const px = this.scale(), x = this.at * px, { scrollLeft, clientWidth } = this.scroll;
      if (x < scrollLeft) this.scroll.scrollLeft = x;
      else if (x + px > scrollLeft + clientWidth) this.scroll.scrollLeft = x + px - clientWidth;
    }

    // zoom keeps what is under the pointer where it is, or the last frame that was chosen, or the
    // middle.
    zoom(by, pointer) {
      const { left } = this.scroll.getBoundingClientRect(), { scrollLeft, clientWidth } = this.scroll, before = this.scale();
      const chosen = (this.at + 0.5) * before - scrollLeft, visible = chosen > 0 && chosen < clientWidth;
      const x = pointer ? pointer.clientX - left : visible && this.selected.size ? chosen : clientWidth / 2;
      const share = (this.scroll.scrollLeft + x) / before;
      this.px = Math.min(widest, before * by);
      if (this.px <= this.fit()) this.px = 0;
      this.draw();
      this.scroll.scrollLeft = share * this.scale() - x;
    }

    open(i) { location.href = `${this.box.dataset.job}/frames/${this.frames[i]}`; }
  }

  const made = new WeakSet();
  const begin = () => {
    for (const box of document.querySelectorAll("[data-timeline]")) {
      if (!made.has(box)) new Timeline(box);
      made.add(box);
      for (const button of document.querySelectorAll("[data-select]")) button.hidden = false;
    }
  };
  begin();
  document.addEventListener("htmx:after:swap", begin); // the first frames of a job may come later
}
