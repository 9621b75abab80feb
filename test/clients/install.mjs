// Installs the pinned clients, or the named ones, into the cache. Fast if they are there. Runs on any Node.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { CLIENTS, folderOf } from './pinned.mjs'

function install(client) {
  const folder = folderOf(client)
  if (existsSync(folder)) return
  // Installed beside its place and then renamed, so that an existing folder is always complete.
  const unfinished = `${folder}.${process.pid}`
  mkdirSync(unfinished, { recursive: true })
  const name = `${client.package}@${client.version}`
  console.log(`Installing ${name} into ${dirname(folder)}…`)
  const args = ['install', '--prefix', unfinished, '--no-save', '--no-audit', '--no-fund', '--loglevel=error']
  const limits = [client.omit && `--omit=${client.omit}`, client.withoutScripts && '--ignore-scripts'].filter(Boolean)
  const { status, error } = spawnSync('npm', [...args, ...limits, name], {
    stdio: ['ignore', 'inherit', 'inherit'],
    cwd: unfinished,
  })
  if (error) console.error(`npm: ${error.message}`)
  if (status === 0 && !existsSync(folder)) renameSync(unfinished, folder)
  rmSync(unfinished, { recursive: true, force: true })
  if (status !== 0) process.exit(status ?? 1)
}

const named = process.argv.slice(2)
for (const [name, client] of Object.entries(CLIENTS)) if (!named.length || named.includes(name)) install(client)
