import { Badge, Text } from '@radix-ui/themes'
import { ShieldCheck } from 'lucide-react'
import { Foreign } from '../../kit/foreign.tsx'
import { Empty, Section } from '../../kit/page.tsx'
import { plain } from '../../kit/plain.ts'
import { Time } from '../../kit/time.tsx'
import { duration } from '../../kit/words.ts'
import type { Detail } from './actions.ts'

type Check = Detail['evidence'][number]

/** What was run to see whether it works, at which commit, and what came out. */
export function Checks({ mission }: { mission: Detail }) {
  if (mission.evidence.length === 0)
    return (
      <Empty icon={ShieldCheck} title="Nothing has been checked yet">
        The checks of its project run on the merged commit before it lands; their command, exit code and output are kept
        here as evidence.
      </Empty>
    )
  const byCommit = Map.groupBy(
    mission.evidence.toSorted((one, other) => other.created_at.localeCompare(one.created_at)),
    ({ commit }) => commit,
  )
  return [...byCommit].map(([commit, checks]) => (
    <Section key={commit} title={<code>{commit.slice(0, 10)}</code>}>
      {checks.map(check => (
        <CheckLine key={check.id} check={check} />
      ))}
    </Section>
  ))
}

function CheckLine({ check }: { check: Check }) {
  const { name, command, passed, exit_code, seconds, output, created_at, purpose } = check
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
