import { homedir } from 'node:os'
import { NotAllowed } from '../domain/errors.ts'
import type { ClientFolders } from '../install/clients.ts'
import { diffOf } from '../install/diff.ts'
import { carryOut, clientNamed, projectTop } from '../install/install.ts'
import { SETUP_CLIENTS, type SetupClient } from '../install/names.ts'
import { permitted } from '../install/permissions.ts'
import { isOnPath } from '../install/reach.ts'
import type { Cli } from './command.ts'
import { confirmed } from './confirm.ts'
import { homeOf } from './server.ts'

/** The work of `fleet setup`: shows what would change, asks, and writes it. */
export async function setUp(cli: Cli, named: readonly string[], options: Record<string, unknown>): Promise<undefined> {
  const { terminal } = cli
  const { env, cwd } = terminal.streams
  const folders: ClientFolders = { user: env.HOME || homedir(), project: projectTop(cwd), env }
  const remove = options.remove === true
  const dryRun = options.dryRun === true
  const clients = named.length ? (named as SetupClient[]) : remove ? SETUP_CLIENTS : clientsHere(env)
  const home = homeOf(cli.where)
  const changes = permitted(clients, folders, home, remove)
  const files = changes.filter(({ change: { before, after } }) => before !== after)

  if (!terminal.json)
    for (const { change } of files) terminal.print(terminal.foreign(diffOf(change.file, change.before, change.after)))
  if (files.length && !dryRun && !options.yes) {
    if (!terminal.interactive || terminal.json)
      throw new NotAllowed('Nothing was written: nobody is here to agree to these changes.', {
        try: '--dry-run shows them, --yes writes them.',
      })
    if (!(await confirmed(terminal, remove ? 'Take this back?' : 'Write this?'))) return
  }
  if (!dryRun)
    carryOut(
      home,
      changes.map(({ change }) => change),
    )
  terminal.tell(
    { dry_run: dryRun, files: files.map(({ client, change: { file, after } }) => ({ client, file, removed: !after })) },
    () => {
      if (!files.length) terminal.print('Everything is already set up like this; nothing to change.')
      else if (!dryRun) terminal.print(told(files.length, remove))
    },
  )
  for (const { change } of changes.filter(({ isLeft }) => isLeft))
    terminal.note(`${change.file} was changed since it was written, so it stays.`)
  if (!remove && !isOnPath('fleet', env))
    terminal.note('fleet is not on your PATH. The rules cover the command fleet only, not the path of a program.')
}

const told = (count: number, remove: boolean): string => {
  const files = count === 1 ? 'one file' : `${count} files`
  return remove
    ? `Took the rule out of ${files}.`
    : `Changed ${files}. Restart the clients; they may run fleet without asking now.`
}

function clientsHere(env: NodeJS.ProcessEnv): SetupClient[] {
  const here = SETUP_CLIENTS.filter(name => isOnPath(clientNamed(name).program, env))
  if (here.length) return here
  throw new NotAllowed('No coding agent that this is for is on your PATH.', {
    try: `Name it: fleet setup ${SETUP_CLIENTS.join('|')}`,
  })
}
