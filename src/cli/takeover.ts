import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline/promises'
import type { Readable, Writable } from 'node:stream'
import { NotAllowed, Unfit } from '../domain/errors.ts'
import { shortId } from '../domain/ids.ts'
import type { HAND_BACKS } from '../domain/records/mission.ts'
import type { SessionView } from '../operations/views.ts'
import { identityOf } from '../runner/processes.ts'
import type { Cli } from './command.ts'
import { EXIT, exitOfMission } from './exit.ts'
import { homeHere } from './server.ts'
import { type Detail, tellMission } from './show-mission.ts'

const LOOK_EVERY_MS = 100

type Then = (typeof HAND_BACKS)[number]
interface Wish {
  next?: Then
  message?: string
}
interface Opened {
  argv: [string, ...string[]]
  cwd: string
  variables: Record<string, string>
}

/** Takes the mission over, runs the client of its agent in this terminal, and gives the mission back. */
export async function takeOver(cli: Cli, ref: string, wish: Wish): Promise<number> {
  const { terminal: screen } = cli
  if (!screen.interactive)
    throw new NotAllowed('Taking over a mission needs a terminal.', {
      try: 'fleet mission resume <mission> --message "…"',
    })
  homeHere(cli.where, 'Taking over a mission in a terminal')
  const client = await cli.client()
  const terminal = identityOf(process.pid)
  if (!terminal) throw new Unfit('This process was not found on this machine.')
  const { id } = await client.call<Detail>('take_over_mission', { mission_id: ref, terminal })
  const giveBack = (next: Then, message?: string) =>
    client.call('hand_back_mission', { mission_id: id, next, message, terminal })

  let opened = false
  const left = new AbortController()
  const leave = () => left.abort()
  process.on('SIGINT', leave)
  try {
    const ready = await untilReady(cli, id, left.signal)
    if (!ready) {
      await giveBack('resume')
      screen.note('Handed back; the agent continues.')
      return EXIT.cancelled
    }
    if (ready.outcome) screen.note(ready.outcome)
    opened = await runClient(cli, await client.call<Opened>('open_conversation', { mission_id: id }))
  } finally {
    process.off('SIGINT', leave)
  }
  // If the client could not be opened, the person's choice does not apply: it was about work they would have seen.
  await giveBack(opened ? (wish.next ?? (await askThen(cli))) : 'keep', wish.message)
  return tellOnceBack(cli, id)
}

/** Hands a mission back that was taken over in another terminal, which is gone. */
export async function release(cli: Cli, ref: string, { next = 'keep', message }: Wish): Promise<number> {
  const { id } = await cli.ask<Detail>('hand_back_mission', { mission_id: ref, next, message })
  return tellOnceBack(cli, id)
}

const look = async (cli: Cli, id: string): Promise<Detail> => cli.ask<Detail>('get_mission', { mission_id: id })

const moment = () => new Promise(resolve => setTimeout(resolve, LOOK_EVERY_MS))

/** Waits until the agent has stopped and the worktree is ready; undefined: the person does not want to wait. */
async function untilReady(cli: Cli, id: string, left: AbortSignal): Promise<{ outcome: string | null } | undefined> {
  for (;;) {
    const mission = await look(cli, id)
    const session = mission.sessions.find(each => each.id === mission.taken_over?.session_id)
    if (!mission.taken_over)
      throw new NotAllowed(mission.status_reason?.text ?? 'The mission could not be taken over.', {
        try: mission.status_reason?.try,
      })
    if (left.aborted) return undefined
    if (session?.status === 'running') {
      cli.terminal.progress('')
      return { outcome: howStopped(mission.sessions, session) }
    }
    cli.terminal.progress(
      mission.status === 'running'
        ? `Waiting for a safe moment to stop the agent of mission ${shortId(id)}… (Ctrl-C to let it continue)`
        : `Opening the conversation of mission ${shortId(id)}…`,
    )
    await moment()
  }
}

/** Only if the agent was stopped in the middle of a tool. */
function howStopped(sessions: readonly SessionView[], taken: SessionView): string | null {
  const before = sessions.find(each => each.number === taken.number - 1)?.outcome_reason
  return before?.includes('in the middle of a tool') ? before : null
}

/**
 * The client has the terminal to itself, so all input, including Ctrl-C, is for the client. False: it could not be
 * started.
 */
function runClient({ terminal }: Cli, { argv: [command, ...args], cwd, variables }: Opened): Promise<boolean> {
  return new Promise(resolve => {
    const child = spawn(command, args, { cwd, env: { ...terminal.streams.env, ...variables }, stdio: 'inherit' })
    child.once('error', error => {
      terminal.note(`fleet: ${command} could not be started: ${error.message}`)
      resolve(false)
    })
    child.once('exit', () => resolve(true))
  })
}

const ANSWERS: Record<string, Then> = { r: 'resume', l: 'land', k: 'keep' }

async function askThen({ terminal: { streams } }: Cli): Promise<Then> {
  const questions = createInterface({ input: streams.stdin as Readable, output: streams.stdout as Writable })
  try {
    const answer = await questions.question(
      'What now? Let the agent continue (r), land the work (l), or keep it for review (k, or Enter): ',
    )
    return ANSWERS[answer.trim().charAt(0).toLowerCase()] ?? 'keep'
  } catch {
    return 'keep'
  } finally {
    questions.close()
  }
}

async function tellOnceBack(cli: Cli, id: string): Promise<number> {
  let mission = await look(cli, id)
  for (; mission.taken_over; mission = await look(cli, id)) await moment()
  await tellMission(cli, { ...mission, sessions: mission.sessions.length }, 'Handed back')
  return mission.status === 'failed' ? exitOfMission(mission) : EXIT.done
}
