// Preloaded into a server under test: on a signal it lets go of what nobody holds and writes down what is left.
import { writeFileSync } from 'node:fs'

process.on('SIGUSR2', () => {
  globalThis.gc()
  globalThis.gc()
  const { heapUsed, external, rss } = process.memoryUsage()
  writeFileSync(process.env.MEMORY_FILE, JSON.stringify({ held: heapUsed + external, rss }))
})
