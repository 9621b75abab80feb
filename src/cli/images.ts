import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { InvalidInput } from '../domain/errors.ts'
import { imageProblem } from '../domain/rules/images.ts'
import type { Cli } from './command.ts'

/** A name may contain commas, so each file needs an option of its own. */
const listed = (value: string, before: string[] = []): string[] => [...before, ...(value ? [value] : [])]

export const addImageOption = (command: Command, more = ''): Command =>
  command.option('--image <file>', `an image to show to the agent; may be repeated${more}`, listed)

/** Stores the files that the option names. Nothing is given if the option is not. */
export async function imagesFrom(cli: Cli, { image }: Record<string, unknown>): Promise<{ images?: string[] }> {
  if (image === undefined) return {}
  // All are looked at before the first is stored.
  const contents = (image as string[]).map(contentOf)
  const images: string[] = []
  for (const bytes of contents) {
    const stored = await cli.ask<{ image: string }>('add_image', { data: bytes.toString('base64') })
    images.push(stored.image)
  }
  return { images: [...new Set(images)] }
}

function contentOf(file: string): Buffer {
  const bytes = read(file)
  const problem = imageProblem(bytes)
  if (problem) throw new InvalidInput('image', `${file} ${problem}`)
  return bytes
}

function read(file: string): Buffer {
  try {
    return readFileSync(resolve(file))
  } catch (error) {
    throw new InvalidInput('image', `${file} cannot be read: ${(error as Error).message}`)
  }
}
