import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { binaryOf, HOW_TO_INSTALL } from '../clients/clients.ts'
import { NODE, ROOT } from './fleet.ts'

interface Ran {
  code: number
  stdout: string
  stderr: string
}

export interface ToldClient {
  root: string
  fleet(...args: string[]): Promise<Ran>
  /** The real client, in its own home and repository. */
  run(...args: string[]): Promise<Ran>
  /** The same, with this on its standard input. */
  runWith(input: string, ...args: string[]): Promise<Ran>
  remove(): Promise<void>
}

/** A person's machine with one real client and `fleet`, and nothing else. */
export function aToldClient(client: Parameters<typeof binaryOf>[0], extra: Record<string, string> = {}): ToldClient {
  const binary = binaryOf(client)
  if (!binary) throw new Error(HOW_TO_INSTALL)
  const root = realpathSync(mkdtempSync(join(tmpdir(), `flotilla-${client}-`)))
  for (const folder of ['bin', 'tmp', 'work/.git']) mkdirSync(join(root, folder), { recursive: true })
  writeFileSync(join(root, 'bin/fleet'), `#!/bin/sh\nexec '${NODE}' '${ROOT}/bin/fleet.js' "$@"\n`)
  chmodSync(join(root, 'bin/fleet'), 0o755)
  const env = {
    PATH: [join(root, 'bin'), dirname(NODE), process.env.PATH].join(delimiter),
    LANG: 'C.UTF-8',
    HOME: root,
    TMPDIR: join(root, 'tmp'),
    ...extra,
  }
  const run = (program: string, args: string[], input?: string): Promise<Ran> =>
    new Promise(done => {
      const child = execFile(program, args, { cwd: join(root, 'work'), env }, (error, stdout, stderr) =>
        done({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr }),
      )
      child.stdin?.end(input)
    })
  return {
    root,
    fleet: (...args) => run(join(root, 'bin/fleet'), args),
    run: (...args) => run(binary, args),
    runWith: (input, ...args) => run(binary, args, input),
    async remove() {
      await run(join(root, 'bin/fleet'), ['down'])
      await rm(root, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}
