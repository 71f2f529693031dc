"use strict";

// What the guide does beyond HTML: it copies blocks of code, shows one language of a step at a
// time, and searches all pages by an index that it loads once. Every page works without it.

const make = (name, properties, ...children) => {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
};

// -- copying ------------------------------------------------------------------

if (navigator.clipboard) {
  for (const block of document.querySelectorAll(".prose .code")) {
    const button = make("button", { type: "button", className: "quiet small copy", textContent: "Copy" });
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(block.querySelector("code").textContent.trimEnd());
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
    block.append(button);
  }
}

// -- one language at a time -----------------------------------------------------

// The choice holds for every step of every page in this browser.
const chosen = "svc-guide-language";
const groups = [...document.querySelectorAll(".variants")];
const choose = (language) => {
  for (const group of groups) {
    const figures = [...group.querySelectorAll("figure")];
    const shown = figures.find((figure) => figure.dataset.tab === language) ?? figures.find((figure) => !figure.hidden) ?? figures[0];
    for (const figure of figures) figure.hidden = figure !== shown;
    for (const tab of group.querySelectorAll("[role=tab]")) {
      const on = tab.textContent === shown.dataset.tab;
      tab.setAttribute("aria-selected", on);
      tab.tabIndex = on ? 0 : -1;
    }
  }
};
groups.forEach((group, number) => {
  const list = make("div", { role: "tablist", className: "languages" });
  list.setAttribute("aria-label", "Language");
  for (const figure of group.querySelectorAll("figure")) {
    const language = figure.dataset.tab, tab = make("button", { type: "button", role: "tab", id: `tab-${number}-${language}`, textContent: language });
    figure.id = `panel-${number}-${language}`;
    figure.setAttribute("role", "tabpanel");
    figure.setAttribute("aria-labelledby", tab.id);
    figure.querySelector("figcaption").remove();
    tab.setAttribute("aria-controls", figure.id);
    tab.addEventListener("click", () => {
      const before = tab.getBoundingClientRect().top;
      localStorage.setItem(chosen, language);
      choose(language);
      scrollBy(0, tab.getBoundingClientRect().top - before); // steps above may have another height now
    });
    list.append(tab);
  }
  list.addEventListener("keydown", (event) => {
    const tabs = [...list.children], at = tabs.indexOf(event.target);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const tab = tabs[(to + tabs.length) % tabs.length];
    tab.click();
    tab.focus();
  });
  group.prepend(list);
  group.dataset.ready = "";
});
choose(localStorage.getItem(chosen));

// -- searching --------------------------------------------------------------------

const wordsOf = (text) => (text.toLowerCase().match(/[a-z0-9](?:[a-z0-9_.-]*[a-z0-9])?/g) ?? [])
  .map((word) => word.length > 3 && !word.endsWith("ss") ? word.replace(/s$/, "") : word)
  .filter((word) => word.length > 1 && word.length <= 32);

// What a word counts where it is found; the service ranks by the same numbers.
const [inTitle, startsTitle, inHeading, startsHeading, inText, startsText, isCommon] = [1000, 600, 100, 60, 10, 6, 1];
const most = 20;

const worth = (words, word, whole, start) => words.includes(word) ? whole : words.some((one) => one.startsWith(word)) ? start : 0;

// prepared reads the index: its words have the numbers of their pages as capital letters.
const prepared = ({ pages, words, common }) => {
  for (const page of pages) {
    page.words = wordsOf(page.t);
    for (const section of page.s) section.words = wordsOf(section.h);
  }
  const texts = [...words.matchAll(/([^A-Z]+)([A-Z]+)/g)].map(([, word, letters]) => {
    let number = -1;
    const numbers = [];
    for (const letter of letters) {
      number += letter.charCodeAt(0) - 64 - (letter === "Z");
      if (letter !== "Z") numbers.push(number);
    }
    return [word, numbers];
  });
  return { pages, texts, common: common.split(" ") };
};

const search = ({ pages, texts, common }, query) => {
  const words = wordsOf(query);
  if (!words.length) return [];
  const inTexts = words.map((word) => {
    const counts = new Map();
    for (const [one, numbers] of texts) {
      if (!one.startsWith(word)) continue;
      for (const number of numbers) counts.set(number, one === word ? inText : counts.get(number) ?? startsText);
    }
    return counts;
  });
  const found = [];
  pages.forEach((page, number) => {
    let rank = 0, complete = true;
    words.forEach((word, i) => {
      let best = Math.max(worth(page.words, word, inTitle, startsTitle), inTexts[i].get(number) ?? 0);
      for (const section of page.s) best = Math.max(best, worth(section.words, word, inHeading, startsHeading));
      if (!best && common.includes(word)) best = isCommon;
      rank += best;
      complete &&= best > 0;
    });
    if (complete) found.push({ page, rank });
  });
  found.sort((a, b) => b.rank - a.rank);
  return found.slice(0, most).map(({ page }) => hit(page, words));
};

// hit shows a page by the section whose heading has the most of the words.
const hit = (page, words) => {
  const count = (of) => words.reduce((n, word) => n + worth(of, word, 2, 1), 0);
  let best = null, n = count(page.words);
  for (const section of page.s) {
    const of = count(section.words);
    if (of > n) [best, n] = [section, of];
  }
  return {
    path: `/guide/${page.n}${best ? "#" + best.i : ""}`, title: page.t + (best ? ": " + best.h : ""), door: page.d, excerpt: best?.e || page.e,
  };
};

// marked shows the words of a query in a text.
const marked = (text, words) => {
  const longest = [...words].sort((a, b) => b.length - a.length).map((word) => word.replaceAll(".", "\\."));
  return text.split(new RegExp(`\\b(${longest.join("|")})`, "i")).map((part, i) => i % 2 ? make("mark", { textContent: part }) : part);
};

const form = document.querySelector(".guide-search"), field = form?.elements.q;
let index = null;
const load = () => {
  index ??= fetch(form.dataset.index).then((answer) => {
    if (!answer.ok) throw new Error(`${answer.status}`);
    return answer.json();
  }).then(prepared);
  index.catch(() => { index = null; }); // the next letter tries again
  return index;
};
if (form) {
  const box = make("div", { className: "hits-box", hidden: true });
  const told = make("p", { role: "status", className: "dim" }), list = make("ol", { className: "plain found" });
  box.append(told, list);
  form.append(box);
  const close = () => { box.hidden = true; };
  const show = async () => {
    const query = field.value, words = wordsOf(query);
    if (!words.length) return close();
    const hits = search(await load(), query);
    if (field.value !== query) return;
    told.textContent = hits.length ? `${hits.length} ${hits.length === 1 ? "page" : "pages"}` : `No page has “${query}”. Try fewer or shorter words.`;
    list.replaceChildren(...hits.map((one) => make("li", {},
      make("a", { href: one.path }, ...marked(one.title, words)), " ", make("small", { textContent: one.door }), make("p", {}, ...marked(one.excerpt, words)))));
    box.hidden = false;
  };
  const quietly = () => show().catch(close); // without the index, Search leads to the list of the service
  field.addEventListener("focus", () => load().catch(close), { once: true });
  field.addEventListener("input", quietly);
  form.addEventListener("submit", (event) => {
    const first = list.querySelector("a");
    if (box.hidden || !first) return;
    event.preventDefault();
    first.click();
  });
  // Arrows move between the field and the hits.
  form.addEventListener("keydown", (event) => {
    const stops = [field, ...list.querySelectorAll("a")], at = stops.indexOf(document.activeElement);
    if (event.key === "Escape") {
      close();
      field.focus();
    } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && !box.hidden && at >= 0) {
      event.preventDefault();
      stops[Math.min(Math.max(at + (event.key === "ArrowDown" ? 1 : -1), 0), stops.length - 1)].focus();
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || event.target.closest?.("input, textarea, select")) return;
    event.preventDefault();
    field.focus();
    field.select();
  });
  document.addEventListener("click", (event) => { if (!form.contains(event.target)) close(); });
  list.addEventListener("click", close); // a hit on this page leads to a section
}
