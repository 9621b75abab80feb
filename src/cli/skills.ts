import { homedir } from 'node:os'
import { NotAllowed, NotFound, Refusal, Unfit } from '../domain/errors.ts'
import type { ClientFolders, Scope } from '../install/clients.ts'
import { diffOf } from '../install/diff.ts'
import { carryOut, clientNamed, projectTop } from '../install/install.ts'
import { SKILL_CLIENTS, type SkillClient } from '../install/names.ts'
import { isOnPath } from '../install/reach.ts'
import { type SkillFile, type SkillState, skillFiles, skillsHere } from '../install/skills.ts'
import type { Cli } from './command.ts'
import { confirmed } from './confirm.ts'
import { homeOf } from './server.ts'

type Options = Record<string, unknown>

/** The work of `fleet skills install` and `remove`: shows what would change, asks, and writes it. */
export async function changeSkills(
  cli: Cli,
  wish: 'install' | 'remove',
  named: readonly string[],
  options: Options,
): Promise<undefined> {
  const { terminal } = cli
  const dryRun = options.dryRun === true
  const found = filesFor(cli, wish, clientsOf(cli, wish, named), options)
  const changed = found.filter(({ change }) => change !== undefined)
  const kept = found.filter(({ state }) => state === 'changed')
  if (!terminal.json) for (const each of changed) terminal.print(terminal.foreign(shown(each)))
  if (changed.length && !dryRun && !options.yes) {
    if (!terminal.interactive || terminal.json)
      throw new NotAllowed('Nothing was written: nobody is here to agree to these changes.', {
        try: '--dry-run shows them, --yes writes them.',
      })
    if (!(await confirmed(terminal, wish === 'remove' ? 'Remove these?' : 'Write these?'))) return
  }
  if (!dryRun) write(homeOf(cli.where), changed)
  terminal.tell(
    {
      dry_run: dryRun,
      files: changed.map(({ client, skill, file }) => ({ client, skill, file, removed: wish === 'remove' })),
      kept: kept.map(({ client, skill, file }) => ({ client, skill, file })),
    },
    () => {
      if (!changed.length) terminal.print('There is nothing to change.')
      else if (!dryRun) terminal.print(`${wish === 'remove' ? 'Removed' : 'Wrote'} ${files(changed.length)}.`)
    },
  )
  for (const { file } of kept) terminal.note(`${file} was written or changed by somebody else, so it stays as it is.`)
}

/** One after the other: what was written before a failure is known, and can be removed. */
function write(home: string, changed: readonly SkillFile[]): void {
  for (const { file, change } of changed) {
    try {
      carryOut(home, [change!])
    } catch (cause) {
      if (cause instanceof Refusal) throw cause
      const { code } = cause as NodeJS.ErrnoException
      throw new Unfit(`${file} cannot be written (${code ?? String(cause)}).`, {
        try: 'Make its folder writable, then run the command again. What was written before stays.',
        cause,
      })
    }
  }
}

export async function listSkills(cli: Cli, options: Options): Promise<undefined> {
  const { terminal } = cli
  const found = filesFor(cli, 'look', SKILL_CLIENTS, options)
  const skills = skillsHere().map(({ name, summary }) => ({
    name,
    summary,
    ...Object.fromEntries(found.filter(({ skill }) => skill === name).map(({ client, state }) => [client, state])),
  }))
  if (terminal.json) return void terminal.data({ skills })
  const stateIn = (name: string, client: SkillClient): string =>
    WORDS[found.find(each => each.skill === name && each.client === client)!.state]
  terminal.table(
    [
      { title: 'SKILL', value: ({ name }) => name },
      ...SKILL_CLIENTS.map(client => ({
        title: client.toUpperCase(),
        value: ({ name }: { name: string }) => stateIn(name, client),
      })),
    ],
    skills,
  )
  terminal.note('fleet skills show <skill> prints one.')
  return undefined
}

export async function showSkill(cli: Cli, name: string): Promise<undefined> {
  const skill = skillsHere().find(each => each.name === name)
  if (!skill)
    throw new NotFound('skill', name, {
      try: `One of ${skillsHere()
        .map(each => each.name)
        .join(', ')}.`,
    })
  cli.terminal.tell(skill, () => cli.terminal.print(skill.text.trimEnd()))
  return undefined
}

const WORDS: Record<SkillState, string> = { absent: '', ours: 'installed', older: 'older', changed: 'changed' }

function filesFor(
  cli: Cli,
  wish: 'install' | 'remove' | 'look',
  clients: readonly SkillClient[],
  options: Options,
): SkillFile[] {
  const { env, cwd } = cli.terminal.streams
  const folders: ClientFolders = { user: env.HOME || homedir(), project: projectTop(cwd), env }
  const scope: Scope = options.project === true ? 'project' : 'user'
  return skillFiles(clients, folders, homeOf(cli.where), { scope, wish })
}

function clientsOf({ terminal }: Cli, wish: 'install' | 'remove', named: readonly string[]): readonly SkillClient[] {
  if (named.length) return named as SkillClient[]
  if (wish === 'remove') return SKILL_CLIENTS
  const here = SKILL_CLIENTS.filter(name => isOnPath(clientNamed(name).program, terminal.streams.env))
  if (here.length) return here
  throw new NotAllowed('No coding agent that the skills are for is on your PATH.', {
    try: `Name it: fleet skills install ${SKILL_CLIENTS.join('|')}`,
  })
}

const files = (count: number): string => (count === 1 ? 'one file' : `${count} files`)

/** A new file by its name and length, a change by its lines. `fleet skills show` prints the whole. */
function shown({ file, change }: SkillFile): string {
  const { before, after } = change!
  if (after === undefined) return `remove ${file}`
  if (before === undefined) return `new    ${file} (${after.split('\n').length - 1} lines)`
  return diffOf(file, before, after)
}
