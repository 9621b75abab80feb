import { Button, Card, Flex, Select, Text } from '@radix-ui/themes'
import { Network, Play } from 'lucide-react'
import { type KeyboardEvent, useEffect, useState } from 'react'
import { Link, useLocation } from 'wouter'
import type { Output } from '../../api/client.ts'
import { useAgentTitle } from '../../kit/agent-title.ts'
import { useImageRefusal } from '../../kit/choosers.tsx'
import { PictureButton, PictureField } from '../../kit/picture-field.tsx'
import { usePictures } from '../../kit/pictures.ts'
import { plain } from '../../kit/plain.ts'
import { namesOf } from '../../kit/project-names.ts'
import { useRemembered } from '../../kit/remembered.ts'
import { tell } from '../../kit/toasts.tsx'
import { useAsk, useCommand } from '../../live/data.ts'
import { useMayDo } from '../../live/me.ts'
import { MOD } from '../../shell/keys.ts'
import { REPEATS, titleFrom } from '../mission/new-draft.ts'
import { PromptBox } from '../mission/prompt-box.tsx'
import { COMMANDS, commandIn } from '../mission/prompt-completion.ts'
import { rememberPrompt } from '../mission/prompt-history.ts'
import { useTemplateCommands } from '../mission/use-template-commands.ts'
import { oneEach } from './agents-here.tsx'

const OF_PROJECT = ' '
const ONCE = 'once'
/** Works on any repository, and is done in minutes. */
const FIRST_TASKS = [
  'Explain how this project is built and tested, and write it into README.md.',
  'Find one function without a test, and write the test.',
  'Look for TODO comments and fix the smallest one.',
]

interface ComposerProps {
  projects: Output<'list_projects'>['projects']
  /** There is no mission yet. */
  isFirst: boolean
}

/** One box for a task or a plan, for those who may create missions. */
export const Composer = (props: ComposerProps) => (props.projects.length ? <Box {...props} /> : null)

function Box({ projects, isFirst }: ComposerProps) {
  const [, go] = useLocation()
  const [text, setText] = useState('')
  const [repeat, setRepeat] = useState(ONCE)
  const [remembered, remember] = useRemembered('project')
  const project = projects.find(({ id }) => id === remembered) ?? projects[0]!
  const { agents, agent, isScript, choose, isReady } = useAgentChoice(project)
  const pictures = usePictures()
  const create = useCommand('create_mission')
  const plan = useCommand('plan_project')
  const may = useMayDo()
  const mayRun = may('dispatch_mission', project.id)
  const mayPlan = may('plan_project', project.id)
  const maySchedule = mayRun && may('schedule_mission', project.id)
  const { name: command, text: words } = commandIn(text)
  const runsScript = isScript || command === 'script'
  const chosen = command === 'script' ? agents?.find(({ can }) => can.scripts)?.name : agent
  const takesNone = useImageRefusal()(chosen ?? project.agent)
  const refusal = pictures.list.length > 0 ? takesNone : undefined
  const templates = useTemplateCommands(name =>
    go(`/missions/new?${new URLSearchParams({ template: name, project: project.id })}`),
  )
  const done = () => {
    rememberPrompt(text)
    setText('')
    setRepeat(ONCE)
    pictures.clear()
  }
  const run = async () => {
    const mission = await create.run({
      project_id: project.id,
      title: titleFrom(words),
      detailed_prompt: words,
      agent: chosen,
      images: pictures.list.map(({ image }) => image),
      ...(repeat === ONCE
        ? { auto_dispatch: mayRun }
        : { schedule_cron: repeat, schedule_time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone }),
    })
    if (!mission) return
    done()
    const open = { label: 'Open', run: () => go(`/missions/${mission.id}`) }
    const when = REPEATS.find(({ cron }) => cron === repeat)?.label.toLowerCase()
    tell({
      text: when
        ? `“${mission.title}” runs ${when}`
        : `“${mission.title}” ${mayRun ? 'is queued' : 'is a draft. Somebody who may start it does that'}`,
      action: open,
    })
  }
  const makePlan = async () => {
    const images = pictures.list.map(({ image }) => image)
    const made = await plan.run({ project_id: project.id, prompt: words, agent, images })
    if (!made) return
    done()
    go(`/plans/${made.id}`)
  }
  const isBusy = create.busy || plan.busy || pictures.busy || refusal !== undefined
  // Who pressed the keys before the agents were known meant the text as it was then.
  const [wanted, want] = useState<string | null>(null)
  const isWanted = wanted !== null && wanted === text
  const submit = () => {
    want(null)
    if (!words || isBusy) return
    if (command !== 'plan') run()
    else if (mayPlan) makePlan()
  }
  const byKey = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !(event.metaKey || event.ctrlKey) || !words) return
    event.preventDefault()
    if (isReady) submit()
    else want(text)
  }
  useEffect(() => {
    if (isWanted && isReady) submit()
  })
  return (
    <Card className="composer" onKeyDown={byKey}>
      <PictureField pictures={pictures} refusal={refusal}>
        <PromptBox
          label={isScript ? 'Script' : 'Task'}
          placeholder={
            isScript
              ? 'Write a shell script. /bin/sh runs it exactly as written.'
              : 'Describe a task for an agent, or a bigger goal to plan'
          }
          value={text}
          set={setText}
          rows={3}
          projectId={project.id}
          isScript={isScript}
          autoFocus={isFirst}
          commands={[...COMMANDS, ...templates]}
        />
      </PictureField>
      {isFirst && !runsScript && !text && (
        <Flex gap="2" mt="2" wrap="wrap" align="center">
          <Text size="1" color="gray">
            First task:
          </Text>
          {FIRST_TASKS.map(task => (
            <Button key={task} size="1" variant="surface" color="gray" highContrast onClick={() => setText(task)}>
              {task.split(',')[0]!.replace(/\.$/, '')}
            </Button>
          ))}
        </Flex>
      )}
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
        <AgentSelect project={project} agents={agents} agent={agent} choose={choose} />
        {maySchedule && (
          <Select.Root value={repeat} onValueChange={setRepeat}>
            <Select.Trigger aria-label="Schedule" variant="ghost" className="composer-repeat" />
            <Select.Content position="popper">
              <Select.Item value={ONCE}>Run now</Select.Item>
              {REPEATS.map(({ cron, label }) => (
                <Select.Item key={cron} value={cron}>
                  {label}
                </Select.Item>
              ))}
            </Select.Content>
          </Select.Root>
        )}
        <PictureButton pictures={pictures} />
        <Text size="1" color="gray" className="composer-hint">
          <Link href={`/missions/new?project=${project.id}`}>All settings</Link>
        </Text>
        <Flex gap="2" ml="auto">
          {mayPlan && (
            <Button
              variant={command === 'plan' ? 'solid' : 'soft'}
              highContrast={command !== 'plan'}
              disabled={!words || isBusy || runsScript || repeat !== ONCE}
              loading={plan.busy}
              onClick={makePlan}
              title="An agent reads the project and proposes missions"
            >
              <Network size={16} /> Plan
            </Button>
          )}
          <Button
            variant={command === 'plan' ? 'soft' : 'solid'}
            disabled={!words || isBusy || command === 'plan' || !isReady}
            loading={create.busy || (isWanted && !isReady)}
            onClick={run}
            title={
              !isReady
                ? 'Looking for the agents on this machine…'
                : mayRun
                  ? `${runsScript ? '/bin/sh runs the script' : 'One agent starts'} when a slot is free (${MOD}Enter)`
                  : `Somebody who may start missions starts it (${MOD}Enter)`
            }
          >
            <Play size={16} /> {!mayRun ? 'Create draft' : repeat === ONCE ? 'Run' : 'Schedule'}
          </Button>
        </Flex>
      </Flex>
    </Card>
  )
}

type Project = ComposerProps['projects'][number]
type Agent = Output<'list_agents'>['agents'][number]

/** The agent for the next task. Without any coding agent it is the one that runs scripts, by name. */
function useAgentChoice({ agent: own }: Project) {
  const [kept, keep] = useRemembered('agent')
  const [chosen, setChosen] = useState<string | null>(kept)
  const list = useAsk('list_agents', {}).data?.agents
  const agents = list && oneEach(list).filter(({ installed }) => installed)
  const fallback = useAsk('get_engine', {}).data?.default_agent
  const script = agents?.find(({ can }) => can.scripts)
  const none = agents !== undefined && !own && !fallback && agents.every(({ can }) => can.scripts)
  // An agent that was uninstalled cannot be chosen.
  const known = agents?.find(({ name }) => name === chosen) ?? (none ? script : undefined)
  return {
    agents,
    agent: known?.name,
    isScript: known?.can.scripts === true,
    isReady: agents !== undefined,
    choose(name: string | null) {
      setChosen(name)
      // A script agent is not remembered: text typed at the next visit may be prose.
      if (!agents?.find(each => each.name === name)?.can.scripts) keep(name)
    },
  }
}

interface AgentSelectProps {
  project: Project
  agents: Agent[] | undefined
  agent: string | undefined
  choose(name: string | null): void
}

function AgentSelect({ project, agents, agent, choose }: AgentSelectProps) {
  const titleOf = useAgentTitle()
  const fallback = useAsk('get_engine', {}).data?.default_agent
  const usual = project.agent ?? fallback
  return (
    <Select.Root value={agent ?? OF_PROJECT} onValueChange={name => choose(name === OF_PROJECT ? null : name)}>
      <Select.Trigger aria-label="Agent" className="composer-project" />
      <Select.Content position="popper">
        <Select.Item value={OF_PROJECT}>
          {usual ? `Project default (${plain(titleOf(usual))})` : 'Project default'}
        </Select.Item>
        {agents?.map(({ name, title, can, signed_in }) => (
          <Select.Item key={name} value={name}>
            {can.scripts ? `Run a script (${name})` : `${title}${signed_in === false ? ' (not signed in)' : ''}`}
          </Select.Item>
        ))}
      </Select.Content>
    </Select.Root>
  )
}
