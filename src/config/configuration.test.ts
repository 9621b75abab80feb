import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { InvalidInput } from '../domain/errors.ts'
import { broken, GOOD, numbers, spoiled } from './configuration.testkit.ts'
import {
  Configuration,
  configurationTemplate,
  editConfiguration,
  parseConfiguration,
  readConfiguration,
} from './configuration.ts'
import { SETTINGS, type SettingName } from './settings.ts'
import { givenBy, givenIn, resolve, settingNamed, settingsIn, withSettings } from './sources.ts'

test('a flag comes before the environment, that before the file, that before the default', () => {
  const file = parseConfiguration('max_concurrent = 5\nmax_retries = 2\nstop_grace = 7\n')
  const environment = givenIn({ FLEET_MAX_CONCURRENT: '6', FLEET_MAX_RETRIES: '3' })
  const { settings, origins } = resolve({ file, environment, flag: givenBy({ max_concurrent: '7' }) })
  expect(settings).toMatchObject({ maxConcurrent: 7, maxRetries: 3, graceSeconds: 7, windowLimit: 95 })
  expect(origins).toMatchObject({
    maxConcurrent: 'flag',
    maxRetries: 'environment',
    graceSeconds: 'file',
    windowLimit: 'default',
  })
})

test('the file says lists and tables as TOML does, the environment as one text', () => {
  expect(parseConfiguration(GOOD)).toEqual({
    maxConcurrent: 6,
    defaultAgent: 'claude',
    allowedRepos: ['/srv/one', '/srv/two'],
    previewHours: 1.5,
    maxPerAgent: { claude: 2 },
  })
  expect(givenIn({ FLEET_ALLOWED_REPOS: '/a:/b', FLEET_MAX_PER_AGENT: 'claude=2, shell=8' })).toEqual({
    allowedRepos: ['/a', '/b'],
    maxPerAgent: { claude: 2, shell: 8 },
  })
})

test('a text may have a unit, and a refusal says what is possible in words', () => {
  expect(
    givenBy({ default_timeout: '90 min', warm_disk: '2GB', daily_budget: '$20', disk_limit_gb: '500 MB' }),
  ).toEqual({
    defaultTimeout: 5400,
    warmDisk: 2e9,
    dailyBudget: 20,
    diskLimitGb: 0.5,
  })
  expect(() => givenBy({ default_timeout: '5 GB' })).toThrow('default_timeout: must be from 1 s to 7 days')
  expect(() => givenBy({ max_retries: '11' })).toThrow('max_retries: must be a whole number from 0 to 10')
  expect(() => givenBy({ stall_policy: 'no' })).toThrow('must be one of warn, nudge, restart, stop')
  expect(() => givenBy({ daily_budget: '0' })).toThrow('must be above $0 per day')
})

test.each([
  ['max_concurrent = 0', /max_concurrent/],
  ['max_concurrent = "4"', /max_concurrent/],
  ['max_concurrent = 1.5', /max_concurrent/],
  ['max_concurent = 4', /max_concurent: is not a setting/],
  ['stall_policy = "perhaps"', /stall_policy/],
  ['max_concurrent = 4\nmax_concurrent = 5', /line 2/],
  ['coder = "claude"\ndefault_agent = "codex"', /sets the same as another key/],
  ['max_concurrent = ', /line 1/],
  ['default_agent = ""', /default_agent/],
  ['[default_agent]\nx = 1', /default_agent/],
  ['daily_budget = nan', /daily_budget/],
  ['max_concurrent = 99999999999999999999', /max_concurrent/],
  ['default_agent = 1979-05-27', /default_agent/],
  [`default_model = "${'x'.repeat(70_000)}"`, /longer than/],
])('a file that says %s is refused as a whole', (text, problem) => {
  expect(() => parseConfiguration(text)).toThrow(InvalidInput)
  expect(() => parseConfiguration(text)).toThrow(problem)
})

test.each(['FLEET_MAX_CONCURRENT=many', 'FLEET_MAX_PER_AGENT=claude', 'FLEET_MAX_RETRIES= ', 'FLEET_STALL_POLICY=no'])(
  '%s is refused under its own name',
  pair => {
    const [name = '', value = ''] = pair.split('=')
    expect(() => givenIn({ [name]: value })).toThrow(new RegExp(`^${name}: `))
  },
)

test('what other tools call a setting is heeded, and our own name for it comes first', () => {
  expect(givenIn({ FLEET_DEFAULT_EXECUTOR: 'codex', DEVFLEET_MAX_AGENTS: '3' })).toEqual({
    defaultAgent: 'codex',
    maxConcurrent: 3,
  })
  expect(givenIn({ FLEET_DEFAULT_EXECUTOR: 'codex', FLEET_DEFAULT_AGENT: 'claude' })).toEqual({
    defaultAgent: 'claude',
  })
  expect(parseConfiguration('coder = "codex"\ncontext_pressure_threshold_pct = 70')).toEqual({
    defaultAgent: 'codex',
    contextLimit: 70,
  })
})

test('the settings of a running server replace all others, whatever they are called', () => {
  const theirs = settingsIn({ DEVFLEET_MAX_AGENTS: '3', PATH: '/bin' })
  expect(theirs).toEqual({ FLEET_MAX_CONCURRENT: '3' })
  const env = withSettings({ FLEET_DEFAULT_EXECUTOR: 'codex', PATH: '/bin' }, theirs)
  expect(givenIn(env)).toEqual({ maxConcurrent: 3 })
  expect(env.PATH).toBe('/bin')
})

describe('editing', () => {
  const edit = (text: string, changes: Record<string, string>): string =>
    editConfiguration(
      text,
      new Map(
        Object.entries(changes).map(([key, value]) => {
          const name = settingNamed(key)
          return [name, value === '' ? undefined : givenBy({ [key]: value })[name]]
        }),
      ),
    )

  test('changes the one value and keeps every other byte', () => {
    expect(edit(GOOD, { max_concurrent: '8' })).toBe(GOOD.replace('= 6 # enough', '= 8 # enough'))
    expect(edit(GOOD, { allowed_repos: '/srv' })).toBe(GOOD.replace(/\[\n {2}"\/srv\/one"[^\]]*\]/, '["/srv"]'))
    const windows = GOOD.replaceAll('\n', '\r\n')
    expect(edit(windows, { max_concurrent: '8' })).toBe(windows.replace('= 6', '= 8'))
  })

  test('adds before the first table, takes out again, and turns a table into a line', () => {
    const added = edit(GOOD, { max_retries: '2' })
    expect(added).toBe(GOOD.replace('preview_hours = 1.5\n', 'preview_hours = 1.5\nmax_retries = 2\n'))
    expect(edit(added, { max_retries: '' })).toBe(GOOD)
    const lined = edit(GOOD, { max_per_agent: 'codex=1' })
    expect(parseConfiguration(lined)).toMatchObject({ maxPerAgent: { codex: 1 }, maxConcurrent: 6 })
    expect(lined).toContain('# Mine.')
  })

  test('begins a file, ends one without a newline, and changes what is written under another name there', () => {
    expect(edit('', { default_agent: 'codex' })).toBe('default_agent = "codex"\n')
    expect(edit('max_retries = 1', { stop_grace: '3' })).toBe('max_retries = 1\nstop_grace = 3\n')
    expect(edit('coder = "claude" # mine\n', { default_agent: 'codex' })).toBe('coder = "codex" # mine\n')
  })

  test('a key that only a text mentions is not the key', () => {
    const text = `context_mode_cmd = """\nmax_concurrent = 5\n[max_per_agent]\n"""\n`
    expect(parseConfiguration(edit(text, { max_concurrent: '9' }))).toEqual({
      contextModeCommand: 'max_concurrent = 5\n[max_per_agent]\n',
      maxConcurrent: 9,
    })
  })

  test('a broken file is not edited, and a value that will not do is not written', () => {
    expect(() => edit('max_concurrent = ', { stop_grace: '3' })).toThrow(InvalidInput)
    expect(() => edit(GOOD, { max_concurrent: '501' })).toThrow(InvalidInput)
  })
})

test('ten thousand broken texts are each refused with a sentence, and change nothing', () => {
  const configuration = new Configuration({ file: parseConfiguration(GOOD) })
  const before = structuredClone(configuration.settings)
  const sentences = new Set<string>()
  for (const text of broken(10_000, 1)) {
    try {
      configuration.take(parseConfiguration(text))
      expect.unreachable()
    } catch (error) {
      if (!(error instanceof InvalidInput)) throw new Error(`${JSON.stringify(text)}: ${error}`)
      sentences.add(error.message)
    }
  }
  expect(configuration.settings).toEqual(before)
  expect(sentences.size).toBeGreaterThan(50)
})

test('whatever is not refused is within bounds', () => {
  const next = numbers(2)
  let accepted = 0
  for (let tries = 0; tries < 5000; tries++) {
    const text = spoiled(GOOD, next)
    let given: ReturnType<typeof parseConfiguration>
    try {
      given = parseConfiguration(text)
    } catch {
      continue
    }
    accepted++
    for (const [name, value] of Object.entries(given))
      expect(SETTINGS[name as SettingName].schema.safeParse(value).success).toBe(true)
  }
  expect(accepted).toBeGreaterThan(100)
})

test('a fresh file says nothing, and every line of it does when it is uncommented', () => {
  expect(parseConfiguration(configurationTemplate())).toEqual({})
  const said = configurationTemplate().replaceAll(/^# ([a-z_]+ = .+)$/gm, '$1')
  const { settings, origins } = resolve({ file: parseConfiguration(said) })
  expect(settings).toEqual(resolve({}).settings)
  expect(Object.values(origins).filter(origin => origin === 'file').length).toBeGreaterThan(20)
})

test('what is no file, or far too long, is not read', () => {
  const home = mkdtempSync(join(tmpdir(), 'flotilla-configuration-'))
  onTestFinished(() => rmSync(home, { recursive: true }))
  const file = join(home, 'fleet.toml')
  expect(readConfiguration(home)).toEqual({ given: {}, fault: null })
  execFileSync('mkfifo', [file])
  expect(readConfiguration(home).fault?.message).toContain('is not a file')
  rmSync(file)
  writeFileSync(file, Buffer.from([0x6d, 0xff]))
  expect(readConfiguration(home).fault?.message).toContain('UTF-8')
  truncateSync(file, 2 ** 40)
  expect(readConfiguration(home).fault?.message).toContain('longer than')
})
