import { join } from 'node:path'
import { NODE, ROOT } from './fleet.ts'

const WORKER = join(ROOT, 'test/kit/mail-worker.mjs')

export interface TaskView {
  id: string
  title: string
  state: string
  status: string
  result: string | null
  assignee: { handle: string } | null
  handing_to: string | null
  blockers: { id: string }[]
  waits_for: string[]
  candidate: string | null
  landed: string | null
  session_id: string | null
}

/**
 * The script of a member that does what its tasks say: the lines that begin with `do: `. It answers its mail too, and
 * writes down what it was told.
 */
export const doer = (journal: string): string =>
  [
    `'${NODE}' '${WORKER}' '${journal}' || exit 1`,
    'if [ -n "$FLEET_TEAM_TASK" ]; then',
    `  sed -n 's/^do: //p' "$FLEET_PROMPT_FILE" > "$FLEET_RESULT_FILE.sh"`,
    '  sh -e "$FLEET_RESULT_FILE.sh" || exit 1',
    'fi',
    'echo done',
  ].join('\n')

/** A task for such a member. */
export const steps = (...commands: string[]): string => commands.map(each => `do: ${each}`).join('\n')
