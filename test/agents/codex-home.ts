import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cacheFolder } from '../clients/pinned.mjs'
import { aWorkspace, type Workspace } from './drive.ts'

/** A person's own settings, with only the scripted model. The key is not real. */
export function codexSettings(modelUrl: string): string {
  return `model = "gpt-5.5"
model_provider = "scripted"
[model_providers.scripted]
name = "scripted"
base_url = "${modelUrl}/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 2
`
}

/**
 * Not in a temporary folder: there the client makes no links to itself, and an older bubblewrap does not find it
 * without them.
 */
export function aCodexHome(modelUrl: string): string {
  const folder = cacheFolder().startsWith(tmpdir()) ? '/var/tmp' : cacheFolder()
  mkdirSync(folder, { recursive: true })
  const home = mkdtempSync(join(folder, 'codex-home-'))
  writeFileSync(join(home, 'config.toml'), codexSettings(modelUrl))
  return home
}

export function aCodexWorkspace(binary: string, modelUrl: string): Workspace {
  const workspace = aWorkspace(binary, modelUrl)
  const home = aCodexHome(modelUrl)
  const { HOME, PATH } = workspace.environment
  const remove = async () => {
    await workspace.remove()
    await rm(home, { recursive: true, force: true, maxRetries: 5 })
  }
  return {
    ...workspace,
    remove,
    environment: { HOME: HOME!, PATH: PATH!, CODEX_HOME: home, OPENAI_API_KEY: 'test-key' },
  }
}
