import { GitCompareArrows } from 'lucide-react'
import { useSearchParams } from 'wouter'
import { Empty, Page } from '../../kit/page.tsx'
import { CompareMissions } from './compare-missions.tsx'
import { CompareSessions } from './compare-sessions.tsx'

/** Compares two missions or sessions side by side. */
export default function Compare() {
  const [search] = useSearchParams()
  const [first, second] = [search.get('first'), search.get('second')]
  return (
    <Page title="Compare" wide>
      {!first || !second ? (
        <Empty icon={GitCompareArrows} title="Nothing to compare">
          Open this page from a review of missions that change the same files, or from a mission that was forked or has
          several sessions. It shows their summaries, costs, checks and changes side by side.
        </Empty>
      ) : search.get('of') === 'sessions' ? (
        <CompareSessions first={first} second={second} />
      ) : (
        <CompareMissions first={first} second={second} />
      )}
    </Page>
  )
}
