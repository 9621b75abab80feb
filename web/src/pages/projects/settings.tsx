import { APPROVALS, ISOLATION, LANDINGS, PRESETS } from '../../kit/choices.ts'
import { AgentChooser } from '../../kit/choosers.tsx'
import { useDraft } from '../../kit/draft.ts'
import { ChoiceInput, LongTextInput, MinutesInput, NumberInput, SwitchInput, TextInput } from '../../kit/fields.tsx'
import { Editable } from '../../kit/may.tsx'
import { Section } from '../../kit/page.tsx'
import { SaveBar } from '../../kit/save-bar.tsx'
import { tell } from '../../kit/toasts.tsx'
import { useCommand } from '../../live/data.ts'
import type { Project } from './project.ts'
import './projects.css'

const AS_FLEET = 'Fleet default'
const lines = (text: string): string[] => text.split('\n').filter(line => line.trim() !== '')

export function ProjectSettings({ project }: { project: Project }) {
  const { value, changes, isChanged, set, reset } = useDraft(project)
  const { run, busy } = useCommand('update_project')
  const save = async () => {
    if (!(await run({ project_id: project.id, ...changes }))) return
    reset()
    tell({ text: 'Saved. New sessions use it.' })
  }
  return (
    <form
      onSubmit={event => {
        event.preventDefault()
        save()
      }}
    >
      <Editable use="update_project" project={project.id}>
        <Section title="Work">
          <div className="project-form">
            <TextInput label="Name" value={value.name} set={set('name')} required />
            <TextInput
              label="Base branch"
              hint="What work starts from and lands on."
              value={value.base_branch}
              set={set('base_branch')}
            />
            <ChoiceInput
              label="Landing"
              hint="How finished work reaches the base branch."
              value={value.landing}
              set={landing => landing && set('landing')(landing as Project['landing'])}
              options={LANDINGS}
            />
            <AgentChooser
              coding
              hint="For missions without their own."
              value={value.agent}
              set={set('agent')}
              none={AS_FLEET}
            />
            <TextInput
              label="Model"
              value={value.model ?? ''}
              set={text => set('model')(text || null)}
              placeholder="The agent's default"
            />
            <ChoiceInput
              label="Tools"
              hint="What its agents may do."
              value={value.tool_preset}
              set={preset => set('tool_preset')(preset as Project['tool_preset'])}
              options={PRESETS}
              none={AS_FLEET}
            />
            <ChoiceInput
              label="When an agent wants more"
              value={value.approvals}
              set={mode => set('approvals')(mode as Project['approvals'])}
              options={APPROVALS}
              none={AS_FLEET}
            />
            <div className="wide">
              <LongTextInput label="Description" value={value.description} set={set('description')} rows={2} />
            </div>
            <div className="wide">
              <LongTextInput
                label="Instructions"
                hint="Added to the prompt of every mission."
                value={value.instructions}
                set={set('instructions')}
                rows={5}
              />
            </div>
          </div>
        </Section>
        <Section title="Budget and limits">
          <div className="project-form">
            <NumberInput
              label="Budget per day ($)"
              hint="When it is spent, no missions start and running agents stop."
              value={value.daily_budget_usd}
              set={set('daily_budget_usd')}
              min={0}
              step="any"
              placeholder="None"
            />
            <NumberInput
              label="Budget per mission ($)"
              value={value.max_budget_usd}
              set={set('max_budget_usd')}
              min={0}
              step="any"
              placeholder={AS_FLEET}
            />
            <NumberInput
              label="Disk limit (GB)"
              hint="For its worktrees. When it is reached, new missions wait."
              value={value.disk_limit_gb}
              set={set('disk_limit_gb')}
              min={0}
              step="any"
              placeholder={AS_FLEET}
            />
            <NumberInput
              label="Keep worktrees (days)"
              hint="For failed and cancelled missions. Their commits stay."
              value={value.keep_worktrees_days}
              set={set('keep_worktrees_days')}
              min={0}
              step="any"
              placeholder={AS_FLEET}
            />
            <NumberInput
              label="Agents at once"
              value={value.max_concurrent}
              set={set('max_concurrent')}
              min={1}
              placeholder={AS_FLEET}
            />
            <NumberInput label="Turns" value={value.max_turns} set={set('max_turns')} min={1} placeholder={AS_FLEET} />
            <MinutesInput
              label="Time limit"
              hint="For each session."
              value={value.timeout_seconds}
              set={set('timeout_seconds')}
              min={0}
              placeholder={AS_FLEET}
            />
            <NumberInput
              label="Retries"
              value={value.max_retries}
              set={set('max_retries')}
              min={0}
              max={10}
              placeholder={AS_FLEET}
            />
            <NumberInput
              label="Context limit (%)"
              hint="When its context is this full, the agent continues in a new conversation."
              value={value.context_limit_percent}
              set={set('context_limit_percent')}
              min={1}
              max={100}
              placeholder={AS_FLEET}
            />
          </div>
        </Section>
        <Section title="Worktrees">
          <div className="project-form">
            <TextInput
              label="Setup command"
              hint="Runs in each new worktree before the agent."
              value={value.setup_command ?? ''}
              set={text => set('setup_command')(text || null)}
              placeholder="npm ci"
            />
            <LongTextInput
              label="Warm caches"
              hint="Folders that the setup command makes, such as node_modules. They are kept for the next mission. One per line."
              value={value.warm.join('\n')}
              set={text => set('warm')(lines(text))}
              rows={2}
            />
            <LongTextInput
              label="Setup inputs"
              hint="Files that decide what the setup command makes, one per line. Empty: lock files."
              value={value.setup_inputs.join('\n')}
              set={text => set('setup_inputs')(lines(text))}
              rows={2}
            />
            <LongTextInput
              label="Sparse checkout"
              hint="Folders to check out in a large repository, one per line. Empty: everything."
              value={value.sparse.join('\n')}
              set={text => set('sparse')(lines(text))}
              rows={2}
            />
            <TextInput
              label="Preview command"
              hint="Serves the work to a browser. It must listen on $PORT."
              value={value.preview_command ?? ''}
              set={text => set('preview_command')(text || null)}
              placeholder="npm run dev -- --port $PORT"
            />
            <LongTextInput
              label="Files to copy"
              hint="Ignored files such as .env, one per line."
              value={value.copy_files.join('\n')}
              set={text => set('copy_files')(lines(text))}
              rows={3}
            />
            <LongTextInput
              label="Environment"
              hint="Environment variables that agents may see, one per line."
              value={value.environment.join('\n')}
              set={text => set('environment')(lines(text))}
              rows={3}
            />
            <SwitchInput
              label="May push"
              hint="Agents may push to remotes of the repository."
              value={value.allow_push}
              set={set('allow_push')}
            />
            <SwitchInput
              label="Agents may land"
              hint="An agent with a JWT whose role includes landing may land here, also if landing needs a review."
              value={value.agents_may_land}
              set={set('agents_may_land')}
            />
            <ChoiceInput
              label="Isolation"
              hint="With its own repository a mission cannot touch your branches, stash or configuration. A linked worktree shares them."
              value={value.isolation}
              set={isolation => isolation && set('isolation')(isolation as Project['isolation'])}
              options={ISOLATION}
            />
            <SwitchInput
              label="Hooks"
              hint="Git hooks of the repository run for commits of agents, not for those of Flotilla."
              value={value.hooks === 'on'}
              set={on => set('hooks')(on ? 'on' : 'off')}
            />
          </div>
        </Section>
      </Editable>
      {isChanged && <SaveBar busy={busy} reset={reset} />}
    </form>
  )
}
