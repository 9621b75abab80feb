import { Button, Card, Flex, Select, Text, TextArea } from '@radix-ui/themes'
import { Network, Play } from 'lucide-react'
import { type KeyboardEvent, useState } from 'react'
import { Link, useLocation } from 'wouter'
import type { Output } from '../../api/client.ts'
import { plain } from '../../kit/plain.ts'
import { namesOf } from '../../kit/project-names.ts'
import { useRemembered } from '../../kit/remembered.ts'
import { tell } from '../../kit/toasts.tsx'
import { useAsk, useCommand } from '../../live/data.ts'

const LONGEST_TITLE = 80

/** The first line, short enough for a list. */
export function titleOf(text: string): string {
  const [line = ''] = text.trim().split('\n')
  if (line.length <= LONGEST_TITLE) return line
  const cut = line.slice(0, LONGEST_TITLE)
  return `${cut.slice(0, Math.max(cut.lastIndexOf(' '), LONGEST_TITLE / 2))}…`
}

const OF_PROJECT = ' '

function useInstalled() {
  const agents = useAsk('list_agents', {}).data?.agents
  return agents && [...new Map(agents.map(agent => [agent.name, agent])).values()].filter(({ installed }) => installed)
}

/** One box for a task or a plan. */
export function Composer({ projects }: { projects: Output<'list_projects'>['projects'] }) {
  const [, go] = useLocation()
  const [text, setText] = useState('')
  const [remembered, remember] = useRemembered('project')
  const project = projects.find(({ id }) => id === remembered) ?? projects[0]!
  const [kept, keep] = useRemembered('agent')
  const [chosen, setChosen] = useState<string | null>(kept)
  const agents = useInstalled()
  // An agent that was uninstalled cannot be chosen.
  const known = agents?.find(({ name }) => name === chosen)
  const agent = known?.name
  const isScript = known?.can.scripts === true
  const choose = (name: string | null) => {
    setChosen(name)
    // A script agent is not remembered: text typed at the next visit may be prose.
    if (!agents?.find(each => each.name === name)?.can.scripts) keep(name)
  }
  const create = useCommand('create_mission')
  const plan = useCommand('plan_project')
  const words = text.trim()
  const run = async () => {
    const mission = await create.run({
      project_id: project.id,
      title: titleOf(words),
      detailed_prompt: words,
      agent,
      auto_dispatch: true,
    })
    if (!mission) return
    setText('')
    tell({ text: `“${mission.title}” is queued`, action: { label: 'Open', run: () => go(`/missions/${mission.id}`) } })
  }
  const makePlan = async () => {
    const made = await plan.run({ project_id: project.id, prompt: words, agent })
    if (!made) return
    setText('')
    go(`/plans/${made.id}`)
  }
  const byKey = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && (event.metaKey || event.ctrlKey) && words && !create.busy) {
      event.preventDefault()
      run()
    }
  }
  return (
    <Card className="composer">
      <TextArea
        aria-label={isScript ? 'Script' : 'Task'}
        className={isScript ? 'code-field' : undefined}
        spellCheck={!isScript}
        placeholder={
          isScript
            ? 'Script: /bin/sh runs it exactly as written.'
            : 'What should be done? Describe a task for one agent, or something bigger to plan first.'
        }
        value={text}
        rows={3}
        resize="vertical"
        onChange={event => setText(event.target.value)}
        onKeyDown={byKey}
      />
      <Flex gap="2" mt="2" align="center" wrap="wrap">
        <Select.Root value={project.id} onValueChange={remember}>
          <Select.Trigger aria-label="Project" className="composer-project" />
          <Select.Content position="popper">
            {[...namesOf(projects)].map(([id, name]) => (
              <Select.Item key={id} value={id}>
                {plain(name)}
              </Select.Item>
            ))}
          </Select.Content>
        </Select.Root>
        <Select.Root value={agent ?? OF_PROJECT} onValueChange={name => choose(name === OF_PROJECT ? null : name)}>
          <Select.Trigger aria-label="Agent" className="composer-project" />
          <Select.Content position="popper">
            <Select.Item value={OF_PROJECT}>
              {project.agent ? `Agent of the project (${plain(project.agent)})` : 'Agent of the project'}
            </Select.Item>
            {agents?.map(({ name, title }) => (
              <Select.Item key={name} value={name}>
                {title}
              </Select.Item>
            ))}
          </Select.Content>
        </Select.Root>
        <Text size="1" color="gray" className="composer-hint">
          {isScript && 'Script, run by /bin/sh · '}
          <Link href="/missions/new">All settings</Link>
        </Text>
        <Flex gap="2" ml="auto">
          <Button
            variant="soft"
            highContrast
            disabled={!words || create.busy || isScript}
            loading={plan.busy}
            onClick={makePlan}
            title="An agent reads the project and suggests missions"
          >
            <Network size={16} /> Plan
          </Button>
          <Button
            disabled={!words || plan.busy}
            loading={create.busy}
            onClick={run}
            title={
              isScript
                ? '/bin/sh runs the script as soon as a slot is free'
                : 'One agent starts as soon as a slot is free'
            }
          >
            <Play size={16} /> Run
          </Button>
        </Flex>
      </Flex>
    </Card>
  )
}
