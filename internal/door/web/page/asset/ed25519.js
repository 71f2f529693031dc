"use strict";

// SHA-256, SHA-512 and the check of an Ed25519 signature (RFC 8032), for browsers that offer
// none here: those over plain http, and old ones. Slower than the browser's own, and never
// used where that works. It only verifies: there is no secret that its timing could reveal.

const arithmetic = (() => {
  const bits64 = (1n << 64n) - 1n;
  const primes = [];
  for (let n = 2; primes.length < 80; n++) if (primes.every((p) => n % p)) primes.push(n);

  // fraction is the first 64 bits after the point of the k-th root of n: the constants of
  // SHA-2 (FIPS 180-4 4.2).
  function fraction(n, k) {
    const target = BigInt(n) << (64n * k);
    let low = 0n, high = 1n << 72n;
    while (high - low > 1n) {
      const middle = (low + high) >> 1n;
      if (middle ** k <= target) low = middle; else high = middle;
    }
    return low & bits64;
  }
  const rounds = primes.map((p) => fraction(p, 3n));
  const start = primes.slice(0, 8).map((p) => fraction(p, 2n));

  // padded is the message with its padding, for blocks of so many bytes.
  function padded(message, block) {
    const length = block / 8;
    const all = new Uint8Array(Math.ceil((message.length + 1 + length) / block) * block);
    all.set(message);
    all[message.length] = 0x80;
    new DataView(all.buffer).setBigUint64(all.length - 8, BigInt(message.length) * 8n);
    return all;
  }

  function sha256(message) {
    const k = rounds.slice(0, 64).map((r) => Number(r >> 32n));
    const h = start.map((s) => Number(s >> 32n));
    const data = padded(message, 64), view = new DataView(data.buffer), w = new Uint32Array(64);
    const turn = (x, n) => (x >>> n) | (x << (32 - n));
    for (let at = 0; at < data.length; at += 64) {
      for (let i = 0; i < 16; i++) w[i] = view.getUint32(at + 4 * i);
      for (let i = 16; i < 64; i++) {
        const x = w[i - 15], y = w[i - 2];
        w[i] = w[i - 16] + (turn(x, 7) ^ turn(x, 18) ^ (x >>> 3)) + w[i - 7] + (turn(y, 17) ^ turn(y, 19) ^ (y >>> 10));
      }
      let [a, b, c, d, e, f, g, z] = h;
      for (let i = 0; i < 64; i++) {
        const t = (z + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + k[i] + w[i]) | 0;
        const u = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
        z = g; g = f; f = e; e = (d + t) | 0; d = c; c = b; b = a; a = (t + u) | 0;
      }
      [a, b, c, d, e, f, g, z].forEach((v, i) => { h[i] = (h[i] + v) | 0; });
    }
    const out = new DataView(new ArrayBuffer(32));
    h.forEach((v, i) => out.setInt32(4 * i, v));
    return new Uint8Array(out.buffer);
  }

  function sha512(message) {
    const h = start.slice();
    const data = padded(message, 128), view = new DataView(data.buffer), w = [];
    const turn = (x, n) => (x >> n) | ((x << (64n - n)) & bits64);
    for (let at = 0; at < data.length; at += 128) {
      for (let i = 0; i < 16; i++) w[i] = view.getBigUint64(at + 8 * i);
      for (let i = 16; i < 80; i++) {
        const x = w[i - 15], y = w[i - 2];
        w[i] = (w[i - 16] + (turn(x, 1n) ^ turn(x, 8n) ^ (x >> 7n)) + w[i - 7] + (turn(y, 19n) ^ turn(y, 61n) ^ (y >> 6n))) & bits64;
      }
      let [a, b, c, d, e, f, g, z] = h;
      for (let i = 0; i < 80; i++) {
        const t = (z + (turn(e, 14n) ^ turn(e, 18n) ^ turn(e, 41n)) + ((e & f) ^ (~e & bits64 & g)) + rounds[i] + w[i]) & bits64;
        const u = (turn(a, 28n) ^ turn(a, 34n) ^ turn(a, 39n)) + ((a & b) ^ (a & c) ^ (b & c));
        z = g; g = f; f = e; e = (d + t) & bits64; d = c; c = b; b = a; a = (t + u) & bits64;
      }
      [a, b, c, d, e, f, g, z].forEach((v, i) => { h[i] = (h[i] + v) & bits64; });
    }
    const out = new DataView(new ArrayBuffer(64));
    h.forEach((v, i) => out.setBigUint64(8 * i, v));
    return new Uint8Array(out.buffer);
  }

  const field = (1n << 255n) - 19n;
  const order = (1n << 252n) + 27742317777372353535851937790883648493n;
  const mod = (x) => ((x % field) + field) % field;
  function power(x, n) {
    let result = 1n;
    for (x = mod(x); n > 0n; n >>= 1n, x = mod(x * x)) if (n & 1n) result = mod(result * x);
    return result;
  }
  const inverse = (x) => power(x, field - 2n);
  const curve = mod(-121665n * inverse(121666n));
  const little = (bytes) => bytes.reduceRight((n, b) => (n << 8n) | BigInt(b), 0n);

  // Points are extended coordinates [x, y, z, t] (RFC 8032 5.1.4).
  function add([x1, y1, z1, t1], [x2, y2, z2, t2]) {
    const a = mod((y1 - x1) * (y2 - x2)), b = mod((y1 + x1) * (y2 + x2));
    const c = mod(2n * curve * t1 * t2), d = mod(2n * z1 * z2);
    const e = b - a, f = d - c, g = d + c, h = b + a;
    return [mod(e * f), mod(g * h), mod(f * g), mod(e * h)];
  }
  function times(n, point) {
    let sum = [0n, 1n, 1n, 0n];
    for (; n > 0n; n >>= 1n, point = add(point, point)) if (n & 1n) sum = add(sum, point);
    return sum;
  }

  // point decodes 32 bytes; null when they are no point (RFC 8032 5.1.3).
  function point(bytes) {
    const all = little(bytes), sign = all >> 255n, y = all & ((1n << 255n) - 1n);
    if (y >= field) return null;
    const u = mod(y * y - 1n), v = mod(curve * y * y + 1n);
    let x = mod(u * v ** 3n * power(u * v ** 7n, (field - 5n) / 8n));
    if (mod(v * x * x) === mod(-u)) x = mod(x * power(2n, (field - 1n) / 4n));
    if (mod(v * x * x) !== u || (x === 0n && sign)) return null;
    if ((x & 1n) !== sign) x = field - x;
    return [x, y, 1n, mod(x * y)];
  }
  const y0 = mod(4n * inverse(5n)), base = () => {
    const bytes = Uint8Array.from({ length: 32 }, (_, i) => Number((y0 >> BigInt(8 * i)) & 255n));
    return point(bytes);
  };

  // verify reports whether a signature of 64 bytes is the key's over the message.
  function verify(key, signature, message) {
    if (key.length !== 32 || signature.length !== 64) return false;
    const a = point(key), r = point(signature.slice(0, 32)), s = little(signature.slice(32));
    if (!a || !r || s >= order) return false;
    const joined = new Uint8Array(64 + message.length);
    joined.set(signature.slice(0, 32)); joined.set(key, 32); joined.set(message, 64);
    const left = times(s, base()), right = add(r, times(little(sha512(joined)) % order, a));
    return mod(left[0] * right[2] - right[0] * left[2]) === 0n && mod(left[1] * right[2] - right[1] * left[2]) === 0n;
  }

  return { sha256, sha512, verify };
})();
