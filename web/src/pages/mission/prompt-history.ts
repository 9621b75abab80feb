const KEY = 'fleet-prompts'
const MOST = 50
const LONGEST = 20_000

/** Earlier prompts of this browser, newest first. */
export function earlierPrompts(storage: Pick<Storage, 'getItem'> = localStorage): string[] {
  try {
    const stored: unknown = JSON.parse(storage.getItem(KEY) ?? '[]')
    return Array.isArray(stored) ? stored.filter(each => typeof each === 'string') : []
  } catch {
    return []
  }
}

export function rememberPrompt(text: string, storage: Pick<Storage, 'getItem' | 'setItem'> = localStorage): void {
  const said = text.trim()
  if (!said || said.length > LONGEST) return
  const all = [said, ...earlierPrompts(storage).filter(each => each !== said)]
  try {
    storage.setItem(KEY, JSON.stringify(all.slice(0, MOST)))
  } catch {
    // A browser that stores nothing has no history.
  }
}
