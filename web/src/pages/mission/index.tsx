import { useState } from 'react'
import { Link, useParams, useSearchParams } from 'wouter'
import { useProjectNames } from '../../kit/choosers.tsx'
import { Answer, Lines, Page, Problem } from '../../kit/page.tsx'
import { PartTabs } from '../../kit/part-tabs.tsx'
import { plain } from '../../kit/plain.ts'
import { StatusBadge } from '../../kit/status.tsx'
import { Elapsed } from '../../kit/time.tsx'
import { dollars, shortId } from '../../kit/words.ts'
import { useAsk } from '../../live/data.ts'
import { useMay } from '../../live/me.ts'
import { useActing } from './acting.tsx'
import { type Detail, liveSession } from './actions.ts'
import { ActionsMenu } from './actions-menu.tsx'
import { Checks } from './checks.tsx'
import { Hands } from './kept.tsx'
import { Live } from './live.tsx'
import './mission.css'
import { Notes } from './notes.tsx'
import { OpenIn } from './open-in.tsx'
import { Overview } from './overview.tsx'
import { Related } from './related.tsx'
import { Sessions } from './sessions.tsx'
import { MissionSettings } from './settings.tsx'
import { Timeline } from './timeline.tsx'

const TABS = {
  live: { title: 'Live', view: Live },
  overview: { title: 'Overview', view: Overview },
  sessions: { title: 'Sessions', view: Sessions },
  checks: { title: 'Checks', view: Checks },
  history: { title: 'Timeline', view: Timeline },
  related: { title: 'Related', view: Related },
  notes: { title: 'Notes', view: Notes },
  hands: { title: 'Preview', view: Hands },
  settings: { title: 'Settings', view: MissionSettings },
}
type Tab = keyof typeof TABS

export default function MissionPage() {
  const { mission_id = '' } = useParams<{ mission_id: string }>()
  const mission = useAsk('get_mission', { mission_id })
  if (mission.error)
    return (
      <Page title="Mission">
        <Problem error={mission.error} retry={() => mission.refetch()} />
      </Page>
    )
  return (
    <Answer
      of={mission}
      loading={
        <Page title="Mission">
          <Lines rows={6} />
        </Page>
      }
    >
      {found => <Shown key={found.id} mission={found} />}
    </Answer>
  )
}

function Shown({ mission }: { mission: Detail }) {
  const [search] = useSearchParams()
  const projectName = useProjectNames()
  const acting = useActing(mission)
  const live = liveSession(mission)
  const mayRead = useMay('read_transcript', mission.project_id)
  // Whoever saw its agent at work stays there when the work ends, and goes there when it starts.
  const [sawLive, setSawLive] = useState(false)
  if (live && !sawLive) setSawLive(true)
  const tabs = (Object.keys(TABS) as Tab[]).filter(each => each !== 'live' || (mission.session_id !== null && mayRead))
  const first: Tab = sawLive && mayRead ? 'live' : 'overview'
  const asked = search.get('tab') as Tab | null
  const tab = asked && tabs.includes(asked) ? asked : first
  const addressOf = (each: Tab) => `/missions/${mission.id}${each === first ? '' : `?tab=${each}`}`
  const View = TABS[tab].view
  const counts: Partial<Record<Tab, number>> = {
    sessions: mission.sessions.length,
    checks: mission.evidence.length,
    related: mission.depends_on.length + mission.dependents.length + mission.children.length,
  }
  return (
    <Page
      title={plain(mission.title)}
      filled={tab === 'live'}
      about={
        <span className="mission-head">
          <StatusBadge mission={mission} />
          <Link href={`/projects/${mission.project_id}`}>
            {plain(projectName(mission.project_id) || shortId(mission.project_id))}
          </Link>
          <code title={mission.id}>{shortId(mission.id)}</code>
          {live && <Elapsed from={live.started_at ?? live.created_at} />}
          {mission.usage.cost_usd > 0 && <span>{dollars(mission.usage.cost_usd)}</span>}
          {mission.cancelling && <span>Cancelling…</span>}
          {mission.undoing && <span>Undoing…</span>}
        </span>
      }
      actions={
        <>
          <OpenIn mission={mission} />
          <ActionsMenu acting={acting} />
        </>
      }
    >
      <PartTabs
        label="Parts of the mission"
        active={tab}
        tabs={tabs.map(key => ({ key, title: TABS[key].title, address: addressOf(key), count: counts[key] }))}
      />
      <View mission={mission} />
    </Page>
  )
}
