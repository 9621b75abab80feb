import { expect, test } from 'vitest'
import { launchdAgent, type Service, systemdUnit } from './service-unit.ts'

const service = (more: Partial<Service> = {}): Service => ({
  argv: ['/opt/fleet/bin/fleet.js', 'up', '--into-log'],
  home: '/home/ada/.flotilla',
  environment: { FLEET_HOME: '/home/ada/.flotilla', PATH: '/usr/bin:/bin' },
  log: '/home/ada/.flotilla/logs/up.log',
  ...more,
})

test('the unit restarts the server when it fails, and ends only the server', () => {
  const unit = systemdUnit(service())
  for (const line of [
    'ExecStart="/opt/fleet/bin/fleet.js" "up" "--into-log"',
    'Environment="PATH=/usr/bin:/bin"',
    'Restart=on-failure',
    'KillMode=process',
    'WantedBy=default.target',
  ])
    expect(unit.split('\n')).toContain(line)
})

test('no name in a unit becomes syntax', () => {
  const unit = systemdUnit(
    service({ argv: ['/a b/"c"', '$HOME', '100%', 'back\\slash'], home: '/50%/x', environment: { A: '"%h" \\' } }),
  )
  const lines = unit.split('\n')
  expect(lines).toContain('ExecStart="/a b/\\"c\\"" "$$HOME" "100%%" "back\\\\slash"')
  expect(lines).toContain('WorkingDirectory=/50%%/x')
  expect(lines).toContain('Environment="A=\\"%%h\\" \\\\"')
})

test.each(['a\nExecStart=/bin/evil', 'a\rb', 'a\0b'])('a line break is refused: %j', odd => {
  expect(() => systemdUnit(service({ home: odd }))).toThrow('line break')
  expect(() => systemdUnit(service({ argv: [odd] }))).toThrow('line break')
  expect(() => launchdAgent(service({ environment: { PATH: odd } }), 'x')).toThrow('line break')
})

test('the agent of launchd keeps the server up, and its values are escaped', () => {
  const plist = launchdAgent(service({ argv: ['/a/<b>&c'] }), 'dev.flotilla.fleet')
  expect(plist).toContain('<string>/a/&lt;b&gt;&amp;c</string>')
  expect(plist).toContain('<key>Label</key><string>dev.flotilla.fleet</string>')
  expect(plist).toMatch(/<key>SuccessfulExit<\/key><false\/>/)
  expect(plist).toMatch(/<key>AbandonProcessGroup<\/key><true\/>/)
})
