import { plain } from '../plain.ts'

/** A line of a file in readable form: a carriage return becomes a mark, not a new line. */
export const shown = (text: string): string => plain(text.replaceAll('\r', '␍'))

/** Longer lines are cut. Each click shows this many more characters. */
export const LINE_CHARS = 2000
export const MORE_CHARS = 50_000
