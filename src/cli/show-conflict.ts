import type { z } from 'zod'
import { shortId } from '../domain/ids.ts'
import type { ConflictView } from '../operations/conflicts.ts'
import type { Cli } from './command.ts'
import { EXIT } from './exit.ts'

/** Both sides of a conflict, and where to resolve it. */
export async function showConflict(cli: Cli, mission_id: string): Promise<number | undefined> {
  const { terminal } = cli
  const found = await cli.ask<z.infer<typeof ConflictView>>('get_conflict', { mission_id })
  if (terminal.json) return void terminal.data(found)
  const { base, work, files, rounds } = found
  if (!found.in_conflict) return void terminal.print(`Its work has no conflicts with ${base.branch}.`)
  for (const { path, kind, regions, regions_omitted, landed } of files) {
    terminal.print(`${terminal.paint('bold', terminal.foreign(path))}  ${kind}`)
    for (const { commit, subject, mission_id: by } of landed)
      terminal.print(`  ${commit.slice(0, 10)} ${terminal.foreign(subject)}${by ? ` (mission ${shortId(by)})` : ''}`)
    for (const region of regions) {
      terminal.print(terminal.paint('cyan', `  line ${region.line}`))
      for (const line of region.base.split('\n')) terminal.print(terminal.paint('red', `  - ${terminal.foreign(line)}`))
      for (const line of region.work.split('\n'))
        terminal.print(terminal.paint('green', `  + ${terminal.foreign(line)}`))
    }
    if (regions_omitted) terminal.print(`  and ${regions_omitted} more places`)
  }
  if (found.files_omitted) terminal.print(`and ${found.files_omitted} more files`)
  const id = shortId(found.mission_id)
  terminal.note(`- is on ${base.branch}, + is the work of the mission. Rounds left for its agent: ${rounds.left}.`)
  terminal.note(
    work.worktree
      ? `Resolve it in ${work.worktree}, then fleet land ${id}; or fleet retry ${id}`
      : `fleet mission resume ${id}, or fleet retry ${id}`,
  )
  return EXIT.person
}
