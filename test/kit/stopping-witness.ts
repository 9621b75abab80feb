// Preloaded into a server. Stops it (SIGSTOP) before the act that the environment names, once its file is there.
import { existsSync, rmSync, writeFileSync } from 'node:fs'

const { STOP_AT, STOP_FILE } = process.env
let stoppedAt: string | undefined

Object.assign(globalThis, {
  [Symbol.for('flotilla.effects')](name: string, moment: string) {
    if (moment === 'after') {
      if (stoppedAt === name) writeFileSync(`${STOP_FILE}.done`, '')
      return
    }
    if (name !== STOP_AT || stoppedAt || !existsSync(STOP_FILE!)) return
    stoppedAt = name
    rmSync(STOP_FILE!)
    writeFileSync(`${STOP_FILE}.stopped`, '')
    process.kill(process.pid, 'SIGSTOP')
    // What it does next is either the act or the refusal.
    setTimeout(() => existsSync(`${STOP_FILE}.done`) || writeFileSync(`${STOP_FILE}.refused`, ''), 1500)
  },
})
