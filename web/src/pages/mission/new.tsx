import { Button, Kbd, Text } from '@radix-ui/themes'
import { FolderGit2, Play } from 'lucide-react'
import { type FormEvent, type KeyboardEvent, useEffect, useState } from 'react'
import { Link, useLocation, useSearchParams } from 'wouter'
import { ask, type Output } from '../../api/client.ts'
import { KINDS } from '../../kit/choices.ts'
import { ProjectChooser, useImageRefusal, useRunsScripts } from '../../kit/choosers.tsx'
import { ChoiceInput, LongTextInput, NumberInput, TextInput } from '../../kit/fields.tsx'
import { Empty, Lines, Page, Section } from '../../kit/page.tsx'
import { PictureButton, PictureField } from '../../kit/picture-field.tsx'
import { usePictures } from '../../kit/pictures.ts'
import { plain } from '../../kit/plain.ts'
import { useRemembered } from '../../kit/remembered.ts'
import { tell } from '../../kit/toasts.tsx'
import { shortId } from '../../kit/words.ts'
import { useAsk, useCommand } from '../../live/data.ts'
import { useMay, useMayDo } from '../../live/me.ts'
import { MOD } from '../../shell/keys.ts'
import './mission.css'
import { ChosenMissions } from './mission-picker.tsx'
import { askedIn, type Draft, EMPTY, like, missionFrom, REPEATS, remember, remembered, titleFrom } from './new-draft.ts'
import { PromptBox } from './prompt-box.tsx'
import { rememberPrompt } from './prompt-history.ts'
import { SettingsFields } from './settings-fields.tsx'
import { TagsInput } from './tags-input.tsx'
import { type Template, TemplateFields } from './template-fields.tsx'
import { useProjectHolds } from './use-project-holds.ts'
import { useTemplateCommands } from './use-template-commands.ts'

/** draft: only save it; queue: queue it and write the next one; start: queue it and open it. */
type Ending = 'draft' | 'queue' | 'start'

export default function NewMission() {
  const [search] = useSearchParams()
  const projects = useAsk('list_projects', { limit: 500 })
  const model = search.get('like')
  const [lastUsed] = useRemembered('project')
  const may = useMayDo()
  const origin = useAsk('get_mission', { mission_id: model ?? '' }, { enabled: model !== null })
  if (!projects.data || (model !== null && origin.isPending))
    return (
      <Page title="New mission">
        <Lines rows={6} />
      </Page>
    )
  if (projects.data.projects.every(({ id }) => !may('create_mission', id)))
    return (
      <Page title="New mission">
        <Empty
          icon={FolderGit2}
          title="Add a project first"
          action={
            <Button asChild>
              <Link href="/">Add repository</Link>
            </Button>
          }
        >
          Agents work on repositories. Add one, then describe the task.
        </Empty>
      </Page>
    )
  const all = projects.data.projects.filter(({ id }) => may('create_mission', id))
  const begin = {
    ...EMPTY,
    project_id: (all.find(({ id }) => id === lastUsed) ?? all[0]!).id,
    ...(model === null ? remembered(localStorage) : {}),
    ...(origin.data && like(origin.data)),
    ...askedIn(search),
  }
  return <Sheet key={search.toString()} begin={begin} from={search.get('template')} origin={origin.data} />
}

interface SheetProps {
  begin: Draft
  from: string | null
  origin: Output<'get_mission'> | undefined
}

function Sheet({ begin, from, origin }: SheetProps) {
  const [, go] = useLocation()
  const [draft, setDraft] = useState(begin)
  const [template, setTemplate] = useState(from)
  const [, rememberProject] = useRemembered('project')
  const templates = useTemplateCommands(name => {
    setTemplate(name)
    set('detailed_prompt')('')
  })
  const { run, busy } = useCommand('create_mission')
  const pictures = usePictures(origin)
  const holds = useProjectHolds(draft.project_id)
  const mayRun = useMay('dispatch_mission', draft.project_id)
  const isScript = useRunsScripts()(draft.agent)
  const project = useAsk('list_projects', { limit: 500 }).data?.projects.find(({ id }) => id === draft.project_id)
  const takesNone = useImageRefusal()(draft.agent ?? project?.agent)
  const refusal = pictures.list.length > 0 ? takesNone : undefined
  useEffect(() => remember(localStorage, draft), [draft])
  const fill = (fields: Partial<Draft>, { name, settings }: Template) => {
    setDraft(before => ({ ...before, ...fields }))
    pictures.begin((settings.images ?? []) as string[], image => ask('get_template_image', { template: name, image }))
  }
  const set =
    <F extends keyof Draft>(field: F) =>
    (value: Draft[F]) =>
      setDraft(before => ({ ...before, [field]: value }))

  const end = async (ending: Ending) => {
    const wanted = missionFrom(draft, ending !== 'draft')
    const images = pictures.list.map(({ image }) => image)
    const made = wanted && (await run({ ...wanted, images }))
    if (!made) return
    rememberPrompt(draft.detailed_prompt)
    rememberProject(draft.project_id)
    const next = { ...EMPTY, project_id: draft.project_id }
    remember(localStorage, ending === 'queue' ? next : EMPTY)
    if (ending !== 'queue') return go(`/missions/${made.id}`)
    setDraft(next)
    setTemplate(null)
    pictures.clear()
    tell({ text: `Queued “${plain(made.title)}”`, action: { label: 'Open', run: () => go(`/missions/${made.id}`) } })
  }
  const submitted = (event: FormEvent) => {
    event.preventDefault()
    end(mayRun ? 'start' : 'draft')
  }
  const pressed = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && (event.metaKey || event.ctrlKey) && ready) end(mayRun ? 'start' : 'draft')
  }
  const ready = missionFrom(draft, true) !== undefined && !busy && !pictures.busy && !refusal
  return (
    <Page title="New mission" about="One task for one agent, in a worktree of its own.">
      <form className="new-mission" onSubmit={submitted} onKeyDown={pressed}>
        <div className="mission-form">
          <ProjectChooser value={draft.project_id} set={set('project_id')} to="create_mission" />
          <TemplateFields name={template} choose={setTemplate} fill={fill} />
          <div className="wide">
            <PictureField pictures={pictures} refusal={refusal}>
              <PromptBox
                labelled
                autoFocus
                label={isScript ? 'Script' : 'Task'}
                isScript={isScript}
                projectId={draft.project_id}
                hint={
                  isScript
                    ? '/bin/sh runs it exactly as written.'
                    : draft.parent_mission_id && (
                        <>
                          Sub-mission of{' '}
                          <Link href={`/missions/${draft.parent_mission_id}`}>{shortId(draft.parent_mission_id)}</Link>
                        </>
                      )
                }
                value={draft.detailed_prompt}
                set={set('detailed_prompt')}
                rows={9}
                placeholder={
                  isScript ? '' : 'What should change, where to look, what to leave alone. Type @ for a file.'
                }
                commands={templates}
              />
            </PictureField>
            <div className="new-mission-images">
              <PictureButton pictures={pictures} labelled />
            </div>
          </div>
          <div className="wide">
            <LongTextInput
              label="Acceptance criteria"
              hint="What must be true when it is done. The agent and the reviewer see it."
              value={draft.acceptance_criteria}
              set={set('acceptance_criteria')}
              rows={2}
            />
          </div>
          <TextInput
            label="Title"
            value={draft.title}
            set={set('title')}
            placeholder={titleFrom(draft.detailed_prompt) || 'First line of the task'}
          />
          <TagsInput tags={draft.tags} set={set('tags')} />
          <TextInput
            label="Repeat"
            hint={
              REPEATS.find(({ cron }) => cron === draft.schedule_cron.trim())?.label ??
              'A cron rule such as 0 7 * * 1-5. Each time, a copy of this mission runs.'
            }
            value={draft.schedule_cron}
            set={set('schedule_cron')}
            suggestions={REPEATS.map(({ cron }) => cron)}
            placeholder="Run once"
          />
        </div>
        <Section title="Agent and limits">
          <SettingsFields
            value={draft}
            set={set as never}
            holds={holds}
            without={['context_limit_percent', 'max_retries', 'timeout_seconds', 'engine', 'context_mode', 'approvals']}
          />
        </Section>
        <Section title="Dependencies">
          <ChosenMissions
            label="Depends on"
            ids={draft.depends_on}
            set={set('depends_on')}
            project={draft.project_id}
          />
          <Text as="p" size="1" color="gray" mb="0">
            It starts when these are done, and receives their reports.
          </Text>
        </Section>
        <details className="fold more-settings">
          <summary>
            <Text size="2" weight="medium">
              More options: limits, permissions, starting point
            </Text>
          </summary>
          <SettingsFields
            value={draft}
            set={set as never}
            holds={holds}
            without={['agent', 'model', 'effort', 'tool_preset', 'max_turns', 'max_budget_usd', 'landing']}
          />
          <div className="mission-form">
            <ChoiceInput
              label="Kind"
              hint="Review, explore, plan and test may finish without changes."
              value={draft.mission_type}
              set={type => type && set('mission_type')(type as Draft['mission_type'])}
              options={KINDS}
            />
            <NumberInput
              label="Priority"
              hint="Higher starts first."
              value={draft.priority}
              set={priority => set('priority')(priority ?? 0)}
              min={-1000}
              max={1000}
            />
            <TextInput
              label="Start from"
              hint="A branch, tag or commit instead of the base branch."
              value={draft.base_ref ?? ''}
              set={text => set('base_ref')(text.trim() || null)}
            />
            <TextInput
              label="Folder"
              hint="The folder in the repository where the agent starts."
              value={draft.subdirectory}
              set={set('subdirectory')}
            />
            <div className="wide">
              <LongTextInput
                label="Extra instructions"
                hint="Added to the prompt of every session."
                value={draft.append_system_prompt}
                set={set('append_system_prompt')}
                rows={2}
              />
            </div>
          </div>
        </details>
        <div className="new-mission-bar">
          {mayRun && (
            <>
              <Button type="submit" disabled={!ready} loading={busy}>
                <Play size={16} /> Start <Kbd size="1">{MOD}↵</Kbd>
              </Button>
              <Button type="button" variant="soft" disabled={!ready} onClick={() => end('queue')}>
                Start and create another
              </Button>
            </>
          )}
          <Button type="button" variant="soft" color="gray" highContrast disabled={!ready} onClick={() => end('draft')}>
            Save as draft
          </Button>
          <Text size="1" color="gray">
            {ready || refusal ? kept(pictures.list.length) : missing(draft)}
          </Text>
        </div>
      </form>
    </Page>
  )
}

const kept = (images: number): string =>
  images ? 'Your draft is kept in this browser, without its images.' : 'Your draft is kept in this browser.'

const missing = ({ project_id }: Draft): string => (project_id ? 'Describe the task first.' : 'Choose a project first.')
