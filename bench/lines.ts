// Prints lines at an even pace into named pipes: lines.ts <seconds> <lines per second> <pipe>…
// Each line has its number and the time it was written. Reports when all are written, and exits when its input ends.
import { openSync, writeSync } from 'node:fs'
import { preciseNow } from './figure.ts'

const [seconds, perSecond, ...pipes] = process.argv.slice(2) as [string, string, ...string[]]
const rate = Number(perSecond)
const total = Number(seconds) * rate
// Opened for reading too, so that opening does not wait for the other side.
const files = pipes.map(pipe => openSync(pipe, 'r+'))
const written = files.map(() => 0)
const started = performance.now()

const pacing = setInterval(() => {
  const passed = performance.now() - started
  for (const [i, file] of files.entries()) {
    // Each pipe is a little later than the one before, so that they do not all print at the same moment.
    const due = Math.min(total, Math.floor((passed * rate) / 1000 - i / files.length))
    for (; written[i]! < due; written[i]!++)
      writeSync(file, `${written[i]} ${preciseNow().toFixed(3)} ${'some words of an agent at work '.repeat(2)}\n`)
  }
  if (written.some(count => count < total)) return
  clearInterval(pacing)
  const { user, system } = process.cpuUsage()
  process.stdout.write(`${JSON.stringify({ seconds: passed / 1000, cpu: (user + system) / 1e6 })}\n`)
  process.stdin.on('end', () => process.exit()).resume()
}, 1)
