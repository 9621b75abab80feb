import { Badge, Button, Card, Dialog, Flex, Grid, Text } from '@radix-ui/themes'
import { FolderGit2, Plus } from 'lucide-react'
import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import { LANDING_WORDS } from '../../../../src/domain/choices.ts'
import type { Output } from '../../api/client.ts'
import { useAgentTitle } from '../../kit/agent-title.ts'
import { useFocusBack } from '../../kit/focus-back.ts'
import { May } from '../../kit/may.tsx'
import { Answer, Empty, Page } from '../../kit/page.tsx'
import { plain } from '../../kit/plain.ts'
import { StatusDot } from '../../kit/status.tsx'
import { STATUS_WORDS, STATUSES } from '../../kit/words.ts'
import { useAsk } from '../../live/data.ts'
import { AddRepository } from '../home/add-repository.tsx'
import './projects.css'

type Project = Output<'list_projects'>['projects'][number]

export default function Projects() {
  const [adding, setAdding] = useState(false)
  const projects = useAsk('list_projects', { limit: 500 })
  const counts = useAsk('count_missions', {}).data?.projects
  const add = (
    <May use="create_project">
      <Button onClick={() => setAdding(true)}>
        <Plus size={16} /> Add project
      </Button>
    </May>
  )
  return (
    <Page title="Projects" about="Repositories on this machine that agents work on" actions={add}>
      <Answer of={projects}>
        {({ projects: list }) =>
          list.length === 0 ? (
            <Empty icon={FolderGit2} title="No projects yet" action={add}>
              A project is a git repository on this machine. Agents work in their own worktrees and leave your checkout
              alone.
            </Empty>
          ) : (
            <Grid columns={{ initial: '1', sm: '2', lg: '3' }} gap="3">
              {list.map(project => (
                <ProjectCard key={project.id} project={project} counts={counts && (counts[project.id] ?? {})} />
              ))}
            </Grid>
          )
        }
      </Answer>
      {adding && <AddProject close={() => setAdding(false)} />}
    </Page>
  )
}

interface CardProps {
  project: Project
  /** Undefined until it is known. */
  counts: Record<string, number> | undefined
}

function ProjectCard({ project, counts }: CardProps) {
  const titleOf = useAgentTitle()
  const { id, name, path, description, landing, agent, paused } = project
  return (
    <Card asChild className="project">
      <Link href={`/projects/${id}`}>
        <Flex justify="between" gap="2">
          <Text weight="medium" truncate>
            {plain(name)}
          </Text>
          {paused && (
            <Badge color="amber" highContrast>
              Paused
            </Badge>
          )}
        </Flex>
        <Text as="div" size="1" color="gray" truncate title={plain(path)}>
          {plain(path)}
        </Text>
        {description && (
          <Text as="div" size="2" mt="1" truncate>
            {plain(description)}
          </Text>
        )}
        <Counts counts={counts} />
        <Text as="div" size="1" color="gray" mt="2">
          Landing: {LANDING_WORDS[landing].toLowerCase()} · Agent: {agent ? titleOf(agent) : 'none yet'}
        </Text>
      </Link>
    </Card>
  )
}

function Counts({ counts }: Pick<CardProps, 'counts'>) {
  const shown = STATUSES.filter(status => counts?.[status] && status !== 'cancelled')
  return (
    <Flex gap="3" mt="2" wrap="wrap" minHeight="20px">
      {shown.map(status => (
        <Text key={status} size="1" className="project-count">
          <StatusDot status={status} /> {counts?.[status]} {STATUS_WORDS[status].toLowerCase()}
        </Text>
      ))}
      {counts && shown.length === 0 && (
        <Text size="1" color="gray">
          No missions yet
        </Text>
      )}
    </Flex>
  )
}

function AddProject({ close }: { close(): void }) {
  const focusBack = useFocusBack()
  const [, go] = useLocation()
  return (
    <Dialog.Root open onOpenChange={open => open || close()}>
      <Dialog.Content maxWidth="620px" onCloseAutoFocus={focusBack}>
        <Dialog.Title size="4" mb="1">
          Add a project
        </Dialog.Title>
        <Dialog.Description size="2" color="gray" mb="3">
          A git repository on the machine that runs Flotilla.
        </Dialog.Description>
        <AddRepository added={id => go(`/projects/${id}`)} />
        <Flex mt="4" justify="end">
          <Button variant="soft" color="gray" highContrast onClick={close}>
            Cancel
          </Button>
        </Flex>
      </Dialog.Content>
    </Dialog.Root>
  )
}
