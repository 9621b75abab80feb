import { writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { configurationFile } from '../../config/configuration.ts'
import { aMission, aProject } from '../../domain/samples.testkit.ts'
import { aBench } from '../workshop.testkit.ts'
import { takeConfiguration } from './configuration.ts'
import { deleteTemplate, missionFrom, projectFrom, saveTemplate, templateNamed } from './templates.ts'

const ask = { operation: 'test', actor: 'a person' }
const variables = [{ name: 'file', default: null }]

function templates() {
  const { fleet, told } = aBench()
  const save = (name: string, model: Parameters<typeof saveTemplate>[2]['model'], more = {}) =>
    saveTemplate(fleet, ask, { name, model, variables: [], replace: false, ...more })
  return { fleet, told, save }
}

test('a template has the settings of a mission, and its text with what is filled in', async () => {
  const { fleet, save } = templates()
  const mission = aMission({ prompt: { inline: 'Test {file}, keep {this}' }, priority: 7, depends_on: ['m0'] })
  await save('Tests', { mission }, { variables })
  const { fields } = await missionFrom(fleet, 'tests', { file: 'a.ts' })
  expect(fields).toMatchObject({ detailed_prompt: 'Test a.ts, keep {this}', priority: 7 })
  expect(fields).not.toHaveProperty('depends_on')
  await expect(missionFrom(fleet, 'tests', {})).rejects.toThrow('file')
  await expect(missionFrom(fleet, 'tests', { file: 'a', other: 'b' })).rejects.toThrow('other')
})

test('what is filled into a script reaches it as a variable, never as a part of its text', async () => {
  const { fleet, save } = templates()
  const script = (text: string) => ({ mission: aMission({ prompt: { inline: text }, agent: 'shell', script: true }) })
  await expect(save('show', script('cat {file}'), { variables })).rejects.toThrow('its value would run')
  await save('show', script('cat "$FLEET_VAR_FILE"'), { variables })
  const made = await missionFrom(fleet, 'show', { file: '"; rm -rf /' })
  expect([made.script, made.fields.detailed_prompt]).toEqual([true, 'cat "$FLEET_VAR_FILE"'])
  expect(JSON.parse(await fleet.blobs.read(made.variables!))).toEqual({ FLEET_VAR_FILE: '"; rm -rf /' })
})

test('a name is taken in whatever case, until somebody replaces it', async () => {
  const { fleet, save, told } = templates()
  await save('tests', { mission: aMission() })
  await expect(save('TESTS', { project: aProject() })).rejects.toThrow('There already is a template tests.')
  await save('TESTS', { project: aProject({ landing: 'auto' }) }, { replace: true })
  expect(await projectFrom(fleet, 'tests')).toMatchObject({ landing: 'auto' })
  await expect(templateNamed(fleet, 'tests', 'mission')).rejects.toThrow(
    'There is no template of a mission called "tests".',
  )
  expect(await told()).toEqual(['template_saved ', 'template_saved '])
})

test('of two who save the same name at once, one does', async () => {
  const { save } = templates()
  const both = await Promise.allSettled([
    save('tests', { mission: aMission() }),
    save('tests', { mission: aMission() }),
  ])
  expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
})

test('a template that is gone is told', async () => {
  const { fleet, save } = templates()
  await save('tests', { mission: aMission() })
  await deleteTemplate(fleet, ask, 'Tests')
  await expect(deleteTemplate(fleet, ask, 'tests')).rejects.toThrow('There is no template "tests".')
})

test('a changed file of settings is taken once; a broken one changes nothing and is told once', async () => {
  const { fleet, told } = aBench()
  const write = (text: string) => writeFileSync(configurationFile(fleet.home.path), text)
  write('max_concurrent = 7\n')
  expect((await takeConfiguration(fleet)).changed).toMatchObject({ max_concurrent: { to: 7 } })
  expect((await takeConfiguration(fleet)).changed).toEqual({})
  write('max_concurrent = 9\nmax_per_agent = { nobody = 2 }\n')
  expect((await takeConfiguration(fleet)).refused).toContain('nobody')
  expect((await takeConfiguration(fleet)).refused).toBeNull()
  expect(fleet.settings.maxConcurrent).toBe(7)
  expect(await told()).toEqual(['settings_changed ', 'settings_refused '])
})
