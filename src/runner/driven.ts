import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants, openSync } from 'node:fs'
import { Socket } from 'node:net'
import { createInterface } from 'node:readline'
import type { Driver, Exit } from '../agents/contract.ts'
import { Queue } from '../agents/queue.ts'
import { effect } from '../platform/effects.ts'
import { fileOf } from '../platform/launch-folder.ts'
import { localTranscript } from '../transcripts/index.ts'
import { exitOf, type Job, type JobSpec, makeStreams, WRAPPER } from './jobs.ts'
import { identityOf } from './processes.ts'

/**
 * Starts a client that a library of its maker drives inside this process. Files and wrapper are the same, with the
 * library between them. It ends with this process.
 */
export async function startDriven(spec: JobSpec, driver: Driver): Promise<Job> {
  const { directory, cwd } = spec
  await makeStreams(spec)
  const input = openFifo(fileOf(directory, 'stdin'))
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
    print: line => localTranscript(directory).append('stdout', line),
    start(command, args, env) {
      const wrapped = [WRAPPER, directory, 'piped', String(spec.maxBytes), command, ...args]
      // The wrapper's own output is dropped: the client's errors go to a file.
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
  // All its lines are printed before its end is reported.
  const exited: Promise<Exit> = Promise.all([driven, gone(child)]).then(() => exitOf(directory, root))
  return { directory, root, exited, letGo }
}

/** Opened for writing too, so that the end of one message does not close it. A socket waits without using a thread. */
function openFifo(path: string): Socket {
  const fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK)
  return new Socket({ fd, readable: true, writable: false })
}

const gone = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
}
