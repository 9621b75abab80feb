import { ShieldCheck } from 'lucide-react'
import { CheckLine } from '../../kit/check-line.tsx'
import { Empty, Section } from '../../kit/page.tsx'
import type { Detail } from './actions.ts'

/** The checks that ran, the commit they ran on, and their results. */
export function Checks({ mission }: { mission: Detail }) {
  if (mission.evidence.length === 0)
    return (
      <Empty icon={ShieldCheck} title="No checks have run yet">
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
