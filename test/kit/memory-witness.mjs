// Preloaded into a server under test: on a signal it collects garbage and writes down the memory in use.
import { renameSync, writeFileSync } from 'node:fs'

process.on('SIGUSR2', () => {
  globalThis.gc()
  globalThis.gc()
  const { heapUsed, external, rss } = process.memoryUsage()
  // Renamed into place, so that a reader never sees half of it.
  const file = process.env.MEMORY_FILE
  writeFileSync(`${file}.new`, JSON.stringify({ held: heapUsed + external, rss }))
  renameSync(`${file}.new`, file)
})
