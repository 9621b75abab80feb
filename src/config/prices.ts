import { statSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { InvalidInput, type Refusal } from '../domain/errors.ts'
import { KNOWN_MODELS, KnownModel, knownModel, type ModelTable } from '../domain/rules/prices.ts'
import { textOf } from '../platform/whole-files.ts'

/** The file in the home with a person's own prices. */
export const PRICES_FILE = 'prices.json'

export const PricesFile = z.strictObject({ models: z.record(z.string().min(1).max(200), KnownModel) })

export interface Models {
  /** By the name that a client reports. */
  known(name: string): KnownModel | undefined
  /** Why the file in the home is ignored; null if nothing is wrong. */
  readonly fault: Refusal | null
}

/** The table of models; the file in the home overrides it. Read again when that file changes. */
export function modelsIn(home: string): Models {
  const file = join(home, PRICES_FILE)
  let seen = ''
  let own: ModelTable = {}
  let fault: Refusal | null = null

  function look(): void {
    const stat = statSync(file, { throwIfNoEntry: false })
    const now = stat ? `${stat.mtimeMs} ${stat.size} ${stat.ino}` : ''
    if (now === seen) return
    seen = now
    const read = now ? readPrices(file) : {}
    fault = read instanceof InvalidInput ? read : null
    own = read instanceof InvalidInput ? {} : read
  }
  return {
    known(name) {
      look()
      const [given, listed] = [knownModel(own, name), knownModel(KNOWN_MODELS, name)]
      return given || listed ? { ...listed, ...given } : undefined
    },
    get fault() {
      look()
      return fault
    },
  }
}

function readPrices(file: string): ModelTable | InvalidInput {
  try {
    const { success, data, error } = PricesFile.safeParse(JSON.parse(textOf(file) ?? ''))
    if (success) return data.models
    const [issue] = error.issues
    return wrong(issue!.path.join('.') || 'the whole file', issue!.message)
  } catch (error) {
    return wrong('it cannot be read', (error as Error).message)
  }
}

const wrong = (where: string, problem: string): InvalidInput =>
  new InvalidInput(`${PRICES_FILE}, ${where}`, problem, {
    try: `Fix ${PRICES_FILE} in the home of the fleet; until then the built-in prices apply.`,
  })
