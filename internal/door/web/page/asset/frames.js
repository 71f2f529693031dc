"use strict";

// Lists of frames as people write them, such as "1-3,7,10-20:5".
const frameList = {
  // read gives the numbers of a list; null for a text that is none, or names more than most.
  read(text, most = 10_000) {
    const all = new Set();
    for (const word of text.trim().replace(/,$/, "").split(",")) {
      const found = /^\s*(\d{1,10})\s*(?:(?:-|–|\.\.)\s*(\d{1,10})\s*(?:[xX:]\s*(\d{1,10})\s*)?)?$/.exec(word);
      if (!found) return null;
      const [first, last, step] = [found[1], found[2] ?? found[1], found[3] ?? 1].map(Number);
      if (first < 1 || last < first || step < 1 || all.size + (last - first) / step >= most) return null;
      for (let n = first; n <= last; n += step) all.add(n);
    }
    return [...all].sort((a, b) => a - b);
  },

  // write makes a list of numbers in rising order.
  write(numbers) {
    const words = [];
    for (let i = 0; i < numbers.length;) {
      const step = numbers[i + 1] - numbers[i];
      let end = i;
      while (numbers[end + 1] - numbers[end] === step) end++;
      const long = end - i > (step === 1 ? 0 : 1); // two frames that are apart are shorter as they are
      if (!long) end = i;
      words.push(long ? `${numbers[i]}-${numbers[end]}${step > 1 ? ":" + step : ""}` : numbers[i]);
      i = end + 1;
    }
    return words.join(",");
  },
};
