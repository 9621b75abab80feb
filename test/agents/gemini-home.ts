import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A home in which the real client is signed in with a fake key, and talks only to the scripted model. */
export function geminiHome(home: string, modelUrl: string): Record<string, string> {
  mkdirSync(join(home, '.gemini'), { recursive: true })
  const settings = {
    security: { auth: { selectedType: 'gemini-api-key' } },
    privacy: { usageStatisticsEnabled: false },
    general: { enableAutoUpdate: false, maxAttempts: 3 },
  }
  writeFileSync(join(home, '.gemini', 'settings.json'), `// As a person may write it.\n${JSON.stringify(settings)}`)
  return { GEMINI_CLI_HOME: home, GEMINI_API_KEY: 'test-key', GOOGLE_GEMINI_BASE_URL: modelUrl }
}
