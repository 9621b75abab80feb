import type { z } from 'zod'
import { shortId } from '../domain/ids.ts'
import type { MissionDetail } from '../operations/views.ts'

const LAST_LINES = 10
const LAST_CHARS = 2000

type Checked = Pick<
  z.infer<typeof MissionDetail>['evidence'][number],
  'name' | 'commit' | 'passed' | 'exit_code' | 'seconds' | 'output'
>

/** The checks of a mission. For failed ones it adds the end of their output, or all of it. */
export function checkLines(missionId: string, evidence: readonly Checked[], whole: boolean): string[] {
  return evidence.flatMap(({ name, commit, passed, exit_code, seconds, output }) => {
    const line = `${name} at ${commit.slice(0, 10)} (${seconds.toFixed(1)} s)`
    const said = output.trimEnd()
    if (passed) return [`passed  ${line}`, ...(whole && said ? [indented(said)] : [])]
    const how = exit_code === null ? 'stopped at its time limit' : `exit code ${exit_code}`
    return [`failed  ${line}: ${how}`, indented(whole ? said || NOTHING : endOf(said, missionId))]
  })
}

const NOTHING = 'It printed nothing.'
const indented = (text: string): string => text.replaceAll(/^/gm, '  ')

function endOf(output: string, missionId: string): string {
  if (!output) return NOTHING
  const lines = output.split('\n')
  const last = lines.slice(-LAST_LINES).join('\n')
  const before = lines.length - LAST_LINES
  const all = `fleet show ${shortId(missionId)} --checks`
  if (last.length > LAST_CHARS) return `The end of its output; all of it: ${all}\n${last.slice(-LAST_CHARS)}`
  return before > 0 ? `${before} ${before === 1 ? 'earlier line' : 'earlier lines'}: ${all}\n${last}` : last
}
