import type { Command } from 'commander'
import { InvalidInput } from '../../domain/errors.ts'
import { shortId } from '../../domain/ids.ts'
import { answerInWords } from '../../domain/rules/decisions.ts'
import type { ArtifactPiece, MissionNotes } from '../../operations/notes.ts'
import type { MissionView } from '../../operations/views.ts'
import { addFields, type Cli, collected, does, inputFrom, textFrom } from '../command.ts'
import { MISSION_FIELDS } from '../mission-fields.ts'
import { nearest } from '../nearest.ts'
import { projectHere, projectRef } from '../project-here.ts'
import { ago, size } from '../show.ts'
import { tellMission } from '../show-mission.ts'
import { showLog } from './watching.ts'

const FIELDS = MISSION_FIELDS.filter(({ field }) => field !== 'title')

/** Tasks are missions under another name: queued with one line, and judged by their results. */
export function addTask(mission: Command): void {
  const add = mission
    .command('add')
    .description('queue a task for the repository and folder you are in')
    .argument('<title>', 'title of the task')
    .option('--description <text>', 'details for the agent; - reads stdin, @file reads a file')
  addFields(add, FIELDS)
    .option('--depends-on <missions>', 'same as --after', collected)
    .option('--project <project>', 'id, name or path (default: the repository you are in)')
  does(add, async (cli, [title], options) => {
    await tellMission(cli, await addToQueue(cli, title!, options), 'Queued')
  })

  const looks = Object.keys(LOOKS)
  mission
    .usage('[options] [command] | <mission> <what> [file]')
    .argument('[mission]', 'mission to show: id or first letters')
    .argument('[what]', `what of it: ${looks.join(', ')}`)
    .argument('[file]', 'artifact to print')
  does(mission, async (cli, [id, what, file]) => {
    if (id === undefined) return listRunning(cli, mission)
    const look = what === undefined ? undefined : LOOKS[what]
    const meant = look
      ? undefined
      : nearest(
          id,
          mission.commands.map(command => command.name()),
        )
    if (meant) mission.error(`error: unknown command '${id}'\n(Did you mean ${meant}?)`)
    if (what === undefined)
      mission.error(`error: unknown command '${id}' (for a mission: fleet task ${id} <what>, or fleet show ${id})`)
    if (!look) throw new InvalidInput(what, `is not a part of a task. Choose ${looks.join(', ')}`)
    if (file === undefined) return look(cli, id)
    if (what !== 'artifacts') throw new InvalidInput(file, `a task has no files under ${what}`)
    return printArtifact(cli, id, file)
  })
}

async function addToQueue(cli: Cli, title: string, options: Record<string, unknown>): Promise<MissionView> {
  const client = await cli.client()
  const place = options.project === undefined ? await projectHere(cli) : undefined
  const project_id = place?.project.id ?? (await projectRef(cli, String(options.project)))
  const fields = inputFrom(FIELDS, options)
  const description = options.description === undefined ? undefined : await textFrom(cli, String(options.description))
  const queued = await client.call<MissionView>('create_mission', {
    subdirectory: place?.subdirectory,
    ...fields,
    ...(options.dependsOn !== undefined && { depends_on: options.dependsOn }),
    project_id,
    title,
    detailed_prompt: promptFrom({ title, description, agent: fields.agent }),
    auto_dispatch: true,
  })
  await client.wake()
  return queued
}

interface Described {
  title: string
  description?: string
  agent: unknown
}

/** A script runs as it is, without the title. */
function promptFrom({ title, description, agent }: Described): string {
  if (description === undefined) return title
  return agent === 'shell' ? description : `${title}\n\n${description}`
}

async function listRunning(cli: Cli, mission: Command): Promise<undefined> {
  const { tasks } = await cli.ask<{ tasks: { mission_id: string; title: string }[] }>('list_running', {})
  if (cli.terminal.json) return void cli.terminal.data({ tasks })
  cli.terminal.print(mission.helpInformation().trimEnd())
  cli.terminal.print(tasks.length ? '\nRunning now:' : '\nNothing is running now.')
  for (const { mission_id, title } of tasks)
    cli.terminal.print(`  ${shortId(mission_id)}  ${cli.terminal.foreign(title)}`)
}

type Look = (cli: Cli, id: string) => Promise<number | undefined>

const fromNotes =
  <K extends 'plan' | 'knowledge' | 'questions'>(kind: K, print: (cli: Cli, notes: MissionNotes[K]) => void): Look =>
  async (cli, mission_id) => {
    const notes = await cli.ask<MissionNotes>('get_mission_notes', { mission_id })
    if (cli.terminal.json) cli.terminal.data({ [kind]: notes[kind] })
    else if (!notes[kind].length) cli.terminal.note(`It has no ${kind}.`)
    else print(cli, notes[kind])
    return undefined
  }

const printText = ({ terminal }: Cli, text: string): void => terminal.write(terminal.foreign(text))

const LOOKS: Record<string, Look> = {
  log: (cli, id) => showLog(cli, id),
  plan: fromNotes('plan', printText),
  knowledge: fromNotes('knowledge', printText),
  questions: fromNotes('questions', ({ terminal }, questions) => {
    for (const question of questions) {
      const { id, summary, status, answer, created_at } = question
      terminal.print(
        `${terminal.paint('bold', shortId(id))}  ${status}  ${ago(created_at)}  ${terminal.foreign(summary)}`,
      )
      if (answer) terminal.print(`  ${terminal.foreign(answerInWords(question))}`)
    }
    if (questions.some(({ status }) => status === 'open'))
      terminal.note('Answer with fleet answer <id> "…"; a permission with fleet answer <id> allow|deny')
  }),
  artifacts: async (cli, mission_id) => {
    const { artifacts } = await cli.ask<MissionNotes>('get_mission_notes', { mission_id })
    if (cli.terminal.json) return void cli.terminal.data({ artifacts })
    if (!artifacts.files.length) return void cli.terminal.note(`There is nothing in ${artifacts.folder}.`)
    cli.terminal.print(cli.terminal.paint('dim', artifacts.folder))
    cli.terminal.table<MissionNotes['artifacts']['files'][number]>(
      [
        { title: 'SIZE', value: each => size(each.bytes), right: true },
        { title: 'FILE', value: each => each.path },
      ],
      artifacts.files,
    )
    if (artifacts.more) cli.terminal.note('Not all files are listed.')
  },
}

async function printArtifact(cli: Cli, mission_id: string, path: string): Promise<undefined> {
  const client = await cli.client()
  for (let offset: number | null = 0; offset !== null; ) {
    const piece: ArtifactPiece = await client.call<ArtifactPiece>('read_artifact', { mission_id, path, offset })
    if (cli.terminal.json) return void cli.terminal.data(piece)
    if (piece.encoding === 'utf8') cli.terminal.write(cli.terminal.foreign(piece.content))
    else if (cli.terminal.interactive)
      return void cli.terminal.note(
        `This is not a text file. Save it: fleet task ${mission_id} artifacts ${path} > <file>`,
      )
    else cli.terminal.write(Buffer.from(piece.content, 'base64'))
    offset = piece.next_offset
  }
}
