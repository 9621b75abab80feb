import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cacheFolder } from '../clients/pinned.mjs'
import { aPlace, type Place } from './drive.ts'

/** A person's own settings, as far as they name the scripted model; the key is none. */
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

/** Not in a temporary folder: there the client makes no links to itself, without which an older bubblewrap finds it not. */
export function aCodexHome(modelUrl: string): string {
  const folder = cacheFolder().startsWith(tmpdir()) ? '/var/tmp' : cacheFolder()
  mkdirSync(folder, { recursive: true })
  const home = mkdtempSync(join(folder, 'codex-home-'))
  writeFileSync(join(home, 'config.toml'), codexSettings(modelUrl))
  return home
}

export function aCodexPlace(binary: string, modelUrl: string): Place {
  const place = aPlace(binary, modelUrl)
  const home = aCodexHome(modelUrl)
  const { HOME, PATH } = place.environment
  const remove = async () => {
    await place.remove()
    await rm(home, { recursive: true, force: true, maxRetries: 5 })
  }
  return { ...place, remove, environment: { HOME: HOME!, PATH: PATH!, CODEX_HOME: home, OPENAI_API_KEY: 'test-key' } }
}
