// Preloaded into a server. Records the effects it passes, and kills it at the one that the environment names.
import { appendFileSync } from 'node:fs'

const { CHAOS_REACHED, CHAOS_KILL } = process.env
const passed = new Map<string, number>()
let all = 0

Object.assign(globalThis, {
  [Symbol.for('flotilla.effects')](name: string, moment: string) {
    const point = `${name} ${moment}`
    const nth = (passed.get(point) ?? 0) + 1
    passed.set(point, nth)
    appendFileSync(CHAOS_REACHED!, `${point} ${nth}\n`)
    if ([`${point} ${nth}`, `any ${++all}`].includes(CHAOS_KILL!)) process.kill(process.pid, 'SIGKILL')
  },
})
