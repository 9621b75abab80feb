/** The same numbers every time, so that a failure can be reproduced. */
function seeded(seed: number) {
  let state = seed
  return (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return (state >>> 8) % below
  }
}

const ODD = [null, 0, -1, 1e308, '', 'x', '\u0000', [], {}, [null], true, { type: null }, { type: 'text' }]

/** Lines that a broken client might print: cut off, noise, or with something odd inside. */
export function* brokenLines(whole: readonly string[], count: number): Generator<string> {
  const random = seeded(1)
  const disturb = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null || random(4) === 0) return ODD[random(ODD.length)]
    const keys = Object.keys(value)
    if (!keys.length) return ODD[random(ODD.length)]
    const key = keys[random(keys.length)]!
    const copy = (Array.isArray(value) ? [...value] : { ...value }) as Record<string, unknown>
    copy[key] = disturb(copy[key])
    return copy
  }
  for (let i = 0; i < count; i++) {
    const line = whole[random(whole.length)]!
    const kind = random(3)
    if (kind === 0) yield line.slice(0, 1 + random(line.length - 1))
    else if (kind === 1) yield String.fromCharCode(...Array.from({ length: 1 + random(80) }, () => 33 + random(60_000)))
    else yield JSON.stringify(disturb(JSON.parse(line)))
  }
}
