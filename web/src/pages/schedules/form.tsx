import { Text } from '@radix-ui/themes'
import { useState } from 'react'
import { Refused } from '../../api/client.ts'
import { useDraft } from '../../kit/draft.ts'
import { ChoiceInput, TextInput } from '../../kit/fields.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { useAsk, useCommand, useMissions } from '../../live/data.ts'
import { RepeatsInput } from './builder.tsx'
import { type Schedule, timeIn } from './schedule.ts'

const OFFERED = 200
const here = Intl.DateTimeFormat().resolvedOptions().timeZone

/** A new schedule, or a change of one. */
export function ScheduleForm({ schedule, close }: { schedule: Schedule | undefined; close(): void }) {
  const [template, setTemplate] = useState<string | null>(null)
  const { value, changes, set } = useDraft({
    cron: schedule?.cron ?? '0 7 * * 1-5',
    time_zone: schedule?.time_zone ?? here,
    overlap: schedule?.overlap ?? ('skip' as const),
    catch_up: schedule?.catch_up ?? ('none' as const),
  })
  const { missions } = useMissions({ limit: OFFERED })
  const workflows = useAsk('list_workflows', { limit: OFFERED }).data?.workflows ?? []
  const update = useCommand('update_schedule', { done: close })
  const ofMission = useCommand('schedule_mission', { done: close })
  const ofWorkflow = useCommand('schedule_workflow', { done: close })
  const submit = () => {
    if (schedule) return update.run({ schedule_id: schedule.id, ...changes })
    const [of, id = ''] = template?.split(' ') ?? []
    return of === 'mission'
      ? ofMission.run({ mission_id: id, ...value })
      : ofWorkflow.run({ workflow_id: id, ...value })
  }
  const templates = [
    ...missions.map(({ id, title }) => ({ value: `mission ${id}`, label: title })),
    ...workflows.map(({ id, name }) => ({ value: `workflow ${id}`, label: `${name} (workflow)` })),
  ]
  return (
    <FormDialog
      title={schedule ? `Edit the schedule of ${schedule.title}` : 'New schedule'}
      act={schedule ? 'Save' : 'Schedule'}
      busy={update.busy || ofMission.busy || ofWorkflow.busy}
      ready={!!value.cron.trim() && (!!schedule || !!template)}
      close={close}
      submit={submit}
    >
      {!schedule && (
        <ChoiceInput
          label="Mission or workflow"
          hint="Each run is a new copy of it."
          value={template}
          set={setTemplate}
          options={templates}
        />
      )}
      <RepeatsInput cron={value.cron} set={set('cron')} />
      <TextInput
        label="Time zone"
        value={value.time_zone}
        set={set('time_zone')}
        suggestions={Intl.supportedValuesOf('timeZone')}
        required
      />
      <Preview cron={value.cron} timeZone={value.time_zone} />
      <ChoiceInput
        label="If the previous run is not finished"
        value={value.overlap}
        set={overlap => overlap && set('overlap')(overlap as typeof value.overlap)}
        options={[
          { value: 'skip', label: 'Skip this run' },
          { value: 'queue', label: 'Queue this run' },
          { value: 'replace', label: 'Cancel it and start this run' },
        ]}
      />
      <ChoiceInput
        label="Runs missed while the server was down"
        value={value.catch_up}
        set={catchUp => catchUp && set('catch_up')(catchUp as typeof value.catch_up)}
        options={[
          { value: 'none', label: 'Skip them' },
          { value: 'once', label: 'Run once for all of them' },
        ]}
      />
    </FormDialog>
  )
}

/** When it would run, or what is wrong with the rule. */
function Preview({ cron, timeZone }: { cron: string; timeZone: string }) {
  const asked = !!cron.trim() && !!timeZone.trim()
  const { data, error } = useAsk('preview_schedule', { cron, time_zone: timeZone }, { enabled: asked, keep: true })
  if (!asked) return null
  if (error)
    return (
      <Text as="div" size="2" color="red" highContrast role="alert">
        {error.message} {error instanceof Refused && error.advice}
      </Text>
    )
  if (!data) return null
  return (
    <div className="schedule-preview" aria-live="polite">
      <Text as="div" size="2" weight="medium">
        {data.in_words}
      </Text>
      <Text as="div" size="2" color="gray">
        {data.next_times.length
          ? `Next: ${data.next_times.map(time => timeIn(time, data.time_zone)).join(' · ')}`
          : 'No further runs.'}
      </Text>
    </div>
  )
}
