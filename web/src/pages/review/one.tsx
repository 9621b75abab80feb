import { Text } from '@radix-ui/themes'
import { Link, useParams } from 'wouter'
import { useAgentTitle } from '../../kit/agent-title.ts'
import { useProjectNames } from '../../kit/choosers.tsx'
import { Answer, Lines, Page } from '../../kit/page.tsx'
import { plain } from '../../kit/plain.ts'
import { Time } from '../../kit/time.tsx'
import { shortId } from '../../kit/words.ts'
import { useAsk } from '../../live/data.ts'
import type { Review } from './queue.ts'
import { Reviewing } from './reviewing.tsx'

/** The work of one mission, and the decision about it. */
export default function ReviewOne() {
  const { mission_id } = useParams<{ mission_id: string }>()
  const review = useAsk('get_review', { mission_id })
  const detail = useAsk('get_mission', { mission_id })
  const mission = review.data?.mission
  return (
    <Page title={mission ? plain(mission.title) : 'Review'} about={mission ? <About mission={mission} /> : '…'} wide>
      <Answer of={review} loading={<Lines rows={3} height={120} />}>
        {found => (
          <Answer of={detail} loading={<Lines rows={3} height={120} />}>
            {known => (
              <Reviewing key={`${found.mission.id} ${found.candidate?.commit}`} review={found} detail={known} />
            )}
          </Answer>
        )}
      </Answer>
    </Page>
  )
}

function About({ mission }: { mission: Review['mission'] }) {
  const nameOf = useProjectNames()
  const titleOf = useAgentTitle()
  return (
    <>
      <Link href="/review">Review</Link> · <Link href={`/missions/${mission.id}`}>mission {shortId(mission.id)}</Link>
      {' · '}
      {[nameOf(mission.project_id), mission.agent && titleOf(mission.agent)]
        .filter(Boolean)
        .map(each => `${plain(each!)} · `)}
      <Text>
        <Time at={mission.updated_at} />
      </Text>
    </>
  )
}
