// Builds the image and runs it, without a container engine: npm run test:deploy
// It needs root on Linux, and Debian's packages buildah and debootstrap, which it installs. Without the servers of
// deploy/compose.yaml and a cluster, what those files say is read and done by test/deploy/image.test.ts.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { cacheFolder } from '../test/clients/pinned.mjs'

const root = join(import.meta.dirname, '..')
const PACKAGES = ['buildah', 'debootstrap']

const succeeds = (command: string, ...args: string[]): boolean =>
  spawnSync(command, args, { stdio: ['ignore', 'ignore', 'inherit'] }).status === 0

function haveTools(): boolean {
  if (process.getuid?.() !== 0) return false
  const areThere = () => PACKAGES.every(name => spawnSync(name, ['--version'], { stdio: 'ignore' }).status === 0)
  return (
    areThere() || (succeeds('apt-get', 'install', '-qq', '-y', '--no-install-recommends', ...PACKAGES) && areThere())
  )
}

/** What knows the forms of Kubernetes and of Compose, in a folder of their own. */
function haveForms(): string | undefined {
  const folder = join(cacheFolder(), 'forms')
  const bin = join(folder, 'bin')
  if (existsSync(join(bin, 'kubernetes-validate')) && existsSync(join(bin, 'check-jsonschema'))) return bin
  mkdirSync(folder, { recursive: true })
  const made =
    succeeds('python3', '-m', 'venv', folder) &&
    succeeds(join(bin, 'pip'), 'install', '--quiet', 'kubernetes-validate', 'check-jsonschema')
  return made ? bin : undefined
}

const image = haveTools()
if (!image) console.log("It is not root, or Debian's buildah and debootstrap cannot be had: no image is built.")
const forms = haveForms()
if (!forms) console.log('kubernetes-validate and check-jsonschema cannot be had: the forms are not compared.')
const { status } = spawnSync(
  join(root, 'node_modules/.bin/vitest'),
  ['run', 'test/deploy/files', 'test/deploy/image'],
  {
    cwd: root,
    stdio: 'inherit',
    env: {
      ...process.env,
      ...(image && { FLEET_TEST_DEPLOY: '1' }),
      ...(forms && { FLEET_TEST_FORMS: forms }),
    },
  },
)
process.exitCode = status ?? 1
