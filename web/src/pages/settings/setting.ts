import { readUnits } from '../../../../src/domain/units.ts'
import type { Output } from '../../api/client.ts'

export type Setting = Output<'get_settings'>['settings'][number]
export type FormOf<K extends Setting['form']['kind']> = Extract<Setting['form'], { kind: K }>

/** An edit that is not saved yet. `null` resets the setting. */
export interface Edit {
  value: unknown
  problem: string | null
}

/** The environment and flags of the server win over the file, which is all that this page can change. */
export const isFixed = ({ origin }: Setting): boolean => origin === 'environment' || origin === 'flag'

export function sourceOf({ origin, variable }: Setting): string | null {
  if (origin === 'environment') return `Set by the environment variable ${variable} of the server. Change it there.`
  if (origin === 'flag')
    return 'Set by an option of the server’s command. Restart the server without it to change this here.'
  return origin === 'file' ? 'Changed in fleet.toml or on this page.' : null
}

export const TAKES: Record<Setting['takes_effect'], string | null> = {
  'at once': null,
  'next session': 'Applies to new sessions.',
  'plugin reload': 'Applies when plugins are reloaded.',
}

/** Reads a number field. Empty resets it. */
export function numberEdit(text: string, size: string, form: FormOf<'number'>, expects: string | null): Edit {
  if (text.trim() === '') return { value: null, problem: null }
  const value = form.unit ? readUnits(`${text} ${size}`, form.unit) : Number(text)
  const isValid =
    value !== undefined &&
    Number.isFinite(value) &&
    (!form.whole || Number.isInteger(value)) &&
    value >= (form.min ?? Number.NEGATIVE_INFINITY) &&
    value <= (form.max ?? Number.POSITIVE_INFINITY)
  return isValid ? { value, problem: null } : { value, problem: sentence(expects ?? 'must be a number') }
}

/** "must be …" as a sentence. */
const sentence = (text: string): string => `${text[0]!.toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`

export const lines = (text: string): string[] =>
  text
    .split('\n')
    .map(line => line.trim())
    .filter(Boolean)
