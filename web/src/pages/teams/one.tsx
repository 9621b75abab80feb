import { Badge, Callout, Flex } from '@radix-ui/themes'
import { Pause, RefreshCw } from 'lucide-react'
import { Suspense, useState } from 'react'
import { Link, useLocation, useParams, useSearchParams } from 'wouter'
import { useProjectNames } from '../../kit/choosers.tsx'
import { useSingleColumn } from '../../kit/narrow.ts'
import { Answer, Lines, Page } from '../../kit/page.tsx'
import { PartTabs } from '../../kit/part-tabs.tsx'
import { plain } from '../../kit/plain.ts'
import { dollars } from '../../kit/words.ts'
import { useAsk } from '../../live/data.ts'
import { useMay, useMe } from '../../live/me.ts'
import { useShortcuts } from '../../shell/keys.ts'
import { TeamControls } from './controls.tsx'
import { Rail } from './members.tsx'
import type { Wanted } from './part.ts'
import { PARTS, type Part, useCounts } from './parts.tsx'
import './team.css'
import type { Member, Team } from './words.ts'

export default function TeamPage() {
  const { team_id = '' } = useParams()
  const team = useAsk('get_team', { team_id })
  return (
    <Answer
      of={team}
      loading={
        <Page title="Team">
          <Lines rows={6} />
        </Page>
      }
    >
      {found => <Shown key={found.id} team={found} />}
    </Answer>
  )
}

/** Who looks, as a member of this team. People become members when they write for the first time. */
function useMyself(members: readonly Member[]): Member | undefined {
  const me = useMe()
  const actor = me?.kind === 'owner' ? 'person' : `${me?.kind}:${me?.id}`
  return members.find(({ person }) => person === actor)
}

function Shown({ team }: { team: Team }) {
  const { id, name, description, project_id, members, paused, circles } = team
  const projectName = useProjectNames()
  const maySpend = useMay('costs.read', project_id)
  const isSingle = useSingleColumn()
  const [search] = useSearchParams()
  const [, go] = useLocation()
  const [wanted, setWanted] = useState<Wanted>()
  const counts = useCounts(team)
  const myself = useMyself(members)
  // Beside the other parts, unless there is no room.
  const parts = (Object.keys(PARTS) as Part[]).filter(each => isSingle || each !== 'members')
  const asked = search.get('tab') as Part | null
  const part = asked && parts.includes(asked) ? asked : 'mail'
  const addressOf = (each: Part) => (each === 'mail' ? `/teams/${id}` : `/teams/${id}?tab=${each}`)
  const write = (handle = '') => {
    setWanted({ handle })
    if (part !== 'mail') go(addressOf('mail'))
  }
  const step = (by: number) => go(addressOf(parts[(parts.indexOf(part) + by + parts.length) % parts.length]!))
  useShortcuts([
    { keys: 'w', title: 'Write a message', run: () => write() },
    { keys: ']', title: 'Next part of the team', run: () => step(1) },
    { keys: '[', title: 'Previous part of the team', run: () => step(-1) },
  ])
  const View = PARTS[part].view
  // A board needs the whole width.
  const hasRail = !isSingle && part !== 'tasks'
  const shown = { team, myself, write, wanted, met: () => setWanted(undefined) }
  return (
    <Page
      title={plain(name)}
      wide={part === 'tasks'}
      about={
        <Flex gap="2" align="center" wrap="wrap">
          <span>
            Team in <Link href={`/projects/${project_id}`}>{plain(projectName(project_id)) || 'its project'}</Link>
            {maySpend && ` · ${spentWords(team)}`}
          </span>
          {paused && (
            <Badge color="amber" highContrast>
              Paused
            </Badge>
          )}
        </Flex>
      }
      actions={<TeamControls team={team} />}
    >
      {description && <p className="team-about break">{plain(description)}</p>}
      {paused && (
        <Callout.Root color="amber" highContrast mb="4">
          <Callout.Icon>
            <Pause size={16} />
          </Callout.Icon>
          <Callout.Text>Nobody in this team is woken. Mail waits until you unpause it.</Callout.Text>
        </Callout.Root>
      )}
      {circles.map(({ members: inside, waits }) => (
        <Callout.Root key={inside.join()} color="amber" highContrast mb="4">
          <Callout.Icon>
            <RefreshCw size={16} />
          </Callout.Icon>
          <Callout.Text className="break">
            {plain(inside.join(', '))} wait for each other. {waits.map(({ text }) => plain(text)).join(' ')}
          </Callout.Text>
        </Callout.Root>
      ))}
      <PartTabs
        label="Parts of the team"
        active={part}
        tabs={parts.map(key => ({ key, title: PARTS[key].title, address: addressOf(key), count: counts[key] }))}
      />
      <div className="team" data-rail={hasRail || undefined}>
        {hasRail && (
          <div className="team-rail">
            <Rail {...shown} />
          </div>
        )}
        <div className="team-part">
          <Suspense fallback={<Lines />}>
            <View {...shown} />
          </Suspense>
        </div>
      </div>
    </Page>
  )
}

const spentWords = ({ spent_usd, max_budget_usd }: Team): string =>
  max_budget_usd === null
    ? `${dollars(spent_usd)} spent, no limit`
    : `${dollars(spent_usd)} of ${dollars(max_budget_usd)} spent`
