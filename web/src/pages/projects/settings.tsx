import { AgentChooser } from '../../kit/choosers.tsx'
import { useDraft } from '../../kit/draft.ts'
import { ChoiceInput, LongTextInput, NumberInput, SwitchInput, TextInput } from '../../kit/fields.tsx'
import { Section } from '../../kit/page.tsx'
import { SaveBar } from '../../kit/save-bar.tsx'
import { tell } from '../../kit/toasts.tsx'
import { useCommand } from '../../live/data.ts'
import type { Project } from './one.tsx'
import './projects.css'

const AS_FLEET = 'As the fleet says'
const lines = (text: string): string[] => text.split('\n').filter(line => line.trim() !== '')

export function ProjectSettings({ project }: { project: Project }) {
  const { value, changes, isChanged, set, reset } = useDraft(project)
  const { run, busy } = useCommand('update_project')
  const save = async () => {
    if (!(await run({ project_id: project.id, ...changes }))) return
    reset()
    tell({ text: 'Saved. Sessions that start from now on go by it.' })
  }
  return (
    <form
      onSubmit={event => {
        event.preventDefault()
        save()
      }}
    >
      <Section title="Work">
        <div className="project-form">
          <TextInput label="Name" value={value.name} set={set('name')} required />
          <TextInput
            label="Base branch"
            hint="what work starts from and lands on"
            value={value.base_branch}
            set={set('base_branch')}
          />
          <ChoiceInput
            label="Landing"
            hint="auto: once its checks pass; review: once you say so"
            value={value.landing}
            set={landing => landing && set('landing')(landing as Project['landing'])}
            options={['auto', 'review', 'pull-request', 'never']}
          />
          <AgentChooser
            coding
            hint="of missions that name none"
            value={value.agent}
            set={set('agent')}
            none={AS_FLEET}
          />
          <TextInput
            label="Model"
            value={value.model ?? ''}
            set={text => set('model')(text || null)}
            placeholder="the agent's own choice"
          />
          <ChoiceInput
            label="Tools"
            hint="what its agents may do"
            value={value.tool_preset}
            set={preset => set('tool_preset')(preset as Project['tool_preset'])}
            options={['full', 'implement', 'review', 'test', 'explore', 'fix']}
            none={AS_FLEET}
          />
          <ChoiceInput
            label="What the tools do not allow"
            value={value.approvals}
            set={mode => set('approvals')(mode as Project['approvals'])}
            options={[
              { value: 'deny', label: 'is denied' },
              { value: 'ask', label: 'is asked of a person' },
            ]}
            none={AS_FLEET}
          />
          <div className="wide">
            <LongTextInput label="Description" value={value.description} set={set('description')} rows={2} />
          </div>
          <div className="wide">
            <LongTextInput
              label="Instructions"
              hint="said to every agent on this project"
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
            hint="then nothing new starts, and what runs is stopped"
            value={value.daily_budget_usd}
            set={set('daily_budget_usd')}
            min={0}
            step="any"
            placeholder="none"
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
            label="Agents at once"
            value={value.max_concurrent}
            set={set('max_concurrent')}
            min={1}
            placeholder={AS_FLEET}
          />
          <NumberInput label="Turns" value={value.max_turns} set={set('max_turns')} min={1} placeholder={AS_FLEET} />
          <NumberInput
            label="Time limit (seconds)"
            value={value.timeout_seconds}
            set={set('timeout_seconds')}
            min={1}
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
            hint="then it goes on in a fresh conversation"
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
            hint="run in each new worktree before the agent"
            value={value.setup_command ?? ''}
            set={text => set('setup_command')(text || null)}
            placeholder="npm ci"
          />
          <TextInput
            label="Preview command"
            hint="shows the work in a browser; must listen on $PORT"
            value={value.preview_command ?? ''}
            set={text => set('preview_command')(text || null)}
            placeholder="npm run dev -- --port $PORT"
          />
          <LongTextInput
            label="Files to copy"
            hint="ignored files such as .env, one a line"
            value={value.copy_files.join('\n')}
            set={text => set('copy_files')(lines(text))}
            rows={3}
          />
          <LongTextInput
            label="Environment"
            hint="names of variables its agents may see, one a line"
            value={value.environment.join('\n')}
            set={text => set('environment')(lines(text))}
            rows={3}
          />
          <SwitchInput
            label="May push"
            hint="agents may push to remotes of the repository"
            value={value.allow_push}
            set={set('allow_push')}
          />
          <ChoiceInput
            label="Isolation"
            hint="a repository of its own keeps each mission away from your branches, stash and configuration; a linked worktree shares them with you"
            value={value.isolation}
            set={isolation => isolation && set('isolation')(isolation as Project['isolation'])}
            options={[
              { value: 'private', label: 'a repository of its own' },
              { value: 'linked', label: 'a linked worktree (weaker)' },
            ]}
          />
          <SwitchInput
            label="Hooks"
            hint="the repository's own git hooks run for what agents commit; for Flotilla's own commits none run"
            value={value.hooks === 'on'}
            set={on => set('hooks')(on ? 'on' : 'off')}
          />
        </div>
      </Section>
      {isChanged && <SaveBar busy={busy} reset={reset} />}
    </form>
  )
}
