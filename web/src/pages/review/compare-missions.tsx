import { Button } from '@radix-ui/themes'
import { Link, useLocation } from 'wouter'
import { type Output, Refused } from '../../api/client.ts'
import { useAgentTitle } from '../../kit/agent-title.ts'
import { followLanding } from '../../kit/landings.ts'
import { Lines, Problem } from '../../kit/page.tsx'
import { plain } from '../../kit/plain.ts'
import { StatusBadge } from '../../kit/status.tsx'
import { tell } from '../../kit/toasts.tsx'
import { plural } from '../../kit/words.ts'
import { useAsk, useCommand } from '../../live/data.ts'
import { useMay } from '../../live/me.ts'
import { CompareSessions } from './compare-sessions.tsx'
import { isOpen } from './queue.ts'
import type { Compared } from './side.tsx'
import { Sides } from './sides.tsx'

type MissionSide = Output<'compare_missions'>['first']

/** Two missions, to choose one of them. */
export function CompareMissions({ first, second }: { first: string; second: string }) {
  const titleOf = useAgentTitle()
  const { data, error, refetch } = useAsk('compare_missions', { first, second })
  // The ids may be of two sessions.
  if (error instanceof Refused && error.status === 404) return <CompareSessions first={first} second={second} />
  if (error) return <Problem error={error} retry={refetch} />
  if (!data) return <Lines rows={2} height={240} />
  const [one, two] = [compared(data.first, data.second, titleOf), compared(data.second, data.first, titleOf)]
  return <Sides first={one} second={two} between={data.between} />
}

const compared = (side: MissionSide, other: MissionSide, titleOf: (agent: string) => string): Compared => ({
  ...side,
  title: <Link href={`/missions/${side.mission.id}`}>{plain(side.mission.title)}</Link>,
  about: (
    <>
      <StatusBadge mission={side.mission} /> {side.agent && plain(titleOf(side.agent))} ·{' '}
      {plural(side.sessions, 'session')}
    </>
  ),
  actions: <Choose mission={side.mission} other={other.mission} />,
})

interface ChooseProps {
  mission: MissionSide['mission']
  other: MissionSide['mission']
}

/** The chosen one lands. The work of the other stays on its branch. */
function Choose({ mission, other }: ChooseProps) {
  const [, go] = useLocation()
  const land = useCommand('land_mission', { affects: ['compare_missions'] })
  const reject = useCommand('reject_mission', { affects: ['compare_missions'] })
  const undo = useCommand('undo_mission', { affects: ['compare_missions'] })
  const reconsider = useCommand('reconsider_mission', { affects: ['compare_missions'] })
  const mayLand = useMay('land_mission', mission.project_id)
  const title = plain(mission.title)
  const choose = async () => {
    if (!(await land.run({ mission_id: mission.id, expected: mission.candidate?.commit }))) return
    followLanding(mission.id, {
      title,
      undo: () => undo.run({ mission_id: mission.id }),
      open: () => go(`/review/${mission.id}`),
    })
    const rejects = isOpen(other) && other.status !== 'done'
    if (!rejects || !(await reject.run({ mission_id: other.id, reason: `“${mission.title}” was chosen instead.` })))
      return
    tell({
      text: `“${plain(other.title)}” was rejected. Its work stays on its branch`,
      action: { label: 'Undo rejection', run: () => reconsider.run({ mission_id: other.id }) },
    })
  }
  return (
    <>
      {isOpen(mission) && mayLand && (
        <Button loading={land.busy || reject.busy} onClick={choose}>
          Land this one
        </Button>
      )}
      <Button asChild variant="soft" highContrast>
        <Link href={`/review/${mission.id}`}>Review</Link>
      </Button>
    </>
  )
}
