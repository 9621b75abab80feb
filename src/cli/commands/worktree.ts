import type { Command } from 'commander'
import { NotAllowed } from '../../domain/errors.ts'
import { shortId } from '../../domain/ids.ts'
import type { ListedWorktree } from '../../operations/worktrees.ts'
import { type Cli, does } from '../command.ts'
import { projectRef } from '../project-here.ts'
import { age, counted, size } from '../show.ts'
import type { Detail } from '../show-mission.ts'
import type { Cleaned } from './upkeep.ts'

/**
 * The worktrees of missions. `git worktree list` does not show them, because they are not in the person's repository.
 */
export function addWorktree(program: Command): void {
  const worktree = program.command('worktree').description('list and remove the worktrees of missions')
  const list = worktree
    .command('list')
    .alias('ls')
    .description('list worktrees with mission, state and size')
    .option('--project <project>', 'only this project: id, name or path')
  does(list, (cli, _, { project }) => listAll(cli, project as string | undefined))
  const remove = worktree
    .command('remove')
    .alias('rm')
    .description('remove the worktrees of an ended mission; the work stays in the repository as a ref')
    .argument('<mission>', 'id or first letters')
  does(remove, (cli, [mission]) => removeOf(cli, mission!))
}

async function listAll(cli: Cli, project: string | undefined): Promise<undefined> {
  const { terminal } = cli
  const client = await cli.client()
  const answer = await client.call<{ worktrees: ListedWorktree[]; bytes: number }>('list_worktrees', {
    project_id: project && (await projectRef(cli, project)),
  })
  if (terminal.json) return void terminal.data(answer)
  if (!answer.worktrees.length) return void terminal.note('There are no worktrees.')
  terminal.table<ListedWorktree>(
    [
      { title: 'MISSION', value: each => (each.mission_id ? shortId(each.mission_id) : '') },
      { title: 'STATE', value: each => each.state },
      { title: 'FILES', value: each => size(each.bytes), right: true },
      {
        title: 'REPOSITORY',
        value: each => (each.isolation === 'linked' ? 'linked' : size(each.repository_bytes)),
        right: true,
      },
      { title: 'AGE', value: each => age(each.created_at), right: true },
      { title: 'TITLE', value: each => each.title ?? '', flexible: true },
      { title: 'WORKTREE', value: each => each.path, flexible: true },
    ],
    answer.worktrees,
  )
  terminal.print(`${counted(answer.worktrees.length, 'worktree')}, ${size(answer.bytes)}.`)
}

async function removeOf(cli: Cli, mission: string): Promise<undefined> {
  const { terminal } = cli
  const client = await cli.client()
  const answer = await client.call<Cleaned>('clean', { mission_id: mission })
  const { id, sessions } = await client.call<Detail>('get_mission', { mission_id: mission })
  if (!answer.worktrees.length && sessions.some(({ status, worktree }) => status !== 'ended' && worktree))
    throw new NotAllowed(`Mission ${shortId(id)} is at work in its worktree.`, {
      try: `fleet cancel ${shortId(id)}`,
    })
  const [left] = answer.worktrees.filter(each => each.kept_because)
  if (left) throw new NotAllowed(`${left.path} was not removed: ${left.kept_because}.`)
  if (terminal.json) return void terminal.data(answer)
  for (const { path, ref } of answer.worktrees) terminal.print(`Removed ${path}; its work is ${ref}.`)
  terminal.print(answer.worktrees.length ? `Freed ${size(answer.freed_bytes)}.` : 'The mission has no worktree.')
}
