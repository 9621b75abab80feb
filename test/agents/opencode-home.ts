import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export const SCRIPTED = 'scripted/model'

/** A home in which the real client knows only the scripted model. */
export function opencodeHome(home: string, modelUrl: string): Record<string, string> {
  const folder = join(home, '.config', 'opencode')
  mkdirSync(folder, { recursive: true })
  const provider = {
    npm: '@ai-sdk/openai-compatible',
    options: { baseURL: `${modelUrl}/v1`, apiKey: 'test-key' },
    models: {
      model: {
        cost: { input: 10, output: 100 },
        limit: { context: 200_000, output: 10_000 },
        tool_call: true,
        reasoning: true,
        attachment: true,
        modalities: { input: ['text', 'image'], output: ['text'] },
      },
    },
  }
  const config = { model: SCRIPTED, small_model: SCRIPTED, share: 'disabled', provider: { scripted: provider } }
  writeFileSync(join(folder, 'opencode.json'), JSON.stringify(config))
  // At its first start it looks for a package. Here the request fails without leaving the machine.
  writeFileSync(join(home, '.npmrc'), 'registry=http://127.0.0.1:9/\nfetch-retries=0\n')
  return {
    XDG_CONFIG_HOME: join(home, '.config'),
    XDG_DATA_HOME: join(home, '.local', 'share'),
    XDG_CACHE_HOME: join(home, '.cache'),
    XDG_STATE_HOME: join(home, '.local', 'state'),
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
  }
}
