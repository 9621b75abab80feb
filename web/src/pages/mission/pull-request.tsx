import { Badge, Button, Flex, Text } from '@radix-ui/themes'
import { Check, CircleDashed, ExternalLink, GitMerge, GitPullRequestArrow, RefreshCw, X } from 'lucide-react'
import { plain, safeLink } from '../../kit/plain.ts'
import { tell } from '../../kit/toasts.tsx'
import { useCommand } from '../../live/data.ts'
import { useMay } from '../../live/me.ts'
import type { Detail } from './actions.ts'
import './pull-request.css'

type Pull = NonNullable<Detail['pull_request']>

const STATES: Record<Pull['state'], { words: string; tone: 'gray' | 'green' | 'iris' | 'red' }> = {
  opening: { words: 'Opening…', tone: 'gray' },
  open: { words: 'Open', tone: 'green' },
  merged: { words: 'Merged', tone: 'iris' },
  closed: { words: 'Closed', tone: 'red' },
}
const CHECKS = {
  passed: { Icon: Check, words: 'passed' },
  failed: { Icon: X, words: 'failed' },
  running: { Icon: CircleDashed, words: 'running' },
} as const

/** Whether a pull request can be opened for it now. */
export const canPropose = ({ status, result, candidate, branch, pull_request }: Detail): boolean =>
  candidate !== null &&
  branch !== null &&
  pull_request?.state !== 'open' &&
  pull_request?.state !== 'opening' &&
  (status === 'review' || (status === 'done' && result === 'kept'))

/** The pull request of a mission: its state and checks at GitHub, and what can be done with it. */
export function PullRequest({ mission }: { mission: Detail }) {
  const { pull_request: pull } = mission
  return (
    <Flex direction="column" gap="2" align="start" minWidth="0">
      {pull && <Known pull={pull} />}
      {pull?.state === 'open' && <Checks checks={pull.checks} />}
      <Acts mission={mission} />
    </Flex>
  )
}

function Known({ pull: { url, number, state } }: { pull: Pull }) {
  const address = safeLink(url)
  return (
    <Flex gap="2" align="center" wrap="wrap">
      <Badge color={STATES[state].tone} highContrast>
        {STATES[state].words}
      </Badge>
      {address && (
        <a href={address} target="_blank" rel="noreferrer noopener" title={address}>
          Pull request {number === null ? '' : `#${number}`} <ExternalLink size={12} aria-hidden />
        </a>
      )}
    </Flex>
  )
}

function Checks({ checks }: Pick<Pull, 'checks'>) {
  if (!checks.length)
    return (
      <Text size="2" color="gray">
        No CI checks reported yet.
      </Text>
    )
  return (
    <ul className="pull-checks" aria-label="CI checks">
      {checks.map(({ name, state, url }) => {
        const { Icon, words } = CHECKS[state]
        const address = safeLink(url)
        return (
          <li key={name} data-state={state}>
            <Icon size={13} aria-hidden />{' '}
            {address ? (
              <a href={address} target="_blank" rel="noreferrer noopener">
                {plain(name)}
              </a>
            ) : (
              plain(name)
            )}{' '}
            {words}
          </li>
        )
      })}
    </ul>
  )
}

function Acts({ mission }: { mission: Detail }) {
  const open = useCommand('open_pull_request', { affects: ['get_mission'] })
  const merge = useCommand('merge_pull_request', { affects: ['get_mission'] })
  const refresh = useCommand('land_mission', { affects: ['get_mission'] })
  const mayLand = useMay('open_pull_request', mission.project_id)
  const { id, candidate, pull_request: pull } = mission
  if (!mayLand || !candidate) return null
  const shown = { mission_id: id, expected: candidate.commit }
  if (canPropose(mission))
    return (
      <Button
        size="1"
        variant="soft"
        highContrast
        className="two-lines"
        loading={open.busy}
        onClick={async () => {
          if (await open.run(shown)) tell({ text: 'Running the checks, then pushing and opening a pull request' })
        }}
      >
        <GitPullRequestArrow size={13} aria-hidden /> Push and open pull request
      </Button>
    )
  if (pull?.state !== 'open' || mission.status !== 'review') return null
  const isNewer = pull.work !== candidate.commit
  return (
    <Flex gap="2" wrap="wrap">
      {!isNewer && (
        <Button
          size="1"
          loading={merge.busy}
          onClick={async () => {
            if (await merge.run(shown)) tell({ text: 'Merged on GitHub. The local base branch is being updated.' })
          }}
        >
          <GitMerge size={13} aria-hidden /> Merge
        </Button>
      )}
      <Button size="1" variant="soft" highContrast loading={refresh.busy} onClick={() => refresh.run(shown)}>
        <RefreshCw size={13} aria-hidden /> {isNewer ? 'Push the new work' : 'Refresh'}
      </Button>
    </Flex>
  )
}
