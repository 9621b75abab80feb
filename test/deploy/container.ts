import { type ChildProcess, type ExecFileSyncOptions, execFileSync, spawn, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cacheFolder } from '../clients/pinned.mjs'
import { NODE, ROOT } from '../kit/fleet.ts'

const FOLDER = join(cacheFolder(), 'image')
const STORAGE = join(FOLDER, 'storage')
const BASE = 'docker.io/library/node:22-bookworm-slim'
const MINUTES = 60_000

/** What a container is started with, by an image and by whoever starts it. */
export interface Started {
  /** Replaces the command of the image. */
  command?: string[]
  env?: Record<string, string>
  name: string
  /** Folders and files of this machine, by their paths in the container. */
  mounts: Record<string, { from: string; readOnly?: boolean }>
  readOnlyRoot?: boolean
}

export interface Image {
  user: string
  env: Record<string, string>
  entrypoint: string[]
  command: string[]
  health: string[]
  volumes: string[]
}

export interface Container {
  /** What it printed. */
  said(): string
  /** Runs a program in it, as its user. */
  run(...program: string[]): { code: number | null; said: string }
  /** As a runtime stops it: the signal for its first process. The code with which that ended. */
  stop(): Promise<number | null>
  /** SIGKILL for everything in it. */
  kill(): Promise<void>
}

const buildah = (...args: string[]): string =>
  execFileSync('buildah', [`--root=${STORAGE}`, `--runroot=${join(FOLDER, 'run')}`, ...args], {
    cwd: ROOT,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 2 ** 28,
    timeout: 20 * MINUTES,
  })

/** The images of the Dockerfile come from no registry: what they are made of is Debian, and the pinned Node. */
function makeBase(): void {
  const root = join(FOLDER, 'debian')
  if (!existsSync(join(root, 'usr/local/bin/npm'))) {
    rmSync(root, { recursive: true, force: true })
    mkdirSync(FOLDER, { recursive: true })
    const options: ExecFileSyncOptions = { stdio: ['ignore', 'ignore', 'inherit'], timeout: 20 * MINUTES }
    execFileSync('debootstrap', ['--variant=minbase', 'bookworm', root], options)
    execFileSync('chroot', [root, 'useradd', '--uid=1000', '--create-home', 'node'], options)
    const npm = join(FOLDER, 'npm')
    execFileSync('npm', ['install', '--silent', `--prefix=${npm}`, 'npm@10'], options)
    mkdirSync(join(root, 'usr/local/lib/node_modules'), { recursive: true })
    execFileSync('cp', ['-aL', join(npm, 'node_modules/npm'), join(root, 'usr/local/lib/node_modules/npm')], options)
    execFileSync('ln', ['-s', '../lib/node_modules/npm/bin/npm-cli.js', join(root, 'usr/local/bin/npm')], options)
  }
  execFileSync('cp', [NODE, join(root, 'usr/local/bin/node')])
  trustAsHere(root)
  const made = buildah('from', 'scratch').trim()
  buildah('copy', '--quiet', made, root, '/')
  const trusted = process.env.NODE_EXTRA_CA_CERTS
  if (trusted) buildah('config', `--env=NODE_EXTRA_CA_CERTS=${CERTIFICATES}`, made)
  buildah('commit', '--quiet', '--rm', made, BASE)
}

const CERTIFICATES = '/etc/ssl/certs/of-the-machine.crt'

/** The build trusts whom this machine trusts. */
function trustAsHere(root: string): void {
  const file = process.env.NODE_EXTRA_CA_CERTS
  if (!file) return
  mkdirSync(join(root, 'etc/ssl/certs'), { recursive: true })
  mkdirSync(join(root, 'usr/local/etc'), { recursive: true })
  writeFileSync(join(root, CERTIFICATES), readFileSync(file))
  writeFileSync(join(root, 'usr/local/etc/npmrc'), `cafile=${CERTIFICATES}\n`)
}

/** Builds a Dockerfile of ours, every step of it. */
export function build(file: string, name: string): Image {
  if (!buildah('images', '--quiet', '--filter', `reference=${BASE}`).trim()) makeBase()
  buildah(
    ...['bud', '--layers', '--isolation=chroot', '--network=host', '--pull-never', '--format=docker', '--quiet'],
    ...[`--file=${file}`, `--tag=${name}`, ROOT],
  )
  const { Docker } = JSON.parse(buildah('inspect', '--type=image', `localhost/${name}`))
  const { User, Env, Entrypoint, Cmd, Healthcheck, Volumes } = Docker.config
  return {
    user: User,
    env: Object.fromEntries(Env.map((each: string) => each.split(/=(.*)/s).slice(0, 2))),
    entrypoint: Entrypoint,
    command: Cmd,
    health: Healthcheck.Test.slice(1),
    volumes: Object.keys(Volumes),
  }
}

/** The files of an image, and what removes them. */
export function filesOf(name: string): { root: string; remove: () => void } {
  const container = buildah('from', '--pull-never', `localhost/${name}`).trim()
  const root = buildah('mount', container).trim()
  return { root, remove: () => void buildah('rm', container) }
}

/** A folder that belongs to the user of the image, as an empty volume does. */
export function aVolume(folder: string, { user }: Image): string {
  mkdirSync(folder)
  const [uid, gid] = user.split(':').map(Number)
  chownSync(folder, uid!, gid!)
  chmodSync(folder, 0o700)
  return folder
}

export function start(root: string, image: Image, started: Started, folder: string): Container {
  const hosts = join(folder, 'hosts')
  writeFileSync(hosts, '127.0.0.1 localhost postgres\n::1 localhost\n')
  const mounts = Object.entries(started.mounts).map(([path, { from, readOnly }]) => {
    const at = join(root, path)
    if (!existsSync(at)) makeLike(from, at)
    return `${from}:${path}:${readOnly ? 'ro' : 'rw'}`
  })
  const env = Object.entries({ ...image.env, ...started.env }).map(([name, value]) => `${name}=${value}`)
  const child = spawn(
    'unshare',
    [
      ...['--mount', '--uts', '--ipc', '--pid', '--fork'],
      ...['sh', join(import.meta.dirname, 'container.sh')],
      ...[root, started.name, hosts, started.readOnlyRoot ? 'ro' : 'rw', image.user, ...mounts, '--'],
      ...[...env, ...image.entrypoint, ...(started.command ?? image.command)],
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  )
  let text = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (part: string) => {
      text += part
    })
  return {
    said: () => text,
    run(...program) {
      if (isOver(child)) throw new Error(`The container has ended: ${text}`)
      return runIn(firstIn(child), image, env, program)
    },
    async stop() {
      const gone = over(child)
      process.kill(firstIn(child), 'SIGTERM')
      return gone
    },
    async kill() {
      const gone = over(child)
      // Everything else in it ends with its first process, and then whoever started it.
      if (!isOver(child)) process.kill(firstIn(child), 'SIGKILL')
      await gone
    },
  }
}

const isOver = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null

const over = (child: ChildProcess): Promise<number | null> =>
  isOver(child) ? Promise.resolve(child.exitCode) : new Promise(resolve => child.once('exit', resolve))

/** The process with the number 1 in the container, by its number here. */
const firstIn = ({ pid }: ChildProcess): number =>
  Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim())

function runIn(
  first: number,
  { user }: Image,
  env: string[],
  program: string[],
): { code: number | null; said: string } {
  const [uid, gid] = user.split(':')
  const { status, stdout, stderr } = spawnSync(
    'nsenter',
    [
      ...[`--target=${first}`, '--mount', '--uts', '--ipc', '--pid', '--root', '--wd', '--'],
      ...['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--no-new-privs', '--bounding-set=-all'],
      ...['--inh-caps=-all', '--', 'env', '--ignore-environment', ...env, ...program],
    ],
    { encoding: 'utf8', timeout: 2 * MINUTES },
  )
  return { code: status, said: stdout + stderr }
}

/** A place for a mount, as a runtime makes it. */
function makeLike(from: string, at: string): void {
  mkdirSync(join(at, '..'), { recursive: true })
  if (statSync(from).isDirectory()) mkdirSync(at)
  else writeFileSync(at, '')
}
