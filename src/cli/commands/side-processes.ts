import type { Command } from 'commander'
import { NotFound } from '../../domain/errors.ts'
import { shortId } from '../../domain/ids.ts'
import type { ProcessView } from '../../operations/process-view.ts'
import { type Cli, does } from '../command.ts'
import { EXIT } from '../exit.ts'
import { age } from '../show.ts'

const LOOK_EVERY_MS = 200
const ID = '<mission>'
const ID_SUMMARY = 'id or first letters'

type Shown = ProcessView & { qr: { text: string } | null }

/** Side processes of a mission: the preview shows its work, and remote control lets you work on it from elsewhere. */
export function addSideProcesses(program: Command): void {
  const preview = program.command('preview').description("preview a mission's work in a browser")
  const start = preview
    .command('start')
    .description('start the preview command in the worktree and keep it running')
    .argument(ID, ID_SUMMARY)
  does(start, (cli, [mission]) => begin(cli, 'preview', mission!))
  does(
    preview.command('stop').description('stop it and everything it started').argument(ID, ID_SUMMARY),
    (cli, [mission]) => end(cli, 'preview', mission!),
  )
  const list = preview
    .command('list')
    .alias('ls')
    .description('list previews and remote controls that run for missions')
    .argument('[mission]', ID_SUMMARY)
    .option('--all', 'include ended ones')
  does(list, (cli, [mission], { all }) => listKept(cli, mission, all === true))

  const remote = program
    .command('remote')
    .description("work in a mission's worktree from a phone or another machine (Claude Code only)")
    .argument(ID, ID_SUMMARY)
    .option('--stop', 'stop it')
  does(remote, (cli, [mission], { stop }) =>
    stop === true ? end(cli, 'remote_control', mission!) : begin(cli, 'remote_control', mission!),
  )
}

type Noun = 'preview' | 'remote_control'

async function begin(cli: Cli, noun: Noun, mission: string): Promise<number | undefined> {
  const { terminal } = cli
  const client = await cli.client()
  const title = noun === 'preview' ? 'preview' : 'remote control'
  let shown = await client.call<Shown>(`start_${noun}`, { mission_id: mission })
  while (shown.status === 'starting') {
    terminal.progress(`Waiting for the ${title} of mission ${shortId(shown.mission_id)}…`)
    await new Promise(resolve => setTimeout(resolve, LOOK_EVERY_MS))
    shown = await client.call<Shown>(`get_${noun}`, { mission_id: shown.mission_id })
  }
  terminal.progress('')
  if (terminal.json) terminal.data(shown)
  else if (shown.status === 'up') {
    if (shown.qr) terminal.print(shown.qr.text)
    terminal.print(terminal.foreign(shown.url ?? ''))
    const until = shown.until ? ` It ends at ${shown.until}.` : ''
    const how =
      noun === 'preview'
        ? `fleet preview stop ${shortId(shown.mission_id)}`
        : `fleet remote ${shortId(shown.mission_id)} --stop`
    terminal.note(`It runs in ${shown.worktree}.${until} Stop it: ${how}`)
  } else terminal.note(`fleet: The ${title} did not start. ${terminal.foreign(shown.reason ?? '')}`)
  return shown.status === 'up' ? undefined : EXIT.failed
}

async function end(cli: Cli, noun: Noun, mission: string): Promise<undefined> {
  const client = await cli.client()
  let shown = await client.call<Shown>(`stop_${noun}`, { mission_id: mission })
  while (shown.status !== 'ended') {
    await new Promise(resolve => setTimeout(resolve, LOOK_EVERY_MS))
    shown = await client.call<Shown>(`get_${noun}`, { mission_id: shown.mission_id }).catch(error => {
      if (error instanceof NotFound) return { ...shown, status: 'ended' as const }
      throw error
    })
  }
  cli.terminal.tell(shown, () => cli.terminal.print('Stopped.'))
}

async function listKept(cli: Cli, mission: string | undefined, all: boolean): Promise<undefined> {
  const { terminal } = cli
  const input = { mission_id: mission, live: !all, limit: 200 }
  const answer = await cli.ask<{ processes: ProcessView[] }>('list_processes', input)
  if (terminal.json) return void terminal.data(answer)
  if (!answer.processes.length) return void terminal.note('Nothing is running.')
  terminal.table(
    [
      { title: 'MISSION', value: each => shortId(each.mission_id) },
      { title: 'KIND', value: each => each.kind },
      { title: 'STATE', value: each => (each.ending ? 'ending' : each.status) },
      { title: 'AGE', value: each => age(each.created_at), right: true },
      { title: 'WHERE', value: each => each.url ?? each.reason ?? '', flexible: true },
    ],
    answer.processes,
  )
}
