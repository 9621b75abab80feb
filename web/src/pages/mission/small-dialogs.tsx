import { useState } from 'react'
import { useLocation } from 'wouter'
import { namedIn } from '../../../../src/domain/rules/template.ts'
import { useImageRefusal } from '../../kit/choosers.tsx'
import { ChoiceInput, LongTextInput, SwitchInput, TextInput } from '../../kit/fields.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { HeldWork } from '../../kit/held-work.tsx'
import { PictureButton, PictureField } from '../../kit/picture-field.tsx'
import { usePictures } from '../../kit/pictures.ts'
import { tell } from '../../kit/toasts.tsx'
import { useAsk, useCommand } from '../../live/data.ts'
import type { Detail } from './actions.ts'
import { FindMission } from './mission-picker.tsx'

interface DialogProps {
  mission: Detail
  close(): void
}

export function SayDialog({ mission, close }: DialogProps) {
  const { run, busy } = useCommand('say_to_mission')
  const [text, setText] = useState('')
  const pictures = usePictures()
  const takesNone = useImageRefusal()(mission.sessions.at(-1)?.agent)
  const refusal = pictures.list.length > 0 ? takesNone : undefined
  const say = async () => {
    const said = await run({ mission_id: mission.id, text, images: pictures.list.map(({ image }) => image) })
    if (!said) return
    close()
    tell({
      text: said.heard === 'mid-turn' ? 'The agent reads this while it works.' : 'The agent reads this after its turn.',
    })
  }
  return (
    <FormDialog
      title="Message the agent"
      act="Send"
      busy={busy}
      ready={!!text.trim() && !pictures.busy && !refusal}
      close={close}
      submit={say}
    >
      <PictureField pictures={pictures} refusal={refusal}>
        <LongTextInput label="Message" value={text} set={setText} rows={5} />
      </PictureField>
      {!takesNone && <PictureButton pictures={pictures} labelled />}
    </FormDialog>
  )
}

const CRONS = ['@daily', '@hourly', '0 6 * * 1-5', '0 9 * * 1', '*/30 * * * *']

export function ScheduleDialog({ mission, close }: DialogProps) {
  const found = useAsk('list_schedules', { project_id: mission.project_id, limit: 500 }).data?.schedules
  const now = found?.find(({ id }) => id === mission.id)
  const schedule = useCommand('schedule_mission')
  const unschedule = useCommand('unschedule_mission')
  const [cron, setCron] = useState<string>()
  const [zone, setZone] = useState(() => Intl.DateTimeFormat().resolvedOptions().timeZone)
  const [overlap, setOverlap] = useState<string | null>('skip')
  const rule = cron ?? now?.cron ?? ''
  const save = async () => {
    const made = await schedule.run({
      mission_id: mission.id,
      cron: rule,
      time_zone: zone,
      overlap: overlap as 'skip' | 'queue' | 'replace',
    })
    if (!made) return
    close()
    tell({ text: `Scheduled. Next: ${made.next_at ? new Date(made.next_at).toLocaleString() : 'never'}` })
  }
  const stop = async () => {
    if (await unschedule.run({ mission_id: mission.id })) close()
  }
  return (
    <FormDialog
      title="Schedule"
      about="A copy of this mission is made and queued each time the rule says so. This one stays as it is."
      act={now ? 'Change' : 'Schedule'}
      busy={schedule.busy}
      ready={!!rule.trim()}
      close={close}
      submit={save}
    >
      <TextInput
        label="Cron rule"
        hint="Five fields: minute, hour, day, month, weekday; or @daily, @hourly, @weekly"
        value={rule}
        set={setCron}
        suggestions={CRONS}
        placeholder="0 6 * * 1-5"
      />
      <TextInput label="Time zone" value={zone} set={setZone} />
      <ChoiceInput
        label="If the previous run is not finished"
        value={overlap}
        set={setOverlap}
        options={[
          { value: 'skip', label: 'skip this time' },
          { value: 'queue', label: 'wait for it' },
          { value: 'replace', label: 'replace it' },
        ]}
      />
      {now && (
        <SwitchInput label="Scheduled" hint="Switch off to delete the schedule" value={true} set={() => stop()} />
      )}
    </FormDialog>
  )
}

export function TemplateDialog({ mission, close }: DialogProps) {
  const { run, busy } = useCommand('save_template', { affects: ['list_templates'] })
  const [name, setName] = useState('')
  const [replace, setReplace] = useState(false)
  const [asks, setAsks] = useState(true)
  // Words in braces are asked for whenever the template is used.
  const found = [...namedIn(`${mission.title}\n${mission.detailed_prompt}\n${mission.acceptance_criteria}`)]
  const save = async () => {
    const variables = asks ? found.map(each => ({ name: each })) : []
    if (!(await run({ name, mission_id: mission.id, variables, replace }))) return
    close()
    tell({ text: `Saved as ${name}. You can choose it in New mission.` })
  }
  return (
    <FormDialog
      title="Save as template"
      about="Saves the prompt and the settings under a name, to start other missions from."
      act="Save"
      busy={busy}
      ready={/^[a-z0-9][a-z0-9-]{0,59}$/i.test(name)}
      close={close}
      submit={save}
    >
      <TextInput label="Name" hint="Letters, digits and dashes" value={name} set={setName} />
      {found.length > 0 && (
        <SwitchInput
          label={`Ask for ${found.map(each => `{${each}}`).join(', ')} each time`}
          hint="Otherwise the text stays as it is"
          value={asks}
          set={setAsks}
        />
      )}
      <SwitchInput label="Replace an existing template" value={replace} set={setReplace} />
    </FormDialog>
  )
}

export function CompareDialog({ mission, close }: DialogProps) {
  const [, go] = useLocation()
  return (
    <FormDialog
      title="Compare with"
      about="Two missions side by side: what they changed, what their checks say, what they cost."
      act="Compare with its origin"
      ready={mission.fork_of !== null}
      close={close}
      submit={() => go(`/compare?first=${mission.fork_of?.mission_id}&second=${mission.id}`)}
    >
      <FindMission
        label="The other mission"
        project={mission.project_id}
        except={[mission.id]}
        chosen={({ id }) => go(`/compare?first=${mission.id}&second=${id}`)}
      />
    </FormDialog>
  )
}

export function TakeOverDialog({ mission, close }: DialogProps) {
  const [, go] = useLocation()
  const { run, busy } = useCommand('take_over_in_page')
  const takeOver = async () => {
    if (!(await run({ mission_id: mission.id }))) return
    close()
    go(`/missions/${mission.id}?tab=live`)
  }
  return (
    <FormDialog
      title="Take over"
      about="The agent stops at a safe moment, and its own program opens here with the same conversation, in the worktree of the mission. When you are done, the agent continues, the work lands, or it waits for review: you choose."
      act="Take over"
      busy={busy}
      close={close}
      submit={takeOver}
    />
  )
}

interface DeleteDialogProps extends DialogProps {
  remove(discard: boolean): void
}

/** Shown only if work would really be lost. */
export function DeleteDialog({ mission, close, remove }: DeleteDialogProps) {
  const worktrees = mission.sessions.flatMap(({ worktree, left_behind, worktree_kept }) =>
    worktree && left_behind && worktree_kept ? [{ path: worktree, left_behind }] : [],
  )
  return (
    <FormDialog
      title="Delete uncommitted work too?"
      act="Delete with that work"
      close={close}
      submit={() => remove(true)}
    >
      <HeldWork worktrees={worktrees} />
    </FormDialog>
  )
}
