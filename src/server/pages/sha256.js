/** SHA-256 for pages at an unencrypted address of another machine, where browsers offer none. */
const primes = Array.from({ length: 312 }, (_, n) => n).filter(
  n => n > 1 && !Array.from({ length: Math.floor(Math.sqrt(n)) - 1 }, (_, d) => d + 2).some(d => n % d === 0),
)
const fraction = root => ((root - Math.floor(root)) * 2 ** 32) | 0
const K = primes.slice(0, 64).map(prime => fraction(prime ** (1 / 3)))
const START = primes.slice(0, 8).map(prime => fraction(prime ** (1 / 2)))

const turned = (word, by) => (word >>> by) | (word << (32 - by))

/** @param {Uint8Array} bytes */
export function sha256(bytes) {
  const length = (bytes.length + 72) & ~63
  const padded = new Uint8Array(length)
  padded.set(bytes)
  padded[bytes.length] = 0x80
  const view = new DataView(padded.buffer)
  view.setUint32(length - 8, Math.floor(bytes.length / 2 ** 29))
  view.setUint32(length - 4, bytes.length << 3)
  const state = [...START]
  const words = new Int32Array(64)
  for (let block = 0; block < length; block += 64) {
    for (let at = 0; at < 16; at++) words[at] = view.getInt32(block + 4 * at)
    for (let at = 16; at < 64; at++) {
      const [a, b] = [words[at - 15], words[at - 2]]
      const near = turned(a, 7) ^ turned(a, 18) ^ (a >>> 3)
      const far = turned(b, 17) ^ turned(b, 19) ^ (b >>> 10)
      words[at] = words[at - 16] + near + words[at - 7] + far
    }
    mix(state, words)
  }
  const out = new DataView(new ArrayBuffer(32))
  state.forEach((word, at) => {
    out.setInt32(4 * at, word)
  })
  return new Uint8Array(out.buffer)
}

function mix(state, words) {
  let [a, b, c, d, e, f, g, h] = state
  for (let at = 0; at < 64; at++) {
    const one = (h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & f) ^ (~e & g)) + K[at] + words[at]) | 0
    const two = ((turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0
    ;[h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0]
  }
  ;[a, b, c, d, e, f, g, h].forEach((word, at) => {
    state[at] = (state[at] + word) | 0
  })
}

/** @param {Uint8Array} key at most 64 bytes */
export function hmac(key, bytes) {
  const padded = with_ => Uint8Array.from({ length: 64 }, (_, at) => (key[at] ?? 0) ^ with_)
  const joined = (a, b) => Uint8Array.from([...a, ...b])
  return sha256(joined(padded(0x5c), sha256(joined(padded(0x36), bytes))))
}
