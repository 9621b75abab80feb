import { shortId } from '../domain/ids.ts'
import { safeLine } from '../platform/safe-text.ts'
import type { Cli } from './command.ts'
import { duration } from './show.ts'

interface Common {
  seconds: number
  files: { path: string }[]
  evidence: { name: string; passed: boolean }[]
}

interface Usage {
  input_tokens: number
  output_tokens: number
  cost_usd: number
}

interface MissionSide extends Common {
  mission: { id: string; title: string; status: string; result: string | null }
  agent: string | null
  sessions: number
  usage: Usage
  summary: string
  preview_url: string | null
}

interface SessionSide extends Common {
  session: { id: string; number: number; reason: string; agent: string; outcome: string | null; usage: Usage }
  report: { summary: string } | null
}

/** Compares two missions or two sessions, whichever the names belong to. */
export async function compare(cli: Cli, first: string, second: string): Promise<undefined> {
  const client = await cli.client()
  const missions = await client
    .call<{ first: MissionSide; second: MissionSide }>('compare_missions', { first, second })
    .catch(error => {
      if (error.code !== 'not_found') throw error
      return undefined
    })
  const answer =
    missions ?? (await client.call<{ first: SessionSide; second: SessionSide }>('compare_sessions', { first, second }))
  if (cli.terminal.json) return void cli.terminal.data(answer)
  const sides = [answer.first, answer.second].map(rowsOf)
  cli.terminal.table<[string, string]>(
    [
      { title: '', value: ([name]) => name },
      { title: 'FIRST', value: ([, text]) => safeLine(text), flexible: true },
      { title: 'SECOND', value: row => safeLine(sides[1]![sides[0]!.indexOf(row)]![1]), flexible: true },
    ],
    sides[0]!,
  )
  const ids = [answer.first, answer.second].map(side => shortId('mission' in side ? side.mission.id : side.session.id))
  const land = missions ? ' Land one: fleet land …' : ''
  cli.terminal.note(`The changes: fleet diff ${ids[0]}, fleet diff ${ids[1]}.${land}`)
}

function rowsOf(side: MissionSide | SessionSide): [string, string][] {
  const checks = side.evidence.map(check => `${check.passed ? '✓' : '✗'} ${check.name}`).join(', ') || 'none'
  const files = side.files.map(file => file.path).join(', ') || 'none'
  const took = duration(side.seconds * 1000)
  if ('session' in side) {
    const { id, number, reason, agent, outcome, usage } = side.session
    return [
      ['session', `${shortId(id)} ${number}. ${reason}`],
      ['outcome', outcome ?? 'running'],
      ['agent', agent],
      ['took', took],
      ['cost', costOf(usage)],
      ['checks', checks],
      ['files', files],
      ['says', side.report?.summary ?? ''],
    ]
  }
  return [
    ['mission', `${shortId(side.mission.id)} ${side.mission.title}`],
    ['status', side.mission.result ?? side.mission.status],
    ['agent', side.agent ?? ''],
    ['took', `${took} in ${side.sessions} session${side.sessions === 1 ? '' : 's'}`],
    ['cost', costOf(side.usage)],
    ['checks', checks],
    ['files', files],
    ['says', side.summary],
    ['preview', side.preview_url ?? ''],
  ]
}

const costOf = ({ cost_usd, input_tokens, output_tokens }: Usage): string =>
  `$${cost_usd.toFixed(2)}, ${input_tokens} in, ${output_tokens} out`
