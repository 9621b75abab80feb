import { Button, Card, Flex, IconButton } from '@radix-ui/themes'
import { ListChecks, Play, Plus, Trash2 } from 'lucide-react'
import { useDraft } from '../../kit/draft.ts'
import { MinutesInput, TextInput } from '../../kit/fields.tsx'
import { Editable } from '../../kit/may.tsx'
import { Empty } from '../../kit/page.tsx'
import { SaveBar } from '../../kit/save-bar.tsx'
import { tell } from '../../kit/toasts.tsx'
import { useCommand } from '../../live/data.ts'
import { CheckRunCard, useCheckRun } from './check-run.tsx'
import type { Project } from './project.ts'
import './projects.css'

type Check = Project['checks'][number]

/** The checks that must pass on the merged tree before work lands. */
export function ProjectChecks({ project }: { project: Project }) {
  const { value, changes, isChanged, set, reset } = useDraft({ checks: project.checks })
  const { run, busy } = useCommand('update_project')
  const running = useCheckRun(project)
  const put = (at: number, check: Partial<Check>) =>
    set('checks')(value.checks.map((each, index) => (index === at ? { ...each, ...check } : each)))
  const add = () => set('checks')([...value.checks, { name: '', command: '', timeout_seconds: 1800 }])
  const save = async () => {
    if (!(await run({ project_id: project.id, ...changes }))) return
    reset()
    tell({ text: 'Saved. The next landing uses these checks.' })
  }
  const addButton = (
    <Button type="button" variant="soft" highContrast onClick={add}>
      <Plus size={16} /> Add a check
    </Button>
  )
  return (
    <>
      {project.checks.length > 0 && (
        <CheckRunCard
          project={project}
          running={running}
          hindered={isChanged ? 'Save the changes below first.' : undefined}
        />
      )}
      <form
        onSubmit={event => {
          event.preventDefault()
          save()
        }}
      >
        <Editable use="update_project" project={project.id}>
          {value.checks.length === 0 ? (
            <Empty icon={ListChecks} title="No checks yet" action={addButton}>
              A check is a shell line such as <code>npm test</code>, run at exactly the commit that would land. If it
              fails, nothing lands.
            </Empty>
          ) : (
            <Flex direction="column" gap="3">
              {value.checks.map((check, at) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a check has no other key while its name is being typed
                <Card key={at}>
                  <Flex gap="3" align="end">
                    <div className="project-form check-fields">
                      <TextInput label="Name" value={check.name} set={name => put(at, { name })} required />
                      <TextInput label="Command" value={check.command} set={command => put(at, { command })} required />
                      <MinutesInput
                        label="Time limit"
                        value={check.timeout_seconds}
                        set={seconds => put(at, { timeout_seconds: seconds ?? 1800 })}
                        min={0}
                      />
                    </div>
                    <IconButton
                      type="button"
                      variant="soft"
                      color="gray"
                      highContrast
                      aria-label={`Run ${check.name || 'this check'}`}
                      disabled={isChanged || running.isLive || running.busy}
                      onClick={() => running.start(check.name)}
                    >
                      <Play size={16} />
                    </IconButton>
                    <IconButton
                      type="button"
                      variant="soft"
                      color="red"
                      highContrast
                      aria-label={`Remove ${check.name || 'this check'}`}
                      onClick={() => set('checks')(value.checks.filter((_, index) => index !== at))}
                    >
                      <Trash2 size={16} />
                    </IconButton>
                  </Flex>
                </Card>
              ))}
              <div>{addButton}</div>
            </Flex>
          )}
        </Editable>
        {isChanged && <SaveBar busy={busy} reset={reset} />}
      </form>
    </>
  )
}
