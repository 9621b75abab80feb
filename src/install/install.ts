import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { NotAllowed } from '../domain/errors.ts'
import { removeFile, replaceText, textOf } from '../platform/whole-files.ts'
import { CLIENTS, type ClientFolders, type McpClient, type Reach, SCOPES, type Scope } from './clients.ts'
import type { Item } from './document.ts'
import { memoriesIn, remember } from './memory.ts'
import { SERVER } from './names.ts'
import { isCommandItem } from './permissions.ts'
import { type Change, reconciled, reconciledFile } from './reconcile.ts'

export interface Wishes {
  scope: Scope | undefined
  /** Used instead of the client's own file. */
  file: string | undefined
  reach: Reach
  /** The tools that may be called without asking, by name for clients that need names. */
  allow: readonly string[] | undefined
  skill: boolean
  remove: boolean
}

export const clientNamed = (name: string): McpClient => CLIENTS.find(client => client.name === name)!

/** All changes that add the fleet to a client, or remove it. Writes nothing. */
export function planned(client: McpClient, folders: ClientFolders, home: string, wishes: Wishes): Change[] {
  const scope = scopeOf(client, wishes.scope)
  const memories = memoriesIn(home)
  const rules = 'rules' in client.allow ? client.allow.rules[scope]?.(folders) : undefined
  const servers = wishes.file ?? client.files[scope]!(folders)
  const wanted = new Map<string, { items: Item[]; drop: Item[] }>([[servers, { items: [], drop: [] }]])
  const entry: Item = { path: [...client.servers, SERVER], value: entryOf(client, wishes) }
  wanted.get(servers)![wishes.remove ? 'drop' : 'items'].push(entry)
  if (rules) {
    const { file, items } =
      wishes.file && rules.file === client.files[scope]!(folders) ? { ...rules, file: servers } : rules
    const there = wanted.get(file) ?? { items: [], drop: [] }
    if (wishes.allow && !wishes.remove) there.items.push(...items)
    wanted.set(file, there)
  }
  const skill = client.skills[scope]
  return [
    ...[...wanted].map(([file, wish]) => reconciled(file, client.format, memories, { ...wish, keep: isCommandItem })),
    ...(skill
      ? [
          reconciledFile(
            join(skill(folders), SERVER, 'SKILL.md'),
            memories,
            wishes.skill && !wishes.remove ? skillText() : undefined,
          ),
        ]
      : []),
  ].filter(change => change.before !== change.after || memories[change.file] !== change.memory)
}

/** The memory is written first. After a crash it may name something that is not there, which does no harm. */
export function carryOut(home: string, changes: readonly Change[]): void {
  const memories = memoriesIn(home)
  for (const { file, before, after, memory } of changes) {
    const made = memories[file]?.folder
    if (memory) remember(home, file, memory)
    if (after === undefined && textOf(file) !== before)
      throw new NotAllowed(`Someone else changed ${file} just now; it stays.`, { try: 'Run the command again.' })
    if (after === undefined) removeFile(file, made)
    else if (after !== before) replaceText(file, before, after)
    if (!memory && memories[file]) remember(home, file, undefined)
  }
}

function scopeOf(client: McpClient, wished: Scope | undefined): Scope {
  const scope = wished ?? 'user'
  if (client.files[scope]) return scope
  throw new NotAllowed(`${client.title} has no MCP servers for a ${scope}.`, {
    try: `--${SCOPES.find(each => client.files[each])}`,
  })
}

function entryOf(client: McpClient, { reach, allow, remove }: Wishes): object {
  const entry = client.entry(reach)
  if (!allow || remove) return entry
  if ('cannot' in client.allow) throw new NotAllowed(`${client.allow.cannot}.`, { try: 'Leave out --allow.' })
  return 'inEntry' in client.allow ? { ...entry, ...client.allow.inEntry(allow) } : entry
}

/** The skill that teaches an agent to use the fleet. The file is beside the program. */
export const skillText = (): string => readFileSync(fileURLToPath(new URL('./SKILL.md', import.meta.url)), 'utf8')

/** The top of the repository, or the folder itself outside of one. */
export function projectTop(folder: string): string {
  for (let top = folder; ; top = dirname(top)) {
    if (existsSync(join(top, '.git'))) return top
    if (dirname(top) === top) return folder
  }
}
