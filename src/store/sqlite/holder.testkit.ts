/** A process that holds a home until its standard input ends, and prints the pid of a child that lives on. */
import { spawn } from 'node:child_process'
import { takeLock } from './lock.ts'

const [home] = process.argv.slice(2) as [string]
const lock = takeLock(home)
if (lock) {
  await lock.announce({
    pid: process.pid,
    started: 'then',
    version: '1',
    host: 'here',
    url: null,
    settings: {},
    flags: {},
  })
  const child = spawn('sleep', ['60'], { detached: true, stdio: 'ignore' })
  child.unref()
  console.log(child.pid)
  process.stdin.resume().on('end', () => process.exit())
} else {
  console.log('refused')
}
