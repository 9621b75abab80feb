import type * as z from 'zod'
import { readPlainFile } from '../plain-files.ts'

/** A small file of ours; undefined: there is none, or a crash or somebody else cut it short. */
export function readRecord<T>(schema: z.ZodType<T>, path: string): T | undefined {
  try {
    return schema.safeParse(JSON.parse(readPlainFile(path)?.toString('utf8') ?? '')).data
  } catch {
    return undefined
  }
}
