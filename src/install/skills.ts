import { readdirSync, readFileSync } from 'node:fs'
import { join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { NotAllowed } from '../domain/errors.ts'
import { behindLinks, textOf } from '../platform/whole-files.ts'
import type { ClientFolders, Scope } from './clients.ts'
import { clientNamed } from './install.ts'
import { type Memories, memoriesIn } from './memory.ts'
import type { SkillClient } from './names.ts'
import { type Change, reconciledFile } from './reconcile.ts'

export interface Skill {
  name: string
  /** When an agent should use it. */
  summary: string
  text: string
}

const FOLDER = fileURLToPath(new URL('./skills', import.meta.url))

/** The skills that come along, by name. Their files are beside the program. */
export function skillsHere(): Skill[] {
  return readdirSync(FOLDER)
    .toSorted()
    .map(name => {
      const text = readFileSync(join(FOLDER, name, 'SKILL.md'), 'utf8')
      return { name, text, summary: /^description: (.*)$/m.exec(text)?.[1] ?? '' }
    })
}

/** absent: not installed; ours: as it is here; older: as we wrote it earlier; changed: by somebody else. */
export type SkillState = 'absent' | 'ours' | 'older' | 'changed'

export interface SkillFile {
  client: SkillClient
  skill: string
  file: string
  state: SkillState
  /** Undefined: it stays as it is. */
  change?: Change
}

type Wish = 'install' | 'remove' | 'look'

/** What becomes of each skill file of these clients. A file that somebody else wrote or changed is never touched. */
export function skillFiles(
  clients: readonly SkillClient[],
  folders: ClientFolders,
  home: string,
  { scope, wish }: { scope: Scope; wish: Wish },
): SkillFile[] {
  const memories = memoriesIn(home)
  return clients.flatMap(client =>
    skillsHere().map(({ name, text }) => {
      const path = join(clientNamed(client).skills[scope]!(folders), name, 'SKILL.md')
      if (scope === 'project') requireWithin(path, folders.project)
      const { state, file } = stateOf(path, memories, text)
      const of = { client, skill: name, file, state }
      if (wish === 'look' || state === 'changed' || (wish === 'install' ? state === 'ours' : state === 'absent'))
        return of
      return { ...of, change: reconciledFile(path, memories, wish === 'install' ? text : undefined) }
    }),
  )
}

function stateOf(path: string, memories: Memories, text: string): { state: SkillState; file: string } {
  const file = behindLinks(path)
  const there = textOf(file)
  const written = memories[file]?.text
  if (there === undefined) return { state: 'absent', file }
  if (there === written) return { state: there === text ? 'ours' : 'older', file }
  return { state: 'changed', file }
}

/** A link in a repository must not lead what is written for it to another place. */
function requireWithin(path: string, project: string): void {
  const file = behindLinks(path)
  if (file.startsWith(behindLinks(project) + sep)) return
  throw new NotAllowed(`${path} leads to ${file}, outside of the project; nothing was written.`, {
    try: 'Remove the link, or install the skills for all your projects: --user.',
  })
}
