import { afterEach, beforeEach, expect, test } from 'vitest'
import { shell } from '../../src/agents/shell.ts'
import { NotAllowed } from '../../src/domain/errors.ts'
import { aRequest, aWorkspace, drive, type Workspace } from './drive.ts'

let workspace: Workspace
beforeEach(() => {
  workspace = aWorkspace()
})
afterEach(() => workspace.remove())

const run = (script: string) => drive(shell, aRequest(workspace, { script, prompt: `Handed over: exit 9\n${script}` }))

test('only the script itself runs, in the working directory, and each line is text', async () => {
  const { events, ending } = await run('pwd\necho "it\'s $((1 + 1))"')
  expect(events).toEqual([
    { type: 'text', text: workspace.workingDirectory },
    { type: 'text', text: "it's 2" },
  ])
  expect(ending.outcome).toBe('completed')
})

test('a script that names its interpreter is run by it', async () => {
  const { events } = await run(`#!${process.execPath}\nconsole.log([1, 2].map(n => n * 2).join())`)
  expect(events).toEqual([{ type: 'text', text: '2,4' }])
})

test('a failure says the exit code and the last that was printed', async () => {
  const { ending } = await run('echo half way; exit 3')
  expect(ending).toEqual({ outcome: 'failed', reason: expect.stringMatching(/^Exited with code 3: half way$/) })
})

test('standard error is raw, and where a failure says why', async () => {
  const { events, ending } = await run('echo working; echo no disk >&2; exit 1')
  expect(events).toContainEqual({ type: 'raw', text: 'no disk' })
  expect(ending.reason).toContain('no disk')
})

test('an end by a signal names it; an end nobody saw is lost', async () => {
  const { digest } = await run('true')
  expect(shell.outcome(digest, { code: 143 })).toMatchObject({
    outcome: 'failed',
    reason: expect.stringContaining('signal 15'),
  })
  expect(shell.outcome(digest, { code: null }).outcome).toBe('lost')
})

test('a script sees nothing of the environment but what is named', async () => {
  workspace.environment.SECRET = 'canary'
  const { lines } = await run('env')
  expect(lines.join('\n')).not.toContain('canary')
})

test('what a script cannot be held to is refused, with what would be right', () => {
  const refused = (more: object) => () => shell.launch(aRequest(workspace, more))
  expect(refused({ preset: 'review' })).toThrow(NotAllowed)
  expect(refused({ allowedTools: ['Read'] })).toThrow(NotAllowed)
  expect(refused({ preset: 'review' })).toThrow(expect.objectContaining({ hint: expect.stringContaining('full') }))
  expect(refused({})).not.toThrow()
})
