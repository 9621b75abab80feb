import { FolderGit2 } from 'lucide-react'
import { Answer, Empty, Lines, Page } from '../../kit/page.tsx'
import { useAsk } from '../../live/data.ts'
import { useMayDo } from '../../live/me.ts'
import { Composer } from './composer.tsx'
import { FirstVisit } from './first-visit.tsx'
import './home.css'
import { Landed } from './landed.tsx'
import { NeedsYou } from './needs-you.tsx'
import { Running } from './running.tsx'
import { Today } from './today.tsx'

/** What needs a person, what is running, what landed, and a box for new work. */
export default function Home() {
  const projects = useAsk('list_projects', { limit: 500 })
  const may = useMayDo()
  const total = useAsk('count_missions', {}).data?.total
  return (
    <Page title="Home">
      <Answer of={projects} loading={<Lines rows={5} height={90} />}>
        {({ projects: list }) =>
          list.length === 0 ? (
            may('create_project') ? (
              <FirstVisit />
            ) : (
              <Empty icon={FolderGit2} title="No projects yet">
                Projects that you may see appear here.
              </Empty>
            )
          ) : (
            <div className="home">
              <div className="home-main">
                <Composer projects={list.filter(({ id }) => may('create_mission', id))} isFirst={total === 0} />
                <NeedsYou />
                <Running />
              </div>
              <div className="home-side">
                <Today />
                <Landed />
              </div>
            </div>
          )
        }
      </Answer>
    </Page>
  )
}
