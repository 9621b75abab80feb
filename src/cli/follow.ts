import { createInterface } from 'node:readline/promises'
import { shortId } from '../domain/ids.ts'
import type { Event } from '../domain/records/event.ts'
import type { TranscriptEvent } from '../domain/records/transcript.ts'
import type { MissionView } from '../operations/views.ts'
import type { Cli } from './command.ts'
import { EXIT, exitOfMission } from './exit.ts'
import type { Client } from './server.ts'
import { because, duration, inStatusColour, named, standing } from './show.ts'
import type { Detail } from './show-mission.ts'
import { type SessionItem, Showing, WHOLE } from './transcript.ts'

const SETTLED = ['done', 'failed', 'cancelled', 'review', 'needs_input']
const TICK_MS = 1000

/** Streams a mission through all its sessions until it needs a person or is over. Returns the exit code. */
export async function followMission(cli: Cli, mission: MissionView, what: 'work' | 'undo' = 'work'): Promise<number> {
  const { terminal } = cli
  const client = await cli.client()
  const leaving = new AbortController()
  const interrupts = new Interrupts(cli, leaving, () => client.call('cancel_mission', { mission_id: mission.id }))
  const follower = new Follower(cli, client, mission, leaving.signal, interrupts)
  try {
    const end = await follower.untilSettled()
    const stillThere = what === 'undo' && end.landed !== null
    terminal.tell(end, () => tellEnd(cli, end, stillThere ? `not undone: ${because(end)}` : howItEnded(end)))
    if (what === 'undo') return stillThere ? EXIT.failed : EXIT.done
    return exitOfMission(end)
  } catch (error) {
    if (!leaving.signal.aborted) throw error
    terminal.progress('')
    terminal.note(`Detached; mission ${shortId(mission.id)} continues. Watch it: fleet logs -f ${shortId(mission.id)}`)
    return EXIT.done
  } finally {
    interrupts.stop()
  }
}

class Follower {
  readonly #cli: Cli
  readonly #client: Client
  readonly #id: string
  readonly #project: string
  readonly #signal: AbortSignal
  readonly #interrupts: Interrupts
  readonly #started = Date.now()
  /** The session shown last. One that was over before is not shown. */
  #told: string | null
  #doing = 'queued'
  /** What it waits for, as last shown. */
  #waitsFor = ''

  constructor(cli: Cli, client: Client, mission: MissionView, signal: AbortSignal, interrupts: Interrupts) {
    this.#cli = cli
    this.#client = client
    this.#id = mission.id
    this.#project = mission.project_id
    this.#told = mission.status === 'running' ? null : mission.session_id
    this.#signal = signal
    this.#interrupts = interrupts
  }

  async untilSettled(): Promise<Detail> {
    const clock = setInterval(() => this.#tick(), TICK_MS)
    try {
      let { cursor } = await this.#client.call<{ cursor: string }>('list_mission_events', {
        mission_id: this.#id,
        limit: 500,
      })
      for (;;) {
        const mission = await this.#client.call<Detail>('get_mission', { mission_id: this.#id })
        const session = mission.sessions.find(each => each.id === mission.session_id)
        this.#doing = [standing(mission), because(mission)].filter(Boolean).join(': ')
        if (session && session.id !== this.#told) {
          this.#told = session.id
          await this.#session(session)
        } else if (SETTLED.includes(mission.status) && !mission.undoing) return mission
        else {
          this.#sayWhy(mission)
          cursor = await this.#nextEvent(cursor)
        }
      }
    } finally {
      clearInterval(clock)
      this.#cli.terminal.progress('')
    }
  }

  /** Without a progress line, nothing else would say why nothing happens. */
  #sayWhy(mission: Detail): void {
    const { terminal } = this.#cli
    const why = mission.status === 'queued' && mission.waits_for.length ? because(mission) : ''
    if (why && why !== this.#waitsFor && !terminal.streams.stderr.isTTY)
      terminal.note(`Mission ${shortId(mission.id)} is queued: ${why}`)
    this.#waitsFor = why
  }

  async #session(session: Detail['sessions'][number]): Promise<void> {
    const { terminal } = this.#cli
    const showing = new Showing(terminal)
    this.#doing = `${session.agent} is working`
    if (!terminal.json)
      terminal.note(terminal.paint('dim', `── session ${shortId(session.id)}: ${session.agent}, ${session.reason}`))
    for await (const item of this.#client.stream<SessionItem>(
      'stream_session',
      { session_id: session.id, ...WHOLE },
      this.#signal,
    )) {
      await this.#interrupts.answered()
      if (item.kind === 'end') {
        for (const line of showing.rest()) terminal.print(line)
        return
      }
      if (item.kind === 'ping' || item.data === null || terminal.json) continue
      for (const line of showing.take(item.data as TranscriptEvent)) terminal.print(line)
    }
    this.#signal.throwIfAborted()
  }

  async #nextEvent(after: string): Promise<string> {
    this.#tick()
    for await (const item of this.#client.stream<Event | null>(
      'stream_events',
      { project_id: this.#project, after },
      this.#signal,
    )) {
      // Any event may change what it waits for: another mission fails, or a disk has room again.
      if (this.#waitsFor || item.data?.mission_id === this.#id) return item.cursor
    }
    this.#signal.throwIfAborted()
    return after
  }

  #tick(): void {
    if (!this.#interrupts.asking)
      this.#cli.terminal.progress(`${duration(Date.now() - this.#started)} · ${this.#doing}`)
  }
}

/** Ctrl-C asks the person what they want. Without a person to ask, it detaches. */
class Interrupts {
  readonly #cli: Cli
  readonly #leaving: AbortController
  readonly #cancel: () => Promise<unknown>
  readonly #handler = () => this.#interrupted()
  asking: Promise<void> | undefined

  constructor(cli: Cli, leaving: AbortController, cancel: () => Promise<unknown>) {
    this.#cli = cli
    this.#leaving = leaving
    this.#cancel = cancel
    process.on('SIGINT', this.#handler)
  }

  stop(): void {
    process.off('SIGINT', this.#handler)
  }

  /** Output waits while a person is asked. */
  async answered(): Promise<void> {
    await this.asking
  }

  #interrupted(): void {
    if (!this.#cli.terminal.interactive || this.asking) this.#leaving.abort()
    else {
      this.asking = this.#ask().finally(() => {
        this.asking = undefined
      })
    }
  }

  async #ask(): Promise<void> {
    const { terminal } = this.#cli
    const { stdin, stderr } = terminal.streams
    terminal.progress('')
    const questions = createInterface({ input: stdin, output: stderr })
    questions.on('SIGINT', () => this.#leaving.abort())
    try {
      const answer = await questions.question(
        '\nDetach and let it continue (d), cancel it (c), or keep watching (Enter)? ',
        { signal: this.#leaving.signal },
      )
      if (/^c/i.test(answer.trim())) await this.#cancel()
      if (/^d/i.test(answer.trim())) this.#leaving.abort()
    } catch (error) {
      if (!this.#leaving.signal.aborted) terminal.note((error as Error).message)
    } finally {
      questions.close()
    }
  }
}

function howItEnded(mission: Detail): string {
  const { report, landed } = mission
  const files = landed?.files ?? (report ? report.files_changed.length + report.files_omitted : 0)
  const changed = `${files} ${files === 1 ? 'file' : 'files'} changed`
  if (landed && mission.result === 'landed')
    return `landed as ${landed.commit.slice(0, 10)} on ${landed.branch} (${changed})`
  if (mission.result === 'kept')
    return `done; its work is kept${mission.branch ? ` on ${mission.branch}` : ''} (${changed})`
  if (mission.status === 'done') return 'done; nothing had to change'
  return [standing(mission), because(mission)].filter(Boolean).join(': ')
}

function tellEnd({ terminal }: Cli, mission: Detail, how: string): void {
  terminal.print(`${named(mission)} ${inStatusColour(terminal, mission.status, terminal.foreign(how))}`)
  if (mission.report?.preview_url) terminal.print(`  Preview: ${terminal.foreign(mission.report.preview_url)}`)
  if (mission.status_reason?.try) terminal.note(`  Try: ${mission.status_reason.try}`)
}
