import { GitCompareArrows } from 'lucide-react'
import { useSearchParams } from 'wouter'
import { Empty, Page } from '../../kit/page.tsx'
import { CompareMissions } from './compare-missions.tsx'
import { CompareSessions } from './compare-sessions.tsx'

/** Two pieces of work side by side, to choose one of them. */
export default function Compare() {
  const [search] = useSearchParams()
  const [first, second] = [search.get('first'), search.get('second')]
  return (
    <Page title="Compare" wide>
      {!first || !second ? (
        <Empty icon={GitCompareArrows} title="Two are needed">
          Reviews of missions that change the same files link here, as do missions that were forked or ran twice: their
          summaries, costs, checks and changes stand side by side, and one of them is chosen.
        </Empty>
      ) : search.get('of') === 'sessions' ? (
        <CompareSessions first={first} second={second} />
      ) : (
        <CompareMissions first={first} second={second} />
      )}
    </Page>
  )
}
