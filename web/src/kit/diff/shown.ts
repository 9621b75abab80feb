import { plain } from '../plain.ts'

/** A line of a file as it can be read: a return at its end or within is a mark, not a new line. */
export const shown = (text: string): string => plain(text.replaceAll('\r', '␍'))

/** Longer lines are cut until somebody asks for more, and so much more comes each time. */
export const LINE_CHARS = 2000
export const MORE_CHARS = 50_000
