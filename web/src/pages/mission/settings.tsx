import { Callout } from '@radix-ui/themes'
import { Lock } from 'lucide-react'
import { KINDS } from '../../kit/choices.ts'
import { useRunsScripts } from '../../kit/choosers.tsx'
import { useDraft } from '../../kit/draft.ts'
import { ChoiceInput, LongTextInput, NumberInput, SwitchInput, TextInput } from '../../kit/fields.tsx'
import { Editable } from '../../kit/may.tsx'
import { Section } from '../../kit/page.tsx'
import { SaveBar } from '../../kit/save-bar.tsx'
import { tell } from '../../kit/toasts.tsx'
import { useCommand } from '../../live/data.ts'
import type { Detail } from './actions.ts'
import { ChosenMissions } from './mission-picker.tsx'
import { SettingsFields } from './settings-fields.tsx'
import { TagsInput, WordsInput } from './tags-input.tsx'

/** The statuses in which everything may be edited. In others, only fields that do not affect the work. */
const EDITABLE: readonly Detail['status'][] = [
  'draft',
  'queued',
  'needs_input',
  'waiting',
  'review',
  'failed',
  'cancelled',
]
const STARTS = [
  { value: 'base', label: 'the base branch, and kept work it depends on' },
  { value: 'branch', label: 'also work that has not landed yet' },
  { value: 'clean', label: 'the base branch alone' },
  { value: 'share', label: 'the same worktree as its dependency' },
]

export function MissionSettings({ mission }: { mission: Detail }) {
  const { value, changes, isChanged, set, reset } = useDraft(mission)
  const { run, busy } = useCommand('update_mission')
  const isScript = useRunsScripts()(value.agent)
  const locked = !EDITABLE.includes(mission.status)
  const save = async () => {
    const { sessions, ...fields } = changes
    // A new script must name the agent that runs it.
    const who = isScript && fields.detailed_prompt !== undefined ? { agent: value.agent } : {}
    if (!(await run({ mission_id: mission.id, ...who, ...fields }))) return
    reset()
    tell({ text: 'Saved.' })
  }
  return (
    <form
      onSubmit={event => {
        event.preventDefault()
        save()
      }}
    >
      {locked && (
        <Callout.Root color="gray" highContrast mb="4">
          <Callout.Icon>
            <Lock size={16} />
          </Callout.Icon>
          <Callout.Text>
            {mission.status === 'done' ? 'It is done.' : 'It is running.'} Only its title, tags and priority can be
            changed now.
          </Callout.Text>
        </Callout.Root>
      )}
      <Editable use="update_mission" project={mission.project_id}>
        <Section title="Task">
          <div className="mission-form">
            <div className="wide">
              <TextInput label="Title" value={value.title} set={set('title')} required />
            </div>
            <TagsInput tags={value.tags} set={set('tags')} />
            <NumberInput
              label="Priority"
              hint="Higher starts first"
              value={value.priority}
              set={priority => set('priority')(priority ?? 0)}
              min={-1000}
              max={1000}
            />
            <ChoiceInput
              label="Kind"
              value={value.mission_type}
              set={type => type && set('mission_type')(type as Detail['mission_type'])}
              options={KINDS}
              disabled={locked}
            />
            <div className="wide">
              <LongTextInput
                label={isScript ? 'Script' : 'Prompt'}
                code={isScript}
                hint={isScript ? '/bin/sh runs it exactly as written' : undefined}
                value={value.detailed_prompt}
                set={set('detailed_prompt')}
                rows={8}
                disabled={locked}
              />
            </div>
            <div className="wide">
              <LongTextInput
                label="Acceptance criteria"
                value={value.acceptance_criteria}
                set={set('acceptance_criteria')}
                rows={3}
                disabled={locked}
              />
            </div>
          </div>
        </Section>
        <Section title="Agent and limits">
          <SettingsFields value={value} set={set as never} holds={mission.holds} disabled={locked} />
          <div className="mission-form more-fields">
            <WordsInput
              label="Only these tools"
              hint="Tool names of the agent, separated by commas; empty: as the preset allows"
              words={value.allowed_tools ?? []}
              set={words => set('allowed_tools')(words.length ? words : null)}
              disabled={locked}
            />
            <NumberInput
              label="Questions wait for (seconds)"
              hint="Then the answer below is given"
              value={value.answer_within_seconds}
              set={set('answer_within_seconds')}
              min={1}
              placeholder="No limit"
              disabled={locked}
            />
            <ChoiceInput
              label="Automatic answer"
              value={value.otherwise === 'deny' ? null : value.otherwise}
              set={answer => set('otherwise')(answer as Detail['otherwise'])}
              options={[{ value: 'allow', label: 'Allow' }]}
              none="Deny"
              disabled={locked}
            />
          </div>
        </Section>
        <Section title="Starting point">
          <div className="mission-form">
            {!locked && (
              <div className="wide">
                <ChosenMissions
                  label="Depends on"
                  ids={value.depends_on}
                  set={set('depends_on')}
                  except={[mission.id]}
                />
              </div>
            )}
            <ChoiceInput
              label="Starts from"
              value={value.start_from}
              set={start => start && set('start_from')(start as Detail['start_from'])}
              options={STARTS}
              disabled={locked}
            />
            <TextInput
              label="Branch, tag or commit"
              hint="Instead of the base branch"
              value={value.base_ref ?? ''}
              set={text => set('base_ref')(text || null)}
              disabled={locked}
            />
            <TextInput
              label="Folder"
              hint="Folder in the repository where the agent starts"
              value={value.subdirectory}
              set={set('subdirectory')}
              disabled={locked}
            />
            <SwitchInput
              label="Run checks even if it does not land"
              value={value.check_kept}
              set={set('check_kept')}
              disabled={locked}
            />
            <div className="wide">
              <LongTextInput
                label="Extra instructions"
                hint="Added to the prompt in every session"
                value={value.append_system_prompt}
                set={set('append_system_prompt')}
                rows={3}
                disabled={locked}
              />
            </div>
            <TextInput
              label="Preview command"
              hint="Serves the work to a browser; must listen on $PORT"
              value={value.preview_command ?? ''}
              set={text => set('preview_command')(text || null)}
              disabled={locked}
            />
          </div>
        </Section>
      </Editable>
      {isChanged && <SaveBar busy={busy} reset={reset} />}
    </form>
  )
}
