import { Text } from '@radix-ui/themes'
import { useState } from 'react'
import { useLocation } from 'wouter'
import type { Input } from '../../api/client.ts'
import { ProjectChooser } from '../../kit/choosers.tsx'
import { ChoiceInput, LongTextInput, TextInput } from '../../kit/fields.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { complain } from '../../kit/toasts.tsx'
import { useAsk, useCommand } from '../../live/data.ts'

type Wanted = Input<'create_workflow'>

const STAGES = 'stages'
const EXAMPLE = `stages:
  - name: write
    prompt: "{task_prompt}"
  - name: review
    type: review
    depends_on: [write]
    prompt: Review the work. Change nothing.
`
const words = (text: string): string[] =>
  text
    .split(/[\n,]/)
    .map(word => word.trim())
    .filter(Boolean)

/** Starts from a ready-made workflow, or from stages in the form of a file. */
export function NewWorkflow({ use: chosen, close }: { use: string; close(): void }) {
  const [, go] = useLocation()
  const ready = useAsk('list_ready_made_workflows', {}).data?.workflows ?? []
  const [use, setUse] = useState(chosen)
  const [project, setProject] = useState<string | null>(null)
  const [task, setTask] = useState('')
  const [agents, setAgents] = useState('')
  const [items, setItems] = useState('')
  const [file, setFile] = useState(EXAMPLE)
  const { run, busy } = useCommand('create_workflow', { done: ({ id }) => go(`/workflows/${id}`) })
  const submit = async () => {
    const common = { project_id: project!, task_prompt: task }
    if (use !== STAGES) return run({ ...common, use, agents: words(agents), items: use === 'map' ? words(items) : [] })
    try {
      return await run({ ...common, ...(await stagesIn(file)) })
    } catch (error) {
      complain(error)
    }
  }
  return (
    <FormDialog
      title="Run a workflow"
      act="Run"
      busy={busy}
      ready={!!project && (use === STAGES || !!task.trim())}
      close={close}
      submit={submit}
    >
      <ChoiceInput
        label="Workflow"
        hint={ready.find(({ name }) => name === use)?.summary}
        value={use}
        set={next => next && setUse(next)}
        options={[...ready.map(({ name }) => name), { value: STAGES, label: 'Custom stages' }]}
      />
      <ProjectChooser value={project} set={setProject} to="create_workflow" />
      <LongTextInput label="Task" value={task} set={setTask} rows={4} />
      {use === STAGES ? (
        <>
          <LongTextInput
            label="Stages"
            hint="YAML or JSON, as in a workflow file."
            value={file}
            set={setFile}
            rows={10}
          />
          <Text size="1" color="gray">
            Workflow files work here unchanged.
          </Text>
        </>
      ) : (
        <TextInput
          label="Agents"
          hint="In order, separated by commas. Empty: project default."
          value={agents}
          set={setAgents}
          placeholder="claude, codex, claude"
        />
      )}
      {use === 'map' && (
        <LongTextInput label="Items" hint="One per line. Each gets its own stage." value={items} set={setItems} />
      )}
    </FormDialog>
  )
}

/** Parses the text of a file. The server checks it. */
async function stagesIn(text: string): Promise<Pick<Wanted, 'stages' | 'name' | 'task_prompt'>> {
  const { parse } = await import('yaml')
  const said = parse(text) as unknown
  if (Array.isArray(said)) return { stages: said }
  if (said && typeof said === 'object' && 'stages' in said) {
    const { name, task_prompt, stages } = said as Wanted
    return { stages, ...(name && { name }), ...(task_prompt && { task_prompt }) }
  }
  throw new Error('There are no stages in it: write "stages:" and a list under it.')
}
