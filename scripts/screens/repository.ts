import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export function repository(path: string, files: Record<string, string>): void {
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', ...args], { cwd: path })
  mkdirSync(path, { recursive: true })
  git('init', '--quiet', '--initial-branch=main')
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(path, name)), { recursive: true })
    writeFileSync(join(path, name), content)
  }
  git('add', '.')
  git('commit', '--quiet', '-m', 'A harbour')
  for (const key of ['user.name', 'user.email']) git('config', key, key === 'user.name' ? 'Ada' : 'ada@example.org')
}
