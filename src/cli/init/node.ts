import * as z from 'zod'
import type { Listing, Part } from './listing.ts'

const Package = z.object({
  scripts: z.record(z.string(), z.string()).catch({}).default({}),
  packageManager: z.string().catch('').default(''),
  dependencies: z.record(z.string(), z.unknown()).catch({}).default({}),
  devDependencies: z.record(z.string(), z.unknown()).catch({}).default({}),
})

interface Manager {
  name: 'npm' | 'pnpm' | 'yarn' | 'bun'
  /** Installs exactly what the lock file says. */
  install: string
  lock: string
}

const LOCKS: readonly Manager[] = [
  { name: 'pnpm', lock: 'pnpm-lock.yaml', install: 'pnpm install --frozen-lockfile' },
  { name: 'yarn', lock: 'yarn.lock', install: 'yarn install --frozen-lockfile' },
  { name: 'bun', lock: 'bun.lock', install: 'bun install --frozen-lockfile' },
  { name: 'bun', lock: 'bun.lockb', install: 'bun install --frozen-lockfile' },
  { name: 'npm', lock: 'package-lock.json', install: 'npm ci' },
  { name: 'npm', lock: 'npm-shrinkwrap.json', install: 'npm ci' },
]

/** Common names of checks, in the order in which they run best: those that fail fastest first. */
const CHECKS: readonly { name: string; scripts: readonly string[] }[] = [
  { name: 'lint', scripts: ['lint'] },
  { name: 'types', scripts: ['typecheck', 'type-check', 'check-types', 'check:types', 'tsc'] },
  { name: 'test', scripts: ['test'] },
]

export function ofNode({ names, texts }: Listing): Part | undefined {
  const text = texts['package.json']
  if (text === undefined) return undefined
  const { scripts, packageManager, ...packages } = readPackage(text)
  const locked = LOCKS.find(({ lock }) => names.includes(lock))
  const manager = locked?.name ?? LOCKS.find(({ name }) => packageManager.startsWith(`${name}@`))?.name ?? 'npm'
  const usable = (script: string): boolean => !!scripts[script] && isCheck(scripts[script])
  const checks = CHECKS.flatMap(({ name, scripts: known }) => {
    const script = known.find(usable)
    return script ? [{ name, command: `${manager} run ${script}` }] : []
  })
  const needed = Object.keys({ ...packages.dependencies, ...packages.devDependencies }).length > 0
  return {
    setup: locked ? installOf(locked, names, packageManager) : needed ? UNLOCKED[manager] : '',
    checks,
    because: `package.json${locked ? ` and ${locked.lock}` : ''}`,
  }
}

/** Installs without a lock file, so that none is made and committed with the work. */
const UNLOCKED: Record<Manager['name'], string> = {
  npm: 'npm install --no-package-lock',
  pnpm: 'pnpm install --no-lockfile',
  yarn: 'yarn install --no-lockfile',
  bun: 'bun install --no-save',
}

/** Newer versions of Yarn have another option for this. */
const installOf = ({ name, install }: Manager, names: readonly string[], packageManager: string): string =>
  name === 'yarn' && (names.includes('.yarnrc.yml') || /^yarn@[2-9]/.test(packageManager))
    ? 'yarn install --immutable'
    : install

/** Not the placeholder that `npm init` writes, and not a script that never ends. */
const isCheck = (script: string): boolean => !/no test specified|--watch(All)?(?!=false)\b/.test(script)

function readPackage(text: string): z.infer<typeof Package> {
  try {
    return Package.parse(JSON.parse(text))
  } catch {
    return Package.parse({})
  }
}
