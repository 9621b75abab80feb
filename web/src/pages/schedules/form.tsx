import { useState } from 'react'
import { useDraft } from '../../kit/draft.ts'
import { ChoiceInput, TextInput } from '../../kit/fields.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { useAsk, useCommand, useMissions } from '../../live/data.ts'
import type { Schedule } from './schedule.ts'

const OFFERED = 200
const RULES = [
  { value: '@hourly', label: 'every hour' },
  { value: '0 7 * * *', label: 'every day at 7:00' },
  { value: '0 7 * * 1-5', label: 'on workdays at 7:00' },
  { value: '0 7 * * 1', label: 'on Mondays at 7:00' },
]
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
          hint="each run is a new copy of it"
          value={template}
          set={setTemplate}
          options={templates}
        />
      )}
      <ChoiceInput
        label="Preset"
        value={RULES.some(rule => rule.value === value.cron) ? value.cron : null}
        set={cron => cron && set('cron')(cron)}
        options={RULES}
        none="Custom"
      />
      <TextInput
        label="Cron expression"
        hint="minute hour day month weekday, or @daily"
        value={value.cron}
        set={set('cron')}
        required
      />
      <TextInput label="Time zone" value={value.time_zone} set={set('time_zone')} required />
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
