"use strict";

// The filmstrip below the viewer: small pictures of the frames around the current one. However
// long the job, only the links that are visible exist, and a picture is fetched only where the
// strip stays.
class Filmstrip {
  static #wide = 116; // of a frame, with its gap
  static #spare = 4; // frames that exist beyond each edge

  // of the viewer it takes its frames, address and the one that is shown.
  constructor(box, viewer) {
    this.viewer = viewer;
    this.links = new Map(); // by place
    this.row = document.createElement("div");
    this.row.style.width = viewer.all.length * Filmstrip.#wide + "px";
    this.scroll = box;
    box.hidden = false;
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", "Filmstrip");
    box.append(this.row);
    box.addEventListener("scroll", () => { this.frame ??= requestAnimationFrame(() => { this.frame = null; this.draw(); }); }, { passive: true });
    new ResizeObserver(() => this.draw()).observe(box);
    this.show(viewer.at);
  }

  // show marks a frame as the current one, and scrolls to it if it is not visible.
  show(i) {
    const x = i * Filmstrip.#wide, { scrollLeft, clientWidth } = this.scroll, focused = this.scroll.contains(document.activeElement);
    if (x < scrollLeft || x + Filmstrip.#wide > scrollLeft + clientWidth) this.scroll.scrollLeft = x - (clientWidth - Filmstrip.#wide) / 2;
    this.draw();
    for (const [n, link] of this.links) this.mark(n, link);
    if (focused) this.links.get(i).focus({ preventScroll: true });
  }

  mark(i, link) {
    const here = i === this.viewer.at;
    link.tabIndex = here ? 0 : -1; // arrow keys move between frames
    if (here) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }

  draw() {
    const { scrollLeft, clientWidth } = this.scroll, last = this.viewer.all.length - 1;
    const from = Math.max(0, Math.floor(scrollLeft / Filmstrip.#wide) - Filmstrip.#spare);
    const to = Math.min(last, Math.ceil((scrollLeft + clientWidth) / Filmstrip.#wide) + Filmstrip.#spare);
    for (const [i, link] of this.links) {
      if (i >= from && i <= to || i === this.viewer.at) continue;
      link.remove();
      this.links.delete(i);
    }
    for (let i = from; i <= to; i++) this.add(i);
    this.add(this.viewer.at); // it can have the focus
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.load(), 120);
  }

  add(i) {
    if (this.links.has(i)) return;
    const link = document.createElement("a"), picture = new Image(100, 56), number = this.viewer.all[i];
    picture.alt = "";
    link.href = this.viewer.address(i);
    link.setAttribute("aria-label", "Frame " + number);
    link.style.left = i * Filmstrip.#wide + "px";
    link.append(picture, number);
    link.onclick = (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      this.viewer.stop();
      this.viewer.show(i);
    };
    this.mark(i, link);
    this.links.set(i, link);
    this.row.append(link);
  }

  load() {
    for (const [i, link] of this.links) {
      const picture = link.firstChild;
      if (!picture.src) picture.src = this.viewer.address(i) + "/small";
    }
  }
}
