import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants, openSync } from 'node:fs'
import { Socket } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Driver, Exit } from '../agents/contract.ts'
import { Queue } from '../agents/queue.ts'
import { effect } from '../platform/effects.ts'
import { appendPlain } from '../platform/launch-folder.ts'
import { exitOf, type Job, type JobSpec, makeStreams, WRAPPER } from './jobs.ts'
import { identityOf } from './processes.ts'

/**
 * A client that is spoken to by a library of its maker inside this process: the same files, the same wrapper around the
 * client, but what stands between the two is the library. It ends with this process.
 */
export async function startDriven(spec: JobSpec, driver: Driver): Promise<Job> {
  const { directory, cwd } = spec
  await makeStreams(spec)
  const input = openFifo(join(directory, 'stdin'))
  const said = new Queue<string>()
  createInterface({ input }).on('line', line => said.add(line))
  const letGo = () => {
    said.end()
    input.destroy()
  }
  const started = Promise.withResolvers<ChildProcess>()
  const drive = driver({
    env: spec.env,
    said,
    print: line => appendPlain(join(directory, 'stdout'), `${line}\n`),
    start(command, args, env) {
      const wrapped = [WRAPPER, directory, 'piped', String(spec.maxBytes), command, ...args]
      // What the wrapper itself might print is nobody's: the client's own errors go to a file.
      const child = spawn('/bin/sh', wrapped, { cwd, env, detached: true, stdio: ['pipe', 'pipe', 'ignore'] })
      // A client that ends before it read everything closes the pipe; its exit code says why.
      child.stdin.on('error', () => {})
      started.resolve(child)
      return child
    },
  })
  const driven = drive
    .then(
      () => started.reject(new Error('It was never started.')),
      error => started.reject(error),
    )
    .finally(letGo)
  const child = await effect(spec.effect, () => started.promise)
  const root = child.pid === undefined ? null : (identityOf(child.pid) ?? null)
  // Everything it said is printed before its end is told.
  const exited: Promise<Exit> = Promise.all([driven, gone(child)]).then(() => exitOf(directory, root))
  return { directory, root, exited, letGo }
}

/** Held open for writing too, so that no message ends it; waiting for one takes none of the few threads there are. */
function openFifo(path: string): Socket {
  const fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK)
  return new Socket({ fd, readable: true, writable: false })
}

const gone = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
}
