import { InvalidInput } from '../domain/errors.ts'

/** What a service manager needs to know to run the server of a home. */
export interface Service {
  /** The program with its arguments. */
  argv: readonly string[]
  home: string
  /** The whole environment of the service, besides what its manager gives to every service. */
  environment: Readonly<Record<string, string>>
  /** Where a manager without a log of its own writes the output. */
  log: string
}

const FIRST_LINE = 'Made by fleet service install; fleet service remove takes it away.'

/** The unit of a user's systemd. */
export function systemdUnit({ argv, home, environment }: Service): string {
  return `# ${FIRST_LINE}
[Unit]
Description=Flotilla, which runs coding agents (${unitText(home)})
StartLimitIntervalSec=300
StartLimitBurst=10

[Service]
Type=exec
ExecStart=${argv.map(commandWord).join(' ')}
WorkingDirectory=${unitText(home)}
${Object.entries(environment)
  .map(([name, value]) => `Environment=${unitWord(`${name}=${value}`)}\n`)
  .join('')}Restart=on-failure
RestartSec=5
TimeoutStopSec=45
# Only the server ends. Its agents go on working, and the next server picks them up.
KillMode=process
# The server makes a control group for each session.
Delegate=yes

[Install]
WantedBy=default.target
`
}

/** A line ends a value, and no escape helps where quotes are not read. */
function requireOneLine(text: string): string {
  if (/[\0\r\n]/.test(text)) throw new InvalidInput('service', `cannot contain a line break: ${JSON.stringify(text)}`)
  return text
}

/** In a unit, % begins a specifier everywhere. */
const unitText = (text: string): string => requireOneLine(text).replaceAll('%', '%%')
const unitWord = (text: string): string => `"${unitText(text).replace(/["\\]/g, '\\$&')}"`
/** In a command line, $ begins a variable. */
const commandWord = (text: string): string => unitWord(text).replaceAll('$', '$$$$')

/** The agent of a user's launchd. */
export function launchdAgent({ argv, home, environment, log }: Service, label: string): string {
  const text = (value: string) => `<string>${xml(value)}</string>`
  const variables = Object.entries(environment).map(([name, value]) => `    <key>${xml(name)}</key>${text(value)}`)
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- ${FIRST_LINE} -->
<plist version="1.0">
<dict>
  <key>Label</key>${text(label)}
  <key>ProgramArguments</key>
  <array>
${argv.map(word => `    ${text(word)}`).join('\n')}
  </array>
  <key>WorkingDirectory</key>${text(home)}
  <key>EnvironmentVariables</key>
  <dict>
${variables.join('\n')}
  </dict>
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key><false/>
  </dict>
  <!-- Only the server ends. Its agents go on working. -->
  <key>AbandonProcessGroup</key><true/>
  <key>ExitTimeOut</key><integer>45</integer>
  <key>StandardOutPath</key>${text(log)}
  <key>StandardErrorPath</key>${text(log)}
</dict>
</plist>
`
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }
const xml = (text: string): string => requireOneLine(text).replace(/[&<>]/g, sign => ENTITIES[sign]!)
