import { Button, Flex, Tabs } from '@radix-ui/themes'
import { Pause, Play, Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { Link, useLocation, useParams, useSearchParams } from 'wouter'
import type { HeldWorktree } from '../../api/client.ts'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { HeldWork } from '../../kit/held-work.tsx'
import { Answer, Page } from '../../kit/page.tsx'
import { plain } from '../../kit/plain.ts'
import { useAsk, useCommand } from '../../live/data.ts'
import { useMayDo } from '../../live/me.ts'
import { ProjectChecks } from './checks.tsx'
import { McpServers } from './mcp-servers.tsx'
import { MissionList } from './missions.tsx'
import type { Project } from './project.ts'
import { ProjectSettings } from './settings.tsx'

export default function ProjectPage() {
  const { project_id = '' } = useParams()
  const project = useAsk('get_project', { project_id })
  return (
    <Answer
      of={project}
      loading={
        <Page title="Project">
          <div />
        </Page>
      }
    >
      {found => <Shown key={found.id} project={found} />}
    </Answer>
  )
}

function Shown({ project }: { project: Project }) {
  const [search, setSearch] = useSearchParams()
  const tab = search.get('tab') ?? 'missions'
  return (
    <Page title={plain(project.name)} about={plain(project.path)} actions={<Actions project={project} />}>
      <Tabs.Root value={tab} onValueChange={next => setSearch({ tab: next }, { replace: true })}>
        <Tabs.List highContrast wrap="wrap">
          <Tabs.Trigger value="missions">Missions</Tabs.Trigger>
          <Tabs.Trigger value="settings">Settings and budget</Tabs.Trigger>
          <Tabs.Trigger value="checks">Checks</Tabs.Trigger>
          <Tabs.Trigger value="mcp">MCP servers</Tabs.Trigger>
        </Tabs.List>
        <Flex direction="column" pt="4">
          <Tabs.Content value="missions">
            <MissionList project={project} />
          </Tabs.Content>
          <Tabs.Content value="settings">
            <ProjectSettings project={project} />
          </Tabs.Content>
          <Tabs.Content value="checks">
            <ProjectChecks project={project} />
          </Tabs.Content>
          <Tabs.Content value="mcp">
            <McpServers project={project} />
          </Tabs.Content>
        </Flex>
      </Tabs.Root>
    </Page>
  )
}

function Actions({ project: { id, name, paused } }: { project: Project }) {
  const [, go] = useLocation()
  const may = useMayDo()
  const pause = useCommand('pause')
  const unpause = useCommand('unpause')
  const [held, setHeld] = useState<readonly HeldWorktree[]>([])
  const isShown = () => location.pathname.endsWith(`/projects/${id}`)
  const remove = useCommand('delete_project', {
    done: () => isShown() && go('/projects'),
    refused: ({ worktrees }) => {
      const asks = worktrees.length > 0 && isShown()
      if (asks) setHeld(worktrees)
      return asks
    },
  })
  const forget = (discard: boolean) => {
    setHeld([])
    remove.runLater(`Removing ${plain(name)} and its missions. Its branches stay.`, { project_id: id, discard })
  }
  return (
    <>
      {may('create_mission', id) && (
        <Button asChild>
          <Link href={`/missions/new?project=${id}`}>
            <Plus size={16} /> New mission
          </Link>
        </Button>
      )}
      {!may('pause', id) ? null : paused ? (
        <Button variant="soft" highContrast loading={unpause.busy} onClick={() => unpause.run({ project_id: id })}>
          <Play size={16} /> Unpause
        </Button>
      ) : (
        <Button
          variant="soft"
          color="gray"
          highContrast
          loading={pause.busy}
          onClick={() => pause.run({ project_id: id })}
        >
          <Pause size={16} /> Pause
        </Button>
      )}
      {may('delete_project', id) && (
        <Button variant="soft" color="red" highContrast loading={remove.busy} onClick={() => forget(false)}>
          <Trash2 size={16} /> Remove
        </Button>
      )}
      {held.length > 0 && (
        <FormDialog
          title="Delete uncommitted work too?"
          act="Remove with that work"
          close={() => setHeld([])}
          submit={() => forget(true)}
        >
          <HeldWork worktrees={held} />
        </FormDialog>
      )}
    </>
  )
}
