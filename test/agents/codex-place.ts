import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
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

export function aCodexPlace(binary: string, modelUrl: string): Place {
  const place = aPlace(binary, modelUrl)
  const home = join(place.root, 'codex')
  mkdirSync(home)
  writeFileSync(join(home, 'config.toml'), codexSettings(modelUrl))
  const { HOME, PATH } = place.environment
  return { ...place, environment: { HOME: HOME!, PATH: PATH!, CODEX_HOME: home, OPENAI_API_KEY: 'test-key' } }
}
