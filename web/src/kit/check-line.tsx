import { Badge, Text } from '@radix-ui/themes'
import type { Output } from '../api/client.ts'
import './check-line.css'
import './fold.css'
import { Foreign } from './foreign.tsx'
import { plain } from './plain.ts'
import { Time } from './time.tsx'
import { duration } from './words.ts'

export type Check = Output<'get_mission'>['evidence'][number]

type Checked = Omit<Check, 'id' | 'mission_id' | 'project_id' | 'commit' | 'candidate' | 'purpose'> &
  Partial<Pick<Check, 'purpose'>>

/** One check: its command, how it went, and what it printed. */
export function CheckLine({ check }: { check: Checked }) {
  const { name, command, passed, exit_code, seconds, output, created_at, purpose = 'landing' } = check
  return (
    <details className="fold check" open={!passed}>
      <summary>
        <Badge color={passed ? 'green' : 'red'} highContrast>
          {passed ? 'passed' : 'failed'}
        </Badge>
        <Text size="2" weight="medium">
          {plain(name)}
        </Text>
        <Text size="1" color="gray">
          {purpose === 'landing' ? '' : `for ${purpose} · `}
          {exit_code === null ? 'stopped at its time limit' : `exit ${exit_code}`} · {duration(seconds)} ·{' '}
          <Time at={created_at} />
        </Text>
      </summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <div className="check-output" tabIndex={0}>
        <Foreign text={`$ ${command}`} code tone="quiet" />
        <Foreign text={output || '(no output)'} code lines={200} chars={40_000} />
      </div>
    </details>
  )
}
